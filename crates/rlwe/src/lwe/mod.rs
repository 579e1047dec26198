//! LWE and GLWE modulo one prime: secrets that share coordinates, samples, keys of blind rotations, key switching, modulus switching.
//!
//! One secret S has D = kN coordinates: the k polynomials of GLWE are `S_r = S[rN..(r+1)N]`, and the LWE secret is its prefix
//! `s = S[0..n)` (shared keys, eprint 2023/979). The phase of an LWE sample `(a, b)` is `b - <a, s>`, that of a GLWE sample
//! `(A_0, .., A_(k-1), B)` is `B - sum A_r S_r`. Variances are those of phases over the modulus, squared.

mod automorphism;
mod boxes;
mod choices;
mod ciphertext;
mod ggsw;
mod glwe;
mod method;
mod mod_switch;
mod noise;
mod ntru;
mod packing;
mod params;
mod powers;
mod public_key;
mod rounding;
mod secret;
mod seeded;
mod shared;
mod sources;
mod switch;

pub use automorphism::AutomorphismKeys;
pub use boxes::BoxSample;
pub use ciphertext::LweCiphertext;
pub use ggsw::{BlindRotationKey, GgswMessage, Progress};
pub use glwe::GlweSample;
pub use method::Method;
pub use mod_switch::Switched;
pub use noise::{log2_tail, Noise, Weights};
pub use ntru::{NtruKeys, NtruMessage};
pub use packing::PackingKey;
pub use params::{LweParams, LweSpec};
pub use powers::{Powers, Selectors, Terms};
pub use public_key::LwePublicKey;
pub use rounding::Rounding;
pub use secret::LweSecretKey;
pub use seeded::{samples, SeededKey};
pub use shared::SharedMask;
pub use sources::{NoiseSource, Sources};
pub use switch::LweSwitchingKey;

pub(crate) use secret::draw_errors;

use crate::error::Error;
use crate::fault::LweFault;
use aglet_ring::arch::Kernels;
use aglet_ring::small::SmallTable;
use aglet_ring::Modulus;

/// log2 of the degree of the module that key switches live in (the embedding of eprint 2020/015).
pub(crate) const SWITCH_LOG_N: u32 = 6;

/// Parameters with their tables, for one set of kernels.
pub struct LweContext {
    params: LweParams,
    modulus: Modulus,
    /// Of degree N.
    table: SmallTable,
    /// Of the module of key switches.
    switch: SmallTable,
    /// Of the ring of public keys, where there is one.
    public: Option<SmallTable>,
    noise: Noise,
}

impl LweContext {
    /// The tables of a set.
    ///
    /// # Errors
    /// None for checked parameters.
    pub fn new(params: LweParams, kernels: &'static Kernels) -> Result<Self, Error> {
        let modulus = Modulus::new(params.spec().modulus)?;
        let table = SmallTable::new(modulus, params.spec().log_n, kernels)?;
        let switch = SmallTable::new(modulus, SWITCH_LOG_N, kernels)?;
        let public = params.public_log_n().and_then(|log_n| SmallTable::new(modulus, log_n, kernels).ok());
        let noise = params.noise();
        Ok(Self { params, modulus, table, switch, public, noise })
    }

    /// The parameters.
    #[must_use]
    pub fn params(&self) -> &LweParams {
        &self.params
    }
    /// The formulas of noise, as [`LweParams::noise`].
    #[must_use]
    pub fn noise(&self) -> &Noise {
        &self.noise
    }
    /// The modulus Q.
    #[must_use]
    pub fn modulus(&self) -> &Modulus {
        &self.modulus
    }
    /// The transform of degree N.
    #[must_use]
    pub fn table(&self) -> &SmallTable {
        &self.table
    }
    /// That of the module of key switches, of degree 64.
    #[must_use]
    pub fn switch_table(&self) -> &SmallTable {
        &self.switch
    }
    /// That of the ring of public keys, whose degree is the least power of two that holds all coordinates of the secret.
    ///
    /// # Errors
    /// [`Error::BadParameters`] for a set without public keys: more than 4096 coordinates, or a modulus that has no transform of this degree.
    pub fn public_table(&self) -> Result<&SmallTable, Error> {
        self.public.as_ref().ok_or_else(|| {
            let (coordinates, step) = (self.params.coordinates(), 2 * self.params.coordinates().next_power_of_two());
            LweFault::NoPublicKey { coordinates, step }.into()
        })
    }
}

#[cfg(test)]
#[path = "../tests/compress.rs"]
mod compress_tests;
#[cfg(test)]
#[path = "../tests/public_key.rs"]
mod public_key_tests;
#[cfg(test)]
#[path = "../tests/lwe.rs"]
mod tests;
