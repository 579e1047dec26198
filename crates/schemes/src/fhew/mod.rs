//! Bits and small integers in LWE ciphertexts: what gates and look-up tables are before they are bootstrapped.

mod gates;
mod params;
mod tables;

pub use gates::{from_bit, join, mux_halves, not, to_bit, Gate};
pub use params::{Claims, Family, FhewLiteral, FhewParams};
pub use tables::Message;
