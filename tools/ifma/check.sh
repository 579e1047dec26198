#!/usr/bin/env bash
# Proves the AVX-512 IFMA kernels bit-exact: natively where the CPU has the instructions, else on an emulated CPU.
#
# Emulation needs x86-64 Debian, and root (or sudo without a password) once, for packages. Everything else stays under
# target/ifma. Where neither way is open the script says "IFMA NOT CHECKED: why" and fails.
set -euo pipefail
cd "$(dirname "$0")/../.."

here=target/ifma
triple=x86_64-unknown-linux-gnu
packages=(bochs bochs-term bochsbios vgabios xorriso isolinux syslinux-common busybox-static binutils)
image=linux-image-cloud-amd64
tests=(-p aglet-ring -p aglet-rlwe -p aglet-schemes --lib --test ckks)

not_checked() {
  echo "IFMA NOT CHECKED: $1" >&2
  exit 1
}

cpu_has_ifma() {
  local flag
  for flag in avx512f avx512dq avx512vl avx512ifma; do
    grep -qw "$flag" /proc/cpuinfo 2>/dev/null || return 1
  done
}

as_root() {
  if [ "$(id -u)" = 0 ]; then "$@"; else sudo -n "$@"; fi
}

can_be_root() {
  [ "$(id -u)" = 0 ] || sudo -n true 2>/dev/null
}

refreshed=
refresh() {
  [ -z "$refreshed" ] || return 0
  can_be_root || not_checked "packages are wanted, and this is neither root nor sudo without a password"
  as_root apt-get update -qq || not_checked "apt-get update fails"
  refreshed=yes
}

get_packages() {
  local missing=() p
  for p in "${packages[@]}"; do
    dpkg-query -W -f='${Status}' "$p" 2>/dev/null | grep -q 'ok installed' || missing+=("$p")
  done
  [ ${#missing[@]} -gt 0 ] || return 0
  echo "installing ${missing[*]}"
  refresh
  as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null ||
    not_checked "apt-get install fails"
}

get_kernel() {
  find_kernel && return 0
  refresh
  local package
  package=$(apt-cache depends "$image" 2>/dev/null | awk '/Depends: linux-image/ {print $2; exit}')
  [ -n "$package" ] || not_checked "apt knows no $image"
  echo "downloading $package"
  rm -rf "$here/kernel"
  mkdir -p "$here/kernel"
  (cd "$here/kernel" && apt-get download -qq "$package" 2>/dev/null && dpkg-deb -x "$package"_*.deb . && rm ./*.deb) ||
    not_checked "$package cannot be downloaded"
  find_kernel || not_checked "$package holds no kernel"
}

find_kernel() {
  IFMA_KERNEL=$(find "$here/kernel/boot" -name 'vmlinuz-*' 2>/dev/null | head -n 1)
  [ -n "$IFMA_KERNEL" ] && export IFMA_KERNEL
}

# Prints the paths of the static test programs. Their target folder and flags are their own, so that the main build
# stays valid.
build() {
  CARGO_TARGET_DIR=$here/build CARGO_PROFILE_TEST_DEBUG=0 CARGO_TERM_COLOR=never \
    RUSTFLAGS="-C target-feature=+crt-static" cargo test --target "$triple" "${tests[@]}" --no-run 2>&1 |
    tee "$here/build.log" >&2 || return 1
  sed -n 's/^ *Executable .*(\(.*\))$/\1/p' "$here/build.log"
}

# emulate PATTERN TEST-ARG...: runs the program whose name begins so.
emulate() {
  local program start=$SECONDS
  program=$(grep "/$1-" <<<"$programs") || { echo "no test program $1 among: $programs" >&2; exit 1; }
  shift
  local status=0
  tools/ifma/run_ifma.sh "$program" --test-threads=1 --show-output "$@" || status=$?
  # 2, 124 and 125 are the emulator's own: something missing, its time limit, a machine that died.
  case $status in
    0) ;;
    2 | 124 | 125) not_checked "the emulator ended with $status" ;;
    *) exit "$status" ;;
  esac
  echo "$(basename "$program"): $((SECONDS - start)) s under the emulator"
}

if cpu_has_ifma; then
  echo "this CPU has AVX-512 IFMA: testing natively"
  export AGLET_BACKEND=avx512ifma AGLET_EXPECT_BACKEND=avx512ifma
  cargo test -p aglet-ring --lib
  echo "IFMA CHECKED natively"
  exit 0
fi

[ "$(uname -sm)" = "Linux x86_64" ] || not_checked "this is no x86-64 Linux"
command -v apt-get >/dev/null && command -v dpkg-deb >/dev/null || not_checked "no AVX-512 IFMA here, and no apt-get to install an emulator"
mkdir -p "$here"
get_packages
get_kernel
echo "this CPU has no AVX-512 IFMA: testing under Bochs"
programs=$(build)

# The first program makes sure that the emulated CPU runs the kernels in question.
export IFMA_ENV="AGLET_BACKEND=avx512ifma AGLET_EXPECT_BACKEND=avx512ifma PROPTEST_CASES=${PROPTEST_CASES:-32} RUST_BACKTRACE=1"
emulate aglet_ring arch:: ntt:: automorphism:: --skip a_thousand_round_trips
emulate aglet_rlwe keyswitch::
emulate ckks
echo "IFMA CHECKED under emulation"
