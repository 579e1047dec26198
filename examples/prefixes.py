"""Search encrypted words for a prefix and for an exact match: a server learns neither the words nor what is found."""

import time

import numpy as np

from aglet import FhewEngine, Session

WORDS, WIDTH = ["anna", "annette", "bea", "carl", "carla"], 8


def letters(words):
    """Words as rows of bytes, with zeros behind them."""
    return np.array([list(word.encode().ljust(WIDTH, b"\0")) for word in words], dtype=np.uint8)


engine = FhewEngine(bits=4, thread_count=0)
keys = engine.create_keys()
owner = Session(engine, keys)
words, wanted = owner.encrypt(letters(WORDS)), owner.encrypt(letters(["carl"]))

# From here on a session without the secret key, `Session(engine, keys.evaluation())`, would do as well.
start = time.perf_counter()
prefix = np.frombuffer(b"ann", dtype=np.uint8)
starts = (words[:, : len(prefix)] == prefix).all(axis=1)
same = (words == wanted).all(axis=1)
count = starts.sum()
seconds = time.perf_counter() - start

print(f"{owner.decrypt(count)} words start with ann: {np.array(WORDS)[owner.decrypt(starts)].tolist()}")
print(f"carl is word {np.flatnonzero(owner.decrypt(same))[0]}; {owner.rotations} blind rotations, {seconds:.1f} s")
assert owner.decrypt(starts).tolist() == [word.startswith("ann") for word in WORDS]
assert owner.decrypt(same).tolist() == [word == "carl" for word in WORDS]
