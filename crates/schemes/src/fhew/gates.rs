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
        let (eighths, weights) = self.form();
        let terms: Vec<_> = bits.iter().copied().zip(weights.iter().copied()).collect();
        let sum = LweCiphertext::combine(ctx, eighth(ctx, eighths), &terms)?;
        let failure = log2_tail(self.distance(), ctx.params().noise().decision(sum.variance()));
        if failure > max_log2_failure {
            return Err(Error::Failure { gate: self.name(), log2: failure, allowed: max_log2_failure });
        }
        Ok(sum)
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

/// `select ? x : y` in halves: two sums whose bootstraps, added, are the result once [`join`] has moved it.
///
/// # Errors
/// As [`Gate::combine`].
pub fn mux_halves(
    ctx: &LweContext,
    [select, x, y]: [&LweCiphertext; 3],
    max_log2_failure: f64,
) -> Result<[LweCiphertext; 2], Error> {
    let then = Gate::And.combine(ctx, &[select, x], max_log2_failure)?;
    Ok([then, Gate::Andny.combine(ctx, &[select, y], max_log2_failure)?])
}

/// The sum of two bits of which at most one is 1, as a bit: it carries the noise of both.
///
/// # Errors
/// Bits of different keys.
pub fn join(ctx: &LweContext, [x, y]: [&LweCiphertext; 2]) -> Result<LweCiphertext, Error> {
    Ok(LweCiphertext::combine(ctx, eighth(ctx, 1), &[(x, 1), (y, 1)])?)
}
