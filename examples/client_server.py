"""A client and a server in two processes: floats of CKKS, bytes and booleans of FHEW, and integer slots of BFV.

The client makes keys, writes those that compute and the ciphertexts to a folder, and starts the server: a process that
never sees a secret key. With --toy the rings are far too small to be secure, and all of it takes seconds.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from aglet import Engine, FhewEngine, IntegerEngine, KeySet, SchemeSwitch, Session

TOY = "--toy" in sys.argv


def engines():
    """Of floats, of bytes and booleans, and of integer slots."""
    if TOY:
        return (
            Engine(preset="toy", slot_count=64, allow_insecure=True),
            FhewEngine(preset="toy-lut4", allow_insecure=True),
            IntegerEngine(preset="toy-int16", allow_insecure=True),
        )
    return Engine(use_bootstrap=True, mode="parallel"), FhewEngine(bits=4, thread_count=0), IntegerEngine(depth=4)


def serve(folder: Path) -> None:
    """What the server does: load keys and ciphertexts, compute, and write results."""
    floats, bytes_, integers = engines()
    session = Session(KeySet.load(folder / "keys", floats, fhew_engine=bytes_))
    age, income = session.load(folder / "age"), session.load(folder / "income")
    adult = (age >= 18) & (age < 65)
    session.save(np.where(adult, income, 0).sum(), folder / "total")
    session.save(np.maximum(age, 40) - 40, folder / "over_forty")
    keys = KeySet.load(folder / "integer_keys", integers)
    numbers = integers.read(folder / "numbers")
    integers.write(integers.multiply(numbers, numbers, keys.relinearization), folder / "squares")


def main(folder: Path) -> None:
    """What the client does, before and after."""
    floats, bytes_, integers = engines()
    random = np.random.default_rng(7)
    age, income = random.integers(0, 100, 32, dtype=np.uint8), random.uniform(0.1, 1.0, 32)
    numbers = random.integers(-100, 100, 1000)

    keys = SchemeSwitch(floats, bytes_).create_keys(rotation=True)
    keys.evaluation().save(folder / "keys")
    client = Session(keys)
    client.save(client.encrypt(age), folder / "age")
    client.save(client.encrypt(income), folder / "income")
    integer_keys = integers.create_keys()
    integer_keys.evaluation().save(folder / "integer_keys")
    integers.write(integers.encrypt(numbers, integer_keys.secret), folder / "numbers")
    assert not list(folder.glob("**/*secret*"))

    options = ["--toy"] if TOY else []
    subprocess.run([sys.executable, __file__, "--serve", str(folder), *options], check=True)

    total = client.decrypt(client.load(folder / "total"))
    over_forty = client.decrypt(client.load(folder / "over_forty"))
    squares = integers.decrypt(integers.read(folder / "squares"), integer_keys.secret)
    wanted = income[(age >= 18) & (age < 65)].sum()
    assert abs(total - wanted) < 0.01
    assert (over_forty == np.maximum(age, 40) - 40).all()
    assert (squares[:1000] == numbers**2).all()
    print(f"income of adults: {total:.4f}, in the clear {wanted:.4f}; years over forty and 1,000 squares: right")


if __name__ == "__main__":
    if "--serve" in sys.argv:
        serve(Path(sys.argv[sys.argv.index("--serve") + 1]))
    else:
        with tempfile.TemporaryDirectory() as made:
            main(Path(made))
