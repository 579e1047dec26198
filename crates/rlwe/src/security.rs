//! The security gate: what a modulus may claim for a ring degree and a secret.
//!
//! The figures are those of `security_table.json`: classical attacks, MATZOV cost model, error sigma 3.2, unlimited samples.
//! Sparse secrets are judged by the column `rot128`, which lets one lattice reduction serve all N rotations of a guess.
//! Nothing here claims more than the table supports: between its rows the next smaller ring or sparser secret is taken, and
//! between its levels a lower bound of the security is interpolated.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::OnceLock;

use serde::{Deserialize, Serialize};

use crate::error::Error;

/// Distribution of a secret key.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Secret {
    /// Every coefficient uniform in {-1, 0, 1}: the default, and the only choice for a main secret at full modulus.
    #[default]
    Ternary,
    /// Exactly this many coefficients are 1 or -1, the others 0.
    FixedWeight(usize),
}

impl fmt::Display for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Secret::Ternary => write!(f, "a uniform ternary secret"),
            Secret::FixedWeight(h) => write!(f, "a secret of weight {h}"),
        }
    }
}

/// What a parameter set must prove before it is built.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Security {
    /// At least 128 bits by the table, for the main and the ephemeral secret.
    Bits128,
    /// Nothing is proved. For tests and experiments; it has to be spelled out and is shown with the parameters.
    NotChecked,
}

/// One row of the table: limits of log2(QP) for one ring degree and secret.
#[derive(Deserialize)]
struct Row {
    logn: u32,
    secret: String,
    h: Option<usize>,
    max_logqp: BTreeMap<String, Option<f64>>,
    rot128: Option<f64>,
}

#[derive(Deserialize)]
struct Table {
    rows: Vec<Row>,
}

/// The levels of the table, in bits of classical security.
const LEVELS: [f64; 3] = [128.0, 192.0, 256.0];

/// The largest exponent with which the estimate falls beyond the 128-bit limit, `bits = 128 (limit / log_qp)^e`; the measured
/// ones (security.md section 4) are at most 1.0.
const FALL: f64 = 1.1;
/// The exponent of a sparse secret over that between its limits at 192 and 128 bits: the curve becomes steeper. Checked against
/// the light estimator, with rotations, on every row from N = 2^13 and weight 31 on, up to 2.5 times the limit.
const STEEPER: f64 = 1.6;

fn table() -> &'static [Row] {
    static TABLE: OnceLock<Vec<Row>> = OnceLock::new();
    TABLE.get_or_init(|| {
        let table: Result<Table, _> = serde_json::from_str(include_str!("security_table.json"));
        table.expect("security_table.json is part of the crate and parses (unit test)").rows
    })
}

impl Row {
    /// Largest log2(QP) at `level` bits without counting rotations.
    fn plain(&self, level: f64) -> Option<f64> {
        self.max_logqp.get(&format!("{level}")).copied().flatten()
    }

    /// Largest log2(QP) at 128 bits, with rotations counted for a sparse secret.
    fn limit(&self) -> Option<f64> {
        if self.secret == "ternary" {
            self.plain(128.0)
        } else {
            self.rot128
        }
    }

    /// The exponent with which the security falls beyond the 128-bit limit.
    fn fall(&self) -> f64 {
        match (self.h, self.plain(128.0), self.plain(192.0)) {
            (Some(_), Some(limit), Some(next)) => (STEEPER * 1.5f64.ln() / (limit / next).ln()).min(FALL),
            _ => FALL,
        }
    }

    /// A lower bound of the security at a modulus within the plain 128-bit limit, rotations not counted.
    ///
    /// Between two levels the security is close to a power of 1/log_qp. Its exponent is fitted to the two levels and cut
    /// at 1: for dense rows the true curve is steeper than 1/log_qp and convex, so a fitted exponent above 1 would overstate.
    fn plain_bits(&self, log_qp: f64) -> f64 {
        let known: Vec<(f64, f64)> = LEVELS.iter().map_while(|&b| Some((b, self.plain(b)?))).collect();
        for pair in known.windows(2) {
            let ((bits, limit), (next_bits, next_limit)) = (pair[0], pair[1]);
            if log_qp > next_limit {
                let exponent = (next_bits / bits).ln() / (limit / next_limit).ln();
                return bits * (limit / log_qp).powf(exponent.min(1.0));
            }
        }
        known.last().map_or(0.0, |&(bits, _)| bits)
    }
}

