#!/usr/bin/env python3
"""Measure other libraries beside ours, in one run on one thread, and write a page under repro/record.

Usage: .venv/bin/python tools/peers.py PYTHON [--part gates | integers | products | ckks | tables | bootstraps | switching]

PYTHON is a CPython 3.10, which the wheel of OpenFHE is built for, of an environment that has `openfhe` and `seal-python`. The programs of
the others are built from tools/peers by Cargo (nightly Rust for Poulpy) and Go, which must be there, into target/peers. A part takes one to
ten minutes; bootstraps take up to 18 GB (Lattigo's), the others 9 GB at most. Ours and theirs run in turn, in rounds; a figure is the median
over all rounds, a ratio that of the medians. A page has the parts that were measured that day last. Run it on a machine that does nothing
else.
"""

from __future__ import annotations

import argparse
import datetime
import functools
import json
import os
import re
import statistics
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
PROGRAMS, BUILT = ROOT / "tools" / "peers", ROOT / "target" / "peers"
PAIRS = 16
"""Of slots that are compared by switching: OpenFHE takes some seconds for each."""
GATE, LOOKUP, PRODUCT = "aglet bench gate", "aglet bench lookup", "aglet bench integer"


@dataclass(frozen=True)
class Work:
    """The same work of several libraries: a heading, our command or what `ours` does, and the libraries with theirs."""

    name: str
    ours: str
    theirs: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Part:
    """A part of the page: its title, what holds for all of it, its work, and how often."""

    title: str
    text: str
    works: tuple[Work, ...]
    rounds: int
    repeat: int
    failure: str = "not stated"
    """Of a library that says nothing of it."""


def _integers(bits: int, operations: str, counts: tuple[int, ...] = (1,)) -> list[Work]:
    """Operations on unsigned integers, alone and each of many."""
    name = f"uint{bits}"
    return [
        Work(
            f"{name} {operation}{f', each of {count}' if count > 1 else ''}",
            f"{name}/{operation}/{count}",
            (("tfhe-rs", f"{name}/{operation}"),),
        )
        for operation in operations.split()
        for count in counts
    ]


