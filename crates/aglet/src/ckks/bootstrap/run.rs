//! Runs a bootstrap: brings together the keys and the pipeline of a bootstrap circuit.

use super::key::BootstrapKey;
use super::room::Jobs;
use super::state::CkksPipeline;
use crate::ckks::arithmetic::{at_scale, check_owner};
use crate::ckks::engine::{Engine, GaloisKey, RelinearizationKey, RotationKey};
use crate::ckks::presets;
use crate::ckks::{cost, Ciphertext};
use crate::runtime::{Pass, StageRun, Watch};
use crate::Control;
use crate::{Error, MissingKeyError, ParameterError, RangeError, Served};
use aglet_bootstrap::ckks::request::Parts;
use aglet_bootstrap::ckks::request::{KeySize, Method, Request};
use aglet_bootstrap::ckks::slots_first::steps::eval_mod::Functional;
use aglet_bootstrap::BootstrapCircuit;
use aglet_rlwe::{Context, KeyId, KeySet, KeySwitchSpec, Params};
use aglet_schemes::ckks::CkksEvaluator;
use aglet_schemes::{Approximate, Evaluator};
use std::sync::Arc;

/// The input of one bootstrap: a ciphertext, or two to be merged.
pub(crate) type Job<'a> = &'a [&'a Ciphertext];

/// The keys that a bootstrap is given.
#[derive(Clone, Copy)]
pub struct BootstrapKeys<'a> {
    /// The relinearization key, for products.
    pub relinearization: &'a RelinearizationKey,
    /// The conjugation key, for real and imaginary parts.
    pub conjugation: &'a GaloisKey,
    /// The bootstrap key, for the linear maps and the sparse secret.
    pub bootstrap: &'a BootstrapKey,
    /// The rotation key, which a small bootstrap key needs.
    pub rotation: Option<&'a RotationKey>,
}

impl BootstrapKeys<'_> {
    /// Refuses a bootstrap key that has not the keys of a bootstrap circuit.
    pub(super) fn serve(&self, circuit: &BootstrapCircuit) -> Result<(), Error> {
        if self.bootstrap.serves(circuit) {
            return Ok(());
        }
        let served =
            |Request { method, stage_count, slots, .. }: Request| Served { method: method.name(), stage_count, slots };
        let (own, wanted) = (served(self.bootstrap.request()), served(circuit.request));
        Err(MissingKeyError::Bootstrap { own, wanted, maker: maker(circuit.request.method) }.into())
    }
    /// Names and owners of all keys.
    pub(crate) fn ids(&self) -> impl Iterator<Item = (&'static str, KeyId)> {
        [
            ("relinearization key", self.relinearization.id()),
            ("conjugation key", self.conjugation.id()),
            ("bootstrap key", self.bootstrap.id()),
        ]
        .into_iter()
        .chain(self.rotation.map(|key| ("rotation key", key.id())))
    }
}

impl Engine {
    /// Plans a bootstrap on this engine's parameters and slots, or reuses the plan of one that ran lately.
    ///
    /// # Errors
    /// Those of [`BootstrapCircuit::new`].
    pub fn circuit(&self, request: Request) -> Result<Arc<BootstrapCircuit>, Error> {
        self.planned(request, None)
    }

    /// The same, with the functions of a functional bootstrap.
    pub(super) fn planned(
        &self,
        request: Request,
        functional: Option<&Arc<Functional>>,
    ) -> Result<Arc<BootstrapCircuit>, Error> {
        let same = |circuit: &BootstrapCircuit| circuit.request == request && circuit.functional() == functional;
        match (self.bootstrap.find(same), functional) {
            (Some(circuit), _) => Ok(circuit),
            (None, Some(functional)) => {
                Ok(Arc::new(BootstrapCircuit::with_functions(self.params(), request, functional)?))
            }
            (None, None) => Ok(Arc::new(BootstrapCircuit::new(self.params(), request)?)),
        }
    }

