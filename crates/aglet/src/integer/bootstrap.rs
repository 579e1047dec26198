//! Bootstraps of integers: the key and the run, also for messages that come from scheme switching.

use super::{Ciphertext, Engine, IntegerParams};
use crate::bootstrap_keys::{self, List};
use crate::runtime::{machine, Cache, Pass, StageRun, Watch};
use crate::{Control, Error, LevelError, MemoryError, NoiseError, SecretKey};
use aglet_bootstrap::integer::{BootstrapCircuit, Exact, Refresh, INPUT_LEVEL};
use aglet_bootstrap::{KeyNeed, Pipeline};
use aglet_circuits::Rounding;
use aglet_ring::process::Lock;
use aglet_rlwe::{Context, KeySet, Sample};
use aglet_schemes::integer::prime_power::{PrimePowerCiphertext, PrimePowerCiphertextEvaluator, PrimePowerMap};
use aglet_schemes::integer::{Ciphertext as Integers, Noise};
use std::sync::Arc;

/// Rounding errors that the noise of an input may be as large as: what slots_to_coeffs leaves of it is below one.
const INPUT_NOISE: f64 = 8.0;
/// Rounding errors that the noise of a result is as large as at most: that of the last division, and the last product below it.
const OUTPUT_NOISE: f64 = 2.0;
/// The same of messages that came up: their last division is by the primes of fewer levels, and may leave more of the sum below it.
const RAISED_NOISE: f64 = 4.0;
/// Kinds of messages whose stages an engine keeps.
const RAISINGS: usize = 4;

/// The key of bootstraps of integers, relinearization included.
pub type BootstrapKey = bootstrap_keys::BootstrapKey<()>;

/// Bytes of a bootstrap, known before it exists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Forecast {
    /// Of its key.
    pub key: u64,
    /// Of the encoded linear maps, which an engine keeps.
    pub maps: u64,
}

/// What an engine keeps between bootstraps.
#[derive(Default)]
pub(super) struct State {
    circuit: Cache<(), BootstrapCircuit, 1>,
    prepared: Cache<(), Prepared, 1>,
    raisings: Cache<Messages, Raising, RAISINGS>,
    ran: Lock<Vec<StageRun>>,
}

/// Repacked messages: their number, how many the torus has room for, and the bound of their errors.
pub(crate) type Messages = (u64, u64, u64);
/// The stages of such messages.
type Raising = Pipeline<Refresh, PrimePowerMap>;

/// A circuit with its context and encoded maps.
struct Prepared {
    circuit: Arc<BootstrapCircuit>,
    ctx: Arc<Context>,
    pipeline: Pipeline<Refresh, PrimePowerMap>,
    /// Its beginning, with the maps that it has encoded.
    lowering: Pipeline<Refresh, PrimePowerMap>,
}

impl Engine {
    /// Whether its parameters have a bootstrap.
    #[must_use]
    pub fn can_bootstrap(&self) -> bool {
        self.params().bootstrap().is_ok() && self.check_subring().is_ok()
    }

    /// Where there are fewer slots than coefficients, a bootstrap keeps the polynomials that slots are, and no others.
    fn check_subring(&self) -> Result<(), Error> {
        match self.params().sparse_n() == self.params().n() {
            true => Ok(()),
            false => self.check_slots(),
        }
    }

    /// The level after a bootstrap.
    ///
    /// # Errors
    /// Parameters without a bootstrap.
    pub fn bootstrap_output_level(&self) -> Result<usize, Error> {
        Ok(self.circuit()?.plan.output().level)
    }

    /// The stages of a bootstrap and the keys that they need, laid out once.
    fn circuit(&self) -> Result<Arc<BootstrapCircuit>, Error> {
        self.check_subring()?;
        self.bootstrap.circuit.get((), || self.run(|| Ok(BootstrapCircuit::new(self.params())?)))
    }

    /// The memory of a bootstrap.
    ///
    /// # Errors
    /// Parameters without a bootstrap.
    pub fn bootstrap_forecast(&self) -> Result<Forecast, Error> {
        let circuit = self.circuit()?;
        let key: usize = circuit.keys()?.iter().map(|(_, spec)| spec.byte_count(self.params().n())).sum();
        Ok(Forecast { key: key as u64, maps: circuit.encoded_bytes()? as u64 })
    }

