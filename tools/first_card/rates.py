"""What calls, copies, memory and arithmetic of the first card take, by the driver alone: what the models of Aglet assume.

Prints a line of JSON for each measurement; one that fails says so and the next one follows. `--rehearsal` makes it small.
"""

from __future__ import annotations

import ctypes
import json
import os
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

from driver import ATTRIBUTES, Card

HERE = Path(__file__).parent
BINARY = Path(os.environ.get("AGLET_RATES", HERE.parents[1] / ".card" / "rates.cubin"))
U64, POINTER = ctypes.c_uint64, ctypes.c_void_p
THREADS = 256


class Timer:
    """A card with its kernels, blocks of memory, two events, and a stream of its own as engines have one."""

    def __init__(self) -> None:
        self.card = Card()
        self.card.enter()
        count = ctypes.c_int()
        self.card("cuDeviceGetAttribute", ctypes.byref(count), ATTRIBUTES["multiprocessors"], self.card.device)
        self.multiprocessors = count.value
        self.module = POINTER()
        self.events = [POINTER(), POINTER()]
        for event in self.events:
            self.card("cuEventCreate", ctypes.byref(event), 0)
        self.stream = POINTER()
        self.card("cuStreamCreate", ctypes.byref(self.stream), 1)

    def load(self) -> None:
        """Loads the kernels: those that were compiled before, or by the compiler of this machine."""
        if not BINARY.exists():
            compiler = shutil.which("nvcc") or "/usr/local/cuda/bin/nvcc"
            BINARY.parent.mkdir(exist_ok=True)
            command = [compiler, "-cubin", "-arch=native", "-std=c++17", "-o", str(BINARY), str(HERE / "rates.cu")]
            subprocess.run(command, check=True, timeout=40, stdout=sys.stderr)
        self.card("cuModuleLoadData", ctypes.byref(self.module), BINARY.read_bytes())

    def kernel(self, name: str) -> ctypes.c_void_p:
        found = POINTER()
        self.card("cuModuleGetFunction", ctypes.byref(found), self.module, name.encode())
        return found

    def block(self, size: int) -> ctypes.c_uint64:
        found = U64()
        self.card("cuMemAlloc_v2", ctypes.byref(found), ctypes.c_size_t(size))
        self.card("cuMemsetD8Async", found, ctypes.c_ubyte(3), ctypes.c_size_t(size), self.stream)
        return found

    def pinned(self, size: int) -> ctypes.c_void_p:
        found = POINTER()
        self.card("cuMemHostAlloc", ctypes.byref(found), ctypes.c_size_t(size), 0)
        return found

    def launch(self, kernel: ctypes.c_void_p, blocks: int, *arguments: Any) -> None:
        places = (POINTER * max(1, len(arguments)))(*(ctypes.cast(ctypes.byref(a), POINTER) for a in arguments))
        self.card("cuLaunchKernel", kernel, blocks, 1, 1, THREADS, 1, 1, 0, self.stream, places, None)

    def wait(self) -> None:
        self.card("cuStreamSynchronize", self.stream)

    def on_card(self, work: Callable[[], None]) -> float:
        """Milliseconds of the card from before some work to behind it."""
        first, last = self.events
        self.card("cuEventRecord", first, self.stream)
        work()
        self.card("cuEventRecord", last, self.stream)
        self.card("cuEventSynchronize", last)
        found = ctypes.c_float()
        self.card("cuEventElapsedTime", ctypes.byref(found), first, last)
        return found.value

    def median(self, work: Callable[[], None], times: int = 5) -> float:
        """The median of several times, after one that warms up."""
        self.on_card(work)
        return statistics.median(self.on_card(work) for _ in range(times))


