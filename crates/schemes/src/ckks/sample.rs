//! Some slots of a message, known exactly.

use num_complex::Complex64;

/// How many slots are followed.
const FOLLOWED: usize = 4;

/// A few slots of a message, the same ones of every message with as many. They are followed through operations on slots, so that a result that
/// wrapped around is seen when it is decrypted: that moves all slots by multiples of twice the room of a coefficient.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sample {
    /// Slots of the message; 1 for one number in all slots of any message.
    slots: usize,
    at: [Complex64; FOLLOWED],
}

impl Sample {
    /// Of the slots of a message, at least one.
    pub fn of(slots: impl ExactSizeIterator<Item = Complex64> + Clone) -> Self {
        let count = slots.len();
        let at = std::array::from_fn(|i| slots.clone().nth(place(i, count)).unwrap_or_default());
        Self { slots: count, at }
    }
    /// A function of every slot.
    #[must_use]
    pub fn map(&self, f: impl Fn(Complex64) -> Complex64) -> Self {
        Self { at: self.at.map(f), ..*self }
    }
    /// A function of every slot and of that of another message, if they have as many slots.
    #[must_use]
    pub fn zip(&self, other: &Self, f: impl Fn(Complex64, Complex64) -> Complex64) -> Option<Self> {
        let slots = self.slots.max(other.slots);
        let same = [self, other].iter().all(|x| x.slots == slots || x.slots == 1);
        same.then(|| Self { slots, at: std::array::from_fn(|i| f(self.at[i], other.at[i])) })
    }
    /// Whether one of these slots is further than this from that of another message.
    pub fn is_far(&self, values: &[Complex64], most: f64) -> bool {
        let far =
            |(i, x): (usize, &Complex64)| values.get(place(i, values.len())).is_some_and(|y| (x - y).norm() > most);
        (self.slots == 1 || self.slots == values.len()) && self.at.iter().enumerate().any(far)
    }
}

/// The place of a slot that is followed: one of each quarter, even and odd ones.
fn place(i: usize, slots: usize) -> usize {
    let quarter = (slots / FOLLOWED).max(1);
    (i * quarter + i % quarter) % slots
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(slots: &[f64]) -> Sample {
        Sample::of(slots.iter().map(|&x| x.into()))
    }

    #[test]
    fn slots_are_followed_and_compared() {
        let ramp: Vec<f64> = (0..16).map(f64::from).collect();
        let (x, ones) = (of(&ramp), of(&[1.0; 16]));
        let values: Vec<Complex64> = ramp.iter().map(|&x| (x * x + 1.0).into()).collect();
        let found = x.zip(&x, |x, y| x * y).and_then(|square| square.zip(&ones, |x, y| x + y)).unwrap();
        assert!(!found.is_far(&values, 1e-9));
        let moved: Vec<Complex64> = values.iter().map(|x| x - 1024.0).collect();
        assert!(found.is_far(&moved, 500.0) && !found.is_far(&moved, 2000.0));
        // One number stands for all slots; messages of other lengths say nothing.
        let two = of(&[2.0]);
        assert_eq!(two.zip(&ones, |x, y| x + y), Some(of(&[3.0; 16])));
        assert!(two.is_far(&[Complex64::ZERO; 8], 1.0));
        assert_eq!(of(&[1.0; 8]).zip(&ones, |x, y| x + y), None);
        assert!(!of(&[1.0; 8]).is_far(&moved, 1.0));
        // The places are different ones, where there are as many.
        let places = |slots| (0..FOLLOWED).map(|i| place(i, slots)).collect::<std::collections::BTreeSet<_>>().len();
        assert_eq!([4, 8, 16, 4096, 32768].map(places), [FOLLOWED; 5]);
        assert_eq!([1, 2].map(places), [1, 2]);
    }
}
