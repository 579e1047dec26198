"""`Plan`: what `Session.plan` says of a function on encrypted arrays."""

from __future__ import annotations

import math
from dataclasses import dataclass

from aglet.reports import gigabytes

__all__ = ["Plan"]


@dataclass(frozen=True)
class Plan:
    """The forecast of a function on encrypted arrays. `print` shows it as a sentence."""

    level: int | None
    """The level of the result; the lowest if there are several. None of digits, which have none."""
    refreshes: int
    """The number of ciphertexts that are bootstrapped, also inside comparisons."""
    products: int
    """The number of products of two ciphertexts, with relinearization. For polynomials it is a typical number."""
    rotations: int
    key_bytes: int
    """The bytes of the keys that the function needs, as `create_keys` makes them."""
    peak_bytes: int
    """The bytes of these keys and of a bootstrap, if there is one."""
    ciphertext_bytes: int
    """The bytes of all ciphertexts that exist at one time, at most."""
    seconds: float
    """The seconds on one thread of this kind of processor, by the model."""
    bits: float | None
    """-log2 of the largest error to expect of the result, for the sample or for values drawn uniformly from the bounds.
    The largest error hardly exceeds it, and it is within three bits. It is None, and `unstated` says why, if the
    function compares and there is no sample, or if the result has few numbers, whose error depends on luck.
    """
    deviation: float | None
    """The root mean square error of the worst element. An error hardly ever exceeds five times this, also of single
    numbers. None if the function compares and there is no sample.
    """
    unstated: str | None
    """The reason why no bits are predicted."""
    blind_rotations: int = 0
    """Of digits, refreshes included."""
    representation: str | None = None
    """Of whole numbers, "slots" or "digits": `session.encrypt(x, representation=plan)` takes it from here."""
    compared: str = ""
    """What each representation of whole numbers takes, or why it was refused."""

    def __str__(self) -> str:
        bits = f"bits not predicted, because {self.unstated}"
        if self.bits is not None:
            bits = f"at least {self.bits:.1f} bits of precision"
        elif self.deviation:
            bits += f"; standard deviation of the error 2^{math.log2(self.deviation):.1f}"
        counts = f"{self.products} products, {self.rotations} rotations"
        counts += f", {self.blind_rotations} blind rotations of FHEW" if self.blind_rotations else ""
        where = "" if self.level is None else f"level {self.level} after "
        return (
            f"{where}{self.refreshes} bootstraps, {counts}; keys {gigabytes(self.key_bytes)}, "
            f"ciphertexts {gigabytes(self.ciphertext_bytes)}; about {self.seconds:.3g} s on one thread; {bits}."
            + (f" Whole numbers are in {self.representation} ({self.compared})." if self.compared else "")
        )
