//! Randomness: a ChaCha20 source and the samplers that lattice cryptography needs.
//!
//! Every sampler reads its source in a fixed order, so a 32-byte seed can stand for the data it generates. That order is part
//! of the file format: change it only together with the format's version.

use chacha20::cipher::{KeyIvInit, StreamCipher};
use chacha20::ChaCha20Legacy;
use zeroize::Zeroizing;

/// Something that fills memory with random bytes. Words are little-endian, so a source gives the same numbers everywhere.
pub trait RandomSource {
    /// Overwrites `out` with the next bytes of the source.
    fn fill_bytes(&mut self, out: &mut [u8]);

    /// The next eight bytes as a little-endian number.
    fn next_u64(&mut self) -> u64 {
        let mut bytes = [0; 8];
        self.fill_bytes(&mut bytes);
        u64::from_le_bytes(bytes)
    }
}

/// The key stream of ChaCha20 (Bernstein 2008) with nonce 0 and a 64-bit block counter, which no program exhausts.
///
/// The stream is for secrets only. What becomes public beside them (seeds of uniform halves, names of keys) comes from
/// [`ChaChaSource::public_seed`], which no byte of the stream goes into: even who could learn something of a ChaCha key from
/// its output would see no output.
///
/// The seed and the cipher's state are erased when the source is dropped. Constant time. Not `Clone`: a copy would repeat
/// the stream; use [`ChaChaSource::fork`].
pub struct ChaChaSource {
    seed: Zeroizing<[u8; 32]>,
    stream: ChaCha20Legacy,
    /// Public seeds given so far.
    given: u64,
}

impl ChaChaSource {
    /// A source seeded by the operating system.
    ///
    /// # Errors
    /// The system's error if it has no randomness to give.
    pub fn from_os() -> std::io::Result<Self> {
        let mut seed = Zeroizing::new([0; 32]);
        getrandom::fill(seed.as_mut()).map_err(std::io::Error::from)?;
        Ok(Self::from_seed(*seed))
    }

    /// The source that this seed stands for.
    ///
    /// ```
    /// use aglet_ring::sample::{ChaChaSource, RandomSource};
    /// let mut a = ChaChaSource::from_seed([7; 32]);
    /// let mut b = ChaChaSource::from_seed([7; 32]);
    /// assert_eq!(a.next_u64(), b.next_u64());
    /// ```
    #[must_use]
    pub fn from_seed(seed: [u8; 32]) -> Self {
        let seed = Zeroizing::new(seed);
        let stream = ChaCha20Legacy::new((&*seed).into(), &[0; 8].into());
        ChaChaSource { seed, stream, given: 0 }
    }

    /// An independent source for a purpose, derived from the seed and the label by keyed BLAKE3.
    ///
    /// It depends on neither the position in this stream nor on other forks: the same label gives the same source, different
    /// labels give sources that look independent, and a child's seed may become public without revealing its parent.
    #[must_use]
    pub fn fork(&self, label: &[u8]) -> Self {
        Self::from_seed(self.derive("aglet 2026-11 random source fork v1", label))
    }

    /// The seed of another source, for data that is stored as a seed: it may become public. Each call gives another one, the
    /// n-th depends on the seed of this source only, and the stream stays where it is.
    pub fn public_seed(&mut self) -> [u8; 32] {
        self.given += 1;
        self.derive("aglet 2026-11 random source public seed v1", &self.given.to_le_bytes())
    }

    fn derive(&self, purpose: &str, label: &[u8]) -> [u8; 32] {
        let key = Zeroizing::new(blake3::derive_key(purpose, self.seed.as_ref()));
        *blake3::keyed_hash(&key, label).as_bytes()
    }
}

impl std::fmt::Debug for ChaChaSource {
    /// Shows no seed.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("ChaChaSource")
    }
}

impl RandomSource for ChaChaSource {
    fn fill_bytes(&mut self, out: &mut [u8]) {
        self.stream.write_keystream(out);
    }
}

/// Words drawn at a time: a buffer of 4 KiB stays in the first cache.
const BLOCK: usize = 512;

/// Draws `words.len()` little-endian words.
fn fill_words<S: RandomSource + ?Sized>(source: &mut S, words: &mut [u64]) {
    let mut bytes = Zeroizing::new([0u8; 8 * BLOCK]);
    for block in words.chunks_mut(BLOCK) {
        let bytes = &mut bytes[..8 * block.len()];
        source.fill_bytes(bytes);
        for (word, b) in block.iter_mut().zip(bytes.chunks_exact(8)) {
            *word = u64::from_le_bytes([b[0], b[1], b[2], b[3], b[4], b[5], b[6], b[7]]);
        }
    }
}

