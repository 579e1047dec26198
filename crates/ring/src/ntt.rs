//! The negacyclic transform modulo one prime, with the kernels that its tables are shaped for.

use crate::arch::Kernels;
use crate::constants::bit_reversed_powers;
use crate::constants::ntt::NttConstants;
use crate::modulus::Modulus;
use crate::Error;
use std::sync::OnceLock;

/// The smallest ring that kernels transform.
const LEAST_LOG_N: u32 = 6;

/// The transform of degree N modulo one prime. The kernels that shaped its multipliers are stored in it, so the two cannot be mixed up.
pub struct NttTable {
    constants: NttConstants,
    /// Those of the smaller rings that kernels transform, from the smallest up, once they are needed.
    subrings: Vec<OnceLock<NttConstants>>,
    kernels: &'static Kernels,
    psi: u64,
    n_inv: u64,
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
        let n_inv = modulus.inv(n as u64);
        let subrings = (LEAST_LOG_N..log_n).map(|_| OnceLock::new()).collect();
        Ok(Self { constants: NttConstants::new(modulus, log_n, psi, kernels.shaper()), subrings, kernels, psi, n_inv })
    }

    /// Coefficients to values, in place; `data` is canonical, N words. Position `i` of the result holds the value
    /// at `psi^(2 brv(i) + 1)`.
    pub fn forward(&self, data: &mut [u64]) {
        assert_eq!(data.len(), self.n(), "a limb has N words");
        self.kernels.ntt_forward(&self.constants, data);
    }

    /// Values to coefficients, in place.
    pub fn inverse(&self, data: &mut [u64]) {
        self.inverse_scaled(data, 1);
    }

    /// Values to coefficients times the canonical constant `factor`, at no extra cost.
    pub fn inverse_scaled(&self, data: &mut [u64], factor: u64) {
        assert_eq!(data.len(), self.n(), "a limb has N words");
        self.kernels.ntt_inverse(&self.constants, None, data, self.modulus().mul(self.n_inv, factor));
    }

    /// As [`NttTable::inverse_scaled`], from one limb to another.
    pub fn inverse_scaled_to(&self, src: &[u64], dst: &mut [u64], factor: u64) {
        assert!(src.len() == self.n() && dst.len() == self.n(), "a limb has N words");
        self.kernels.ntt_inverse(&self.constants, Some(src), dst, self.modulus().mul(self.n_inv, factor));
    }

    /// The transform of a polynomial in `X^(N / len)`, given by its `len` coefficients (a power of two, canonical), in
    /// place: its value at position `i` of a whole limb is entry `i len / N` of the result.
    pub fn forward_subring(&self, data: &mut [u64]) {
        let len = data.len();
        assert!(len.is_power_of_two() && len <= self.n(), "a subring has a power of two of coefficients, at most N");
        if len == self.n() {
            return self.forward(data);
        }
        // A root of order 2 len, so position `j` has the value at `psi^(2 brv(j) + 1)`, where brv is that of `len`.
        let root = || self.modulus().pow(self.psi, (self.n() / len) as u64);
        let log_len = len.trailing_zeros();
        if let Some(place) = log_len.checked_sub(LEAST_LOG_N) {
            let make = || NttConstants::new(*self.modulus(), log_len, root(), self.kernels.shaper());
            return self.kernels.ntt_forward(self.subrings[place as usize].get_or_init(make), data);
        }
        let m = self.modulus();
        let powers = bit_reversed_powers(m, root(), log_len);
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
        self.modulus().pow(self.psi, self.n() as u64 / 2)
    }

    /// The kernels that shaped it.
    pub(crate) fn kernels(&self) -> &'static Kernels {
        self.kernels
    }
    /// The modulus.
    pub fn modulus(&self) -> &Modulus {
        self.constants.modulus()
    }

    /// The degree N.
    pub fn n(&self) -> usize {
        self.constants.n()
    }

    /// The 2N-th root of unity whose powers the tables hold.
    pub fn psi(&self) -> u64 {
        self.psi
    }
}

/// N, if there are transforms of it.
fn degree(log_n: u32) -> Result<usize, Error> {
    match log_n {
        LEAST_LOG_N..=17 => Ok(1 << log_n),
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

#[cfg(test)]
#[path = "tests/ntt.rs"]
mod tests;
