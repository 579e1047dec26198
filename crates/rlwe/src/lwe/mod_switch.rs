//! The switch of an LWE sample to the modulus 2N, whose words are exponents of X.

use super::LweContext;

/// Exponents below 2N: those of the mask, one for each of the n coordinates, and that of the body. They are public.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Switched {
    /// Of the mask.
    pub mask: Vec<u16>,
    /// Of the body.
    pub body: u16,
}

impl Switched {
    /// Rounds `2N a / Q`, the body down: the boundaries of tables then fall on whole exponents. What rounding the mask does to the phase
    /// on average, for coordinates of the secret's mean, is taken off the body (mean compensation, eprint 2025/809).
    ///
    /// Exponents of the mask are odd for a method that has no other.
    ///
    /// All exponents are multiples of `2^log_tables`: what a rotation brings to the first coefficients is then an entry of each of
    /// that many tables that lie interleaved. The variance of the switch is `4^log_tables` times that of the formula.
    #[must_use]
    pub fn new(ctx: &LweContext, sample: &[u64], log_tables: u32) -> Self {
        let q = ctx.modulus().value() as f64;
        let two_n = ((2 * ctx.params().n()) >> log_tables) as f64;
        let (mask, body) = sample.split_at(sample.len() - 1);
        let odd = ctx.params().spec().method.rotates_by_odd();
        let mut left = 0.0;
        let exponent = |x: f64| (x.rem_euclid(two_n) as u16) << log_tables;
        let mask = mask.iter().map(|&a| {
            let x = a as f64 * two_n / q;
            let rounded = if odd { 2.0 * (x / 2.0).floor() + 1.0 } else { x.round() };
            left += x - rounded;
            exponent(rounded)
        });
        let mask = mask.collect();
        let body = (body[0] as f64 * two_n / q - ctx.params().mean() * left).floor();
        Self { mask, body: exponent(body) }
    }
}