    /// Makes a bootstrap key. First compares its forecast memory with `memory_limit` bytes and with the free memory.
    ///
    /// # Errors
    /// Parameters without a bootstrap; [`Error::Memory`] before anything is allocated; [`Error::Cancelled`].
    pub fn create_bootstrap_key(
        &self,
        sk: &SecretKey,
        memory_limit: Option<u64>,
        control: &Control,
    ) -> Result<BootstrapKey, Error> {
        let circuit = self.circuit()?;
        let Forecast { key, maps } = self.bootstrap_forecast()?;
        let available = [memory_limit, machine::memory_available()].into_iter().flatten().min();
        if let Some(available) = available.filter(|&available| key + maps > available) {
            return Err(MemoryError::IntegerBootstrap { needed: key + maps, available }.into());
        }
        let ctx = self.ctx.subset(circuit.params.prime_indices())?;
        let parts = circuit.keys()?.iter().map(|(role, spec)| KeyNeed { role, spec: spec.clone() }).collect();
        let list = List { parts, more: 0 };
        let keys = bootstrap_keys::create((&self.runtime, &ctx), sk, list, control, &*circuit)?;
        Ok(BootstrapKey { id: sk.id(), request: (), params: circuit.params.clone(), keys, packed: None })
    }

    fn prepared(&self) -> Result<Arc<Prepared>, Error> {
        self.bootstrap.prepared.get((), || {
            let circuit = self.circuit()?;
            self.run(|| {
                let ctx = self.ctx.subset(circuit.params.prime_indices())?;
                let none = KeySet::new();
                let e = PrimePowerCiphertextEvaluator::new(&ctx, &none);
                let pipeline = Pipeline::new(&e, circuit.plan.clone())?;
                let lowering = Pipeline::sharing(&e, circuit.lowering()?, &[&pipeline])?;
                Ok(Prepared { circuit, ctx, pipeline, lowering })
            })
        })
    }

    /// Bootstraps a ciphertext: the same numbers, exactly, at [`Engine::bootstrap_output_level`], with as little noise
    /// as a product has.
    ///
    /// # Errors
    /// [`Error::Level`] below level 1, [`Error::Noise`] after sums and several rotations at level 1, [`Error::Cancelled`], keys that do not belong together.
    pub fn bootstrap(&self, ct: &Ciphertext, key: &BootstrapKey, control: &Control) -> Result<Ciphertext, Error> {
        Ok(self.bootstrap_many(std::slice::from_ref(ct), key, control)?.remove(0))
    }

    /// [`Engine::bootstrap`] of several ciphertexts side by side: linear maps read their keys and diagonals once.
    ///
    /// # Errors
    /// As there.
    pub fn bootstrap_many(
        &self,
        cts: &[Ciphertext],
        key: &BootstrapKey,
        control: &Control,
    ) -> Result<Vec<Ciphertext>, Error> {
        let prepared = self.prepared()?;
        let inputs = cts.iter().map(|ct| self.lowered(ct)).collect::<Result<Vec<_>, _>>()?;
        let mut watch = Watch { control, pass: Pass { number: 0, count: 1 }, ran: Vec::new() };
        let found = self.run(|| {
            let e = PrimePowerCiphertextEvaluator::new(&prepared.ctx, &key.keys).stopped_by(control.flag());
            let input = |ct: &Ciphertext| prepared.input(ct);
            let inputs = inputs.iter().map(input).collect::<Result<Vec<_>, Error>>()?;
            Ok(prepared.pipeline.run(&e, &inputs, &mut watch)?)
        });
        *self.bootstrap.ran.lock() = watch.ran;
        Ok(found?.iter().map(|ct| self.numbers(ct, OUTPUT_NOISE)).collect())
    }

    /// Numbers as coefficients modulo q0 under the main secret, m as `m / t` of the torus, by the first stages of a bootstrap.
    ///
    /// # Errors
    /// As [`Engine::bootstrap`].
    pub(crate) fn to_coefficients(
        &self,
        ct: &Ciphertext,
        key: &BootstrapKey,
        control: &Control,
    ) -> Result<Arc<PrimePowerCiphertext>, Error> {
        let (prepared, low) = (self.prepared()?, self.lowered(ct)?);
        self.run(|| {
            let e = PrimePowerCiphertextEvaluator::new(&prepared.ctx, &key.keys).stopped_by(control.flag());
            Ok(prepared.lowering.run(&e, &[prepared.input(&low)?], &mut ())?.remove(0))
        })
    }

