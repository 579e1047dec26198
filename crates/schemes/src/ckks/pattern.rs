//! A message near one that repeats a few numbers.

use num_complex::Complex64;

/// The longest period that is followed.
const LONGEST: usize = 8;
/// What rounding may leave of a distance, relative to the numbers.
const ROUNDED: f64 = 1e-12;

/// A few numbers that fill all slots over and over, such as one number or alternating signs, and how far a message is from them. A message
/// near a pattern stands in few coefficients of its polynomial, so that one which wrapped around may look small: it is followed through
/// operations on slots and through rotations.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pattern {
    /// A power of two.
    period: usize,
    /// The first `period` of them, and zeros.
    at: [Complex64; LONGEST],
    /// An upper bound for the root mean square of the distances of the slots from the pattern; infinite if there is none.
    apart: f64,
}

/// A product of which a factor may be infinite, and 0 wins.
fn by(x: f64, y: f64) -> f64 {
    if x == 0.0 || y == 0.0 {
        0.0
    } else {
        x * y
    }
}

impl Pattern {
    /// The shortest pattern of these slots, a power of two of them; if they repeat none, the means of every eighth slot.
    pub fn of(slots: impl ExactSizeIterator<Item = Complex64> + Clone) -> Self {
        let repeats = |period: usize| slots.clone().skip(period).zip(slots.clone()).all(|(x, y)| x == y);
        let mut at = [Complex64::ZERO; LONGEST];
        if let Some(period) = [1, 2, 4, LONGEST].into_iter().find(|&period| repeats(period)) {
            at.iter_mut().zip(slots.take(period)).for_each(|(to, from)| *to = from);
            return Self { period, at, apart: 0.0 };
        }
        let each = slots.len() as f64 / LONGEST as f64;
        slots.clone().enumerate().for_each(|(i, x)| at[i % LONGEST] += x / each);
        let squares = slots.clone().enumerate().map(|(i, x)| (x - at[i % LONGEST]).norm_sqr()).sum::<f64>();
        let largest = slots.clone().map(|x| x.norm()).fold(0.0, f64::max);
        let apart = (squares / slots.len() as f64).sqrt() * (1.0 + ROUNDED) + largest * ROUNDED;
        Self { period: LONGEST, at, apart }
    }
    /// A function of every slot. `slope` is the most that it changes, over what its argument changes.
    #[must_use]
    pub fn map(&self, f: impl Fn(Complex64) -> Complex64, slope: f64) -> Self {
        let at = std::array::from_fn(|i| if i < self.period { f(self.at[i]) } else { Complex64::ZERO });
        Self { at, apart: by(self.apart, slope), ..*self }
    }
    /// Of the sum with another message.
    #[must_use]
    pub fn plus(&self, other: &Self) -> Self {
        self.zip(other, |x, y| x + y, self.apart + other.apart)
    }
    /// Of the product with another message, where slots are at most so large.
    #[must_use]
    pub fn product(&self, other: &Self, (most, others): (f64, f64)) -> Self {
        // (p + r)(q + s) = p q + (p + r) s + r q.
        let one = by(most, other.apart) + by(other.largest(), self.apart);
        let two = by(others, self.apart) + by(self.largest(), other.apart);
        self.zip(other, |x, y| x * y, one.min(two))
    }
    fn zip(&self, other: &Self, f: impl Fn(Complex64, Complex64) -> Complex64, apart: f64) -> Self {
        let period = self.period.max(other.period);
        let each = |i| f(self.at[i % self.period], other.at[i % other.period]);
        Self { period, at: std::array::from_fn(|i| if i < period { each(i) } else { Complex64::ZERO }), apart }
    }
    /// After the automorphism `X -> X^galois`, which rotates the slots to the left; `None` if it does something else.
    #[must_use]
    pub fn rotated(&self, galois: u64) -> Option<Self> {
        // It is a power of 5, and the powers of 5 modulo 32 repeat after as many as the longest period.
        let powers = std::iter::successors(Some(1), |power| Some(power * 5 % 32));
        let by = powers.take(LONGEST).position(|power| power == galois % 32)?;
        let turned = |i| if i < self.period { self.at[(i + by) % self.period] } else { Complex64::ZERO };
        Some(Self { at: std::array::from_fn(turned), ..*self })
    }
    /// The largest absolute value of its numbers.
    pub fn largest(&self) -> f64 {
        self.at.iter().map(|x| x.norm()).fold(0.0, f64::max)
    }
    /// What the root mean square of the slots is at least.
    pub fn root_mean_square(&self) -> f64 {
        let own = (self.at.iter().map(Complex64::norm_sqr).sum::<f64>() / self.period as f64).sqrt();
        let least = own * (1.0 - ROUNDED) - self.apart;
        if least.is_finite() {
            least.max(0.0)
        } else {
            0.0
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(slots: &[f64]) -> Pattern {
        Pattern::of(slots.iter().map(|&x| x.into()))
    }

    #[test]
    fn few_numbers_are_followed_exactly() {
        let (signs, threes) = (of(&[1.0, -1.0].repeat(16)), of(&[3.0; 32]));
        assert_eq!((signs.period, threes.period, signs.apart), (2, 1, 0.0));
        assert_eq!(signs.plus(&threes), of(&[4.0, 2.0]));
        assert_eq!(signs.product(&signs, (1.0, 1.0)), signs.map(|_| 1.0.into(), f64::INFINITY));
        assert_eq!(threes.map(|x| x * 2.0, 2.0), Pattern { period: 1, ..of(&[6.0; 8]) });
        assert!((signs.root_mean_square() - 1.0).abs() < 1e-9);
        assert!((of(&[0.0, 2.0, 0.0, 0.0]).root_mean_square() - 1.0).abs() < 1e-9);
        let ramp = of(&[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]);
        assert_eq!(ramp.period, 8);
        let galois = |by: u32| 5u64.pow(by) % (1 << 17);
        assert_eq!(ramp.rotated(galois(11)), Some(of(&[3.0, 4.0, 5.0, 6.0, 7.0, 0.0, 1.0, 2.0])));
        assert_eq!((signs.rotated(5), threes.rotated(5)), (Some(of(&[-1.0, 1.0])), Some(threes)));
        assert_eq!(signs.rotated((1 << 17) - 1), None, "conjugation is no rotation");
    }

    /// What is computed slot by slot is as near to the pattern as is said, and no smaller.
    #[test]
    fn what_is_near_a_pattern_stays_as_near_as_is_said() {
        let slots = |seed: u64, base: [f64; 2], noise: f64| -> Vec<Complex64> {
            let mut word = seed;
            let mut next = || {
                word = word.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                (word >> 11) as f64 / (1u64 << 53) as f64 - 0.5
            };
            (0..256).map(|i| Complex64::new(base[i % 2] + noise * next(), noise * next())).collect()
        };
        let of = |x: &[Complex64]| Pattern::of(x.iter().copied());
        let most = |x: &[Complex64]| x.iter().map(|x| x.norm()).fold(0.0, f64::max);
        let check = |found: Pattern, values: &[Complex64], tight: f64| {
            let far = |(i, x): (usize, &Complex64)| (x - found.at[i % found.period]).norm_sqr();
            let apart = (values.iter().enumerate().map(far).sum::<f64>() / values.len() as f64).sqrt();
            let root = (values.iter().map(Complex64::norm_sqr).sum::<f64>() / values.len() as f64).sqrt();
            assert!(apart <= found.apart && found.apart <= tight, "{apart} {} {tight}", found.apart);
            assert!(found.root_mean_square() <= root && root <= found.root_mean_square() + 2.0 * tight);
        };
        for noise in [0.0, 0.25, 8.0] {
            let (x, y) = (slots(1, [32.0, -32.0], noise), slots(2, [31.0, -33.0], noise));
            let each = |f: fn(Complex64, Complex64) -> Complex64| -> Vec<Complex64> {
                x.iter().zip(&y).map(|(&x, &y)| f(x, y)).collect()
            };
            let (p, q) = (of(&x), of(&y));
            check(p, &x, noise + 1e-9);
            check(p.plus(&q), &each(|x, y| x + y), 2.0 * noise + 1e-9);
            check(p.product(&q, (most(&x), most(&y))), &each(|x, y| x * y), 66.0 * noise + 8.0 * noise * noise + 1e-9);
            let [a, c] = [Complex64::new(0.0, 3.0), Complex64::new(-7.0, 1.0)];
            check(p.map(|x| a * x + c, 3.0), &x.iter().map(|x| a * x + c).collect::<Vec<_>>(), 3.0 * noise + 1e-9);
            let turned: Vec<Complex64> = (0..256).map(|i| x[(i + 3) % 256]).collect();
            check(p.rotated(125).unwrap(), &turned, noise + 1e-9);
        }
        // What has no bound says nothing.
        let far = of(&slots(1, [32.0, -32.0], 1.0)).map(|x| x, f64::INFINITY);
        assert_eq!(far.root_mean_square(), 0.0);
    }
}
