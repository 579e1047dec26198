//! Unsigned integers modulo 2^w on the whole torus. Groups of their low bits are read and cleared (eprint
//! 2021/1337).
//!
//! `2^(w - t)` times an integer has its low t bits on the whole torus. A first rotation reads the highest of them, a second one the others,
//! which then lie on half the torus; both results are subtracted from it. What is left is an integer of `w - t` bits at the same phase.

use super::message::{either, fraction, Message, MAX_LOG2_FAILURE};
use crate::Error;
use aglet_rlwe::lwe::{log2_tail, LweContext, Noise};

/// Integers from 0 to `2^bits - 1`, modulo `2^bits`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unsigned {
    bits: u32,
}

/// The low bits of an integer that are read together: by one rotation if it is one bit, by two if there are more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Group {
    /// Bits of the integer, those below it cleared already and not counted.
    pub width: u32,
    /// Bits that are read.
    pub bits: u32,
    /// 1 if a rotation that reads two tables reads them interleaved, else 0.
    pub log_tables: u32,
}

/// The bits of a group that one rotation reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// The highest.
    Top,
    /// All others.
    Rest,
}

/// The weight of the bits of a group in the result, as phases.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counts {
    /// Half of the highest bit.
    half: u64,
    /// The lowest bit.
    one: u64,
}

impl Unsigned {
    /// The largest number of bits.
    pub const MOST_BITS: u32 = 20;
    /// The largest number of bits in a group.
    pub const MOST_GROUP: u32 = 5;

    /// Integers of 1 to 20 bits.
    ///
    /// # Errors
    /// [`Error::Message`] for another number of bits.
    pub fn new(bits: u32) -> Result<Self, Error> {
        if !(1..=Self::MOST_BITS).contains(&bits) {
            let allowed = format!("1 to {}", Self::MOST_BITS);
            return Err(Error::Message {
                value: bits.into(),
                what: "a number of bits of an unsigned integer",
                allowed,
            });
        }
        Ok(Self { bits })
    }

    /// Its bits.
    #[must_use]
    pub fn bits(self) -> u32 {
        self.bits
    }

    /// The phase of a number.
    ///
    /// # Errors
    /// [`Error::Message`] for one of more bits.
    pub fn encode(self, ctx: &LweContext, value: u64) -> Result<u64, Error> {
        if value >> self.bits != 0 {
            let allowed = format!("0 to {}", (1u64 << self.bits) - 1);
            return Err(Error::Message { value, what: "an unsigned integer", allowed });
        }
        Ok(parts(ctx, value, self.bits))
    }

    /// The number nearest to a phase.
    #[must_use]
    pub fn decode(self, ctx: &LweContext, phase: u64) -> u64 {
        let q = u128::from(ctx.modulus().value());
        (((u128::from(phase) << (self.bits + 1)) + q) / (2 * q)) as u64 & ((1 << self.bits) - 1)
    }

    /// Half the way from one number to the next, on the torus: how far a phase may be off where it is decrypted.
    #[must_use]
    pub fn distance(self) -> f64 {
        f64::from(self.bits + 1).exp2().recip()
    }

    /// Splits the low `bits` bits into groups of nearly equal size, as few as `allowed` permits, the lowest first.
    ///
    /// # Errors
    /// [`Error::Message`] unless `bits` is 1 to those of the integer, [`Error::Failure`] if even single bits would fail too often.
    pub fn groups(self, noise: &Noise, bits: u32, variance: f64, allowed: f64) -> Result<Vec<Group>, Error> {
        if !(1..=self.bits).contains(&bits) {
            let allowed = format!("1 to {}", self.bits);
            return Err(Error::Message { value: bits.into(), what: "a number of low bits", allowed });
        }
        let mut log2 = 0.0;
        for count in bits.div_ceil(Self::MOST_GROUP)..=bits {
            let groups = self.split((0..count).map(|i| bits / count + u32::from(i < bits % count)));
            log2 = Group::log2_failure(&groups, noise, variance);
            if log2 <= allowed {
                return Ok(groups);
            }
        }
        Err(Error::Failure { gate: "A floor", log2, allowed })
    }

