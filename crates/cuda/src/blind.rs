//! Blind rotations by blocks of a secret, many accumulators at a time: all blocks of `aglet_ring::blind::blind_block`.

use crate::device::side_by_side;
use crate::key_switch::{KeySwitch, GROUP};
use crate::launcher::{Block, Device};
use crate::{Arithmetic, Error};
use aglet_ring::blind::Gadget;
use aglet_ring::ntt::NttTable;
use aglet_ring::packed::{KeyShape, PackedKey};
use aglet_ring::small::SmallTable;
use aglet_ring::{arch, LweSwitch, Modulus};

/// Degrees (as log2), columns and levels of the kernels.
const SHAPES: [(u32, usize, usize); 5] = [(9, 4, 1), (10, 2, 1), (10, 3, 1), (11, 2, 1), (11, 2, 2)];
/// Words of a column that a thread holds.
const EACH: usize = 16;
/// Monomials in a row of their table: those whose exponents differ by multiples of N/16.
const IN_A_ROW: usize = 2 * EACH;

/// The key of a blind rotation on a device, with all that its kernel reads.
pub struct BlindKey {
    card: Device,
    modulus: Modulus,
    arithmetic: Arithmetic,
    shape: KeyShape,
    gadget: Gadget,
    log_n: u32,
    key: Block,
    forward: Block,
    inverse: Block,
    monomials: Block,
    switch: Option<KeySwitch>,
}

impl BlindKey {
    /// Whether a kernel has this shape: those of the parameter sets of block-binary, binary and ternary secrets.
    #[must_use]
    pub fn serves(table: &SmallTable, key: &PackedKey, gadget: Gadget) -> bool {
        let shape = key.shape();
        let square = shape.rows == shape.columns && shape.levels == gadget.levels;
        square && Self::has(table.log_n(), shape.columns, gadget.levels)
    }
    /// Whether a kernel has the degree 2^`log_n`, so many polynomials of an accumulator, and digits of a coefficient.
    #[must_use]
    pub fn has(log_n: u32, columns: usize, levels: usize) -> bool {
        SHAPES.contains(&(log_n, columns, levels))
    }

    /// Bytes on a card of a key of this shape with that of the switch before it: where doubles compute, or for larger primes words.
    #[must_use]
    pub fn forecast(table: &SmallTable, rotation: KeyShape, switch: KeyShape) -> usize {
        let tables = 4 * table.n() * Arithmetic::F50.multiplier_words(table.modulus());
        8 * (rotation.polynomials() * table.n() + tables + switch.polynomials() * GROUP)
    }

    /// Puts a key on a card.
    ///
    /// # Errors
    /// [`Error::Rotation`] for a shape that no kernel [serves](BlindKey::serves); [`Error::Memory`].
    pub fn new(
        card: &Device,
        table: &SmallTable,
        key: &PackedKey,
        gadget: Gadget,
        wanted: Arithmetic,
    ) -> Result<Self, Error> {
        let (shape, log_n, modulus) = (key.shape(), table.log_n(), *table.modulus());
        if !Self::serves(table, key, gadget) {
            return Err(Error::Rotation { log_n, columns: shape.columns, levels: gadget.levels });
        }
        let arithmetic = wanted.for_modulus(&modulus);
        let multipliers = |list: &[u64]| {
            card.upload(&list.iter().flat_map(|&w| arithmetic.multiplier(&modulus, w)).collect::<Vec<_>>())
        };
        let powers = |root: u64, count: usize| -> Vec<u64> {
            std::iter::successors(Some(1), |&power| Some(modulus.mul(power, root))).take(count).collect()
        };
        let reversed = |root: u64| {
            let mut powers = powers(root, table.n());
            // The last of three steps takes a third of the stages, rounded up.
            side_by_side(&mut powers, log_n - 2 * log_n / 3);
            multipliers(&powers)
        };
        let (one_less, rows) = (powers(table.psi(), 2 * table.n()), table.n() / EACH);
        let one_less: Vec<u64> =
            (0..2 * table.n()).map(|at| modulus.sub(one_less[at / IN_A_ROW + at % IN_A_ROW * rows], 1)).collect();
        Ok(Self {
            forward: reversed(table.psi())?,
            inverse: reversed(modulus.inv(table.psi()))?,
            monomials: multipliers(&one_less)?,
            key: card.upload(&key_numbers(table, key, arithmetic)?)?,
            card: card.clone(),
            switch: None,
            modulus,
            arithmetic,
            shape,
            gadget,
            log_n,
        })
    }