    /// The user level after a bootstrap.
    pub fn bootstrap_output_level(&self, request: Request) -> Result<usize, Error> {
        Ok(self.circuit(request)?.level)
    }

    /// The context of the chain of a bootstrap circuit.
    pub(crate) fn context_of(&self, params: &Params) -> Result<Arc<Context>, Error> {
        self.bootstrap.context(&self.ctx, params)
    }

    /// Bootstraps a ciphertext, or merges two, as requested. Gives one result, or two for the merging methods.
    ///
    /// # Errors
    /// [`Error::Range`] for a fresh ciphertext whose message is known to exceed the bound, [`Error::Level`] for an input below
    /// what the method takes, errors of keys that are not of one secret key or not for this method, [`Error::Cancelled`].
    pub fn bootstrap(
        &self,
        cts: &[&Ciphertext],
        keys: BootstrapKeys<'_>,
        request: Request,
        control: &Control,
    ) -> Result<Vec<Ciphertext>, Error> {
        self.bootstrap_iterated(cts, keys, request, 1, control)
    }

    /// [`Engine::bootstrap`] for several ciphertexts that go through the stages side by side, with what the stages
    /// took. The results follow one another.
    pub(crate) fn bootstrap_watched(
        &self,
        jobs: &[Job<'_>],
        keys: BootstrapKeys<'_>,
        request: Request,
        watch: (Pass, &Control),
    ) -> Result<(Vec<Ciphertext>, Vec<StageRun>), Error> {
        let circuit = self.circuit(request)?;
        jobs.iter().try_for_each(|cts| self.check_input(cts, &keys, &circuit))?;
        self.watched(&circuit, jobs, keys, watch)
    }

    /// A bootstrap by a circuit, of inputs that were checked.
    pub(super) fn watched(
        &self,
        circuit: &Arc<BootstrapCircuit>,
        jobs: &[Job<'_>],
        keys: BootstrapKeys<'_>,
        (pass, control): (Pass, &Control),
    ) -> Result<(Vec<Ciphertext>, Vec<StageRun>), Error> {
        let request = circuit.request;
        self.on_circuit((circuit, jobs.len()), keys, (pass, control), |e, pipeline, probe| {
            let input = |cts: &Job<'_>| {
                let lowest = cts.iter().map(|ct| self.lowest(ct, e, request)).collect::<Result<Vec<_>, Error>>()?;
                let input = match &lowest[..] {
                    [re, im] => e.add(re, &e.mul_i(im)?)?,
                    [one, ..] => one.clone(),
                    [] => return Err(ParameterError::NoCiphertext.into()),
                };
                Ok(e.level_down(&input, circuit.plan.input().level)?)
            };
            let inputs = jobs.iter().map(input).collect::<Result<Vec<_>, Error>>()?;
            Ok(pipeline.run(e, &inputs, probe)?)
        })
    }

    /// Runs work with the pipeline of a bootstrap circuit, on so many inputs, and keys that fit it. Gives its results as ciphertexts of
    /// this engine, and what the stages took.
    pub(super) fn on_circuit<'a>(
        &self,
        jobs: impl Into<Jobs<'a>>,
        keys: BootstrapKeys<'_>,
        (pass, control): (Pass, &Control),
        work: impl FnOnce(&CkksEvaluator<'_>, &CkksPipeline, &mut Watch<'_>) -> Result<Vec<Ciphertext>, Error> + Send,
    ) -> Result<(Vec<Ciphertext>, Vec<StageRun>), Error> {
        let jobs @ Jobs { circuit, .. } = jobs.into();
        let ctx = self.context_of(&circuit.params)?;
        let packed = keys.bootstrap.packed();
        let others = packed.map(|keys| keys as &(dyn std::any::Any + Send + Sync));
        let keys = keys.bootstrap.eval_keys(self.params(), &circuit.params, &keys)?;
        self.run(|| {
            self.fits_bootstraps(jobs, (&keys, packed))?;
            let e =
                CkksEvaluator::new(&ctx, &keys, ctx.params().n() / 2).with_others(others).stopped_by(control.flag());
            let mut probe = Watch::new(control, pass, &**self.ctx.ring().backend());
            probe.report(0, circuit.plan.stages().len(), "encoding the linear maps");
            let pipeline = self.pipeline(&e, circuit, || Ok(shapes(&keys)))?;
            let out = work(&e, &pipeline, &mut probe)?;
            // The value divided by the bound, at a scale larger by the bound, is the value at the scale of its level.
            let Request { bound, .. } = circuit.request;
            let real = circuit.request.parts() != Parts::Complex;
            let own = |out: &Ciphertext| {
                let kept = out.polys.iter().map(|poly| self.ctx.ring().kept(poly, out.limbs()));
                let polys = kept.collect::<Result<_, _>>()?;
                let mut own = out.with(polys, out.scale / bound);
                (own.slots, own.real) = (self.slots(), real);
                Ok(Arc::new(own))
            };
            Ok((out.iter().map(own).collect::<Result<_, Error>>()?, probe.ran))
        })
    }