/// Fills `out` with independent uniform residues in `[0, q)`, for `2 <= q <= 2^63`.
///
/// Order: the source's 64-bit words one after the other; a word at or above `floor(2^64/q) * q` is skipped, the residue of
/// any other is the next element. Exactly the words that are needed are read. The time depends on skipped words only.
///
/// # Panics
/// If `q` is out of range, which a modulus never is.
pub fn uniform<S: RandomSource + ?Sized>(source: &mut S, q: u64, out: &mut [u64]) {
    assert!((2..=1 << 63).contains(&q), "the modulus {q} is not between 2 and 2^63");
    let ratio = u64::MAX / q;
    let last = u64::MAX - (u64::MAX % q + 1) % q; // floor(2^64/q) * q - 1
    let mut bytes = [0u8; 8 * BLOCK];
    let mut filled = 0;
    while filled < out.len() {
        let rest = &mut out[filled..];
        let wanted = rest.len().min(BLOCK);
        let bytes = &mut bytes[..8 * wanted];
        source.fill_bytes(bytes);
        let mut accepted = 0;
        for b in bytes.chunks_exact(8) {
            let word = u64::from_le_bytes([b[0], b[1], b[2], b[3], b[4], b[5], b[6], b[7]]);
            // The quotient is at most one too small, as word / 2^64 < 1.
            let quotient = (u128::from(word) * u128::from(ratio)) >> 64;
            let residue = word.wrapping_sub((quotient as u64).wrapping_mul(q)); // in [0, 2q)
            rest[accepted] = residue.min(residue.wrapping_sub(q)); // in [0, q)
            accepted += usize::from(word <= last);
        }
        filled += accepted;
    }
}

/// Fills `out` with independent values, each of -1, 0, 1 with probability 1/3.
///
/// Order: the source's bytes one after the other, 255 skipped, `byte mod 3 - 1` otherwise. Constant time in the values.
pub fn ternary<S: RandomSource + ?Sized>(source: &mut S, out: &mut [i8]) {
    let mut bytes = Zeroizing::new([0u8; BLOCK]);
    let mut filled = 0;
    while filled < out.len() {
        let rest = &mut out[filled..];
        let wanted = rest.len().min(BLOCK);
        source.fill_bytes(&mut bytes[..wanted]);
        let mut accepted = 0;
        for &byte in &bytes[..wanted] {
            let quotient = (u16::from(byte) * 171) >> 9; // byte / 3, exact for every byte
            rest[accepted] = (u16::from(byte) - 3 * quotient) as i8 - 1;
            accepted += usize::from(byte != 255);
        }
        filled += accepted;
    }
}

/// Fills `out` with exactly `weight` values of -1 or 1, uniform over all such vectors, and 0 elsewhere.
///
/// Selection sampling (Knuth, TAOCP 2, section 3.4.2, algorithm S): element `i` of `n` is non-zero with probability
/// (non-zeros left)/(n - i), decided by an unbiased number (Lemire 2019), its sign by another word. Constant time: neither
/// branches nor addresses depend on the result.
///
/// # Panics
/// If `weight > out.len()`; parameter sets are checked for it.
pub fn fixed_weight<S: RandomSource + ?Sized>(source: &mut S, weight: usize, out: &mut [i8]) {
    let n = out.len();
    assert!(weight <= n, "a vector of length {n} has no {weight} non-zeros");
    let mut left = weight as u64;
    for (i, value) in out.iter_mut().enumerate() {
        let number = below(source, (n - i) as u64);
        let sign = (source.next_u64() & 1) as i8;
        let chosen = number.wrapping_sub(left) >> 63; // number < left, both far below 2^63
        left -= chosen;
        *value = chosen as i8 * (1 - 2 * sign);
    }
}

/// Cuts `out` into `blocks` blocks of equal length, up to one, and fills each with one value of -1 or 1 at a uniform place, and 0
/// elsewhere.
///
/// Order: for each block an unbiased number for the place, then the lowest bit of a word for the sign. Constant time.
///
/// # Panics
/// If `blocks` is not 1 to `out.len()`; parameter sets are checked for it.
pub fn block_sparse<S: RandomSource + ?Sized>(source: &mut S, blocks: usize, out: &mut [i8]) {
    let n = out.len();
    assert!((1..=n).contains(&blocks), "a vector of length {n} has no {blocks} blocks");
    for k in 0..blocks {
        let block = &mut out[k * n / blocks..(k + 1) * n / blocks];
        let place = below(source, block.len() as u64);
        let sign = 1 - 2 * (source.next_u64() & 1) as i8;
        block.iter_mut().enumerate().for_each(|(i, value)| *value = equal(place, i as u64) as i8 * sign);
    }
}

