"""What the stages of all workloads share: folders, arguments, streams of ciphertexts, times and refusals.

A stage is a process of its own. Its folder is the root of the harness, and everything that it gives to the next one is
a file below `io/SIZE`. The secret key has a folder of its own, which only clients open.
"""

from __future__ import annotations

import argparse
import json
import os
import struct
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aglet.errors import AgletError

__all__ = [
    "Clock",
    "Place",
    "WorkloadError",
    "empty",
    "load_array",
    "load_weights",
    "needed",
    "network_stages",
    "new_secret_key",
    "read_all",
    "read_one",
    "run",
    "save_array",
    "save_binary",
    "side_by_side",
    "threads",
    "write_all",
    "write_text",
]

_LENGTH = struct.Struct("<Q")
_THREADS = "AGLET_WORKLOAD_THREADS"


class WorkloadError(ValueError):
    """A file of a workload is missing or has another size than the stage needs. The message names the fix."""


@dataclass(frozen=True)
class Place:
    """The folders of one size, below the root of the harness, and the options of the stage."""

    size: str
    root: Path
    count: int | None = None
    """The number of inputs, where the harness gives it."""
    count_only: bool = False

    @property
    def data(self) -> Path:
        """What the harness made, in the clear."""
        return self.root / "datasets" / self.size

    @property
    def io(self) -> Path:
        """All that the stages write."""
        return self.root / "io" / self.size

    @property
    def public_keys(self) -> Path:
        """The keys and the description that the server gets."""
        return self.io / "public_keys"

    @property
    def secret_key(self) -> Path:
        """The file of the secret key, which only clients open."""
        return self.io / "secret_key" / "secret.key"

    @property
    def upload(self) -> Path:
        """Ciphertexts from the client to the server."""
        return self.io / "ciphertexts_upload"

    @property
    def download(self) -> Path:
        """Ciphertexts from the server to the client."""
        return self.io / "ciphertexts_download"

    @property
    def intermediate(self) -> Path:
        """What one stage of the client leaves to the next, in the clear. The server does not read it."""
        return self.io / "intermediate"


class Clock:
    """The seconds that a stage of the server spends on each of its parts.

    They are counted on the wall and, unless parts run side by side, of all cores.
    """

    def __init__(self, side_by_side: bool = False) -> None:
        self._alone = not side_by_side
        self.seconds: dict[str, float] = {}
        self._lock = threading.Lock()

    @contextmanager
    def part(self, name: str) -> Iterator[None]:
        """Measure the block. Blocks with one name add up."""
        start, cpu = time.perf_counter(), time.process_time()
        yield
        with self._lock:
            spent = {name: time.perf_counter() - start, f"{name}, cpu": time.process_time() - cpu}
            for what in spent if self._alone else [name]:
                self.seconds[what] = self.seconds.get(what, 0.0) + spent[what]

    def save(self, place: Place) -> None:
        """Write the seconds where harnesses look for what a server reports."""
        rounded = {name: round(seconds, 4) for name, seconds in self.seconds.items()}
        for name in ("server_reported_steps", "server_reported"):
            write_text(place.io / f"{name}.json", json.dumps(rounded, indent=2) + "\n")


def run(stage: Callable[[Place], None], sizes: Sequence[str], counts: Sequence[int] = ()) -> None:
    """Read the arguments of a stage, run it in the current folder, and end with one sentence if it refuses.

    Harnesses name a size by its name or its index. With `counts`, the only argument is the number of inputs; without
    `sizes` there is none, and the stage is of all sizes. A repeated option counts once, with its last value. Seeds do
    not matter: randomness is the system's.
    """
    name = Path(sys.argv[0]).stem
    parser = argparse.ArgumentParser(prog=name, allow_abbrev=False)
    if sizes:
        parser.add_argument("size")
    parser.add_argument("count", nargs="?", type=int)
    parser.add_argument("--count_only", action="store_true")
    parser.add_argument("--seed", type=int)
    given = parser.parse_args()
    try:
        size = ""
        if sizes:
            size = _size_of_count(given.size, sizes, counts) if counts else _size(given.size, sizes)
        stage(Place(size, Path.cwd(), given.count, given.count_only))
    except (WorkloadError, AgletError, OSError) as refusal:
        raise SystemExit(f"{name}: {refusal}") from None


def _size(given: str, sizes: Sequence[str]) -> str:
    if given.isdecimal() and int(given) < len(sizes):
        return sizes[int(given)]
    if given not in sizes:
        raise WorkloadError(f"There is no size {given!r}; give one of {', '.join(sizes)}, or its index.")
    return given


def _size_of_count(given: str, sizes: Sequence[str], counts: Sequence[int]) -> str:
    if not given.isdecimal() or int(given) not in counts:
        raise WorkloadError(f"There is no size of {given} inputs; give one of {', '.join(map(str, counts))}.")
    return sizes[list(counts).index(int(given))]


