//! Numbers anywhere between whole ones, as digits of two bits of the nearest whole number.
//!
//! `2^w` times an unsigned number of w bits has on the whole torus what it lacks to a whole number. A rotation reads its sign, which brings it
//! to half of the torus, and a second one takes it off by a triangular wave. The wave has no jump, so a whole number is left wherever noise
//! decides the sign: only values half way between two may become either. What is left is read four bits at a time ([`Span`]). For each span
//! the number is multiplied anew, and the span below is taken off it, so noise does not grow with the bits of the number.

use super::message::{either, fraction, Message, MAX_LOG2_FAILURE};
use super::Unsigned;
use crate::Error;
use aglet_rlwe::lwe::{log2_tail, LweContext, Noise};

/// By how much of the step between two phases the bits below, and what is lacking, move a phase at most.
const BELOW: f64 = 1.0 / 16.0;
/// The variance of what the wave leaves, over that of a decision: of three times the sum of two, where the sign was decided by noise.
const LEFT: f64 = 18.0;
/// Bits of a digit.
const DIGIT: u32 = 2;
/// Digits of a span.
const DIGITS: u32 = 2;

/// How an unsigned number is read as digits of two bits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Nearest {
    unsigned: Unsigned,
    spans: Vec<Span>,
}

/// The bits of one or two digits. Rotations read the highest of them, then the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// The bits below it.
    pub low: u32,
    /// Its bits, 2 or 4.
    pub bits: u32,
    /// The bits of the next span; 0 for the last one.
    pub next: u32,
    /// Base-2 logarithm of how many tables share a rotation: for the highest bit, and for the others.
    pub log_tables: [u32; 2],
}

impl Nearest {
    /// The lowest `digits` digits of a number, with tables that share rotations where that keeps [`MAX_LOG2_FAILURE`] for an input of this
    /// variance.
    ///
    /// # Errors
    /// [`Error::Message`] for no digit, or more than the number has.
    pub fn new(unsigned: Unsigned, digits: u32, noise: &Noise, variance: f64) -> Result<Self, Error> {
        if digits == 0 || DIGIT * digits > unsigned.bits() {
            let allowed = format!("1 to {}", unsigned.bits() / DIGIT);
            return Err(Error::Message { value: digits.into(), what: "a number of digits of two bits", allowed });
        }
        let first = (0..digits).step_by(DIGITS as usize);
        let width = |at: u32| DIGIT * digits.saturating_sub(at).min(DIGITS);
        let span = |at| Span { low: DIGIT * at, bits: width(at), next: width(at + DIGITS), log_tables: [0, 0] };
        let mut made = Self { unsigned, spans: first.map(span).collect() };
        let share = MAX_LOG2_FAILURE - (2.0 * made.spans.len() as f64 + 1.0).log2();
        for span in 0..made.spans.len() {
            for part in [0, 1] {
                let most = made.spans[span].tables(part).next_power_of_two().trailing_zeros();
                let fits = |log: &u32| made.log2_of(noise, variance, &made.spans[span], part, *log) <= share;
                made.spans[span].log_tables[part] = (0..=most).rev().find(fits).unwrap_or(0);
            }
        }
        Ok(made)
    }

    /// Its spans, the lowest first.
    #[must_use]
    pub fn spans(&self) -> &[Span] {
        &self.spans
    }
    /// What brings the bits of a span to the whole torus.
    #[must_use]
    pub fn factor(&self, span: &Span) -> i64 {
        1 << (self.unsigned.bits() - span.low - span.bits)
    }
    /// Rotations for each number.
    #[must_use]
    pub fn rotations(&self) -> usize {
        let of = |span: &Span, part| span.tables(part).div_ceil(1 << span.log_tables[part]);
        2 + self.spans.iter().map(|span| of(span, 0) + of(span, 1)).sum::<usize>()
    }

    /// log2 of the probability that a digit of a whole number is wrong, for an input of this variance.
    #[must_use]
    pub fn log2_failure(&self, noise: &Noise, variance: f64) -> f64 {
        let mut all = vec![log2_tail(0.5, self.lacking(noise, variance))];
        for span in &self.spans {
            all.extend([0, 1].map(|part| self.log2_of(noise, variance, span, part, span.log_tables[part])));
        }
        either(&all)
    }
    /// How near to half way between two whole numbers a value may lie, in steps of one, and become the farther one with a probability above
    /// `2^allowed`: at most 1/2.
    #[must_use]
    pub fn half_way(&self, noise: &Noise, variance: f64, allowed: f64) -> f64 {
        let (variance, mut ends) = (self.lacking(noise, variance), [0.0, 0.5]);
        for _ in 0..50 {
            let middle = (ends[0] + ends[1]) / 2.0;
            ends[usize::from(log2_tail(middle, variance) <= allowed)] = middle;
        }
        ends[1]
    }

