//! Gadget decomposition of a polynomial modulo one prime: the short digits that a key switch without a special prime multiplies by.
//!
//! The centred polynomial is `sum_j d_j 2^(bits j)`. Digits of few bits keep the error of a key switch small where no special prime may stand beside
//! the modulus.

use crate::error::Error;
use aglet_ring::{Eval, Poly, Ring};

/// A digit of a centred number, in `[-2^(bits - 1), 2^(bits - 1))`, and what is left above it.
fn split(x: i64, bits: u32) -> (i64, i64) {
    let half = 1 << (bits - 1);
    let digit = ((x + half) & ((1 << bits) - 1)) - half;
    (digit, (x - digit) >> bits)
}

/// Digits of a polynomial modulo the lowest prime: the last has all that is left.
///
/// # Errors
/// Memory that cannot be had.
pub fn gadget_digits(ring: &Ring, x: &Poly<Eval>, count: usize, bits: u32) -> Result<Vec<Poly<Eval>>, Error> {
    let mut rest = ring.centred(x)?;
    let mut digits = Vec::with_capacity(count);
    for j in 0..count {
        let digit: Vec<i64> = if j + 1 == count {
            std::mem::take(&mut rest)
        } else {
            let take = |x: &mut i64| {
                let (digit, left) = split(*x, bits);
                *x = left;
                digit
            };
            rest.iter_mut().map(take).collect()
        };
        digits.push(ring.to_eval(ring.lift(&digit, ring.scratch(1, 0)?)));
    }
    Ok(digits)
}

#[cfg(test)]
mod tests {
    use super::*;

    const BITS: u32 = 2;

    #[test]
    fn digits_are_short_and_give_the_number_back() {
        for x in (-70i64..70).chain([i64::from(i32::MAX), -(1 << 42), (1 << 42) - 1]) {
            let (mut rest, mut sum) = (x, 0);
            for j in 0..22 {
                let (digit, left) = split(rest, BITS);
                assert!((-2..2).contains(&digit));
                (rest, sum) = (left, sum + (digit << (2 * j)));
            }
            assert_eq!(sum + (rest << 44), x);
        }
    }
}
