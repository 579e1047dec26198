//! FHEW/TFHE: bits and small integers in LWE ciphertexts, with gates and lookup tables, before the bootstrap.

mod gates;
mod integer;
mod message;
mod nearest;
mod params;
mod tables;
mod tree;
mod unsigned;

pub use gates::{check_refresh, from_bit, mux_end, mux_start, mux_table, not, pair_table, to_bit, Decision, Gate};
pub use integer::Integer;
pub use message::{either, Domain, Message, MAX_LOG2_FAILURE};
pub use nearest::{Nearest, Span};
pub use params::{Claims, Family, FhewLiteral, FhewParams};
pub use tables::{half_steps, interleave, parts_of_half_steps, Table};
pub use tree::{entry_factors, row_factors, Factors, Node, Row, Rows, Tree, TreeTable, TURNS};
pub use unsigned::{Counts, Group, Part, Unsigned};

#[cfg(test)]
mod tests;
