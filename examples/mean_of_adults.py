"""The mean income of adults: exact comparisons on encrypted bytes by FHEW choose among encrypted floats of CKKS.

One session has the keys of all schemes. Booleans become floats where they meet floats, by scheme switching. Nobody can
tell how many adults there are, so the program states that there is one at least: a divisor that may be 0 is refused.
From 256 rows on, the bytes lie in slots of integers, where one table decides thousands of them. The table comes from a
parquet file, where pyarrow is installed, else from a numpy file.
"""

import shutil
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from aglet import Engine, FhewEngine, IntegerEngine, SchemeSwitch, Session

ROWS = int(sys.argv[1]) if len(sys.argv) > 1 else 128


def mean_of_adults(age, income):
    """In the clear as well as encrypted."""
    adult = (age >= 18) & (age < 65)
    number = adult.sum()
    if not isinstance(number, np.generic):
        number = number.assume(bound=(1, ROWS))
    return np.where(adult, income, 0).sum() / number


def people(folder):
    """Ages and incomes, written to a file and read again."""
    random = np.random.default_rng(5)
    # In units of 100,000, which keeps the numbers within [-1, 1].
    table = {"age": random.integers(0, 100, ROWS), "income": random.uniform(0.1, 1.0, ROWS)}
    table["age"][0] = 30
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        np.savez(folder / "people.npz", **table)
        found = np.load(folder / "people.npz")
    else:
        pyarrow.parquet.write_table(pyarrow.table(table), folder / "people.parquet")
        found = pyarrow.parquet.read_table(folder / "people.parquet")
    return np.asarray(found["age"], dtype=np.uint8), np.asarray(found["income"])


folder = Path(tempfile.mkdtemp())
age, income = people(folder)
engine, fhew_engine = Engine(use_bootstrap=True, mode="parallel"), FhewEngine(bits=4, thread_count=0)
many = ROWS >= 256
beside = {"integer_engine": IntegerEngine(use_bootstrap=True, mode="parallel")} if many else {}
options = {"fhew_engine": fhew_engine, "dtypes": [np.uint8, np.float64], **beside}
print("Plan:", Session.plan(mean_of_adults, [(ROWS,), (ROWS,)], engine=engine, **options))

keys = SchemeSwitch(engine, fhew_engine).create_keys(rotation=True, integers=beside.get("integer_engine"))
client, server = Session(keys), Session(keys.evaluation())
client.save(client.encrypt(age, representation="slots" if many else "digits"), folder / "age")
client.save(client.encrypt(income), folder / "income")
encrypted_age, encrypted_income = server.load(folder / "age"), server.load(folder / "income")

start = time.perf_counter()
encrypted = mean_of_adults(encrypted_age, encrypted_income)
seconds = time.perf_counter() - start

server.save(encrypted, folder / "mean")
found, wanted = client.decrypt(client.load(folder / "mean")), mean_of_adults(age, income)
shutil.rmtree(folder)
assert abs(found - wanted) < 0.001
print(f"mean income of adults among {ROWS} rows: {found:.4f}, in the clear {wanted:.4f}; {seconds:.2f} s on {engine!r}")
