//! Constants that kernels read, shaped for one instruction set: data alone, below the kernels. The tables that call kernels stand above
//! both (`ntt.rs`, `small.rs`, `basis.rs`).

pub(crate) mod basis;
pub(crate) mod ntt;
pub(crate) mod small;

use crate::modulus::Modulus;
use crate::reversal::reversed;

/// How an instruction set wants its constants. Each has one, so that constants and kernels are known to fit by its address.
pub(crate) struct Shaper {
    pub(crate) width: usize,
    pub(crate) max_bits: u32,
    pub(crate) prepare: fn(&Modulus, u64) -> [u64; 2],
    pub(crate) prepare_constant: fn(&Modulus, u64) -> u64,
    pub(crate) pack_constant: fn(&Modulus, u64) -> u64,
    /// Whether differences of powers of X in small tables are times 1/N, see `Lanes::SCALES`.
    pub(crate) scales: bool,
}

impl Shaper {
    /// Whether the kernels serve this modulus.
    pub(crate) fn serves(&self, m: &Modulus) -> bool {
        m.bits() <= self.max_bits
    }
    pub(crate) fn prepare(&self, m: &Modulus, w: u64) -> [u64; 2] {
        (self.prepare)(m, w)
    }
    /// Shapes canonical constants, in place.
    pub(crate) fn prepare_constants(&self, m: &Modulus, constants: &mut [u64]) {
        constants.iter_mut().for_each(|c| *c = (self.prepare_constant)(m, *c));
    }
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
