//! What a bootstrap is made of: steps that explain themselves, each in a file of its own, and stages, which are steps in place.
//!
//! A step says what it needs, what it does and how it runs. What it asks of an evaluator beyond arithmetic is a small trait in
//! its own file, implemented there for every evaluator. So a new trick is one file and a line in the list of its method's
//! steps ([`steps!`](crate::steps)): plans, pipelines, keys, models and reports follow from what it says.

use crate::error::Error;
use aglet_ring::automorphism::rotation_exponent;
use aglet_rlwe::Params;
use aglet_rlwe::{KeyRole, KeySwitchSpec};
use aglet_schemes::approximate::same_scale;
use aglet_schemes::{Approximate, Evaluator};
use std::fmt::Debug;

/// Where a ciphertext stands before or after a stage.
pub trait Place: Copy + Debug {
    /// Whether both are one place, up to rounding.
    fn meets(&self, other: &Self) -> bool;
}

/// Where a ciphertext of an approximate scheme stands.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Scaled {
    /// The chain level.
    pub level: usize,
    /// The scale.
    pub scale: f64,
}

impl Place for Scaled {
    fn meets(&self, other: &Self) -> bool {
        self.level == other.level && same_scale(self.scale, other.scale)
    }
}

/// Places of the ciphertexts of an evaluator.
pub trait Stands<E: Evaluator>: Place {
    /// Where a ciphertext stands.
    fn of(e: &E, ct: &E::Ciphertext) -> Self;
}

impl<E: Approximate> Stands<E> for Scaled {
    fn of(e: &E, ct: &E::Ciphertext) -> Self {
        Self { level: e.level(ct), scale: e.scale(ct) }
    }
}

/// One row of the stage table: a step from one place to another.
#[derive(Debug, Clone)]
pub struct Stage<S: Step> {
    /// "slots_to_coeffs 1/3", "mod_raise", ...
    pub name: String,
    /// What it does.
    pub step: S,
    /// Before.
    pub from: S::Place,
    /// After.
    pub to: S::Place,
}

/// A switching key that a stage needs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyNeed {
    /// What it is for.
    pub role: KeyRole,
    /// The limbs and digits that it has if it is made for this stage.
    pub spec: KeySwitchSpec,
}

impl KeyNeed {
    /// Keys for rotations to the left, at so many limbs of the chain of `params`.
    ///
    /// # Errors
    /// Those of [`KeySwitchSpec::balanced`].
    pub fn rotations(params: &Params, limbs: usize, by: impl IntoIterator<Item = usize>) -> Result<Vec<Self>, Error> {
        let spec = KeySwitchSpec::balanced(params, limbs).map_err(aglet_schemes::Error::from)?;
        let role = |by| KeyRole::Galois(rotation_exponent(by as isize, params.n()));
        Ok(by.into_iter().map(|by| Self { role: role(by), spec: spec.clone() }).collect())
    }

    /// Keys for relinearizations, one for each number of limbs of the chain of `params`.
    ///
    /// # Errors
    /// Those of [`KeySwitchSpec::balanced`].
    pub fn squares(params: &Params, limbs: impl IntoIterator<Item = usize>) -> Result<Vec<Self>, Error> {
        let spec = |limbs| KeySwitchSpec::balanced(params, limbs).map_err(aglet_schemes::Error::from);
        limbs.into_iter().map(|limbs| Ok(Self { role: KeyRole::Square, spec: spec(limbs)? })).collect()
    }
}

/// What a stage of a bootstrap does, before a key or a ciphertext exists.
pub trait Step: Clone + PartialEq + Debug {
    /// Levels, and what else a ciphertext has on the way.
    type Place: Place;

    /// Whether it leads from one place to the other on a chain of these moduli (as doubles, bottom to top).
    fn check(&self, from: &Self::Place, to: &Self::Place, moduli: &[f64]) -> bool;

    /// The keys that it needs, as they are made for it on the chain of `params`.
    ///
    /// # Errors
    /// Those of the shapes of keys; a plan that was checked passes.
    fn keys_needed(&self, _from: &Self::Place, _to: &Self::Place, _params: &Params) -> Result<Vec<KeyNeed>, Error> {
        Ok(Vec::new())
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

/// How a step runs on an evaluator that has what it asks for.
pub trait RunOn<E: Evaluator>: Step<Place: Stands<E>> {
    /// Encodes what can be encoded ahead. Equal steps have equal encodings.
    ///
    /// # Errors
    /// Those of the encoding.
    fn encode(&self, _e: &E) -> Result<Option<E::Transform>, Error> {
        Ok(None)
    }

    /// Takes ciphertexts that stand at `from` to `to`, side by side; `encoded` is what [`RunOn::encode`] gave.
    ///
    /// # Errors
    /// Those of the evaluator.
    fn run_on(
        &self,
        e: &E,
        cts: &[E::Ciphertext],
        to: &Self::Place,
        encoded: Option<&E::Transform>,
    ) -> Result<Vec<E::Ciphertext>, Error>;
}

/// The steps of a method as one type, which is a [`Step`] and runs wherever all of them do: `steps!(Name at Place: Variant(Type), ...)`.
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
            type Place = $place;

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
            $place: $crate::step::Stands<E>,
            $($step: $crate::step::RunOn<E>),*
        {
            fn encode(&self, e: &E) -> Result<Option<E::Transform>, $crate::Error> {
                match self { $(Self::$variant(step) => step.encode(e)),* }
            }
            fn run_on(
                &self,
                e: &E,
                cts: &[E::Ciphertext],
                to: &$place,
                encoded: Option<&E::Transform>,
            ) -> Result<Vec<E::Ciphertext>, $crate::Error> {
                match self { $(Self::$variant(step) => step.run_on(e, cts, to, encoded)),* }
            }
        }
    };
}

/// One by one: what shares no key, or none worth speaking of.
pub(crate) fn each<C>(cts: &[C], step: impl Fn(&C) -> Result<C, aglet_schemes::Error>) -> Result<Vec<C>, Error> {
    Ok(cts.iter().map(step).collect::<Result<_, _>>()?)
}
