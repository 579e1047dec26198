//! Tables of the negacyclic transform modulo one prime, shaped for the kernel that will read them.

use crate::arch::Kernels;
use crate::modulus::Modulus;
use crate::reversal::reversed;
use crate::Error;

/// Multipliers of the transform of degree N modulo one prime (Longa and Naehrig, eprint 2016/504, with the blocking
/// of `arch/generic/ntt.rs`). The kernel that shaped the table is stored in it, so the two cannot be mixed up.
pub struct NttTable {
    modulus: Modulus,
    kernels: &'static Kernels,
    log_n: u32,
    psi: u64,
    n_inv: u64,
    last_inverse: u64,
    forward: Tables,
    inverse: Tables,
}

/// One step of the transform, four stages or fewer in the first.
pub(crate) struct Pass {
    pub(crate) stages: usize,
    /// For every block, those of its first stage (one), of its second (two), and so on.
    pub(crate) table: Vec<[u64; 2]>,
}

/// The multipliers of one direction, in the order of use.
pub(crate) struct Tables {
    /// From the whole down to blocks of the last step.
    steps: Vec<Pass>,
    /// The last step, for every group of as many blocks as there are lanes.
    last: Vec<[u64; 2]>,
    /// Powers of the twists of all lanes, first words and second words.
    twist: [Vec<u64>; 2],
}

impl NttTable {
    /// Makes the tables. Errors: [`Error::NoRootOfUnity`] unless q = 1 mod 2N, [`Error::BadDegree`].
    pub fn new(modulus: Modulus, log_n: u32, kernels: &'static Kernels) -> Result<Self, Error> {
        let n = degree(log_n)?;
        let psi = primitive_root(&modulus, n).ok_or(Error::NoRootOfUnity { q: modulus.value(), n })?;
        Self::with_root(modulus, log_n, psi, kernels)
    }

    /// Makes the tables for a root of order 2N. The modulus need not be prime: modulo the square of a prime p, the lift `psi^p` of a root
    /// modulo p does.
    ///
    /// # Errors
    /// [`Error::NoRootOfUnity`] unless `psi^N` is -1, [`Error::BadDegree`].
    pub fn with_root(modulus: Modulus, log_n: u32, psi: u64, kernels: &'static Kernels) -> Result<Self, Error> {
        let n = degree(log_n)?;
        if modulus.pow(psi, n as u64) != modulus.value() - 1 {
            return Err(Error::NoRootOfUnity { q: modulus.value(), n });
        }
        let tables = |root: u64| {
            let powers = bit_reversed_powers(&modulus, root, log_n);
            (Tables::new(&modulus, kernels, &powers, log_n), powers[1])
        };
        // The inverse transform multiplies by the inverses of the same powers: the inverse of psi^brv(i) is the power
        // table of psi^-1.
        let ((forward, _), (inverse, last_inverse)) = (tables(psi), tables(modulus.inv(psi)));
        let n_inv = modulus.inv(n as u64);
        Ok(Self { modulus, kernels, log_n, psi, n_inv, last_inverse, forward, inverse })
    }

    /// Coefficients to values, in place; `data` is canonical, N words. Position `i` of the result holds the value
    /// at `psi^(2 brv(i) + 1)`.
    pub fn forward(&self, data: &mut [u64]) {
        assert_eq!(data.len(), self.n(), "a limb has N words");
        self.kernels.ntt_forward(self, data);
    }

    /// Values to coefficients, in place.
    pub fn inverse(&self, data: &mut [u64]) {
        self.inverse_scaled(data, 1);
    }

    /// Values to coefficients times the canonical constant `factor`, at no extra cost.
    pub fn inverse_scaled(&self, data: &mut [u64], factor: u64) {
        assert_eq!(data.len(), self.n(), "a limb has N words");
        self.kernels.ntt_inverse(self, None, data, self.modulus.mul(self.n_inv, factor));
    }

    /// As [`NttTable::inverse_scaled`], from one limb to another.
    pub fn inverse_scaled_to(&self, src: &[u64], dst: &mut [u64], factor: u64) {
        assert!(src.len() == self.n() && dst.len() == self.n(), "a limb has N words");
        self.kernels.ntt_inverse(self, Some(src), dst, self.modulus.mul(self.n_inv, factor));
    }

    /// The transform of a polynomial in `X^(N / len)`, given by its `len` coefficients (a power of two, canonical), in
    /// place: its value at position `i` of a whole limb is entry `i len / N` of the result.
    pub fn forward_subring(&self, data: &mut [u64]) {
        let len = data.len();
        assert!(len.is_power_of_two() && len <= self.n(), "a subring has a power of two of coefficients, at most N");
        if len == self.n() {
            return self.forward(data);
        }
        let m = &self.modulus;
        let powers = bit_reversed_powers(m, m.pow(self.psi, (self.n() / len) as u64), len.trailing_zeros());
        let (mut blocks, mut h) = (1, len / 2);
        while h > 0 {
            for (b, block) in data.chunks_exact_mut(2 * h).enumerate() {
                let (w, (xs, ys)) = (powers[blocks + b], block.split_at_mut(h));
                for (x, y) in xs.iter_mut().zip(ys) {
                    let t = m.mul(*y, w);
                    (*x, *y) = (m.add(*x, t), m.sub(*x, t));
                }
            }
            (blocks, h) = (2 * blocks, h / 2);
        }
    }

