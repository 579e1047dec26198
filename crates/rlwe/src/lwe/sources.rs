//! Which noises a ciphertext is a sum of, so that what depends is added as dependent.
//!
//! A blind rotation is deterministic: its noise is a polynomial that its input (the exponents of the mask) and its start say, the test
//! polynomial as the body rotates it. Starts that are rotations or the negative of one another leave nearly rotations of one noise, but for digits
//! half way between two, whose rounding knows a sign. So a noise has four names: its input, its test polynomial up to sign, the rotation, and
//! the coefficient. Only what has all of them in common is the same noise for certain.

use super::LweContext;
use std::sync::Arc;

/// A noise that a ciphertext has a multiple of: that of an encryption, or a coefficient of that of a rotation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NoiseSource {
    /// What it is made of; then its pattern (32 bits), its rotation and its coefficient (16 bits each). Coefficients of one pattern are nearly
    /// independent, one coefficient of several rotations and patterns of one input may depend in any way, inputs do not.
    pub name: [u64; 2],
    /// How often it is in the sum; [`NoiseSource::LOST`] from half of Q on, where a multiple is no longer what it looks like modulo Q.
    pub weight: i64,
    /// Its variance over Q squared, by the formulas.
    pub variance: f64,
}

impl NoiseSource {
    /// The weight of a noise that nothing is known of any more: nothing brings it back but a factor of 0.
    pub const LOST: i64 = i64::MAX;

    /// One of these parts. `place` is its rotation and its coefficient.
    #[must_use]
    pub fn new(input: u64, pattern: u64, place: [usize; 2], weight: i64, variance: f64) -> Self {
        let [rotation, coefficient] = place.map(|part| part as u64 & 0xffff);
        Self { name: [input, pattern << 32 | rotation << 16 | coefficient], weight, variance }
    }

    fn pattern(&self) -> u64 {
        self.name[1] >> 32
    }
    fn rotation(&self) -> u64 {
        self.name[1] >> 16
    }
    fn coefficient(&self) -> f64 {
        (self.name[1] & 0xffff) as f64
    }
    fn deviation(&self) -> f64 {
        self.weight as f64 * self.variance.sqrt()
    }
}

/// The input of what is no longer told apart: it may depend on all else.
pub(super) const ANYTHING: u64 = u64::MAX;

/// The noises of a ciphertext, by their names in order, and the variance of their sum. Cloning shares them.
#[derive(Clone, Debug)]
pub struct Sources {
    all: Arc<[NoiseSource]>,
    variance: f64,
}

impl Sources {
    /// Most of them that are told apart; a sum of more counts them as dependent on all else.
    pub const MOST: usize = 1 << 14;

    /// From noises in any order; those of one name become one.
    #[must_use]
    pub fn new(ctx: &LweContext, mut all: Vec<NoiseSource>) -> Self {
        // Runs that are in order already, as those of sums, are merged in linear time.
        all.sort_by_key(|source| source.name);
        all.dedup_by(|later, first| {
            let same = later.name == first.name;
            if same {
                first.weight = match [first.weight, later.weight] {
                    [x, y] if x != NoiseSource::LOST && y != NoiseSource::LOST => {
                        known(ctx, i128::from(x) + i128::from(y))
                    }
                    _ => NoiseSource::LOST,
                };
                first.variance = first.variance.max(later.variance);
            }
            same
        });
        all.retain(|source| source.weight != 0);
        let neighbours = ctx.noise().neighbours;
        let variance = variance(&all, neighbours, ctx.params().n());
        if all.len() > Self::MOST && variance.is_finite() {
            let parts = all.iter().flat_map(|s| [s.name[0], s.name[1], s.weight as u64]);
            all = vec![NoiseSource::new(ANYTHING, digest(parts), [0, 0], 1, variance)];
        }
        Self { all: all.into(), variance }
    }
    /// One noise.
    #[must_use]
    pub fn one(source: NoiseSource) -> Self {
        Self { all: [source].into(), variance: (source.weight as f64).powi(2) * source.variance }
    }
    /// None at all.
    #[must_use]
    pub fn none() -> Self {
        Self { all: [].into(), variance: 0.0 }
    }

    /// The noises.
    #[must_use]
    pub fn all(&self) -> &[NoiseSource] {
        &self.all
    }
    /// The variance of the sum over Q squared.
    #[must_use]
    pub fn variance(&self) -> f64 {
        self.variance
    }

    /// The noises of as often this ciphertext.
    pub(super) fn times<'a>(&'a self, ctx: &'a LweContext, weight: i64) -> impl Iterator<Item = NoiseSource> + 'a {
        let product = move |w: i64| match w {
            NoiseSource::LOST if weight != 0 => NoiseSource::LOST,
            w => known(ctx, i128::from(w) * i128::from(weight)),
        };
        self.all.iter().map(move |s| NoiseSource { weight: product(s.weight), ..*s })
    }
}

