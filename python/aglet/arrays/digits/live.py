"""The machine that runs circuits on ciphertexts: an engine with its bootstrap key."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from aglet.arrays.digits.machine import MESSAGES, Machine, Tables
from aglet.errors import MissingKeyError, ParameterError
from aglet.fhew.calls import log2_failure, run
from aglet.fhew.ciphertext import FhewCiphertext
from aglet.fhew.engine import FhewEngine
from aglet.fhew.table import Table
from aglet.keys.keyset import KeySet
from aglet.progress import ProgressCallback

__all__ = ["Live", "check_bits"]


def check_bits(engine: FhewEngine) -> FhewEngine:
    """Refuse an engine whose messages do not have four bits.

    Raises
    ------
    ParameterError
        If it has another number of bits.
    """
    if 2**engine.bits != MESSAGES:
        raise ParameterError(
            f"Digits need an engine of 4 bits, and {engine.preset} has {engine.bits}; use FhewEngine(bits=4) or "
            'FhewEngine(preset="wide").'
        )
    return engine


class Live(Machine):
    """Lookup tables on ciphertexts."""

    def __init__(self, engine: FhewEngine, keys: KeySet, max_failure: float, progress: ProgressCallback | None) -> None:
        super().__init__(check_bits(engine))
        self.keys = keys
        self.max_failure, self.progress = max_failure, progress
        self._allowed = log2_failure(max_failure)

    @property
    def allowed(self) -> float:
        return -128.0 if self._allowed is None else self._allowed

    def encrypt(self, messages: Any) -> FhewCiphertext:
        # The secret key, where it is, gives smaller ciphertexts.
        if self.keys.fhew_secret is not None:
            return self.engine.encrypt(messages, self.keys.fhew_secret)
        return self.engine.encrypt(messages, self._key("fhew_public", "public", "create_public_key(secret_key)"))

    def decrypt(self, cells: FhewCiphertext) -> Any:
        if self.keys.fhew_secret is None:
            raise MissingKeyError(
                "These keys do not include the secret key of FHEW; decrypt where it is, with KeySet.load(folder, "
                "secret=True)."
            )
        key = self._key("fhew_secret", "secret", "create_secret_key()")
        return self.engine.decrypt(cells, key, max_failure=self.max_failure)

    def compress(self, cells: FhewCiphertext) -> FhewCiphertext:
        key = self._key("packing", "packing", "create_keys(packing=True)")
        # No message leaves its range, so the room above them makes way for rounding.
        whole = FhewCiphertext._of(cells._array.without_padding())
        return self.engine.compress(whole, key, max_failure=self.max_failure, progress=self.progress)

    def variance(self, cells: FhewCiphertext) -> float:
        return cells._array.variance

    def lookup(self, cells: FhewCiphertext, tables: Tables) -> Sequence[FhewCiphertext]:
        key = self._key("fhew_bootstrap", "bootstrap", "create_keys()")
        if tables.kind == "sign":
            return [self.engine.sign(cells, key, max_failure=self.max_failure, progress=self.progress)]
        made = [Table(row) for row in tables.tables]
        options: Any = {"step": tables.step, "max_failure": self.max_failure, "progress": self.progress}
        return self.engine.lookup(cells, made, key, **options)

    def lookup_tree(self, cells: Sequence[FhewCiphertext], tables: list[bytes]) -> Sequence[FhewCiphertext]:
        packing = self._key("packing", "packing", 'create_keys(packing=True), of FhewEngine(preset="wide")')
        key = self._key("fhew_bootstrap", "bootstrap", "create_keys()")
        options: Any = {"max_failure": self.max_failure, "progress": self.progress}
        found = self.engine._lookup_tree([one._array for one in cells], tables, key, packing, options)
        return [FhewCiphertext._of(array) for array in found]

    def nearest_cells(self, words: FhewCiphertext, count: int) -> Sequence[FhewCiphertext]:
        key = self._key("fhew_bootstrap", "bootstrap", "create_keys()")
        options: Any = {"max_failure": self.max_failure, "progress": self.progress}
        found = run(lambda *own: self.engine._core.nearest(words._array, count, *own), key, options)
        return [FhewCiphertext._of(array) for array in found]

    def half_way(self, words: FhewCiphertext, bits: int) -> float:
        return self.engine._core.half_way(bits, self.variance(words), self._allowed)

    def _key(self, name: str, said: str, maker: str) -> Any:
        key = getattr(self.keys, name)
        if key is None:
            raise MissingKeyError(
                f"This needs the {said} key of FHEW, which these keys do not have; make it with engine.{maker}."
            )
        return key
