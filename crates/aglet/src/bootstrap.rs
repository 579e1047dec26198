//! Bootstrap keys and the bootstrap itself.

use crate::control::Control;
use crate::engine::{Engine, GaloisKey, RelinearisationKey};
use crate::{machine, presets, Ciphertext, Error};
use aglet_bootstrap::{Chain, Options, Pipeline, Plan, Probe, Stage, Step};
use aglet_ring::automorphism::rotation_exponent;
use aglet_rlwe::encrypt::os_source;
use aglet_rlwe::params::{Params, Role};
use aglet_rlwe::{KeyId, KeySwitchSpec, SecretKey, SwitchingKey};
use aglet_schemes::ckks::{transform_shape, CkksTransform, EvalKeys, TransformShape};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// How many rotations a bootstrap key holds: more keys make it faster.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum KeySize {
    /// Eight baby steps in every linear map.
    Medium,
    /// Sixteen.
    Large,
}

impl KeySize {
    /// From "medium" or "large".
    pub fn parse(name: &str) -> Result<Self, Error> {
        match name {
            "medium" => Ok(Self::Medium),
            "large" => Ok(Self::Large),
            _ => Err(Error::Parameter(format!(
                "There is no bootstrap key of size \"{name}\"; choose \"medium\" or \"large\"."
            ))),
        }
    }
    /// "medium" or "large".
    pub fn name(self) -> &'static str {
        match self {
            Self::Medium => "medium",
            Self::Large => "large",
        }
    }
    fn baby(self) -> usize {
        match self {
            Self::Medium => 8,
            Self::Large => 16,
        }
    }
}

/// Everything that a bootstrap needs beside the relinearisation and conjugation keys: rotations at the levels where they are
/// used, and the two keys between the main and an ephemeral sparse secret, which is drawn for this key and then forgotten.
pub struct BootstrapKey {
    id: KeyId,
    stage_count: usize,
    size: KeySize,
    keys: EvalKeys,
}

impl BootstrapKey {
    /// The secret key that it belongs to.
    pub fn id(&self) -> KeyId {
        self.id
    }
    /// Stages of each linear transform.
    pub fn stage_count(&self) -> usize {
        self.stage_count
    }
    /// Its size.
    pub fn size(&self) -> KeySize {
        self.size
    }
    /// Bytes in memory.
    pub fn byte_count(&self) -> usize {
        self.keys.byte_count()
    }
    /// Bytes when stored with seeds.
    pub fn stored_bytes(&self) -> usize {
        self.keys.iter().map(SwitchingKey::stored_bytes).sum()
    }

    /// Its keys, in the order of [`key_layout`].
    pub(crate) fn stored_keys(&self) -> Vec<&SwitchingKey> {
        self.keys.iter().collect()
    }
    /// The key made of these, with their Galois elements, in the order of [`key_layout`].
    pub(crate) fn from_stored(
        id: KeyId,
        stage_count: usize,
        size: KeySize,
        list: Vec<(u64, Arc<SwitchingKey>)>,
    ) -> Self {
        let mut list = list.into_iter();
        let sparse = list.len().saturating_sub(2);
        let rotations: Vec<_> = list.by_ref().take(sparse).collect();
        let mut keys = rotations.into_iter().fold(EvalKeys::new(), |keys, (galois, key)| keys.with_galois(galois, key));
        if let (Some((_, to)), Some((_, from))) = (list.next(), list.next()) {
            keys = keys.with_sparse(to, from);
        }
        Self { id, stage_count, size, keys }
    }
}

/// The keys of a bootstrap key as files have them: rotations by Galois element and limbs, then the sparse keys (to, from).
pub(crate) fn key_layout(
    params: &Params,
    stage_count: usize,
    size: KeySize,
) -> Result<Vec<(u64, KeySwitchSpec)>, Error> {
    let shapes = shapes(params, &plan(params, stage_count, size, 1.0)?)?;
    let rotations = needs(&shapes).into_iter().map(|n| (rotation_exponent(n.rotation as isize, params.n()), n.limbs));
    let rotations: BTreeSet<(u64, usize)> = rotations.collect();
    let rotations = rotations.into_iter().map(|(g, limbs)| Ok((g, KeySwitchSpec::balanced(params, limbs)?)));
    let mut layout = rotations.collect::<Result<Vec<_>, Error>>()?;
    layout.extend([(0, KeySwitchSpec::to_sparse()), (0, KeySwitchSpec::from_sparse(params.q().len()))]);
    Ok(layout)
}

