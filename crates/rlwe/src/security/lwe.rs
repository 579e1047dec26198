//! The table of LWE with small secrets, by the ratio of modulus and error, which alone counts there.
//!
//! `lwe_security_table.json` is made by `tools/security_blocks.py`; docs/security.md writes its model down, which is stricter than
//! that of the rings' table in one point: the attacker chooses the number of samples. Between two rows the limit is that of the line
//! through them, beyond the last row that of the last.

use super::Secret;
use serde::Deserialize;
use std::sync::OnceLock;

/// Dimension, largest log2(q / sigma) at 128 bits, the attack that is cheapest there.
type Row = (usize, f64, String);

#[derive(Deserialize)]
struct Kind {
    secret: Secret,
    limits: Vec<Row>,
}

#[derive(Deserialize)]
struct Table {
    kinds: Vec<Kind>,
}

fn kinds() -> &'static [Kind] {
    static TABLE: OnceLock<Vec<Kind>> = OnceLock::new();
    TABLE.get_or_init(|| {
        let table: Result<Table, _> = serde_json::from_str(include_str!("../lwe_security_table.json"));
        table.expect("lwe_security_table.json is part of the crate and parses (unit test)").kinds
    })
}

/// The rows of a distribution of secrets, by dimension.
fn rows(secret: Secret) -> Option<&'static [Row]> {
    kinds().iter().find(|k| k.secret == secret).map(|k| &*k.limits)
}

/// Whether there are rows for secrets of this distribution.
pub(super) fn knows(secret: Secret) -> bool {
    rows(secret).is_some()
}

/// The largest `log2(q / sigma)` at 128 bits; `None` below the first row.
pub(super) fn ratio(dimension: usize, secret: Secret) -> Option<f64> {
    let rows = rows(secret)?;
    let above = rows.partition_point(|r| r.0 <= dimension);
    let &(n, ratio, _) = rows[..above].last()?;
    Some(rows.get(above).map_or(ratio, |&(next, next_ratio, _)| {
        ratio + (next_ratio - ratio) * (dimension - n) as f64 / (next - n) as f64
    }))
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
    use super::super::{check, limit, SecurityReport, SIGMA};
    use super::*;

    #[test]
    fn the_gate_is_sharp_on_every_row() {
        assert_eq!(kinds().len(), 9);
        for Kind { secret, limits } in kinds() {
            assert!(limits.windows(2).all(|w| w[0].0 < w[1].0 && w[0].1 < w[1].1), "{secret}");
            assert_eq!(limits.last().unwrap().0, 2048);
            for &(dimension, ratio, _) in limits {
                for sigma in [SIGMA, 1e6] {
                    let at = ratio + f64::log2(sigma);
                    // A ring of as many coefficients may have a row of its own.
                    let ring = limit(dimension, *secret).unwrap_or(0.0);
                    let report = check(dimension, at - 1e-9, sigma, *secret).unwrap();
                    assert!(report.bits >= 128.0 && report.is_secure());
                    assert!(check(dimension, at.max(ring) + 0.001, sigma, *secret).is_err());
                    assert!(check(dimension - 1, at - 1e-9, sigma, *secret).is_err());
                    assert!(SecurityReport::new(dimension, at.max(ring) + 1.0, sigma, *secret).bits < 128.0);
                }
            }
        }
    }

    #[test]
    fn between_rows_lines_speak_and_beyond_them_the_last() {
        let at = |n| ratio(n, Secret::BlockBinary(4)).unwrap();
        assert!((at(680) - (at(672) + at(688)) / 2.0).abs() < 1e-9 && at(680) > at(679));
        assert_eq!(at(4096), at(2048));
        assert_eq!(ratio(511, Secret::Binary), None);
        assert_eq!(ratio(1 << 12, Secret::Gaussian), None);
    }

    /// Sparser secrets have lower limits at every dimension.
    #[test]
    fn limits_fall_with_the_entropy_of_a_coordinate() {
        let order: Vec<Secret> =
            [Secret::Ternary, Secret::Binary].into_iter().chain((2..=8).map(Secret::BlockBinary)).collect();
        for dimension in [704, 1000, 1536, 2048] {
            let limits: Vec<f64> = order.iter().map(|&s| ratio(dimension, s).unwrap()).collect();
            assert!(limits.windows(2).all(|w| w[0] > w[1]), "{dimension}: {limits:?}");
        }
    }

    /// Published sets that are counted by others: what the table says of them. Dimension, log2 of modulus over error, secret.
    #[test]
    fn published_sets() {
        let within = |n, ratio: f64, secret| check(n, ratio + 20.0, f64::exp2(20.0), secret).is_ok();
        // tfhe-rs is made for 132 bits: 2_2 Gaussian 2^-128 (LWE and GLWE) and sets of gates.
        for (n, ratio) in [(866, 18.90), (2048, 48.3), (805, 17.38), (837, 18.18)] {
            assert!(within(n, ratio, Secret::Binary), "{n}");
        }
        // OpenFHE STD128 is 4 bits short, as malb/lattice-estimator counts; STD128Q is not.
        assert!(!within(556, 15.0 - 3.19f64.log2(), Secret::Ternary));
        assert!(within(601, 15.0 - 3.19f64.log2(), Secret::Ternary));
        // TFHEpp's blocks of two.
        assert!(!within(630, 13.4, Secret::BlockBinary(2)));
    }
}