    /// The levels that rounding messages from elsewhere may take.
    pub(crate) fn rounding_levels(&self) -> Result<usize, Error> {
        Ok(self.circuit()?.rounding_levels())
    }

    /// Messages below `count` with noise, m as `m / torus` of the torus in coefficients modulo q0 under the main secret, as fresh slots: by the
    /// stages of a bootstrap, with a polynomial that removes errors of up to `bound` parts of p.
    ///
    /// # Errors
    /// [`Error::Level`] for a polynomial that takes more levels than there are; [`Error::Cancelled`].
    pub(crate) fn raise(
        &self,
        sample: Sample,
        of: Messages,
        key: &BootstrapKey,
        control: &Control,
    ) -> Result<Ciphertext, Error> {
        let (prepared, pipeline) = (self.prepared()?, self.raising(of, control)?);
        let Exact { power, correction_factor, .. } = pipeline.plan().input();
        let input = Arc::new(PrimePowerCiphertext { sample, power, correction_factor });
        let mut watch = Watch { control, pass: Pass { number: 0, count: 1 }, ran: Vec::new() };
        let found = self.run(|| {
            let e = PrimePowerCiphertextEvaluator::new(&prepared.ctx, &key.keys).stopped_by(control.flag());
            Ok(pipeline.run(&e, &[input], &mut watch)?.remove(0))
        });
        *self.bootstrap.ran.lock() = watch.ran;
        Ok(self.numbers(&*found?, RAISED_NOISE))
    }

    /// The stages of such messages, which are kept: interpolation takes a while.
    fn raising(&self, of: Messages, control: &Control) -> Result<Arc<Raising>, Error> {
        self.bootstrap.raisings.get(of, || {
            let prepared = self.prepared()?;
            self.run(|| {
                let rounding = Rounding::stopped_by(of, control.flag()).map_err(aglet_bootstrap::Error::from)?;
                let plan = prepared.circuit.raising(self.params(), rounding)?;
                let none = KeySet::new();
                let e = PrimePowerCiphertextEvaluator::new(&prepared.ctx, &none);
                Ok(Pipeline::sharing(&e, plan, &[&prepared.pipeline])?)
            })
        })
    }

    /// The stages of the last bootstrap on this engine.
    #[must_use]
    pub fn stage_runs(&self) -> Vec<StageRun> {
        self.bootstrap.ran.lock().clone()
    }

    /// A ciphertext where a bootstrap takes it.
    fn lowered(&self, ct: &Ciphertext) -> Result<Ciphertext, Error> {
        if ct.level() < INPUT_LEVEL {
            return Err(LevelError::IntegerBootstrapInput { least: INPUT_LEVEL, level: ct.level() }.into());
        }
        let low = self.level_down(ct, INPUT_LEVEL)?;
        let bits = low.noise.log2() - Noise::rounding(self.params()).times(INPUT_NOISE).log2();
        match bits > 0.0 {
            true => Err(NoiseError::BootstrapInput { bits, level: INPUT_LEVEL }.into()),
            false => Ok(low),
        }
    }

    /// Numbers modulo p as those of users, with the noise of so many roundings.
    fn numbers(&self, ct: &PrimePowerCiphertext, roundings: f64) -> Ciphertext {
        let polys = ct.polys.iter().map(|poly| poly.prefix(poly.q_limbs())).collect();
        let correction_factor = ct.correction_factor.word() % self.params().plain().value();
        let noise = Noise::rounding(self.params()).times(roundings);
        Arc::new(Integers { sample: Sample { polys, key: ct.key }, correction_factor, noise })
    }
}

/// The noise of a result at most.
pub(super) fn refreshed_noise(params: &IntegerParams) -> Noise {
    Noise::rounding(params).times(OUTPUT_NOISE)
}

impl Prepared {
    fn input(&self, ct: &Integers) -> Result<Arc<PrimePowerCiphertext>, Error> {
        let Exact { power, correction_factor, level } = self.circuit.plan.input();
        let polys = ct.polys.iter().map(|poly| poly.prefix(level + 1)).collect();
        Ok(Arc::new(PrimePowerCiphertext { sample: Sample { polys, key: ct.key }, power, correction_factor }))
    }
}

#[cfg(test)]
#[path = "bootstrap_tests.rs"]
mod tests;
