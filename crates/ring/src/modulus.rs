//! Integers modulo one odd prime of at most 61 bits: the scalar oracle that every vector kernel is compared with.

use crate::Error;

/// An odd modulus `q`, `3 <= q < 2^61`, with its Barrett constant. Residues are canonical: in `[0, q)`.
///
/// Timing: all operations but [`Modulus::pow`] (variable in the exponent) and [`Modulus::inv`] are free of branches on residues and signs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Modulus {
    q: u64,
    /// floor(2^128 / q), high and low word.
    ratio: (u64, u64),
}

impl Modulus {
    /// Makes a modulus. Errors: [`Error::BadModulus`] if `q` is even, below 3 or not below 2^61.
    pub fn new(q: u64) -> Result<Self, Error> {
        if q < 3 || q.is_multiple_of(2) || q >= 1 << 61 {
            return Err(Error::BadModulus { q });
        }
        // 2^128 is not a multiple of an odd q > 1, so floor((2^128 - 1) / q) is the same number.
        let ratio = u128::MAX / u128::from(q);
        Ok(Self { q, ratio: ((ratio >> 64) as u64, ratio as u64) })
    }

    /// The modulus itself.
    #[inline]
    pub fn value(&self) -> u64 {
        self.q
    }

    /// Number of bits of the modulus.
    pub fn bits(&self) -> u32 {
        64 - self.q.leading_zeros()
    }

    /// `a + b mod q` for canonical `a`, `b`.
    #[inline]
    pub fn add(&self, a: u64, b: u64) -> u64 {
        debug_assert!(a < self.q && b < self.q);
        let s = a + b;
        s.min(s.wrapping_sub(self.q))
    }

    /// `a - b mod q` for canonical `a`, `b`.
    #[inline]
    pub fn sub(&self, a: u64, b: u64) -> u64 {
        debug_assert!(a < self.q && b < self.q);
        let d = a.wrapping_sub(b);
        d.min(d.wrapping_add(self.q))
    }

    /// `-a mod q` for canonical `a`.
    #[inline]
    pub fn neg(&self, a: u64) -> u64 {
        self.sub(0, a)
    }

    /// `a * b mod q` for any two words whose product is below 2^128.
    #[inline]
    pub fn mul(&self, a: u64, b: u64) -> u64 {
        self.reduce_u128(u128::from(a) * u128::from(b))
    }

    /// `x mod q` by Barrett reduction with the 128-bit constant; exact for every `x`.
    #[inline]
    pub fn reduce_u128(&self, x: u128) -> u64 {
        let (x1, x0) = ((x >> 64) as u64, x as u64);
        let (r1, r0) = self.ratio;
        let carry = (u128::from(x0) * u128::from(r0)) >> 64;
        let mid = u128::from(x0) * u128::from(r1) + carry;
        let mid2 = u128::from(x1) * u128::from(r0) + u128::from(mid as u64);
        let quotient = x1.wrapping_mul(r1).wrapping_add((mid >> 64) as u64).wrapping_add((mid2 >> 64) as u64);
        let r = x0.wrapping_sub(quotient.wrapping_mul(self.q));
        // The estimate is at most 2 below the true quotient and 3q < 2^63.
        let r = r.min(r.wrapping_sub(2 * self.q));
        r.min(r.wrapping_sub(self.q))
    }

    /// `x mod q`, by the upper word of the constant alone.
    #[inline]
    pub fn reduce(&self, x: u64) -> u64 {
        let quotient = ((u128::from(x) * u128::from(self.ratio.0)) >> 64) as u64;
        // The estimate is at most 1 below the true quotient.
        let r = x.wrapping_sub(quotient.wrapping_mul(self.q));
        r.min(r.wrapping_sub(self.q))
    }

    /// The residue of a signed integer.
    #[inline]
    pub fn reduce_i64(&self, x: i64) -> u64 {
        let sign = x >> 63; // 0 or -1
        self.with_sign(self.reduce((x ^ sign).wrapping_sub(sign) as u64), sign as u64)
    }

    /// The residue of a signed integer smaller than q: nothing is divided.
    #[inline]
    pub fn reduce_short(&self, x: i64) -> u64 {
        debug_assert!(x.unsigned_abs() < self.q, "short integers are smaller than the modulus");
        (x as u64).wrapping_add(self.q & (x >> 63) as u64)
    }

    /// The residues of signed integers that are no secret, none larger than `most`: where that is smaller than q, an addition makes each.
    pub(crate) fn reduce_public(&self, integers: &[i64], most: u64, residues: &mut [u64]) {
        if most < self.q {
            residues.iter_mut().zip(integers).for_each(|(r, &x)| *r = self.reduce_short(x));
        } else {
            residues.iter_mut().zip(integers).for_each(|(r, &x)| *r = self.reduce_i64(x));
        }
    }

