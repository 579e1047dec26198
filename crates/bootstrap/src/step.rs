//! The parts of a bootstrap: steps, each in a file of its own, and stages, which are steps at a place in a plan.
//!
//! A step says what it needs, what it does and how it runs. If it needs more than arithmetic from an evaluator, its
//! file has a small trait for that, implemented for every evaluator. So a new method is one file and a line in the list
//! of steps ([`steps!`](crate::steps)); plans, pipelines, keys, models and reports follow from it.

use crate::error::Error;
use crate::packed::PackedNeed;
use aglet_ring::automorphism::rotation_exponent;
use aglet_rlwe::Params;
use aglet_rlwe::{KeyRole, KeySet, KeySwitchSpec};
use aglet_schemes::ckks::approximate::same_scale;
use aglet_schemes::{Approximate, Evaluator};
use std::any::Any;
use std::fmt::Debug;

/// The state of a ciphertext before or after a stage.
pub trait Metadata: Copy + Debug {
    /// Whether both are one place, up to rounding.
    fn meets(&self, other: &Self) -> bool;
}

/// The state of a ciphertext of an approximate scheme.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Scaled {
    /// The chain level.
    pub level: usize,
    /// The scale.
    pub scale: f64,
}

impl Metadata for Scaled {
    fn meets(&self, other: &Self) -> bool {
        self.level == other.level && same_scale(self.scale, other.scale)
    }
}

/// The states of an evaluator's ciphertexts.
pub trait MetadataOf<E: Evaluator>: Metadata {
    /// Where a ciphertext stands.
    fn of(e: &E, ct: &E::Ciphertext) -> Self;
}

impl<E: Approximate> MetadataOf<E> for Scaled {
    fn of(e: &E, ct: &E::Ciphertext) -> Self {
        Self { level: e.level(ct), scale: e.scale(ct) }
    }
}

/// One row of the stage table: a step from one place to another.
#[derive(Debug, Clone)]
pub struct Stage<S: Step> {
    /// "slots_to_coeffs 1/3", "mod_raise", ...
    pub name: String,
    /// The step.
    pub step: S,
    /// The state before it.
    pub from: S::Metadata,
    /// The state after it.
    pub to: S::Metadata,
}

/// A switching key that a stage needs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyNeed {
    /// Its role.
    pub role: KeyRole,
    /// Its limbs and digits if it is made for this stage.
    pub spec: KeySwitchSpec,
}

impl KeyNeed {
    /// Its role, and the limbs of the chain that it serves.
    pub fn place(&self) -> (KeyRole, usize) {
        (self.role, self.spec.q_limbs)
    }

    /// Keys for rotations to the left, on this number of limbs of the chain of `params`.
    ///
    /// # Errors
    /// Those of [`KeySwitchSpec::balanced`].
    pub fn rotations(params: &Params, limbs: usize, by: impl IntoIterator<Item = usize>) -> Result<Vec<Self>, Error> {
        let spec = KeySwitchSpec::balanced(params, limbs)?;
        let role = |by| KeyRole::Galois(rotation_exponent(by as isize, params.n()));
        Ok(by.into_iter().map(|by| Self { role: role(by), spec: spec.clone() }).collect())
    }

    /// Keys for relinearizations, one for each number of limbs of the chain of `params`.
    ///
    /// # Errors
    /// Those of [`KeySwitchSpec::balanced`].
    pub fn squares(params: &Params, limbs: impl IntoIterator<Item = usize>) -> Result<Vec<Self>, Error> {
        let spec = |limbs| KeySwitchSpec::balanced(params, limbs);
        limbs.into_iter().map(|limbs| Ok(Self { role: KeyRole::Relinearization, spec: spec(limbs)? })).collect()
    }
}

/// Needs of one role become one, of the limbs that serve all of them.
impl FromIterator<KeyNeed> for KeySet<KeySwitchSpec> {
    fn from_iter<I: IntoIterator<Item = KeyNeed>>(needs: I) -> Self {
        needs.into_iter().map(|KeyNeed { role, spec }| (role, spec)).collect()
    }
}

/// A step of a bootstrap, described before a key or a ciphertext exists.
pub trait Step: Clone + PartialEq + Debug {
    /// Levels, and what else a ciphertext has on the way.
    type Metadata: Metadata;

    /// Whether it leads from one place to the other on a chain of these moduli (as doubles, bottom to top).
    fn check(&self, from: &Self::Metadata, to: &Self::Metadata, moduli: &[f64]) -> bool;

    /// The keys that it needs, as they are made for it on the chain of `params`.
    ///
    /// # Errors
    /// Those of the shapes of keys; a plan that was checked passes.
    fn keys_needed(
        &self,
        _from: &Self::Metadata,
        _to: &Self::Metadata,
        _params: &Params,
    ) -> Result<Vec<KeyNeed>, Error> {
        Ok(Vec::new())
    }

    /// The packed keys that it needs.
    fn packed_needed(&self) -> Vec<PackedNeed> {
        Vec::new()
    }

    /// Its note in the stage table, beside the number and size of its `keys`.
    ///
    /// # Errors
    /// Those of the shapes of linear maps; a plan that was checked passes.
    fn describe(&self, _params: &Params, _keys: &[KeyNeed]) -> Result<String, Error> {
        Ok(String::new())
    }

