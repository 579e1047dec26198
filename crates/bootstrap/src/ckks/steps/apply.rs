//! The step that applies a linear map.

use crate::error::Error;
use crate::step::{Encoded, KeyNeed, Run, RunOn, Scaled, Step};
use aglet_rlwe::KeySwitchSpec;
use aglet_rlwe::Params;
use aglet_schemes::ckks::{transform_shape, TransformShape};
use aglet_schemes::{Approximate, LinearMap};

/// One linear map (a factor of the homomorphic DFT), with the ratio of its output to its input scale.
#[derive(Debug, Clone, PartialEq)]
pub struct Apply {
    /// The map, on all slots of the ring.
    pub map: LinearMap,
    /// The chain level that it is applied at.
    pub level: usize,
    /// Output scale over input scale.
    pub scale_ratio: f64,
}

impl Apply {
    fn shape(&self, params: &Params, keys: &[KeyNeed]) -> Result<TransformShape, Error> {
        let held: Option<&KeySwitchSpec> = keys.first().map(|key| &key.spec);
        Ok(transform_shape(params, &self.map, self.level, held)?)
    }
}

impl Step for Apply {
    type Metadata = Scaled;

    fn check(&self, from: &Scaled, to: &Scaled, _: &[f64]) -> bool {
        from.level == self.level && self.level == to.level + 1
    }
    fn keys_needed(&self, _: &Scaled, _: &Scaled, params: &Params) -> Result<Vec<KeyNeed>, Error> {
        KeyNeed::rotations(params, self.level + 1, self.rotations().unwrap_or_default())
    }
    fn describe(&self, params: &Params, keys: &[KeyNeed]) -> Result<String, Error> {
        let shape = self.shape(params, keys)?;
        let (megabytes, digits) = (shape.matrix_bytes as f64 / 1e6, shape.spec.digits.len());
        let plural = if digits == 1 { "" } else { "s" };
        Ok(format!("{} diagonals, {megabytes:.1} MB; {digits} digit{plural}", self.map.diagonals().len()))
    }
    fn rotations(&self) -> Option<Vec<usize>> {
        let (babies, giant) = self.map.rotations();
        Some(babies.into_iter().chain(giant).collect())
    }
    fn encoded_bytes(&self, params: &Params, keys: &[KeyNeed]) -> Result<usize, Error> {
        Ok(self.shape(params, keys)?.matrix_bytes)
    }
}

impl<E: Approximate> RunOn<E> for Apply {
    fn encode(&self, e: &E) -> Result<Option<Encoded<E::Transform>>, Error> {
        Ok(Some(Encoded::Map(e.encode_transform(&self.map, self.level, self.scale_ratio)?)))
    }
    fn run_on(&self, e: &E, Run { cts, encoded, .. }: Run<'_, E, Scaled>) -> Result<Vec<E::Ciphertext>, Error> {
        Ok(e.transforms(cts, Encoded::map(encoded)?)?)
    }
}