type CkksPipeline = Arc<Pipeline<CkksTransform>>;

/// What an engine keeps between bootstraps: encoded linear maps and the times of the latest run.
#[derive(Default)]
pub(crate) struct BootstrapState {
    /// By key size and bound (its bits). One per size stays, and the latest other bound.
    pipelines: Mutex<BTreeMap<(KeySize, u64), CkksPipeline>>,
    times: Mutex<Vec<(String, f64)>>,
}

/// The chain of a preset, as plans see it.
pub fn chain(params: &Params) -> Result<Chain, Error> {
    let ratio = params.message_ratio_log2().ok_or_else(|| {
        Error::Parameter(format!(
            "The preset \"{}\" is not made for bootstrapping; take use_bootstrap=True.",
            params.name()
        ))
    })?;
    Ok(Chain {
        moduli: params.q().iter().map(|&q| q as f64).collect(),
        slots_to_coeffs: params.role(Role::SlotsToCoeffs).len(),
        coeffs_to_slots: params.role(Role::CoeffsToSlots).len(),
        message_ratio: ratio.exp2(),
        scale_in: params.scale_at(0),
        scale_out: params.scale_at(params.max_level()),
    })
}

/// The plan of a regular bootstrap.
pub fn plan(params: &Params, stage_count: usize, size: KeySize, bound: f64) -> Result<Plan, Error> {
    let chain = chain(params)?;
    if stage_count != chain.slots_to_coeffs {
        return Err(Error::Parameter(format!(
            "The number of stages, stage_count = {stage_count}, is not in this version; this preset has stage_count = {}.",
            chain.slots_to_coeffs
        )));
    }
    let options = Options { slots: params.slots(), baby: size.baby(), bound, real: false };
    Ok(Plan::slots_first(&chain, options)?)
}

/// The shapes of the linear maps of a plan, by stage.
pub fn shapes(params: &Params, plan: &Plan) -> Result<Vec<Option<TransformShape>>, Error> {
    let shape = |s: &Stage| match &s.step {
        Step::Transform { map, .. } => Ok(Some(transform_shape(params, map, s.level_in)?)),
        _ => Ok(None),
    };
    plan.stages().iter().map(shape).collect()
}

/// One rotation key that a bootstrap needs.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Need {
    rotation: usize,
    limbs: usize,
}

fn needs(shapes: &[Option<TransformShape>]) -> Vec<Need> {
    let of = |s: &TransformShape| {
        s.rotations().into_iter().map(|rotation| Need { rotation, limbs: s.level + 1 }).collect::<Vec<_>>()
    };
    shapes.iter().flatten().flat_map(of).collect()
}

/// Bytes of the keys of a bootstrap, expanded: rotations and the two sparse keys.
pub fn key_bytes(params: &Params, shapes: &[Option<TransformShape>]) -> usize {
    let n = params.n();
    let sparse = KeySwitchSpec::to_sparse().byte_count(n) + KeySwitchSpec::from_sparse(params.q().len()).byte_count(n);
    shapes.iter().flatten().map(|s| s.key_bytes(n)).sum::<usize>() + sparse
}

/// Scratch of a bootstrap: limbs and how many polynomials of so many, as the pool holds them after a run of the regular
/// preset. Reserved before the first run; where another plan wants more, its first run allocates it.
const SCRATCH: [(usize, usize); 5] = [(8, 14), (16, 8), (24, 28), (32, 13), (40, 13)];

/// Bytes that a bootstrap uses beside keys and matrices: about forty polynomials at full level, measured on N = 2^16.
pub fn working_bytes(params: &Params) -> usize {
    40 * (params.q().len() + params.p().len()) * params.n() * 8
}

