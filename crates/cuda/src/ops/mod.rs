//! The macro-operations of the ring on a device: as [`aglet_ring::ops`] says, word for word. Each takes lists, so that a kernel has the
//! limbs of all of them to work on.

mod convert;
mod digits;
mod divide;
mod forms;
mod key_products;
mod linear_map;
mod lists;
mod stream;
mod transform;

pub use forms::Form;
pub use key_products::{KeyProduct, Pair};
pub use linear_map::{Diagonal, Diagonals, MapInput};
pub use stream::Stream;
