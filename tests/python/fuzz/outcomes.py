"""What an encrypted operation gives beside what numpy gives."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from aglet.errors import AgletError


def encrypted_outcome(
    own: Any,
    call: Callable[..., Any],
    operands: Sequence[tuple[Any, Any]],
    wanted: Any,
    lacks: Sequence[str],
    counts: Counter[str] | None = None,
) -> tuple[Any, np.ndarray[Any, Any]] | None:
    """The result and its values; None if it is refused, as numpy does (`wanted` is None) or for one of the lacks.

    Results that numpy has are counted: as answered, or by the lack that refused them.
    """
    try:
        found = call(*(encrypted for encrypted, _ in operands))
        result = np.asarray(own.decrypt(found))
    except (AgletError, TypeError, ValueError) as error:
        refusal = str(error)
        reason = next((words for words in lacks if words in refusal), None)
        assert wanted is None or reason, f"numpy gives a result: {refusal}"
        if counts is not None and wanted is not None:
            counts[str(reason)] += 1
        return None
    assert wanted is not None, "numpy refuses"
    if counts is not None:
        counts["answered"] += 1
    return found, result
