//! Converts residues to numbers, as doubles.

use aglet_ring::Modulus;

/// Primes, with what brings residues modulo each of them together.
pub(super) struct Residues<'a> {
    primes: &'a [&'a Modulus],
    /// The inverse of the product of all primes before each one, modulo it.
    inverses: Vec<u64>,
}

impl<'a> Residues<'a> {
    pub fn new(primes: &'a [&'a Modulus]) -> Self {
        let inverse = |(i, q): (usize, &&Modulus)| {
            q.inv(primes[..i].iter().fold(1, |product, p| q.mul(product, q.reduce(p.value()))))
        };
        let inverses = primes.iter().enumerate().map(inverse).collect();
        Self { primes, inverses }
    }

    /// The number of smallest absolute value with these residues. It is exact up to the product of two primes, and
    /// beyond that to a relative 2^-50.
    pub fn centred(&self, residue: impl Fn(usize) -> u64) -> f64 {
        match self.primes {
            [q] => q.centre(residue(0)) as f64,
            [..] => self.small(&residue).unwrap_or_else(|| self.large(&residue)),
        }
    }

    /// The number, if the first two residues alone tell it.
    fn small(&self, residue: &impl Fn(usize) -> u64) -> Option<f64> {
        let (q0, q1) = (self.primes[0].value(), self.primes[1]);
        let (low, high) = (residue(0), self.digit(1, residue(1), &[residue(0)]));
        let product = i128::from(q0) * i128::from(q1.value());
        let x = i128::from(low) + i128::from(q0) * i128::from(high);
        let negative = x > product / 2;
        let fits = (2..self.primes.len()).all(|i| {
            let q = self.primes[i];
            let (q0, q1) = (q.reduce(q0), q.reduce(q1.value()));
            let positive = q.add(q.reduce(low), q.mul(q0, q.reduce(high)));
            residue(i) == if negative { q.sub(positive, q.mul(q0, q1)) } else { positive }
        });
        fits.then_some((if negative { x - product } else { x }) as f64)
    }

    /// Digit `i` in the mixed radix of the primes, from a residue and the digits below (Garner).
    fn digit(&self, i: usize, residue: u64, below: &[u64]) -> u64 {
        let q = self.primes[i];
        let rest = below
            .iter()
            .zip(self.primes)
            .rev()
            .fold(0, |sum, (digit, p)| q.add(q.mul(sum, q.reduce(p.value())), q.reduce(*digit)));
        q.mul(q.sub(residue, rest), self.inverses[i])
    }

    fn digits(&self, residue: impl Fn(usize) -> u64) -> Vec<u64> {
        let mut digits = Vec::with_capacity(self.primes.len());
        (0..self.primes.len()).for_each(|i| digits.push(self.digit(i, residue(i), &digits)));
        digits
    }

    fn large(&self, residue: &impl Fn(usize) -> u64) -> f64 {
        let value = |digits: &[u64]| {
            let places = digits.iter().zip(self.primes).rev();
            places.fold(0.0, |sum, (digit, q)| sum * q.value() as f64 + *digit as f64)
        };
        let digits = self.digits(residue);
        // The part of the product of all primes that the number is.
        let part = digits.iter().zip(self.primes).fold(0.0, |part, (d, q)| (part + *d as f64) / q.value() as f64);
        if part <= 0.5 {
            return value(&digits);
        }
        let negated = |i: usize| self.primes[i].sub(0, residue(i));
        -value(&self.digits(negated))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_every_size_come_back() {
        let primes: Vec<Modulus> =
            [1125899906826241, 1099511592961, 1099511590913, 1099511560193].map(|q| Modulus::new(q).unwrap()).into();
        for count in 1..=primes.len() {
            let moduli: Vec<&Modulus> = primes[..count].iter().collect();
            let residues = Residues::new(&moduli);
            let bits = moduli.iter().map(|q| (q.value() as f64).log2()).sum::<f64>() as usize - 2;
            for shift in 0..bits.min(120) {
                for x in [1i128 << shift, (1 << shift) + 1, 3 * (1 << shift) / 2] {
                    for x in [x, -x, 1 - x] {
                        let residue = |i: usize| x.rem_euclid(i128::from(moduli[i].value())) as u64;
                        let found = residues.centred(residue);
                        assert!((found - x as f64).abs() <= x.abs() as f64 * 2f64.powi(-50), "{x}: {found}");
                        assert!(shift > 52 || found == x as f64);
                    }
                }
            }
        }
    }
}