    /// A ciphertext at user level 0, at its scale.
    fn lowest(&self, ct: &Ciphertext, e: &CkksEvaluator<'_>, request: Request) -> Result<Ciphertext, Error> {
        let scale = self.params().scale_at(0);
        if !request.method.cleans() || (ct.scale / scale - 1.0).abs() > SAME_SIGN {
            return self.adjust(ct, 0);
        }
        // Without a rescale, whose error an imaginary part would keep: that 1 becomes 1 + d costs (pi d)^2 / 8.
        Ok(at_scale(e.level_down(ct, self.params().chain_level(0))?, scale))
    }

    /// What the stages of the latest run took: of all its passes, where there were several.
    pub(crate) fn remember(&self, ran: Vec<StageRun>) {
        self.bootstrap.remember(ran);
    }

    /// Refuses a ciphertext that cannot be bootstrapped, before any work is done.
    pub(crate) fn check_input(
        &self,
        cts: &[&Ciphertext],
        keys: &BootstrapKeys<'_>,
        circuit: &BootstrapCircuit,
    ) -> Result<(), Error> {
        let method = circuit.request.method;
        let wanted = if method.pairs() { 2 } else { 1 };
        if cts.len() != wanted {
            return Err(ParameterError::Inputs { method: method.name(), wanted, found: cts.len() }.into());
        }
        keys.serve(circuit)?;
        for ct in cts {
            if ct.degree() != 1 {
                return Err(aglet_rlwe::Error::Degree { degree: ct.degree() }.into());
            }
            keys.ids().try_for_each(|(what, id)| check_owner(ct, what, id))?;
            check_bound(ct, circuit)?;
            self.level(ct)?;
            if method.pairs() && !ct.real && !circuit.request.real {
                return Err(RangeError::Imaginary.into());
            }
        }
        Ok(())
    }

    /// The pipeline of a bootstrap circuit, which meets keys of these shapes. When it is made, the scratch of a run is there too.
    fn pipeline(
        &self,
        e: &CkksEvaluator<'_>,
        circuit: &Arc<BootstrapCircuit>,
        shapes: impl FnOnce() -> Result<KeySet<KeySwitchSpec>, Error>,
    ) -> Result<Arc<CkksPipeline>, Error> {
        self.bootstrap
            .pipeline(e, circuit, || Ok(self.ctx.ring().pool().reserve(cost::demand(circuit, shapes()?, 1)?.mix())?))
    }

    /// Encodes the linear maps of a bootstrap before the first one, and allocates its scratch memory.
    ///
    /// # Errors
    /// Those of the plan and the encoding.
    pub fn prepare_bootstrap(&self, key: &BootstrapKey, control: &Control) -> Result<(), Error> {
        if key.size() == KeySize::Small {
            return Ok(()); // The number of stages is not known before the call.
        }
        let circuit = self.circuit(key.request())?;
        let ctx = self.context_of(&circuit.params)?;
        self.run(|| {
            self.fits_bootstraps((&circuit, 1), (key.keys(), key.packed()))?;
            let e = CkksEvaluator::new(&ctx, key.keys(), ctx.params().n() / 2).stopped_by(control.flag());
            self.pipeline(&e, &circuit, || cost::key_shapes(&circuit)).map(|_| ())
        })
    }

