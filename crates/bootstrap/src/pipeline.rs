//! Runs a plan on an evaluator: ciphertexts, or numbers in the clear.

use crate::error::Error;
use crate::plan::{Plan, Stage, Step};
#[cfg(doc)]
use crate::Parts;
use aglet_schemes::approximate::same_scale;
use aglet_schemes::{Error as SchemeError, Quadratic, Refresh};
use num_complex::Complex64;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Watches a run: told of each stage before it begins (`None`) and after it has ended (its time). May stop the run.
pub trait Probe {
    /// Return false to stop; the run ends with [`Error::Cancelled`].
    fn stage(&mut self, stage: &Stage, done: usize, total: usize, time: Option<Duration>) -> bool;
}

/// A probe that says nothing.
impl Probe for () {
    fn stage(&mut self, _: &Stage, _: usize, _: usize, _: Option<Duration>) -> bool {
        true
    }
}

/// A plan with its linear maps encoded; `T` is the [`Transform`](aglet_schemes::Evaluator::Transform) of the evaluators
/// that it runs on.
pub struct Pipeline<T> {
    plan: Plan,
    /// One for each stage that is a transform.
    transforms: Vec<Option<Arc<T>>>,
}

impl<T> Pipeline<T> {
    /// Encodes the linear maps of a plan.
    ///
    /// # Errors
    /// Those of the encoding.
    pub fn new<E: Refresh<Transform = T>>(e: &E, plan: Plan) -> Result<Self, Error> {
        Self::sharing(e, plan, &[])
    }

    /// As [`Pipeline::new`], sharing the maps that other pipelines on the same chain and keys have encoded already.
    ///
    /// # Errors
    /// Those of the encoding.
    pub fn sharing<E: Refresh<Transform = T>>(e: &E, plan: Plan, others: &[&Self]) -> Result<Self, Error> {
        let encode = |stage: &Stage| match &stage.step {
            Step::Transform { map, scale_ratio } => match others.iter().find_map(|o| o.encoded(stage)) {
                Some(transform) => Ok(Some(transform)),
                None => Ok(Some(Arc::new(e.encode_transform(map, stage.level_in, *scale_ratio)?))),
            },
            _ => Ok(None),
        };
        let transforms = plan.stages().iter().map(encode).collect::<Result<_, Error>>()?;
        Ok(Self { plan, transforms })
    }

    /// The encoded map of a stage just like this one.
    fn encoded(&self, wanted: &Stage) -> Option<Arc<T>> {
        let equal = |stage: &Stage| match (&stage.step, &wanted.step) {
            (Step::Transform { map, scale_ratio }, Step::Transform { map: other, scale_ratio: ratio }) => {
                stage.level_in == wanted.level_in && scale_ratio == ratio && map == other
            }
            _ => false,
        };
        let mut pairs = self.plan.stages().iter().zip(&self.transforms);
        pairs.find(|(stage, _)| equal(stage)).and_then(|(_, t)| t.clone())
    }

    /// The plan.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }
    /// The encoded maps.
    pub fn transforms(&self) -> impl Iterator<Item = &T> {
        self.transforms.iter().flatten().map(|t| &**t)
    }

    /// Refreshes ciphertexts, which stand at the plan's input level and scale, stage by stage side by side: the keys of linear
    /// maps and their diagonals are read once for all of them. The results (for [`Parts::Pair`] two of each, one after the other) have the plan's
    /// output level; their scale is the last stage's, which is the asked one times the bound.
    ///
    /// # Errors
    /// [`Error::Broken`] if a stage ends elsewhere than planned, [`Error::Cancelled`], and the errors of the evaluator.
    pub fn run<E: Refresh<Transform = T>>(
        &self,
        e: &E,
        cts: &[E::Ciphertext],
        probe: &mut dyn Probe,
    ) -> Result<Vec<E::Ciphertext>, Error> {
        let total = self.plan.stages().len();
        let mut cts = cts.to_vec();
        for (done, (stage, transform)) in self.plan.stages().iter().zip(&self.transforms).enumerate() {
            if !probe.stage(stage, done, total, None) {
                return Err(Error::Cancelled);
            }
            let start = Instant::now();
            cts = self.step(e, &cts, stage, transform.as_deref())?;
            let exact = |ct| e.level(ct) == stage.level_out && same_scale(e.scale(ct), stage.scale_out);
            if !cts.iter().all(exact) {
                return Err(Error::Broken { stage: stage.name.clone() });
            }
            if !probe.stage(stage, done + 1, total, Some(start.elapsed())) {
                return Err(Error::Cancelled);
            }
        }
        Ok(cts)
    }

    fn step<E: Refresh<Transform = T>>(
        &self,
        e: &E,
        cts: &[E::Ciphertext],
        stage: &Stage,
        transform: Option<&T>,
    ) -> Result<Vec<E::Ciphertext>, Error> {
        Ok(match (&stage.step, transform) {
            (Step::Transform { .. }, Some(t)) => e.transforms(cts, t),
            (Step::Transform { .. }, None) => return Err(Error::Broken { stage: stage.name.clone() }),
            (Step::ScaleDown, _) => each(cts, |ct| e.level_down(ct, 0)),
            (Step::SparseSecret, _) => each(cts, |ct| e.sparse_secret(ct)),
            (Step::ModRaise, _) => each(cts, |ct| e.mod_raise(ct, stage.level_out)),
            (Step::RaiseTransform { map, scale_ratio }, _) => {
                e.raise_transforms(cts, stage.level_out, map, *scale_ratio)
            }
            (Step::Trace { rotations }, _) => {
                each(cts, |ct| rotations.iter().try_fold(ct.clone(), |ct, by| e.rotate_sum(&ct, by)))
            }
            (Step::Rescale, _) => each(cts, |ct| {
                let (terms, constant) = (vec![(Complex64::new(1.0, 0.0), ct)], Complex64::default());
                let (level, scale) = (stage.level_in, stage.scale_out);
                e.quadratic(&Quadratic { products: Vec::new(), terms, constant, level, scale })
            }),
            (Step::Settle(to), _) => each(cts, |ct| e.settle(ct, *to)),
            // One after the other: its parts share the keys already, and it takes most of the memory.
            (Step::EvalMod { eval_mod, parts }, _) => {
                let mut results = Vec::new();
                for ct in cts.chunks(1) {
                    results.append(&mut eval_mod.run(e, ct, *parts, stage.scale_out)?);
                }
                return Ok(results);
            }
        }?)
    }
}

/// One by one: what shares no key, or none worth speaking of.
fn each<C>(cts: &[C], step: impl Fn(&C) -> Result<C, SchemeError>) -> Result<Vec<C>, SchemeError> {
    cts.iter().map(step).collect()
}
