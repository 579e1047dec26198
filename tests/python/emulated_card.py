"""The fake driver of NVIDIA cards: a library that has its functions and emulates a card, as no card is here."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

from support import ROOT

CARD = ROOT / "crates/cuda"
EMULATOR = ROOT / "crates/testing/emulator"


def compiled(folder: Path) -> Path:
    """The library in a folder, compiled as `crates/testing/src/emu.rs` does."""
    kernels = re.findall(r'include_str!\("\.\./(kernels/\w+\.cu)"\)', (CARD / "src/kernels.rs").read_text())
    files = [EMULATOR / "before.cpp", *(CARD / name for name in kernels)]
    files += [EMULATOR / "after.cpp", EMULATOR / "driver.cpp"]
    made = folder / "libcuda.so"
    options = (EMULATOR / "options.txt").read_text().split()
    command = [os.environ.get("CXX", "c++"), *options, "-o", str(made), "-x", "c++", "-"]
    subprocess.run(command, input="".join(file.read_text() for file in files), text=True, check=True)
    return made
