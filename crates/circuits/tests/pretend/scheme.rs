//! A pretend family: a linear scheme without noise, without scales and without a bootstrap, on pairs of residues.
//!
//! A slot holds an element of `Z_257[i]`, as its two embeddings, and is hidden as `(b, a)` with `b + a s` the message. Sums and
//! maps are linear in both; a product needs an encryption of `s^2`, and pretends to take a level. Nothing here is secure.

use aglet_circuits::DftScalar;
use aglet_schemes::{Error, Evaluator, LinearMap, Scalar};
use std::ops::{Add, AddAssign, Mul, Neg, Sub};

const T: u64 = 257;
/// Of order 256 modulo 257.
const GENERATOR: u64 = 3;

/// The two embeddings of an element of `Z_257[i]`; `i` is `(16, -16)`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pair(pub u64, pub u64);

impl Add for Pair {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self((self.0 + other.0) % T, (self.1 + other.1) % T)
    }
}
impl AddAssign for Pair {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}
impl Neg for Pair {
    type Output = Self;
    fn neg(self) -> Self {
        Self((T - self.0) % T, (T - self.1) % T)
    }
}
impl Sub for Pair {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        self + -other
    }
}
impl Mul for Pair {
    type Output = Self;
    fn mul(self, other: Self) -> Self {
        Self(self.0 * other.0 % T, self.1 * other.1 % T)
    }
}

impl Scalar for Pair {
    const ZERO: Self = Self(0, 0);
    const ONE: Self = Self(1, 1);
}

impl Pair {
    pub fn power(self, mut exponent: u64) -> Self {
        let (mut square, mut product) = (self, Self::ONE);
        while exponent > 0 {
            if exponent & 1 == 1 {
                product = product * square;
            }
            (square, exponent) = (square * square, exponent >> 1);
        }
        product
    }
    /// A root of unity of an order that divides 256: the second embedding is the conjugate of the first.
    pub fn root(order: u64) -> Self {
        let zeta = Self(GENERATOR, 1).power((T - 1) / order);
        Self(zeta.0, Self(zeta.0, 1).power(T - 2).0)
    }
}

impl DftScalar for Pair {
    fn twiddles(half: usize) -> Vec<Self> {
        let order = 8 * half as u64;
        let powers = std::iter::successors(Some(1), |power| Some(5 * power % order));
        powers.take(half).map(|power| Self::root(order).power(power)).collect()
    }
    fn inverse_root(self) -> Self {
        self.power(T - 2)
    }
    fn half(self) -> Self {
        self * Self(T / 2 + 1, T / 2 + 1)
    }
    fn shares(self, count: usize) -> Option<Vec<Self>> {
        let mut shares = vec![Self::ONE; count];
        *shares.first_mut()? = self;
        (self.0 != 0 && self.1 != 0).then_some(shares)
    }
}

/// `b + a s` is the message, slot by slot.
#[derive(Debug, Clone)]
pub struct Hidden {
    b: Vec<Pair>,
    a: Vec<Pair>,
    level: usize,
}

/// A map with the level that it was encoded for.
pub struct Encoded {
    map: LinearMap<Pair>,
    level: usize,
}

/// Secret and evaluator in one.
pub struct Pretend {
    slots: usize,
    secret: Pair,
    /// An encryption of the square of the secret, for products.
    square: (Pair, Pair),
}

impl Pretend {
    pub fn new(slots: usize) -> Self {
        let (secret, a) = (Pair(41, 200), Pair(99, 7));
        Self { slots, secret, square: (secret * secret - a * secret, a) }
    }
    pub fn encrypt(&self, message: &[Pair], level: usize) -> Hidden {
        let mask = |j: usize| Pair(5, 11).power(3 * j as u64 + 1);
        let a: Vec<Pair> = (0..message.len()).map(mask).collect();
        let b = message.iter().zip(&a).map(|(m, a)| *m - *a * self.secret).collect();
        Hidden { b, a, level }
    }
    pub fn decrypt(&self, ct: &Hidden) -> Vec<Pair> {
        ct.b.iter().zip(&ct.a).map(|(b, a)| *b + *a * self.secret).collect()
    }
    fn both(&self, x: &Hidden, f: impl Fn(&[Pair]) -> Vec<Pair>) -> Hidden {
        Hidden { b: f(&x.b), a: f(&x.a), level: x.level }
    }
    fn sum(&self, x: &Hidden, y: &Hidden, sign: Pair) -> Result<Hidden, Error> {
        if x.level != y.level {
            return Err(Error::LevelMismatch { left: x.level, right: y.level });
        }
        let sum = |x: &[Pair], y: &[Pair]| x.iter().zip(y).map(|(x, y)| *x + sign * *y).collect();
        Ok(Hidden { b: sum(&x.b, &y.b), a: sum(&x.a, &y.a), level: x.level })
    }
}

