//! The steps of a bootstrap by roots of unity, each with what it asks of an evaluator.

pub mod choose;
pub mod encapsulate;
pub mod gather;
pub mod pack;
pub mod product;
pub mod real_part;
pub mod roots;

use crate::slots_first::steps::linear::Apply;
use crate::slots_first::steps::trace::Trace;
use crate::step::Scaled;
use choose::Choose;
use encapsulate::Encapsulate;
use gather::Gather;
use pack::PackSlots;
use product::Product;
use real_part::RealPart;
use roots::Roots;

crate::steps! {
    /// A step of a bootstrap by roots of unity.
    Ship at Scaled:
    /// All slots into coefficients.
    Pack(PackSlots),
    /// Few slots into coefficients.
    SlotsToCoeffs(Apply),
    /// To the sparse secret.
    Encapsulate(Encapsulate),
    /// To the powers of a root of unity, as factors.
    Roots(Roots),
    /// The same for few slots, side by side in blocks.
    Choose(Choose),
    /// The sum of blocks.
    Trace(Trace),
    /// The product of factors.
    Product(Product),
    /// The product of factors side by side.
    Gather(Gather),
    /// Its real part, or that of each of two.
    RealPart(RealPart),
}