/// Draws a place in each of as many windows (start and length), uniform over all lists of places that increase strictly.
///
/// Order: an unbiased number for each window; lists that do not increase are drawn again, which is all that the time tells.
///
/// # Panics
/// Unless there is a place for each window.
pub fn increasing<S: RandomSource + ?Sized>(source: &mut S, windows: &[(u64, u64)], places: &mut [u64]) {
    assert_eq!(windows.len(), places.len(), "one place in each window");
    loop {
        for (place, &(start, length)) in places.iter_mut().zip(windows) {
            *place = start + below(source, length);
        }
        // Whether any place is not below the next, without looking which.
        let falls = places.windows(2).fold(0, |falls, pair| falls | (pair[0].wrapping_sub(pair[1]) >> 63 ^ 1));
        if falls == 0 {
            return;
        }
    }
}

/// Fills `out` with -1 or 1, each with probability 1/2.
///
/// Order: the lowest bit of a word for each. Constant time.
pub fn signs<S: RandomSource + ?Sized>(source: &mut S, out: &mut [i8]) {
    out.iter_mut().for_each(|sign| *sign = 1 - 2 * (source.next_u64() & 1) as i8);
}

/// Fills `out` with independent values, each of 0, 1 with probability 1/2.
///
/// Order: the bits of the source's bytes, the lowest first. Constant time.
pub fn binary<S: RandomSource + ?Sized>(source: &mut S, out: &mut [i8]) {
    let mut bytes = Zeroizing::new([0u8; BLOCK]);
    for chunk in out.chunks_mut(8 * BLOCK) {
        let bytes = &mut bytes[..chunk.len().div_ceil(8)];
        source.fill_bytes(bytes);
        chunk.iter_mut().enumerate().for_each(|(i, value)| *value = (bytes[i / 8] >> (i % 8) & 1) as i8);
    }
}

/// Cuts `out` into blocks of `length` (the last may be shorter) and fills each with zeros, or with one 1 at one of its places, all
/// of them and the zero block equally likely.
///
/// Order: an unbiased number for each block. Constant time.
///
/// # Panics
/// If `length` is 0; parameter sets are checked for it.
pub fn block_binary<S: RandomSource + ?Sized>(source: &mut S, length: usize, out: &mut [i8]) {
    for block in out.chunks_mut(length) {
        let place = below(source, block.len() as u64 + 1);
        block.iter_mut().enumerate().for_each(|(i, value)| *value = equal(place, i as u64) as i8);
    }
}

/// 1 if two numbers below 2^63 are equal, otherwise 0; constant time.
fn equal(a: u64, b: u64) -> u64 {
    (a ^ b).wrapping_sub(1) >> 63
}

/// An unbiased number in `[0, bound)`, `bound > 0`: the high half of a product, rejected with probability below bound/2^64.
fn below<S: RandomSource + ?Sized>(source: &mut S, bound: u64) -> u64 {
    loop {
        let product = u128::from(source.next_u64()) * u128::from(bound);
        let low = product as u64;
        if low >= bound || low >= bound.wrapping_neg() % bound {
            return (product >> 64) as u64;
        }
    }
}

/// Standard deviation of [`gaussian`], the one that the security table assumes.
pub const GAUSSIAN_SIGMA: f64 = 3.2;

/// Largest absolute value of [`gaussian`], 9.06 sigma: beyond it lies less than 2^-63 of the distribution.
pub const GAUSSIAN_BOUND: i64 = 29;

/// `CUMULATIVE[k] = floor(2^63 Pr[|X| <= k])` for the discrete Gaussian X over the integers with sigma = 3.2.
/// Computed with 300 bits of precision; a test compares it with floating-point sums.
const CUMULATIVE: [u64; GAUSSIAN_BOUND as usize] = [
    0x0ff5_2b40_64a1_f258,
    0x2e5a_25d4_026f_ff6d,
    0x489a_e268_2e3d_b9bb,
    0x5d2b_c20d_e6f9_5105,
    0x6bc8_694a_862f_cdce,
    0x7532_d898_e9d1_95d9,
    0x7ab3_96c9_80f5_facb,
    0x7d9e_4e8f_6717_ea70,
    0x7f05_4956_150a_592b,
    0x7fa1_ce99_f8db_f691,
    0x7fdf_b3f0_0a8f_3398,
    0x7ff5_e6f7_c97d_68d8,
    0x7ffd_1f95_b372_bd35,
    0x7fff_40f7_f7ae_dc63,
    0x7fff_d2e6_2d05_7ef0,
    0x7fff_f650_3aaa_2874,
    0x7fff_fe1b_ab99_a743,
    0x7fff_ffaa_0140_ce52,
    0x7fff_fff2_1f8a_3a77,
    0x7fff_fffd_f723_01f4,
    0x7fff_ffff_ba9f_d472,
    0x7fff_ffff_f79b_78ce,
    0x7fff_ffff_ff13_f6f9,
    0x7fff_ffff_ffe8_7489,
    0x7fff_ffff_fffd_de23,
    0x7fff_ffff_ffff_d31f,
    0x7fff_ffff_ffff_fca6,
    0x7fff_ffff_ffff_ffc5,
    0x7fff_ffff_ffff_fffc,
];

