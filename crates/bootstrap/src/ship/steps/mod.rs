//! The steps of a bootstrap by roots of unity, each with what it asks of an evaluator.

pub mod encapsulate;
pub mod pack;
pub mod product;
pub mod real_part;
pub mod roots;

use crate::step::Scaled;
use encapsulate::Encapsulate;
use pack::PackSlots;
use product::Product;
use real_part::RealPart;
use roots::Roots;

crate::steps! {
    /// A step of a bootstrap by roots of unity.
    Ship at Scaled:
    /// Slots into coefficients.
    Pack(PackSlots),
    /// To the sparse secret.
    Encapsulate(Encapsulate),
    /// To the powers of a root of unity, as factors.
    Roots(Roots),
    /// Their product.
    Product(Product),
    /// Its real part, or that of each of two.
    RealPart(RealPart),
}
