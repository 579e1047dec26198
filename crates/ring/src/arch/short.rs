//! Sums of up to sixteen products modulo a prime below 2^40, in doubles: a fused operation, and a product of words.
//!
//! One register adds products as doubles, rounded to 53 bits; the other adds the lower halves of factors as words, and so has the sum modulo
//! 2^32. With `|x| <= q/2 (1 + 2^-8)` and `|y| <= q/2` a product is below `(1 + 2^-8) 2^78`. What the first product up to the eighth lose is at
//! most 1, 2, 2, 4, 4, 4, 4 and 8 times 2^25: together `29 * 2^25`. After eight products the sum is brought below 2^71 by multiples of `q 2^32`,
//! exactly, and without a change to the other register; eight more lose as much. So the doubles are off by less than `58 * 2^25 < 2^31`, which
//! the words correct.
//!
//! `x` is fresh from `mul`, of an operand within `6.1q` and a factor within `q/2 + q/64`: its quotient, at most `3.2q`, is off by `1/2 + 2^-9`.
//! `y` is a balanced key, or what `tame` or `acc_reduce` leave. Words below 2^40 that hold `y` on a lift of 2^39 have its lower half, as 2^39 is
//! a multiple of 2^32.

use super::exact::ROUND;
use super::quad::{Quad, TWO52};

const TWO32: f64 = 4_294_967_296.0;

/// What packed words of so many bytes have beside their residues, and 2^52.
pub(super) const fn packed_offset<const BYTES: usize>() -> f64 {
    if BYTES == 5 {
        TWO52 + 549_755_813_888.0
    } else {
        TWO52
    }
}

// SAFETY of every block below: the CPU has what `Q` asks for, by the contract of the caller.

/// Words whose lower halves are those of integers, `|x| <= 2^51`.
///
/// # Safety
/// That of [`Quad`]; so for the functions below.
#[inline(always)]
pub(super) unsafe fn words<Q: Quad>(x: Q) -> Q {
    // SAFETY: see above.
    unsafe { x.add(Q::splat(ROUND)) }
}

/// `a + x y`, each factor as a double and as words.
#[inline(always)]
pub(super) unsafe fn short_mac<Q: Quad>(a: (Q, Q), x: (Q, Q), y: (Q, Q)) -> (Q, Q) {
    // SAFETY: see above.
    unsafe { (x.0.mul_add(y.0, a.0), a.1.word_sum(x.1.low_product(y.1))) }
}

/// The sum less a multiple of `q 2^32`.
#[inline(always)]
pub(super) unsafe fn short_fold<Q: Quad>(a: (Q, Q), q: Q, qinv: Q) -> (Q, Q) {
    // SAFETY: see above. Powers of two scale exactly, and the difference has no more than 53 bits.
    unsafe {
        let magic = Q::splat(ROUND);
        let b = a.0.mul_add(qinv.mul(Q::splat(1.0 / TWO32)), magic).sub(magic);
        (b.sub_from(q.mul(Q::splat(TWO32)), a.0), a.1)
    }
}

/// The sum modulo q, within a hundredth of q beside `[-q/2, q/2]`.
#[inline(always)]
pub(super) unsafe fn short_reduce<Q: Quad>(a: (Q, Q), q: Q, qinv: Q) -> Q {
    // SAFETY: see above. The quotient is below 2^43, the remainder an integer below 2^41: exact.
    unsafe {
        let magic = Q::splat(ROUND);
        let quotient = a.0.mul_add(qinv, magic);
        let rest = quotient.sub(magic).sub_from(q, a.0);
        // What the doubles are off by, modulo 2^32 and on a lift of 2^31.
        let taken = words(rest).word_sum(quotient.low_product(words(q)));
        let off = a.1.word_difference(taken).word_sum(Q::splat(f64::from_bits(1 << 31)));
        rest.add(off.low_doubles().sub(Q::splat(TWO52 + TWO32 / 2.0)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arch::portable::Four;

    const QS: [u64; 3] = [1_099_469_684_737, 1_099_511_480_321, 7_340_033];

    /// Products of factors whose doubles are `x` and `y`, after `short_reduce`.
    fn sum<Q: Quad>(q: u64, factors: &[(i64, i64)]) -> [f64; 4] {
        let mut out = [0.0; 4];
        // SAFETY: `Q` is an array of doubles, or the caller asked the CPU; `out` has four words.
        unsafe {
            let (qs, qinv) = (Q::splat(q as f64), Q::splat(1.0 / q as f64));
            let mut a = (Q::splat(0.0), Q::splat(0.0));
            for (k, &(x, y)) in factors.iter().enumerate() {
                if k == 8 {
                    a = short_fold(a, qs, qinv);
                }
                let (x, y) = (Q::splat(x as f64), Q::splat(y as f64));
                a = short_mac(a, (x, words(x)), (y, words(y)));
            }
            short_reduce(a, qs, qinv).write(out.as_mut_ptr());
        }
        out
    }

    #[test]
    fn sums_of_sixteen_extreme_products_are_exact() {
        let mut z = 0x1234_5678_9abc_def1_u64;
        let mut next = || {
            z ^= z << 13;
            z ^= z >> 7;
            z ^= z << 17;
            z
        };
        for q in QS {
            let (y, x) = ((q / 2) as i64, (q / 2 + q / 512) as i64);
            for round in 0..20_000 {
                let factors: Vec<(i64, i64)> = (0..1 + round % 16)
                    .map(|_| {
                        let r = next();
                        // Both ends, just inside them, and any.
                        let near = |most: i64, r: u64| match (round / 16) % 4 {
                            0 => most,
                            1 => most - (r % 1024) as i64,
                            2 => [most, -most][(r % 2) as usize],
                            _ => (r % (2 * most as u64 + 1)) as i64 - most,
                        };
                        (near(x, r), near(y, next()))
                    })
                    .collect();
                let exact: i128 = factors.iter().map(|&(x, y)| i128::from(x) * i128::from(y)).sum();
                for found in sum::<Four>(q, &factors) {
                    assert!((exact - found as i128) % i128::from(q) == 0, "{q} {factors:?}");
                    assert!(found.fract() == 0.0 && found.abs() <= 0.51 * q as f64, "{q} {found}");
                }
            }
        }
    }

    #[test]
    fn without_a_fold_sixteen_extreme_products_would_be_too_many() {
        let (q, lost) = (QS[0], |k: u32| (f64::from(k) * 2f64.powi(78) * 1.004).log2().floor().exp2() / 2f64.powi(53));
        let chain = |k: u32| (1..=k).map(lost).sum::<f64>();
        assert!(2.0 * chain(8) < 2f64.powi(31) && chain(16) > 2f64.powi(31) && q < 1 << 40);
    }
}
