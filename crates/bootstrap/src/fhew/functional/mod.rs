//! Programmable (functional) bootstrapping: functions of encrypted bits and integers by blind rotations. There are
//! gates, LUTs on one and several messages, signs, and floors and digits of unsigned integers.
//!
//! Each function is a few batches of rotations with sums between them. A [`Rotate`] decides how a batch runs.

mod compare;
mod gates;
mod nearest;
mod tables;
mod tree;
mod tree_plan;
mod unsigned;

pub use compare::{compare, equal, sign, sign_of_messages, Order};
pub use gates::{gate, mux};
pub use nearest::nearest;
pub use tables::{lookup, Way};
pub use tree::{lookup_planned, lookup_tree};
pub use tree_plan::TreePlan;
pub use unsigned::{digits, floor};

use crate::{Error, FhewBootstrapKey};
use aglet_rlwe::lwe::{BlindRotationKey, GlweSample, LweCiphertext, LweContext};
use aglet_rlwe::KeyId;

/// Runs batches of rotations: on the calling thread ([`OneThread`]), or on all threads of an engine.
pub trait Rotate: Sync {
    /// Parameters and tables.
    fn context(&self) -> &LweContext;

    /// The secret key that the rotations are of.
    fn id(&self) -> KeyId;

    /// [`FhewBootstrapKey::rotate_tables`], and what `then` makes of each result. There may be several starts for each ciphertext.
    ///
    /// # Errors
    /// Those of the rotations and of `then`; [`Error::Cancelled`].
    fn rotate<T: Send>(
        &self,
        cts: &[LweCiphertext],
        starts: &[GlweSample],
        log_tables: u32,
        then: impl Fn(GlweSample) -> Result<T, Error> + Sync,
    ) -> Result<Vec<T>, Error>;

    /// These coefficients of each result of [`Rotate::rotate`] as ciphertexts, a list for each ([`GlweSample::extract`]).
    ///
    /// # Errors
    /// Those of [`Rotate::rotate`].
    fn extract(
        &self,
        cts: &[LweCiphertext],
        starts: &[GlweSample],
        log_tables: u32,
        at: &[usize],
    ) -> Result<Vec<Vec<LweCiphertext>>, Error> {
        let ctx = self.context();
        self.rotate(cts, starts, log_tables, |sample| Ok(at.iter().map(|&at| sample.extract(ctx, at)).collect()))
    }

    /// [`FhewBootstrapKey::choose`], and what `then` makes of each result.
    ///
    /// # Errors
    /// As [`Rotate::rotate`].
    fn choose<T: Send>(
        &self,
        choices: &BlindRotationKey,
        cts: &[LweCiphertext],
        starts: &[GlweSample],
        then: impl Fn(GlweSample) -> Result<T, Error> + Sync,
    ) -> Result<Vec<T>, Error>;

    /// These coefficients of each result of [`Rotate::choose`] as ciphertexts, a list for each.
    ///
    /// # Errors
    /// As there.
    fn choose_some(
        &self,
        choices: &BlindRotationKey,
        cts: &[LweCiphertext],
        starts: &[GlweSample],
        at: &[usize],
    ) -> Result<Vec<Vec<LweCiphertext>>, Error> {
        let ctx = self.context();
        self.choose(choices, cts, starts, |sample| Ok(at.iter().map(|&at| sample.extract(ctx, at)).collect()))
    }

    /// What `work` makes of each item, in their order.
    ///
    /// # Errors
    /// Those of `work`; [`Error::Cancelled`].
    fn each<T: Sync, U: Send>(
        &self,
        items: &[T],
        work: impl Fn(&T) -> Result<U, Error> + Sync,
    ) -> Result<Vec<U>, Error>;
}

/// Runs rotations on the calling thread.
pub struct OneThread<'a> {
    /// Parameters and tables.
    pub ctx: &'a LweContext,
    /// The key.
    pub key: &'a FhewBootstrapKey,
}

