//! The steps of SHIP, each with what it asks of an evaluator.

pub mod encapsulate;
pub mod factors;
pub mod gather;
pub mod one_hot;
pub mod pack;
pub mod product;
pub mod real_part;

use crate::ckks::steps::apply::Apply;
use crate::ckks::steps::trace::Trace;
use crate::step::Scaled;
use encapsulate::Encapsulate;
use factors::Factors;
use gather::Gather;
use one_hot::OneHotFactors;
use pack::PackSlots;
use product::Product;
use real_part::RealPart;

crate::steps! {
    /// A step of SHIP or SPRU.
    Ship at Scaled:
    /// All slots into coefficients.
    Pack(PackSlots),
    /// Few slots into coefficients.
    SlotsToCoeffs(Apply),
    /// To the sparse secret.
    Encapsulate(Encapsulate),
    /// To the powers of a root of unity, as factors.
    Factors(Factors),
    /// The same for few slots, side by side in blocks.
    OneHot(OneHotFactors),
    /// The sum of blocks.
    Trace(Trace),
    /// The product of factors.
    Product(Product),
    /// The product of factors side by side.
    Gather(Gather),
    /// Its real part, or that of each of two.
    RealPart(RealPart),
}