impl Engine {
    /// The user level that a bootstrap leaves.
    pub fn bootstrap_output_level(&self, stage_count: usize) -> Result<usize, Error> {
        let plan = plan(self.params(), stage_count, KeySize::Medium, 1.0)?;
        Ok(plan.output_level() - self.params().hidden_levels())
    }

    /// Makes a bootstrap key. The memory it takes is forecast first and compared with `memory_limit` bytes and with what
    /// the system has.
    ///
    /// # Errors
    /// [`Error::Memory`] before anything is allocated, [`Error::Cancelled`].
    pub fn create_bootstrap_key(
        &self,
        sk: &SecretKey,
        stage_count: usize,
        size: KeySize,
        memory_limit: Option<u64>,
        control: &Control,
    ) -> Result<BootstrapKey, Error> {
        let plan = plan(self.params(), stage_count, size, 1.0)?;
        let shapes = shapes(self.params(), &plan)?;
        self.forecast(&shapes, memory_limit)?;
        let needs = needs(&shapes);
        let total = needs.len() + 1;
        let mut keys = self.run(|| -> Result<EvalKeys, Error> {
            let mut random = os_source()?;
            let sparse = SecretKey::generate_ephemeral(&self.ctx, &mut random)?;
            let to = SwitchingKey::between(&self.ctx, KeySwitchSpec::to_sparse(), sk, &sparse, &mut random)?;
            let back = KeySwitchSpec::from_sparse(self.ctx.ring().q_count());
            let from = SwitchingKey::between(&self.ctx, back, &sparse, sk, &mut random)?;
            Ok(EvalKeys::new().with_sparse(Arc::new(to), Arc::new(from)))
        })?;
        for (done, need) in needs.iter().enumerate() {
            control.check()?;
            control.report(done + 1, total, "bootstrap keys");
            let galois = rotation_exponent(need.rotation as isize, self.ctx.ring().n());
            keys = keys.with_galois(galois, self.create_galois_key(sk, galois, need.limbs)?.key);
        }
        control.report(total, total, "bootstrap keys");
        Ok(BootstrapKey { id: sk.id(), stage_count, size, keys })
    }

    fn forecast(&self, shapes: &[Option<TransformShape>], memory_limit: Option<u64>) -> Result<(), Error> {
        let keys = key_bytes(self.params(), shapes) as u64;
        let matrices: u64 = shapes.iter().flatten().map(|s| s.matrix_bytes as u64).sum();
        let error = |what: &str, needed: u64, available: u64| Error::Memory {
            what: what.to_string(),
            needed: needed as f64 / 1e9,
            available: available as f64 / 1e9,
        };
        if let Some(limit) = memory_limit.filter(|&l| keys > l) {
            return Err(error("this bootstrap key", keys, limit));
        }
        let needed = keys + matrices + working_bytes(self.params()) as u64;
        match machine::memory_available() {
            Some(available) if needed > available => Err(error("bootstrapping with this key", needed, available)),
            _ => Ok(()),
        }
    }