impl Evaluator for Pretend {
    type Scalar = Pair;
    type Ciphertext = Hidden;
    type Transform = Encoded;

    fn slots(&self) -> usize {
        self.slots
    }
    fn level(&self, ct: &Hidden) -> usize {
        ct.level
    }
    fn level_down(&self, x: &Hidden, level: usize) -> Result<Hidden, Error> {
        if level > x.level {
            return Err(Error::LevelTooLow { required: level, actual: x.level });
        }
        Ok(Hidden { level, ..x.clone() })
    }
    fn add(&self, x: &Hidden, y: &Hidden) -> Result<Hidden, Error> {
        self.sum(x, y, Pair::ONE)
    }
    fn sub(&self, x: &Hidden, y: &Hidden) -> Result<Hidden, Error> {
        self.sum(x, y, -Pair::ONE)
    }
    fn negate(&self, x: &Hidden) -> Result<Hidden, Error> {
        self.mul_scalar(x, -Pair::ONE)
    }
    fn mul(&self, x: &Hidden, y: &Hidden) -> Result<Hidden, Error> {
        let lower = x.level.min(y.level);
        let level = lower.checked_sub(1).ok_or(Error::LevelTooLow { required: 1, actual: 0 })?;
        let mut out = Hidden { b: Vec::new(), a: Vec::new(), level };
        for ((xb, xa), (yb, ya)) in x.b.iter().zip(&x.a).zip(y.b.iter().zip(&y.a)) {
            let square = *xa * *ya;
            out.b.push(*xb * *yb + square * self.square.0);
            out.a.push(*xb * *ya + *xa * *yb + square * self.square.1);
        }
        Ok(out)
    }
    fn mul_scalar(&self, x: &Hidden, c: Pair) -> Result<Hidden, Error> {
        Ok(self.both(x, |x| x.iter().map(|x| *x * c).collect()))
    }
    fn add_scalar(&self, x: &Hidden, c: Pair) -> Result<Hidden, Error> {
        Ok(Hidden { b: x.b.iter().map(|x| *x + c).collect(), ..x.clone() })
    }
    fn rotate(&self, x: &Hidden, by: isize) -> Result<Hidden, Error> {
        let by = by.rem_euclid(self.slots as isize) as usize;
        Ok(self.both(x, |x| [&x[by..], &x[..by]].concat()))
    }
    fn encode_map(&self, map: &LinearMap<Pair>, level: usize) -> Result<Encoded, Error> {
        if map.slots() != self.slots {
            return Err(Error::SlotMismatch { expected: self.slots, found: map.slots() });
        }
        Ok(Encoded { map: map.clone(), level })
    }
    /// Baby and giant steps, as a scheme with keys would take them.
    fn transform(&self, x: &Hidden, t: &Encoded) -> Result<Hidden, Error> {
        let x = self.level_down(x, t.level)?;
        let giant = t.map.rotations().1.unwrap_or_default();
        let mut sum = self.mul_scalar(&x, Pair::ZERO)?;
        for step in t.map.giant_steps().iter().rev() {
            sum = self.rotate(&sum, giant as isize)?;
            for (by, diagonal) in &step.terms {
                let scaled = |x: &[Pair]| x.iter().zip(diagonal.iter().cycle()).map(|(x, d)| *x * *d).collect();
                sum = self.add(&sum, &self.both(&self.rotate(&x, *by as isize)?, scaled))?;
            }
        }
        Ok(sum)
    }
}
