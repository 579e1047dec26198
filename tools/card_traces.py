"""Counts what kernels of cards ask of memory, without a card: lines of 128 bytes, sectors, turns of banks, for each request of a warp.

    python tools/card_traces.py

The kernels run on the emulated card (`crates/testing/emulator`, `traces.cpp`), which notes the addresses of the first block of every launch. A word that
a thread keeps in a register is counted each time that the text names it. Threads of `stream_sum` read a word or two: its requests are counted too high.
"""

from __future__ import annotations

import ctypes
import os
import re
import sys
import tempfile
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).parent.parent
sys.path[:0] = [str(ROOT / "python"), str(ROOT / "tests/python")]


@dataclass(frozen=True)
class Requests:
    """Requests of warps to one kind of memory: what they took, and the least that as many words take."""

    count: int
    took: int
    least: int
    worst: int


@dataclass(frozen=True)
class Kernel:
    """What one kernel asked of memory: threads of a block, launches, turns of banks, lines and sectors."""

    name: str
    threads: int
    launches: int
    banks: Requests
    lines: Requests
    sectors: Requests


class Traces:
    """The emulated card in use by engines with `mode="gpu"` that are made from now on, until the process ends."""

    def __init__(self, library: Path, *, doubles: bool) -> None:
        os.environ["AGLET_CUDA_DRIVER"] = str(library)
        self._library = ctypes.CDLL(str(library))
        self._library.fake_set.argtypes = [ctypes.c_char_p, ctypes.c_long]
        self._library.traces_of.restype = ctypes.c_char_p
        # Doubles at half the rate of floats, or far below.
        assert self._library.fake_set(b"ratio", 2 if doubles else 64)

    def of(self, work: Callable[[], Any]) -> list[Kernel]:
        """What the kernels of some work ask, by their names."""
        self._library.traces_begin()
        work()
        figures, found = (ctypes.c_uint64 * 14)(), []
        while (name := self._library.traces_of(len(found), figures)) is not None:
            threads, launches, *seen = map(int, figures)
            banks, lines, sectors = (Requests(*seen[at : at + 4]) for at in (0, 4, 8))
            found.append(Kernel(name.decode(), threads, launches, banks, lines, sectors))
        return sorted(found, key=lambda kernel: kernel.name)


def bootstrap(preset: str) -> Callable[[], Any]:
    """A bootstrap of CKKS on a card, in a toy ring."""
    from aglet import Engine

    engine = Engine(mode="gpu", preset=preset, allow_insecure=True)
    secret = engine.create_secret_key()
    keys = [engine.create_relinearization_key(secret), engine.create_conjugation_key(secret)]
    keys.append(engine.create_bootstrap_key(secret))
    low = engine.encrypt(np.full(engine.slot_count, 0.25), secret, level=0)
    return lambda: engine.decrypt(engine.bootstrap(low, *keys), secret)


def rotation(preset: str) -> Callable[[], Any]:
    """A rotation of CKKS on a card, in the ring of a preset."""
    from aglet import Engine

    engine = Engine(mode="gpu", preset=preset)
    secret = engine.create_secret_key()
    key, x = engine.create_fixed_rotation_key(secret, 1), engine.encrypt([0.5], secret, level=3)
    return lambda: engine.decrypt(engine.rotate(x, key), secret)


def table(preset: str) -> Callable[[], Any]:
    """A table of FHEW on a card, with a short secret, as an emulated card takes its time."""
    from aglet import FhewEngine, Table

    text = (ROOT / f"crates/aglet/presets/fhew/{preset}.toml").read_text().split("[claims]")[0]
    for name, value in (("dimension", 196), ("lwe_error", -20.0)):
        text = re.sub(f"{name} = .*", f"{name} = {value}", text, count=1)
    engine = FhewEngine(mode="gpu", parameters=text, allow_insecure=True)
    secret = engine.create_secret_key()
    key = engine.create_bootstrap_key(secret)
    if engine.bits == 1:
        bit = engine.encrypt([True], secret)
        return lambda: engine.nand(bit, bit, key)
    x = engine.encrypt([1], secret)
    return lambda: engine.lookup(x, Table(lambda m: m), key)


def row(kernel: Kernel) -> str:
    """A line of the table: for each request of a warp what it took, and the worst."""

    def said(of: Requests) -> str:
        return f"{of.took / max(of.count, 1):6.2f} {of.worst:3d}"

    parts = " | ".join(said(of) for of in (kernel.banks, kernel.lines, kernel.sectors))
    return f"{kernel.name:24} {kernel.threads:4} {kernel.launches:4} | {parts}"


def main() -> None:
    """Print what kernels ask in both arithmetics."""
    from emulated_card import compiled

    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory() as folder:
        library = compiled(Path(folder), traced=True)
        for doubles in (True, False):
            traces = Traces(library, doubles=doubles)
            for what, made in (
                ("toy", bootstrap("toy")), ("toy-ship", bootstrap("toy-ship")), ("regular, a rotation", rotation("regular")),
                ("gate", table("gate")), ("lut2", table("lut2")), ("lut4", table("lut4")),
            ):  # fmt: skip
                print(f"{what}: threads, launches; of a request turns of banks | lines | sectors, mean and worst")
                print("\n".join(map(row, traces.of(made))))


if __name__ == "__main__":
    main()