/// The row that speaks for this ring and secret: the largest ring degree not above it, the densest secret not above it.
fn row(log_n: u32, secret: Secret) -> Option<&'static Row> {
    let largest = table().iter().map(|r| r.logn).max()?;
    let rows = table().iter().filter(|r| r.logn == log_n.min(largest));
    match secret {
        Secret::Ternary => rows.into_iter().find(|r| r.secret == "ternary"),
        Secret::FixedWeight(h) => {
            rows.filter(|r| r.secret == "sparse" && r.h.is_some_and(|w| w <= h)).max_by_key(|r| r.h)
        }
    }
}

/// The largest log2(QP) that keeps 128 bits, or `None` if no modulus of 12 bits or more does.
#[must_use]
pub fn limit(log_n: u32, secret: Secret) -> Option<f64> {
    row(log_n, secret)?.limit()
}

/// A lower bound of the classical security in bits, between 0 and 256.
///
/// At or above 128 it rests on the table. Below 128 it is a cautious extrapolation that only says how far off the
/// parameters are; 0 stands for a ring or secret that the table does not know (`log_n < 10`, fewer than 31 non-zeros).
#[must_use]
pub fn security_bits(log_n: u32, log_qp: f64, secret: Secret) -> f64 {
    let Some((row, limit)) = row(log_n, secret).and_then(|r| Some((r, r.limit()?))) else {
        return 0.0;
    };
    if log_qp.is_nan() {
        return 0.0;
    }
    if log_qp > limit {
        return 128.0 * (limit / log_qp).powf(row.fall());
    }
    // Counting rotations costs most at the largest moduli, so the loss at the limit is a bound for all smaller ones.
    let rotation_loss = row.plain_bits(limit) - 128.0;
    (row.plain_bits(log_qp) - rotation_loss).max(128.0)
}

/// What a modulus proves about one secret.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SecurityReport {
    /// log2 of the ring degree.
    pub log_n: u32,
    /// log2 of the largest modulus under which the secret is used.
    pub log_qp: f64,
    /// Distribution of the secret.
    pub secret: Secret,
    /// Largest log2(QP) at 128 bits; `None` if there is none.
    pub limit: Option<f64>,
    /// Lower bound of the classical security in bits (see [`security_bits`]).
    pub bits: f64,
}

impl SecurityReport {
    /// Looks the figures up.
    #[must_use]
    pub fn new(log_n: u32, log_qp: f64, secret: Secret) -> Self {
        let (limit, bits) = (limit(log_n, secret), security_bits(log_n, log_qp, secret));
        SecurityReport { log_n, log_qp, secret, limit, bits }
    }

    /// Whether the table supports 128 bits.
    #[must_use]
    pub fn is_secure(&self) -> bool {
        self.limit.is_some_and(|limit| self.log_qp <= limit)
    }
}

impl fmt::Display for SecurityReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_secure() {
            write!(f, "{:.1} bits", self.bits)?;
        } else {
            write!(f, "below 128 bits (about {:.0})", self.bits)?;
        }
        write!(f, " at N = 2^{}, log2(QP) = {:.2}, {}", self.log_n, self.log_qp, self.secret)?;
        match self.limit {
            Some(limit) => write!(f, " (128 bits up to {limit})"),
            None => write!(f, " (no modulus reaches 128 bits)"),
        }
    }
}

