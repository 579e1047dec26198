//! The table for binary and block-binary secrets, judged by the ratio of modulus and error, which alone counts there.
//!
//! `lwe_security_table.json` says how its figures were found. Its model of blocks has no cross-check from outside yet: what it
//! leaves at 128 bits is no margin. Between its rows the next smaller dimension is taken.

use super::Secret;
use serde::Deserialize;
use std::sync::OnceLock;

#[derive(Deserialize)]
struct Row {
    dimension: usize,
    /// Length of the blocks, 1 for a binary secret.
    length: usize,
    /// Largest log2(q / sigma) at 128 bits.
    ratio128: f64,
}

#[derive(Deserialize)]
struct Table {
    rows: Vec<Row>,
}

fn rows() -> &'static [Row] {
    static TABLE: OnceLock<Vec<Row>> = OnceLock::new();
    TABLE.get_or_init(|| {
        let table: Result<Table, _> = serde_json::from_str(include_str!("../lwe_security_table.json"));
        table.expect("lwe_security_table.json is part of the crate and parses (unit test)").rows
    })
}

/// Whether there are rows for blocks of this length.
pub(super) fn knows(length: usize) -> bool {
    rows().iter().any(|r| r.length == length)
}

/// The largest `log2(q / sigma)` at 128 bits: that of the largest dimension not above this one.
pub(super) fn ratio(dimension: usize, secret: Secret) -> Option<f64> {
    let length = match secret {
        Secret::Binary => 1,
        Secret::BlockBinary(length) => length,
        _ => return None,
    };
    let fits = |r: &&Row| r.length == length && r.dimension <= dimension;
    rows().iter().filter(fits).max_by_key(|r| r.dimension).map(|r| r.ratio128)
}

/// 128 within the limit; beyond it a cautious extrapolation that only says how far off the parameters are.
pub(super) fn bits(limit: f64, ratio: f64) -> f64 {
    if ratio <= limit {
        128.0
    } else {
        128.0 * (limit / ratio).powf(super::FALL)
    }
}

#[cfg(test)]
mod tests {
    use super::super::{check, SecurityReport, SIGMA};
    use super::*;

    #[test]
    fn the_gate_is_sharp_on_every_row() {
        assert_eq!(rows().len(), 64);
        for row in rows() {
            let secret = if row.length == 1 { Secret::Binary } else { Secret::BlockBinary(row.length) };
            for sigma in [SIGMA, 1e6] {
                let log_q = row.ratio128 + f64::log2(sigma);
                let at = check(row.dimension, log_q - 1e-9, sigma, secret).unwrap();
                assert!(at.bits == 128.0 && at.is_secure());
                assert!(check(row.dimension, log_q + 0.001, sigma, secret).is_err());
                assert!(check(row.dimension - 1, log_q - 1e-9, sigma, secret).is_err());
                assert!(SecurityReport::new(row.dimension, log_q + 1.0, sigma, secret).bits < 128.0);
            }
        }
    }

    /// The sets that gates and tables stand on: dimension, block length, log2 of error over modulus.
    #[test]
    fn the_sets_of_gates_are_within_it_and_smaller_errors_are_not() {
        let sets =
            [(668, 4, 12.80), (1536, 4, 35.09), (622, 1, 12.85), (1536, 1, 35.94), (824, 4, 16.80), (2048, 4, 46.32)];
        for (dimension, length, ratio) in sets {
            let secret = if length == 1 { Secret::Binary } else { Secret::BlockBinary(length) };
            assert!(check(dimension, ratio + 8.0, 256.0, secret).is_ok(), "{dimension}");
        }
        assert!(check(668, 13.0 + 8.0, 256.0, Secret::BlockBinary(4)).is_err());
        assert!(check(630, 13.4 + 8.0, 256.0, Secret::BlockBinary(4)).is_err());
    }
}