    /// The residue of a signed 128-bit integer.
    #[inline]
    pub fn reduce_i128(&self, x: i128) -> u64 {
        let sign = x >> 127; // 0 or -1
        self.with_sign(self.reduce_u128((x ^ sign).wrapping_sub(sign) as u128), sign as u64)
    }

    /// `a` for the sign 0, `-a mod q` for the sign of all ones; `a` canonical.
    #[inline]
    fn with_sign(&self, a: u64, sign: u64) -> u64 {
        let r = (a ^ sign).wrapping_sub(sign).wrapping_add(self.q & sign); // in [0, q]
        r.min(r.wrapping_sub(self.q))
    }

    /// The representative of `a` in `(-q/2, q/2]`.
    #[inline]
    pub fn centre(&self, a: u64) -> i64 {
        let above = (self.q / 2).wrapping_sub(a) as i64 >> 63; // -1 if a > q / 2, else 0
        a as i64 - (self.q as i64 & above)
    }

    /// `a^e mod q`. Variable time in `e`.
    pub fn pow(&self, a: u64, mut e: u64) -> u64 {
        let (mut base, mut acc) = (self.reduce(a), 1 % self.q);
        while e > 0 {
            if e & 1 == 1 {
                acc = self.mul(acc, base);
            }
            base = self.mul(base, base);
            e >>= 1;
        }
        acc
    }

    /// The inverse of `a` modulo q; 0 if there is none, as for `a = 0`. Variable time in `a`, which is public.
    pub fn inv(&self, a: u64) -> u64 {
        // Euclid's algorithm; of the second coefficient only the residue is kept.
        let (mut r, mut s) = ([self.q, self.reduce(a)], [0, 1 % self.q]);
        while r[1] != 0 {
            let quotient = r[0] / r[1];
            r = [r[1], r[0] - quotient * r[1]];
            s = [s[1], self.sub(s[0], self.mul(quotient, s[1]))];
        }
        if r[0] == 1 {
            s[0]
        } else {
            0
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const QS: [u64; 5] = [3, 65537, (1 << 40) - 87, (1 << 50) - 27, (1 << 61) - 1];

    proptest! {
        #[test]
        fn agrees_with_u128(i in 0..QS.len(), a: u64, b: u64, x: u128, s: i64, t: i128) {
            let q = QS[i];
            let m = Modulus::new(q).unwrap();
            prop_assert_eq!(m.reduce_u128(x), (x % u128::from(q)) as u64);
            prop_assert_eq!(m.mul(a, b), (u128::from(a) * u128::from(b) % u128::from(q)) as u64);
            prop_assert_eq!(i128::from(m.reduce_i64(s)), i128::from(s).rem_euclid(i128::from(q)));
            prop_assert_eq!(i128::from(m.reduce_i128(t)), t.rem_euclid(i128::from(q)));
            let (a, b) = (a % q, b % q);
            prop_assert_eq!(m.add(a, b), (a + b) % q);
            prop_assert_eq!(m.sub(a, b), (a + q - b) % q);
            prop_assert_eq!(m.reduce_i64(m.centre(a)), a);
        }
    }

    #[test]
    fn special_values() {
        for q in QS {
            let m = Modulus::new(q).unwrap();
            for x in [0, 1, u128::from(q) - 1, u128::from(q), u128::from(q - 1) * u128::from(q - 1), u128::MAX] {
                assert_eq!(m.reduce_u128(x), (x % u128::from(q)) as u64);
            }
            assert_eq!([2, 3 % q + 1, q - 1].map(|a| m.mul(m.inv(a), a)), [1; 3]);
            assert_eq!(m.inv(0), 0);
            assert_eq!(m.neg(0), 0);
            let s = q as i64;
            for x in [i64::MIN, -s - 1, -s, 1 - s, -1, 0, 1, s - 1, s, i64::MAX] {
                assert_eq!(i128::from(m.reduce_i64(x)), i128::from(x).rem_euclid(i128::from(q)), "{x} mod {q}");
                assert_eq!(m.reduce_i128(x.into()), m.reduce_i64(x));
            }
            for x in [i128::MIN, i128::MAX] {
                assert_eq!(i128::from(m.reduce_i128(x)), x.rem_euclid(i128::from(q)));
            }
            assert_eq!([0, q / 2, q / 2 + 1, q - 1].map(|a| m.centre(a)), [0, s / 2, -(s / 2), -1]);
        }
        let fifteen = Modulus::new(15).unwrap();
        assert_eq!([2, 7, 5, 14].map(|a| fifteen.inv(a)), [8, 13, 0, 14]);
        assert!(Modulus::new(4).is_err() && Modulus::new(1 << 61).is_err());
    }
}
