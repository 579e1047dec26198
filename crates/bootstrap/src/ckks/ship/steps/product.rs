//! The product of all factors, by pairs.

use crate::error::Error;
use crate::step::{KeyNeed, Run, RunOn, Scaled, Step};
use aglet_rlwe::Params;
use aglet_schemes::ckks::approximate::same_scale;
use aglet_schemes::{Approximate, Product as Term, Quadratic};
use num_complex::Complex64;

/// Products of so many ciphertexts each, a power of two: one level for each time that their number is halved.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Product {
    /// How many factors one product has.
    pub factors: usize,
}

impl Product {
    /// Levels that it takes.
    pub fn levels(&self) -> usize {
        self.factors.ilog2() as usize
    }
}

/// The scale of the product of factors of this scale: every level squares it and divides it by the prime.
pub fn product_scale(scale: f64, primes: impl IntoIterator<Item = f64>) -> f64 {
    primes.into_iter().fold(scale, |scale, prime| scale * scale / prime)
}

/// The scale that factors must have for the product of all to have this one: `primes` from the top down, one for each level.
pub fn factor_scale(product: f64, primes: &[f64]) -> f64 {
    primes.iter().rev().fold(product, |scale, prime| (scale * prime).sqrt())
}

/// The products of pairs, side by side: each at the level of its factors, rescaled to the scale that theirs give.
pub(super) fn multiplied<'a, E: Approximate>(
    e: &E,
    pairs: impl Iterator<Item = (&'a E::Ciphertext, &'a E::Ciphertext)>,
) -> Result<Vec<E::Ciphertext>, Error>
where
    E::Ciphertext: 'a,
{
    let form = |(left, right)| {
        let level = e.level(left);
        let scale = e.scale(left) * e.scale(right) / e.modulus(level);
        let products = vec![Term { factor: 1, left, right }];
        Quadratic { products, terms: Vec::new(), constant: Complex64::ZERO, level, scale }
    };
    Ok(e.quadratics(&pairs.map(form).collect::<Vec<_>>())?)
}

impl Step for Product {
    type Metadata = Scaled;

    fn check(&self, from: &Scaled, to: &Scaled, moduli: &[f64]) -> bool {
        let primes = moduli.iter().take(from.level + 1).rev().take(self.levels()).copied();
        from.level < moduli.len()
            && from.level == to.level + self.levels()
            && self.factors.is_power_of_two()
            && same_scale(to.scale, product_scale(from.scale, primes))
    }
    fn keys_needed(&self, from: &Scaled, _: &Scaled, params: &Params) -> Result<Vec<KeyNeed>, Error> {
        KeyNeed::squares(params, [from.level + 1])
    }
    fn describe(&self, _: &Params, _: &[KeyNeed]) -> Result<String, Error> {
        Ok(format!("{} factors, {} levels", self.factors, self.levels()))
    }
}

impl<E: Approximate> RunOn<E> for Product {
    fn run_on(&self, e: &E, Run { cts, .. }: Run<'_, E, Scaled>) -> Result<Vec<E::Ciphertext>, Error> {
        let mut level = cts.to_vec();
        for _ in 0..self.levels() {
            level = multiplied(e, level.chunks_exact(2).map(|pair| (&pair[0], &pair[1])))?;
        }
        Ok(level)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_product_has_the_scale_that_its_factors_were_given_for() {
        let primes = [42.0f64, 40.0, 39.0, 39.5, 43.0].map(f64::exp2);
        let leaf = factor_scale(2f64.powi(32), &primes);
        // By hand: (32 + 42 16 + 40 8 + 39 4 + 39.5 2 + 43) / 32, top primes counting most.
        assert!((leaf.log2() - (32.0 + 672.0 + 320.0 + 156.0 + 79.0 + 43.0) / 32.0).abs() < 1e-12);
        assert!(same_scale(product_scale(leaf, primes), 2f64.powi(32)));
    }
}
