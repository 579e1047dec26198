//! What the kernels of a base conversion read.

use super::Shaper;
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

/// What the kernels of one instruction set need for the targets that they serve.
pub(crate) struct ConverterConstants {
    shaper: &'static Shaper,
    sources: Vec<Source>,
    /// Whether a target's whole sum of balanced products, and their number, fit a narrow accumulator.
    whole: bool,
    targets: Vec<Target>,
}

/// The product of all sources but one modulo `m`.
pub fn others(sources: &[Modulus], i: usize, m: &Modulus) -> u64 {
    (0..sources.len()).filter(|&j| j != i).fold(1, |p, j| m.mul(p, m.reduce(sources[j].value())))
}

impl ConverterConstants {
    /// The kernels must serve all sources and targets.
    pub(crate) fn new(sources: &[Modulus], targets: &[Modulus], shaper: &'static Shaper) -> Self {
        assert!(sources.iter().chain(targets).all(|m| shaper.serves(m)));
        // `|sum| <= sum q_i/2 * t/2 + v t/2` must stay below 2^101, and at most sixteen terms below 2^53 / 2^49 (doubles.rs).
        let largest = targets.iter().map(Modulus::value).max().unwrap_or(0);
        let sum: f64 = sources.iter().map(|m| m.value() as f64 * largest as f64 / 4.0).sum();
        let source = |m: &Modulus| Source { double: m.value() as f64, inverse: 1.0 / m.value() as f64 };
        let target = |m: &Modulus| {
            let mut constants: Vec<u64> = (0..sources.len()).map(|i| others(sources, i, m)).collect();
            constants.push(m.neg(m.mul(constants[0], m.reduce(sources[0].value()))));
            shaper.prepare_constants(m, &mut constants);
            Target { modulus: *m, constants }
        };
        Self {
            shaper,
            sources: sources.iter().map(source).collect(),
            whole: sources.len() < 16 && sum < 2f64.powi(101) * (1.0 - 2f64.powi(-40)),
            targets: targets.iter().map(target).collect(),
        }
    }

    /// What they were shaped by.
    pub(crate) fn shaper(&self) -> &'static Shaper {
        self.shaper
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
