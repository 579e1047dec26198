//! What noise blind rotations, key switches and modulus switches leave: variances over the modulus squared, and how rarely the sum
//! passes a distance.
//!
//! Derived for independent coefficients (shared design, checked there by simulation and by `tests/lwe.rs` within a tenth).

use super::params::LweParams;
use aglet_ring::blind::Gadget;

/// The variances of one set.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Noise {
    /// Of a fresh encryption.
    pub fresh: f64,
    /// Of an encryption by a public key: the error of the key times a short vector, that of the mask times the secret, and one more.
    pub public: f64,
    /// Of what a blind rotation gives.
    pub blind_rotation: f64,
    /// What a key switch adds.
    pub key_switch: f64,
    /// What the switch to the modulus 2N adds.
    pub mod_switch: f64,
    /// What an automorphism of a GLWE sample adds, with the digits of the set.
    pub automorphism: f64,
    /// How neighbouring coefficients of the noise of a blind rotation correlate: by what rounding leaves at the mean of the secret.
    pub neighbours: f64,
}

/// Coordinates of a secret that are not 0.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Weights {
    /// Among the first n, those of the LWE secret.
    pub short: f64,
    /// Among all.
    pub whole: f64,
}

impl Weights {
    /// Three deviations above the mean within the first n coordinates.
    fn heavy(params: &LweParams) -> Self {
        let (n, share) = (params.spec().dimension as f64, params.second_moment());
        let above = deviations(params, n);
        Self { short: n * share + above, whole: params.coordinates() as f64 * share + above }
    }
}

/// Three deviations of the weight of so many coordinates: a block has weight 1 with probability ell times the share.
fn deviations(params: &LweParams, coordinates: f64) -> f64 {
    let share = params.second_moment();
    3.0 * (coordinates * share * (1.0 - params.block() as f64 * share)).sqrt()
}

impl Noise {
    /// The formulas, for a secret of these weights; without, one whose first n coordinates are three deviations above the mean.
    #[must_use]
    pub fn of(params: &LweParams, weights: Option<Weights>) -> Self {
        let (spec, degree) = (params.spec(), params.n() as f64);
        let (n, d, mean) = (spec.dimension as f64, params.coordinates() as f64, params.mean());
        let relative = |sigma: f64| (sigma / spec.modulus as f64).powi(2);
        let (lwe, glwe) = (relative(params.lwe_error().sigma()), relative(params.glwe_error().sigma()));
        let Weights { short, whole } = weights.unwrap_or_else(|| Weights::heavy(params));
        let (column, rest) = decomposed(params, spec.gadget);
        let automorphism = spec.rank as f64 * column + whole * rest;
        let (blind_rotation, neighbours) = rotation(params, spec.gadget, Weights { short, whole });
        let digits = f64::from(spec.switch_digits);
        // The expected number of digits that are not 0: half of the lowest, a quarter of the next, a third far from the end.
        let key_switch = (digits / 3.0 + 1.0 / 9.0) * lwe + params.second_moment() * (-2.0 * digits).exp2() / 12.0;
        let vector = params.public_coordinates() as f64;
        // Without the weights of a secret, the vector is as heavy as the secret is then.
        let drawn = vector * params.second_moment() + weights.map_or(deviations(params, vector), |_| 0.0);
        // The difference of two uniform numbers of these bits.
        let dropped = match params.public_dropped() {
            0 => 0.0,
            bits => relative(f64::from(bits).exp2()) / 6.0,
        };
        // Odd exponents lie twice as far apart.
        let apart = if spec.method.rotates_by_odd() { 4.0 } else { 1.0 };
        let mask = apart * (short * (1.0 - mean).powi(2) + (n - short) * mean * mean);
        Self {
            fresh: glwe,
            public: (glwe + dropped) * drawn + glwe * (1.0 + whole),
            blind_rotation,
            key_switch: (d - n) * key_switch,
            mod_switch: (mask + 1.0) / 12.0 / (2.0 * degree).powi(2),
            automorphism,
            neighbours,
        }
    }

    /// What a blind rotation with digits of its own gives, as [`Noise::blind_rotation`] and [`Noise::neighbours`] have it for those of the set.
    #[must_use]
    pub fn rotation_with(params: &LweParams, gadget: Gadget, weights: Option<Weights>) -> (f64, f64) {
        rotation(params, gadget, weights.unwrap_or_else(|| Weights::heavy(params)))
    }

    /// What an automorphism of a GLWE sample adds with digits of its own, for a secret of many ones.
    #[must_use]
    pub fn with_digits(params: &LweParams, gadget: Gadget) -> f64 {
        let (column, rest) = decomposed(params, gadget);
        params.spec().rank as f64 * column + Weights::heavy(params).whole * rest
    }

    /// What the external product with a GGSW sample of `1 + X + .. + X^(width - 1)` adds, times any power of X, where rows of the sample are what
    /// rotations left, and the digits are these. What rounding leaves meets a secret and then all powers, whose products with the
    /// mean of the secret add up.
    #[must_use]
    pub fn box_product(&self, params: &LweParams, gadget: Gadget, width: usize) -> f64 {
        let (rank, degree, width) = (params.spec().rank as f64, params.n() as f64, width as f64);
        let (whole, (_, rest)) = (Weights::heavy(params).whole, decomposed(params, gadget));
        let mean = params.mean() * whole / (params.coordinates() as f64 * params.second_moment());
        let digits = (rank + 1.0) * degree * squared_digits(gadget) * self.blind_rotation;
        digits + (rank * degree * (width * mean).powi(2) + width * (whole + 1.0)) * rest
    }

