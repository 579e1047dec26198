//! What is wrong with parameters or with what does not belong to them: a variant with fields for each, by family.
//!
//! Their sentences have no full stop, since they stand inside that of [`Error::BadParameters`](crate::Error).

mod chain;
mod lwe;
mod ring_switch;
#[cfg(test)]
mod tests;

pub use chain::{ChainFault, SecretFault};
pub use lwe::{LweFault, MethodFault, OperandFault};
pub use ring_switch::RingSwitchFault;

/// Why this floor refuses parameters, or operands for them.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ParameterFault {
    /// Of a main or sparse secret.
    #[error(transparent)]
    Secret(#[from] SecretFault),
    /// Of the ring, its primes or the digits of key switches.
    #[error(transparent)]
    Chain(#[from] ChainFault),
    /// Of the parameters of LWE and GLWE.
    #[error(transparent)]
    Lwe(#[from] LweFault),
    /// Of a key, ciphertext or table of LWE and GLWE.
    #[error(transparent)]
    Operand(#[from] OperandFault),
    /// Of a switch between a large ring and that of FHEW.
    #[error(transparent)]
    RingSwitch(#[from] RingSwitchFault),
}
