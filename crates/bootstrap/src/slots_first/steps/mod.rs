//! The steps of slots-first bootstraps, each with what it asks of an evaluator.

pub mod eval_mod;
pub mod exchange;
pub mod linear;
pub mod mod_raise;
pub mod raise_map;
pub mod sparse_secret;
pub mod trace;

use crate::step::Scaled;
use eval_mod::EvalModStep;
use exchange::Exchange;
use linear::{Apply, Rescale, ScaleDown};
use mod_raise::Raise;
use raise_map::RaiseMap;
use sparse_secret::ToSparse;
use trace::Trace;

crate::steps! {
    /// A step of a slots-first bootstrap.
    SlotsFirst at Scaled:
    /// One linear map, a factor of the homomorphic DFT.
    Apply(Apply),
    /// To the lowest modulus.
    ScaleDown(ScaleDown),
    /// To the sparse ephemeral secret.
    ToSparse(ToSparse),
    /// From the lowest modulus to the whole chain.
    Raise(Raise),
    /// The same and a linear map in one.
    RaiseMap(RaiseMap),
    /// Onto the subring of sparse slots.
    Trace(Trace),
    /// One level down.
    Rescale(Rescale),
    /// Removal of the multiples of q0.
    EvalMod(EvalModStep),
    /// Onto the chain of users, with the last rescale.
    Exchange(Exchange),
}