    /// The stages of the last bootstrap on this engine; those of an iterated one pass by pass.
    pub fn stage_runs(&self) -> Vec<StageRun> {
        self.bootstrap.stage_runs()
    }
    /// Their names and seconds.
    pub fn stage_times(&self) -> Vec<(String, f64)> {
        self.stage_runs().into_iter().map(|run| (run.name, run.seconds)).collect()
    }
    /// Refuses a ciphertext that is too large to be compared, by its known size or stated bound. The polynomials of a
    /// comparison are made for values in [-1, 1] and grow without limit beyond. A ciphertext without a bound is
    /// accepted, as in a bootstrap.
    ///
    /// # Errors
    /// [`Error::Range`].
    pub fn check_compared(&self, ct: &Ciphertext) -> Result<(), Error> {
        let bound = ct.stated.bound;
        if bound.is_finite() && bound > 1.0 + COMPARED {
            return Err(RangeError::ComparedBound { bound }.into());
        }
        match exceeds(ct, 1.0) {
            false => Ok(()),
            true => Err(RangeError::Compared.into()),
        }
    }
    /// Whether this engine can bootstrap.
    pub fn can_bootstrap(&self) -> bool {
        presets::can_bootstrap(self.params())
    }
}

/// By how much values that are compared may be larger than 1: errors of signs that are compared again, and noise.
const COMPARED: f64 = 1.0 / 4096.0;

/// The shapes of keys.
pub(super) fn shapes(keys: &KeySet) -> KeySet<KeySwitchSpec> {
    keys.iter().map(|(role, key)| (role, key.spec().clone())).collect()
}

/// Real and imaginary parts that a sign or bit bootstrap takes are at most this large: beyond, they would move away from their
/// point.
const CLEANED: f64 = 1.25;

/// Relative distance of scales that a sign or bit bootstrap removes: it leaves less than 2^-30 of it.
const SAME_SIGN: f64 = 1.0 / 65536.0;

/// What makes the key of a method.
fn maker(method: Method) -> &'static str {
    if method.keys() == Method::Lossy {
        "create_lossy_bootstrap_key"
    } else {
        "create_bootstrap_key"
    }
}

/// Refuses a message that is known to be too large.
fn check_bound(ct: &Ciphertext, circuit: &BootstrapCircuit) -> Result<(), Error> {
    let request = circuit.request;
    let cleans = request.method.cleans();
    // Of a complex message the size alone is known.
    let parts = if ct.real { 1.0 } else { std::f64::consts::SQRT_2 };
    if let Some(functional) = circuit.functional() {
        // Tables count values modulo their period.
        let most = functional.points().iter().fold(0.0f64, |most, v| most.max(v.abs()));
        return match !functional.is_tables() && exceeds(ct, most * parts) {
            false => Ok(()),
            true => Err(RangeError::OutsideInterval { most }.into()),
        };
    }
    let most = if cleans { CLEANED * parts } else { request.bound };
    if !exceeds(ct, most) {
        return Ok(());
    }
    // The message stays out of the sentence: whoever holds a ciphertext may not know it.
    Err(if cleans {
        RangeError::BeyondPoints { most: CLEANED, method: request.method.name() }.into()
    } else {
        RangeError::AboveBootstrap { most }.into()
    })
}

/// Whether a message is known to have a larger value. The encoder rounds: one of exactly the bound may come out a little above.
fn exceeds(ct: &Ciphertext, most: f64) -> bool {
    ct.known.at_least().is_some_and(|size| size > most * (1.0 + 1e-9))
}
