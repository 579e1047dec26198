//! Exact integers as users see them: vectors or polynomials modulo t, with so many products one after the other as there are
//! levels, and as many again after a bootstrap.

mod bootstrap;
mod circuits;
pub mod cost;
mod engine;
mod message;
pub mod presets;
pub mod report;

pub use crate::runtime::{StageCost, StageRun};
pub(crate) use bootstrap::Messages;
pub use bootstrap::{BootstrapKey, Forecast};
pub use circuits::{Comparison, MOST_COMPARED_BITS};
pub(crate) use engine::rotation_galois;
pub use engine::{Engine, RelinearizationKey, RotationKey};
pub use message::{Message, Plaintext};

/// A table over slots, see [`Engine::table`].
pub use aglet_circuits::table::Table;
/// Encrypted integers of an [`Engine`]; cheap to clone, never changed.
pub use aglet_schemes::integer::IntegerCiphertext as Ciphertext;
/// Its parameters, what they are made of, and where the numbers of a message stand.
pub use aglet_schemes::integer::{IntegerLiteral, IntegerParams, Packing};