/// The gate: refuses a modulus above the 128-bit limit unless the caller spelled out [`Security::NotChecked`].
///
/// # Errors
/// [`Error::InsecureParameters`] with the limit.
pub fn check(log_n: u32, log_qp: f64, secret: Secret, security: Security) -> Result<(), Error> {
    let report = SecurityReport::new(log_n, log_qp, secret);
    if security == Security::NotChecked || report.is_secure() {
        return Ok(());
    }
    let limit = report.limit.unwrap_or(0.0);
    Err(Error::InsecureParameters { log_n, log_qp, limit, secret })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_whole() {
        assert_eq!(table().len(), 75);
        for log_n in 10..=17 {
            assert!(limit(log_n, Secret::Ternary).is_some());
        }
        assert_eq!(limit(16, Secret::Ternary), Some(1746.0));
        assert_eq!(limit(15, Secret::FixedWeight(32)), Some(145.0));
    }

    #[test]
    fn the_gate_is_sharp_on_every_row() {
        for row in table().iter().filter(|r| r.secret != "block_sparse") {
            let secret = row.h.map_or(Secret::Ternary, Secret::FixedWeight);
            let Some(limit) = row.limit() else {
                assert!(check(row.logn, 12.0, secret, Security::Bits128).is_err());
                continue;
            };
            assert!(check(row.logn, limit, secret, Security::Bits128).is_ok());
            assert_eq!(
                check(row.logn, limit + 1.0, secret, Security::Bits128),
                Err(Error::InsecureParameters { log_n: row.logn, log_qp: limit + 1.0, limit, secret })
            );
            assert!(check(row.logn, limit + 1.0, secret, Security::NotChecked).is_ok());
            let (at, above) = (security_bits(row.logn, limit, secret), security_bits(row.logn, limit + 1.0, secret));
            assert!(at >= 128.0 && above < 128.0, "{at} {above}");
        }
        assert!(check(16, f64::NAN, Secret::Ternary, Security::Bits128).is_err());
    }

    #[test]
    fn never_above_the_attacks() {
        // (log_n, h or 0 for ternary, log2(QP), bits of the cheapest attack with rotations counted): security.md 3 and 4.
        let figures = [
            (16, 0, 1560.0, 144.3),
            (16, 0, 1555.0, 144.6),
            (16, 0, 1740.0, 128.5),
            (16, 0, 1760.0, 127.1),
            (16, 0, 1770.0, 126.3),
            (15, 0, 771.0, 145.0),
            (16, 192, 1555.0, 120.8),
            (15, 192, 771.0, 121.4),
            (16, 32, 60.0, 183.0),
            (16, 32, 80.0, 173.0),
            (16, 32, 100.0, 165.0),
            (16, 32, 130.0, 156.0),
            (15, 32, 60.0, 159.0),
            (15, 32, 100.0, 141.0),
            (15, 32, 130.0, 132.0),
            (14, 32, 60.0, 136.0),
            (14, 32, 80.0, 125.0),
            (14, 32, 130.0, 107.0),
            (15, 64, 60.0, 267.0),
            (15, 64, 126.0, 214.0),
            (14, 64, 60.0, 220.0),
            (14, 64, 100.0, 182.0),
            (14, 64, 130.0, 164.0),
            // The sets of RNS-CKKS on SEAL, without and with a special prime.
            (16, 64, 1560.0, 92.7),
            (16, 64, 1620.0, 90.5),
            (16, 96, 1820.0, 93.1),
            (16, 128, 1820.0, 98.6),
            (16, 192, 1760.0, 108.5),
            (16, 192, 1830.0, 105.0),
        ];
        for (log_n, h, log_qp, attack) in figures {
            let secret = if h == 0 { Secret::Ternary } else { Secret::FixedWeight(h) };
            let bits = security_bits(log_n, log_qp, secret);
            assert!(bits <= attack + 0.05, "2^{log_n} h={h} {log_qp}: {bits} above {attack}");
            let floor = if bits >= 128.0 { 0.85 } else { 0.6 };
            assert!(bits >= floor * attack, "2^{log_n} h={h} {log_qp}: {bits} is needlessly far below {attack}");
        }
    }

    #[test]
    fn falls_with_the_modulus_and_never_rises() {
        for secret in [Secret::Ternary, Secret::FixedWeight(32), Secret::FixedWeight(200)] {
            let bits: Vec<f64> = (1..2000).map(|b| security_bits(16, f64::from(b), secret)).collect();
            assert!(bits.windows(2).all(|w| w[0] >= w[1]), "{secret}");
            assert!(bits.iter().all(|&b| (0.0..=256.0).contains(&b)));
        }
    }

    #[test]
    fn between_rows_the_weaker_one_speaks() {
        assert_eq!(limit(16, Secret::FixedWeight(200)), limit(16, Secret::FixedWeight(192)));
        assert_eq!(limit(18, Secret::Ternary), limit(17, Secret::Ternary));
        assert_eq!(limit(16, Secret::FixedWeight(30)), None);
        assert_eq!(limit(9, Secret::Ternary), None);
        assert_eq!(security_bits(9, 20.0, Secret::Ternary), 0.0);
        let weak = SecurityReport::new(10, 1561.0, Secret::Ternary).to_string();
        assert!(weak.starts_with("below 128 bits"), "{weak}");
    }
}
