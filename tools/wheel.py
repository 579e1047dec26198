"""Finish and check wheels: `wheel.py finish WHEEL` adds licences and takes paths of this machine out, `wheel.py check
WHEEL BENCH` installs it in a bare environment, then the second package, and refreshes a ciphertext there."""

from __future__ import annotations

import base64
import hashlib
import os
import re
import subprocess
import sys
import tempfile
import time
import venv
import zipfile
from pathlib import Path

import licences

MOST_BYTES = 5_000_000
MOST_SECONDS = 60
SECOND = ("aglet_bench/", "planned.json", "measured.jsonl", "seal_rows.json")
"""What is in the second package and not in the first."""
PROGRAM = """
from aglet import Engine
engine = Engine(max_level=2)
secret = engine.create_secret_key()
ciphertext = engine.encrypt([1, 2, 3], secret)
assert abs(engine.decrypt(engine.add(ciphertext, ciphertext), secret)[2] - 6) < 1e-3
"""
TAG = re.compile(r"-cp310-abi3-(manylinux2014|manylinux_2_17|musllinux_1_2|macosx_|win)")


def private() -> list[bytes]:
    """Paths of this machine that have no place in a wheel."""
    return [str(path).encode() for path in (licences.ROOT.resolve(), Path.home()) if len(str(path)) > 4]


def finish(wheel: Path) -> None:
    """Rewrite the list of parts without paths, add the licences of what is linked, and the record of both."""
    with zipfile.ZipFile(wheel) as source:
        members = {info.filename: source.read(info) for info in source.infolist()}
    record = next(name for name in members if name.endswith(".dist-info/RECORD"))
    for name, data in members.items():
        if name.endswith(".cyclonedx.json"):
            members[name] = data.replace(f"path+file://{licences.ROOT.resolve()}".encode(), b"aglet:")
    members[record.replace("RECORD", "licenses/THIRD-PARTY.txt")] = licences.texts().encode()
    lines = [f"{name},sha256={digest(data)},{len(data)}" for name, data in members.items() if name != record]
    members[record] = "\n".join([*lines, f"{record},,", ""]).encode()
    # One time for all, so that the same sources give the same file.
    stamp = time.gmtime(int(os.environ.get("SOURCE_DATE_EPOCH", "315532800")))[:6]
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED) as made:
        for name, data in members.items():
            info = zipfile.ZipInfo(name, stamp)
            info.external_attr, info.compress_type = 0o644 << 16, zipfile.ZIP_DEFLATED
            made.writestr(info, data)


def digest(data: bytes) -> str:
    """As RECORD has it."""
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()


def faults(wheel: Path) -> list[str]:
    """What is wrong with a wheel by its name and content."""
    found = [] if TAG.search(wheel.name) else [f"{wheel.name} is not for many systems"]
    if wheel.stat().st_size > MOST_BYTES:
        found.append(f"it has {wheel.stat().st_size} bytes, more than {MOST_BYTES}")
    with zipfile.ZipFile(wheel) as source:
        names = source.namelist()
        for wanted in ("licenses/LICENSE", "licenses/THIRD-PARTY.txt", ".cyclonedx.json", "aglet/py.typed"):
            if not any(name.endswith(wanted) for name in names):
                found.append(f"it has no {wanted}")
        found += [f"it has {name}, which is the second package's" for name in names for own in SECOND if own in name]
        for name in names:
            data = source.read(name)
            found += [f"{name} says {path.decode()}" for path in private() if path + b"/" in data]
    return found


def bench_faults(wheel: Path) -> list[str]:
    """What is wrong with the wheel of the second package."""
    found = [] if wheel.name.endswith("-py3-none-any.whl") else [f"{wheel.name} is not for all systems"]
    with zipfile.ZipFile(wheel) as source:
        names = source.namelist()
    for wanted in ("licenses/LICENSE", *SECOND, "aglet_bench/py.typed", "aglet_bench/reproduce/tables/ship.json"):
        if not any(wanted in name for name in names):
            found.append(f"{wheel.name} has no {wanted}")
    return found + [f"{wheel.name} has {name}" for name in names if name.startswith("aglet/")]


def tried(wheel: Path, bench: Path) -> float:
    """Seconds of installing the first in a bare environment, a program there, and with the second the quick demo."""
    with tempfile.TemporaryDirectory() as folder:
        venv.create(folder, with_pip=True)
        binaries = Path(folder) / ("Scripts" if os.name == "nt" else "bin")
        start = time.monotonic()
        subprocess.run(
            [binaries / "python", "-m", "pip", "install", "--quiet", wheel.resolve()], check=True, cwd=folder
        )
        # Away from the sources, so that nothing but the wheel is imported.
        subprocess.run([binaries / "python", "-c", PROGRAM], check=True, cwd=folder)
        subprocess.run([binaries / "aglet", "doctor"], check=True, cwd=folder, stdout=sys.stderr)
        without = subprocess.run(
            [binaries / "aglet", "advise"], cwd=folder, capture_output=True, text=True, check=False
        )
        if without.returncode != 1 or '"aglet-fhe[bench]"' not in without.stderr:
            sys.exit(f"without the second package `aglet advise` says: {without.stdout}{without.stderr}")
        second = [binaries / "python", "-m", "pip", "install", "--quiet", "--no-deps", bench.resolve()]
        subprocess.run(second, check=True, cwd=folder)
        subprocess.run([binaries / "aglet", "demo", "--quick"], check=True, cwd=folder, stdout=sys.stderr)
        return time.monotonic() - start


def check(wheel: Path, bench: Path) -> None:
    """Exit with a sentence if anything is wrong."""
    if bad := [*faults(wheel), *bench_faults(bench)]:
        sys.exit("\n".join(bad))
    took = tried(wheel, bench)
    if took > MOST_SECONDS:
        sys.exit(f"installing it and the quick demo took {took:.0f} s, more than {MOST_SECONDS}")
    print(f"{wheel.name}: {wheel.stat().st_size / 1e6:.1f} MB, installed and tried in {took:.0f} s")


if __name__ == "__main__":
    {"finish": finish, "check": check}[sys.argv[1]](*map(Path, sys.argv[2:]))
