//! SchemeSwitches from integers: slots of exact integers as LWE ciphertexts of a FHEW key, and messages of FHEW as fresh slots.

mod from_fhew;
mod to_fhew;

use super::{IntegerSchemeSwitch, SlotEngine};
use crate::integer::{cost::Raising, Engine, Messages, Packing};
use crate::runtime::{Cache, Runtime};
use crate::{Error, ParameterError};
use aglet_ring::reversal::reversed;
use aglet_rlwe::Context;

/// How many conversions from FHEW a switch remembers the work of, which takes a tenth of a second to find: one for each number of bits and kind of noise.
const PLANS: usize = 16;

/// The work of conversions from FHEW that a switch of integers remembers.
#[derive(Default)]
pub struct Raisings(Cache<Messages, Raising, PLANS>);

impl SlotEngine for Engine {
    type Kept = Raisings;

    fn check(&self) -> Result<(), Error> {
        match self.can_bootstrap() && self.packing() == Packing::Slots {
            true => Ok(()),
            false => Err(ParameterError::NoIntegerSwitch { name: self.params().name().into() }.into()),
        }
    }
    fn context(&self) -> &Context {
        &self.ctx
    }
    fn runtime(&self) -> &Runtime {
        &self.runtime
    }
}

impl IntegerSchemeSwitch {
    /// The coefficient of a slot: the DFT leaves each row in bit-reversed order, the second N/2 behind the first.
    fn coefficient(&self, slot: usize) -> usize {
        let (row, n) = (self.slots.count() / 2, self.slots.params().n());
        reversed(slot % row, row) * (n / 2 / row) + slot / row * (n / 2)
    }
}