LEVELED = "N = 2^15, a chain of 17 levels of 40 bits at 128 bits of security, at its top, all slots"
PARTS = {
    "gates": Part(
        "Gates and tables of FHEW/TFHE",
        "Each is one programmable bootstrap of one ciphertext. The failure probability is that of a wrong result, as each library states it "
        "for its parameters. Tables of tfhe-rs have a bit of padding, as ours. All results are checked.",
        (
            Work(
                "NAND",
                f"{GATE} --preset gate",
                (
                    ("tfhe-rs", "PARAMETERS_ERROR_PROB_2_POW_MINUS_165_KS_PBS"),
                    ("tfhe-rs", "DEFAULT_PARAMETERS_KS_PBS"),
                    ("OpenFHE", "GINX/STD128"),
                    ("OpenFHE", "LMKCDEY/STD128_LMKCDEY"),
                ),
            ),
            Work(
                "table of 2 bits",
                f"{LOOKUP} --preset lut2",
                (("tfhe-rs", "PARAM_MESSAGE_1_CARRY_1_KS_PBS_GAUSSIAN_2M128"),),
            ),
            Work(
                "table of 4 bits",
                f"{LOOKUP} --preset lut4",
                (
                    ("tfhe-rs", "PARAM_MESSAGE_2_CARRY_2_KS_PBS_TUNIFORM_2M128"),
                    ("tfhe-rs", "PARAM_MESSAGE_2_CARRY_2_KS_PBS_GAUSSIAN_2M128"),
                ),
            ),
        ),
        rounds=4,
        repeat=25,
    ),
    "integers": Part(
        "Integers of digits",
        "Operations on encrypted integers of FHEW/TFHE, both operands encrypted; `where` takes an encrypted condition. tfhe-rs has no call for "
        "many elements, so one of its operations stands beside each of ours of 64. All results are checked.",
        (
            *_integers(8, "add mul and lt min", (1, 64)),
            *_integers(8, "sub eq max where div"),
            *_integers(16, "add lt", (1, 64)),
            *_integers(16, "mul min"),
            *_integers(32, "add lt mul"),
            *_integers(64, "add sub lt eq where min mul"),
        ),
        rounds=1,
        repeat=3,
    ),
    "products": Part(
        "Products of integers",
        "Of all slots modulo 65537, with relinearization, N = 2^15, with 8 levels left; those of BGV switch the modulus as well, those of BFV are "
        "scale-invariant. Ours and Lattigo's are at level 8 of a set of 19 levels; the others have a set of depth 8. Every slot is checked.",
        (
            Work(
                "BGV product",
                f"{PRODUCT} product --preset int-levels-15 --level 8",
                (("OpenFHE", "bgv"), ("SEAL", "bgv"), ("Lattigo", "bgv")),
            ),
            Work(
                "BFV product",
                f"{PRODUCT} bfv-product --preset int-levels-15 --level 8",
                (("OpenFHE", "bfv"), ("SEAL", "bfv"), ("Lattigo", "bfv")),
            ),
        ),
        rounds=3,
        repeat=5,
    ),
    "ckks": Part(
        "Products and rotations of CKKS",
        f"{LEVELED}. A product has relinearization and rescaling, a rotation is by one slot with its own key. SEAL has one special prime, "
        "OpenFHE two (the most at these primes), ours and Lattigo three. All results are checked.",
        (
            Work("CKKS product", "ckks", (("OpenFHE", "ckks"), ("SEAL", "ckks"), ("Lattigo", "ckks"))),
            Work("CKKS rotation", "rotation", (("OpenFHE", "rotation"), ("SEAL", "rotation"), ("Lattigo", "rotation"))),
        ),
        rounds=3,
        repeat=4,
        failure="-",
    ),
    "tables": Part(
        "Tables in a bootstrap of CKKS",
        "A random table of every coefficient (OpenFHE's EvalFBT, an RLWE ciphertext in and out) or of the real and imaginary part of every slot "
        "(ours, a CKKS ciphertext at level 0 in, at the levels left out): 65,536 messages, while they are bootstrapped. All results are checked. "
        "Ours states a failure probability of a message and refuses more than 2^-128; OpenFHE states none.",
        (
            Work("table of 4 bits", "aglet bench functional --entries 16", (("OpenFHE", "table-4"),)),
            Work("table of 8 bits", "aglet bench functional --entries 256", (("OpenFHE", "table-8"),)),
        ),
        rounds=1,
        repeat=2,
    ),
    "bootstraps": Part(
        "Bootstraps of CKKS",
        "All slots, N / 2. Bits are those of the mean error and of the worst slot. Levels are those left for products, of the scale of each "
        "library: 2^40 (2^36 at N = 2^15) ours, 2^40 (2^31) Lattigo's, 2^35 Poulpy's, 2^59 or 2^50 OpenFHE's. Failure is as each states it: ours that "
        "some slot is six bits short, as no coefficient can overflow; Lattigo's that one does; Poulpy's that a sum leaves its words; OpenFHE "
        "states none. The message is random complex (ours and Lattigo's), on the unit circle (Poulpy's, whose bits are those of real or imaginary "
        "parts) or real (OpenFHE's). Poulpy's sets at N = 2^16 need more than the 24 GB of the machine where this was written.",
        (
            Work(
                "bootstrap, N = 2^16",
                "aglet bench bootstrap --message random",
                (
                    ("Lattigo", "N16QP1767H32768H32"),
                    ("Lattigo", "N16QP1546H192H32"),
                    ("OpenFHE", "bootstrap-59"),
                    ("OpenFHE", "bootstrap-50"),
                ),
            ),
            Work(
                "bootstrap, N = 2^15",
                "aglet bench bootstrap --preset param15 --message random",
                (("Lattigo", "N15QP880H16384H32"), ("Poulpy", "n15_d35_k180_p18_c2s+pow2")),
            ),
        ),
        rounds=1,
        repeat=2,
    ),
}


def _operations() -> dict[str, Any]:
    import numpy as np

    return {
        "add": lambda x, y, c: x + y,
        "sub": lambda x, y, c: x - y,
        "mul": lambda x, y, c: x * y,
        "div": lambda x, y, c: x // y,
        "and": lambda x, y, c: x & y,
        "min": lambda x, y, c: np.minimum(x, y),
        "max": lambda x, y, c: np.maximum(x, y),
        "where": lambda x, y, c: np.where(c, x, y),
        "lt": lambda x, y, c: x < y,
        "eq": lambda x, y, c: x == y,
    }


def call(command: list[str], environment: dict[str, str] | None = None) -> dict[str, Any]:
    """The last line that a command prints, as JSON. Nothing runs on more than one thread."""
    alone = {**os.environ, "OMP_NUM_THREADS": "1", "RAYON_NUM_THREADS": "1", "GOMAXPROCS": "1", **(environment or {})}
    print(" ".join(command), file=sys.stderr)
    text = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, env=alone).stdout
    return dict(json.loads(text.splitlines()[-1]))


