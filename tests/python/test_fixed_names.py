"""What names and ranges of fixed formats say: formats are no strings, and 64 bits reach beyond floats."""

from __future__ import annotations

import numpy as np
import pytest

from aglet import fixed
from aglet.errors import RangeError
from digit_sets import modelled
from fuzz.sizes import few_slots


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("fixed(16,8)", r"aglet\.fixed\(16, 8\) itself"), (" aglet.fixed( 8, 4 ,signed=False)", r"fixed\(8, 4, signed"),
        ("zmod(65537)", r"aglet\.zmod\(65537\) itself"), ("fixed(" + "9" * 999, "numpy has no dtype"),
        ("whole", "numpy has no dtype 'whole'"), ("fixed", r"aglet\.fixed\(bits, fraction\)"),
    ],
)  # fmt: skip
def test_a_name_of_a_format_is_refused_with_the_format(name: str, wanted: str) -> None:
    """numpy's names are strings, and numpy said that a format number was not recognized."""
    own = few_slots()
    flags = own.encrypt(np.array([True, False]))
    for x in (
        own.encrypt([0.5]), own.encrypt(np.uint8([3])), own.encrypt(np.uint8([3]), representation="slots"),
        own.encrypt([0.5], dtype=fixed(8, 4)), flags,
    ):  # fmt: skip
        with pytest.raises(TypeError, match=wanted):
            x.astype(name)
    with pytest.raises(TypeError, match=wanted):
        own.encrypt([0.5], dtype=name)


def test_what_64_bits_reach() -> None:
    """The largest number of 64 bits is no float, and the nearest one does not fit: "-0.5 to 0.5" named it."""
    own = modelled("wide")
    for dtype, least, below in ((fixed(64, 64), -0.5, 0.5), (fixed(64, 64, signed=False), 0.0, 1.0)):
        largest = np.nextafter(below, 0)
        np.testing.assert_array_equal(dtype.round([least, largest]), [least, largest])
        for call in (dtype.round, dtype.exactly, lambda one, dtype=dtype: own.encrypt([one], dtype)):
            with pytest.raises(RangeError, match=rf"give {least} to below {below}, or choose fewer bits of fraction"):
                call(below)
    with pytest.raises(RangeError, match=r"give -128\.0 to 127\.99609375, or choose more bits"):
        fixed(16, 8).round(128)
    with pytest.raises(RangeError, match=r"to below 9\.223372036854776e\+18\.$"):
        fixed(64, 0).round(2.0**63)
    with pytest.raises(TypeError, match=r"lie from -0\.5 to below 0\.5; declare"):
        own.encrypt(np.uint8([1])).astype(fixed(64, 64))
    floats = few_slots().encrypt([0.3], bound=0.4)
    with pytest.raises(TypeError, match=r"within \[-0\.4, 0\.4\] may have 64 bits in fixed\(64, 64\), and 20 are read"):
        floats.astype(fixed(64, 64))
    with pytest.raises(TypeError, match=r"within \[-0\.4, 0\.4\] may have 32 bits in fixed\(32, 32\)"):
        floats.astype(fixed(32, 32), casting="unsafe")
