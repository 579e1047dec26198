"""The fake driver of NVIDIA cards: a library that has its functions and emulates a card, as no card is here."""

from __future__ import annotations

import ctypes
import os
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from support import ROOT

CARD = ROOT / "crates/cuda"
EMULATOR = ROOT / "crates/testing/emulator"


def compiled(folder: Path, *, traced: bool = False) -> Path:
    """The library in a folder, compiled as `crates/testing/src/emu.rs` does; if traced, one that counts requests."""
    kernels = re.findall(r'include_str!\("\.\./(kernels/\w+\.cu)"\)', (CARD / "src/kernels.rs").read_text())
    files = [EMULATOR / "before.cpp", *(CARD / name for name in kernels)]
    files += [EMULATOR / "after.cpp", EMULATOR / "driver.cpp"]
    files += [EMULATOR / "traces.cpp"] * traced
    made = folder / "libcuda.so"
    options = (EMULATOR / "options.txt").read_text().split()
    command = [os.environ.get("CXX", "c++"), *options, *["-DTRACED"] * traced, "-o", str(made), "-x", "c++", "-"]
    subprocess.run(command, input="".join(file.read_text() for file in files), text=True, check=True)
    return made


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compiled(tmp_path_factory.mktemp("driver"))


@pytest.fixture
def driver(library: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ctypes.CDLL]:
    """The fake driver in use; what a test sets is as before afterwards."""
    monkeypatch.setenv("AGLET_CUDA_DRIVER", str(library))
    fake = ctypes.CDLL(str(library))
    fake.fake_set.argtypes = [ctypes.c_char_p, ctypes.c_long]
    fake.fake_used.restype = ctypes.c_long
    before = {b"version": 12080, b"cards": 1, b"major": 9, b"init": 0, b"ptx": 0, b"spoil": 0, b"pools": 1}
    before[b"memory"] = 8 << 30
    yield fake
    for name, value in before.items():
        assert fake.fake_set(name, value)
