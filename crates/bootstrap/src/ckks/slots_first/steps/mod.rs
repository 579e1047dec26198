//! The steps of slots-first bootstraps, each with what it needs from an evaluator.

pub mod encapsulate;
pub mod eval_mod;
pub mod linear;
pub mod mod_raise;
pub mod mod_switch;
pub mod raise_map;

use crate::ckks::steps::apply::Apply;
use crate::ckks::steps::trace::Trace;
use crate::step::Scaled;
use encapsulate::Encapsulate;
use eval_mod::EvalModStep;
use linear::{Rescale, ScaleDown};
use mod_raise::Raise;
use mod_switch::{ModSwitch, ModSwitchIn};
use raise_map::RaiseMap;

crate::steps! {
    /// A step of a slots-first bootstrap.
    SlotsFirst at Scaled:
    /// One linear map, a factor of the homomorphic DFT.
    Apply(Apply),
    /// To the lowest modulus.
    ScaleDown(ScaleDown),
    /// To the sparse ephemeral secret.
    Encapsulate(Encapsulate),
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
    /// From the chain of users, where spare primes stand for those of slots_to_coeffs.
    ModSwitchIn(ModSwitchIn),
    /// To the chain of users, with the last rescale.
    ModSwitch(ModSwitch),
}
