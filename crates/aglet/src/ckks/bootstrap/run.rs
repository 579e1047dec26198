//! The bootstrap itself: keys and pipeline of a route, brought together.

use super::key::BootstrapKey;
use crate::ckks::arithmetic::{at_scale, check_owner};
use crate::ckks::engine::{Engine, GaloisKey, RelinearizationKey, RotationKey};
use crate::ckks::{cost, Ciphertext};
use crate::runtime::{machine, Kept, Pass, StageRun, Watch};
use crate::Control;
use crate::{presets, Error};
use aglet_bootstrap::slots_first::steps::eval_mod::Parts;
use aglet_bootstrap::slots_first::{KeySize, Method, Request};
use aglet_bootstrap::{CkksStep, Pipeline, Route};
use aglet_ring::process::Lock;
use aglet_ring::Demand;
use aglet_rlwe::{Context, KeyId, KeySet, KeySwitchSpec, Params};
use aglet_schemes::ckks::{CkksEvaluator, CkksTransform};
use aglet_schemes::{Approximate, Evaluator};
use std::collections::BTreeMap;
use std::sync::Arc;

type CkksPipeline = Pipeline<CkksStep, CkksTransform>;

/// What an engine keeps between bootstraps: contexts of the chains that it raised to, routes that ran with their encoded linear
/// maps (the latest first), and what the stages of the latest run took.
#[derive(Default)]
pub(crate) struct BootstrapState {
    contexts: Lock<BTreeMap<Vec<usize>, Arc<Context>>>,
    pipelines: Kept<Arc<Route>, CkksPipeline, PIPELINES>,
    ran: Lock<Vec<StageRun>>,
}

/// Pipelines that an engine keeps. Those on one chain share what they have in common.
const PIPELINES: usize = 6;

/// What one bootstrap takes: a ciphertext, or two to be merged.
pub(crate) type Job<'a> = &'a [&'a Ciphertext];

/// The keys that a bootstrap is given.
#[derive(Clone, Copy)]
pub struct BootstrapKeys<'a> {
    /// For products.
    pub relinearization: &'a RelinearizationKey,
    /// For real and imaginary parts.
    pub conjugation: &'a GaloisKey,
    /// For the linear maps and the sparse secret.
    pub bootstrap: &'a BootstrapKey,
    /// The rotations of a small key.
    pub rotation: Option<&'a RotationKey>,
}

