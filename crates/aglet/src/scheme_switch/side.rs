//! What a switch asks of an engine with slots.

use crate::runtime::Runtime;
use crate::Error;
use aglet_rlwe::Context;

/// An engine whose bootstrap takes slots to coefficients, and back.
pub trait SlotEngine {
    /// What a switch keeps between conversions.
    type Kept: Default;
    /// Refuses an engine that has no slots, or no bootstrap that a switch can begin with.
    fn check(&self) -> Result<(), Error>;
    /// Its ring.
    fn context(&self) -> &Context;
    /// What it runs on.
    fn runtime(&self) -> &Runtime;
}