def cargo(name: str, *toolchain: str) -> Path:
    """Build a program of tools/peers for this processor."""
    target = BUILT / name
    environment = {**os.environ, "RUSTFLAGS": "-C target-cpu=native", "CARGO_TARGET_DIR": str(target)}
    command = ["cargo", *toolchain, "build", "--release", "--locked"]
    subprocess.run(command, cwd=PROGRAMS / name, check=True, env=environment)
    return target / "release" / f"peer-{name}"


def lattigo() -> Path:
    program = BUILT / "peer-lattigo"
    subprocess.run(["go", "build", "-o", str(program), "."], cwd=PROGRAMS / "lattigo", check=True)
    return program


def locked(name: str, package: str) -> str:
    """The version of a package that a program of Cargo is locked to."""
    lock = (PROGRAMS / name / "Cargo.lock").read_text()
    return re.findall(rf'name = "{package}"\nversion = "([^"]+)"', lock)[0]


class Peers:
    """The other libraries: how each is called, and its version. A program is built when it is first needed."""

    def __init__(self, python: Path) -> None:
        self.python = str(python)
        self.used: dict[str, str] = {}

    def _wheel(self, package: str) -> str:
        ask = f"from importlib.metadata import version; print(version({package!r}))"
        return subprocess.run([self.python, "-c", ask], check=True, capture_output=True, text=True).stdout.strip()

    @functools.cached_property
    def ways(self) -> dict[str, Any]:
        """For each library what makes the command and the version with its origin."""
        module = re.compile(r"lattigo/v6 v(\S+)")
        return {
            "tfhe-rs": lambda: (
                [str(cargo("tfhe"))],
                f"{locked('tfhe', 'tfhe')}, built for this processor",
            ),
            "Poulpy": lambda: (
                [str(cargo("poulpy", "+nightly"))],
                f"{locked('poulpy', 'poulpy-core')}, built for this processor with AVX2 by nightly Rust",
            ),
            "Lattigo": lambda: (
                [str(lattigo())],
                f"{module.findall((PROGRAMS / 'lattigo' / 'go.mod').read_text())[0]}, built by Go",
            ),
            "OpenFHE": lambda: (
                [self.python, str(PROGRAMS / "openfhe_peer.py")],
                f"{self._wheel('openfhe')}, the wheel for any x86-64",
            ),
            "SEAL": lambda: (
                [self.python, str(PROGRAMS / "seal_peer.py")],
                f"by the wheel seal-python {self._wheel('seal-python')} for any x86-64, without HEXL",
            ),
        }

    @functools.cache  # noqa: B019
    def command(self, library: str) -> list[str]:
        made, self.used[library] = self.ways[library]()
        return list(made)

    def run(self, library: str, what: str, repeat: int) -> dict[str, Any]:
        """What a library says of itself."""
        return call([*self.command(library), what, str(repeat)])


def ours(work: str, repeat: int) -> dict[str, Any]:
    """Our record of the same."""
    if not work.startswith("aglet "):
        return call([sys.executable, __file__, "--ours", work, str(repeat)])
    found = call([str(Path(sys.executable).with_name("aglet")), *work.split()[1:], "--repeat", str(repeat), "--json"])
    failure = found.get("log2_failure")
    return {
        "seconds": found["seconds_all"],
        "wrong": found.get("wrong", 0),
        "parameters": f"`{found['preset']}`",
        "failure": "below 2^-128" if failure is None else f"2^{failure:.1f}" if failure > -1000 else "below 2^-1000",
        "levels": found.get("output_level"),
        **{name: found[name] for name in ("bits_mean", "bits_worst") if work.startswith("aglet bench bootstrap")},
    }


def leveled(what: str, repeat: int) -> dict[str, Any]:
    """A product or rotation of ours at the top of levels-15, in this process."""
    import numpy as np

    from aglet import Engine

    engine = Engine(preset="levels-15", thread_count=1)
    secret = engine.create_secret_key()
    x = np.exp(1j * np.random.default_rng(1).uniform(0, 2 * np.pi, engine.slot_count))
    full = engine.encrypt(x, secret)
    if what == "rotation":
        turn = engine.create_fixed_rotation_key(secret, 1)
        work, expected = (lambda: engine.rotate(full, turn)), np.roll(x, 1)
    else:
        relin, other = engine.create_relinearization_key(secret), engine.encrypt(x, secret)
        work, expected = (lambda: engine.multiply(full, other, relin)), x * x
    seconds, made = [], work()
    for _ in range(repeat):
        start = time.perf_counter()
        made = work()
        seconds.append(time.perf_counter() - start)
    errors = np.abs(engine.decrypt(made, secret) - expected)
    bits = {"bits_mean": -float(np.log2(errors.mean())), "bits_worst": -float(np.log2(errors.max()))}
    return {"seconds": seconds, "wrong": int(bits["bits_worst"] < 15), "parameters": f"`{engine.preset}`", **bits}