    /// Refreshes a ciphertext: from any level to [`Engine::bootstrap_output_level`]. Messages are at most `bound` in absolute
    /// value (1 if not given); the error grows with it.
    ///
    /// # Errors
    /// [`Error::Range`] for a fresh ciphertext whose message is known to exceed the bound, errors of keys that are not of
    /// one secret key, [`Error::Cancelled`].
    pub fn bootstrap(
        &self,
        ct: &Ciphertext,
        relinearisation: &RelinearisationKey,
        conjugation: &GaloisKey,
        key: &BootstrapKey,
        bound: Option<f64>,
        control: &Control,
    ) -> Result<Ciphertext, Error> {
        let plan = plan(self.params(), key.stage_count, key.size, bound.unwrap_or(1.0))?;
        self.check_bound(ct, plan.options().bound)?;
        if ct.degree() != 1 {
            return Err(aglet_rlwe::Error::Degree { degree: ct.degree() }.into());
        }
        for (what, id) in [
            ("relinearization key", relinearisation.id()),
            ("conjugation key", conjugation.id()),
            ("bootstrap key", key.id),
        ] {
            if id != ct.key {
                return Err(aglet_rlwe::Error::KeyMismatch { what, found: id, expected: ct.key }.into());
            }
        }
        let keys = key.keys.clone().with_relinearisation(relinearisation.0.clone());
        let keys = keys.with_galois(conjugation.galois, conjugation.key.clone());
        let bound = plan.options().bound;
        self.run(|| {
            let e = self.evaluator(&keys, Some(control));
            control.report(0, plan.stages().len(), "encoding the linear maps");
            let pipeline = self.pipeline(&e, plan, key.size)?;
            let ct = self.adjust(ct, 0)?;
            let mut probe = Watch { control, times: Vec::new() };
            let out = pipeline.run(&e, &ct, &mut probe)?;
            if let Ok(mut times) = self.bootstrap.times.lock() {
                *times = probe.times;
            }
            // The value divided by the bound, at a scale larger by the bound, is the value at the scale of its level.
            let polys = out.polys.iter().map(|p| self.ctx.ring().copy(p, out.limbs())).collect::<Result<_, _>>()?;
            Ok(Arc::new(out.with(polys, out.scale / bound)))
        })
    }

    fn check_bound(&self, ct: &Ciphertext, bound: f64) -> Result<(), Error> {
        match ct.bound {
            // The encoder rounds: a message of exactly the bound may come out a little above it.
            // The message stays out of the sentence: whoever holds a ciphertext may not know it.
            Some(max) if max > bound * (1.0 + 1e-9) => Err(Error::Range(format!(
                "This message has a value larger than {bound}, the most that this bootstrap takes; pass a larger bound=, or scale the message down."
            ))),
            _ => Ok(()),
        }
    }

    fn pipeline(
        &self,
        e: &aglet_schemes::ckks::CkksEvaluator<'_>,
        plan: Plan,
        size: KeySize,
    ) -> Result<CkksPipeline, Error> {
        let (base, wanted) = ((size, 1f64.to_bits()), (size, plan.options().bound.to_bits()));
        let get = |k: &(KeySize, u64)| self.bootstrap.pipelines.lock().ok().and_then(|map| map.get(k).cloned());
        if let Some(found) = get(&wanted) {
            return Ok(found);
        }
        let made = match get(&base) {
            Some(other) => other.rebound(e, plan)?,
            None => Pipeline::new(e, plan)?,
        };
        let made = Arc::new(made);
        if let Ok(mut map) = self.bootstrap.pipelines.lock() {
            map.retain(|k, _| k.1 == base.1);
            map.insert(wanted, made.clone());
        }
        Ok(made)
    }

    /// Encodes the linear maps of a bootstrap ahead of the first one, and has its scratch memory lie ready.
    pub fn prepare_bootstrap(&self, key: &BootstrapKey, control: &Control) -> Result<(), Error> {
        let plan = plan(self.params(), key.stage_count, key.size, 1.0)?;
        self.run(|| {
            self.pipeline(&self.evaluator(&key.keys, Some(control)), plan, key.size)?;
            let ring = self.ctx.ring();
            Ok(ring.pool().reserve(SCRATCH.map(|(limbs, count)| (limbs * ring.n(), count)))?)
        })
    }

    /// Names and seconds of the stages of the latest bootstrap on this engine.
    pub fn stage_times(&self) -> Vec<(String, f64)> {
        self.bootstrap.times.lock().map(|t| t.clone()).unwrap_or_default()
    }
    /// Whether this engine can bootstrap.
    pub fn can_bootstrap(&self) -> bool {
        presets::can_bootstrap(self.params())
    }
}

struct Watch<'a> {
    control: &'a Control,
    times: Vec<(String, f64)>,
}

impl Probe for Watch<'_> {
    fn stage(&mut self, stage: &Stage, done: usize, total: usize, time: Option<Duration>) -> bool {
        self.control.report(done, total, &stage.name);
        if let Some(time) = time {
            self.times.push((stage.name.clone(), time.as_secs_f64()));
        }
        !self.control.cancelled()
    }
}
