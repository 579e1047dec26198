#!/usr/bin/env bash
# Run a static x86-64 Linux program on an emulated CPU that has AVX-512 IFMA.
#
#   run_ifma.sh BINARY [ARG...]
#
# Bochs emulates a Cannon Lake CPU (avx512 f, dq, vl, bw, cd, ifma), boots a
# Debian cloud kernel and runs BINARY from an initramfs, with stdin empty and
# the working directory /. Its stdout and stderr come out on this script's when
# the run ends, and its exit status is this script's. Statuses of the script's
# own: 2 bad use or something missing, 124 time limit, 125 the machine did not
# come up or died.
#
# Environment:
#   IFMA_KERNEL   kernel image (default: newest /boot/vmlinuz-*-cloud-amd64)
#   IFMA_ENV      NAME=VALUE words to set for BINARY, e.g. "RUST_BACKTRACE=1"
#   IFMA_MEM      guest memory in MiB (default 512)
#   IFMA_TIMEOUT  limit for the whole run in seconds (default 600)
#   IFMA_KEEP     a directory to leave the machine's logs in
set -euo pipefail

die() { echo "run_ifma: $2" >&2; exit "$1"; }

[ $# -ge 1 ] || die 2 "usage: run_ifma.sh BINARY [ARG...]"
program=$1
shift
[ -x "$program" ] && [ -f "$program" ] || die 2 "not a program: $program"
if LC_ALL=C readelf -lW "$program" 2>/dev/null | grep -q INTERP; then
  die 2 "$program is dynamically linked; build it static (-static, or -C target-feature=+crt-static)"
fi

bochs_share=/usr/share/bochs
isolinux=/usr/lib/ISOLINUX/isolinux.bin
ldlinux=/usr/lib/syslinux/modules/bios/ldlinux.c32
busybox=/usr/bin/busybox
[ -x "$busybox" ] || busybox=/bin/busybox
plugin=$(echo /usr/lib/*/bochs/plugins/libbx_term_gui.so)
missing=
need() { [ -e "$1" ] || missing+=" $2"; }
need /usr/bin/bochs bochs
need "$plugin" bochs-term
need "$bochs_share/BIOS-bochs-latest" bochsbios
need "$bochs_share/VGABIOS-lgpl-latest" vgabios
need /usr/bin/xorriso xorriso
need "$isolinux" isolinux
need "$ldlinux" syslinux-common
need "$busybox" busybox-static
[ -z "$missing" ] ||
  die 2 "missing packages; run: apt-get install --no-install-recommends$missing"

kernel=${IFMA_KERNEL:-$(find /boot -maxdepth 1 -name 'vmlinuz-*-cloud-amd64' 2>/dev/null | sort -V | tail -n 1)}
[ -n "$kernel" ] && [ -r "$kernel" ] || die 2 "no kernel; unpack one (it need not be installed) and name it:
  apt-get download \$(apt-cache depends linux-image-cloud-amd64 | awk '/Depends: linux-image/ {print \$2}')
  dpkg-deb -x linux-image-*-cloud-amd64_*.deb kernel && export IFMA_KERNEL=\$(echo \$PWD/kernel/boot/vmlinuz-*)"

tools=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/root/bin" "$work/iso"
cc -O1 -Wall -shared -fPIC -o "$work/right_fma.so" "$tools/right_fma.c" -lm -ldl ||
  die 2 "right_fma.c does not compile; a C compiler is needed"

# The guest: stdout goes out on the second serial port, stderr and the exit
# status on the first. Closing a port waits until all of it has been sent.
cp "$busybox" "$work/root/bin/busybox"
cp "$program" "$work/root/program"
{
  cat <<'EOF'
#!/bin/busybox sh
bb=/bin/busybox
$bb mkdir -p /dev /proc /sys /tmp
$bb mount -t devtmpfs dev /dev
$bb mount -t proc proc /proc
$bb mount -t sysfs sys /sys
for tty in /dev/ttyS0 /dev/ttyS1; do $bb stty -F $tty 115200 raw -echo; done
EOF
  printf 'set --'
  # shellcheck disable=SC2086
  for word in ${IFMA_ENV:-} /program "$@"; do
    printf " '%s'" "${word//\'/\'\\\'\'}"
  done
  cat <<'EOF'

rc=0
$bb env "$@" </dev/null >/dev/ttyS1 2>/dev/ttyS0 || rc=$?
printf '\nifma-exit=%d\n' "$rc" >/dev/ttyS0
$bb poweroff -f
EOF
} >"$work/root/init"
chmod +x "$work/root/init" "$work/root/program"
(cd "$work/root" && find . | "$busybox" cpio -o -H newc 2>/dev/null) >"$work/iso/initrd"

# clearcpuid: PKU (515), XSAVEC (321) and XSAVES (323). Bochs 2.7 reports a
# wrong size for those states, and Linux then turns AVX off altogether.
cp "$kernel" "$work/iso/vmlinuz"
cp "$isolinux" "$ldlinux" "$work/iso"
cat >"$work/iso/isolinux.cfg" <<'EOF'
default linux
prompt 0
label linux
  kernel vmlinuz
  append initrd=initrd console=ttyS0,115200 loglevel=1 clearcpuid=515,321,323 nosmp nokaslr mitigations=off tsc=reliable no_timer_check cryptomgr.notests random.trust_cpu=on panic=-1
EOF
xorriso -as mkisofs -quiet -o "$work/boot.iso" -b isolinux.bin -c boot.cat \
  -no-emul-boot -boot-load-size 4 -boot-info-table "$work/iso" 2>"$work/xorriso.log" ||
  { cat "$work/xorriso.log" >&2; die 125 "xorriso failed"; }

# Powering off, and a triple fault, end Bochs as a "fatal panic".
cat >"$work/bochsrc" <<EOF
config_interface: textconfig
display_library: term
plugin_ctrl: speaker=0, gameport=0, parallel=0, extfpuirq=0
cpu: model=corei3_cnl, count=1, ips=10000000, reset_on_triple_fault=0
megs: ${IFMA_MEM:-512}
romimage: file=$bochs_share/BIOS-bochs-latest
vgaromimage: file=$bochs_share/VGABIOS-lgpl-latest
ata0-master: type=cdrom, path=$work/boot.iso, status=inserted
boot: cdrom
com1: enabled=1, mode=file, dev=$work/com1
com2: enabled=1, mode=file, dev=$work/com2
clock: sync=none, time0=1
log: $work/bochs.log
panic: action=fatal
error: action=report
info: action=ignore
debug: action=ignore
EOF
echo continue >"$work/debugger" # Debian's Bochs starts in its debugger
: >"$work/com1"
: >"$work/com2"
status=0
TERM=vt100 LD_PRELOAD=$work/right_fma.so timeout -s KILL "${IFMA_TIMEOUT:-600}" \
  bochs -q -f "$work/bochsrc" -rc "$work/debugger" \
  </dev/null >"$work/screen" 2>"$work/bochs.err" || status=$?

if [ -n "${IFMA_KEEP:-}" ]; then
  mkdir -p "$IFMA_KEEP"
  cp "$work"/{bochsrc,bochs.log,bochs.err,screen,com1,com2} "$IFMA_KEEP" || true
fi
cat "$work/com2"
sed '/^ifma-exit=/,$d' "$work/com1" >&2
rc=$(sed -n 's/^ifma-exit=\([0-9]*\)$/\1/p' "$work/com1" | tail -n 1)
[ -z "$rc" ] || exit "$rc"
[ "$status" -ne 137 ] || die 124 "stopped after ${IFMA_TIMEOUT:-600} s"
tail -n 5 "$work/bochs.err" >&2
die 125 "the emulated machine ended without an exit status"