def digits(what: str, repeat: int) -> dict[str, Any]:
    """An operation on encrypted integers of ours, in this process: `uint16/add/64` is of 64 elements, for each."""
    import numpy as np

    from aglet import FhewEngine, Session

    name, operation, count = what.split("/")
    engine = FhewEngine(bits=4, thread_count=1)
    session = Session(engine, engine.create_keys())
    random, dtype = np.random.default_rng(1), np.dtype(name)
    seconds, wrong = [], 0
    for turn in range(repeat + 1):
        x, y = (random.integers(0, np.iinfo(dtype).max, int(count), dtype=dtype, endpoint=True) for _ in range(2))
        # Every third pair is equal, and no divisor is 0.
        y = (x if turn % 3 == 0 else y) | dtype.type(1)
        choice = random.integers(0, 2, int(count)).astype(bool)
        call = _operations()[operation]
        given = [session.encrypt(one) for one in (x, y, choice)]
        start = time.perf_counter()
        made = call(*given)
        seconds.append((time.perf_counter() - start) / int(count))
        wrong += int((session.decrypt(made) != call(x, y, choice)).sum())
    parameters = f"`{engine.preset}`, {count} elements, each" if int(count) > 1 else f"`{engine.preset}`"
    return {"seconds": seconds[1:], "wrong": wrong, "parameters": parameters, "failure": "below 2^-128"}


def shown(seconds: float) -> str:
    return f"{seconds * 1e3:.3g} ms" if seconds < 1 else f"{seconds:.3g} s"


def measured(work: Work, part: Part, peers: Peers) -> list[str]:
    """The rows of one work: ours, then theirs, all in turn."""
    found: dict[tuple[str, str], dict[str, Any]] = {}
    for library, _ in work.theirs:
        peers.command(library)
    failed: dict[tuple[str, str], int] = {}
    for _ in range(part.rounds):
        for library, what in (("Aglet", work.ours), *work.theirs):
            try:
                new = ours(what, part.repeat) if library == "Aglet" else peers.run(library, what, part.repeat)
            except subprocess.CalledProcessError as ended:
                failed[library, what] = ended.returncode
                continue
            if new["wrong"]:
                raise SystemExit(f"{work.name}: {new['wrong']} results of {library} ({what}) are wrong")
            old = found.setdefault((library, what), {**new, "seconds": []})
            found[library, what] = {**new, "seconds": [*old["seconds"], *new["seconds"]]}
    base = statistics.median(found["Aglet", work.ours]["seconds"])
    rows = [
        f"| {work.name} | {library} | {what} | - | - | ended with {code} | - |"
        for (library, what), code in failed.items()
    ]
    for (library, _), one in found.items():
        median = statistics.median(one["seconds"])
        bits = f"{one['bits_mean']:.1f}, {one['bits_worst']:.1f}" if "bits_mean" in one else "exact"
        levels = f"{bits}; {one['levels']} levels" if part.title.startswith("Bootstraps") else bits
        spread = f"{shown(min(one['seconds']))} to {shown(max(one['seconds']))}"
        rows.append(
            f"| {work.name} | {library} | {one['parameters']} | {one.get('failure', part.failure)} | {levels} | {shown(median)} "
            f"({spread}) | {median / base:.2f} |"
        )
    return rows


def priority() -> str:
    """Of this process and, where the kernel shares time among sessions first, of its session."""
    place = Path("/proc/self/autogroup")
    session = f", of its session {place.read_text().split()[-1]}" if place.exists() else ""
    return f"niceness {os.nice(0)}{session}"


def lines_of(part: Part, peers: Peers, command: str) -> list[str]:
    load = f"Load of the machine in the minute before: {os.getloadavg()[0]:.1f}; {priority()}."
    rows = [row for work in part.works for row in measured(work, part, peers)]
    return [
        f"## {part.title}",
        "",
        f"{part.text} {part.rounds * part.repeat} times each, in {part.rounds} rounds: the median, and the least and the most. {load}",
        "",
        "| work | library | parameters | failure | bits: mean, worst | one takes | times ours |",
        "|---|---|---|---|---|---|---|",
        *rows,
        "",
        f"`{command}` measured this.",
    ]


