//! A message that repeats a few numbers, known exactly.

use num_complex::Complex64;

/// The longest period that is followed.
const LONGEST: usize = 8;

/// A few numbers that fill all slots over and over, such as one number or alternating signs. Such a message stands in few coefficients
/// of its polynomial, so that one which wrapped around may look small: it is followed exactly.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pattern {
    /// A power of two.
    period: usize,
    /// The first `period` of them, and zeros.
    at: [Complex64; LONGEST],
}

impl Pattern {
    /// The shortest pattern of these slots, a power of two of them, if they repeat so few.
    pub fn of(slots: impl Iterator<Item = Complex64> + Clone) -> Option<Self> {
        let repeats = |period: usize| slots.clone().skip(period).zip(slots.clone()).all(|(x, y)| x == y);
        let period = [1, 2, 4, LONGEST].into_iter().find(|&period| repeats(period))?;
        let mut at = [Complex64::ZERO; LONGEST];
        at.iter_mut().zip(slots.take(period)).for_each(|(to, from)| *to = from);
        Some(Self { period, at })
    }
    /// A function of every slot.
    #[must_use]
    pub fn map(&self, f: impl Fn(Complex64) -> Complex64) -> Self {
        Self { at: std::array::from_fn(|i| if i < self.period { f(self.at[i]) } else { Complex64::ZERO }), ..*self }
    }
    /// A function of every slot and of that of another message.
    #[must_use]
    pub fn zip(&self, other: &Self, f: impl Fn(Complex64, Complex64) -> Complex64) -> Self {
        let period = self.period.max(other.period);
        let each = |i| f(self.at[i % self.period], other.at[i % other.period]);
        Self { period, at: std::array::from_fn(|i| if i < period { each(i) } else { Complex64::ZERO }) }
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
    /// The root mean square of the slots.
    pub fn root_mean_square(&self) -> f64 {
        (self.at.iter().map(Complex64::norm_sqr).sum::<f64>() / self.period as f64).sqrt()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(slots: &[f64]) -> Option<Pattern> {
        Pattern::of(slots.iter().map(|&x| x.into()))
    }

    #[test]
    fn few_numbers_are_followed_exactly() {
        let (signs, threes) = (of(&[1.0, -1.0].repeat(16)).unwrap(), of(&[3.0; 32]).unwrap());
        assert_eq!((signs.period, threes.period), (2, 1));
        assert_eq!(signs.zip(&threes, |x, y| x + y), of(&[4.0, 2.0]).unwrap());
        assert_eq!(signs.zip(&signs, |x, y| x * y), signs.map(|_| 1.0.into()));
        assert_eq!(threes.map(|x| x * 2.0), of(&[6.0; 8]).unwrap());
        assert_eq!((signs.root_mean_square(), of(&[0.0, 2.0, 0.0, 0.0]).unwrap().root_mean_square()), (1.0, 1.0));
        assert_eq!(of(&[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]).map(|p| p.period), Some(8));
        let ramp = of(&[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]).unwrap();
        let galois = |by: u32| 5u64.pow(by) % (1 << 17);
        assert_eq!(ramp.rotated(galois(11)), of(&[3.0, 4.0, 5.0, 6.0, 7.0, 0.0, 1.0, 2.0]));
        assert_eq!((signs.rotated(5), threes.rotated(5)), (of(&[-1.0, 1.0]), Some(threes)));
        assert_eq!(signs.rotated((1 << 17) - 1), None, "conjugation is no rotation");
        let long: Vec<_> = (0..16).map(f64::from).collect();
        assert_eq!((of(&long), of(&long.repeat(2))), (None, None));
    }
}
