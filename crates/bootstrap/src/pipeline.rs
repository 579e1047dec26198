//! Runs a plan on an evaluator: ciphertexts, or numbers in the clear.

use crate::error::Error;
use crate::plan::Plan;
use crate::step::{Encoded, Metadata, MetadataOf, Run, RunOn, Stage, Step};
use aglet_schemes::Evaluator;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Watches a run. It is called for each stage before it begins (with `None`) and after it has ended (with its time),
/// and may stop the run.
pub trait Probe {
    /// Return false to stop; the run ends with [`Error::Cancelled`].
    fn stage(&mut self, name: &str, done: usize, total: usize, time: Option<Duration>) -> bool;
}

/// A probe that does nothing.
impl Probe for () {
    fn stage(&mut self, _: &str, _: usize, _: usize, _: Option<Duration>) -> bool {
        true
    }
}

/// A plan with its linear maps encoded; `T` is the [`Transform`](Evaluator::Transform) of the evaluators that it runs on.
pub struct Pipeline<S: Step, T> {
    plan: Arc<Plan<S>>,
    /// One for each stage that has something to encode.
    encoded: Vec<Option<Arc<Encoded<T>>>>,
}

impl<S: Step, T> Pipeline<S, T> {
    /// Encodes the linear maps of a plan.
    ///
    /// # Errors
    /// Those of the encoding.
    pub fn new<E: Evaluator<Transform = T>>(e: &E, plan: impl Into<Arc<Plan<S>>>) -> Result<Self, Error>
    where
        S: RunOn<E>,
    {
        Self::sharing(e, plan, &[])
    }

    /// As [`Pipeline::new`], but shares the maps that other pipelines on the same chain and keys have already encoded.
    ///
    /// # Errors
    /// Those of the encoding.
    pub fn sharing<E: Evaluator<Transform = T>>(
        e: &E,
        plan: impl Into<Arc<Plan<S>>>,
        others: &[&Self],
    ) -> Result<Self, Error>
    where
        S: RunOn<E>,
    {
        let plan = plan.into();
        let encode = |stage: &Stage<S>| match others.iter().find_map(|other| other.encoded(stage)) {
            Some(shared) => Ok(Some(shared)),
            None => Ok(stage.step.encode(e)?.map(Arc::new)),
        };
        let encoded = plan.stages().iter().map(encode).collect::<Result<_, Error>>()?;
        Ok(Self { plan, encoded })
    }

    /// What a stage just like this one has encoded.
    fn encoded(&self, wanted: &Stage<S>) -> Option<Arc<Encoded<T>>> {
        let mut pairs = self.plan.stages().iter().zip(&self.encoded).filter(|(_, encoded)| encoded.is_some());
        pairs.find(|(stage, _)| stage.step == wanted.step).and_then(|(_, encoded)| encoded.clone())
    }

    /// Whether it has encoded what a stage like this one needs.
    pub fn has(&self, stage: &Stage<S>) -> bool {
        self.encoded(stage).is_some()
    }

    /// The plan.
    pub fn plan(&self) -> &Plan<S> {
        &self.plan
    }

    /// Runs the plan on ciphertexts that are at its start, stage by stage side by side: keys and diagonals of linear
    /// maps are read once for all of them. The results are at the end of the plan. If a step makes several results of
    /// each, they follow one another.
    ///
    /// # Errors
    /// [`Error::Broken`] if a stage does not end as planned, [`Error::Cancelled`], and the errors of the evaluator.
    pub fn run<E: Evaluator<Transform = T>>(
        &self,
        e: &E,
        cts: &[E::Ciphertext],
        probe: &mut dyn Probe,
    ) -> Result<Vec<E::Ciphertext>, Error>
    where
        S: RunOn<E>,
    {
        self.run_from(e, 0, cts, probe)
    }

    /// Runs the stages from this one on, for ciphertexts that are at its start.
    ///
    /// # Errors
    /// As [`Pipeline::run`].
    pub fn run_from<E: Evaluator<Transform = T>>(
        &self,
        e: &E,
        first: usize,
        cts: &[E::Ciphertext],
        probe: &mut dyn Probe,
    ) -> Result<Vec<E::Ciphertext>, Error>
    where
        S: RunOn<E>,
    {
        let total = self.plan.stages().len();
        let mut cts = cts.to_vec();
        for (done, (stage, encoded)) in self.plan.stages().iter().zip(&self.encoded).enumerate().skip(first) {
            if !probe.stage(&stage.name, done, total, None) {
                return Err(Error::Cancelled);
            }
            let start = Instant::now();
            cts = stage.step.run_on(e, Run { cts: &cts, to: &stage.to, encoded: encoded.as_deref() })?;
            if !cts.iter().all(|ct| S::Metadata::of(e, ct).meets(&stage.to)) {
                return Err(Error::Broken { stage: stage.name.clone() });
            }
            if !probe.stage(&stage.name, done + 1, total, Some(start.elapsed())) {
                return Err(Error::Cancelled);
            }
        }
        Ok(cts)
    }
}
