//! Base conversion between sets of primes, with centred rounding (Halevi, Polyakov, Shoup, eprint 2018/117).

use crate::modulus::Modulus;

/// What one target prime needs.
pub struct Target {
    /// The target prime.
    pub(crate) modulus: Modulus,
    /// `Q/q_i` modulo the prime for every source, then `-Q`.
    pub(crate) constants: Vec<u64>,
}

/// Conversion from residues modulo the source primes to residues of the centred number modulo the target primes.
///
/// Sources are taken as `y_i = x_i (Q/q_i)^-1 mod q_i`; the factors stand in [`BaseConverter::source_factors`] and are
/// meant to be folded into the inverse transform. The result is exactly the representative in `[-Q/2, Q/2]`, save
/// within `a 2^-52 Q` of the ends, where the neighbour may be taken: still the same number modulo Q.
pub struct BaseConverter {
    source_factors: Vec<u64>,
    source_inverses: Vec<f64>,
    targets: Vec<Target>,
}

impl BaseConverter {
    /// Makes the constants for distinct primes; at most 32 sources.
    pub fn new(sources: &[Modulus], targets: &[Modulus]) -> Self {
        assert!(!sources.is_empty() && sources.len() <= 32 && !targets.is_empty());
        let others = |i: usize, m: &Modulus| {
            (0..sources.len()).filter(|&j| j != i).fold(1, |p, j| m.mul(p, m.reduce(sources[j].value())))
        };
        Self {
            source_factors: sources.iter().enumerate().map(|(i, m)| m.inv(others(i, m))).collect(),
            source_inverses: sources.iter().map(|m| 1.0 / m.value() as f64).collect(),
            targets: targets
                .iter()
                .map(|m| {
                    let mut constants: Vec<u64> = (0..sources.len()).map(|i| others(i, m)).collect();
                    constants.push(m.neg(m.mul(constants[0], m.reduce(sources[0].value()))));
                    Target { modulus: *m, constants }
                })
                .collect(),
        }
    }

    /// `(Q/q_i)^-1 mod q_i` for every source.
    pub fn source_factors(&self) -> &[u64] {
        &self.source_factors
    }
    pub(crate) fn source_inverses(&self) -> &[f64] {
        &self.source_inverses
    }
    pub(crate) fn targets(&self) -> &[Target] {
        &self.targets
    }
}
