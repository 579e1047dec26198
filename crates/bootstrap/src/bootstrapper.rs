//! What engines, keys, models and files ask of a bootstrap, whatever its family.

use crate::error::Error;
use crate::own_keys::OwnKeys;
use crate::packed::{packed_bytes, PackedNeed};
use crate::pipeline::Pipeline;
use crate::plan::Plan;
use crate::step::{KeyNeed, MetadataOf, RunOn, Stage, Step};
use aglet_rlwe::{KeyRole, Params};
use aglet_schemes::Evaluator;
use std::sync::Arc;

/// The state of a ciphertext before or after a bootstrap: its level, and what else its family has.
pub type StateOf<B> = <<B as Bootstrapper>::Step as Step>::Metadata;

/// A bootstrap on a parameter set, laid out and proved before a key exists. Two that are equal do the same.
pub trait Bootstrapper: PartialEq {
    /// Its steps.
    type Step: Step;

    /// The parameters of the chain that its stages run on.
    fn params(&self) -> &Params;

    /// Its stages.
    fn plan(&self) -> &Arc<Plan<Self::Step>>;

    /// The parameters of the chain that its bootstrap key is made on, and the keys in it, in order.
    ///
    /// # Errors
    /// Those of the shapes of keys; a bootstrap that was laid out passes.
    fn keys(&self) -> Result<(Params, Vec<KeyNeed>), Error>;

    /// The keys of each stage: those of its bootstrap key in the shape that they are made in, those of users as they are.
    ///
    /// # Errors
    /// As [`Bootstrapper::keys`].
    fn stage_keys(&self) -> Result<Vec<Vec<KeyNeed>>, Error> {
        self.needs()
    }

    /// The parameters of the chain that a key of its stages is made on.
    fn chain_of(&self, _: KeyRole) -> &Params {
        self.params()
    }
    /// Bytes of the keys of each stage.
    ///
    /// # Errors
    /// As [`Bootstrapper::keys`].
    fn stage_key_bytes(&self) -> Result<Vec<usize>, Error> {
        let bytes = |key: &KeyNeed| key.spec.byte_count(self.chain_of(key.role));
        let stages = self.stage_keys()?;
        Ok(stages.iter().map(|keys| keys.iter().map(bytes).sum()).collect::<Result<_, _>>()?)
    }

    /// What makes those of its keys that only this bootstrap has.
    ///
    /// # Errors
    /// Parameters of another method.
    fn own_keys(&self) -> Result<Box<dyn OwnKeys>, Error>;

    /// The parameters of the chain that its packed keys are made on.
    ///
    /// # Errors
    /// Parameters without one.
    fn packed_params(&self) -> Result<Params, Error> {
        Ok(self.params().clone())
    }

    /// Whether both meet the same encoded maps where they have the same steps: on one chain, with keys of the same shapes.
    fn shares_maps(&self, other: &Self) -> bool {
        self.params().prime_indices() == other.params().prime_indices()
    }

    /// The level and scale, or what the family has, that an input is brought to.
    fn input(&self) -> StateOf<Self> {
        self.plan().input()
    }

    /// The same of the result.
    fn output(&self) -> StateOf<Self> {
        self.plan().output()
    }

    /// The keys that the stages need, stage by stage, as they are made for them on the chain.
    ///
    /// # Errors
    /// As [`Bootstrapper::keys`].
    fn needs(&self) -> Result<Vec<Vec<KeyNeed>>, Error> {
        let of = |s: &Stage<Self::Step>| s.step.keys_needed(&s.from, &s.to, self.params());
        self.plan().stages().iter().map(of).collect()
    }

    /// The packed keys that the stages need, which its bootstrap key has after the others.
    fn packed_needed(&self) -> Vec<PackedNeed> {
        self.plan().stages().iter().flat_map(|stage| stage.step.packed_needed()).collect()
    }

    /// Bytes of the linear maps that each stage encodes.
    ///
    /// # Errors
    /// As [`Bootstrapper::stage_keys`].
    fn stage_bytes(&self) -> Result<Vec<usize>, Error> {
        let keys = self.stage_keys()?;
        let stages = self.plan().stages().iter().zip(&keys);
        stages.map(|(stage, keys)| stage.step.encoded_bytes(self.params(), keys)).collect()
    }

    /// Bytes of the linear maps that its stages encode.
    ///
    /// # Errors
    /// As [`Bootstrapper::stage_keys`].
    fn encoded_bytes(&self) -> Result<usize, Error> {
        Ok(self.stage_bytes()?.into_iter().sum())
    }

    /// Bytes of its bootstrap key, expanded and when stored.
    ///
    /// # Errors
    /// As [`Bootstrapper::keys`].
    fn key_bytes(&self) -> Result<(usize, usize), Error> {
        let ((params, keys), (mut bytes, mut stored)) = (self.keys()?, self.packed_key_bytes()?);
        for KeyNeed { spec, .. } in &keys {
            bytes += spec.byte_count(&params)?;
            stored += spec.stored_bytes(&params)?;
        }
        Ok((bytes, stored))
    }

    /// The same of its packed keys alone, which a card holds packed too.
    ///
    /// # Errors
    /// As [`Bootstrapper::keys`].
    fn packed_key_bytes(&self) -> Result<(usize, usize), Error> {
        let packed = self.packed_needed();
        match packed.is_empty() {
            true => Ok((0, 0)),
            false => Ok(packed_bytes(&self.packed_params()?, &packed)?),
        }
    }

    /// Encodes its maps and runs it, on ciphertexts, numbers in the clear, or a count of work.
    ///
    /// # Errors
    /// Those of [`Pipeline::new`] and [`Pipeline::run`].
    fn run<E: Evaluator>(
        &self,
        e: &E,
        cts: &[E::Ciphertext],
        probe: &mut dyn crate::Probe,
    ) -> Result<Vec<E::Ciphertext>, Error>
    where
        Self::Step: RunOn<E>,
        StateOf<Self>: MetadataOf<E>,
    {
        Pipeline::new(e, self.plan().clone())?.run(e, cts, probe)
    }
}
