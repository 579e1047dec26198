//! The end of a bootstrap alone: bits that stand in coefficients modulo q0 already become the slots of a fresh ciphertext.

use super::iterated::{added, state};
use super::run::BootstrapKeys;
use crate::ckks::engine::Engine;
use crate::ckks::Ciphertext;
use crate::runtime::Pass;
use crate::{Control, Error};
use aglet_bootstrap::slots_first::{Method, Request};
use aglet_rlwe::Sample;
use aglet_schemes::ckks::{self, Known, Points, Stated};
use std::sync::Arc;

impl Engine {
    /// The request of a way up with these keys, of real or complex slots.
    pub(crate) fn raising(&self, keys: &BootstrapKeys<'_>, real: bool) -> Request {
        Request { method: Method::Bits, bound: 1.0, real, target_level: None, ..keys.bootstrap.request() }
    }

    /// Refuses keys that a way up cannot take, before any work is done.
    ///
    /// # Errors
    /// [`Error::MissingKey`] for a bootstrap key of another method or other slots.
    pub(crate) fn check_raising(&self, keys: &BootstrapKeys<'_>) -> Result<(), Error> {
        keys.serve(&*self.route(self.raising(keys, true))?)
    }

    /// A sample modulo q0 under the main secret whose coefficients, where parts of slots stand, are 0 or half a turn: a ciphertext of bits
    /// at the level of a lossy bootstrap, by its stages from the sparse secret on. `noise` is the deviation of a bit; of `real` slots
    /// the imaginary parts are not looked at.
    ///
    /// # Errors
    /// Keys that do not belong to the secret of the sample or not to this method, [`Error::Cancelled`].
    pub(crate) fn raise(
        &self,
        sample: Sample,
        (noise, real): (f64, bool),
        keys: BootstrapKeys<'_>,
        control: &Control,
    ) -> Result<Ciphertext, Error> {
        let route = self.route(self.raising(&keys, real))?;
        self.check_raising(&keys)?;
        if let Some((what, found)) = keys.ids().find(|(_, id)| *id != sample.key) {
            return Err(aglet_rlwe::Error::KeyMismatch { what, found, expected: sample.key }.into());
        }
        let first = route.raises_from().ok_or_else(|| {
            Error::Parameter("Bootstraps by roots of unity have no way up; take a set that raises the modulus.".into())
        })?;
        let scale = route.plan.stages()[first].from.scale;
        let unknown = (Known::default(), Stated::default());
        let input = ckks::Ciphertext {
            sample,
            scale,
            slots: self.slots(),
            known: unknown.0,
            stated: unknown.1,
            points: None,
            real,
        };
        let input = Arc::new(input);
        let pass = Pass { number: 0, count: 1 };
        let (mut out, ran) = self.on_route(&route, keys, (pass, control), |e, pipeline, probe| {
            Ok(pipeline.run_from(e, first, std::slice::from_ref(&input), probe)?)
        })?;
        self.remember(ran);
        let mut ct = out.remove(0);
        // An error e of a bit becomes (pi e / 2)^2, whose root mean square is sqrt(3) times its mean.
        let squared = noise * noise * 4.3;
        let (parts, points) = if real { (1.0, Some(Points::Bits)) } else { (std::f64::consts::SQRT_2, None) };
        state(&mut ct, Stated::new(parts, parts * (squared + added(self.params(), 1, 1.0))), points);
        Ok(ct)
    }
}
