//! The plan of tables on several messages: their tree, what rows are multiplied by, and how its choices are made.

use super::permit;
use crate::Error;
use aglet_ring::blind::Gadget;
use aglet_rlwe::lwe::{log2_tail, GlweSample, LweCiphertext, LweContext, PackingKey, Powers, Selectors};
use aglet_schemes::fhew::{
    either, entry_factors, Domain, Factors, Message, Node, Row, Rows, Tree, TreeTable, MAX_LOG2_FAILURE,
};
use std::collections::BTreeSet;

/// How tables on several messages are evaluated together: their tree, what its rows are multiplied by, and how choices are made. It depends on
/// the tables alone, so it serves any number of calls.
pub struct TreePlan {
    pub(super) kind: Rows,
    pub(super) nodes: Vec<Node>,
    pub(super) roots: Vec<usize>,
    pub(super) rows: Vec<Factors>,
    pub(super) entries: Option<Entries>,
    /// The powers of X times each rotation that rows are sums of.
    pub(super) used: BTreeSet<(usize, usize)>,
    /// Why there are none.
    fault: Option<&'static str>,
    /// Columns of a sample.
    columns: usize,
    /// How many messages tables take, and lists of ciphertexts: one more, if one is there as two digits.
    messages: usize,
    lists: usize,
    /// What each table takes and gives.
    ends: Vec<(Message, Message)>,
    /// The variance of each table.
    variances: Vec<f64>,
    /// Whether rotations that choose have a digit of their own.
    pub(super) coarse: bool,
    /// The digits and the noise of choices by products, see [`TreePlan::multiplies`].
    pub(super) product: Option<(Gadget, f64)>,
}

/// The digits that products may have, fewest first.
const DIGITS: std::ops::RangeInclusive<usize> = 4..=8;
/// For so many choices by a message for each of its rotations, a product pays: it takes a fiftieth of a choice's time, and a rotation with the
/// digits of the set less than two choices.
const FEWEST: usize = 2;
/// Results of products are read as a table's input with so much more noise.
const ROOM: f64 = 1.25;

impl TreePlan {
    /// The plan of these tables. If it is `split`, the message before the last is there as two digits. Rotations that choose have `choices` as
    /// digits, where there are such and results are wrong no more often than 2^-128 with them; else those of the set. Where a message makes many choices, a
    /// product makes each, if results can be looked up again then.
    #[must_use]
    pub fn of(ctx: &LweContext, tables: &[TreeTable], split: bool, choices: Option<Gadget>) -> Self {
        let (fault, tables, split) = match fault(tables, split) {
            None => (None, tables, split),
            fault => (fault, &[][..], false),
        };
        let tree = Tree::of(tables, split);
        let rows: Vec<Factors> = tree.rows().iter().map(|row| row.factors(ctx.params())).collect();
        let ends: Vec<_> = tables.iter().map(|table| (table.from(), table.to())).collect();
        let entries = ends.first().and_then(|ends| Entries::of(ctx, &tree, *ends));
        let terms = rows.iter().chain(entries.iter().flat_map(|entries| &entries.single)).flatten();
        let used = terms.map(|&(i, at, _)| (i, at)).collect();
        let own = row_variances(ctx, &tree, &rows);
        let (messages, kind) = (tables.first().map_or(1, TreeTable::messages), tree.kind());
        let (nodes, roots) = (tree.nodes().to_vec(), tree.roots().to_vec());
        let (lists, columns) = (messages + usize::from(split), ctx.params().spec().rank + 1);
        let (variances, coarse, product) = (vec![], false, None);
        #[rustfmt::skip]
        let mut plan = Self {
            kind, nodes, roots, rows, entries, used, fault, columns, messages, lists, ends, variances, coarse, product,
        };
        let packed = PackingKey::noise(ctx, ctx.params().spec().gadget);
        let all = |plan: &Self, one: f64| -> Vec<f64> {
            let choice = |message| packed + plan.multiplies(message).map_or(one, |(_, noise)| noise);
            let choices: f64 = (0..kind.choices(messages)).map(choice).sum();
            own.iter().map(|own| own + choices).collect()
        };
        if let Some(one) = choices.map(|gadget| ctx.params().choice_noise(gadget)) {
            plan.coarse = true;
            let width = ctx.params().n() / plan.ends.first().map_or(1, |(from, _)| from.boxes().0);
            let digits = DIGITS.filter(|_| plan.many()).collect::<Vec<_>>().into_iter();
            let products = digits.map(|levels| Some(ctx.params().box_gadget(ctx.noise(), levels, width)));
            for product in products.chain([None]) {
                plan.product = product;
                let variances = all(&plan, one);
                if plan.fits(ctx, &variances) {
                    plan.variances = variances;
                    return plan;
                }
            }
        }
        plan.coarse = false;
        plan.variances = all(&plan, ctx.noise().blind_rotation);
        plan
    }