def switched(peers: Peers, command: str) -> list[str]:
    """The lines of the part on switching, which OpenFHE alone has."""
    theirs = peers.run("OpenFHE", "switching", 1)

    def bench(way: str, *more: str) -> dict[str, Any]:
        size = ("--values", str(PAIRS), "--key-size", "large", *more, "--json")
        return call([str(Path(sys.executable).with_name("aglet")), "bench", "scheme_switch", way, *size])

    down, compare = bench("to-fhew"), bench("compare", "--bits", "16")
    wrong = down["wrong"] + compare["wrong"]
    if wrong or theirs["wrong"]:
        raise SystemExit(f"of comparisons {wrong} of ours are wrong, {theirs['wrong']} of theirs")
    sets = f"`{compare['preset']}` with `{compare['fhew_preset']}`, 16 bits"
    other = f"N = {theirs['ring']}, n = {theirs['dimension']}, 17 bits"
    return [
        "## Between CKKS slots and LWE ciphertexts",
        "",
        f"{PAIRS} pairs of slots, compared by lookups, and the results slots again; down alone is the difference as LWE ciphertexts. Both "
        "sides have 128 bits by their own tables. All results are checked. Ours come up at the level of a bootstrap, with 13 levels; those "
        "of OpenFHE after what its way back spends of 17, as its parameters are published. A median of three, comparisons of OpenFHE once.",
        "",
        "| | library | parameters | seconds |",
        "|---|---|---|---|",
        f"| down, {PAIRS} slots | Aglet | {sets} | {down['seconds']:.3f} |",
        f"| | OpenFHE | {other} | {theirs['to-fhew']:.3f} |",
        f"| {PAIRS} pairs compared and brought up | Aglet | {sets} | {compare['seconds']:.2f} |",
        f"| | OpenFHE | {other} | {theirs['compare']:.1f} |",
        "",
        f"Keys were made in {compare['keygen_seconds']:.1f} s (Aglet, all of them, on all cores) and {theirs['keygen_seconds']:.1f} s (OpenFHE, "
        f"those of switching, on one). Memory at its peak: {compare['peak_rss_bytes'] / 1e9:.1f} and {theirs['peak_bytes'] / 1e9:.1f} GB.",
        "",
        f"`{command}` measured this.",
    ]


def page(place: Path, head: list[str], lines: list[str]) -> str:
    """The page with this part new, and others as they stand there."""
    there = place.read_text() if place.exists() else ""
    kept = {text.splitlines()[0]: text.strip() for text in there.split("\n## ")[1:]}
    new = "\n".join(lines).strip()
    kept[new.splitlines()[0].removeprefix("## ")] = new.removeprefix("## ")
    return "\n".join([*head, *(f"## {text}\n" for text in kept.values())])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else "")
    parser.add_argument("python", type=Path, nargs="?")
    parser.add_argument("--part", choices=[*PARTS, "switching"], help="measure this part alone")
    parser.add_argument("--build", action="store_true", help="build the programs, and measure nothing")
    parser.add_argument("--ours", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.ours:
        measure = digits if options.ours[0].startswith("uint") else leveled
        print(json.dumps(measure(options.ours[0], int(options.ours[1]))))
        return
    if options.python is None:
        parser.error("name the interpreter that has openfhe and seal")
    peers = Peers(options.python)
    if options.build:
        for library in peers.ways:
            peers.command(library)
        return
    from aglet import _core
    from aglet_bench import recording

    machine, stamp = _core.doctor(), recording.stamp()
    folder = ROOT / recording.DEFAULT_FOLDER / recording.machine_folder(machine["cpu"])
    folder.mkdir(parents=True, exist_ok=True)
    place = folder / f"{datetime.date.today().isoformat()}-peers.md"
    for part in [*PARTS, "switching"] if options.part is None else [options.part]:
        command = f"tools/peers.py PYTHON --part {part}"
        lines = switched(peers, command) if part == "switching" else lines_of(PARTS[part], peers, command)
        versions = "; ".join(f"{library} {text}" for library, text in sorted(peers.used.items()))
        lines[-1] += f" Commit {stamp['commit']}. {versions}."
        head = [
            f"# {machine['cpu']}, {stamp['date']}: beside other libraries",
            "",
            f"Aglet {machine['version']} with {machine['backend']}. Every library on one thread, in turn, at 128 bits of security by its own tables.",
            "",
        ]
        place.write_text(page(place, head, lines))
    print(place.read_text())


if __name__ == "__main__":
    main()