def threads() -> int:
    """The number of threads: all cores, or what the environment says."""
    given = os.environ.get(_THREADS, "0")
    if not given.isdecimal():
        raise WorkloadError(f"{_THREADS}={given} is not a number; give 1, 2, ..., or 0 for all cores.")
    return int(given) or os.cpu_count() or 1


def side_by_side(work: Callable[[int], None], count: int) -> None:
    """Do `work(0)` to `work(count - 1)` on the threads of the workload. The first error ends it."""
    with ThreadPoolExecutor(min(threads(), count)) as pool:
        for _ in pool.map(work, range(count)):
            pass


def new_secret_key(engine: Any, place: Place) -> Any:
    """Make the secret key, and write it where only clients read."""
    key = engine.create_secret_key()
    place.secret_key.parent.mkdir(parents=True, exist_ok=True)
    engine.write(key, place.secret_key)
    return key


def needed(path: Path, maker: str) -> Path:
    """Return the path of a file that an earlier stage has made.

    Raises
    ------
    WorkloadError
        If it is missing.
    """
    if not path.exists():
        raise WorkloadError(f"{path} is missing; run {maker} first.")
    return path


def write_text(path: Path, text: str) -> None:
    """Write a file whole or not at all, and its folder where there is none."""
    with _replaced(path) as temporary:
        temporary.write_text(text)


def empty(folder: Path) -> None:
    """Remove the files of an earlier run."""
    folder.mkdir(parents=True, exist_ok=True)
    for path in folder.iterdir():
        path.unlink()


def save_array(path: Path, values: NDArray[Any]) -> None:
    """Write an array in numpy's format."""
    with _replaced(path) as temporary, temporary.open("wb") as file:
        np.save(file, values, allow_pickle=False)


def save_binary(path: Path, values: NDArray[Any]) -> None:
    """Write the numbers of an array and nothing else."""
    with _replaced(path) as temporary:
        values.tofile(temporary)


def load_array(path: Path, maker: str) -> NDArray[Any]:
    """Read an array that `save_array` wrote.

    Raises
    ------
    WorkloadError
        If the file is missing or damaged.
    """
    needed(path, maker)
    try:
        found: NDArray[Any] = np.load(path, allow_pickle=False)
    except (ValueError, EOFError):
        raise WorkloadError(f"{path} is damaged; run {maker} again.") from None
    return found


def load_weights(path: Path, maker: str, network: Callable[[dict[str, Any]], Any]) -> dict[str, Any]:
    """Read the named arrays of a network, of which `network` must be able to make one.

    Raises
    ------
    WorkloadError
        If the file is missing or damaged.
    """
    needed(path, maker)
    try:
        with np.load(path, allow_pickle=False) as file:
            found = {name: file[name].astype(float) for name in file.files}
        network(found)
    except (ValueError, EOFError, LookupError, OSError, AgletError):
        raise WorkloadError(f"{path} is damaged; run {maker} again.") from None
    return found


def read_one(engine: Any, path: Path, maker: str) -> Any:
    """Read a key or ciphertext that `engine.write` wrote."""
    return engine.read(needed(path, maker))


def write_all(engine: Any, values: Iterable[Any], path: Path) -> None:
    """Write ciphertexts or keys into one file: the length of each as eight bytes, then its bytes."""
    with _replaced(path) as temporary, temporary.open("wb") as file:
        for value in values:
            data = engine.serialize(value)
            file.write(_LENGTH.pack(len(data)))
            file.write(data)


def read_all(engine: Any, path: Path, count: int, maker: str) -> Iterator[Any]:
    """Read the `count` values of a file that `write_all` has made, one at a time.

    Raises
    ------
    WorkloadError
        If the file is missing, ends too early, or holds more.
    """
    again = f"run {maker} again"
    with needed(path, maker).open("rb") as file:
        left = path.stat().st_size
        for number in range(count):
            head = file.read(_LENGTH.size)
            length = _LENGTH.unpack(head)[0] if len(head) == _LENGTH.size else left
            left -= _LENGTH.size
            if length > left:
                raise WorkloadError(f"{path} ends in its part {number} of {count}; {again}.")
            left -= length
            yield engine.deserialize(file.read(length))
        if left:
            raise WorkloadError(f"{path} holds more than {count} parts; {again}.")


@contextmanager
def _replaced(path: Path) -> Iterator[Path]:
    """A temporary file beside the path, which takes its place in the end."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        yield temporary
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


_Stages = Callable[[Place], list[list[str]]]


def network_stages(sizes: Sequence[str]) -> tuple[_Stages, _Stages]:
    """What the stand-in calls for a network: the stages before the runs and those of a run, with their arguments."""

    def stages(*names: str) -> _Stages:
        return lambda place: [[name, str(sizes.index(place.size))] for name in names]

    client = ("client_preprocess_input", "client_encode_encrypt_input", "server_encrypted_compute")
    return (
        lambda place: [*stages("client_key_generation")(place), ["server_preprocess_model"]],
        stages(*client, "client_decrypt_decode", "client_postprocess"),
    )
