//! Where a polynomial is cut into lines: with which elements, and in which pieces.
//!
//! A line that is finished `drop` levels below the variable is `sum b_m * factor + terms`; its factors are lines that are finished a
//! level above. So pieces cover its degrees: the terms first, then each from where the last one ends, an element `m` times a factor,
//! up to `m + degree of the factor`. For every drop and cost the line that reaches farthest is kept: this finds the least cost of
//! all degrees at once.
//!
//! Elements are all up to a leaf `2^a - 1`, the first few multiples of `2^a`, and powers of two above or not: with one multiple this
//! is the tree of Paterson and Stockmeyer, which halves every degree. With more a line has a product for each of them and one
//! relinearization for all, but more factors that are sums of terms: degree 8191 takes 72 relinearizations in place of 170.

use super::{depth, Basis};
use std::collections::BTreeSet;

/// What a relinearization costs, where a sum of terms, which is rescaled too, costs 1: by the transforms of both.
pub(super) const RELINEARIZATION: usize = 3;

/// What a product costs where its operands are brought to its level by a division, as integers are.
pub(super) const PRODUCT: usize = 1;

/// The degrees of leaves.
const LEAVES: [usize; 4] = [3, 7, 15, 31];

/// How many multiples of a leaf's end are elements.
const MULTIPLES: [usize; 6] = [1, 3, 5, 7, 11, 15];

/// Elements, and how lines are made of them.
#[derive(Debug, Clone)]
pub(super) struct Cut {
    basis: Basis,
    /// What a product costs.
    product: usize,
    /// Ascending.
    elements: Vec<usize>,
    /// By the drop.
    rows: Vec<Row>,
}

/// Lines at one drop.
#[derive(Debug, Clone)]
struct Row {
    /// The degree up to which terms alone reach.
    terms: usize,
    /// By the cost of all factors.
    reaches: Vec<Reach>,
}

/// How far a line reaches.
#[derive(Debug, Clone, Copy)]
struct Reach {
    /// The first degree that it does not have.
    end: usize,
    /// Its last piece.
    last: Option<Piece>,
}

/// Degrees that are an element times a factor.
#[derive(Debug, Clone, Copy)]
struct Piece {
    /// The first that the pieces before do not have.
    start: usize,
    element: usize,
    /// The reach without it.
    before: usize,
}

impl Row {
    /// The degree to which a factor of this cost reaches, its product included; a constant is none.
    fn degree(&self, cost: usize, product: usize) -> Option<usize> {
        match cost.checked_sub(product + RELINEARIZATION) {
            None if cost > product => Some(self.terms),
            None => Some(0),
            Some(of_factors) => self.reaches.get(of_factors).map(|reach| reach.end - 1),
        }
    }
}

impl Cut {
    /// What is tried for a polynomial of this degree in so many levels: half of the coefficients may be zero, so nothing that costs more than
    /// twice as much as another if none is.
    pub(super) fn all((basis, product): (Basis, usize), degree: usize, levels: usize) -> impl Iterator<Item = Self> {
        let leaves = LEAVES.into_iter().filter(move |&leaf| leaf == LEAVES[0] || leaf < degree);
        let sets = leaves.flat_map(move |leaf| {
            let multiples = MULTIPLES.into_iter().filter(move |j| *j == 1 || (leaf + 1) * j <= degree);
            multiples.flat_map(move |j| [1 << (levels - 1), (leaf + 1) * j].map(|highest| (leaf, j, highest)))
        });
        let made = move |(leaf, multiples, highest): (usize, usize, usize), most: usize| {
            let powers = (0..levels).map(|k| 1 << k).filter(|&k| k <= highest);
            let multiples = (1..=multiples).map(|j| (leaf + 1) * j);
            let elements: BTreeSet<usize> = powers.chain(1..=leaf).chain(multiples).filter(|&k| k <= degree).collect();
            let most = most.checked_sub(RELINEARIZATION * elements.len())?;
            Self::new((basis, product), elements.into_iter().collect(), (degree, levels), most)
        };
        let one = made((LEAVES[2], MULTIPLES[1], 1 << (levels - 1)), usize::MAX);
        let most = one
            .map_or(usize::MAX, |cut| 2 * (RELINEARIZATION * cut.elements.len() + cut.rows[levels - 1].reaches.len()));
        sets.filter_map(move |set| made(set, most))
    }

    /// None if that degree takes more than so much.
    fn new(
        (basis, product): (Basis, usize),
        elements: Vec<usize>,
        (degree, levels): (usize, usize),
        most: usize,
    ) -> Option<Self> {
        let mut cut = Self { basis, product, elements, rows: Vec::with_capacity(levels) };
        (0..levels).for_each(|drop| cut.rows.push(cut.row(drop, degree, most)));
        cut.reaches(degree).then_some(cut)
    }

    /// Whether a line with the last drop has so many degrees.
    fn reaches(&self, degree: usize) -> bool {
        let end = |row: &Row| row.reaches.last().map_or(0, |reach| reach.end);
        self.rows.last().is_some_and(|row| end(row) > degree)
    }

    /// The element that a line of this degree is divided by first; `None` if it is a sum of terms.
    pub(super) fn divisor(&self, degree: usize, drop: usize) -> Option<usize> {
        let row = &self.rows[drop];
        let mut reach = row.reaches.iter().find(|reach| reach.end > degree)?;
        loop {
            match reach.last? {
                piece if piece.start <= degree => return Some(piece.element),
                piece => reach = &row.reaches[piece.before],
            }
        }
    }

    /// Lines at a drop of at most this cost; those above are there.
    fn row(&self, drop: usize, degree: usize, most: usize) -> Row {
        let there = |k: &usize| self.elements.binary_search(k).is_ok() && depth(k - 1) <= drop;
        let terms = (1..).take_while(there).count();
        let mut reaches = vec![Reach { end: terms + 1, last: None }];
        let Some(above) = drop.checked_sub(1).map(|above| &self.rows[above]) else { return Row { terms, reaches } };
        let usable = &self.elements[..self.elements.partition_point(|&k| depth(k - 1) <= drop)];
        let largest_up_to = |end: usize| usable[usable.partition_point(|&k| k <= end) - 1];
        // By the cost of a factor, to which degree it reaches; by the cost of a line, by which element it goes on.
        let factors: Vec<usize> = (1..).map_while(|cost| above.degree(cost, self.product)).collect();
        let mut elements = vec![largest_up_to(terms + 1)];
        let whole = (degree + 1).min(2 << drop);
        loop {
            let (cost, end) = (reaches.len(), reaches[reaches.len() - 1].end);
            // Without large powers of two some degrees are out of reach.
            let stuck = cost > factors.len() && reaches[cost - factors.len() - 1].end == end;
            if end >= whole || stuck || cost > most {
                return Row { terms, reaches };
            }
            let mut best = reaches[cost - 1];
            for (before, &reached) in (0..cost).rev().zip(&factors) {
                let element = elements[before];
                // D_m D_k = D_(m+k) + D_(m-k), for k up to m.
                let reached = if self.basis == Basis::Dickson { reached.min(element) } else { reached };
                if element + reached + 1 > end && element + reached + 1 >= best.end {
                    let piece = Piece { start: reaches[before].end, element, before };
                    best = Reach { end: element + reached + 1, last: Some(piece) };
                }
            }
            elements.push(largest_up_to(best.end));
            reaches.push(best);
        }
    }
}
