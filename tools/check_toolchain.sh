#!/bin/sh
# Says what is missing to build Aglet, and exits with 1; says nothing if all is there.
set -u

cd "$(dirname "$0")/.." || exit 1
need=$(sed -n 's/^rust-version *= *"\([0-9.]*\)".*/\1/p' Cargo.toml | head -n 1)
need=${need:-1.95}
python=${PYTHON:-python3}
missing=0

# at_least WANTED FOUND: whether the version FOUND is WANTED or newer.
at_least() {
  [ "$(printf '%s\n%s\n' "$1" "$2" | sort -t. -k1,1n -k2,2n -k3,3n | head -n 1)" = "$1" ]
}

say() {
  missing=1
  printf '%s\n' "$@" >&2
}

install_rust() {
  say "$1" \
    "Install it with rustup, Rust's own installer:" \
    "  1. Get rustup from your system: 'apt install rustup' (Debian, Ubuntu), 'dnf install rustup' (Fedora)," \
    "     'pacman -S rustup' (Arch), 'brew install rustup' (macOS); or run the one-line shell command that" \
    "     Rust's home page shows under \"Install\"." \
    "  2. rustup toolchain install $need && rustup default $need" \
    "  3. Open a new shell and type the make command again."
}

if command -v rustc >/dev/null 2>&1 && command -v cargo >/dev/null 2>&1; then
  found=$(rustc --version 2>/dev/null | sed -n 's/^rustc \([0-9.]*\).*/\1/p')
  if [ -z "$found" ]; then
    install_rust "Aglet needs Rust $need or newer, and 'rustc --version' does not answer here."
  elif ! at_least "$need" "$found"; then
    if command -v rustup >/dev/null 2>&1; then
      say "Aglet needs Rust $need or newer, and this is $found. Type:" \
        "  rustup toolchain install $need && rustup default $need"
    else
      install_rust "Aglet needs Rust $need or newer, and this is $found, which rustup did not install."
    fi
  fi
elif [ -x "${HOME:-}/.cargo/bin/rustc" ]; then
  say "Rust is installed and not on the PATH. Type:  . \"\$HOME/.cargo/env\"   and then the make command again."
else
  install_rust "Aglet needs Rust $need or newer, and there is none here."
fi

if ! command -v cc >/dev/null 2>&1; then
  say "Rust needs a C linker, and there is no 'cc' here. Type one of:" \
    "  apt install build-essential     dnf install gcc     xcode-select --install"
fi

if ! command -v "$python" >/dev/null 2>&1; then
  say "Aglet needs Python 3.10 or newer, and there is no '$python' here. Install it, or name another: make PYTHON=python3.12"
else
  found=$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])' 2>/dev/null)
  if [ -z "$found" ] || ! at_least 3.10 "$found"; then
    say "Aglet needs Python 3.10 or newer, and '$python' is ${found:-not working}. Name another: make PYTHON=python3.12"
  elif ! "$python" -c 'import venv, ensurepip' 2>/dev/null; then
    say "This Python cannot make an environment. Type:  apt install python3-venv"
  fi
fi

exit $missing
