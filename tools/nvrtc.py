"""Compiles the kernels for real cards, without one: registers, no local memory, no fused quotient. `make test-nvrtc`, by hand.

The compiler is NVIDIA's NVRTC as a wheel; its assembler says what each kernel takes. `nvrtc.py write` stores the PTX and the
code that the library has within it; without that word what is stored is compared with what the kernels give.
"""

from __future__ import annotations

import ctypes
import re
import site
import sys
import zlib
from pathlib import Path

ROOT = Path(__file__).parent.parent
KERNELS = ROOT / "crates/cuda/kernels"
# Cards that the kernels are for: each number serves those of the same tens. PTX, in which nothing may be fused, is the same for all of them.
TARGETS = ("sm_80", "sm_90", "sm_100", "sm_120")
# Registers of a thread: with 128 a multiprocessor has two blocks of 256 threads. Blind rotations keep an accumulator in them.
MOST_REGISTERS = {"blind": 255, "": 128}
# What `crates/cuda/src/kernels.rs` includes: PTX, and code for each target.
PTX_TARGET = "compute_80"
STORED = {PTX_TARGET: KERNELS / "kernels.ptx.z"} | {target: KERNELS / f"kernels.{target}.z" for target in TARGETS}
# Kernels whose sums of doubles decide a result.
QUOTIENTS = ("convert_F50", "convert_S64")


def text() -> bytes:
    """The kernels in the order of `crates/cuda/src/kernels.rs`."""
    names = re.findall(r'include_str!\("\.\./kernels/(\w+\.cu)"\)', (ROOT / "crates/cuda/src/kernels.rs").read_text())
    return "".join((KERNELS / name).read_text() for name in names).encode()


class Compiler:
    """NVRTC, as installed by pip."""

    def __init__(self) -> None:
        folders = [Path(place) / "nvidia" for place in site.getsitepackages()]
        found = [file for folder in folders for file in folder.glob("**/libnvrtc*.so*")]
        builtins = next(file for file in found if "builtins" in file.name and ".alt" not in file.name)
        library = next(file for file in found if "builtins" not in file.name and ".alt" not in file.name)
        ctypes.CDLL(str(builtins), mode=ctypes.RTLD_GLOBAL)
        self.library = ctypes.CDLL(str(library))

    def compile(self, source: bytes, target: str) -> tuple[bytes, str]:
        """The cubin or PTX for a target, and what the compiler said."""
        program, size = ctypes.c_void_p(), ctypes.c_size_t()
        self.library.nvrtcCreateProgram(ctypes.byref(program), source, b"kernels.cu", 0, None, None)
        options = [f"--gpu-architecture={target}", "--std=c++17", "--fmad=false", "--ptxas-options=-v"]
        pointers = (ctypes.c_char_p * len(options))(*(option.encode() for option in options))
        status = self.library.nvrtcCompileProgram(program, len(options), pointers)
        log = self._read(program, "ProgramLog", size)
        if status:
            sys.exit(log.decode())
        return self._read(program, "CUBIN" if target.startswith("sm") else "PTX", size), log.decode()

    def _read(self, program: ctypes.c_void_p, what: str, size: ctypes.c_size_t) -> bytes:
        getattr(self.library, f"nvrtcGet{what}Size")(program, ctypes.byref(size))
        buffer = ctypes.create_string_buffer(size.value)
        getattr(self.library, f"nvrtcGet{what}")(program, buffer)
        return buffer.raw


def usage(log: str) -> dict[str, tuple[int, int]]:
    """Registers and bytes of local memory of each kernel, from the words of the assembler."""
    found = {}
    for name, said in re.findall(r"Compiling entry function '(\w+)'(.*?)(?=Compiling entry function|\Z)", log, re.S):
        registers = re.search(r"Used (\d+) registers", said)
        local = [int(n) for n in re.findall(r"(\d+) bytes (?:stack frame|spill stores|spill loads)", said)]
        if registers is None:
            sys.exit(f"the assembler says nothing of {name}: {said}")
        found[name] = (int(registers[1]), sum(local))
    return found


def fused_quotients(ptx: str) -> list[str]:
    """Kernels whose PTX has no unfused product and sum beside the fused ones."""
    wrong = []
    for name in QUOTIENTS:
        body = re.search(rf"\.entry {name}\(.*?\n}}", ptx, re.S)
        if body is None:
            sys.exit(f"there is no kernel {name}")
        # The product of a source goes to a plain sum; a fused one would have no name for it.
        products = re.findall(r"mul\.rn\.f64\s+(%\w+),", body[0])
        if not any(re.search(rf"add\.rn\.f64\s+%\w+, %\w+, {re.escape(p)};", body[0]) for p in products):
            wrong.append(name)
    return wrong


def differs(target: str, made: bytes) -> list[str]:
    """What is stored for a target and is not what the kernels give; with the word `write` it is stored."""
    file = STORED[target]
    if "write" in sys.argv[1:]:
        file.write_bytes(zlib.compress(made, 9))
    same = file.exists() and zlib.decompress(file.read_bytes()) == made
    return [] if same else [f"{file.name} is not what the kernels give: run `tools/nvrtc.py write`"]


def main() -> None:
    """Checks all kernels for all targets, or stores what they give."""
    compiler, source = Compiler(), text()
    ptx = compiler.compile(source, PTX_TARGET)[0].rstrip(b"\0")
    bad = differs(PTX_TARGET, ptx)
    for target in TARGETS:
        cubin, log = compiler.compile(source, target)
        bad += differs(target, cubin)
        found = usage(log)
        if not found:
            sys.exit(f"{target}: the compiler says nothing of registers: {log[:500]}")
        for name, (registers, local) in found.items():
            most = next(most for start, most in MOST_REGISTERS.items() if name.startswith(start))
            if local or registers > most:
                bad.append(f"{target} {name}: {registers} registers, {local} bytes of local memory")
        if target == TARGETS[0] and compiler.compile(source, target)[0] != cubin:
            bad.append(f"{target}: two compilations differ")
        most = max(found, key=lambda name: found[name][0])
        print(f"{target}: {len(found)} kernels, {len(cubin)} bytes; most registers: {most}, {found[most][0]}")
    bad += [f"{name}: the quotient is fused" for name in fused_quotients(ptx.decode())]
    if bad:
        sys.exit("\n".join(bad))


if __name__ == "__main__":
    main()