    /// The square root of -1 that `X^(N/2)` takes at the first half of all positions; the second half has its negative.
    pub fn imaginary_unit(&self) -> u64 {
        self.modulus.pow(self.psi, self.n() as u64 / 2)
    }

    /// The kernels that shaped it.
    pub(crate) fn kernels(&self) -> &'static Kernels {
        self.kernels
    }
    /// The modulus.
    pub fn modulus(&self) -> &Modulus {
        &self.modulus
    }

    /// The degree N.
    pub fn n(&self) -> usize {
        1 << self.log_n
    }

    /// The 2N-th root of unity whose powers the tables hold.
    pub fn psi(&self) -> u64 {
        self.psi
    }

    pub(crate) fn last_inverse(&self) -> u64 {
        self.last_inverse
    }
    /// Stages of the last step, which rearranges lanes.
    pub(crate) fn last_stages(&self) -> usize {
        last_stages(self.log_n) as usize
    }
    /// Words that the steps before the last one leave to it at a time: a block of the step before.
    pub(crate) fn chunk(&self) -> usize {
        1 << (self.last_stages() + self.forward.steps.last().map_or(0, |s| s.stages))
    }
    pub(crate) fn forward_tables(&self) -> &Tables {
        &self.forward
    }
    pub(crate) fn inverse_tables(&self) -> &Tables {
        &self.inverse
    }
}

/// Stages of the last step. Eight blocks must fit the transform.
fn last_stages(log_n: u32) -> u32 {
    if log_n == 6 {
        3
    } else {
        4
    }
}

/// Stages of the next step of a transform that has `left` before its last one, on blocks of `2^log_words` words. Four where
/// all blocks fit the first cache; above, sixteen streams lie a multiple of its eight ways apart and would evict each other.
fn step_stages(log_words: u32, left: u32) -> u32 {
    match log_words.saturating_sub(12).min(left) {
        0 if left.is_multiple_of(4) => 4,
        0 => left % 4,
        above @ 1..=3 => above,
        above => above.div_ceil(2),
    }
}

impl Tables {
    /// Lays out the powers `root^brv(i)`; block `b` of stage `s` multiplies by number `2^s + b`.
    fn new(m: &Modulus, kernels: &'static Kernels, powers: &[u64], log_n: u32) -> Self {
        let last = last_stages(log_n);
        let prepare = |i: usize| kernels.prepare(m, powers[i]);
        // `stages` stages from block `b` of stage `done` on.
        let block = |done: u32, stages: u32, b: usize| {
            (0..stages).flat_map(move |t| (0..1usize << t).map(move |u| (((1 << done) + b) << t) + u)).map(prepare)
        };
        let (mut steps, mut done) = (Vec::new(), 0);
        while done < log_n - last {
            let left = log_n - last - done;
            let stages = step_stages(log_n - done, left);
            let table = (0..1 << done).flat_map(|b| block(done, stages, b)).collect();
            steps.push(Pass { stages: stages as usize, table });
            done += stages;
        }
        let width = kernels.width();
        let groups = (0..1usize << done).step_by(width);
        let groups = groups.flat_map(|b| block(done, last, b)).collect();
        // The twist of a lane is root^(brv(lane) 2^(log N - log width - last + 1)).
        let mut twist = [Vec::new(), Vec::new()];
        let root = powers[1 << (log_n - 1)];
        for i in 0..1u64 << last {
            for lane in 0..width {
                let turn = reversed(lane, width) as u64;
                let s = m.pow(root, turn << (log_n + 1 - width.trailing_zeros() - last));
                let pair = kernels.prepare(m, m.pow(s, i));
                twist.iter_mut().zip(pair).for_each(|(words, word)| words.push(word));
            }
        }
        Self { steps, last: groups, twist }
    }
    pub(crate) fn steps(&self) -> &[Pass] {
        &self.steps
    }
    pub(crate) fn last(&self) -> &[[u64; 2]] {
        &self.last
    }
    /// A vector for every word of a block of the last step, main words and second words.
    pub(crate) fn twist(&self) -> (*const u64, *const u64) {
        (self.twist[0].as_ptr(), self.twist[1].as_ptr())
    }
}

/// N, if there are transforms of it.
fn degree(log_n: u32) -> Result<usize, Error> {
    match log_n {
        6..=17 => Ok(1 << log_n),
        _ => Err(Error::BadDegree { log_n }),
    }
}

/// A primitive 2N-th root of unity, the power of the smallest non-residue that gives one.
pub(crate) fn primitive_root(m: &Modulus, n: usize) -> Option<u64> {
    let (q, order) = (m.value(), 2 * n as u64);
    if (q - 1) % order != 0 {
        return None;
    }
    (2..q).map(|g| m.pow(g, (q - 1) / order)).find(|&r| m.pow(r, n as u64) == q - 1)
}

/// `root^brv(i)` for `i < 2^log_n`.
pub(crate) fn bit_reversed_powers(m: &Modulus, root: u64, log_n: u32) -> Vec<u64> {
    let mut table = vec![0; 1 << log_n];
    let mut power = 1;
    for i in 0..table.len() {
        table[reversed(i, 1 << log_n)] = power;
        power = m.mul(power, root);
    }
    table
}

#[cfg(test)]
#[path = "tests/ntt.rs"]
mod tests;
