//! BGV/BFV as users see it: exact vectors or polynomials modulo t. A ciphertext allows as many products in sequence as
//! it has levels, and a bootstrap gives new levels.

mod bootstrap;
pub mod card;
mod circuits;
pub mod cost;
mod engine;
mod keys;
mod message;
mod parts;
pub mod presets;
pub mod report;

pub use crate::runtime::{StageCost, StageRun};
pub(crate) use bootstrap::Messages;
pub use bootstrap::{BootstrapKey, Forecast};
pub use circuits::{Comparison, MOST_COMPARED_BITS};
pub use engine::Engine;
pub(crate) use keys::{fixed_galois, rotation_galois};
pub use keys::{FixedRotationKey, RelinearizationKey, RotationKey};
pub use message::{Message, Plaintext};

/// A table over slots, see [`Engine::table`].
pub use aglet_circuits::table::Table;
/// How a table is looked up with bootstraps, see [`Engine::table_in_parts`].
pub use aglet_circuits::InParts;
/// Encrypted integers of an [`Engine`]. They are cheap to clone and never change.
pub use aglet_schemes::integer::IntegerCiphertext as Ciphertext;
/// Its parameters, their parts, and the packing of messages.
pub use aglet_schemes::integer::{IntegerLiteral, IntegerParams, Packing};
