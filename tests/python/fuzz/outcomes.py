"""What an encrypted operation gives beside what numpy gives."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from aglet.errors import AgletError


def encrypted_outcome(
    own: Any, call: Callable[..., Any], operands: Sequence[tuple[Any, Any]], wanted: Any, lacks: Sequence[str]
) -> tuple[Any, np.ndarray[Any, Any]] | None:
    """The result and its values; None if it is refused, as numpy does (`wanted` is None) or for one of the lacks."""
    try:
        found = call(*(encrypted for encrypted, _ in operands))
        result = np.asarray(own.decrypt(found))
    except (AgletError, TypeError, ValueError) as error:
        refusal = str(error)
        assert wanted is None or any(words in refusal for words in lacks), f"numpy gives a result: {refusal}"
        return None
    assert wanted is not None, "numpy refuses"
    return found, result
