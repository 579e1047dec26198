#!/usr/bin/env bash
# The tests of the ring on 64-bit ARM, under qemu: its portable kernels, which are NEON there, against scalar ones, bit for bit.
#
# Wants x86-64 Debian, and root (or sudo without a password) once, for qemu and a linker. The standard library for ARM and the
# compiler that it belongs to are Debian's, unpacked under target/arm; nothing else changes. Takes some minutes.
set -euo pipefail
cd "$(dirname "$0")/../.."

here=$PWD/target/arm
triple=aarch64-unknown-linux-gnu
compiler=(rustc-web libstd-rust-web-dev:amd64 libstd-rust-web-dev:arm64)

as_root() {
  if [ "$(id -u)" = 0 ]; then "$@"; else sudo -n "$@"; fi
}

get_packages() {
  as_root dpkg --add-architecture arm64
  as_root apt-get update -qq
  as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends \
    qemu-user gcc-aarch64-linux-gnu libc6-dev-arm64-cross >/dev/null
}

# The compiler's own libraries, whatever their versions are called.
libraries() {
  apt-cache depends --recurse --no-recommends --no-suggests --no-conflicts --no-breaks --no-replaces --no-enhances rustc-web |
    grep -E '^(libstd-rust-web-[0-9]|libllvm|libz3-|liburing|libxml2$|libedit|libffi|libicu|libbsd|libmd|libtinfo|libzstd)' | sort -u
}

get_compiler() {
  [ -x "$here/root/usr/bin/rustc" ] && return 0
  mkdir -p "$here/packages" "$here/root"
  (
    cd "$here/packages"
    # shellcheck disable=SC2046
    apt-get download -q "${compiler[@]}" $(libraries) >/dev/null 2>&1
    for package in *.deb; do dpkg -x "$package" ../root; done
  )
}

get_packages
get_compiler
export LD_LIBRARY_PATH=$here/root/usr/lib/x86_64-linux-gnu${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
export RUSTC=$here/root/usr/bin/rustc CARGO_TARGET_DIR=$here/build
export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER=aarch64-linux-gnu-gcc
export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER="qemu-aarch64 -L /usr/aarch64-linux-gnu"
export AGLET_EXPECT_BACKEND=portable PROPTEST_CASES=${PROPTEST_CASES:-16}
cargo test --release --target "$triple" -p aglet-ring --lib
