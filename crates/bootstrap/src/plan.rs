//! A bootstrap as data: the list of its stages, checked link by link before any key or ciphertext exists.

use crate::error::Error;
use crate::step::{Metadata, Stage, Step};

/// The stages of a bootstrap. Each begins where the one before it ends.
#[derive(Debug, Clone)]
pub struct Plan<S: Step> {
    stages: Vec<Stage<S>>,
}

impl<S: Step> Plan<S> {
    /// Makes a plan of these stages, at least one, on a chain of these moduli (as doubles, bottom to top).
    ///
    /// # Errors
    /// Those of [`Plan::check`].
    pub fn new(stages: Vec<Stage<S>>, moduli: &[f64]) -> Result<Self, Error> {
        let plan = Self { stages };
        plan.check(moduli)?;
        Ok(plan)
    }

    /// The same plan, of steps of which its own are some.
    pub fn among<T: Step<Metadata = S::Metadata> + From<S>>(self) -> Plan<T> {
        let stage = |Stage { name, step, from, to }| Stage { name, step: T::from(step), from, to };
        Plan { stages: self.stages.into_iter().map(stage).collect() }
    }

    /// Proves that every stage starts where the one before it ends and stays within the chain.
    ///
    /// # Errors
    /// [`Error::Broken`] names the first stage that does not fit, [`Error::Chain`] if there is none at all.
    pub fn check(&self, moduli: &[f64]) -> Result<(), Error> {
        if self.stages.is_empty() {
            return Err(Error::Chain { primes: moduli.len(), needed: 1 });
        }
        let before = std::iter::once(None).chain(self.stages.iter().map(Some));
        for (before, stage) in before.zip(&self.stages) {
            let follows = before.is_none_or(|before| before.to.meets(&stage.from));
            if !follows || !stage.step.check(&stage.from, &stage.to, moduli) {
                return Err(Error::Broken { stage: stage.name.clone() });
            }
        }
        Ok(())
    }

    /// The stages, in order.
    pub fn stages(&self) -> &[Stage<S>] {
        &self.stages
    }
    /// The level and scale that the input is brought to.
    pub fn input(&self) -> S::Metadata {
        self.stages[0].from
    }
    /// The level and scale of the output.
    pub fn output(&self) -> S::Metadata {
        self.stages[self.stages.len() - 1].to
    }
}