    /// Groups for all bits, each a message of `to`, the lowest first; the last may be smaller. Tables are interleaved where that keeps
    /// [`MAX_LOG2_FAILURE`] for an input of this variance.
    #[must_use]
    pub fn digits(self, noise: &Noise, to: Message, variance: f64) -> Vec<Group> {
        let bits = to.space().trailing_zeros();
        let mut groups = self.split((0..self.bits.div_ceil(bits)).map(|i| bits.min(self.bits - i * bits)));
        // The failures of all groups count together.
        let share = MAX_LOG2_FAILURE - (groups.len() as f64).log2();
        let mut variance = variance;
        for group in &mut groups {
            let interleaved = Group { log_tables: 1, ..*group };
            if Group::log2_failure(&[interleaved], noise, variance) <= share {
                *group = interleaved;
            }
            variance += f64::from(group.rotations()) * noise.blind_rotation;
        }
        groups
    }

    fn split(self, sizes: impl Iterator<Item = u32>) -> Vec<Group> {
        let mut width = self.bits;
        let group = |bits| {
            let group = Group { width, bits, log_tables: 0 };
            width -= bits;
            group
        };
        sizes.map(group).collect()
    }
}

impl Group {
    /// log2 of the probability that one of these groups, read and cleared one after the other, is wrong for an input of this variance.
    #[must_use]
    pub fn log2_failure(groups: &[Group], noise: &Noise, variance: f64) -> f64 {
        let mut all = Vec::new();
        let mut variance = variance;
        for group in groups {
            for _ in group.parts() {
                let scaled = variance * (group.factor() as f64).powi(2);
                all.push(log2_tail(group.distance(), noise.interleaved(scaled, group.log_tables)));
                variance += noise.blind_rotation;
            }
        }
        either(&all)
    }

    /// What is read by a rotation of its own, in this order.
    #[must_use]
    pub fn parts(self) -> &'static [Part] {
        match self.bits {
            1 => &[Part::Top],
            _ => &[Part::Top, Part::Rest],
        }
    }
    /// Parts as a number: rotations for each table.
    #[must_use]
    pub fn rotations(self) -> u32 {
        self.parts().len() as u32
    }
    /// Rotations where its bits are read as a digit as well as taken off the integer: nothing is taken off by the last of all.
    #[must_use]
    pub fn digit_rotations(self) -> u32 {
        let tables = |part: &Part| 1 + u32::from(self.clears(*part, true));
        self.parts().iter().map(|part| if self.log_tables > 0 { 1 } else { tables(part) }).sum()
    }
    /// Whether a part is taken off the integer: always, unless only digits are wanted and nothing is read after it.
    #[must_use]
    pub fn clears(self, part: Part, digits: bool) -> bool {
        !digits || self.width > self.bits || (part == Part::Top && self.bits > 1)
    }
    /// What brings its bits to the whole torus.
    #[must_use]
    pub fn factor(self) -> i64 {
        1 << (self.width - self.bits)
    }
    /// How far phases are from those of other bits, on the torus.
    #[must_use]
    pub fn distance(self) -> f64 {
        f64::from(self.bits + 1).exp2().recip()
    }
    /// What moves phases to where the table of a part wants them: for the highest bit to the middle of their boxes.
    #[must_use]
    pub fn middle(self, ctx: &LweContext, part: Part) -> u64 {
        match part {
            Part::Top => fraction(ctx, 1 << (self.bits + 1)),
            Part::Rest => 0,
        }
    }

    /// The table of a part, and what to add to its results to have what the bits count.
    #[must_use]
    pub fn table(self, ctx: &LweContext, part: Part, Counts { half, one }: Counts) -> (Vec<u64>, u64) {
        let (m, n) = (ctx.modulus(), ctx.params().n());
        let boxes = 1usize << (self.bits - 1);
        let value = |i: usize| (i + n / (2 * boxes)) / (n / boxes);
        match part {
            Part::Top => (vec![m.neg(half); n], half),
            // The last half box is that of 0, half the torus on.
            Part::Rest => ((0..n).map(|i| m.mul((value(i) % boxes) as u64, one)).collect(), 0),
        }
    }

    /// What the bits count in the integer.
    #[must_use]
    pub fn counts(self, ctx: &LweContext) -> Counts {
        Counts { half: parts(ctx, 1 << (self.bits - 1), self.width + 1), one: parts(ctx, 1, self.width) }
    }
    /// What the bits count in a message.
    #[must_use]
    pub fn digit_counts(self, ctx: &LweContext, to: Message) -> Counts {
        let half = ctx.modulus().mul(1 << (self.bits - 1), fraction(ctx, 2 * to.torus()));
        Counts { half, one: fraction(ctx, to.torus()) }
    }
}

/// `round(value Q / 2^bits)`.
fn parts(ctx: &LweContext, value: u64, bits: u32) -> u64 {
    ((u128::from(value) * u128::from(ctx.modulus().value()) + (1 << (bits - 1))) >> bits) as u64
}