/// A weight, if it is below half of Q.
fn known(ctx: &LweContext, weight: i128) -> i64 {
    let within = weight.unsigned_abs() <= u128::from(ctx.modulus().value() / 2);
    i64::try_from(weight).ok().filter(|_| within).unwrap_or(NoiseSource::LOST)
}

/// The variance of each part of a sum of noises that is of one input, in the order of their names.
pub(super) fn by_input<'a>(ctx: &'a LweContext, all: &'a [NoiseSource]) -> impl Iterator<Item = (u64, f64)> + 'a {
    let (neighbours, degree) = (ctx.noise().neighbours, ctx.params().n());
    let inputs = all.chunk_by(|x, y| x.name[0] == y.name[0]);
    inputs.map(move |one| (one[0].name[0], variance(one, neighbours, degree)))
}

/// The variance of a sum of noises, in the order of their names. `neighbours` is how neighbouring coefficients of a rotation correlate.
fn variance(all: &[NoiseSource], neighbours: f64, degree: usize) -> f64 {
    if all.iter().any(|source| source.weight == NoiseSource::LOST) {
        return f64::INFINITY;
    }
    let (mut independent, mut dependent) = (0.0, 0.0);
    for input in all.chunk_by(|x, y| x.name[0] == y.name[0]) {
        let patterns = input.chunk_by(|x, y| x.pattern() == y.pattern());
        let mut patterns = patterns.map(|one| of_pattern(one, neighbours, degree));
        let first = patterns.next().unwrap_or(0.0);
        let variance = match patterns.next() {
            None => first,
            Some(second) => patterns.fold(first.sqrt() + second.sqrt(), |sum, x| sum + x.sqrt()).powi(2),
        };
        let is_anything = input[0].name[0] == ANYTHING;
        *(if is_anything { &mut dependent } else { &mut independent }) += variance;
    }
    if dependent == 0.0 {
        return independent;
    }
    (f64::sqrt(dependent) + f64::sqrt(independent)).powi(2)
}

/// The variance of a sum of coefficients of one noise. Rounding meets the secret, whose coordinates have a mean: so coefficients i and
/// j correlate by `neighbours (1 - 2 |i - j| / N)`, and pairs cost no more time than single ones as distances add up. What weights of two
/// signs take off is not counted on.
fn of_pattern(all: &[NoiseSource], neighbours: f64, degree: usize) -> f64 {
    if all[0].rotation() != all[all.len() - 1].rotation() {
        return of_rotations(all, neighbours, degree);
    }
    let squares: f64 = all.iter().map(|s| (s.weight as f64).powi(2) * s.variance).sum();
    let (mut before, mut moments, mut pairs) = (0.0, 0.0, 0.0);
    for source in all {
        let (x, at) = (source.deviation(), source.coefficient());
        pairs += x * (before - 2.0 * (at * before - moments) / degree as f64);
        before += x;
        moments += x * at;
    }
    squares + 2.0 * neighbours * f64::max(pairs, 0.0)
}

/// Coefficients whose pairs are looked at one by one; of more, all count as neighbours.
const PAIRS: usize = 64;

/// The same of several rotations: a coefficient adds up with its size, as signs of rotations say nothing for certain.
fn of_rotations(all: &[NoiseSource], neighbours: f64, degree: usize) -> f64 {
    let mut sizes: Vec<(f64, f64)> = all.iter().map(|s| (s.coefficient(), s.deviation().abs())).collect();
    sizes.sort_by(|x, y| x.0.total_cmp(&y.0));
    sizes.dedup_by(|later, first| {
        let same = later.0 == first.0;
        first.1 += if same { later.1 } else { 0.0 };
        same
    });
    let squares: f64 = sizes.iter().map(|x| x.1 * x.1).sum();
    let pairs: f64 = if sizes.len() <= PAIRS {
        let correlation = |x: f64, y: f64| (1.0 - 2.0 * (y - x).abs() / degree as f64).abs();
        let pair = |x: &(f64, f64), y: &(f64, f64)| x.1 * y.1 * correlation(x.0, y.0);
        sizes.iter().enumerate().map(|(i, x)| sizes[i + 1..].iter().map(|y| pair(x, y)).sum::<f64>()).sum()
    } else {
        (sizes.iter().map(|x| x.1).sum::<f64>().powi(2) - squares) / 2.0
    };
    squares + 2.0 * neighbours * pairs
}

/// A name for words: those that differ have different ones but with a chance of 2^-64. It is no secret, and no defence against anybody.
pub(super) fn digest(words: impl Iterator<Item = u64>) -> u64 {
    words.fold(0x9E37_79B9_7F4A_7C15, |state: u64, word| {
        let mixed = (state ^ word).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        (mixed ^ mixed >> 31).wrapping_mul(0x94D0_49BB_1331_11EB).rotate_left(27)
    })
}