    /// The variance of the decision of what is lacking, with a step of one on the whole torus.
    fn lacking(&self, noise: &Noise, variance: f64) -> f64 {
        noise.decision(variance * 4f64.powi(self.unsigned.bits() as i32))
    }
    /// As [`Nearest::log2_failure`], of one decision: by how much a phase may be off, and the noise that it has.
    fn log2_of(&self, noise: &Noise, variance: f64, span: &Span, part: usize, log_tables: u32) -> f64 {
        let of_own = |times: u32| noise.blind_rotation * 4f64.powi(times as i32);
        let (distance, before) = match span.low {
            // Both rotations of what is lacking count, the first one by what it adds to the decision of the second.
            0 => (1.0, of_own(0) + LEFT * noise.decision(of_own(span.bits)) / 4f64.powi(span.bits as i32)),
            _ => (1.0 - 2.0 * BELOW, 2.0 * of_own(0) + variance * (self.factor(span) as f64).powi(2)),
        };
        let highest = if part == 0 { 0.0 } else { of_own(span.next) };
        log2_tail(distance * f64::from(span.bits + 1).exp2().recip(), noise.interleaved(before + highest, log_tables))
    }
}

impl Span {
    /// How many tables a part is read by: what is taken off, and its digits.
    fn tables(&self, part: usize) -> usize {
        match part {
            0 => 2,
            _ => usize::from(self.next > 0) + (self.bits / DIGIT) as usize,
        }
    }
    /// The digit of the span that has its highest bit.
    #[must_use]
    pub fn highest_digit(&self) -> usize {
        ((self.bits - 1) / DIGIT) as usize
    }

    /// The table of the sign of what a number lacks to a whole one, or of the wave: a step of one is `2^-bits` of the torus.
    #[must_use]
    pub fn lacking(&self, ctx: &LweContext, wave: bool) -> Vec<u64> {
        let (q, n) = (u128::from(ctx.modulus().value()), ctx.params().n());
        if !wave {
            return vec![fraction(ctx, 1 << (self.bits + 2)); n];
        }
        let parts = (2 * n as u128) << self.bits;
        (0..n).map(|i| ((i.min(n - i) as u128 * q + parts / 2) / parts) as u64).collect()
    }
    /// What moves a number that is multiplied for this span: to the middle of what the bits below may be.
    #[must_use]
    pub fn middle(&self, ctx: &LweContext) -> u64 {
        // Nothing but what is lacking lies below the second span, to either side.
        if self.low <= DIGIT * DIGITS {
            return 0;
        }
        ctx.modulus().neg(fraction(ctx, 1 << (self.bits + 5)))
    }
    /// What moves phases to the middle of the boxes of the highest bit.
    #[must_use]
    pub fn boxes(&self, ctx: &LweContext) -> u64 {
        fraction(ctx, 1 << (self.bits + 1))
    }

    /// The tables of the highest bit with what to add to their results: what is taken off, at the scale of the next span, and its digit.
    #[must_use]
    pub fn highest(&self, ctx: &LweContext, to: Message) -> Vec<(Vec<u64>, u64)> {
        let m = ctx.modulus();
        let weight = 1 << ((self.bits - 1) % DIGIT);
        let halves = [fraction(ctx, 1 << (self.next + 2)), m.mul(weight, fraction(ctx, 2 * to.torus()))];
        halves.map(|half| (vec![m.neg(half); ctx.params().n()], half)).into()
    }
    /// The tables of the other bits: what is taken off the next span, if there is one, and the digits.
    #[must_use]
    pub fn others(&self, ctx: &LweContext, to: Message) -> Vec<Vec<u64>> {
        let (m, n) = (ctx.modulus(), ctx.params().n());
        let boxes = 1usize << (self.bits - 1);
        // The last half box is that of 0, half the torus on.
        let value = |i: usize| ((i + n / (2 * boxes)) / (n / boxes) % boxes) as u64;
        let table = |one: u64, of: &dyn Fn(u64) -> u64| (0..n).map(|i| m.mul(of(value(i)), one)).collect();
        let mut made = Vec::new();
        if self.next > 0 {
            made.push(table(fraction(ctx, 1 << (self.bits + self.next)), &|value| value));
        }
        made.push(table(fraction(ctx, to.torus()), &|value| value & 3));
        if self.bits > DIGIT {
            made.push(table(fraction(ctx, to.torus()), &|value| value >> DIGIT));
        }
        made
    }
}
