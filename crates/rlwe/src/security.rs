//! The security gate: what a modulus may claim for a dimension, an error and a secret.
//!
//! The figures are those of `security_table.json`: classical attacks, MATZOV cost model, error sigma 3.2, unlimited samples.
//! Sparse secrets are judged by the column `rot128`, which lets one lattice reduction serve all N rotations of a guess.
//! The dimension is the degree N of a ring, or that of an LWE problem, which is at least as hard as the ring of as many
//! coefficients. Nothing here claims more than the table supports: between its rows the next smaller dimension or sparser secret
//! is taken, between its levels a lower bound of the security is interpolated, a larger error counts as one of 3.2, and what
//! has no row is refused. Binary, block-binary and, from dimension 512 to 2048, ternary secrets are in a second table, where the error
//! counts as it is (see `lwe.rs`); where both tables speak the larger limit holds, since each is a lower bound.

mod lwe;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::OnceLock;

use serde::Deserialize;

pub use crate::distribution::Secret;
use crate::error::{hundredths, Error};
use crate::fault::SecretFault;

impl Secret {
    /// Refuses a weight or block length that `n` coefficients cannot have.
    ///
    /// # Errors
    /// [`Error::BadParameters`].
    pub fn check(self, n: usize) -> Result<(), Error> {
        let (what, found, least) = match self {
            Secret::FixedWeight(h) => ("weight", h, 1),
            Secret::BlockSparse(blocks) => ("number of blocks", blocks, 1),
            Secret::BlockBinary(length) => ("block length", length, 2),
            Secret::Ternary | Secret::Binary | Secret::Gaussian => return Ok(()),
        };
        if (least..=n).contains(&found) {
            return Ok(());
        }
        Err(SecretFault::Range { n, what, found, least }.into())
    }
}

/// What a parameter set must prove before it is built.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Security {
    /// At least 128 bits by the table, for every secret of the set.
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

/// Error deviation that the table assumes.
const SIGMA: f64 = aglet_ring::sample::GAUSSIAN_SIGMA;

/// The row that speaks for this dimension and secret: the largest dimension not above it, the densest secret not above it.
fn row(dimension: usize, secret: Secret) -> Option<&'static Row> {
    let (kind, weight) = match secret {
        Secret::Ternary => ("ternary", None),
        Secret::FixedWeight(h) => ("sparse", Some(h)),
        Secret::BlockSparse(blocks) => ("block_sparse", Some(blocks)),
        Secret::Binary | Secret::BlockBinary(_) | Secret::Gaussian => return None,
    };
    // Every secret has its own rows only.
    let fits = |r: &&Row| r.secret == kind && 1 << r.logn <= dimension && r.h <= weight;
    table().iter().filter(fits).max_by_key(|r| (r.logn, r.h))
}

/// The largest log2 of the modulus that keeps 128 bits at sigma 3.2 or more; `None` if no modulus of 12 bits or more does, or the
/// table has no row.
#[must_use]
pub fn limit(dimension: usize, secret: Secret) -> Option<f64> {
    row(dimension, secret)?.limit()
}

/// What a modulus proves about one secret.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SecurityReport {
    /// Ring degree, or LWE dimension.
    pub dimension: usize,
    /// log2 of the largest modulus under which the secret is used.
    pub log_q: f64,
    /// Standard deviation of the error.
    pub sigma: f64,
    /// Distribution of the secret.
    pub secret: Secret,
    /// Largest `log_q` at 128 bits; `None` if there is none.
    pub limit: Option<f64>,
    /// A lower bound of the classical security in bits, between 0 and 256. At or above 128 it rests on the table. Below 128
    /// it is a cautious extrapolation that only says how far off the parameters are; 0 stands for what the table does not know.
    pub bits: f64,
}

impl SecurityReport {
    /// Looks the figures up.
    #[must_use]
    pub fn new(dimension: usize, log_q: f64, sigma: f64, secret: Secret) -> Self {
        let known = sigma >= SIGMA && log_q > 0.0;
        let ring = row(dimension, secret).and_then(|r| r.limit().map(|limit| (limit, bits(r, limit, log_q))));
        let lwe =
            lwe::ratio(dimension, secret).map(|ratio| (ratio + sigma.log2(), lwe::bits(ratio, log_q - sigma.log2())));
        let both = [ring, lwe].into_iter().flatten().filter(|_| known);
        let (limit, bits) = both.fold((None, 0.0), |(limit, bits): (Option<f64>, f64), next| {
            (Some(limit.map_or(next.0, |l| l.max(next.0))), bits.max(next.1))
        });
        Self { dimension, log_q, sigma, secret, limit, bits }
    }

