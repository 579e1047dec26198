//! Bridges: slots of CKKS ciphertexts as LWE ciphertexts of a look-up engine, for what polynomials approximate badly.
//!
//! The way down is the beginning of a bootstrap: slots become coefficients modulo q0, where a value takes the part of a turn that gates,
//! tables or signs want. A ring switch then leads to the secret of the look-up engine, and every coefficient is an LWE ciphertext.

mod down;

pub use down::{DownKey, Reading};

use crate::fhew;
use crate::{ckks, Control, Error, SecretKey};
use aglet_bootstrap::slots_first::steps::SlotsFirst;
use aglet_bootstrap::Pipeline;
use aglet_ring::process::Lock;
use aglet_rlwe::bridge;
use aglet_schemes::ckks::CkksTransform;
use down::Way;
use std::sync::Arc;

type DownPipeline = Arc<Pipeline<SlotsFirst, CkksTransform>>;

/// Ways down whose linear maps a bridge keeps encoded.
const WAYS: usize = 4;

/// A CKKS engine and a look-up engine, and the ring between them. Shared freely: all methods take `&self`.
pub struct Bridge {
    slots: Arc<ckks::Engine>,
    lookups: Arc<fhew::Engine>,
    between: bridge::Bridge,
    pipelines: Lock<Vec<(Way, DownPipeline)>>,
}

impl Bridge {
    /// A bridge between two engines, which runs on the threads of the first.
    ///
    /// # Errors
    /// [`Error::Parameter`] for parameters that do not bootstrap, or do by roots of unity; a modulus of the look-up engine that has no ring of this degree.
    pub fn new(slots: impl Into<Arc<ckks::Engine>>, lookups: impl Into<Arc<fhew::Engine>>) -> Result<Self, Error> {
        let (slots, lookups) = (slots.into(), lookups.into());
        if !slots.can_bootstrap() || slots.params().rotor_shape().is_some() {
            return Err(Error::Parameter(format!(
                "Parameters \"{}\" have no primes for slots_to_coeffs, which a bridge begins with; take a set that bootstraps.",
                slots.params().name()
            )));
        }
        let (log_n, kernels) = (slots.params().log_n(), slots.runtime.kernels());
        let between = slots.run(|| Ok(bridge::Bridge::new(&lookups.ctx, log_n, kernels)?))?;
        Ok(Self { slots, lookups, between, pipelines: Lock::default() })
    }

    /// The engine whose slots are read.
    #[must_use]
    pub fn slots(&self) -> &ckks::Engine {
        &self.slots
    }
    /// The engine of gates and tables.
    #[must_use]
    pub fn lookups(&self) -> &fhew::Engine {
        &self.lookups
    }

    /// Makes the key that leads from slots to look-ups. What it takes is forecast and compared with `memory_limit` bytes and with what
    /// the system has.
    ///
    /// # Errors
    /// [`Error::KeyMemory`] before anything is allocated, no randomness, a secret key of another degree.
    pub fn create_down_key(
        &self,
        from: &SecretKey,
        to: &fhew::SecretKey,
        memory_limit: Option<u64>,
        control: &Control,
    ) -> Result<DownKey, Error> {
        fhew::fits("bridge key", bridge::DownKey::forecast(&self.between, &self.lookups.ctx), memory_limit)?;
        let mut source = self.slots.runtime.random("bridge key", 0)?;
        control.check()?;
        self.slots.run(|| {
            let key = bridge::DownKey::generate(&self.between, &self.lookups.ctx, (from, to), &mut source)?;
            Ok(DownKey(key))
        })
    }
}
