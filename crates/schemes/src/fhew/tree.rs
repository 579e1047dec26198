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

/// How many messages rows are tables of, and the rotations that serve all rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rows {
    /// The last message, in one rotation.
    One,
    /// The last of two messages and one bit of the other, the high bit of the high one of its two digits: a rotation by the
    /// last message, and one of it turned by quarters of the torus, as that digit says. The high bit is half a torus of what the digits choose by,
    /// so a choice gives the negative of what it holds: of a row f for 0 and g for 1, it holds `(f - g) / 2`, and `(f + g) / 2` of the
    /// turned message, which has that sign already. So 8 pairs of values fill the boxes of a choice, and it gives two tables at once.
    Signs,
    /// The last message and the one before it, which is there as two digits of two bits: a rotation for each turn of these, see [`TURNS`].
    Turns,
}

impl Rows {
    /// Those of tables of so many messages, the last but one of which may be `split` into two digits.
    #[must_use]
    pub fn of(messages: usize, split: bool) -> Self {
        match (split, messages) {
            (false, _) => Self::One,
            (true, 2) => Self::Signs,
            _ => Self::Turns,
        }
    }
    /// Rotations of one place for all rows.
    #[must_use]
    pub fn rotations(self) -> usize {
        match self {
            Self::One => 1,
            Self::Signs => 2,
            Self::Turns => TURNS.len() * TURNS.len(),
        }
    }
    /// How many times as small the start of these rotations is.
    #[must_use]
    pub fn parts(self) -> u64 {
        self.rotations() as u64
    }
    /// Tables that one choice gives.
    #[must_use]
    pub fn results(self) -> usize {
        if self == Self::Signs {
            2
        } else {
            1
        }
    }
    /// Messages that choose among rows, of so many in all.
    #[must_use]
    pub fn choices(self, messages: usize) -> usize {
        messages - 1 - usize::from(self == Self::Turns)
    }
}

/// A row: what all rotations of a place have to become for one choice of the messages before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Row<'a> {
    /// A table of the last message, or those of all values of the message before it.
    Of(&'a [Table]),
    /// Two tables that a sign chooses from. The turned message is a quarter of the torus on if the low bit of the digit is 1.
    Signed([&'a Table; 2], bool),
}

impl Row<'_> {
    /// As [`row_factors`].
    #[must_use]
    pub fn factors(&self, params: &LweParams) -> Vec<(usize, usize, i64)> {
        match *self {
            Self::Of(row) => row_factors(params, row),
            Self::Signed(pair, quarter) => {
                let tables = signed(pair, quarter).into_iter().enumerate();
                let jumps = |(i, g): (usize, Vec<i64>)| {
                    jumps(params, pair[0].from(), &g).into_iter().map(move |(at, w)| (i, at, w))
                };
                tables.flat_map(jumps).collect()
            }
        }
    }
}

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
    /// The rows that choices choose from, those of the first message's 0 first.
    #[must_use]
    pub fn choices(&self, rows: Rows) -> Vec<Row<'_>> {
        let p = self.from().space() as usize;
        match rows {
            Rows::One => self.rows.chunks_exact(1).map(Row::Of).collect(),
            Rows::Turns => self.rows.chunks_exact(p).map(Row::Of).collect(),
            Rows::Signs => {
                let pair = |low: usize| Row::Signed([&self.rows[low], &self.rows[low + p / 2]], low >= p / 4);
                (0..p / 2).map(pair).collect()
            }
        }
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

/// The choice of one of p values by a message, or of one of p/2 pairs.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Node {
    /// Which message chooses.
    pub message: usize,
    /// What it chooses from, by numbers of [`Tree`], one pair after the other.
    pub values: Vec<usize>,
}

/// What several tables of the same messages are made of: rows, which have the numbers from 0 on, and then what nodes give. What occurs several
/// times is there once, and a choice of equal values is none.
#[derive(Clone, Debug)]
pub struct Tree<'a> {
    rows: Vec<Row<'a>>,
    leaves: Vec<Vec<usize>>,
    nodes: Vec<Node>,
    roots: Vec<usize>,
    kind: Rows,
}

