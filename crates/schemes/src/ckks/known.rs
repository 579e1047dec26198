//! What the process that encoded a message knows of it afterwards.

use num_complex::Complex64;

/// What is known of a message, exactly, because this process encoded it. It is no part of the encryption: it stands in no file
/// and in no sentence, and what is not known for certain is not known at all, so that nothing right is refused.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Known {
    /// The largest absolute value of a slot.
    pub largest: Option<f64>,
    /// The mean of the slots. It stands in the encoded polynomial as two coefficients, so what makes it too large for the
    /// modulus makes the message wrap around; and unlike the largest value it is known of every sum.
    pub mean: Option<Complex64>,
}

impl Known {
    /// Of the slots of a message, at least one.
    pub fn of(slots: impl ExactSizeIterator<Item = Complex64>) -> Self {
        let count = slots.len() as f64;
        let add = |(largest, sum): (f64, Complex64), z: Complex64| (f64::max(largest, z.norm()), sum + z);
        let (largest, sum) = slots.fold((0.0, Complex64::ZERO), add);
        Self { largest: Some(largest), mean: Some(sum / count) }
    }
    /// A size that some slot has at least.
    pub fn at_least(&self) -> Option<f64> {
        self.largest.or(self.mean.map(|mean| mean.norm()))
    }
    /// Of so many times the message.
    #[must_use]
    pub fn times(&self, c: Complex64) -> Self {
        Self { largest: self.largest.map(|x| x * c.norm()), mean: self.mean.map(|x| x * c) }
    }
    /// Of the sum with another message, of which the largest value is not that of both.
    #[must_use]
    pub fn plus(&self, other: &Self) -> Self {
        Self { largest: None, mean: self.mean.zip(other.mean).map(|(x, y)| x + y) }
    }
    /// Of the sum with one number in every slot.
    #[must_use]
    pub fn plus_number(&self, c: Complex64) -> Self {
        Self { largest: None, mean: self.mean.map(|x| x + c) }
    }
    /// Of the complex conjugates.
    #[must_use]
    pub fn conjugate(&self) -> Self {
        Self { mean: self.mean.map(|x| x.conj()), ..*self }
    }
    /// Of the square of every slot.
    #[must_use]
    pub fn square(&self) -> Self {
        Self { largest: self.largest.map(|x| x * x), mean: None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_known_is_exact_or_nothing() {
        let z = |re, im| Complex64::new(re, im);
        let of = |slots: &[Complex64]| Known::of(slots.iter().copied());
        let (x, y) = ([z(3.0, 4.0), z(-1.0, 0.0)], [z(0.0, 1.0), z(2.0, 0.0)]);
        let (a, b) = (of(&x), of(&y));
        assert_eq!((a.largest, a.mean), (Some(5.0), Some(z(1.0, 2.0))));
        assert_eq!(a.times(z(0.0, -2.0)), of(&x.map(|v| v * z(0.0, -2.0))));
        assert_eq!(a.conjugate(), of(&x.map(|v| v.conj())));
        let sum = of(&[x[0] + y[0], x[1] + y[1]]);
        assert_eq!(a.plus(&b), Known { largest: None, ..sum });
        assert_eq!(a.plus_number(z(1.0, 0.0)).mean, Some(z(2.0, 2.0)));
        assert_eq!(a.square(), Known { mean: None, ..of(&x.map(|v| v * v)) });
        assert_eq!((a.at_least(), sum.at_least()), (Some(5.0), sum.largest));
        assert_eq!(a.plus(&b).at_least(), Some(z(2.0, 2.5).norm()), "a mean is no larger than the largest value");
        assert_eq!(a.plus(&Known::default()), Known::default());
    }
}
