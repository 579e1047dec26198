"""The published programs on the real ring, each in a process of its own, with only the import changed."""

from __future__ import annotations

import pytest

from support import EXAMPLES, check_example, check_precision, check_published

# Made for a full ring, these take half a minute to a minute each: by hand (tests/python/by_hand).
SLOW = {"client_server.py", "column.py", "digits.py", "kmeans.py", "logistic_regression.py"}


# The examples of the documentation make the same calls for three values: the quick part runs them on the toy ring, and
# at the real size they are run by hand (tests/python/by_hand), save one with a small key.
def test_an_example_of_the_documentation_with_a_small_key() -> None:
    check_published("regular_small_key")


@pytest.mark.parametrize("method", ["regular", "sparse"])
def test_precision_scripts(method: str) -> None:
    check_precision(method)


@pytest.mark.parametrize("name", sorted(set(EXAMPLES) - SLOW))
def test_examples(name: str) -> None:
    check_example(name)
