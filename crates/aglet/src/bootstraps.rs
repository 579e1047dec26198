//! What an engine keeps between bootstraps, in every family that has them.

use crate::runtime::{machine, Cache, StageRun};
use crate::Error;
use aglet_bootstrap::{Bootstrapper, Pipeline, RunOn};
use aglet_ring::process::Lock;
use aglet_rlwe::{Context, Params};
use aglet_schemes::Evaluator;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Contexts of the chains that were raised to, the latest `KEPT` bootstraps with their encoded linear maps, and what the stages of the
/// last run took. Bootstraps on one chain share the maps that they have in common.
pub(crate) struct Bootstraps<B: Bootstrapper, T, const KEPT: usize> {
    contexts: Lock<BTreeMap<Vec<usize>, Arc<Context>>>,
    pipelines: Cache<Arc<B>, Pipeline<B::Step, T>, KEPT>,
    ran: Lock<Vec<StageRun>>,
}

impl<B: Bootstrapper, T, const KEPT: usize> Default for Bootstraps<B, T, KEPT> {
    fn default() -> Self {
        Self { contexts: Lock::default(), pipelines: Cache::default(), ran: Lock::default() }
    }
}

impl<B: Bootstrapper, T, const KEPT: usize> Bootstraps<B, T, KEPT> {
    /// One that ran lately.
    pub(crate) fn find(&self, wanted: impl Fn(&B) -> bool) -> Option<Arc<B>> {
        self.pipelines.find(|kept| wanted(kept)).map(|(kept, _)| kept)
    }

    /// The context of a part of the chain of an engine.
    pub(crate) fn context(&self, whole: &Context, params: &Params) -> Result<Arc<Context>, Error> {
        let primes = params.prime_indices();
        let found = self.contexts.lock().get(primes).cloned();
        if let Some(found) = found {
            return Ok(found);
        }
        let made = whole.subset(primes)?;
        self.contexts.lock().insert(primes.to_vec(), made.clone());
        Ok(made)
    }

    /// The pipeline of a bootstrap. One that is made now is `ready` before it is kept.
    ///
    /// # Errors
    /// [`Error::Memory`] for maps that do not fit into what is free, before they are encoded.
    pub(crate) fn pipeline<E: Evaluator<Transform = T>>(
        &self,
        e: &E,
        circuit: &Arc<B>,
        ready: impl FnOnce() -> Result<(), Error>,
    ) -> Result<Arc<Pipeline<B::Step, T>>, Error>
    where
        B::Step: RunOn<E>,
    {
        if let Some((_, found)) = self.pipelines.find(|kept| kept == circuit) {
            return Ok(found);
        }
        let kept = self.pipelines.all();
        let related = kept.iter().filter(|(other, _)| circuit.shares_maps(other)).map(|(_, pipeline)| &**pipeline);
        let related: Vec<_> = related.collect();
        let all = circuit.plan().stages().iter().zip(circuit.stage_bytes()?);
        let new = all.filter(|(stage, _)| !related.iter().any(|other| other.has(stage)));
        let maps: u64 = new.map(|(_, bytes)| bytes as u64).sum();
        if let Some(available) = machine::memory_available().filter(|&free| maps > free) {
            return Err(machine::out_of_memory("the matrices of this bootstrap", maps, available));
        }
        let made = Pipeline::sharing(e, circuit.plan().clone(), &related)?;
        ready()?;
        Ok(self.pipelines.keep(circuit.clone(), made))
    }

    /// Keeps what the stages of the latest run took: of all its passes, where there were several.
    pub(crate) fn remember(&self, ran: Vec<StageRun>) {
        *self.ran.lock() = ran;
    }

    /// What the stages of the latest run took.
    pub(crate) fn stage_runs(&self) -> Vec<StageRun> {
        self.ran.lock().clone()
    }
}

/// Adds what the stages of another group took.
pub(crate) fn add_up(sum: &mut Vec<StageRun>, stages: Vec<StageRun>) {
    for stage in stages {
        match sum.iter_mut().find(|run| run.name == stage.name) {
            Some(run) => {
                run.seconds += stage.seconds;
                (run.work, run.traffic) = (run.work + stage.work, run.traffic + stage.traffic);
            }
            None => sum.push(stage),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use aglet_ring::traffic::Traffic;
    use aglet_ring::Tally;

    #[test]
    fn stages_of_one_name_add_up() {
        let run = |name: &str, seconds, words| StageRun {
            name: name.into(),
            seconds,
            work: Tally::forward(words),
            traffic: Traffic { launches: words, ..Traffic::default() },
        };
        let mut sum = Vec::new();
        add_up(&mut sum, vec![run("a", 1.0, 2), run("b", 2.0, 3)]);
        add_up(&mut sum, vec![run("a", 0.5, 5), run("c", 1.0, 1)]);
        assert_eq!(sum, [run("a", 1.5, 7), run("b", 2.0, 3), run("c", 1.0, 1)]);
    }
}
