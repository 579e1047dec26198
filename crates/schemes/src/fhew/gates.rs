//! Gates: a weighted sum of bits, whose sign is the result (eprint 2014/816). A bit has the phase Q/8 for 1 and -Q/8
//! for 0.

use crate::Error;
use aglet_rlwe::lwe::{log2_tail, LweCiphertext, LweContext};

/// A gate that one bootstrap evaluates.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Gate {
    /// 1 unless both bits are 1.
    Nand,
    /// 1 if both bits are 1.
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
    /// The value that at least two of three bits have.
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

    /// Refuses a wrong number of bits.
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

    /// How far the phase is from a wrong sign, on the torus.
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

    /// The sum whose sign is the result. It must still be bootstrapped, with [`Gate::table`].
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
        self.decision(ctx, bits)?.sum(ctx, max_log2_failure)
    }

    /// The sum, before its noise is checked.
    ///
    /// # Errors
    /// [`Error::Inputs`] for another number of bits.
    pub fn decision<'a>(self, ctx: &LweContext, bits: &[&'a LweCiphertext]) -> Result<Decision<'a>, Error> {
        self.check(bits.len())?;
        let (eighths, terms) = self.terms(ctx, bits);
        let pairs: &[[usize; 2]] = if terms.len() == 3 { &[[0, 1], [0, 2], [1, 2]] } else { &[] };
        Ok(Decision { name: self.name(), distance: self.distance(), eighths, terms, pairs })
    }

    /// The terms of the sum. A bit that comes twice decides alone where it can: twice its noise would be twice the deviation.
    fn terms<'a>(self, ctx: &LweContext, bits: &[&'a LweCiphertext]) -> (i64, Vec<(&'a LweCiphertext, i64)>) {
        let twice = |i: usize, j: usize| bits[i].is_multiple(ctx, bits[j], 1);
        match self {
            Gate::And | Gate::Or if twice(0, 1) => (0, vec![(bits[0], 1)]),
            Gate::Nand | Gate::Nor if twice(0, 1) => (0, vec![(bits[0], -1)]),
            // Twice the one less twice the other is none, and a sign of its own.
            Gate::Xor if twice(0, 1) => (-2, vec![(bits[0], 2), (bits[1], -2)]),
            Gate::Xnor if twice(0, 1) => (2, vec![(bits[0], 2), (bits[1], -2)]),
            Gate::Majority if twice(0, 1) || twice(0, 2) => (0, vec![(bits[0], 1)]),
            Gate::Majority if twice(1, 2) => (0, vec![(bits[1], 1)]),
            _ => {
                let (eighths, weights) = self.form();
                (eighths, bits.iter().copied().zip(weights.iter().copied()).collect())
            }
        }
    }

    /// The table of every gate: Q/8 for the upper half of the torus, and so -Q/8 for the lower.
    #[must_use]
    pub fn table(ctx: &LweContext) -> Vec<u64> {
        vec![eighth(ctx, 1); ctx.params().n()]
    }
}

/// A sum whose sign is a bit, to be bootstrapped with [`Gate::table`].
///
/// If three terms have too much noise together, or share some of it, two of them may be bootstrapped first with
/// [`pair_table`]. The result of a rotation has noise of its own, and each sum is then one of two terms. Results of
/// gates have this margin in every set.
#[derive(Clone, Debug)]
pub struct Decision<'a> {
    name: &'static str,
    distance: f64,
    eighths: i64,
    terms: Vec<(&'a LweCiphertext, i64)>,
    /// Terms that may go first, which are two of three and one bit each.
    pairs: &'static [[usize; 2]],
}