impl BootstrapKeys<'_> {
    /// The size of the key.
    pub fn size(&self) -> KeySize {
        self.bootstrap.size()
    }
    /// Refuses a bootstrap key that has not the keys of a route.
    pub(super) fn serve(&self, route: &Route) -> Result<(), Error> {
        if self.bootstrap.serves(route) {
            return Ok(());
        }
        let (own, wanted) = (self.bootstrap.request(), route.layout.request);
        Err(Error::MissingKey(format!(
            "This bootstrap key is for {} bootstraps with stage_count={} of {} slots; a {} one with stage_count={} of {} slots needs a \
             key made for it, with {}.",
            own.method.name(),
            own.stage_count,
            own.slots,
            wanted.method.name(),
            wanted.stage_count,
            wanted.slots,
            maker(wanted.method),
        )))
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
    /// Lays out a bootstrap on this engine's parameters and slots, or finds the layout of one that ran lately.
    ///
    /// # Errors
    /// Those of [`Route::new`].
    pub fn route(&self, request: Request) -> Result<Arc<Route>, Error> {
        match self.bootstrap.pipelines.find(|route| route.layout.request == request) {
            Some((route, _)) => Ok(route),
            None => Ok(Arc::new(Route::new(self.params(), request)?)),
        }
    }

    /// The user level that a bootstrap leaves.
    pub fn bootstrap_output_level(&self, request: Request) -> Result<usize, Error> {
        Ok(self.route(request)?.layout.level)
    }

    /// The context of the chain of a route.
    pub(crate) fn context_of(&self, params: &Params) -> Result<Arc<Context>, Error> {
        let primes = params.prime_indices();
        let found = self.bootstrap.contexts.lock().get(primes).cloned();
        if let Some(found) = found {
            return Ok(found);
        }
        let made = self.ctx.subset(primes)?;
        self.bootstrap.contexts.lock().insert(primes.to_vec(), made.clone());
        Ok(made)
    }

    /// Refreshes a ciphertext, or merges two, as the request says: one result, or two for the merging methods.
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

    /// [`Engine::bootstrap`] for each of several, which go through the stages side by side, with what the stages took. The
    /// results stand one after the other.
    pub(crate) fn bootstrap_watched(
        &self,
        jobs: &[Job<'_>],
        keys: BootstrapKeys<'_>,
        request: Request,
        (pass, control): (Pass, &Control),
    ) -> Result<(Vec<Ciphertext>, Vec<StageRun>), Error> {
        let route = self.route(request)?;
        jobs.iter().try_for_each(|cts| self.check_input(cts, &keys, &route))?;
        self.on_route(&route, keys, (pass, control), |e, pipeline, probe| {
            let input = |cts: &Job<'_>| {
                let lowest = cts.iter().map(|ct| self.lowest(ct, e, request)).collect::<Result<Vec<_>, Error>>()?;
                let input = match &lowest[..] {
                    [re, im] => e.add(re, &e.mul_i(im)?)?,
                    [one, ..] => one.clone(),
                    [] => return Err(Error::Parameter("A bootstrap needs a ciphertext.".into())),
                };
                Ok(e.level_down(&input, route.plan.input().level)?)
            };
            let inputs = jobs.iter().map(input).collect::<Result<Vec<_>, Error>>()?;
            Ok(pipeline.run(e, &inputs, probe)?)
        })
    }

    /// Work with the pipeline of a route and keys that fit it: its results as ciphertexts of this engine, and what the stages took.
    pub(super) fn on_route(
        &self,
        route: &Arc<Route>,
        keys: BootstrapKeys<'_>,
        (pass, control): (Pass, &Control),
        work: impl FnOnce(&CkksEvaluator<'_>, &CkksPipeline, &mut Watch<'_>) -> Result<Vec<Ciphertext>, Error> + Send,
    ) -> Result<(Vec<Ciphertext>, Vec<StageRun>), Error> {
        let ctx = self.context_of(&route.params)?;
        let rotor = keys.bootstrap.rotor();
        let keys = keys.bootstrap.eval_keys(self.params(), &route.params, &keys)?;
        self.run(|| {
            let e = CkksEvaluator::new(&ctx, &keys, ctx.params().n() / 2).with_rotor(rotor).stopped_by(control.flag());
            let mut probe = Watch { control, pass, ran: Vec::new() };
            probe.report(0, route.plan.stages().len(), "encoding the linear maps");
            let pipeline = self.pipeline(&e, route, || Ok(shapes(&keys)))?;
            let out = work(&e, &pipeline, &mut probe)?;
            // The value divided by the bound, at a scale larger by the bound, is the value at the scale of its level.
            let Request { bound, .. } = route.layout.request;
            let real = route.layout.request.parts() != Parts::Complex;
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
        *self.bootstrap.ran.lock() = ran;
    }

    /// Refuses what cannot be refreshed before any work is done on it.
    pub(crate) fn check_input(
        &self,
        cts: &[&Ciphertext],
        keys: &BootstrapKeys<'_>,
        route: &Route,
    ) -> Result<(), Error> {
        let Request { method, stage_count, .. } = route.layout.request;
        let wanted = if method.pairs() { 2 } else { 1 };
        if cts.len() != wanted {
            return Err(Error::Parameter(format!(
                "A {} bootstrap takes {wanted} ciphertexts, not {}.",
                method.name(),
                cts.len()
            )));
        }
        keys.serve(route)?;
        for ct in cts {
            if ct.degree() != 1 {
                return Err(aglet_rlwe::Error::Degree { degree: ct.degree() }.into());
            }
            keys.ids().try_for_each(|(what, id)| check_owner(ct, what, id))?;
            check_bound(ct, route.layout.request)?;
            let level = self.level(ct)?;
            if route.rotor().is_none() && level < method.input_level(stage_count) {
                return Err(Error::Level(format!(
                    "A {} bootstrap of {stage_count} stages takes ciphertexts of level {stage_count} or more, this one has level \
                     {level}; use the regular bootstrap, or bootstrap earlier.",
                    method.name()
                )));
            }
            if method.pairs() && !ct.real && !route.layout.request.real {
                return Err(Error::Range(
                    "A merging bootstrap takes real ciphertexts only, and this one may have imaginary parts; say real=True if it \
                     has none, bootstrap it on its own, or encrypt real values."
                        .into(),
                ));
            }
        }
        Ok(())
    }

    /// The pipeline of a route, which meets keys of these shapes. When it is made, the scratch of a run is there too.
    fn pipeline(
        &self,
        e: &CkksEvaluator<'_>,
        route: &Arc<Route>,
        shapes: impl FnOnce() -> Result<KeySet<KeySwitchSpec>, Error>,
    ) -> Result<Arc<CkksPipeline>, Error> {
        if let Some((_, found)) = self.bootstrap.pipelines.find(|other| other.layout.request == route.layout.request) {
            return Ok(found);
        }
        let matrices = route.matrix_bytes(self.params())? as u64;
        if let Some(available) = machine::memory_available().filter(|&free| matrices > free) {
            let (needed, available) = (matrices as f64 / 1e9, available as f64 / 1e9);
            return Err(Error::Memory { what: "the matrices of this bootstrap".into(), needed, available });
        }
        // Diagonals have the special limbs of the keys that they meet.
        let keys = |request: &Request| (request.method.keys(), request.size);
        let chain = route.params.prime_indices();
        let kept = self.bootstrap.pipelines.all();
        let related = kept.iter().filter(|(other, _)| other.params.prime_indices() == chain);
        let related = related.filter(|(other, _)| keys(&other.layout.request) == keys(&route.layout.request));
        let related: Vec<&Pipeline<CkksStep, CkksTransform>> = related.map(|entry| &*entry.1).collect();
        let made = Pipeline::sharing(e, route.plan.clone(), &related)?;
        self.ctx.ring().pool().reserve(cost::demand(route, shapes()?, 1)?.mix())?;
        Ok(self.bootstrap.pipelines.keep(route.clone(), made))
    }

    /// Encodes the linear maps of a bootstrap ahead of the first one, and has its scratch memory lie ready.
    ///
    /// # Errors
    /// Those of the plan and the encoding.
    pub fn prepare_bootstrap(&self, key: &BootstrapKey, control: &Control) -> Result<(), Error> {
        if key.size() == KeySize::Small {
            return Ok(()); // The number of stages is not known before the call.
        }
        let route = self.route(key.request())?;
        let ctx = self.context_of(&route.params)?;
        self.run(|| {
            let e = CkksEvaluator::new(&ctx, key.keys(), ctx.params().n() / 2).stopped_by(control.flag());
            self.pipeline(&e, &route, || cost::key_shapes(self.params(), &route)).map(|_| ())
        })
    }

    /// The scratch that was lent at one time since this was last asked.
    pub fn take_scratch_demand(&self) -> Demand {
        self.ctx.ring().pool().take_demand()
    }
    /// The stages of the latest bootstrap on this engine, of an iterated one pass by pass.
    pub fn stage_runs(&self) -> Vec<StageRun> {
        self.bootstrap.ran.lock().clone()
    }
    /// Their names and seconds.
    pub fn stage_times(&self) -> Vec<(String, f64)> {
        self.stage_runs().into_iter().map(|run| (run.name, run.seconds)).collect()
    }
    /// Refuses what is known to be too large to be compared, or may be by the bound that it states: the polynomials of a comparison are
    /// made for values in [-1, 1] and grow without limit beyond. What nobody states goes on, as in a bootstrap.
    ///
    /// # Errors
    /// [`Error::Range`].
    pub fn check_compared(&self, ct: &Ciphertext) -> Result<(), Error> {
        let bound = ct.stated.bound;
        if bound.is_finite() && bound > 1.0 + COMPARED {
            return Err(Error::Range(format!(
                "By the bound that was declared for this message its values may be as large as {bound:.6}, and 1 is the most that a \
                 comparison takes; divide both sides by the largest size they may have, which leaves their order as it is, or \
                 encrypt with a smaller bound=."
            )));
        }
        match exceeds(ct, 1.0) {
            false => Ok(()),
            true => Err(Error::Range(
                "This message has a value larger than 1, the most that a comparison takes; divide both sides by the largest size \
                 they may have, which leaves their order as it is."
                    .into(),
            )),
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
fn check_bound(ct: &Ciphertext, request: Request) -> Result<(), Error> {
    let cleans = request.method.cleans();
    // Of a complex message the size alone is known.
    let parts = if ct.real { 1.0 } else { std::f64::consts::SQRT_2 };
    let most = if cleans { CLEANED * parts } else { request.bound };
    if !exceeds(ct, most) {
        return Ok(());
    }
    // The message stays out of the sentence: whoever holds a ciphertext may not know it.
    Err(Error::Range(if cleans {
        format!(
            "This message has a value beyond {CLEANED}, too far from the points of a {} bootstrap; scale it down, or take a \
             bootstrap that keeps values as they are.",
            request.method.name()
        )
    } else {
        format!(
            "This message has a value larger than {most}, the most that this bootstrap takes; pass a larger bound=, or scale \
             the message down."
        )
    }))
}

/// Whether a message is known to have a larger value. The encoder rounds: one of exactly the bound may come out a little above.
fn exceeds(ct: &Ciphertext, most: f64) -> bool {
    ct.known.at_least().is_some_and(|size| size > most * (1.0 + 1e-9))
}
