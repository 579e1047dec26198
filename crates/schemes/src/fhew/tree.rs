//! Lookup tables on several messages, and the tree of rotations that evaluates them (TCHES 2021-2, p. 229).
//!
//! One rotation by the last message serves the rows of all other messages. The messages before it choose among these, one after the
//! other: each choice of p values is a node of the tree.

use super::message::Message;
use super::tables::{check, jumps, Table};
use super::Domain;
use crate::Error;
use aglet_rlwe::lwe::LweParams;
use std::collections::HashMap;

/// A function of two to four messages, given by its values for all of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TreeTable {
    rows: Vec<Table>,
    messages: usize,
}

impl TreeTable {
    /// The largest number of messages.
    pub const MOST: usize = 4;

    /// `values[p high + low]` for messages high and low below p, p^3 or p^4 values for three or four messages, of which the first
    /// counts most.
    ///
    /// # Errors
    /// As [`Table::new`], for p^2, p^3 or p^4 values.
    pub fn new(from: Message, to: Message, values: &[u64]) -> Result<Self, Error> {
        let all = |messages: usize| from.space().pow(messages as u32);
        let messages = (2..Self::MOST).find(|&messages| values.len() as u64 <= all(messages)).unwrap_or(Self::MOST);
        check(values, all(messages), to)?;
        if from.domain() == Domain::Negacyclic {
            return Err(Error::InvalidParameters {
                reason: "tables of several messages are of the padded or the full domain",
            });
        }
        let rows = values.chunks_exact(from.space() as usize).map(|row| Table::new(from, to, row));
        Ok(Self { rows: rows.collect::<Result<_, _>>()?, messages })
    }

    /// The tables of the last message, one for each choice of the others.
    #[must_use]
    pub fn rows(&self) -> &[Table] {
        &self.rows
    }
    /// How many messages it takes.
    #[must_use]
    pub fn messages(&self) -> usize {
        self.messages
    }
    /// The messages that it takes.
    #[must_use]
    pub fn from(&self) -> Message {
        self.rows[0].from()
    }
    /// The messages that it gives.
    #[must_use]
    pub fn to(&self) -> Message {
        self.rows[0].to()
    }
}

/// The choice of one of p values by a message.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Node {
    /// Which message chooses.
    pub message: usize,
    /// What it chooses from, by numbers of [`Tree`].
    pub values: Vec<usize>,
}

/// What several tables of the same messages are made of: rows, which have the numbers from 0 on, and then nodes. What occurs several
/// times is there once, and a choice of equal values is none.
#[derive(Clone, Debug)]
pub struct Tree<'a> {
    rows: Vec<&'a [Table]>,
    nodes: Vec<Node>,
    roots: Vec<usize>,
    split: bool,
}

impl<'a> Tree<'a> {
    /// The tree of tables of the same number of messages. If it is `split`, the message before the last is there as two digits,
    /// and rows are tables of it and of the last message.
    #[must_use]
    pub fn of(tables: &'a [TreeTable], split: bool) -> Self {
        let (mut rows, mut known) = (Vec::new(), HashMap::new());
        let mut number = |row: &'a [Table]| {
            *known.entry(row.iter().map(Table::values).collect::<Vec<_>>()).or_insert_with(|| {
                rows.push(row);
                rows.len() - 1
            })
        };
        let (p, messages) = tables.first().map_or((1, 1), |table| (table.from().space() as usize, table.messages));
        let row = if split { p } else { 1 };
        let mut left: Vec<Vec<usize>> =
            tables.iter().map(|table| table.rows.chunks_exact(row).map(&mut number).collect()).collect();
        let (mut nodes, mut known) = (Vec::new(), HashMap::new());
        for message in (0..(messages - 1).saturating_sub(usize::from(split))).rev() {
            let mut choice = |values: &[usize]| {
                if values.iter().all(|value| *value == values[0]) {
                    return values[0];
                }
                let node = Node { message, values: values.to_vec() };
                *known.entry(node.clone()).or_insert_with(|| {
                    nodes.push(node);
                    rows.len() + nodes.len() - 1
                })
            };
            left.iter_mut().for_each(|table| *table = table.chunks_exact(p).map(&mut choice).collect());
        }
        Self { rows, nodes, roots: left.concat(), split }
    }

    /// Tables of the last message, one or those of all values of the message before it.
    #[must_use]
    pub fn rows(&self) -> &[&'a [Table]] {
        &self.rows
    }
    /// Choices, a rotation each: those of later messages first.
    #[must_use]
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }
    /// The number of the value of each table.
    #[must_use]
    pub fn roots(&self) -> &[usize] {
        &self.roots
    }
    /// Blind rotations: one for all rows, or one for each turn of the digits, and one for each node.
    #[must_use]
    pub fn rotations(&self) -> usize {
        self.nodes.len() + if self.split { TURNS.len() * TURNS.len() } else { 1 }
    }
}

/// What a digit of two bits is multiplied by where it turns the last message: quarters of the torus.
pub const TURNS: [i64; 4] = [0, 1, 2, -1];

/// A row of two messages, as tables of the last one for its turns by each of the two digits d of the message before it: 16 times
/// the row is their sum at `x + p/2 (t e + u d)`, for t and u of [`TURNS`] and the higher digit e. Tables are negated half a torus on.
fn turned(row: &[Table]) -> Vec<Vec<i64>> {
    let values = |table: &Table| table.values().iter().map(|&v| v as i64).collect();
    let all: Vec<Vec<i64>> = row.iter().map(values).collect();
    let low: Vec<Vec<Vec<i64>>> = all.chunks_exact(4).map(by_turns).collect();
    (0..4).flat_map(|u| by_turns(&low.iter().map(|tables| tables[u].clone()).collect::<Vec<_>>())).collect()
}

/// Of tables for the values 0 to 3 of a digit, those of its four turns, four times as large.
fn by_turns(tables: &[Vec<i64>]) -> Vec<Vec<i64>> {
    let [zero, one, two, three] = [0, 1, 2, 3].map(|d| &tables[d]);
    let p = zero.len();
    let turn = |x: usize| {
        // A quarter of the torus on, or back.
        let (y, sign) = if x < p / 2 { (x + p / 2, 1) } else { (x - p / 2, -1) };
        let (even, odd) = ([zero[x] + two[x], one[x] + three[x]], [zero[x] - two[x], sign * (one[y] - three[y])]);
        [even[0] + even[1], odd[0] - odd[1], even[0] - even[1], odd[0] + odd[1]]
    };
    let turned: Vec<[i64; 4]> = (0..p).map(turn).collect();
    (0..4).map(|t| turned.iter().map(|x| x[t]).collect()).collect()
}

/// What rotations are multiplied by for a row: for each its number, and the positions and coefficients of [`Table::factors`]. Rows of
/// two messages take a rotation for each turn of the lower digit and of the higher one, which counts less, of a start 16 times as small.
#[must_use]
pub fn row_factors(params: &LweParams, row: &[Table]) -> Vec<(usize, usize, i64)> {
    if let [row] = row {
        return row.factors(params).into_iter().map(|(at, w)| (0, at, w)).collect();
    }
    let tables = turned(row).into_iter().enumerate();
    tables.flat_map(|(i, g)| jumps(params, row[0].from(), &g).into_iter().map(move |(at, w)| (i, at, w))).collect()
}
