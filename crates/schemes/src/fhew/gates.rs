//! Gates: a weighted sum of bits whose sign is the result (eprint 2014/816). A bit is the phase Q/8 for 1 and -Q/8 for 0.

use crate::Error;
use aglet_rlwe::lwe::{log2_tail, LweCiphertext, LweContext};

/// A gate that one bootstrap evaluates.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Gate {
    /// 1 unless both are.
    Nand,
    /// 1 if both are.
    And,
    /// 1 unless both are 0.
    Or,
    /// 1 if both are 0.
    Nor,
    /// 1 if they differ.
    Xor,
    /// 1 if they are the same.
    Xnor,
    /// 1 if the first is 0 and the second 1.
    Andny,
    /// What two or three of three bits are.
    Majority,
}

impl Gate {
    /// All of them.
    pub const ALL: [Gate; 8] =
        [Gate::Nand, Gate::And, Gate::Or, Gate::Nor, Gate::Xor, Gate::Xnor, Gate::Andny, Gate::Majority];

    /// Eighths of Q to add, and the weight of each input.
    fn form(self) -> (i64, &'static [i64]) {
        match self {
            Gate::Nand => (1, &[-1, -1]),
            Gate::And => (-1, &[1, 1]),
            Gate::Or => (1, &[1, 1]),
            Gate::Nor => (-1, &[-1, -1]),
            Gate::Xor => (2, &[2, 2]),
            Gate::Xnor => (-2, &[-2, -2]),
            Gate::Andny => (-1, &[-1, 1]),
            Gate::Majority => (0, &[1, 1, 1]),
        }
    }

    /// Its name in lower case, as users write it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Gate::Nand => "nand",
            Gate::And => "and",
            Gate::Or => "or",
            Gate::Nor => "nor",
            Gate::Xor => "xor",
            Gate::Xnor => "xnor",
            Gate::Andny => "andny",
            Gate::Majority => "majority",
        }
    }

    /// Bits that it takes.
    #[must_use]
    pub fn inputs(self) -> usize {
        self.form().1.len()
    }

    /// Refuses another number of bits than it takes.
    ///
    /// # Errors
    /// [`Error::Inputs`].
    pub fn check(self, found: usize) -> Result<(), Error> {
        let takes = self.inputs();
        if found == takes {
            return Ok(());
        }
        Err(Error::Inputs { gate: self.name(), takes, found })
    }

    /// What it makes of bits in the clear.
    ///
    /// # Panics
    /// If there are fewer bits than it takes.
    #[must_use]
    pub fn of(self, bits: &[bool]) -> bool {
        match self {
            Gate::Nand => !(bits[0] && bits[1]),
            Gate::And => bits[0] && bits[1],
            Gate::Or => bits[0] || bits[1],
            Gate::Nor => !(bits[0] || bits[1]),
            Gate::Xor => bits[0] != bits[1],
            Gate::Xnor => bits[0] == bits[1],
            Gate::Andny => !bits[0] && bits[1],
            Gate::Majority => usize::from(bits[0]) + usize::from(bits[1]) + usize::from(bits[2]) >= 2,
        }
    }

    /// How far the phase is from a wrong sign, in turns.
    #[must_use]
    pub fn distance(self) -> f64 {
        match self {
            Gate::Xor | Gate::Xnor => 0.25,
            _ => 0.125,
        }
    }

    /// The sum of the squared weights of its inputs.
    #[must_use]
    pub fn squared_weights(self) -> f64 {
        self.form().1.iter().map(|w| (w * w) as f64).sum()
    }

    /// The sum whose sign is the result. It is still to be bootstrapped, with [`Gate::table`].
    ///
    /// # Errors
    /// [`Error::Inputs`] for another number of bits, those of the floor below for bits of different keys, and
    /// [`Error::Failure`] if the result would be wrong with a probability above `2^max_log2_failure`.
    pub fn combine(
        self,
        ctx: &LweContext,
        bits: &[&LweCiphertext],
        max_log2_failure: f64,
    ) -> Result<LweCiphertext, Error> {
        self.check(bits.len())?;
        let (eighths, terms) = self.terms(ctx, bits);
        let sum = LweCiphertext::combine(ctx, eighth(ctx, eighths), &terms)?;
        permit(self.name(), self.distance(), ctx, &sum, max_log2_failure)?;
        Ok(sum)
    }

    /// The terms of the sum. A bit that comes twice decides alone where it can: twice its noise would be twice the deviation.
    fn terms<'a>(self, ctx: &LweContext, bits: &[&'a LweCiphertext]) -> (i64, Vec<(&'a LweCiphertext, i64)>) {
        let twice = |i: usize, j: usize| bits[i].is_multiple(ctx, bits[j], 1);
        match self {
            Gate::And | Gate::Or if twice(0, 1) => (0, vec![(bits[0], 1)]),
            Gate::Nand | Gate::Nor if twice(0, 1) => (0, vec![(bits[0], -1)]),
            Gate::Majority if twice(0, 1) || twice(0, 2) => (0, vec![(bits[0], 1)]),
            Gate::Majority if twice(1, 2) => (0, vec![(bits[1], 1)]),
            _ => {
                let (eighths, weights) = self.form();
                (eighths, bits.iter().copied().zip(weights.iter().copied()).collect())
            }
        }
    }

    /// The table of every gate: Q/8 for the upper half of a turn, and so -Q/8 for the lower.
    #[must_use]
    pub fn table(ctx: &LweContext) -> Vec<u64> {
        vec![eighth(ctx, 1); ctx.params().n()]
    }
}

