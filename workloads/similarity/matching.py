"""What the server does: matches by a sign, counted or multiplied with payloads, without a bootstrap.

`x = (score - 0.8) / 1.8` is in [-1, 1]. Its sign by the polynomials of `Engine.sign`, of degrees 15 and 31, has
an error of at most 2.8e-6 where it is decided. 50,000 of these make a count wrong by 0.07 at most, as a match is half
a sign.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from aglet import Ciphertext, ConjugationKey, Engine, FixedRotationKey, RelinearizationKey, SecretKey
from workloads.common import Place, read_all, read_one
from workloads.similarity.search import ALPHA, COLUMNS, DIMENSIONS, LEVEL, REACH, THRESHOLD

__all__ = ["Server", "create_keys", "key_steps"]

_BABY, _ERROR_BITS = 8, 12


def key_steps(dimension: int, slots: int) -> dict[int, int]:
    """The steps to the left that the server needs, each with the highest level at which it is used."""
    pairs = dimension // 2
    turns = [*range(1, min(_BABY, pairs)), *range(_BABY, pairs, _BABY)]
    sums = {2**i: 1 for i in range(slots.bit_length() - 1)}
    return {**sums, **dict.fromkeys(turns, LEVEL)}


def create_keys(engine: Engine, secret_key: SecretKey, dimension: int) -> Iterator[FixedRotationKey]:
    """The rotation keys, in the order of their steps."""
    for step, level in sorted(key_steps(dimension, engine.slot_count).items()):
        yield engine.create_fixed_rotation_key(secret_key, -step, level)


@dataclass(frozen=True)
class Server:
    """The computation of the server, with its keys."""

    engine: Engine
    keys: dict[int, FixedRotationKey]
    relin: RelinearizationKey
    conjugation: ConjugationKey

    @classmethod
    def load(cls, place: Place, engine: Engine) -> Server:
        """Read the keys that the client made for a size."""
        maker, steps = "client_key_generation", sorted(key_steps(DIMENSIONS[place.size], engine.slot_count))
        rotations = read_all(engine, place.io / "keys" / "rotations.bin", len(steps), maker)
        keys = dict(zip(steps, rotations, strict=True))
        relinearization = read_one(engine, place.io / "keys" / "relinearization.key", maker)
        return cls(engine, keys, relinearization, read_one(engine, place.io / "keys" / "conjugation.key", maker))

    def turned(self, query: Ciphertext, dimension: int) -> list[Ciphertext]:
        """The query, turned to the left by 0, 1, ..., by giant steps and then by baby steps."""
        pairs, turn = dimension // 2, self.engine.rotate_batch
        giants = [query, *turn(query, [self.keys[step] for step in range(_BABY, pairs, _BABY)])]
        baby = [self.keys[step] for step in range(1, min(_BABY, pairs))]
        return [one for giant in giants for one in (giant, *turn(giant, baby))]

    def twice_matches(self, records: Iterable[Ciphertext], turned: Sequence[Ciphertext]) -> Ciphertext:
        """2 for the matches of a chunk and 0 for the others."""
        run, total = self.engine, None
        for record, query in zip(records, turned, strict=True):
            product = run.multiply(record, query)
            total = product if total is None else run.add(total, product)
        assert total is not None, "a vector has coordinates"
        half = run.relinearize(total, self.relin)
        score = run.subtract(run.add(half, run.conjugate(half, self.conjugation)), THRESHOLD / REACH)
        return run.add(run.sign(score, self.relin, alpha=ALPHA, error_bits=_ERROR_BITS, real=True), 1)

    def count(self, matches: Sequence[Ciphertext]) -> Ciphertext:
        """Twice the number of matches of all chunks, in every slot."""
        total = matches[0]
        for one in matches[1:]:
            total = self.engine.add(total, one)
        step = 1
        while step < self.engine.slot_count:
            total = self.engine.add(total, self.engine.rotate(total, self.keys[step]))
            step *= 2
        return total

    def chunk(self, place: Place, number: int, turned: Sequence[Ciphertext]) -> list[Ciphertext]:
        """Of one chunk twice the matches, or the payloads of the matches. Records are read one at a time."""
        path, maker = place.upload / f"records_{number:04}.bin", "client_encode_encrypt_db"
        matches = self.twice_matches(read_all(self.engine, path, len(turned), maker), turned)
        if place.count_only:
            return [matches]
        path = place.upload / f"payloads_{number:04}.bin"
        return self.fetch(matches, read_all(self.engine, path, (COLUMNS + 1) // 2, maker))

    def fetch(self, matches: Ciphertext, payloads: Iterable[Ciphertext]) -> list[Ciphertext]:
        """The payloads of the matches of a chunk, and 0 for the others."""
        return [self.engine.multiply(matches, payload, self.relin) for payload in payloads]