    /// Whether the table supports 128 bits.
    #[must_use]
    pub fn is_secure(&self) -> bool {
        self.limit.is_some_and(|limit| self.log_q <= limit)
    }

    /// Why there is no figure, if there is none.
    fn unknown(&self) -> Option<&'static str> {
        if self.sigma.is_nan() || self.sigma < SIGMA {
            return Some("its error is smaller than 3.2, which the table is for");
        }
        let has_row = row(self.dimension, self.secret).is_some() || lwe::ratio(self.dimension, self.secret).is_some();
        match (has_row, self.secret) {
            (true, _) if self.log_q > 0.0 => None,
            (true, _) => Some("its modulus is no number above 1"),
            (false, Secret::Gaussian) => Some("the table has no row for such secrets"),
            (false, Secret::BlockBinary(_)) if !lwe::knows(self.secret) => {
                Some("the table has no row for such secrets")
            }
            (false, _) => Some("the table has no row for so small a dimension or so sparse a secret"),
        }
    }
}

/// Security by a row that has a limit.
fn bits(row: &Row, limit: f64, log_q: f64) -> f64 {
    if log_q > limit {
        return 128.0 * (limit / log_q).powf(row.fall());
    }
    // Counting rotations costs most at the largest moduli, so the loss at the limit is a bound for all smaller ones.
    let rotation_loss = row.plain_bits(limit) - 128.0;
    (row.plain_bits(log_q) - rotation_loss).max(128.0)
}

impl fmt::Display for SecurityReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_secure() {
            write!(f, "{:.1} bits", self.bits)?;
        } else {
            write!(f, "below 128 bits (about {:.0})", self.bits)?;
        }
        write!(f, " in dimension {}, log2 of the modulus = {:.2}, {}", self.dimension, self.log_q, self.secret)?;
        match self.limit {
            Some(limit) => write!(f, " (128 bits up to {})", hundredths(limit)),
            None => write!(f, " (no modulus reaches 128 bits)"),
        }
    }
}

