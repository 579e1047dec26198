//! Runs a plan on an evaluator: ciphertexts, or numbers in the clear.

use crate::error::Error;
use crate::plan::{Plan, Stage, Step};
use aglet_schemes::Refresh;
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
        Self::with_transforms(e, plan, &[])
    }

    /// As [`Pipeline::new`] for a plan that differs from this one in the bound only: the maps after mod_raise do not
    /// depend on it and are shared.
    ///
    /// # Errors
    /// Those of the encoding.
    pub fn rebound<E: Refresh<Transform = T>>(&self, e: &E, plan: Plan) -> Result<Self, Error> {
        let raised = |s: &Stage| s.level_in > plan.input_level();
        let kept: Vec<_> =
            self.transforms.iter().zip(plan.stages()).map(|(t, s)| t.clone().filter(|_| raised(s))).collect();
        Self::with_transforms(e, plan, &kept)
    }

    fn with_transforms<E: Refresh<Transform = T>>(e: &E, plan: Plan, kept: &[Option<Arc<T>>]) -> Result<Self, Error> {
        let encode = |(i, stage): (usize, &Stage)| match (&stage.step, kept.get(i)) {
            (_, Some(Some(transform))) => Ok(Some(transform.clone())),
            (Step::Transform { map, scale_ratio }, _) => {
                Ok(Some(Arc::new(e.encode_transform(map, stage.level_in, *scale_ratio)?)))
            }
            _ => Ok(None),
        };
        let transforms = plan.stages().iter().enumerate().map(encode).collect::<Result<_, Error>>()?;
        Ok(Self { plan, transforms })
    }

    /// The plan.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }
    /// The encoded maps.
    pub fn transforms(&self) -> impl Iterator<Item = &T> {
        self.transforms.iter().flatten().map(|t| &**t)
    }

    /// Refreshes `ct`, which stands at the plan's input level and scale. The result has the plan's output level; its scale
    /// is the last stage's, which is the asked one times the bound.
    ///
    /// # Errors
    /// [`Error::Broken`] if a stage ends elsewhere than planned, [`Error::Cancelled`], and the errors of the evaluator.
    pub fn run<E: Refresh<Transform = T>>(
        &self,
        e: &E,
        ct: &E::Ciphertext,
        probe: &mut dyn Probe,
    ) -> Result<E::Ciphertext, Error> {
        let total = self.plan.stages().len();
        let mut ct = ct.clone();
        for (done, (stage, transform)) in self.plan.stages().iter().zip(&self.transforms).enumerate() {
            if !probe.stage(stage, done, total, None) {
                return Err(Error::Cancelled);
            }
            let start = Instant::now();
            ct = match (&stage.step, transform) {
                (Step::Transform { .. }, Some(t)) => e.transform(&ct, t)?,
                (Step::Transform { .. }, None) => return Err(Error::Broken { stage: stage.name.clone() }),
                (Step::ScaleDown, _) => e.level_down(&ct, 0)?,
                (Step::SparseSecret, _) => e.sparse_secret(&ct)?,
                (Step::ModRaise, _) => e.mod_raise(&ct, stage.level_out)?,
                (Step::EvalMod { eval_mod, real: false }, _) => eval_mod.eval_mod_complex(e, &ct, stage.scale_out)?,
                (Step::EvalMod { eval_mod, real: true }, _) => eval_mod.eval_mod_real(e, &ct, stage.scale_out)?,
            };
            let exact = aglet_schemes::evaluator::same_scale(e.scale(&ct), stage.scale_out);
            if e.level(&ct) != stage.level_out || !exact {
                return Err(Error::Broken { stage: stage.name.clone() });
            }
            if !probe.stage(stage, done + 1, total, Some(start.elapsed())) {
                return Err(Error::Cancelled);
            }
        }
        Ok(ct)
    }
}