    /// Whether results are right with these variances, and can be read again if products made them.
    fn fits(&self, ctx: &LweContext, variances: &[f64]) -> bool {
        let read = |((from, _), variance): (&(Message, Message), &f64)| {
            from.log2_failure(ctx.noise(), ROOM * variance, 0) <= MAX_LOG2_FAILURE
        };
        let again = || self.ends.iter().zip(variances).all(read);
        self.results(variances).all(|log2| log2 <= MAX_LOG2_FAILURE) && (self.product.is_none() || again())
    }

    /// Whether a message may make so many choices that products pay: not where rows are of one message, and as many have to be packed.
    fn many(&self) -> bool {
        self.kind == Rows::Turns && self.nodes.len() >= FEWEST * 2 * DIGITS.start()
    }

    /// The digits and the noise of products that choose by this message; none where rotations do. Either the message has many choices, or
    /// rotations take as long.
    pub(super) fn multiplies(&self, message: usize) -> Option<(Gadget, f64)> {
        let own = self.nodes.iter().filter(|node| node.message == message).count();
        self.product.filter(|(gadget, _)| own >= FEWEST * self.columns * gadget.levels)
    }

    /// Whether any of its rotations choose by a digit of their own, and so by a key of their own.
    #[must_use]
    pub fn chooses(&self) -> bool {
        self.coarse && self.nodes.iter().any(|node| self.multiplies(node.message).is_none())
    }

    /// Its rotations, without those of messages of the full domain.
    #[must_use]
    pub fn rotations(&self) -> usize {
        let by = |message| self.multiplies(message).map(|(gadget, _)| self.columns * gadget.levels);
        let of = |message| self.nodes.iter().filter(|node| node.message == message).count();
        let choices = 0..self.kind.choices(self.messages);
        self.kind.rotations() + choices.map(|message| by(message).unwrap_or_else(|| of(message))).sum::<usize>()
    }

    /// The noise variance, on the torus, of the noisiest result. The steepest row of all tables multiplies the noise of its
    /// rotations; each message before that of rows adds that of packing and of a choice.
    #[must_use]
    pub fn variance(&self) -> f64 {
        self.variances.iter().copied().fold(0.0, f64::max)
    }

    /// log2 of the probability that a result is wrong, where rotations are by inputs of these variances: one of them is misread,
    /// or the result has too much noise.
    #[must_use]
    pub fn log2_failure(&self, ctx: &LweContext, inputs: &[f64]) -> f64 {
        let noise = ctx.params().noise();
        let first = self.ends.iter().take(1);
        let read = first.flat_map(|(from, _)| inputs.iter().map(|v| from.log2_failure(&noise, *v, 0)));
        either(&read.chain(self.results(&self.variances)).collect::<Vec<_>>())
    }

    /// The same of the result of each table, if it has this variance.
    fn results<'b>(&'b self, variances: &'b [f64]) -> impl Iterator<Item = f64> + 'b {
        let results = self.ends.iter().zip(variances);
        results.map(|((_, to), variance)| log2_tail(0.5 / to.torus() as f64, *variance))
    }

