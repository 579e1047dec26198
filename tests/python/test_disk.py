"""Files and what the system and other programs do to them: FIFOs, links, permissions, cuts, killed writers."""

from __future__ import annotations

import os
import signal
import socket
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from aglet import Engine
from conftest import Keys

pytestmark = pytest.mark.skipif(os.name != "posix", reason="permissions and FIFOs are those of Unix")


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.fixture
def no_umask() -> Iterator[None]:
    """New files may have every permission that a program gives them."""
    before = os.umask(0)
    yield
    os.umask(before)


@pytest.mark.usefixtures("no_umask")
@pytest.mark.parametrize(
    ("before", "public", "secret"),
    [(None, 0o666, 0o600), (0o640, 0o640, 0o600), (0o604, 0o604, 0o600), (0o777, 0o666, 0o600), (0o400, 0o400, 0o400)],
)
def test_a_file_that_is_written_again_is_open_to_nobody_new(
    engine: Engine, keys: Keys, tmp_path: Path, before: int | None, public: int, secret: int
) -> None:
    for write, value, expected in (
        (engine.write_public_key, keys.public, public),
        (engine.write_secret_key, keys.secret, secret),
    ):
        path = tmp_path / write.__name__
        if before is not None:
            path.touch()
            path.chmod(before)
        write(value, path)  # type: ignore[operator]
        assert mode(path) == expected
    assert len(list(tmp_path.iterdir())) == 2


def test_only_files_are_read_and_replaced(engine: Engine, keys: Keys, tmp_path: Path) -> None:
    """At once: a FIFO that nobody writes to would keep its reader waiting for ever."""
    fifo, listening, folder = tmp_path / "fifo", tmp_path / "socket", tmp_path / "folder"
    os.mkfifo(fifo)
    folder.mkdir()
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(listening))
    link = tmp_path / "link"
    link.symlink_to(fifo)
    for path, what in ((fifo, "a FIFO"), (link, "a FIFO"), (listening, "a socket"), (Path("/dev/null"), "a device")):
        for call in (lambda p: engine.read_ciphertext(p), lambda p: engine.write_public_key(keys.public, p)):
            with pytest.raises(OSError, match=f"it is {what} and not a file"):
                call(path)
    assert stat.S_ISFIFO(fifo.stat().st_mode)
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)
    for call in (engine.read_public_key, lambda p: engine.write_public_key(keys.public, p)):
        with pytest.raises(IsADirectoryError):
            call(folder)
    dangling, loop = tmp_path / "dangling", tmp_path / "loop"
    dangling.symlink_to(tmp_path / "nothing")
    loop.symlink_to(loop)
    with pytest.raises(OSError, match="link to a file that does not exist"):
        engine.write_public_key(keys.public, dangling)
    with pytest.raises(FileNotFoundError):
        engine.read_public_key(dangling)
    for call in (engine.read_public_key, lambda p: engine.write_public_key(keys.public, p)):
        with pytest.raises(OSError, match="ymbolic links"):
            call(loop)
    assert dangling.is_symlink()
    assert sorted(p.name for p in tmp_path.iterdir()) == ["dangling", "fifo", "folder", "link", "loop", "socket"]


CUTTING = """
import os, sys, threading
from pathlib import Path
from aglet import Engine
from aglet.errors import SerializationError
engine = Engine("parallel", thread_count=2, preset="toy", allow_insecure=True)
path = Path(sys.argv[1])
engine.write_bootstrap_key(engine.create_bootstrap_key(engine.create_secret_key()), path)
whole = path.read_bytes()
done = False

def cut():
    at = 0
    while not done:
        at = (at + 7919 * 31) % len(whole)
        os.truncate(path, at)
        path.write_bytes(whole)

thread = threading.Thread(target=cut)
thread.start()
read = refused = 0
while read < 20 or refused < 20:
    try:
        engine.read_bootstrap_key(path)
        read += 1
    except SerializationError:
        refused += 1
    if read + refused == 5000:
        break
done = True
thread.join()
print(refused >= 20)
"""


def test_a_file_that_is_cut_while_it_is_read_is_refused(tmp_path: Path) -> None:
    """Not the end of the process, as with files that are mapped."""
    program = [sys.executable, "-c", CUTTING, str(tmp_path / "key")]
    ran = subprocess.run(program, capture_output=True, text=True, timeout=300, check=False)
    assert (ran.returncode, ran.stdout) == (0, "True\n"), ran.stderr


WRITING = """
import sys
from aglet import Engine
engine = Engine(preset="toy", allow_insecure=True)
key = engine.create_bootstrap_key(engine.create_secret_key())
engine.write_bootstrap_key(key, sys.argv[1])
print("ready", flush=True)
while True:
    engine.write_bootstrap_key(key, sys.argv[1])
"""


def killed(path: Path, wait: Callable[[], None]) -> None:
    """Starts what writes a file over and over, waits, and kills it."""
    process = subprocess.Popen([sys.executable, "-c", WRITING, str(path)], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    wait()
    process.send_signal(signal.SIGKILL)
    process.wait(timeout=30)
    process.stdout.close()


@pytest.mark.parametrize("round_", range(4))
def test_a_killed_writer_leaves_the_old_file_or_the_new_one(engine: Engine, tmp_path: Path, round_: int) -> None:
    killed(tmp_path / "key", lambda: time.sleep(0.1 + 0.013 * round_))
    engine.read_bootstrap_key(tmp_path / "key")


def killed_in_the_middle(path: Path) -> None:
    """Leaves what a killed write leaves."""

    def until_it_writes() -> None:
        end = time.monotonic() + 5
        while time.monotonic() < end and not any(p.suffix == ".tmp" for p in path.parent.iterdir()):
            time.sleep(0.0005)

    for _ in range(50):
        killed(path, until_it_writes)
        if any(p.suffix == ".tmp" for p in path.parent.iterdir()):
            return
    raise AssertionError("no write was killed in the middle")


def test_what_a_killed_write_leaves_is_removed_by_the_next(engine: Engine, keys: Keys, tmp_path: Path) -> None:
    path, other = tmp_path / "key", tmp_path / "other"
    killed_in_the_middle(path)
    left = [p for p in tmp_path.iterdir() if p.suffix == ".tmp"]
    assert len(left) == 1
    engine.write_public_key(keys.public, other)
    assert left[0].exists(), "of another file"
    engine.write_secret_key(keys.secret, path)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["key", "other"]
    engine.read_secret_key(path)


def test_several_writers_of_one_file(engine: Engine, keys: Keys, tmp_path: Path) -> None:
    """Each writes a whole file, and none removes what another one is writing."""
    path = tmp_path / "key"
    failed: list[BaseException] = []

    def work(write: Callable[[], None]) -> None:
        try:
            for _ in range(10):
                write()
        except BaseException as error:
            failed.append(error)

    threads = [
        threading.Thread(target=work, args=(lambda: engine.write_bootstrap_key(keys.bootstrap, path),))
        for _ in range(6)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed
    assert [p.name for p in tmp_path.iterdir()] == ["key"]
    engine.read_bootstrap_key(path)
