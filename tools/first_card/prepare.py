"""Gathers what the first minutes with a card need beside the tree, and says the calls that use it: `prepare.py`, in this checkout, where things are built.

In `.card`, which git ignores: the suite of macro-operations as a program, the kernels of `rates.cu` as code for an H200, and numpy for a machine
without it. The module of Python must be built before. All that travels must stay below 64 MiB.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
CARRIED = ROOT / ".card"
MODULE = ROOT / "python" / "aglet" / "_core.abi3.so"
MOST_BYTES = 62 << 20
CALLS = (
    ("first", 500, "python3 tools/first_card/run.py --seconds 480"),
    ("at once behind it, while the machine is warm", 230, "python3 tools/first_card/run.py more --seconds 210"),
)


def run(*command: str) -> str:
    """What a command prints; it must succeed."""
    return subprocess.run(command, check=True, capture_output=True, text=True, cwd=ROOT).stdout


def suite() -> None:
    """The tests of `crates/cuda` as a program without its symbols."""
    said = run("cargo", "test", "--profile", "long", "-p", "aglet-cuda", "--no-run", "--message-format=json")
    made = [json.loads(line) for line in said.splitlines() if line.startswith("{")]
    programs = [
        message["executable"] for message in made if message.get("executable") and "test" in message["target"]["kind"]
    ]
    if len(programs) != 1:
        sys.exit(f"crates/cuda has one program of tests, not {programs}")
    run("strip", "-o", str(CARRIED / "suite"), programs[0])


def rates() -> None:
    """The kernels of `rates.cu`, where `make test-nvrtc` installed a compiler; else the machine compiles them."""
    sys.path.insert(0, str(ROOT / "tools"))
    import nvrtc

    try:
        compiler = nvrtc.Compiler()
    except StopIteration:
        print("there is no NVRTC here: rates.cu will be compiled by the machine")
        return
    cubin, _ = compiler.compile((HERE / "rates.cu").read_bytes(), "sm_90")
    (CARRIED / "rates.cubin").write_bytes(cubin)


def numpy() -> None:
    """A wheel for Python 3.12."""
    platforms = [f"--platform=manylinux_2_{minor}_x86_64" for minor in (28, 27, 17)]
    words = ["--quiet", "--no-deps", "--only-binary=:all:", "--python-version=3.12", "--implementation=cp", *platforms]
    run(sys.executable, "-m", "pip", "download", *words, "-d", str(CARRIED), "numpy")


def main() -> None:
    """Gather all of it, and say what travels."""
    if not MODULE.exists():
        sys.exit(
            "build the module first: make build, or cargo build --profile long -p aglet-py and a copy to python/aglet/_core.abi3.so"
        )
    shutil.rmtree(CARRIED, ignore_errors=True)
    CARRIED.mkdir()
    suite()
    rates()
    numpy()
    tree = [ROOT / name for name in run("git", "ls-files", "-co", "--exclude-standard").splitlines()]
    travels = [*tree, MODULE, *CARRIED.iterdir()]
    size = sum(file.stat().st_size for file in travels if file.is_file())
    for file in (MODULE, *sorted(CARRIED.iterdir())):
        print(f"{file.relative_to(ROOT)}: {file.stat().st_size / 2**20:.1f} MiB")
    print(
        f"{size / 2**20:.1f} MiB travel, of {MOST_BYTES >> 20} at most; the tree is that of {run('git', 'describe', '--always', '--dirty').strip()}"
    )
    if size > MOST_BYTES:
        sys.exit("that is too much")
    for when, seconds, command in CALLS:
        call = {"command": command, "timeout_s": seconds, "carry": ["python/aglet/_core.abi3.so", ".card"]}
        print(f"{when}: run({json.dumps(call)})")


if __name__ == "__main__":
    os.environ.setdefault("PYO3_PYTHON", sys.executable)
    main()
