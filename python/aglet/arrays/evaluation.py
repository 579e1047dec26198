"""Polynomials and functions of arrays, as methods of a session."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from aglet.arrays import fits, polynomials
from aglet.ckks import values

if TYPE_CHECKING:
    from aglet.arrays.array import EncryptedArray

__all__ = ["Functions"]


class Functions:
    """Mixed into `Session`."""

    def poly(self: Any, array: EncryptedArray, coefficients: Any) -> EncryptedArray:
        """Evaluate `c[0] + c[1] x + c[2] x^2 + ...`, in `ceil(log2(degree + 1))` levels."""
        self.same(array)
        return polynomials.evaluated(array, coefficients, chebyshev=False)

    def chebyshev(self: Any, array: EncryptedArray, coefficients: Any, *, domain: Any = (-1.0, 1.0)) -> EncryptedArray:
        """Evaluate `c[0] + c[1] T_1(x) + ...`. Use it to approximate functions. A domain uses one more level.

        Parameters
        ----------
        domain
            The interval of the approximation, as `numpy.polynomial.Chebyshev.domain`. It is mapped to [-1, 1]. The
            values must be known to lie in it.

        Raises
        ------
        RangeError
            If the values are not known to lie in the domain.
        """
        self.same(array)
        mapped = polynomials.mapped(array, domain, len(values.as_vector(coefficients, what="list of coefficients")))
        return polynomials.evaluated(mapped, coefficients, chebyshev=True)

    def function(
        self: Any, array: EncryptedArray, function: Callable[[Any], Any], *, domain: Any = None, bits: int = fits.BITS
    ) -> EncryptedArray:
        """Apply a smooth function to every element: a Chebyshev series is fitted to it.

        The series has the smallest degree whose error is below `2^-bits` times the largest absolute value of the
        function on the domain. The noise of the ciphertexts, times the slope of the function, comes on top.

        Parameters
        ----------
        function
            Takes a numpy array of points and returns its value at each, as functions of numpy do. A spike between the
            points cannot be seen: the function has to be smooth.
        domain
            The interval of the fit; that of the array, `array.interval`, if not given.
        bits
            The precision of the fit.

        Returns
        -------
        An array of the same shape. It takes `ceil(log2(degree + 1))` levels, and one more unless the domain is
        [-1, 1].

        Raises
        ------
        RangeError
            If no degree up to 1023 is enough, the function is not finite on the domain, or the values are not known
            to lie in it.
        TypeError
            If the function does not return a real number for each point.
        """
        self.same(array)
        return fits.applied(array, function, domain=domain, bits=bits)
