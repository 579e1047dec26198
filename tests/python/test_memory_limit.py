"""Memory that runs out: an exception, and never the end of the process."""

from __future__ import annotations

import subprocess
import sys

import pytest

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="limits of address space are Linux's")

# Each takes more and more until the limit: what stops it has to be an exception, after which Python goes on.
TAKES = {
    "plaintexts": "e = aglet.Engine(max_level=7); one = lambda: e.encode([0.5])",
    "ciphertexts": "e = aglet.Engine(max_level=7); k = e.create_secret_key(); one = lambda: e.encrypt([0.5], k)",
    "sums": "e = aglet.Engine(max_level=7); x = e.encrypt([0.5], e.create_secret_key()); one = lambda: e.add(x, x)",
    "rotation keys": "e = aglet.Engine(max_level=7); k = e.create_secret_key(); one = lambda: e.create_rotation_key(k)",
    "integers": "e = aglet.IntegerEngine(depth=9); k = e.create_secret_key(); one = lambda: e.encrypt([1], k)",
    "FHEW keys": "e = aglet.FhewEngine(bits=2); k = e.create_secret_key(); one = lambda: e.create_bootstrap_key(k)",
}
PROGRAM = """
import resource, aglet
{make}
held = [one()]
resource.setrlimit(resource.RLIMIT_AS, ({limit}, {limit}))
try:
    for _ in range(10**6):
        held.append(one())
except aglet.MemoryLimitError as error:
    print(error)
"""


# What was freed lies in the engine's pool: it is given up where another size is wanted, or what is not of the pool.
GOES_ON = """
held.clear()
{then}
print("went on")
"""
THEN = {
    "integers": "e.encrypt([1], k, level=3); e.create_rotation_key(k)",
}


@pytest.mark.parametrize("what", THEN)
def test_what_is_freed_after_the_limit_can_be_had_again(what: str) -> None:
    program = (PROGRAM + GOES_ON).format(make=TAKES[what], limit=1_500_000_000, then=THEN[what])
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=300, check=False)
    assert ended.returncode == 0, ended.stderr[-500:]
    assert ended.stdout.endswith("went on\n")


ARRAYS = """
import resource, numpy as np, aglet
e = aglet.Engine(preset="toy", slot_count=64, allow_insecure=True)
s = aglet.Session(e, e.create_keys(bootstrap=None))
one, some = s.encrypt([0.5]), s.encrypt([0.5, 0.25, 0.125])
resource.setrlimit(resource.RLIMIT_AS, ({limit}, {limit}))
for call in (
    lambda: s.encrypt(np.zeros(10**8, dtype=bool)),
    lambda: s.encrypt(np.broadcast_to(0.5, 10**14)),
    lambda: one.broadcast_to((10**10,)),
    lambda: some.broadcast_to((10**8, 3)),
    lambda: some.broadcast_to((10**14, 3)),
):
    try:
        call()
    except aglet.MemoryLimitError as error:
        print("refused", error)
"""


def test_arrays_that_are_too_large_are_refused_in_sentences() -> None:
    """numpy's own MemoryError came out."""
    program = ARRAYS.format(limit=1_500_000_000)
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=300, check=False)
    assert ended.returncode == 0, ended.stderr[-500:]
    assert ended.stdout.count("refused") == ended.stdout.count(".\n") == 5, ended.stdout


@pytest.mark.parametrize("what", TAKES)
def test_a_limit_of_address_space_is_an_exception(what: str) -> None:
    program = PROGRAM.format(make=TAKES[what], limit=1_500_000_000)
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=300, check=False)
    assert ended.returncode == 0, ended.stderr[-500:]
    assert ended.stdout.endswith(".\n")


CELLS = """
import resource, numpy as np, aglet
e = aglet.FhewEngine(bits=4)
k = e.create_secret_key()
s = aglet.Session(e, aglet.KeySet(fhew_engine=e, fhew_secret=k))
numbers = [np.ones(10**5, dtype=np.int64), *(np.ones(2 * 10**6, dtype=kind) for kind in (np.uint8, bool, np.int8))]
size = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (size + {more},) * 2)
for call in (
    lambda: s.encrypt(numbers[0]),
    lambda: e.encrypt(numbers[1], k),
    lambda: e.encrypt(numbers[2], k),
    lambda: e.encrypt(numbers[3], k, bits=8),
):
    try:
        call()
    except aglet.MemoryLimitError as error:
        print("refused", error)
"""


@pytest.mark.parametrize("more", [10**6, 10**7, 10**8])
def test_cells_that_are_too_many_are_refused_in_sentences(more: int) -> None:
    """Copies of the numbers ended the process, or numpy's own MemoryError came out."""
    program = CELLS.format(more=more)
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=300, check=False)
    assert ended.returncode == 0, ended.stderr[-500:]
    assert ended.stdout.count("refused") == ended.stdout.count(".\n") == 4, ended.stdout


@pytest.mark.parametrize("more", [1, 10, 50, 60, 66, 68, 70, 80, 100, 120])
def test_an_engine_whose_tables_have_no_room_is_refused(more: int) -> None:
    """Tables cannot say that there is no memory: they ended the process."""
    program = (
        "import resource, aglet\n"
        "size = int(open('/proc/self/statm').read().split()[0]) * resource.getpagesize()\n"
        f"resource.setrlimit(resource.RLIMIT_AS, (size + {more * 10**6},) * 2)\n"
        "try:\n"
        "    aglet.Engine(max_level=77)\n"
        "except aglet.MemoryLimitError as error:\n"
        "    print('refused', error)\n"
    )
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=300, check=False)
    assert ended.returncode == 0, ended.stderr[-500:]
    assert ended.stdout.startswith("refused"), ended.stdout