def calls(t: Timer, count: int) -> Iterator[dict[str, Any]]:
    """Microseconds of a call: of the host until it returns, and of the card for one of many."""
    kernel, small, place = t.kernel("nothing"), t.block(1 << 20), U64()
    pinned, pageable, pool = t.pinned(1 << 20), ctypes.create_string_buffer(1 << 20), POINTER()
    context = POINTER()
    t.card("cuDeviceGetDefaultMemPool", ctypes.byref(pool), t.card.device)
    t.card("cuMemPoolSetAttribute", pool, 4, ctypes.byref(U64(1 << 30)))
    current = POINTER()
    t.card("cuCtxGetCurrent", ctypes.byref(current))
    free, whole = ctypes.c_size_t(), ctypes.c_size_t()

    def block() -> None:
        t.card("cuMemAllocFromPoolAsync", ctypes.byref(place), ctypes.c_size_t(1 << 12), pool, t.stream)
        t.card("cuMemFreeAsync", place, t.stream)

    def entered() -> None:
        t.card("cuCtxPushCurrent_v2", current)
        t.card("cuCtxPopCurrent_v2", ctypes.byref(context))

    def launched_and_read() -> None:
        t.launch(kernel, 1)
        t.card("cuMemcpyDtoHAsync_v2", pinned, small, ctypes.c_size_t(8), t.stream)
        t.wait()

    single: dict[str, Callable[[], None]] = {
        "python alone": lambda: t.card("cuDriverGetVersion", ctypes.byref(ctypes.c_int())),
        "launch of one block": lambda: t.launch(kernel, 1),
        "launch of 4 blocks each": lambda: t.launch(kernel, 4 * t.multiprocessors),
        "block of a pool and its end": block,
        "copy there of 4 KB, pinned": lambda: t.card(
            "cuMemcpyHtoDAsync_v2", small, pinned, ctypes.c_size_t(4096), t.stream
        ),
        "copy there of 4 KB, pageable": lambda: t.card(
            "cuMemcpyHtoDAsync_v2", small, pageable, ctypes.c_size_t(4096), t.stream
        ),
        "launch, copy of 8 bytes back, wait": launched_and_read,
        "context entered and left": entered,
        "free memory": lambda: t.card("cuMemGetInfo_v2", ctypes.byref(free), ctypes.byref(whole)),
    }
    for name, call in single.items():
        try:
            for _ in range(10):
                call()
            t.wait()

            def many(call: Callable[[], None] = call) -> None:
                for _ in range(count):
                    call()

            start = time.perf_counter()
            many()
            host = time.perf_counter() - start
            t.wait()
            card = t.median(many, 3)
            yield {"operation": "call", "name": name, "host_us": 1e6 * host / count, "card_us": 1e3 * card / count}
        except RuntimeError as error:
            yield {"operation": "call", "name": name, "error": str(error)}


def copies(t: Timer, size: int) -> Iterator[dict[str, Any]]:
    """Gigabytes a second there and back."""
    there, pinned, pageable = t.block(size), t.pinned(size), ctypes.create_string_buffer(size)
    n = ctypes.c_size_t(size)
    for name, call in {
        "there, pinned": lambda: t.card("cuMemcpyHtoDAsync_v2", there, pinned, n, t.stream),
        "there, pageable": lambda: t.card("cuMemcpyHtoDAsync_v2", there, pageable, n, t.stream),
        "back, pinned": lambda: t.card("cuMemcpyDtoHAsync_v2", pinned, there, n, t.stream),
        "back, pageable": lambda: t.card("cuMemcpyDtoHAsync_v2", pageable, there, n, t.stream),
    }.items():
        yield {"operation": "copy", "name": name, "bytes": size, "gb_per_second": size / t.median(call, 3) / 1e6}


def memory(t: Timer, sizes: list[int], whole: int) -> Iterator[dict[str, Any]]:
    """Gigabytes a second of reading and of copying windows of memory."""
    read, copy, blocks = t.kernel("read_words"), t.kernel("copy_words"), 8 * t.multiprocessors
    from_, to = t.block(max(sizes)), t.block(max(sizes))
    for size in sizes:
        rounds = max(1, whole // size)
        for name, kernel, ways in (("read", read, 1), ("read and write", copy, 2)):
            call = partial(t.launch, kernel, blocks, from_, U64(size // 16), U64(rounds), to)
            yield {
                "operation": name,
                "bytes": size,
                "gb_per_second": ways * size * rounds / t.median(call, 3) / 1e6,
            }


def arithmetic(t: Timer, rounds: int) -> Iterator[dict[str, Any]]:
    """Operations a second, of all threads."""
    blocks, out = 8 * t.multiprocessors, t.block(4096)
    for name, seed in (
        ("fma", ctypes.c_double(0.9999999)),
        ("add", ctypes.c_double(1.25)),
        ("mul", U64(77)),
        ("mulhi", U64(1 << 63)),
    ):
        ms = t.median(partial(t.launch, t.kernel(f"chains_{name}"), blocks, seed, U64(rounds), out), 3)
        done = 8 * rounds * blocks * THREADS
        yield {"operation": "arithmetic", "name": name, "giga_per_second": done / ms / 1e6}


def main() -> None:
    """Measure all of it."""
    small, failed = "--rehearsal" in sys.argv, False
    try:
        timer = Timer()
        timer.load()
    except (RuntimeError, OSError, AttributeError, subprocess.SubprocessError) as error:
        print(json.dumps({"operation": "error", "error": str(error)}), flush=True)
        sys.exit(1)
    sizes = [1 << 16, 1 << 17] if small else [4 << 20, 16 << 20, 32 << 20, 48 << 20, 64 << 20, 128 << 20, 1 << 30]
    for what, measured in (
        ("calls", calls(timer, 20 if small else 2000)),
        ("memory", memory(timer, sizes, 1 << 17 if small else 8 << 30)),
        ("arithmetic", arithmetic(timer, 16 if small else 1 << 14)),
        ("copies", copies(timer, 1 << 16 if small else 256 << 20)),
    ):
        try:
            for record in measured:
                failed |= "error" in record
                print(json.dumps(record), flush=True)
        except (RuntimeError, OSError, AttributeError) as error:
            failed = True
            print(json.dumps({"operation": what, "error": str(error)}), flush=True)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
