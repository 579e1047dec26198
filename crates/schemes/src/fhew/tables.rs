//! Lookup tables (LUTs): functions on small integers, as the test polynomials of blind rotations.
//!
//! A rotation distinguishes N phases on half of the torus; the other half gives their negatives. Each message has a box
//! of phases, so a table is constant on boxes, and `(1 - X)` times it has one coefficient for each border between two
//! boxes.

use super::message::{fraction, Message};
use super::Domain;
use crate::Error;
use aglet_rlwe::lwe::{LweContext, LweParams};

/// A function from messages to messages, by its values.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Table {
    from: Message,
    to: Message,
    values: Vec<u64>,
}

impl Table {
    /// `values[m]` for each message m. Results are messages of `to`.
    ///
    /// # Errors
    /// [`Error::Message`] for another number of values than of messages, a value that is no message of `to`, and in the negacyclic
    /// domain one that is not the negative of the value half the messages on.
    pub fn new(from: Message, to: Message, values: &[u64]) -> Result<Self, Error> {
        check(values, from.space(), to)?;
        if from.domain() == Domain::Negacyclic {
            let (first, second) = values.split_at(values.len() / 2);
            for (&f, &g) in first.iter().zip(second) {
                let negative = (to.torus() - f) % to.torus();
                if g != negative {
                    let allowed = format!("{negative}, as f(m + p/2) = -f(m) and f(m) = {f}, or the domain \"full\"");
                    return Err(Error::Message { value: g, what: "a value of a negacyclic table", allowed });
                }
            }
        }
        Ok(Self { from, to, values: values.to_vec() })
    }

    /// The messages that it takes.
    #[must_use]
    pub fn from(&self) -> Message {
        self.from
    }
    /// The messages that it gives.
    #[must_use]
    pub fn to(&self) -> Message {
        self.to
    }
    /// Its values.
    #[must_use]
    pub fn values(&self) -> &[u64] {
        &self.values
    }

    /// Its N entries: entry i for phases in `[i, i + 1) / 2N` of the torus.
    #[must_use]
    pub fn entries(&self, ctx: &LweContext) -> Vec<u64> {
        let (m, one) = (ctx.modulus(), fraction(ctx, self.to.torus()));
        let n = ctx.params().n();
        let values: Vec<i64> = self.values.iter().map(|&v| v as i64).collect();
        (0..n).map(|i| m.mul(m.reduce_i64(entry(n, self.from, &values, i)), one)).collect()
    }

    /// `1 - X` times the values: positions and coefficients that are not zero. A rotation of [`half_steps`] times this is a rotation
    /// of the table.
    #[must_use]
    pub fn factors(&self, params: &LweParams) -> Vec<(usize, i64)> {
        jumps(params, self.from, &self.values.iter().map(|&v| v as i64).collect::<Vec<_>>())
    }

    /// The sum of squares of [`Table::factors`]: what they multiply the variance of a rotation by.
    #[must_use]
    pub fn squared_factors(&self, params: &LweParams) -> f64 {
        self.factors(params).iter().map(|f| (f.1 * f.1) as f64).sum()
    }
}

/// The value of entry i of N.
fn entry(n: usize, from: Message, values: &[i64], i: usize) -> i64 {
    let (boxes, centred) = from.boxes();
    // A power of two.
    let width = n / boxes;
    match (i + usize::from(centred) * width / 2) >> width.trailing_zeros() {
        last if last == boxes => -values[0],
        message => values[message],
    }
}

/// [`Table::factors`] of values of any sign.
pub(super) fn jumps(params: &LweParams, from: Message, values: &[i64]) -> Vec<(usize, i64)> {
    let n = params.n();
    let (boxes, centred) = from.boxes();
    let (width, at) = (n / boxes, |i: usize| entry(n, from, values, i));
    let before = |i: usize| if i == 0 { -at(n - 1) } else { at(i - 1) };
    // Values change at borders of boxes alone.
    let first = if centred { width / 2 } else { width }.max(1);
    let borders = (first..n).step_by(width);
    std::iter::once(0).chain(borders).map(|i| (i, at(i) - before(i))).filter(|f| f.1 != 0).collect()
}

/// As many values as there are arguments, messages of `to` each.
pub(super) fn check(values: &[u64], arguments: u64, to: Message) -> Result<(), Error> {
    if values.len() as u64 != arguments {
        let (value, allowed) = (values.len() as u64, arguments.to_string());
        return Err(Error::Message { value, what: "a number of table values", allowed });
    }
    match values.iter().find(|&&v| v >= to.space()) {
        Some(&value) => {
            let allowed = format!("0 to {}", to.space() - 1);
            Err(Error::Message { value, what: "a table value", allowed })
        }
        None => Ok(()),
    }
}

/// The polynomial whose rotation serves many tables: half a step of the messages that they give in every coefficient.
#[must_use]
pub fn half_steps(ctx: &LweContext, to: Message) -> Vec<u64> {
    parts_of_half_steps(ctx, to, 1)
}

/// [`half_steps`] of steps that are so many times as small.
#[must_use]
pub fn parts_of_half_steps(ctx: &LweContext, to: Message, parts: u64) -> Vec<u64> {
    vec![fraction(ctx, 2 * to.torus() * parts); ctx.params().n()]
}

/// Several tables in one: entry `i + t` of each group of `2^log_tables` is entry i of table t. The places of tables that are missing
/// stay zero.
///
/// # Panics
/// If there are more tables than places.
#[must_use]
pub fn interleave(tables: &[Vec<u64>], log_tables: u32) -> Vec<u64> {
    assert!(tables.len() <= 1 << log_tables, "a place for each table");
    let mut out = vec![0; tables[0].len()];
    for (t, table) in tables.iter().enumerate() {
        let places = out.iter_mut().skip(t).step_by(1 << log_tables);
        places.zip(table.iter().step_by(1 << log_tables)).for_each(|(place, &entry)| *place = entry);
    }
    out
}