    /// What tables take and give, if they agree with each other and with the messages.
    pub(super) fn agreed(&self, messages: &[&[LweCiphertext]]) -> Result<(Message, Message), Error> {
        let lengths = messages.iter().all(|cts| cts.len() == messages[0].len());
        let fault = self.fault.or_else(|| (messages.len() != self.lists).then_some(APART));
        let fault = fault.or_else(|| (!lengths).then_some("there is one of each message for every result"));
        match (fault, self.ends.first()) {
            (None, Some(&ends)) => Ok(ends),
            (fault, _) => Err(aglet_schemes::Error::InvalidParameters { reason: fault.unwrap_or(APART) }.into()),
        }
    }

    /// Refuses what would fail too often with inputs of these variances.
    pub(super) fn permit(&self, ctx: &LweContext, inputs: &[f64], allowed: f64) -> Result<(), Error> {
        let what = "A table of several messages (the set \"wide\" is made for them)";
        permit(what, self.log2_failure(ctx, inputs), allowed)
    }
}

/// Why tables are refused that do not agree.
const APART: &str = "tables read together take and give the same messages";

/// Why these tables have no plan.
fn fault(tables: &[TreeTable], split: bool) -> Option<&'static str> {
    let Some(first) = tables.first() else { return Some("there is no table to evaluate; give one or more") };
    let of = |t: &TreeTable| (t.from(), t.to().torus(), t.messages());
    // Two digits of two bits are a message of four.
    let digits = !split || (first.from().space(), first.from().domain()) == (16, Domain::Padded);
    (!digits || tables.iter().any(|t| of(t) != of(first))).then_some(APART)
}

/// What rows add to the variance of each table: of each rotation the largest part that any row has, as results are told apart by their
/// inputs.
fn row_variances(ctx: &LweContext, tree: &Tree, rows: &[Factors]) -> Vec<f64> {
    let (kind, neighbours, one) = (tree.kind(), ctx.noise().neighbours, ctx.noise().blind_rotation);
    let of_table = |own: &Vec<usize>| {
        let (mut largest, mut own) = (vec![0.0f64; kind.rotations()], own.clone());
        own.sort_unstable();
        own.dedup();
        for factors in own.iter().flat_map(|&row| rows[row].chunk_by(|x, y| x.0 == y.0)) {
            let most = &mut largest[factors[0].0];
            let sum = |power: i32| factors.iter().map(|f| (f.2.abs() as f64).powi(power)).sum::<f64>();
            let squares = sum(2);
            // If all were neighbours; most rows are below the largest even so.
            if one * (squares + neighbours * (sum(1).powi(2) - squares)) * (1.0 + 1e-9) > *most {
                let own: Vec<_> = factors.iter().map(|&(_, at, w)| (at, w)).collect();
                *most = most.max(GlweSample::product_variance(ctx, &own));
            }
        }
        largest.iter().sum()
    };
    tree.leaves().iter().map(of_table).collect()
}

/// Rows of two messages from which on they are made of their single entries: weights are then below 16, a product of words.
const FEWEST_ROWS: usize = 32;

/// Rows of two messages as sums of their single entries.
pub(super) struct Entries {
    /// What each entry takes.
    single: Vec<Factors>,
    /// The entries of each row.
    pub(super) weights: Vec<Vec<u8>>,
}

impl Entries {
    /// Those of a tree of many rows of two messages.
    fn of(ctx: &LweContext, tree: &Tree, (from, to): (Message, Message)) -> Option<Self> {
        if tree.kind() != Rows::Turns || tree.rows().len() < FEWEST_ROWS {
            return None;
        }
        let values = |row: &Row| match row {
            Row::Of(tables) => tables.iter().flat_map(|table| table.values()).map(|&v| v as u8).collect(),
            Row::Signed(..) => vec![],
        };
        let weights = tree.rows().iter().map(values).collect();
        entry_factors(ctx.params(), from, to).ok().map(|single| Self { single, weights })
    }

    pub(super) fn selectors<'a>(&self, ctx: &LweContext, powers: Powers<'a>) -> Selectors<'a> {
        Selectors::of(ctx, powers, &self.single.iter().map(|terms| &terms[..]).collect::<Vec<_>>())
    }
}