/// The gate: gives what the table says of 128 bits or more, and refuses everything else. `dimension` is the degree of a ring or
/// the dimension of an LWE problem, `sigma` the deviation of its error.
///
/// # Errors
/// [`Error::InsecureParameters`] with the limit; [`Error::UnknownSecurity`] for what the table has no row for: Gaussian secrets,
/// dimensions below 2^9 (2^10 for fixed weights), secrets sparser than its rows, errors smaller than 3.2.
pub fn check(dimension: usize, log_q: f64, sigma: f64, secret: Secret) -> Result<SecurityReport, Error> {
    let report = SecurityReport::new(dimension, log_q, sigma, secret);
    if report.is_secure() {
        return Ok(report);
    }
    Err(match report.unknown() {
        Some(reason) => Error::UnknownSecurity { dimension, secret, reason },
        None => Error::InsecureParameters { dimension, log_q, limit: report.limit.unwrap_or(0.0), secret },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(log_n: u32, log_q: f64, secret: Secret) -> SecurityReport {
        SecurityReport::new(1 << log_n, log_q, SIGMA, secret)
    }

    #[test]
    fn the_table_is_whole() {
        assert_eq!(table().len(), 76);
        for log_n in 10..=17 {
            assert!(limit(1 << log_n, Secret::Ternary).is_some());
        }
        assert_eq!(limit(1 << 16, Secret::Ternary), Some(1746.0));
        assert_eq!(limit(1 << 15, Secret::FixedWeight(32)), Some(145.0));
        assert_eq!(limit(1 << 14, Secret::BlockSparse(31)), Some(63.0));
    }

    #[test]
    fn the_gate_is_sharp_on_every_row() {
        for row in table() {
            let secret = match (row.secret.as_str(), row.h) {
                ("ternary", None) => Secret::Ternary,
                ("sparse", Some(h)) => Secret::FixedWeight(h),
                ("block_sparse", Some(blocks)) => Secret::BlockSparse(blocks),
                other => panic!("a row of {other:?}"),
            };
            let dimension = 1 << row.logn;
            let Some(limit) = SecurityReport::new(dimension, 12.0, SIGMA, secret).limit else {
                let error = check(dimension, 12.0, SIGMA, secret).unwrap_err();
                assert!(matches!(error, Error::InsecureParameters { limit: 0.0, .. }), "{error}");
                continue;
            };
            let at = check(dimension, limit, SIGMA, secret).unwrap();
            assert!(row.limit().is_some_and(|own| (own..own + 0.5).contains(&limit)), "{at}");
            let above = limit + 0.001;
            let refused = Error::InsecureParameters { dimension, log_q: above, limit, secret };
            assert_eq!(check(dimension, above, SIGMA, secret), Err(refused));
            // The row speaks for all dimensions up to the next, and for larger errors; for no smaller dimension.
            assert!(check(2 * dimension - 1, limit, 1e6, secret).unwrap().limit >= Some(limit));
            assert!(check(dimension - 1, limit, SIGMA, secret).is_err());
            assert!(at.bits >= 128.0 && report(row.logn, limit + 1.0, secret).bits < 128.0, "{at}");
        }
    }

    #[test]
    fn what_the_table_does_not_know_is_refused_with_the_reason() {
        let refused = |dimension, log_q, sigma, secret, words: &str| {
            let error = check(dimension, log_q, sigma, secret).unwrap_err();
            assert!(matches!(error, Error::UnknownSecurity { .. }) && error.to_string().contains(words), "{error}");
            assert_eq!(SecurityReport::new(dimension, log_q, sigma, secret).bits, 0.0);
        };
        for secret in [Secret::Gaussian, Secret::BlockBinary(9)] {
            refused(1 << 16, 20.0, SIGMA, secret, "no row for such secrets");
        }
        for secret in [Secret::Ternary, Secret::Binary, Secret::BlockBinary(4)] {
            refused(511, 12.0, SIGMA, secret, "so small a dimension");
            refused(1024, 12.0, 3.0, secret, "3.2");
            refused(1024, f64::NAN, SIGMA, secret, "modulus");
        }
        for sigma in [3.19, 0.0, -4.0, f64::NAN] {
            refused(1 << 12, 20.0, sigma, Secret::Ternary, "3.2");
        }
        for log_q in [0.0, -20.0, f64::NAN] {
            refused(1 << 12, log_q, SIGMA, Secret::Ternary, "modulus");
        }
        refused(0, 12.0, SIGMA, Secret::Ternary, "so small a dimension");
        refused(1023, 12.0, SIGMA, Secret::FixedWeight(256), "so small a dimension");
        refused(1 << 16, 20.0, SIGMA, Secret::FixedWeight(27), "so sparse");
        refused(1 << 15, 20.0, SIGMA, Secret::FixedWeight(30), "so sparse");
        refused(1 << 12, 20.0, SIGMA, Secret::BlockSparse(31), "so small");
        assert!(
            check(1305, 26.0, SIGMA, Secret::Ternary).is_ok() && check(1305, 35.0, SIGMA, Secret::Ternary).is_err()
        );
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
            (16, 28, 60.0, 165.3),
            (16, 28, 97.0, 150.8),
            (16, 28, 126.0, 142.9),
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
            let bits = report(log_n, log_qp, secret).bits;
            assert!(bits <= attack + 0.05, "2^{log_n} h={h} {log_qp}: {bits} above {attack}");
            let floor = if bits >= 128.0 { 0.85 } else { 0.6 };
            assert!(bits >= floor * attack, "2^{log_n} h={h} {log_qp}: {bits} is needlessly far below {attack}");
        }
    }

    #[test]
    fn falls_with_the_modulus_and_never_rises() {
        for secret in [Secret::Ternary, Secret::FixedWeight(32), Secret::FixedWeight(200)] {
            let bits: Vec<f64> = (1..2000).map(|b| report(16, f64::from(b), secret).bits).collect();
            assert!(bits.windows(2).all(|w| w[0] >= w[1]), "{secret}");
            assert!(bits.iter().all(|&b| (0.0..=256.0).contains(&b)));
        }
    }

    #[test]
    fn between_rows_the_weaker_one_speaks() {
        assert_eq!(limit(1 << 16, Secret::FixedWeight(200)), limit(1 << 16, Secret::FixedWeight(192)));
        assert_eq!(limit(1 << 18, Secret::Ternary), limit(1 << 17, Secret::Ternary));
        assert_eq!(limit(1 << 17, Secret::BlockSparse(64)), limit(1 << 16, Secret::BlockSparse(31)));
        assert_eq!(limit(1 << 16, Secret::FixedWeight(30)), limit(1 << 17, Secret::FixedWeight(28)));
        assert_eq!((limit(1 << 16, Secret::FixedWeight(27)), limit(1 << 15, Secret::FixedWeight(28))), (None, None));
        assert_eq!(limit(1 << 9, Secret::Ternary), None);
        assert!(check(1 << 9, 10.0, SIGMA, Secret::Ternary).is_ok(), "the table of LWE knows it");
        let weak = report(10, 1561.0, Secret::Ternary).to_string();
        assert!(weak.starts_with("below 128 bits"), "{weak}");
    }
}
