//! The key of the switch of LWE ciphertexts before their rotation, on a card.

use crate::launcher::{Block, Device};
use crate::Error;
use aglet_ring::LweSwitch;

/// Degree of the key switch, as `GROUP` of the kernels.
pub(crate) const GROUP: usize = 64;

/// The key of the switch before a rotation, on a card.
pub(crate) struct KeySwitch {
    pub(crate) key: Block,
    pub(crate) coordinates: usize,
    pub(crate) dimension: usize,
    pub(crate) digits: u32,
    pub(crate) columns: usize,
    pub(crate) mean: f64,
    pub(crate) signed: bool,
}

impl KeySwitch {
    /// Whether its sums fit signed words, and the quotients of its digits words.
    pub(crate) fn serves(switch: &LweSwitch<'_>) -> bool {
        let (bits, shape) = (switch.table.modulus().bits(), switch.key.shape());
        let terms = usize::BITS - (shape.levels * GROUP).leading_zeros();
        switch.table.n() == GROUP && bits + switch.digits < u64::BITS && bits + terms < u64::BITS
    }

    /// Puts it there, as coefficients.
    pub(crate) fn new(card: &Device, switch: &LweSwitch<'_>) -> Result<Self, Error> {
        let &LweSwitch { table, key, coordinates, dimension, digits, mean, signed } = switch;
        let shape = key.shape();
        let mut words = vec![0; shape.levels * shape.columns * GROUP];
        let mut values = [0; GROUP];
        for (at, coefficients) in words.chunks_exact_mut(GROUP).enumerate() {
            key.read(table, [0, 0, 0, at / shape.columns], at % shape.columns, &mut values);
            table.inverse_add(&mut values, coefficients);
        }
        Ok(Self { key: card.upload(&words)?, coordinates, dimension, digits, columns: shape.columns, mean, signed })
    }
}
