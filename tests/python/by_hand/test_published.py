"""The published programs and all examples on the real ring, each a process of its own, with only the import changed."""

from __future__ import annotations

import pytest

from support import EXAMPLES, PRECISION_BITS, SNIPPETS, check_example, check_precision, check_published


@pytest.mark.parametrize("name", [name for name in SNIPPETS if not name.startswith("precision")])
def test_examples_of_the_documentation(name: str) -> None:
    check_published(name)


@pytest.mark.parametrize("method", list(PRECISION_BITS))
def test_precision_scripts(method: str) -> None:
    check_precision(method)


@pytest.mark.parametrize("name", EXAMPLES)
def test_examples(name: str) -> None:
    check_example(name)
