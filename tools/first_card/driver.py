"""What the driver of NVIDIA cards says of itself and of the first card, by the standard library alone: the first thing to know about a machine.

Prints one line of JSON. Where the library is in none of the usual places it is looked for, and named for the steps that follow.
"""

from __future__ import annotations

import ctypes
import glob
import json
import os
import subprocess
import sys

__all__ = ["NEEDED", "Card", "attributes", "load", "main"]

NEEDED = 12080
"""The version of CUDA that kernels of Aglet need, as drivers count."""
PLACES = (
    "/usr/local/nvidia/lib*/libcuda.so.1",
    "/usr/lib/*/libcuda.so.1",
    "/usr/lib64/libcuda.so.1",
    "/usr/local/cuda*/compat/libcuda.so.1",
)
ATTRIBUTES = {
    "compute_capability_major": 75,
    "compute_capability_minor": 76,
    "multiprocessors": 16,
    "clock_khz": 13,
    "memory_clock_khz": 36,
    "memory_bus_bits": 37,
    "l2_bytes": 38,
    "shared_bytes_of_a_block": 97,
    "single_to_double": 87,
    "memory_pools": 115,
    "compute_mode": 20,
    "ecc": 32,
}
"""Attributes of devices by their numbers in `cuda.h`."""
STATUS = {
    3: "it was not initialized",
    34: "this is the stub that programs are linked with, no driver: take its folder out of LD_LIBRARY_PATH",
    46: "the card is in use by another program that has it for itself",
    100: "it finds no card: look at nvidia-smi, at /dev/nvidia0 and at CUDA_VISIBLE_DEVICES",
    803: "the library and the module of the kernel have different versions",
    804: "the library is one of forward compatibility, which this card does not take",
    999: "something else is wrong: look at nvidia-smi and at /dev/nvidia*",
}


def load() -> tuple[ctypes.CDLL, str]:
    """The library and its name.

    Raises
    ------
    OSError
        If there is none.
    """
    named = os.environ.get("AGLET_CUDA_DRIVER")
    names = [named] if named else ["libcuda.so.1", *(file for place in PLACES for file in sorted(glob.glob(place)))]
    problems = []
    for name in names:
        try:
            return ctypes.CDLL(name), name
        except OSError as error:
            problems.append(f"{name}: {error}")
    raise OSError("there is no driver of NVIDIA cards: " + "; ".join(problems))


class Card:
    """The driver with the context of its first card, for calls by name; a call that fails is an error with its status."""

    def __init__(self) -> None:
        self.library, self.name = load()
        self("cuInit", 0)
        self.device = ctypes.c_int()
        self("cuDeviceGet", ctypes.byref(self.device), 0)

    def __call__(self, name: str, *arguments: object) -> None:
        status = getattr(self.library, name)(*arguments)
        if status:
            text = ctypes.c_char_p()
            self.library.cuGetErrorName(status, ctypes.byref(text))
            said = (text.value or b"").decode() or f"status {status}"
            raise RuntimeError(f"{name}: {said}. {STATUS.get(status, '')}".strip())

    def enter(self) -> None:
        """Makes the context of the card that of this thread."""
        context = ctypes.c_void_p()
        self("cuDevicePrimaryCtxRetain", ctypes.byref(context), self.device)
        self("cuCtxPushCurrent_v2", context)


def attributes(card: Card) -> dict[str, int | None]:
    """What is known of a card; None where the driver does not say."""
    found: dict[str, int | None] = {}
    for name, number in ATTRIBUTES.items():
        value = ctypes.c_int()
        try:
            card("cuDeviceGetAttribute", ctypes.byref(value), number, card.device)
            found[name] = value.value
        except RuntimeError:
            found[name] = None
    return found


def _said(*command: str) -> str:
    try:
        made = subprocess.run(command, capture_output=True, text=True, timeout=15, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    return (made.stdout + made.stderr).strip()[:2000]


def main() -> None:
    """Say what there is, and in a sentence what is wrong."""
    record: dict[str, object] = {
        "operation": "driver",
        "python": sys.version.split()[0],
        "kernel": " ".join(os.uname()[2:4]),
        "cores": len(os.sched_getaffinity(0)),
        "devices": sorted(glob.glob("/dev/nvidia*"))[:20],
        "library_path": os.environ.get("LD_LIBRARY_PATH", ""),
    }
    problem = ""
    try:
        card = Card()
        record["library"] = card.name
        version, bytes_, name = ctypes.c_int(), ctypes.c_size_t(), ctypes.create_string_buffer(256)
        card("cuDriverGetVersion", ctypes.byref(version))
        card("cuDeviceGetName", name, 256, card.device)
        card("cuDeviceTotalMem_v2", ctypes.byref(bytes_), card.device)
        record |= {"cuda": version.value, "card": name.value.decode(), "memory_bytes": bytes_.value, **attributes(card)}
        if version.value < NEEDED:
            problem = f"the driver serves CUDA {version.value}, and {NEEDED} is needed"
        card.enter()
        free = ctypes.c_size_t()
        card("cuMemGetInfo_v2", ctypes.byref(free), ctypes.byref(bytes_))
        record["free_bytes"] = free.value
    except (OSError, RuntimeError, AttributeError) as error:
        problem = str(error)
    if problem:
        record |= {"error": problem, "nvidia_smi": _said("nvidia-smi")}
    else:
        fields = "name,driver_version,clocks.sm,clocks.mem,clocks.max.sm,power.draw,power.limit,temperature.gpu,mig.mode.current"
        record["nvidia_smi"] = _said("nvidia-smi", f"--query-gpu={fields}", "--format=csv")
    print(json.dumps(record), flush=True)
    sys.exit(1 if problem else 0)


if __name__ == "__main__":
    main()
