//! What the process that encoded a message knows of it afterwards.

use super::Size;
use num_complex::Complex64;

/// What is known of a message, exactly, because this process encoded it. It is no part of the encryption: it stands in no file
/// and in no sentence, and what is not known for certain is not known at all, so that nothing right is refused. The bounds on its
/// size alone go on where the rest ends, with products of different messages.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Known {
    /// The largest absolute value of a slot.
    pub largest: Option<f64>,
    /// The mean of the slots. It stands in the encoded polynomial as two coefficients, so what makes it too large for the
    /// modulus makes the message wrap around; and unlike the largest value it is known of every sum.
    pub mean: Option<Complex64>,
    /// Bounds on the sizes of the slots.
    pub size: Size,
}

impl Known {
    /// Of the slots of a message, at least one.
    pub fn of(slots: impl ExactSizeIterator<Item = Complex64> + Clone) -> Self {
        let count = slots.len() as f64;
        let add = |(largest, sum): (f64, Complex64), z: Complex64| (f64::max(largest, z.norm()), sum + z);
        let size = Size::of(slots.clone().map(Complex64::norm));
        let (largest, sum) = slots.fold((0.0, Complex64::ZERO), add);
        Self { largest: Some(largest), mean: Some(sum / count), size }
    }
    /// Nothing but bounds on the sizes.
    pub fn sized(size: Size) -> Self {
        Self { size, ..Self::default() }
    }
    /// A size that no coefficient exceeds, over the scale; infinite if nothing is known.
    pub fn coefficient(&self) -> f64 {
        self.size.rest.max(self.mean.map_or(self.size.mean, |mean| mean.re.abs().max(mean.im.abs())))
    }
    /// A size that some slot has at least.
    pub fn at_least(&self) -> Option<f64> {
        self.largest.or(self.mean.map(|mean| mean.norm()))
    }
    /// Of so many times the message.
    #[must_use]
    pub fn times(&self, c: Complex64) -> Self {
        let (largest, mean) = (self.largest.map(|x| x * c.norm()), self.mean.map(|x| x * c));
        Self { largest, mean, size: self.size.times(c) }
    }
    /// Of the sum with another message, of which the largest value is not that of both.
    #[must_use]
    pub fn plus(&self, other: &Self) -> Self {
        let mean = self.mean.zip(other.mean).map(|(x, y)| x + y);
        Self { largest: None, mean, size: self.size.plus(&other.size) }
    }
    /// Of the sum with one number in every slot.
    #[must_use]
    pub fn plus_number(&self, c: Complex64) -> Self {
        Self { largest: None, mean: self.mean.map(|x| x + c), size: self.size.plus(&Size::all(c.norm())) }
    }
    /// Of the complex conjugates.
    #[must_use]
    pub fn conjugate(&self) -> Self {
        Self { mean: self.mean.map(|x| x.conj()), ..*self }
    }
    /// Of the square of every slot.
    #[must_use]
    pub fn square(&self) -> Self {
        Self { largest: self.largest.map(|x| x * x), mean: None, size: self.size.product(&self.size) }
    }
    /// Of the product with another message, of which the sizes alone are known.
    #[must_use]
    pub fn product(&self, other: &Self) -> Self {
        Self::sized(self.size.product(&other.size))
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
        assert_eq!(a.product(&a).size, a.square().size);
        assert_eq!(a.product(&b).at_least(), None);
        assert_eq!((a.coefficient(), a.product(&b).coefficient()), (3.0, 6.0));
        assert_eq!(a.conjugate(), of(&x.map(|v| v.conj())));
        let sum = of(&[x[0] + y[0], x[1] + y[1]]);
        assert_eq!(a.plus(&b), Known { largest: None, size: a.size.plus(&b.size), ..sum });
        assert_eq!(a.plus_number(z(1.0, 0.0)).mean, Some(z(2.0, 2.0)));
        assert_eq!(a.square(), Known { mean: None, size: a.size.product(&a.size), ..of(&x.map(|v| v * v)) });
        assert_eq!((a.at_least(), sum.at_least()), (Some(5.0), sum.largest));
        assert_eq!(a.plus(&b).at_least(), Some(z(2.0, 2.5).norm()), "a mean is no larger than the largest value");
        assert_eq!(a.plus(&Known::default()), Known::default());
    }
}