/// `round(k Q / 8)` modulo Q.
fn eighth(ctx: &LweContext, k: i64) -> u64 {
    let m = ctx.modulus();
    let one = (m.value() + 4) / 8;
    m.mul(m.reduce_i64(k), one)
}

/// The phase of a bit.
#[must_use]
pub fn from_bit(ctx: &LweContext, bit: bool) -> u64 {
    eighth(ctx, if bit { 1 } else { -1 })
}

/// The bit of a phase.
#[must_use]
pub fn to_bit(ctx: &LweContext, phase: u64) -> bool {
    ctx.modulus().centre(phase) > 0
}

/// The negation of a bit, which costs no bootstrap.
///
/// # Errors
/// A bit of another set.
pub fn not(ctx: &LweContext, bit: &LweCiphertext) -> Result<LweCiphertext, Error> {
    Ok(LweCiphertext::combine(ctx, 0, &[(bit, -1)])?)
}

/// The first of two steps to `select ? x : y`: whether select and x are 1, to be bootstrapped with [`mux_table`].
///
/// # Errors
/// As [`Gate::combine`].
pub fn mux_start(
    ctx: &LweContext,
    [select, x]: [&LweCiphertext; 2],
    max_log2_failure: f64,
) -> Result<LweCiphertext, Error> {
    Gate::And.combine(ctx, &[select, x], max_log2_failure)
}

/// The table of the first step: twice a bit, so that the result weighs as much as two bits and has the noise of one.
#[must_use]
pub fn mux_table(ctx: &LweContext) -> Vec<u64> {
    vec![eighth(ctx, 2); ctx.params().n()]
}

/// The second step: the sum whose sign is `select ? x : y`, where `both` says whether select and x are 1. Its noise is that of three
/// bits, and that of the result, with [`Gate::table`], the one of any gate.
///
/// # Errors
/// As [`Gate::combine`].
pub fn mux_end(
    ctx: &LweContext,
    both: &LweCiphertext,
    [select, x, y]: [&LweCiphertext; 3],
    max_log2_failure: f64,
) -> Result<LweCiphertext, Error> {
    if y.is_multiple(ctx, select, -1) {
        return Gate::Or.combine(ctx, &[x, y], max_log2_failure);
    }
    // In eighths: 2 if both are 1, else -2; then -1 or 1 by select, 1 or -1 by y, and 1. That is 3 or 1 for 1, -1 or -3 for 0.
    let sum = LweCiphertext::combine(ctx, eighth(ctx, 1), &[(both, 1), (select, -1), (y, 1)])?;
    permit("mux", Gate::And.distance(), ctx, &sum, max_log2_failure)?;
    Ok(sum)
}

/// What is bootstrapped for the same bit with the noise of a gate: the bit itself.
///
/// # Errors
/// [`Error::Failure`] as [`Gate::combine`].
pub fn check_refresh(ctx: &LweContext, bit: &LweCiphertext, max_log2_failure: f64) -> Result<(), Error> {
    permit("refresh", Gate::And.distance(), ctx, bit, max_log2_failure)
}

/// Refuses a sum whose phase would pass a distance too often where a rotation reads it.
fn permit(gate: &'static str, distance: f64, ctx: &LweContext, sum: &LweCiphertext, allowed: f64) -> Result<(), Error> {
    let log2 = log2_tail(distance, ctx.noise().decision(sum.variance()));
    match log2 <= allowed {
        true => Ok(()),
        false => Err(Error::Failure { gate, log2, allowed }),
    }
}
