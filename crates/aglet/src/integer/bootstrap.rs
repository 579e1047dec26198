//! Bootstraps of integers: the key and the run, also for messages that come from scheme switching.

use super::{Ciphertext, Engine, IntegerParams};
use crate::bootstrap_keys::{self, List};
use crate::bootstraps::{add_up, Bootstraps};
use crate::card_memory::More;
use crate::runtime::{machine, Cache, Pass, StageRun, Watch};
use crate::{Control, Error, LevelError, MemoryError, NoiseError, SecretKey};
use aglet_bootstrap::integer::{BootstrapCircuit, Exact, Part, INPUT_LEVEL};
use aglet_bootstrap::{Bootstrapper, Probe};
use aglet_circuits::Rounding;
use aglet_rlwe::{Context, Sample};
use aglet_schemes::integer::prime_power::{PrimePowerCiphertext, PrimePowerCiphertextEvaluator, PrimePowerMap};
use aglet_schemes::integer::{Ciphertext as Integers, Noise};
use std::sync::Arc;

/// Rounding errors that the noise of an input may be as large as: what slots_to_coeffs leaves of it is below one.
pub(super) const INPUT_NOISE: f64 = 8.0;
/// Rounding errors that the noise of a result is as large as at most: that of the last division, and the last product below it.
const OUTPUT_NOISE: f64 = 2.0;
/// The same of messages that came up: their last division is by the primes of fewer levels, and may leave more of the sum below it.
const RAISED_NOISE: f64 = 4.0;
/// Circuits that an engine keeps: all of a bootstrap, its beginning, and the stages of some kinds of messages.
const KEPT: usize = 8;

/// The key of bootstraps of integers, relinearization included.
pub type BootstrapKey = bootstrap_keys::BootstrapKey<()>;

pub(crate) use aglet_bootstrap::integer::Messages;

/// Bytes of a bootstrap, known before it exists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Forecast {
    /// Of its key.
    pub key: u64,
    /// Of the encoded linear maps, which an engine keeps.
    pub maps: u64,
}