impl Decision<'_> {
    /// The sum itself.
    ///
    /// # Errors
    /// As [`Gate::combine`].
    pub fn sum(&self, ctx: &LweContext, max_log2_failure: f64) -> Result<LweCiphertext, Error> {
        let sum = LweCiphertext::combine(ctx, eighth(ctx, self.eighths), &self.terms)?;
        permit(self.name, self.distance, ctx, &sum, max_log2_failure)?;
        Ok(sum)
    }

    /// Pairs that may go first, by their numbers, as far as noises tell that are known before.
    #[must_use]
    pub fn pairs(&self, ctx: &LweContext, max_log2_failure: f64) -> Vec<usize> {
        let log2 = |variance: f64| log2_tail(self.distance, ctx.noise().decision(variance));
        let has_margin = |&pair: &usize| {
            let rest = self.rest(pair).map(|(ct, _)| ct.variance()).sum::<f64>();
            let first = self.pair(ctx, pair).is_ok_and(|first| log2(first.variance()) <= max_log2_failure);
            first && log2(rest + ctx.noise().blind_rotation) <= max_log2_failure
        };
        (0..self.pairs.len()).filter(has_margin).collect()
    }

    /// The sum of a pair: 2/8, 0 or -2/8.
    ///
    /// # Errors
    /// Bits of different keys.
    pub fn pair(&self, ctx: &LweContext, pair: usize) -> Result<LweCiphertext, Error> {
        Ok(LweCiphertext::combine(ctx, 0, &self.pairs[pair].map(|at| self.terms[at]))?)
    }

    /// The sum with the bootstrapped result of its pair.
    ///
    /// # Errors
    /// As [`Gate::combine`], if the other term shares noise with that result.
    pub fn sum_with(
        &self,
        ctx: &LweContext,
        (pair, read): (usize, &LweCiphertext),
        max_log2_failure: f64,
    ) -> Result<LweCiphertext, Error> {
        let terms: Vec<_> = self.rest(pair).chain([(read, 1)]).collect();
        let sum = LweCiphertext::combine(ctx, eighth(ctx, self.eighths), &terms)?;
        permit(self.name, self.distance, ctx, &sum, max_log2_failure)?;
        Ok(sum)
    }

    /// The terms beside a pair.
    fn rest(&self, pair: usize) -> impl Iterator<Item = (&LweCiphertext, i64)> {
        let pair = self.pairs[pair];
        self.terms.iter().enumerate().filter(move |(at, _)| !pair.contains(at)).map(|(_, &term)| term)
    }
}

/// The table of two bits that are to be added to a third: two eighths, none, or less two, as they were.
#[must_use]
pub fn pair_table(ctx: &LweContext) -> Vec<u64> {
    let n = ctx.params().n();
    (0..n).map(|i| if (n / 4..3 * n / 4).contains(&i) { eighth(ctx, 2) } else { 0 }).collect()
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

/// The negation of a bit; it takes no bootstrap.
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

/// The second step: the sum whose sign is `select ? x : y`, where `both` says whether select and x are 1. The sum has
/// the noise of three bits; its result, with [`Gate::table`], has the noise of any gate. If bits are the same
/// ciphertext it is a gate of two.
///
/// # Errors
/// Those of the floor below.
pub fn mux_end<'a>(
    ctx: &LweContext,
    both: &'a LweCiphertext,
    [select, x, y]: [&'a LweCiphertext; 3],
) -> Result<Decision<'a>, Error> {
    let same = |x: &LweCiphertext, sign| x.is_multiple(ctx, select, sign);
    let (gate, bits) = match () {
        () if same(x, 1) => (Gate::Or, [select, y]),
        () if same(x, -1) => (Gate::Andny, [select, y]),
        () if same(y, 1) => (Gate::And, [select, x]),
        () if same(y, -1) => (Gate::Or, [x, y]),
        () if x.is_multiple(ctx, y, 1) => (Gate::Or, [x, y]),
        () => {
            // In eighths: 2 if both are 1, else -2; then -1 or 1 by select, 1 or -1 by y, and 1. That is 3 or 1 for 1, -1 or -3 for 0.
            let terms = vec![(both, 1), (select, -1), (y, 1)];
            return Ok(Decision { name: "mux", distance: Gate::And.distance(), eighths: 1, terms, pairs: &[[1, 2]] });
        }
    };
    gate.decision(ctx, &bits)
}

/// The sum to bootstrap in order to refresh a bit: the bit itself.
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
