//! Bootstraps of CKKS: slots-first, which raises the modulus, and SHIP, which does not. Each method is a folder with
//! its steps, its handling of requests, and its keys. [`BootstrapKind`] says which method a parameter set has, and both
//! implement [`Bootstrapping`].

pub mod circuit;
pub mod request;
pub mod ship;
pub mod slots_first;
pub mod steps;

pub use circuit::BootstrapCircuit;

use crate::error::Error;
use crate::own_keys::OwnKeys;
use crate::step::Scaled;
use aglet_rlwe::security::Security;
use aglet_schemes::ckks::{CkksLiteral, CkksParams};
use request::{Method, Request};
use slots_first::steps::eval_mod::Functional;
use std::sync::Arc;

/// A bootstrap method: how it handles parameters and requests.
pub trait Bootstrapping: Sync {
    /// Lays out a request: chooses the limbs and proves the stages.
    ///
    /// # Errors
    /// What the method has not, what the parameters lack, and what [`Plan`](crate::Plan) refuses.
    fn circuit(&self, params: &CkksParams, request: Request) -> Result<BootstrapCircuit, Error>;
    /// The same for a functional bootstrap, with the key of a regular or lossy one.
    ///
    /// # Errors
    /// As there; [`Error::NoFunctional`] for a method that has none.
    fn functional(
        &self,
        params: &CkksParams,
        _request: Request,
        _functional: &Arc<Functional>,
    ) -> Result<BootstrapCircuit, Error> {
        Err(Error::NoFunctional { preset: params.name().to_string() })
    }
    /// Stages of a request with this method for so many slots that names none.
    fn default_stages(&self, method: Method, slots: usize) -> usize;
    /// The request that the bootstrap key for this one is made for: it serves all that differ in nothing else.
    fn request_of_key(&self, request: Request) -> Request;
    /// What makes the keys of a circuit that only this method has.
    ///
    /// # Errors
    /// Parameters of another method.
    fn own_keys(&self, circuit: &BootstrapCircuit) -> Result<Box<dyn OwnKeys>, Error>;
    /// The methods that a set of parameters has levels for.
    fn methods(&self, params: &CkksParams) -> Vec<Method>;
    /// Whether it raises the modulus: then bits in coefficients can enter in the middle, and a second pass has levels.
    fn raises_modulus(&self) -> bool;
    /// How far a number in `[-1, 1]` may be from what becomes of it without noise, where no overflow decides.
    fn largest_error(&self, params: &CkksParams, method: Method) -> Option<f64>;
    /// The most slots, below all of the ring, that it may have if only few are served; 0 otherwise.
    fn few_slots(&self, _params: &CkksParams) -> usize {
        0
    }
    /// What a meet-in-the-middle attack on the sparse secret costs at least, in bits, where the number of secrets decides.
    fn secret_bits(&self, _params: &CkksParams) -> Option<f64> {
        None
    }
}

/// Reads a literal, [`CkksLiteral::from_toml`], of any of the methods.
///
/// # Errors
/// Those of the literal.
pub fn literal(text: &str) -> Result<CkksLiteral, aglet_schemes::Error> {
    CkksLiteral::extended::<ship::ShipParams>(text, ship::TABLE)
}

/// [`literal`], then [`CkksParams::new`].
///
/// # Errors
/// As those two.
pub fn params(text: &str, security: Security) -> Result<CkksParams, aglet_schemes::Error> {
    CkksParams::new(literal(text)?, security)
}

crate::steps! {
    /// A step of any bootstrap of CKKS.
    CkksStep at Scaled:
    /// A step of a slots-first bootstrap, which raises the modulus.
    SlotsFirst(slots_first::steps::SlotsFirst),
    /// A step of SHIP.
    Ship(ship::steps::Ship),
}

/// The bootstrap method of a parameter set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BootstrapKind {
    /// Slots-first ([`slots_first`]).
    SlotsFirst,
    /// SHIP ([`ship`]).
    Ship,
}

impl BootstrapKind {
    /// That of these parameters.
    #[must_use]
    pub fn of(params: &CkksParams) -> Self {
        if ship::rotation_shape(params).is_some() {
            Self::Ship
        } else {
            Self::SlotsFirst
        }
    }
    /// What it answers.
    #[must_use]
    pub fn rules(self) -> &'static dyn Bootstrapping {
        match self {
            Self::SlotsFirst => &slots_first::Rules,
            Self::Ship => &ship::Rules,
        }
    }
}
