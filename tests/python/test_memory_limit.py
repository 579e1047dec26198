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
    "lookup keys": "e = aglet.LookupEngine(bits=2); k = e.create_secret_key(); one = lambda: e.create_lookup_key(k)",
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


@pytest.mark.parametrize("what", TAKES)
def test_a_limit_of_address_space_is_an_exception(what: str) -> None:
    program = PROGRAM.format(make=TAKES[what], limit=1_500_000_000)
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=300, check=False)
    assert ended.returncode == 0, ended.stderr[-500:]
    assert ended.stdout.endswith(".\n")