impl<'a> Tree<'a> {
    /// The tree of tables of the same number of messages. If it is `split`, the message before the last is there as two digits,
    /// and rows are tables of it, or of one bit of it, and of the last message.
    #[must_use]
    pub fn of(tables: &'a [TreeTable], split: bool) -> Self {
        let (mut rows, mut known) = (Vec::new(), HashMap::new());
        let mut number = |row: Row<'a>| {
            *known.entry(row).or_insert_with(|| {
                rows.push(row);
                rows.len() - 1
            })
        };
        let (p, messages) = tables.first().map_or((1, 1), |table| (table.from().space() as usize, table.messages));
        let kind = Rows::of(messages, split);
        let mut left: Vec<Vec<usize>> =
            tables.iter().map(|table| table.choices(kind).into_iter().map(&mut number).collect()).collect();
        let leaves = left.clone();
        if kind == Rows::Signs {
            let (nodes, roots) = pairs(&left, rows.len());
            return Self { rows, leaves, nodes, roots, kind };
        }
        let (mut nodes, mut known) = (Vec::new(), HashMap::new());
        for message in (0..kind.choices(messages)).rev() {
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
        Self { rows, leaves, nodes, roots: left.concat(), kind }
    }

    /// What choices choose from.
    #[must_use]
    pub fn rows(&self) -> &[Row<'a>] {
        &self.rows
    }
    /// The number of each row of each table.
    #[must_use]
    pub fn leaves(&self) -> &[Vec<usize>] {
        &self.leaves
    }
    /// How rows are made.
    #[must_use]
    pub fn kind(&self) -> Rows {
        self.kind
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
    /// Blind rotations: those for all rows, and one for each node.
    #[must_use]
    pub fn rotations(&self) -> usize {
        self.nodes.len() + self.kind.rotations()
    }
}

/// The choices of pairs of tables, each given by the numbers of its rows, and the number of the value of each: from `first` on.
fn pairs(tables: &[Vec<usize>], first: usize) -> (Vec<Node>, Vec<usize>) {
    let mut all: Vec<&[usize]> = Vec::new();
    let mut roots = Vec::with_capacity(tables.len());
    for table in tables {
        let at = all.iter().position(|known| *known == &table[..]).unwrap_or_else(|| {
            all.push(table);
            all.len() - 1
        });
        roots.push(first + at);
    }
    // A table that is alone is there twice.
    let values = |pair: &[&[usize]]| {
        let second = pair[pair.len() - 1];
        pair[0].iter().zip(second).flat_map(|(&x, &y)| [x, y]).collect()
    };
    (all.chunks(2).map(|pair| Node { message: 0, values: values(pair) }).collect(), roots)
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

/// Of two tables those for a message and for its turn, twice as large, whose sum is the first one, and the negative of the second one where
/// half the torus is added to the turn.
fn signed([zero, one]: [&Table; 2], quarter: bool) -> [Vec<i64>; 2] {
    let p = zero.values().len();
    let pair = |x: usize| (zero.values()[x] as i64, one.values()[x] as i64);
    let sum = |x: usize| pair(x).0 + pair(x).1;
    // A quarter of the torus back.
    let turned = |x: usize| if x < p / 2 { -sum(x + p / 2) } else { sum(x - p / 2) };
    [
        (0..p).map(|x| pair(x).0 - pair(x).1).collect(),
        (0..p).map(|x| if quarter { turned(x) } else { sum(x) }).collect(),
    ]
}

/// What rotations are multiplied by: for each term its rotation, position and coefficient.
pub type Factors = Vec<(usize, usize, i64)>;

/// Of rows of two messages those of their single entries, as [`row_factors`]: a row is a sum of these, each as often as its entry says.
///
/// # Errors
/// None for messages of two values or more.
pub fn entry_factors(params: &LweParams, from: Message, to: Message) -> Result<Vec<Factors>, Error> {
    let p = from.space() as usize;
    let row = |entry: usize| -> Result<Factors, Error> {
        let one: Vec<u64> = (0..p * p).map(|at| u64::from(at == entry)).collect();
        let row = one.chunks_exact(p).map(|values| Table::new(from, to, values)).collect::<Result<Vec<_>, _>>()?;
        Ok(row_factors(params, &row))
    };
    (0..p * p).map(row).collect()
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
