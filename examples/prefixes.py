"""Search encrypted words by an encrypted query: those that start with it, the one that equals it, and its number.

Words and queries are rows of uint8 with zeros behind them. A server learns neither the words, nor the query and its
length, nor what is found. A prefix in the clear takes a fifth of the work. Run it as `prefixes.py 100` for more words
than twelve: 100 words take 23 s of a thread of a shared machine.
"""

import sys
import time

import numpy as np

from aglet import FhewEngine, Session

COUNT, WIDTH = int(sys.argv[1]) if len(sys.argv) > 1 else 12, 8


def letters(words):
    """Words as rows of bytes, with zeros behind them."""
    return np.array([list(word.encode().ljust(WIDTH, b"\0")) for word in words], dtype=np.uint8)


def search(words, numbers, query):
    """Which words start with a query, which one is the query, and its number; encrypted or in the clear."""
    equal = words == query
    # Where the query has ended, every letter will do.
    starts = (equal | (query == 0)).all(axis=1)
    same = equal.all(axis=1)
    return starts, same, np.where(same, numbers, 0).sum()


def starting(words, prefix):
    """How many words start with a prefix in the clear."""
    return (words[:, : len(prefix)] == np.frombuffer(prefix, dtype=np.uint8)).all(axis=1).sum()


random = np.random.default_rng(7)
syllables = ["an", "na", "be", "a", "car", "la", "lo", "ne"]
some = {"".join(random.choice(syllables, random.integers(2, 5)))[:WIDTH] for _ in range(2 * COUNT)}
names = ["anna", "annabe", "be", *sorted(some - {"anna", "annabe", "be"})][:COUNT]
numbers = random.integers(100, 1000, len(names), dtype=np.uint16)

engine = FhewEngine(bits=4, thread_count=0)
owner = Session(engine, engine.create_keys())
words, values = owner.encrypt(letters(names)), owner.encrypt(numbers)
query = owner.encrypt(letters(["anna"])[0])

# From here on a session without the secret key, `Session(engine, keys.evaluation())`, would do as well.
start = time.perf_counter()
results = search(words, values, query)
seconds = time.perf_counter() - start
count = starting(words, b"be")

starts, same, number = (owner.decrypt(result) for result in results)
print(
    f"{np.array(names)[starts].tolist()} start with anna, and {np.array(names)[same].tolist()} has the number {number}"
)
print(f"{owner.decrypt(count)} words start with be")
print(f"{len(names)} words in {seconds:.1f} s, {owner.rotations} blind rotations with those of the second search")
for found, wanted in zip((starts, same, number), search(letters(names), numbers, letters(["anna"])[0]), strict=True):
    assert np.array_equal(found, wanted)
assert starts.tolist() == [name.startswith("anna") for name in names]
assert owner.decrypt(count) == sum(name.startswith("be") for name in names)
assert number == numbers[names.index("anna")]
