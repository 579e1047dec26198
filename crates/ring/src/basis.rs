//! Base conversion between sets of primes, with centred rounding (Halevi, Polyakov, Shoup, eprint 2018/117).

use crate::arch::Kernels;
pub use crate::constants::basis::others;
use crate::constants::basis::ConverterConstants;
use crate::modulus::Modulus;
use std::ptr;

/// As many primes may be converted from.
pub const MAX_SOURCES: usize = 32;

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
    /// Which targets of the conversion these are.
    places: Vec<usize>,
    constants: ConverterConstants,
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

impl ConverterPart {
    /// The part for the targets at `places`; the kernels must serve them and all sources.
    fn new(sources: &[Modulus], targets: &[Modulus], places: Vec<usize>, kernels: &'static Kernels) -> Self {
        let own: Vec<Modulus> = places.iter().map(|&t| targets[t]).collect();
        Self { constants: ConverterConstants::new(sources, &own, kernels.shaper()), kernels, places }
    }

    #[cfg(test)]
    pub(crate) fn kernels(&self) -> &'static Kernels {
        self.kernels
    }
    pub(crate) fn places(&self) -> &[usize] {
        &self.places
    }
    /// First half of a conversion: the rows take working form, `v` gets the multiples of Q.
    pub(crate) fn balance(&self, rows: &mut [&mut [u64]], v: &mut [u64]) {
        self.kernels.balance(&self.constants, rows, v);
    }
    /// Second half, to the targets from `first` on; `rows` as the first half left them, then `v`.
    pub(crate) fn convert(&self, first: usize, rows: &[&[u64]], dst: &mut [&mut [u64]]) {
        self.kernels.convert(&self.constants, first, rows, dst);
    }
}