/// Fills `out` with independent samples of the discrete Gaussian of standard deviation [`GAUSSIAN_SIGMA`] around 0, cut at
/// [`GAUSSIAN_BOUND`].
///
/// One 64-bit word per sample: the lowest bit is the sign, the other 63 are compared with every entry of the cumulative
/// table. Constant time. The distance to the exact distribution is below 2^-58.
pub fn gaussian<S: RandomSource + ?Sized>(source: &mut S, out: &mut [i64]) {
    let mut words = Zeroizing::new([0u64; BLOCK]);
    for block in out.chunks_mut(BLOCK) {
        let words = &mut words[..block.len()];
        fill_words(source, words);
        for (value, &word) in block.iter_mut().zip(words.iter()) {
            let number = word >> 1;
            let mut magnitude = 0;
            for entry in CUMULATIVE {
                magnitude += 1 - (number.wrapping_sub(entry) >> 63); // one more if number >= entry
            }
            let negative = ((word & 1) as i64).wrapping_neg(); // 0 or -1
            *value = (magnitude as i64 ^ negative) - negative;
        }
    }
}

/// The smoothing parameter of the integers for 2^-64, as a standard deviation: sums of Gaussians on lattices that are no finer
/// than this are as good as Gaussians.
const SMOOTHING: f64 = 1.52;

/// The largest standard deviation of [`wide_gaussian`]: values stay below 2^62.
pub const WIDEST: f64 = (1u64 << 55) as f64;

/// Fills `out` with independent samples of a discrete Gaussian around 0 whose standard deviation is at least `deviation`, and
/// returns it: a few percent more where `deviation` is above 1000.
///
/// `x + k y` of two samples of deviation `s` is one of deviation `s sqrt(1 + k^2)`, if that is at most `s^2` over the smoothing
/// parameter (Micciancio and Walter, eprint 2017/259); from [`gaussian`] on, a dozen such steps reach any size. Constant time.
///
/// # Panics
/// If the deviation is not positive or above [`WIDEST`]; callers check it.
pub fn wide_gaussian<S: RandomSource + ?Sized>(source: &mut S, deviation: f64, out: &mut [i64]) -> f64 {
    assert!(deviation > 0.0 && deviation <= WIDEST, "a deviation of {deviation} is out of range");
    let (factors, reached) = wide_factors(deviation);
    combine(source, &factors, out);
    reached
}

/// The factors of each step, from the first one, and the deviation that they reach.
fn wide_factors(deviation: f64) -> (Vec<i64>, f64) {
    // From the last step back: what the samples of a step need at least.
    let mut goals = vec![deviation];
    let mut goal = deviation;
    while goal > 16.0 {
        goal = SMOOTHING + (SMOOTHING * (SMOOTHING + goal)).sqrt();
        goals.push(goal);
    }
    let (mut reached, mut factors) = (GAUSSIAN_SIGMA, Vec::new());
    for goal in goals.into_iter().rev() {
        while reached < goal {
            let most = ((reached / SMOOTHING).powi(2) - 1.0).sqrt().floor();
            let factor = ((goal / reached).powi(2) - 1.0).sqrt().ceil().clamp(1.0, most);
            factors.push(factor as i64);
            reached *= (1.0 + factor * factor).sqrt();
        }
    }
    (factors, reached)
}

fn combine<S: RandomSource + ?Sized>(source: &mut S, factors: &[i64], out: &mut [i64]) {
    let Some((factor, before)) = factors.split_last() else { return gaussian(source, out) };
    combine(source, before, out);
    let mut other = Zeroizing::new(vec![0; out.len()]);
    combine(source, before, &mut other);
    out.iter_mut().zip(other.iter()).for_each(|(x, y)| *x += factor * y);
}

#[cfg(test)]
#[path = "sample_tests.rs"]
mod tests;
