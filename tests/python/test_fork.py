"""Engines in forked children: what was made before the fork works after it, in every process, and nothing hangs."""

from __future__ import annotations

import faulthandler
import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from multiprocessing.pool import Pool

import numpy as np
import pytest

from aglet import Ciphertext, Engine, _core
from conftest import Keys
from support import TOLERANCE, assert_near

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")

# A child that hangs fails its test; one that works takes a second, and a machine may have much to do.
DEADLINE = 120.0


@pytest.fixture(params=[1, 2], scope="module")
def server(request: pytest.FixtureRequest, keys: Keys) -> Iterator[Engine]:
    """An engine that has worked already."""
    engine = Engine("parallel", thread_count=request.param, preset="toy", allow_insecure=True)
    refresh(engine, keys)
    yield engine
    refresh(engine, keys)


def refresh(engine: Engine, keys: Keys) -> np.ndarray:
    """A round through encryption, a product, a bootstrap and decryption, right or an error."""
    ciphertext = engine.multiply(engine.encrypt([0.5, -1], keys.public, level=1), [0.5, 1])
    fresh = engine.bootstrap(ciphertext, keys.relinearization, keys.conjugation, keys.bootstrap)
    found = engine.decrypt(fresh, keys.secret)
    assert_near(found[:2], [0.25, -1])
    return found


def fork(work: Callable[[], object]) -> int:
    """A child that does the work and leaves, with status 0 if that did not fail."""
    sys.stdout.flush()
    child = os.fork()
    if child:
        return child
    status = 1
    try:
        work()
        status = 0
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(status)


def assert_done(children: list[int]) -> None:
    """All end in time, and well."""
    end = time.monotonic() + DEADLINE
    left = {}
    while len(left) < len(children) and time.monotonic() < end:
        for child in set(children) - set(left):
            found, status = os.waitpid(child, os.WNOHANG)
            if found:
                left[child] = status
        time.sleep(0.02)
    for child in set(children) - set(left):
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    assert left == dict.fromkeys(children, 0)


def test_a_preforking_server(server: Engine, keys: Keys) -> None:
    """Children work at once, each again after the first time, and so does the parent meanwhile."""
    children = [fork(lambda: [refresh(server, keys) for _ in range(2)]) for _ in range(3)]
    for _ in range(2):
        refresh(server, keys)
    assert_done(children)


def test_children_of_children(server: Engine, keys: Keys) -> None:
    def generations(left: int) -> None:
        refresh(server, keys)
        if left:
            child = fork(lambda: generations(left - 1))
            refresh(server, keys)
            assert_done([child])

    assert_done([fork(lambda: generations(2))])


def test_a_fork_while_other_threads_work(server: Engine, keys: Keys) -> None:
    """The child has neither the threads that work in the parent, nor waits for what they hold."""
    stop = threading.Event()

    def work() -> None:
        while not stop.is_set():
            refresh(server, keys)

    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    children = []
    for _ in range(8):
        time.sleep(0.03)
        children.append(fork(lambda: refresh(server, keys)))
    assert_done(children)
    stop.set()
    for thread in threads:
        thread.join()


def test_keys_and_files_in_a_child(server: Engine, keys: Keys) -> None:
    """Long work, which has a thread of its own and progress; an engine and ciphertexts that a child drops."""
    steps = []

    def work() -> None:
        engine = Engine("parallel", thread_count=2, preset="toy", allow_insecure=True)
        for made_by in (server, engine):
            key = made_by.create_bootstrap_key(keys.secret, progress=lambda *step: steps.append(step))
            server.deserialize_bootstrap_key(server.serialize_bootstrap_key(key))
        del engine, key
        assert steps
        refresh(server, keys)

    assert_done([fork(work)])


def test_children_draw_other_randomness(server: Engine, keys: Keys) -> None:
    """The same call in two children encrypts to other words."""
    reading, writing = os.pipe()

    def work() -> None:
        data = server.serialize_ciphertext(server.encrypt([1], keys.secret, level=0))
        # Words: what stands before them is the same in both, the checksum at the end differs anyway.
        os.write(writing, data[-1024:-512])

    assert_done([fork(work) for _ in range(2)])
    first, second = os.read(reading, 512), os.read(reading, 512)
    os.close(reading)
    os.close(writing)
    assert len(first) == len(second) == 512
    assert first != second