    /// The rotations to the left by which it takes its input, for steps that rotate.
    fn rotations(&self) -> Option<Vec<usize>> {
        None
    }

    /// Bytes of what is encoded ahead of a run with these keys.
    ///
    /// # Errors
    /// As [`Step::describe`].
    fn encoded_bytes(&self, _params: &Params, _keys: &[KeyNeed]) -> Result<usize, Error> {
        Ok(0)
    }
}

/// What a step has encoded ahead.
pub enum Encoded<T> {
    /// A linear map of the evaluator.
    Map(T),
    /// What only the step knows.
    Own(Box<dyn Any + Send + Sync>),
}

impl<T> Encoded<T> {
    /// The linear map.
    ///
    /// # Errors
    /// [`Error::NotEncoded`] for anything else.
    pub fn map(encoded: Option<&Self>) -> Result<&T, Error> {
        match encoded {
            Some(Self::Map(map)) => Ok(map),
            _ => Err(Error::NotEncoded),
        }
    }
    /// What the step encoded, of its own type.
    ///
    /// # Errors
    /// [`Error::NotEncoded`] for anything else.
    pub fn own<X: Any>(encoded: Option<&Self>) -> Result<&X, Error> {
        match encoded {
            Some(Self::Own(own)) => own.downcast_ref().ok_or(Error::NotEncoded),
            _ => Err(Error::NotEncoded),
        }
    }
}

/// What a step runs on.
pub struct Run<'a, E: Evaluator, M> {
    /// Ciphertexts at the start of the stage, side by side.
    pub cts: &'a [E::Ciphertext],
    /// The state after it.
    pub to: &'a M,
    /// What [`RunOn::encode`] gave.
    pub encoded: Option<&'a Encoded<E::Transform>>,
}

/// Runs a step on an evaluator that has what the step needs.
pub trait RunOn<E: Evaluator>: Step<Metadata: MetadataOf<E>> {
    /// Encodes what can be encoded ahead. Equal steps have equal encodings.
    ///
    /// # Errors
    /// Those of the encoding.
    fn encode(&self, _e: &E) -> Result<Option<Encoded<E::Transform>>, Error> {
        Ok(None)
    }

    /// Takes the ciphertexts of a run to its end.
    ///
    /// # Errors
    /// Those of the evaluator.
    fn run_on(&self, e: &E, run: Run<'_, E, Self::Metadata>) -> Result<Vec<E::Ciphertext>, Error>;
}

/// The steps of a method as one type, which is a [`Step`] and runs wherever all of them do: `steps!(Name at Metadata: Variant(Type), ...)`.
#[macro_export]
macro_rules! steps {
    ($(#[$doc:meta])* $name:ident at $place:ty: $($(#[$said:meta])* $variant:ident($step:ty)),* $(,)?) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq)]
        pub enum $name {
            $($(#[$said])* $variant($step)),*
        }

        $(impl From<$step> for $name {
            fn from(step: $step) -> Self {
                Self::$variant(step)
            }
        })*

        impl $crate::step::Step for $name {
            type Metadata = $place;

            fn check(&self, from: &$place, to: &$place, moduli: &[f64]) -> bool {
                match self { $(Self::$variant(step) => step.check(from, to, moduli)),* }
            }
            fn keys_needed(
                &self,
                from: &$place,
                to: &$place,
                params: &aglet_rlwe::Params,
            ) -> Result<Vec<$crate::step::KeyNeed>, $crate::Error> {
                match self { $(Self::$variant(step) => step.keys_needed(from, to, params)),* }
            }
            fn describe(
                &self,
                params: &aglet_rlwe::Params,
                keys: &[$crate::step::KeyNeed],
            ) -> Result<String, $crate::Error> {
                match self { $(Self::$variant(step) => step.describe(params, keys)),* }
            }
            fn packed_needed(&self) -> Vec<$crate::packed::PackedNeed> {
                match self { $(Self::$variant(step) => step.packed_needed()),* }
            }
            fn rotations(&self) -> Option<Vec<usize>> {
                match self { $(Self::$variant(step) => step.rotations()),* }
            }
            fn encoded_bytes(
                &self,
                params: &aglet_rlwe::Params,
                keys: &[$crate::step::KeyNeed],
            ) -> Result<usize, $crate::Error> {
                match self { $(Self::$variant(step) => step.encoded_bytes(params, keys)),* }
            }
        }

        impl<E: aglet_schemes::Evaluator> $crate::step::RunOn<E> for $name
        where
            $place: $crate::step::MetadataOf<E>,
            $($step: $crate::step::RunOn<E>),*
        {
            fn encode(&self, e: &E) -> Result<Option<$crate::step::Encoded<E::Transform>>, $crate::Error> {
                match self { $(Self::$variant(step) => step.encode(e)),* }
            }
            fn run_on(
                &self,
                e: &E,
                run: $crate::step::Run<'_, E, $place>,
            ) -> Result<Vec<E::Ciphertext>, $crate::Error> {
                match self { $(Self::$variant(step) => step.run_on(e, run)),* }
            }
        }
    };
}

/// Runs one ciphertext after another, for steps that share no key worth sharing.
pub(crate) fn each<C>(cts: &[C], step: impl Fn(&C) -> Result<C, aglet_schemes::Error>) -> Result<Vec<C>, Error> {
    Ok(cts.iter().map(step).collect::<Result<_, _>>()?)
}
