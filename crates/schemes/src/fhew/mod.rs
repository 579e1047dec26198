//! Bits and small integers in LWE ciphertexts: what gates and look-up tables are before they are bootstrapped.

mod gates;
mod integer;
mod message;
mod params;
mod tables;
mod word;

pub use gates::{check_refresh, from_bit, mux_end, mux_start, mux_table, not, to_bit, Gate};
pub use integer::Integer;
pub use message::{either, Domain, Message, MAX_LOG2_FAILURE};
pub use params::{Claims, Family, FhewLiteral, FhewParams};
pub use tables::{half_steps, interleave, PairTable, Table};
pub use word::{Counts, Group, Part, Word};

#[cfg(test)]
mod tests;
