"""Mean and variance of an encrypted column, over all rows and over those beyond a threshold, out of core.

The column comes from a parquet file (where pyarrow is installed, else from a numpy file), a part at a time: neither its
values nor its ciphertexts are in memory together. Run it as `column.py 1000000` for a million rows.
"""

import pathlib
import sys
import tempfile
import time

import numpy as np

from aglet import Engine, Session

engine = Engine(use_bootstrap=True, mode="parallel")
session = Session(engine, engine.create_keys(bootstrap="medium"), alpha=6, error_bits=12)
given = [int(word) for word in sys.argv[1:] if word.isdigit()]
rows = given[0] if given else 3 * session.slots
LARGEST, THRESHOLD = 100.0, 60.0


def parts(path):
    """The column, as many rows at a time as a ciphertext has slots."""
    if path.suffix == ".parquet":
        import pyarrow.parquet

        for batch in pyarrow.parquet.ParquetFile(path).iter_batches(session.slots, columns=["age"]):
            yield batch.column(0).to_numpy()
    else:
        stored = np.load(path, mmap_mode="r")
        for start in range(0, len(stored), session.slots):
            yield stored[start : start + session.slots]


def write(folder):
    ages = np.random.default_rng(5).gamma(6, 6, rows).clip(0, LARGEST)
    # Some distance from the threshold: closer than 2^-6 of the range, a comparison is undecided.
    ages = np.where(np.abs(ages - THRESHOLD) < 2, THRESHOLD + 2, ages)
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        np.save(folder / "people.npy", ages)
        return ages, folder / "people.npy"
    pyarrow.parquet.write_table(pyarrow.table({"age": ages}), folder / "people.parquet", row_group_size=session.slots)
    return ages, folder / "people.parquet"


def added(totals, *columns):
    """Encrypted totals, slot by slot, with another part; slots are added up once, at the end."""
    return [a + b for a, b in zip(totals, columns, strict=True)] if totals else list(columns)


with tempfile.TemporaryDirectory() as name:
    ages, path = write(pathlib.Path(name))
    every, older = [], []
    seconds = dict.fromkeys(("all", "filter"), 0.0)
    for part in parts(path):
        # What the owner sends: scaled to [0, 1], at a level for two products and a comparison.
        # The last part is filled up with zeros, which no sum sees and the filter drops.
        filled = np.pad(part / LARGEST, (0, session.slots - len(part)))
        x = session.encrypt(filled, bound=(0, 1), level=session.refreshed_level)
        start = time.perf_counter()
        square = x * x
        every = added(every, x, square)
        seconds["all"] += time.perf_counter() - start
        start = time.perf_counter()
        keep = (x > THRESHOLD / LARGEST).assume(bound=(-0.01, 1.01))
        older = added(older, keep, keep * x, keep * square)
        seconds["filter"] += time.perf_counter() - start

    # The owner of the secret key divides: a few numbers.
    total, squares = (float(session.decrypt(one.sum())) for one in every)
    mean, variance = total / rows, squares / rows - (total / rows) ** 2
    kept, sum_kept, squares_kept = (float(session.decrypt(one.sum())) for one in older)
    mean_kept = sum_kept / kept
    variance_kept = squares_kept / kept - mean_kept**2
    print(f"{rows} rows of {path.name}: {seconds['all']:.1f} s, with the filter {seconds['filter']:.1f} s more")
    print(f"mean {mean * LARGEST:.3f}, variance {variance * LARGEST**2:.3f}")
    above = ages[ages > THRESHOLD]
    mean_kept, variance_kept = mean_kept * LARGEST, variance_kept * LARGEST**2
    print(f"beyond {THRESHOLD:g}: {kept:.1f} rows, mean {mean_kept:.3f}, variance {variance_kept:.3f}")
    assert np.allclose([mean * LARGEST, variance * LARGEST**2], [ages.mean(), ages.var()], rtol=1e-4)
    assert np.allclose([kept, mean_kept], [len(above), above.mean()], rtol=1e-2)
    assert np.isclose(variance_kept, above.var(), rtol=0.1)