    /// The same with the key of the switch before it, for whole bootstraps.
    pub(crate) fn with_switch(self, switch: &LweSwitch<'_>) -> Result<Self, Error> {
        Ok(Self { switch: Some(KeySwitch::new(&self.card, switch)?), ..self })
    }
    pub(crate) fn switch(&self) -> Option<&KeySwitch> {
        self.switch.as_ref()
    }
    pub(crate) fn card(&self) -> &Device {
        &self.card
    }
    pub(crate) fn modulus(&self) -> &Modulus {
        &self.modulus
    }
    pub(crate) fn n(&self) -> usize {
        1 << self.log_n
    }
    pub(crate) fn columns(&self) -> usize {
        self.shape.columns
    }

    /// For every accumulator `acc += sum_j (X^(e_j) - 1) acc x key_j`, block after block. Exponents are one below 2N for each key of
    /// each block; accumulators have canonical coefficients, N words for each column.
    ///
    /// # Errors
    /// [`Error::Memory`], [`Error::Kernel`].
    ///
    /// # Panics
    /// If there are not as many exponents, or words.
    pub fn rotate(&self, exponents: &[&[u16]], accumulators: &mut [&mut [u64]]) -> Result<(), Error> {
        let KeyShape { blocks, keys, columns, .. } = self.shape;
        let n = self.n();
        assert!(exponents.len() == accumulators.len() && exponents.iter().all(|e| e.len() == blocks * keys));
        assert!(accumulators.iter().all(|acc| acc.len() == columns * n), "an accumulator has N words for each column");
        assert!(exponents.iter().all(|e| e.iter().all(|&e| usize::from(e) < 2 * n)), "exponents are below 2N");
        if accumulators.is_empty() {
            return Ok(());
        }
        let words: Vec<u64> = accumulators.iter().flat_map(|acc| acc.iter().copied()).collect();
        let there = self.card.upload(&words)?;
        let exponents =
            self.card.upload(&exponents.iter().flat_map(|e| e.iter().map(|&e| e.into())).collect::<Vec<_>>())?;
        self.turn(&there, &exponents, (accumulators.len(), 1))?;
        self.card.read(accumulators.iter_mut().enumerate().map(|(k, acc)| there.row(k * columns * n, acc)).collect())
    }

    /// Turns so many accumulators, as many for each list of exponents.
    pub(crate) fn turn(&self, there: &Block, exponents: &Block, (count, each): (usize, usize)) -> Result<(), Error> {
        let KeyShape { blocks, keys, columns, .. } = self.shape;
        let (n, m) = (self.n(), &self.modulus);
        let (base, levels) = (f64::from(self.gadget.log_base).exp2(), self.gadget.levels);
        let prime = self.arithmetic.prime(m);
        let mut parameters = vec![there.address(0), exponents.address(0), self.key.address(0), self.forward.address(0)];
        parameters.extend(&prime);
        parameters.push(self.inverse.address(0));
        parameters.extend(&prime);
        parameters.extend([self.monomials.address(0), blocks as u64, keys as u64, each as u64]);
        let q = m.value() as f64;
        parameters.extend([q, base.powi(levels as i32) / q, base].map(f64::to_bits));
        parameters.extend(self.arithmetic.multiplier(m, m.inv(n as u64)));
        let kernel = format!("blind_{}_{columns}_{levels}_{}", self.log_n, self.arithmetic.name());
        let shared_words = columns * (n + n / 16) + columns * levels * n;
        let threads = (columns * n / EACH) as u32;
        self.card.launch(&kernel, [count as u32, 1, 1], (threads, 8 * shared_words as u32), &parameters)
    }
}

/// The values of a key in their order, as the kernels take numbers.
fn key_numbers(table: &SmallTable, key: &PackedKey, arithmetic: Arithmetic) -> Result<Vec<u64>, Error> {
    let (shape, n, m) = (key.shape(), table.n(), table.modulus());
    // The small table has an order of its own; coefficients have none.
    let ordered = NttTable::new(*m, table.log_n(), arch::chosen()?)?;
    let mut numbers = Vec::with_capacity(shape.polynomials() * n);
    let mut values = vec![0; n];
    for block in 0..shape.blocks {
        for (j, row) in (0..shape.keys).flat_map(|j| (0..shape.rows).map(move |row| (j, row))) {
            for (level, column) in (0..shape.levels).flat_map(|l| (0..shape.columns).map(move |c| (l, c))) {
                key.read(table, [block, j, row, level], column, &mut values);
                let mut coefficients = vec![0; n];
                table.inverse_add(&mut values, &mut coefficients);
                ordered.forward(&mut coefficients);
                numbers.extend(coefficients.iter().map(|&x| arithmetic.number(m, x)));
            }
        }
    }
    Ok(numbers)
}
