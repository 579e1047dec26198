//! Tables of the negacyclic transform modulo one prime, shaped for the kernel that will read them.

use crate::arch::Kernels;
use crate::modulus::Modulus;
use crate::Error;

/// Multipliers of the transform of degree N modulo one prime (Longa and Naehrig, eprint 2016/504, with the blocking
/// of `arch/generic/ntt.rs`). The kernel that shaped the table is stored in it, so the two cannot be mixed up.
pub struct NttTable {
    modulus: Modulus,
    kernels: &'static Kernels,
    log_n: u32,
    log_r: u32,
    psi: u64,
    n_inv: u64,
    last_inverse: u64,
    column_forward: Vec<[u64; 2]>,
    column_inverse: Vec<[u64; 2]>,
    row_forward: [Vec<u64>; 2],
    row_inverse: [Vec<u64>; 2],
}

impl NttTable {
    /// Makes the tables. Errors: [`Error::NoRootOfUnity`] unless q = 1 mod 2N, [`Error::BadDegree`].
    pub fn new(modulus: Modulus, log_n: u32, kernels: &'static Kernels) -> Result<Self, Error> {
        if !(6..=17).contains(&log_n) {
            return Err(Error::BadDegree { log_n });
        }
        let n = 1usize << log_n;
        let psi = primitive_root(&modulus, n).ok_or(Error::NoRootOfUnity { q: modulus.value(), n })?;
        let log_r = log_n.div_ceil(2);
        let (rows, columns) = (1usize << log_r, n >> log_r);
        let forward = bit_reversed_powers(&modulus, psi, log_n);
        let inverse = bit_reversed_powers(&modulus, modulus.inv(psi), log_n);
        let prepare = |w: &u64| kernels.prepare(&modulus, *w);
        // The inverse transform multiplies by the inverses of the same powers: the inverse of psi^brv(i) is the
        // power table of psi^-1.
        let width = kernels.width();
        let layout = |table: &[u64], order: &[Step]| {
            let mut out = [Vec::with_capacity(n), Vec::new()];
            for row in (0..rows).step_by(width) {
                for step in order {
                    for j in 0..1usize << step.stage {
                        for &(stage, index) in step.twiddles(j).iter() {
                            for r in row..row + width {
                                let pair = prepare(&table[((rows + r) << stage) + index]);
                                out[0].push(pair[0]);
                                if kernels.paired() {
                                    out[1].push(pair[1]);
                                }
                            }
                        }
                    }
                }
            }
            out
        };
        let mut order = Step::order(columns.trailing_zeros());
        let row_forward = layout(&forward, &order);
        order.reverse();
        let row_inverse = layout(&inverse, &order);
        Ok(Self {
            modulus,
            kernels,
            log_n,
            log_r,
            psi,
            n_inv: modulus.inv(n as u64),
            last_inverse: inverse[1],
            column_forward: forward[..rows].iter().map(prepare).collect(),
            column_inverse: inverse[..rows].iter().map(prepare).collect(),
            row_forward,
            row_inverse,
        })
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

    pub(crate) fn rows(&self) -> usize {
        1 << self.log_r
    }
    pub(crate) fn columns(&self) -> usize {
        self.n() >> self.log_r
    }
    pub(crate) fn last_inverse(&self) -> u64 {
        self.last_inverse
    }
    pub(crate) fn column_forward(&self) -> &[[u64; 2]] {
        &self.column_forward
    }
    pub(crate) fn column_inverse(&self) -> &[[u64; 2]] {
        &self.column_inverse
    }
    /// Main and second words of the multipliers of a row; kernels that take no second words get the main ones twice.
    fn row(&self, table: &[Vec<u64>; 2], row: usize) -> (*const u64, *const u64) {
        let at = row * (self.columns() - 1);
        let main = table[0][at..].as_ptr();
        (main, table[1].get(at..).filter(|t| !t.is_empty()).map_or(main, <[u64]>::as_ptr))
    }
    pub(crate) fn row_forward(&self, row: usize) -> (*const u64, *const u64) {
        self.row(&self.row_forward, row)
    }
    pub(crate) fn row_inverse(&self, row: usize) -> (*const u64, *const u64) {
        self.row(&self.row_inverse, row)
    }
}

/// One step of a row transform: radix 2 (`log_radix` 1) or 4 (2), starting at `stage`.
struct Step {
    stage: u32,
    log_radix: u32,
}

impl Step {
    /// The steps of the forward transform: radix 2 first where the number of stages is odd.
    fn order(stages: u32) -> Vec<Self> {
        let first = (stages % 2 == 1).then_some(Self { stage: 0, log_radix: 1 });
        let rest = (stages % 2..stages).step_by(2).map(|stage| Self { stage, log_radix: 2 });
        first.into_iter().chain(rest).collect()
    }

    /// (stage, index) of the multipliers of block `j`, in the order of use.
    fn twiddles(&self, j: usize) -> Vec<(u32, usize)> {
        let mut all = vec![(self.stage, j)];
        if self.log_radix == 2 {
            all.extend([(self.stage + 1, 2 * j), (self.stage + 1, 2 * j + 1)]);
        }
        all
    }
}

/// A primitive 2N-th root of unity, the power of the smallest non-residue that gives one.
fn primitive_root(m: &Modulus, n: usize) -> Option<u64> {
    let (q, order) = (m.value(), 2 * n as u64);
    if (q - 1) % order != 0 {
        return None;
    }
    (2..q).map(|g| m.pow(g, (q - 1) / order)).find(|&r| m.pow(r, n as u64) == q - 1)
}

/// `root^brv(i)` for `i < 2^log_n`.
fn bit_reversed_powers(m: &Modulus, root: u64, log_n: u32) -> Vec<u64> {
    let mut table = vec![0; 1 << log_n];
    let mut power = 1;
    for i in 0..table.len() {
        table[i.reverse_bits() >> (usize::BITS - log_n)] = power;
        power = m.mul(power, root);
    }
    table
}

#[cfg(test)]
#[path = "tests/ntt.rs"]
mod tests;
