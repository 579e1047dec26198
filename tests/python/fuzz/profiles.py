"""How many random programs run, and from which seeds: few in the quick part, more in the long one, 10^6 by hand.

A front is a function of one argument, hypothesis' `data`: it draws a program, runs it on encrypted numbers and on
numpy's, and raises where they disagree. A test file of each part says how many of the part's programs are its own:

    test_arrays = programs(arrays.program, share=0.5)
    test_arrays = programs(arrays.program, share=0.5, profile="long")

By hand, `python -m fuzz` runs blocks of them, each from a seed of its own. What a front wants to see of a failing
program it says with `hypothesis.note`; `@reproduce_failure` is printed with it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st
from hypothesis.internal.conjecture.providers import AVAILABLE_PROVIDERS, HypothesisProvider

__all__ = ["COUNTS", "drawn", "programs"]

Front = Callable[[Any], None]

COUNTS = {"quick": 2_000, "long": 20_000}
"""Programs of all fronts together."""

# The same programs in every run of a part.
_SEEDS = {"quick": 25, "long": 2025}


class WholeBytes(HypothesisProvider):
    """Hypothesis' own choices, but for strings of a fixed length: these are drawn at once, each as likely.

    Byte by byte, with a choice before each, the thousand of a program took a tenth of its time.
    """

    def draw_bytes(self, min_size: int = 0, max_size: int = 2**16) -> bytes:
        """So many bytes."""
        if min_size != max_size or self._random is None:
            return super().draw_bytes(min_size, max_size)
        return self._random.randbytes(min_size)


AVAILABLE_PROVIDERS["whole bytes"] = f"{__name__}.WholeBytes"


def programs(front: Front, *, share: float, profile: str = "quick") -> Callable[[], None]:
    """A test that runs this front's share of the programs of a part: "quick" or "long"."""
    return drawn(front, max(1, round(COUNTS[profile] * share)), _SEEDS[profile])


def drawn(front: Front, count: int, number: int) -> Callable[[], None]:
    """A function that runs so many programs of a front, those of the seed `number`."""

    def test(data: Any) -> None:
        front(data)

    test.__doc__ = front.__doc__
    return settings(
        max_examples=count,
        deadline=None,
        database=None,
        backend="whole bytes",
        print_blob=True,
        # Programs that are wrong are made smaller, but not explained: that would run them a thousand times more.
        phases=(Phase.explicit, Phase.generate, Phase.target, Phase.shrink),
        suppress_health_check=list(HealthCheck),
    )(seed(number)(given(st.data())(test)))