    /// What rounding words to so many bits adds to a phase, those of the mask and that of the body, for a secret of many ones.
    #[must_use]
    pub fn rounding(params: &LweParams, [mask_bits, body_bits]: [u32; 2]) -> f64 {
        let unit = |bits: u32| (-2.0 * f64::from(bits)).exp2() / 12.0;
        Weights::heavy(params).whole * unit(mask_bits) + unit(body_bits)
    }

    /// Of the phase that a bootstrap decides by, for an input of this variance.
    #[must_use]
    pub fn decision(&self, input: f64) -> f64 {
        self.interleaved(input, 0)
    }
    /// As [`Noise::decision`], where one rotation reads `2^log_tables` interleaved tables.
    #[must_use]
    pub fn interleaved(&self, input: f64, log_tables: u32) -> f64 {
        input + self.key_switch + self.mod_switch * 4f64.powi(log_tables as i32)
    }
}

/// The variance that a rotation gives, and how neighbouring coefficients of it correlate.
fn rotation(params: &LweParams, gadget: Gadget, Weights { short, whole }: Weights) -> (f64, f64) {
    let (spec, (column, rest)) = (params.spec(), decomposed(params, gadget));
    let (rank, counts) = (spec.rank as f64, spec.method.counts(spec));
    let (rounded, maps) = (counts.rotated * short + counts.replaced, counts.automorphisms);
    let automorphism = rank * column + whole * rest;
    let all = counts.keys * (rank + 1.0) * column + rounded * (1.0 + whole) * rest + maps * automorphism;
    (all, params.mean() * (rounded + maps) * whole * rest / all)
}

/// What the digits of a column do: against errors, and what rounding leaves of the phase at each secret, and of the body.
fn decomposed(params: &LweParams, gadget: Gadget) -> (f64, f64) {
    let (spec, digits) = (params.spec(), squared_digits(gadget));
    let glwe = (params.glwe_error().sigma() / spec.modulus as f64).powi(2);
    let (levels, base) = (gadget.levels as f64, f64::from(gadget.log_base).exp2());
    let unit = base.powf(-2.0 * levels) / 12.0;
    (params.n() as f64 * digits * glwe, unit + digits / levels * gadget.rounding(spec.modulus))
}

/// The mean of the sum of the squared digits of a uniform number: `B^2/12 + 1/6` each, and more above the lowest, as numbers half way
/// between two rests go to the even one, which makes the digit B/2 of the next more frequent (an upper bound in base 2).
fn squared_digits(gadget: Gadget) -> f64 {
    let base = f64::from(gadget.log_base).exp2();
    let digit =
        |level: usize| base * base / 12.0 + 1.0 / 6.0 + (1.0 - base.powi(-(level as i32))) / (2.0 * (base - 1.0));
    (0..gadget.levels).map(digit).sum()
}

/// log2 of the probability that a normal number of this variance passes a distance, to either side.
#[must_use]
pub fn log2_tail(distance: f64, variance: f64) -> f64 {
    let x = distance / (2.0 * variance).sqrt();
    log2_erfc(x)
}

/// log2 of `erfc(x)` by its continued fraction (Abramowitz and Stegun 7.1.14) for x >= 1; 0 bounds it below.
fn log2_erfc(x: f64) -> f64 {
    if x < 1.0 {
        return 0.0;
    }
    let fraction = (1..=60).rev().fold(x, |below, k| x + f64::from(k) / 2.0 / below);
    (-x * x - (fraction * std::f64::consts::PI.sqrt()).ln()) / std::f64::consts::LN_2
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_are_as_large_as_rounding_to_even_makes_them() {
        for (log_base, levels) in [(2, 10), (3, 6), (4, 5), (8, 2)] {
            let (base, all) = (f64::from(1 << log_base), 1 << (log_base * levels));
            let squares = |y: i64| {
                let below = (1..levels).scan(y as f64, |y, _| {
                    let rest = (*y / base).round_ties_even();
                    Some(std::mem::replace(y, rest) - base * rest).map(|d| (d, *y))
                });
                let (sum, rest) = below.fold((0.0, y as f64), |(sum, _), (d, rest)| (sum + d * d, rest));
                sum + rest * rest
            };
            let mean = (-all / 2..all / 2).map(squares).sum::<f64>() / all as f64;
            let formula = squared_digits(Gadget { levels: levels as usize, log_base });
            assert!((mean / formula - 1.0).abs() < 1e-4, "base {base}: {mean} and {formula}");
        }
    }

    #[test]
    fn tails_are_those_of_the_normal_distribution() {
        // erfc(1), erfc(3), erfc(9), to six digits.
        for (x, erfc) in [(1.0, 0.157_299f64), (3.0, 2.209_05e-5), (9.0, 4.137_03e-37)] {
            assert!((log2_erfc(x) - erfc.log2()).abs() < 1e-4, "erfc({x})");
        }
        assert_eq!(log2_tail(0.1, 1.0), 0.0);
    }
}
