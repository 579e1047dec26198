//! What is wrong with parameters of a bootstrap, or with what its keys are given: a variant with fields for each.
//!
//! Their sentences have no full stop, since they stand inside that of [`Error::BadParameters`](crate::Error), or of the
//! floor below for what SHIP says of a literal.

mod rotation;
mod ship;
#[cfg(test)]
mod tests;

pub use rotation::RotationFault;
pub use ship::ShipFault;

/// Why this floor refuses parameters, or operands for them.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ParameterFault {
    /// Of SHIP.
    #[error(transparent)]
    Ship(#[from] ShipFault),
    /// Of a blind rotation.
    #[error(transparent)]
    Rotation(#[from] RotationFault),
}
