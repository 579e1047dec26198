//! All slots into coefficients, in one level.

use crate::error::Error;
use crate::step::{KeyNeed, RunOn, Scaled, Step};
use aglet_rlwe::Params;
use aglet_schemes::approximate::{same_scale, PACK_LEVEL};
use aglet_schemes::ckks::pack_shape;
use aglet_schemes::{Approximate, Pack};

/// Coefficient `i` becomes the real part of slot `i`, coefficient `i + N/2` its imaginary part.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PackSlots(pub Pack);

impl Step for PackSlots {
    type Place = Scaled;

    fn check(&self, from: &Scaled, to: &Scaled, _: &[f64]) -> bool {
        from.level == PACK_LEVEL && to.level + 1 == from.level && same_scale(to.scale, from.scale * self.0.scale_ratio)
    }
    fn keys_needed(&self, _: &Scaled, _: &Scaled, params: &Params) -> Result<Vec<KeyNeed>, Error> {
        KeyNeed::rotations(params, PACK_LEVEL + 1, pack_shape(params)?.rotations())
    }
    fn describe(&self, params: &Params, _: &[KeyNeed]) -> Result<String, Error> {
        let shape = pack_shape(params)?;
        let (diagonals, megabytes) = (shape.babies * shape.giants, shape.matrix_bytes as f64 / 1e6);
        Ok(format!("{diagonals} diagonals, {megabytes:.1} MB"))
    }
    fn encoded_bytes(&self, params: &Params, _: &[KeyNeed]) -> Result<usize, Error> {
        Ok(pack_shape(params)?.matrix_bytes)
    }
}

impl<E: Approximate> RunOn<E> for PackSlots {
    fn encode(&self, e: &E) -> Result<Option<E::Transform>, Error> {
        Ok(Some(e.encode_pack(&self.0)?))
    }
    fn run_on(
        &self,
        e: &E,
        cts: &[E::Ciphertext],
        _: &Scaled,
        encoded: Option<&E::Transform>,
    ) -> Result<Vec<E::Ciphertext>, Error> {
        Ok(e.transforms(cts, encoded.ok_or(Error::NotEncoded)?)?)
    }
}