impl Rotate for OneThread<'_> {
    fn context(&self) -> &LweContext {
        self.ctx
    }

    fn id(&self) -> KeyId {
        self.key.id()
    }

    fn rotate<T: Send>(
        &self,
        cts: &[LweCiphertext],
        starts: &[GlweSample],
        log_tables: u32,
        then: impl Fn(GlweSample) -> Result<T, Error> + Sync,
    ) -> Result<Vec<T>, Error> {
        self.key.rotate_tables(self.ctx, cts, starts, log_tables)?.into_iter().map(then).collect()
    }

    fn choose<T: Send>(
        &self,
        choices: &BlindRotationKey,
        cts: &[LweCiphertext],
        starts: &[GlweSample],
        then: impl Fn(GlweSample) -> Result<T, Error> + Sync,
    ) -> Result<Vec<T>, Error> {
        self.key.choose(self.ctx, (choices, None), cts, starts)?.into_iter().map(then).collect()
    }

    fn each<T: Sync, U: Send>(
        &self,
        items: &[T],
        work: impl Fn(&T) -> Result<U, Error> + Sync,
    ) -> Result<Vec<U>, Error> {
        items.iter().map(work).collect()
    }
}

/// Ciphertexts that have starts of their own at a time: each start is a few times as large as a ciphertext.
const TOGETHER: usize = 64;

/// Evaluates one table on each phase.
///
/// # Errors
/// Those of [`Rotate::rotate`]; a table without exactly N entries.
pub fn bootstrap(run: &impl Rotate, cts: &[LweCiphertext], table: &[u64]) -> Result<Vec<LweCiphertext>, Error> {
    let start = GlweSample::trivial(run.context(), table, run.id())?;
    Ok(run.extract(cts, &[start], 0, &[0])?.concat())
}

/// What each of several tables says of each phase, a list for each table: one batch of rotations, every table of `2^log_tables` in one
/// rotation or, for 0, in one of its own.
fn bootstrap_several(
    run: &impl Rotate,
    cts: &[LweCiphertext],
    tables: &[Vec<u64>],
    log_tables: u32,
) -> Result<Vec<Vec<LweCiphertext>>, Error> {
    let ctx = run.context();
    let trivial = |table: &[u64]| GlweSample::trivial(ctx, table, run.id());
    if log_tables > 0 {
        let start = trivial(&aglet_schemes::fhew::interleave(tables, log_tables))?;
        let entries: Vec<usize> = (0..tables.len()).collect();
        return Ok(columns(run.extract(cts, &[start], log_tables, &entries)?, tables.len()));
    }
    if let [table] = tables {
        return Ok(vec![bootstrap(run, cts, table)?]);
    }
    let starts = tables.iter().map(|t| trivial(t)).collect::<Result<Vec<_>, _>>()?;
    let mut rows = Vec::with_capacity(cts.len());
    for some in cts.chunks(TOGETHER) {
        let own: Vec<_> = some.iter().flat_map(|_| starts.iter().cloned()).collect();
        let out = run.extract(some, &own, 0, &[0])?.concat();
        rows.extend(out.chunks(tables.len()).map(<[_]>::to_vec));
    }
    Ok(columns(rows, tables.len()))
}

/// Rows of `count` each as columns.
fn columns(rows: Vec<Vec<LweCiphertext>>, count: usize) -> Vec<Vec<LweCiphertext>> {
    let mut columns: Vec<Vec<LweCiphertext>> = (0..count).map(|_| Vec::with_capacity(rows.len())).collect();
    for row in rows {
        row.into_iter().zip(&mut columns).for_each(|(ct, column)| column.push(ct));
    }
    columns
}

/// The largest variance of several inputs, 0 of none: what fails most often.
fn worst(cts: &[LweCiphertext]) -> f64 {
    cts.iter().map(LweCiphertext::variance).fold(0.0, f64::max)
}

/// Refuses what would fail too often.
fn permit(gate: &'static str, log2: f64, allowed: f64) -> Result<(), Error> {
    match log2 <= allowed {
        true => Ok(()),
        false => Err(aglet_schemes::Error::Failure { gate, log2, allowed }.into()),
    }
}
