//! Bounds on the size of a message from above and below, tracked through arithmetic.

use num_complex::Complex64;

/// Bounds on the absolute values of the slots of a message, for the process that encoded it or its operands. They
/// always hold but need not be reached. Unknown is infinity from above, and 0 from below.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Size {
    /// An upper bound for every slot.
    pub most: f64,
    /// An upper bound for the mean over all slots, and for every coefficient divided by the scale.
    pub mean: f64,
    /// An upper bound for every coefficient divided by the scale, except the two that hold the mean of the slots.
    pub rest: f64,
    /// A lower bound for every slot.
    pub least: f64,
    /// An upper bound for the root mean square of the distances of the slots from their mean.
    pub apart: f64,
    /// A lower bound for the root mean square of the slots.
    pub root: f64,
    /// Whether an intermediate result may not have fitted its modulus, so that the ciphertext may hold another message.
    pub doubtful: bool,
}

impl Default for Size {
    fn default() -> Self {
        Self {
            most: f64::INFINITY,
            mean: f64::INFINITY,
            rest: f64::INFINITY,
            least: 0.0,
            apart: f64::INFINITY,
            root: 0.0,
            doubtful: false,
        }
    }
}

impl Size {
    /// Bounds from the absolute values of slots, at least one.
    pub fn of(sizes: impl ExactSizeIterator<Item = f64>) -> Self {
        let count = sizes.len() as f64;
        let add = |(most, sum, squares, least): (f64, f64, f64, f64), x: f64| {
            (most.max(x), sum + x, squares + x * x, least.min(x))
        };
        let (most, sum, squares, least) = sizes.fold((0.0, 0.0, 0.0, f64::INFINITY), add);
        let (mean, root) = (sum / count, (squares / count).sqrt());
        Self { most, mean, rest: mean, least, apart: root, root, doubtful: false }
    }
    /// Bounds if no slot is larger than this.
    pub fn up_to(most: f64) -> Self {
        Self { most, mean: most, rest: most, apart: most, ..Self::default() }
    }
    /// Bounds for one number in every slot.
    pub fn all(size: f64) -> Self {
        Self { least: size, rest: 0.0, apart: 0.0, root: size, ..Self::up_to(size) }
    }
    /// Bounds for a multiple of the message.
    #[must_use]
    pub fn times(&self, c: Complex64) -> Self {
        let by = |x: f64, c: f64| if x.is_finite() { x * c } else { x };
        Self {
            most: by(self.most, c.norm()),
            mean: by(self.mean, c.norm()),
            rest: by(self.rest, c.re.abs() + c.im.abs()),
            least: self.least * c.norm(),
            apart: by(self.apart, c.norm()),
            root: self.root * c.norm(),
            ..*self
        }
    }
    /// Bounds for a sum.
    #[must_use]
    pub fn plus(&self, other: &Self) -> Self {
        Self {
            most: self.most + other.most,
            mean: self.mean + other.mean,
            rest: self.rest + other.rest,
            least: (self.least - other.most).max(other.least - self.most).max(0.0),
            apart: self.apart + other.apart,
            root: (self.root - other.most).max(other.root - self.most).max(0.0),
            doubtful: self.doubtful || other.doubtful,
        }
    }
    /// Bounds for a slotwise product.
    #[must_use]
    pub fn product(&self, other: &Self) -> Self {
        // Zero times what nobody knows is zero for some and unknown for others.
        let by = |x: f64, y: f64| if (x * y).is_nan() { f64::INFINITY } else { x * y };
        let mean = by(self.most, other.mean).min(by(other.most, self.mean));
        Self {
            most: by(self.most, other.most),
            mean,
            rest: mean,
            least: self.least * other.least,
            // No number is nearer than the mean, so what is this far from the product of the means is so far from it at most.
            apart: (by(self.mean, other.apart) + by(other.most, self.apart)).min(by(self.most, other.most)),
            root: (self.root * other.least).max(other.root * self.least),
            doubtful: self.doubtful || other.doubtful,
        }
    }
    /// Bounds for a function of every slot whose values are at most this large.
    #[must_use]
    pub fn mapped(&self, most: f64) -> Self {
        Self { doubtful: self.doubtful, ..Self::up_to(if most.is_nan() { f64::INFINITY } else { most }) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_hold_for_sums_and_products() {
        let (x, y) = ([3.0f64, -4.0, 0.5, 2.0], [1.0f64, 10.0, -2.0, -5.0]);
        let of = |v: &[f64; 4]| Size::of(v.map(f64::abs).into_iter());
        let (a, b) = (of(&x), of(&y));
        assert_eq!((a.most, a.mean, a.least), (4.0, 9.5 / 4.0, 0.5));
        let each = |f: fn(f64, f64) -> f64| of(&[0, 1, 2, 3].map(|i| f(x[i], y[i])));
        for (exact, bound) in [
            (each(|x, y| x * y), a.product(&b)),
            (each(|x, y| x + y), a.plus(&b)),
            (each(|x, _| -3.0 * x), a.times(3.0.into())),
        ] {
            assert!(exact.most <= bound.most && exact.mean <= bound.mean && exact.least >= bound.least);
            assert!(exact.root >= bound.root && exact.apart <= bound.apart);
        }
        assert_eq!(Size::all(8.0).product(&Size::all(16.0)), Size { rest: 128.0, ..Size::all(128.0) });
        assert_eq!(Size::all(8.0).times(Complex64::new(0.0, -2.0)), Size::all(16.0));
        assert_eq!(
            Size::all(8.0).plus(&Size::up_to(3.0)),
            Size { least: 5.0, rest: 3.0, apart: 3.0, root: 5.0, ..Size::up_to(11.0) }
        );
        assert_eq!(Size::default().times(Complex64::ZERO), Size::default(), "what nobody knows stays unknown");
        let doubtful = Size { doubtful: true, ..a };
        assert!(doubtful.plus(&b).doubtful && b.product(&doubtful).doubtful && doubtful.mapped(1.0).doubtful);
    }
}
