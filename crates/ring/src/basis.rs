//! Base conversion between sets of primes, with centred rounding (Halevi, Polyakov, Shoup, eprint 2018/117).

use crate::arch::Kernels;
use crate::modulus::Modulus;

/// What one source prime q_i needs.
pub(crate) struct Source {
    /// q_i as a double (rounded above 2^53: scalar lanes only, which do not use it).
    pub(crate) double: f64,
    /// 1 / q_i.
    pub(crate) inverse: f64,
}

/// What one target prime needs.
pub(crate) struct Target {
    pub(crate) modulus: Modulus,
    /// `Q/q_i` modulo the prime for every source, then `-Q`, as the kernels shaped them.
    pub(crate) constants: Vec<u64>,
}

/// Conversion from residues modulo the source primes to residues of the centred number modulo the target primes.
///
/// Sources are taken as `y_i = x_i (Q/q_i)^-1 mod q_i`; the factors stand in [`BaseConverter::source_factors`] and are
/// meant to be folded into the inverse transform. The result is exactly the representative in `[-Q/2, Q/2]`, save
/// within `a 2^-52 Q` of the ends, where the neighbour may be taken: still the same number modulo Q.
pub struct BaseConverter {
    kernels: &'static Kernels,
    source_factors: Vec<u64>,
    sources: Vec<Source>,
    /// Whether a target's whole sum of balanced products, and their number, fit a narrow accumulator.
    whole: bool,
    targets: Vec<Target>,
}

impl BaseConverter {
    /// As many primes may be converted from.
    pub const MAX_SOURCES: usize = 32;

    /// Makes the constants for distinct primes; at most [`Self::MAX_SOURCES`] sources. The kernels must serve all of them.
    pub fn new(sources: &[Modulus], targets: &[Modulus], kernels: &'static Kernels) -> Self {
        assert!(!sources.is_empty() && sources.len() <= Self::MAX_SOURCES && !targets.is_empty());
        assert!(sources.iter().chain(targets).all(|m| kernels.serves(m)));
        let others = |i: usize, m: &Modulus| {
            (0..sources.len()).filter(|&j| j != i).fold(1, |p, j| m.mul(p, m.reduce(sources[j].value())))
        };
        // `|sum| <= sum q_i/2 * t/2 + v t/2` must stay below 2^101, and at most sixteen terms below 2^53 / 2^49 (avx2.rs).
        let largest = targets.iter().map(Modulus::value).max().unwrap_or(0);
        let sum: f64 = sources.iter().map(|m| m.value() as f64 * largest as f64 / 4.0).sum();
        let double = |m: &Modulus| m.value() as f64;
        Self {
            kernels,
            source_factors: sources.iter().enumerate().map(|(i, m)| m.inv(others(i, m))).collect(),
            sources: sources.iter().map(|m| Source { double: double(m), inverse: 1.0 / double(m) }).collect(),
            whole: sources.len() < 16 && sum < 2f64.powi(101) * (1.0 - 2f64.powi(-40)),
            targets: targets
                .iter()
                .map(|m| {
                    let mut constants: Vec<u64> = (0..sources.len()).map(|i| others(i, m)).collect();
                    constants.push(m.neg(m.mul(constants[0], m.reduce(sources[0].value()))));
                    kernels.prepare_constants(m, &mut constants);
                    Target { modulus: *m, constants }
                })
                .collect(),
        }
    }

    /// `(Q/q_i)^-1 mod q_i` for every source.
    pub fn source_factors(&self) -> &[u64] {
        &self.source_factors
    }
    /// The kernels that shaped the constants.
    pub(crate) fn kernels(&self) -> &'static Kernels {
        self.kernels
    }
    pub(crate) fn sources(&self) -> &[Source] {
        &self.sources
    }
    pub(crate) fn targets(&self) -> &[Target] {
        &self.targets
    }
    /// Products between two reductions, for lanes whose narrow accumulator takes `guaranteed` of the largest ones.
    pub(crate) fn chunk(&self, guaranteed: usize) -> usize {
        if self.whole {
            self.sources.len() + 1
        } else {
            guaranteed
        }
    }
}
