//! Padded look-up tables: the message m below p is the phase `m Q / 2p`, so that it fills half a turn and any table fits the other half
//! as its negative.

use crate::Error;
use aglet_rlwe::lwe::{log2_tail, LweCiphertext, LweContext};

/// Messages 0 to p - 1 with a bit of padding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message {
    space: u64,
}

impl Message {
    /// `space` is p: 2, 4, 8 or 16.
    ///
    /// # Errors
    /// [`Error::Message`] for another p.
    pub fn new(space: u64) -> Result<Self, Error> {
        if ![2, 4, 8, 16].contains(&space) {
            return Err(Error::Message { value: space, what: "a number of messages", allowed: "2, 4, 8 or 16".into() });
        }
        Ok(Self { space })
    }

    /// The number of messages p.
    #[must_use]
    pub fn space(self) -> u64 {
        self.space
    }

    /// The phase of a message.
    ///
    /// # Errors
    /// [`Error::Message`] for one that is not below p.
    pub fn encode(self, ctx: &LweContext, message: u64) -> Result<u64, Error> {
        if message >= self.space {
            let allowed = format!("0 to {}", self.space - 1);
            return Err(Error::Message { value: message, what: "a message", allowed });
        }
        Ok(ctx.modulus().mul(message, self.step(ctx)))
    }

    /// The phase of any number, which may lie outside of the messages: what is added to a ciphertext in the clear.
    #[must_use]
    pub fn phase(self, ctx: &LweContext, number: i64) -> u64 {
        ctx.modulus().mul(ctx.modulus().reduce_i64(number.rem_euclid(2 * self.space as i64)), self.step(ctx))
    }

    /// The message nearest to a phase, modulo 2p: from p on it has left the range of tables.
    #[must_use]
    pub fn decode(self, ctx: &LweContext, phase: u64) -> u64 {
        let q = u128::from(ctx.modulus().value());
        let twice = u128::from(2 * self.space);
        ((2 * u128::from(phase) * twice + q) / (2 * q) % twice) as u64
    }

    /// `round(Q / 2p)`.
    fn step(self, ctx: &LweContext) -> u64 {
        (ctx.modulus().value() + self.space) / (2 * self.space)
    }

    /// The table of a function given by its p values: message j has the phases around `j / 2p` of a turn.
    ///
    /// # Errors
    /// [`Error::Message`] for another number of values, or one that is not below p.
    pub fn table(self, ctx: &LweContext, values: &[u64]) -> Result<Vec<u64>, Error> {
        let (p, n) = (self.space as usize, ctx.params().n());
        if values.len() != p {
            return Err(Error::Message {
                value: values.len() as u64,
                what: "a number of table values",
                allowed: p.to_string(),
            });
        }
        let phases = values.iter().map(|&v| self.encode(ctx, v)).collect::<Result<Vec<_>, _>>()?;
        let entry = |i: usize| match (i + n / (2 * p)) / (n / p) {
            box_ if box_ == p => ctx.modulus().neg(phases[0]),
            box_ => phases[box_],
        };
        Ok((0..n).map(entry).collect())
    }

    /// log2 of the probability that a table reads its neighbour, for an input of this variance.
    #[must_use]
    pub fn log2_failure(self, ctx: &LweContext, input: &LweCiphertext) -> f64 {
        let noise = ctx.params().noise().decision(input.variance());
        log2_tail(1.0 / (4.0 * self.space as f64), noise)
    }
}