_shared: tuple[Engine, Keys] | None = None


def halved(ciphertext: Ciphertext) -> Ciphertext:
    assert _shared is not None
    engine, keys = _shared
    refresh(engine, keys)
    return engine.multiply(ciphertext, 0.5)


def test_a_pool_of_forked_workers(server: Engine, keys: Keys) -> None:
    """Workers find engine and keys where the parent has them; ciphertexts travel."""
    global _shared
    _shared = (server, keys)
    with multiprocessing.get_context("fork").Pool(2) as pool:
        results = in_time(pool, [server.encrypt([x], keys.public) for x in (0.5, 0.25, -1)])
    _shared = None
    assert_near([server.decrypt(result, keys.secret)[0] for result in results], [0.25, 0.125, -0.5], TOLERANCE)


def in_time(pool: Pool, ciphertexts: list[Ciphertext]) -> list[Ciphertext]:
    return pool.map_async(halved, ciphertexts, chunksize=1).get(DEADLINE)


def test_a_progress_callback_that_forks_and_comes_back_ends_the_child(server: Engine, keys: Keys) -> None:
    children: list[int] = []
    reading, writing = os.pipe()

    def callback(*_: object) -> None:
        if not children:
            children.append(os.fork())
            if not children[0]:
                # What the child says at its end goes to the parent, not among the lines of a run in which all is well.
                faulthandler.enable(writing)

    parent = os.getpid()
    try:
        server.create_bootstrap_key(keys.secret, progress=callback)
    finally:
        if os.getpid() != parent:
            os._exit(0)
    os.close(writing)
    with open(reading, "rb") as said:
        assert said.read().startswith(b"Fatal Python error: Aborted")
    assert os.WTERMSIG(os.waitpid(children[0], 0)[1]) == signal.SIGABRT


THREADS = '''
import contextlib
import os
import time
from aglet import Engine, _core

def others():
    """Threads that are not named after Aglet."""
    count = 0
    for thread in os.listdir("/proc/self/task"):
        # One that has just ended has no name any more.
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            count += not open(f"/proc/self/task/{thread}/comm").read().startswith("aglet-")
    return count

before = others()
engine = Engine("parallel", thread_count=2, preset="toy", allow_insecure=True)
secret = engine.create_secret_key()
public, relinearization = engine.create_public_key(secret), engine.create_relinearization_key(secret)
conjugation, rotation = engine.create_conjugation_key(secret), engine.create_rotation_key(secret)
matrix = engine.create_matrix_multiplication_key(secret)
large, small = engine.create_bootstrap_key(secret), engine.create_small_bootstrap_key(secret)
ciphertext = engine.rotate(engine.encrypt([0.5], public, level=1), rotation, 3)
engine.bootstrap(ciphertext, relinearization, conjugation, large)
engine.bootstrap(ciphertext, relinearization, conjugation, rotation, small)
engine.bootstrap_many([ciphertext] * 2, relinearization, conjugation, large)
engine.multiply_matrix([[1, 2], [3, 4]], ciphertext, matrix)
engine.deserialize_bootstrap_key(engine.serialize_bootstrap_key(large))
_core.plan("toy", "regular", 3, "large", 512)
_core.predicted_precision("toy", "regular", 3, "large", 512)
_core.bench_ntt(12, 45, "scalar", 1)
_core.unit_costs(12, 45)
# A thread that is just starting has no name yet.
end = time.monotonic() + 5
while others() > before and time.monotonic() < end:
    time.sleep(0.05)
print(others() - before)
'''


def test_work_is_done_by_the_threads_of_the_engine_alone() -> None:
    """No pool of the whole process: an engine takes the cores that it was given, and a fork would find it dead."""
    program = [sys.executable, "-c", THREADS]
    ran = subprocess.run(program, capture_output=True, text=True, timeout=DEADLINE, check=False)
    assert ran.stdout == "0\n", ran.stderr


def test_functions_without_an_engine(keys: Keys) -> None:
    """Before the fork and after it."""
    plan = ("toy", "regular", 3, "large", 512)
    before = _core.predicted_precision(*plan)

    def work() -> None:
        assert _core.predicted_precision(*plan) == before

    assert_done([fork(work)])
