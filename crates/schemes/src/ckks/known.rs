//! What the process that encoded a message still knows about it.

use super::{Pattern, Sample, Size};
use num_complex::Complex64;

/// What is known exactly about a message because this process encoded it. It is not part of the encryption and never
/// appears in a file or an error. What is not certain counts as unknown, so nothing correct is refused. After products
/// of different messages only the bounds on the size remain.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Known {
    /// The largest absolute value of a slot.
    pub largest: Option<f64>,
    /// The mean of the slots. The encoded polynomial holds it in two coefficients, so a mean too large for the modulus
    /// makes the message wrap around. Unlike the largest value it is known for every sum.
    pub mean: Option<Complex64>,
    /// Bounds on the sizes of the slots.
    pub size: Size,
    /// A pattern that the slots are near.
    pub pattern: Option<Pattern>,
    /// Some slots, of messages that were computed slot by slot.
    pub sample: Option<Sample>,
}

impl Known {
    /// Makes it from the slots of a message, at least one.
    pub fn of(slots: impl ExactSizeIterator<Item = Complex64> + Clone) -> Self {
        let count = slots.len() as f64;
        let add = |(largest, sum): (f64, Complex64), z: Complex64| (f64::max(largest, z.norm()), sum + z);
        let size = Size::of(slots.clone().map(Complex64::norm));
        let pattern = Some(Pattern::of(slots.clone()));
        let (largest, sum) = slots.clone().fold((0.0, Complex64::ZERO), add);
        let sample = Some(Sample::of(slots.clone()));
        Self { largest: Some(largest), mean: Some(sum / count), size, pattern, sample }
            .gathered(slots.map(|z| (z - sum / count).norm_sqr()).sum::<f64>() / count)
    }
    /// With this mean square of the distances from the mean.
    fn gathered(mut self, squares: f64) -> Self {
        // What rounding may leave of a message that is one number: the sum of the slots, and the distances.
        let rounded = self.size.most * self.size.most * f64::EPSILON * f64::EPSILON * 64.0;
        self.size.apart = (squares + rounded).sqrt();
        self
    }
    /// Only bounds on the sizes.
    pub fn sized(size: Size) -> Self {
        Self { size, ..Self::default() }
    }
    /// A size that no coefficient exceeds, over the scale; infinite if nothing is known.
    pub fn coefficient(&self) -> f64 {
        self.size.rest.max(self.mean.map_or(self.size.mean, |mean| mean.re.abs().max(mean.im.abs())))
    }
    /// What the root mean square of all slots is at least.
    pub fn root_mean_square(&self) -> f64 {
        let by_size = self.size.least.max(self.size.root).max(self.mean.map_or(0.0, |mean| mean.norm()));
        by_size.max(self.pattern.map_or(0.0, |pattern| pattern.root_mean_square()))
    }
    /// A size that some slot has at least.
    pub fn at_least(&self) -> Option<f64> {
        self.largest.or(self.mean.map(|mean| mean.norm()))
    }
    /// Of so many times the message.
    #[must_use]
    pub fn times(&self, c: Complex64) -> Self {
        let (largest, mean) = (self.largest.map(|x| x * c.norm()), self.mean.map(|x| x * c));
        self.mapped(|x| x * c, c.norm(), Self { largest, mean, size: self.size.times(c), ..Self::default() })
    }
    /// Of the sum with another message, of which the largest value is not that of both.
    #[must_use]
    pub fn plus(&self, other: &Self) -> Self {
        let mean = self.mean.zip(other.mean).map(|(x, y)| x + y);
        let pattern = self.pattern.zip(other.pattern).map(|(x, y)| x.plus(&y));
        let sample = self.sample.zip(other.sample).and_then(|(x, y)| x.zip(&y, |x, y| x + y));
        Self { largest: None, mean, size: self.size.plus(&other.size), pattern, sample }
    }
    /// Of the sum with one number in every slot.
    #[must_use]
    pub fn plus_number(&self, c: Complex64) -> Self {
        let size = self.size.plus(&Size::all(c.norm()));
        self.mapped(|x| x + c, 1.0, Self { mean: self.mean.map(|x| x + c), size, ..Self::default() })
    }
    /// Of the complex conjugates.
    #[must_use]
    pub fn conjugate(&self) -> Self {
        self.mapped(|x| x.conj(), 1.0, Self { mean: self.mean.map(|x| x.conj()), ..*self })
    }
    /// Of what the automorphism `X -> X^galois` makes of it, a rotation: a pattern turns, and single slots are where they were not.
    #[must_use]
    pub fn rotated(&self, galois: u64) -> Self {
        Self { pattern: self.pattern.and_then(|pattern| pattern.rotated(galois)), sample: None, ..*self }
    }
    /// Of the square of every slot.
    #[must_use]
    pub fn square(&self) -> Self {
        let mut square = Self { largest: self.largest.map(|x| x * x), ..self.product(self) };
        // The mean of the absolute values of the squares is the square of this.
        square.size.root = square.size.root.max(self.root_mean_square() * self.root_mean_square());
        square
    }
    /// Of the product with another message, of which the sizes, a pattern and some slots are known.
    #[must_use]
    pub fn product(&self, other: &Self) -> Self {
        let mut size = self.size.product(&other.size);
        if let (Some(x), Some(y)) = (self.mean, other.mean) {
            // The mean of the product is this near to the product of the means (Cauchy and Schwarz).
            let apart = self.size.apart * other.size.apart;
            size.root = size.root.max((x * y).norm() - if apart.is_nan() { f64::INFINITY } else { apart });
        }
        let most = (self.size.most, other.size.most);
        let pattern = self.pattern.zip(other.pattern).map(|(x, y)| x.product(&y, most));
        let sample = self.sample.zip(other.sample).and_then(|(x, y)| x.zip(&y, |x, y| x * y));
        Self { pattern, sample, ..Self::sized(size) }
    }
    /// This, with the slots of a function of every slot, whose slope is nowhere larger than this.
    #[must_use]
    pub fn mapped(&self, f: impl Fn(Complex64) -> Complex64, slope: f64, of: Self) -> Self {
        let pattern = self.pattern.map(|slots| slots.map(&f, slope));
        Self { pattern, sample: self.sample.map(|slots| slots.map(&f)), ..of }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What lies near one number is large wherever the number is, also where no slot is known to be.
    #[test]
    fn products_of_what_gathers_are_no_smaller_than_the_means() {
        let near = |sign: f64| (0..64).map(move |i| Complex64::new(32.0 + sign * f64::from(i % 5) / 50.0, 0.0));
        let (x, y) = (Known::of(near(1.0)), Known::of(near(-1.0)));
        assert!(x.size.apart < 0.1 && Known::of((0..64).map(|_| Complex64::ONE)).size.apart < 1e-14);
        // Of sums the least slot is lost.
        let sum = x.plus(&y.times(Complex64::new(-1.0, 0.0))).plus(&y);
        assert_eq!(sum.size.least, 0.0);
        let product = sum.product(&x);
        assert!((1000.0..1030.0).contains(&product.root_mean_square()), "{}", product.root_mean_square());
        assert!(sum.square().root_mean_square() > 1000.0);
        assert_eq!(Known::default().product(&x).root_mean_square(), 0.0);
    }

    #[test]
    fn what_is_known_is_exact_or_nothing() {
        let z = |re, im| Complex64::new(re, im);
        let of = |slots: &[Complex64]| Known::of(slots.iter().copied());
        let (x, y) = ([z(3.0, 4.0), z(-1.0, 0.0)], [z(0.0, 1.0), z(2.0, 0.0)]);
        let (a, b) = (of(&x), of(&y));
        assert_eq!((a.largest, a.mean), (Some(5.0), Some(z(1.0, 2.0))));
        assert_eq!(a.times(z(0.0, -2.0)), of(&x.map(|v| v * z(0.0, -2.0))));
        let root = a.square().size.root;
        assert_eq!(Size { root, ..a.product(&a).size }, a.square().size);
        assert!(root <= of(&x.map(|v| v * v)).size.root && root >= a.size.root * a.size.root);
        assert_eq!(a.product(&b).at_least(), None);
        assert_eq!((a.coefficient(), a.product(&b).coefficient()), (3.0, 6.0));
        assert_eq!(a.conjugate(), of(&x.map(|v| v.conj())));
        let sum = of(&[x[0] + y[0], x[1] + y[1]]);
        assert_eq!(a.plus(&b), Known { largest: None, size: a.size.plus(&b.size), ..sum });
        assert_eq!(a.product(&b).pattern, of(&[x[0] * y[0], x[1] * y[1]]).pattern);
        assert_eq!(a.plus_number(z(1.0, 0.0)).mean, Some(z(2.0, 2.0)));
        let size = Size { root, ..a.size.product(&a.size) };
        assert_eq!(a.square(), Known { mean: None, size, ..of(&x.map(|v| v * v)) });
        assert_eq!((a.at_least(), sum.at_least()), (Some(5.0), sum.largest));
        assert_eq!(a.plus(&b).at_least(), Some(z(2.0, 2.5).norm()), "a mean is no larger than the largest value");
        assert_eq!(a.plus(&Known::default()), Known::default());
    }
}
