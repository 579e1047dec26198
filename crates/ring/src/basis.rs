//! Base conversion between sets of primes, with centred rounding (Halevi, Polyakov, Shoup, eprint 2018/117).

use crate::arch::Kernels;
use crate::modulus::Modulus;
use std::ptr;

/// As many primes may be converted from.
pub const MAX_SOURCES: usize = 32;

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
pub(crate) struct BaseConverter {
    source_factors: Vec<u64>,
    parts: Vec<ConverterPart>,
}

/// The targets that the same kernels serve. Those that serve all sources too take part of a conversion of their own, after
/// the others, as they bring the rows into a form that others do not read.
pub(crate) struct ConverterPart {
    kernels: &'static Kernels,
    sources: Vec<Source>,
    /// Whether a target's whole sum of balanced products, and their number, fit a narrow accumulator.
    whole: bool,
    /// Which targets of the conversion these are.
    places: Vec<usize>,
    targets: Vec<Target>,
}

impl BaseConverter {
    /// Makes the constants for distinct primes; at most [`MAX_SOURCES`] sources. Every target has the given kernels if
    /// they serve it and all sources, else scalar ones.
    pub(crate) fn new(sources: &[Modulus], targets: &[Modulus], kernels: &'static Kernels) -> Self {
        assert!(!sources.is_empty() && sources.len() <= MAX_SOURCES && !targets.is_empty());
        let kernels = sources.iter().map(|m| kernels.for_modulus(m)).find(|&k| !ptr::eq(k, kernels)).unwrap_or(kernels);
        let (own, wide): (Vec<usize>, Vec<usize>) = (0..targets.len()).partition(|&t| kernels.serves(&targets[t]));
        let wide_kernels = wide.first().map_or(kernels, |&t| kernels.for_modulus(&targets[t]));
        // Scalar kernels leave the rows as they are, so they come first.
        let parts = [(wide, wide_kernels), (own, kernels)].into_iter().filter(|(places, _)| !places.is_empty());
        Self {
            source_factors: (0..sources.len()).map(|i| sources[i].inv(others(sources, i, &sources[i]))).collect(),
            parts: parts.map(|(places, kernels)| ConverterPart::new(sources, targets, places, kernels)).collect(),
        }
    }

    /// `(Q/q_i)^-1 mod q_i` for every source.
    pub(crate) fn source_factors(&self) -> &[u64] {
        &self.source_factors
    }
    /// The parts, in the order in which they are to be done.
    pub(crate) fn parts(&self) -> &[ConverterPart] {
        &self.parts
    }
}

/// The product of all sources but one modulo `m`.
fn others(sources: &[Modulus], i: usize, m: &Modulus) -> u64 {
    (0..sources.len()).filter(|&j| j != i).fold(1, |p, j| m.mul(p, m.reduce(sources[j].value())))
}

impl ConverterPart {
    /// The part for the targets at `places`; the kernels must serve them and all sources.
    fn new(sources: &[Modulus], targets: &[Modulus], places: Vec<usize>, kernels: &'static Kernels) -> Self {
        let own = places.iter().map(|&t| &targets[t]);
        assert!(sources.iter().chain(own.clone()).all(|m| kernels.serves(m)));
        // `|sum| <= sum q_i/2 * t/2 + v t/2` must stay below 2^101, and at most sixteen terms below 2^53 / 2^49 (doubles.rs).
        let largest = own.clone().map(Modulus::value).max().unwrap_or(0);
        let sum: f64 = sources.iter().map(|m| m.value() as f64 * largest as f64 / 4.0).sum();
        let source = |m: &Modulus| Source { double: m.value() as f64, inverse: 1.0 / m.value() as f64 };
        let target = |m: &Modulus| {
            let mut constants: Vec<u64> = (0..sources.len()).map(|i| others(sources, i, m)).collect();
            constants.push(m.neg(m.mul(constants[0], m.reduce(sources[0].value()))));
            kernels.prepare_constants(m, &mut constants);
            Target { modulus: *m, constants }
        };
        Self {
            kernels,
            sources: sources.iter().map(source).collect(),
            whole: sources.len() < 16 && sum < 2f64.powi(101) * (1.0 - 2f64.powi(-40)),
            targets: own.map(target).collect(),
            places,
        }
    }

    /// The kernels that shaped the constants.
    pub(crate) fn kernels(&self) -> &'static Kernels {
        self.kernels
    }
    pub(crate) fn places(&self) -> &[usize] {
        &self.places
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