/// What an engine keeps between bootstraps: the circuit, laid out once, and it and its parts with their encoded maps.
#[derive(Default)]
pub(super) struct State {
    circuit: Cache<(), BootstrapCircuit, 1>,
    parts: Bootstraps<BootstrapCircuit, PrimePowerMap, KEPT>,
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
        Ok(Forecast { key: circuit.key_bytes()?.0 as u64, maps: circuit.encoded_bytes()? as u64 })
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
        let (params, parts) = circuit.keys()?;
        let (ctx, list) = (self.bootstrap.parts.context(&self.ctx, &params)?, List { parts, more: 0 });
        let keys = bootstrap_keys::create((&self.runtime, &ctx), sk, list, control, &*circuit.own_keys()?)?;
        Ok(BootstrapKey { id: sk.id(), request: (), params, keys, packed: None })
    }

    /// The context of the chain of a circuit.
    pub(super) fn context_of(&self, circuit: &BootstrapCircuit) -> Result<Arc<Context>, Error> {
        self.bootstrap.parts.context(&self.ctx, &circuit.params)
    }

    /// Whether a circuit ran lately: its maps are encoded.
    pub(super) fn keeps(&self, circuit: &BootstrapCircuit) -> bool {
        self.bootstrap.parts.find(|kept| *kept == *circuit).is_some()
    }

    /// Runs the stages of a circuit on samples that stand at its start.
    fn run_circuit(
        &self,
        circuit: &Arc<BootstrapCircuit>,
        samples: &[&Sample],
        key: &BootstrapKey,
        (control, probe): (&Control, &mut (dyn Probe + Send)),
    ) -> Result<Vec<Arc<PrimePowerCiphertext>>, Error> {
        let ctx = self.context_of(circuit)?;
        let Exact { power, correction_factor, level } = circuit.input();
        let input = |sample: &&Sample| {
            let polys = sample.polys.iter().map(|poly| poly.prefix(level + 1)).collect();
            Arc::new(PrimePowerCiphertext { sample: Sample { polys, key: sample.key }, power, correction_factor })
        };
        let inputs: Vec<_> = samples.iter().map(input).collect();
        self.run(|| {
            let e = PrimePowerCiphertextEvaluator::new(&ctx, &key.keys).stopped_by(control.flag());
            // What goes up is whole, also where the stages begin with a part of it.
            let n = ctx.ring().n();
            let rest = samples.iter().flat_map(|sample| &sample.polys).map(|poly| {
                let bytes = 8 * n * (poly.whole().limbs() - (level + 1));
                (bytes, if poly.card().is_some() { bytes } else { 0 })
            });
            let rest = rest.fold((0, 0), |(all, there), (bytes, own)| (all + bytes, there + own));
            self.fits_with(rest, (circuit, samples.len()), key)?;
            let pipeline = self.bootstrap.parts.pipeline(&e, circuit, || Ok(()))?;
            Ok(pipeline.run(&e, &inputs, probe)?)
        })
    }

    /// A part of the bootstrap, which is kept once it ran.
    fn part(
        &self,
        part: Part,
        of: impl FnOnce(&BootstrapCircuit) -> Result<BootstrapCircuit, Error>,
    ) -> Result<Arc<BootstrapCircuit>, Error> {
        match self.bootstrap.parts.find(|circuit| circuit.part == part) {
            Some(found) => Ok(found),
            None => Ok(Arc::new(of(&*self.circuit()?)?)),
        }
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
        let low = cts.iter().map(|ct| self.input(ct)).collect::<Result<Vec<_>, Error>>()?;
        let (low, factors): (Vec<_>, Vec<u64>) = low.into_iter().unzip();
        let low: Vec<&Sample> = low.iter().map(|ct| &ct.sample).collect();
        let circuit = self.circuit()?;
        let groups = low.chunks(self.side_by_side((&circuit, low.len()), key)?);
        let (mut found, mut ran, count) = (Vec::with_capacity(low.len()), Vec::new(), groups.len());
        for (number, group) in groups.enumerate() {
            let mut watch = Watch::new(control, Pass { number, count }, &**self.ctx.ring().backend());
            found.extend(self.run_circuit(&circuit, group, key, (control, &mut watch))?);
            add_up(&mut ran, watch.ran);
        }
        self.bootstrap.parts.remember(ran);
        Ok(found.iter().zip(factors).map(|(ct, factor)| self.numbers(ct, OUTPUT_NOISE, factor)).collect())
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
        let low = self.lowered(ct)?;
        let circuit = self.part(Part::Lowering, |circuit| Ok(circuit.lowering()?))?;
        Ok(self.run_circuit(&circuit, &[&low.sample], key, (control, &mut ()))?.remove(0))
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
        let circuit = self.raising(of, control)?;
        let mut watch = Watch::new(control, Pass { number: 0, count: 1 }, &**self.ctx.ring().backend());
        let found = self.run_circuit(&circuit, &[&sample], key, (control, &mut watch));
        self.bootstrap.parts.remember(watch.ran);
        Ok(self.numbers(&found?.remove(0), RAISED_NOISE, 1))
    }

    /// Refuses that, behind a key switch with a key that stays, where a card has no room for it.
    pub(crate) fn fits_raising(
        &self,
        more: More,
        of: Messages,
        key: &BootstrapKey,
        control: &Control,
    ) -> Result<(), Error> {
        match self.fitted.on_card(&**self.ctx.ring().backend())? {
            true => self.fits_with(more, (&self.raising(of, control)?, 1), key),
            false => Ok(()),
        }
    }

    /// The stages of such messages, which are kept: interpolation takes a while.
    fn raising(&self, of: Messages, control: &Control) -> Result<Arc<BootstrapCircuit>, Error> {
        self.part(Part::Raising(of), |circuit| {
            self.run(|| {
                let rounding = Rounding::stopped_by(of, control.flag()).map_err(aglet_bootstrap::Error::from)?;
                Ok(circuit.raising(rounding)?)
            })
        })
    }

    /// The stages of the last bootstrap on this engine.
    #[must_use]
    pub fn stage_runs(&self) -> Vec<StageRun> {
        self.bootstrap.parts.stage_runs()
    }

    /// A ciphertext where a bootstrap takes it, and what its correction factor is over the canonical one. At that level a multiplication
    /// that would change it leaves too much noise: a bootstrap returns as many times the message, so the factor goes through.
    fn input(&self, ct: &Ciphertext) -> Result<(Ciphertext, u64), Error> {
        let (t, canonical) = (self.params().plain(), self.params().correction_factor_at(INPUT_LEVEL));
        match self.lowered(ct) {
            Err(Error::Noise(_) | Error::Scheme(_))
                if ct.level() == INPUT_LEVEL && ct.correction_factor != canonical =>
            {
                let factor = t.mul(ct.correction_factor, t.inv(canonical));
                self.check_input(ct)?;
                Ok((ct.clone(), factor))
            }
            low => Ok((low?, 1)),
        }
    }

    /// A ciphertext where a bootstrap takes it.
    fn lowered(&self, ct: &Ciphertext) -> Result<Ciphertext, Error> {
        if ct.level() < INPUT_LEVEL {
            return Err(LevelError::IntegerBootstrapInput { least: INPUT_LEVEL, level: ct.level() }.into());
        }
        let low = self.level_down(ct, INPUT_LEVEL)?;
        self.check_input(&low)?;
        Ok(low)
    }

    fn check_input(&self, ct: &Ciphertext) -> Result<(), Error> {
        let bits = ct.noise.log2() - Noise::rounding(self.params()).times(INPUT_NOISE).log2();
        match bits > 0.0 {
            true => Err(NoiseError::BootstrapInput { bits, level: INPUT_LEVEL }.into()),
            false => Ok(()),
        }
    }

    /// Numbers modulo p as those of users, with the noise of so many roundings; they are `factor` times the message.
    fn numbers(&self, ct: &PrimePowerCiphertext, roundings: f64, factor: u64) -> Ciphertext {
        let polys = ct.polys.iter().map(|poly| poly.prefix(poly.q_limbs())).collect();
        let t = self.params().plain();
        let correction_factor = t.mul(ct.correction_factor.word() % t.value(), factor);
        let noise = Noise::rounding(self.params()).times(roundings);
        Arc::new(Integers { sample: Sample { polys, key: ct.key }, correction_factor, noise })
    }
}

/// The noise of a result at most.
pub(super) fn refreshed_noise(params: &IntegerParams) -> Noise {
    Noise::rounding(params).times(OUTPUT_NOISE)
}

#[cfg(test)]
#[path = "bootstrap_tests.rs"]
mod tests;
