//! Only the end of a bootstrap: bits in coefficients modulo q0 become the slots of a fresh ciphertext.

use super::iterated::{added, state};
use super::room::Jobs;
use super::run::BootstrapKeys;
use crate::ckks::engine::Engine;
use crate::ckks::Ciphertext;
use crate::runtime::Pass;
use crate::{Control, Error, ParameterError};
use aglet_bootstrap::ckks::request::{Method, Request};
use aglet_rlwe::Sample;
use aglet_schemes::ckks::{self, Known, Points, Stated};
use std::sync::Arc;

impl Engine {
    /// The request for the end of a bootstrap with these keys, for real or complex slots.
    pub(crate) fn raising(&self, keys: &BootstrapKeys<'_>, real: bool) -> Request {
        Request { method: Method::Bits, bound: 1.0, real, target_level: None, ..keys.bootstrap.request() }
    }

    /// Refuses keys that this cannot use, before any work is done.
    ///
    /// # Errors
    /// [`Error::MissingKey`] for a bootstrap key of another method or other slots.
    pub(crate) fn check_raising(&self, keys: &BootstrapKeys<'_>) -> Result<(), Error> {
        keys.serve(&*self.circuit(self.raising(keys, true))?)
    }

    /// Takes a sample modulo q0 under the main secret whose coefficients are 0 or half the torus where parts of slots
    /// are. Gives a ciphertext of bits at the level of a lossy bootstrap, by its stages from the sparse secret on.
    /// `noise` is the deviation of a bit. For `real` slots the imaginary parts are ignored.
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
        let circuit = self.circuit(self.raising(&keys, real))?;
        self.check_raising(&keys)?;
        if let Some((what, found)) = keys.ids().find(|(_, id)| *id != sample.key) {
            return Err(aglet_rlwe::Error::KeyMismatch { what, found, expected: sample.key }.into());
        }
        let first = circuit.raises_from().ok_or(ParameterError::RaisesNothing)?;
        let scale = circuit.plan.stages()[first].from.scale;
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
        let jobs = Jobs { circuit: &circuit, count: 1, from: first };
        let (mut out, ran) = self.on_circuit(jobs, keys, (pass, control), |e, pipeline, probe| {
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
