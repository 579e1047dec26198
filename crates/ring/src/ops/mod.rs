//! Macro-operations: what floors above ask of a ring. Each takes lists of whole polynomials and says nothing of limbs, rows or
//! kernels; what depends on shapes alone is planned once and kept.
//!
//! Results are canonical residues of exact integers, so neither the order of the work nor the kernels show in them. The one
//! rounding, the quotient of a base conversion, is the same unfused sum of doubles everywhere.
//!
//! Lists go in parallel, and so do the limbs of each polynomial: a thread that has no limb left takes one of the next polynomial
//! in place of waiting.

mod convert;
mod digits;
mod divide;
mod forms;
mod key_products;
mod keys;
mod lift;
mod linear_map;
mod public_map;
mod relinearize;
mod stream;
mod transform;

pub use crate::plans::{Division, Leaving, Row};
pub use digits::Digits;
pub use forms::{Constant, Form, Multiplier};
pub use key_products::KeyProduct;
pub use keys::KeyBlock;
pub use lift::Lift;
pub use linear_map::{Diagonals, MapInput};
pub use public_map::apply_diagonals;
pub use relinearize::{in_one_go, Tensor};
pub use stream::KeyStream;

use crate::arch::Halves;
use crate::host_ring::HostRing;
use crate::poly::{Eval, Poly};
use crate::Error;

/// Two polynomials of one shape: the halves of a product with a key.
pub type Pair = (Poly<Eval>, Poly<Eval>);

impl HostRing {
    /// So many pairs with arbitrary contents.
    fn scratch_pairs(&self, count: usize, q_limbs: usize, p_limbs: usize) -> Result<Vec<Pair>, Error> {
        (0..count).map(|_| Ok((self.scratch(q_limbs, p_limbs)?, self.scratch(q_limbs, p_limbs)?))).collect()
    }
}

/// The limbs of pairs of one shape, limb after limb, and of each limb pair after pair.
fn by_limb(pairs: &mut [Pair]) -> Vec<Halves<'_>> {
    let limbs = pairs.first().map_or(0, |(b, _)| b.limbs());
    let mut rows = Vec::with_capacity(limbs * pairs.len());
    let mut each: Vec<_> = pairs.iter_mut().map(|(b, a)| b.limbs_mut().zip(a.limbs_mut())).collect();
    for _ in 0..limbs {
        rows.extend(each.iter_mut().filter_map(Iterator::next));
    }
    rows
}

#[cfg(test)]
#[path = "../tests/ops.rs"]
mod tests;
