//! What stands in a slot: complex numbers, or elements of the ring that an exact scheme has there.

use num_complex::Complex64;
use std::fmt::Debug;
use std::ops::{Add, AddAssign, Mul, Neg, Sub};

/// An element of the commutative ring that a scheme computes with slot by slot. Linear maps and polynomials have
/// coefficients of it.
pub trait Scalar:
    Copy
    + Debug
    + PartialEq
    + Send
    + Sync
    + Add<Output = Self>
    + AddAssign
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Neg<Output = Self>
    + 'static
{
    /// Nothing.
    const ZERO: Self;
    /// What changes nothing in a product.
    const ONE: Self;

    /// Whether it can be computed with: doubles may be infinite, or not a number.
    fn is_finite(self) -> bool {
        true
    }
}

/// Integers that stand for residues: evaluators reduce them.
impl Scalar for i64 {
    const ZERO: Self = 0;
    const ONE: Self = 1;
}

impl Scalar for f64 {
    const ZERO: Self = 0.0;
    const ONE: Self = 1.0;

    fn is_finite(self) -> bool {
        f64::is_finite(self)
    }
}

impl Scalar for Complex64 {
    const ZERO: Self = Complex64::new(0.0, 0.0);
    const ONE: Self = Complex64::new(1.0, 0.0);

    fn is_finite(self) -> bool {
        Complex64::is_finite(self)
    }
}
