//! Slotwise arithmetic for circuits: integers as residues modulo t, and rows that are rotated and mapped.

use super::{Encoder, IntegerCiphertext, IntegerEvaluator};
use crate::evaluator::{Evaluator, Sum};
use crate::linear_map::LinearMap;
use crate::Error;
use std::ops::Deref;

/// An [`IntegerEvaluator`] with the encoder of its messages. Its slots are those of a row, and both rows are treated
/// alike.
#[derive(Clone, Copy)]
pub struct SlotEvaluator<'a> {
    evaluator: IntegerEvaluator<'a>,
    encoder: &'a Encoder,
    done: &'a (dyn Fn() + Sync),
}

/// The diagonals of a linear map on rows, each with its rotation, encoded, and how large it is at the roots.
pub struct RowMap {
    level: usize,
    diagonals: Vec<(isize, Vec<i64>, f64)>,
}

impl<'a> Deref for SlotEvaluator<'a> {
    type Target = IntegerEvaluator<'a>;
    fn deref(&self) -> &IntegerEvaluator<'a> {
        &self.evaluator
    }
}

impl<'a> SlotEvaluator<'a> {
    /// For messages of an encoder.
    pub fn new(evaluator: IntegerEvaluator<'a>, encoder: &'a Encoder) -> Self {
        Self { evaluator, encoder, done: &|| () }
    }
    /// The same, which calls `done` after each relinearization.
    #[must_use]
    pub fn watched_by(self, done: &'a (dyn Fn() + Sync)) -> Self {
        Self { done, ..self }
    }
}

impl Evaluator for SlotEvaluator<'_> {
    type Scalar = i64;
    type Ciphertext = IntegerCiphertext;
    type Transform = RowMap;

    fn slots(&self) -> usize {
        self.encoder.count() / 2
    }
    fn level(&self, ct: &IntegerCiphertext) -> usize {
        ct.level()
    }
    fn level_down(&self, a: &IntegerCiphertext, level: usize) -> Result<IntegerCiphertext, Error> {
        self.evaluator.level_down(a, level)
    }
    fn add(&self, a: &IntegerCiphertext, b: &IntegerCiphertext) -> Result<IntegerCiphertext, Error> {
        self.evaluator.add(a, b)
    }
    fn sub(&self, a: &IntegerCiphertext, b: &IntegerCiphertext) -> Result<IntegerCiphertext, Error> {
        self.evaluator.sub(a, b)
    }
    fn negate(&self, a: &IntegerCiphertext) -> Result<IntegerCiphertext, Error> {
        self.evaluator.negate(a)
    }
    fn mul(&self, a: &IntegerCiphertext, b: &IntegerCiphertext) -> Result<IntegerCiphertext, Error> {
        let product = self.evaluator.mul(a, b)?;
        (self.done)();
        Ok(product)
    }
    /// One level, which takes the noise of the multiple with it.
    fn mul_scalar(&self, a: &IntegerCiphertext, c: i64) -> Result<IntegerCiphertext, Error> {
        self.sum_of_products(&[], &[(c, a)])
    }
    fn add_scalar(&self, a: &IntegerCiphertext, c: i64) -> Result<IntegerCiphertext, Error> {
        self.add_number(a, c)
    }
    fn form(
        &self,
        products: &[(&IntegerCiphertext, &IntegerCiphertext)],
        terms: &[(i64, &IntegerCiphertext)],
        constant: i64,
    ) -> Result<IntegerCiphertext, Error> {
        let sum = self.sum_of_products(products, terms)?;
        if !products.is_empty() {
            (self.done)();
        }
        self.add_number(&sum, constant)
    }
    fn sums(&self, sums: &[Sum<'_, IntegerCiphertext, i64>]) -> Result<Vec<IntegerCiphertext>, Error> {
        let terms: Vec<_> = sums.iter().map(|sum| &sum.terms[..]).collect();
        let found = self.sums_of_terms(&terms)?;
        found.iter().zip(sums).map(|(found, sum)| self.add_number(found, sum.constant)).collect()
    }
    fn rotate(&self, a: &IntegerCiphertext, by: isize) -> Result<IntegerCiphertext, Error> {
        self.rotate_rows(a, by.rem_euclid(self.slots() as isize))
    }
    fn encode_map(&self, map: &LinearMap<i64>, level: usize) -> Result<RowMap, Error> {
        let slots = self.slots();
        if map.slots() != slots {
            return Err(Error::SlotMismatch { expected: slots, found: map.slots() });
        }
        let encoded = map.diagonals().iter().map(|(&by, diagonal)| {
            let rows: Vec<i64> = diagonal.iter().copied().cycle().take(2 * slots).collect();
            let diagonal = self.encoder.encode(&rows)?;
            let largest = self.encoder.largest_value(&diagonal);
            Ok((by as isize, diagonal, largest))
        });
        Ok(RowMap { level, diagonals: encoded.collect::<Result<_, Error>>()? })
    }
    fn transform(&self, ct: &IntegerCiphertext, map: &RowMap) -> Result<IntegerCiphertext, Error> {
        let ct = self.level_down(ct, map.level)?;
        if map.diagonals.is_empty() {
            return Err(Error::zero_map(self.slots()));
        }
        let rotated = map.diagonals.iter().map(|(by, ..)| self.rotate(&ct, *by)).collect::<Result<Vec<_>, _>>()?;
        let terms = rotated.iter().zip(&map.diagonals);
        self.weighted_sum(
            &terms.map(|(ct, (_, diagonal, largest))| (ct, (&diagonal[..], *largest))).collect::<Vec<_>>(),
        )
    }
}
