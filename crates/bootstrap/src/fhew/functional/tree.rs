//! LUTs on several messages, such as a number of 12 bits as three nibbles, by a tree of rotations
//! (Guimaraes, Borin, Aranha, TCHES 2021-2, p. 229).
//!
//! One rotation by the last message serves the rows of all other messages, as multiples of one polynomial. If the message
//! before it is there as two digits of two bits, sixteen rotations serve rows of both: the last message is turned by
//! quarters of the torus, as the digits say, and tables are negated half a torus on, so that rows are sums of tables of
//! the turned messages, as a Fourier transform of a group of order 4 in each digit has it. The messages before choose, the
//! last first: values are packed into the table of a message, and a rotation by it takes one out. What several tables of
//! the same messages have in common is computed once.

use super::tables::ready;
use super::{columns, permit, worst, Rotate, TOGETHER};
use crate::Error;
use aglet_ring::blind::Gadget;
use aglet_ring::small::Words;
use aglet_rlwe::lwe::{
    log2_tail, BlindRotationKey, GlweSample, LweCiphertext, LweContext, PackingKey, Powers, Selectors,
};
use aglet_schemes::fhew::{
    either, entry_factors, parts_of_half_steps, Domain, Factors, Message, Node, Row, Rows, Tree, TreeTable,
    MAX_LOG2_FAILURE, TURNS,
};
use std::borrow::Cow;
use std::collections::BTreeSet;

/// How tables on several messages are evaluated together: their tree, and what its rows are multiplied by.
pub struct TreePlan<'a> {
    tree: Tree<'a>,
    rows: Vec<Factors>,
    tables: &'a [TreeTable],
    /// The variance of each table.
    variances: Vec<f64>,
    /// Whether rotations that choose have a digit of their own.
    coarse: bool,
}

impl<'a> TreePlan<'a> {
    /// The plan of these tables. If it is `split`, the message before the last is there as two digits. Rotations that choose have `choices` as
    /// digits, where there are such and results are wrong no more often than 2^-128 with them; else those of the set.
    #[must_use]
    pub fn of(ctx: &LweContext, tables: &'a [TreeTable], split: bool, choices: Option<Gadget>) -> Self {
        let tree = Tree::of(tables, split);
        let rows = tree.rows().iter().map(|row| row.factors(ctx.params())).collect();
        let mut plan = Self { tree, rows, tables, variances: vec![], coarse: false };
        let own = plan.row_variances(ctx);
        let with = |one: f64| -> Vec<f64> {
            let choice = PackingKey::noise(ctx, ctx.params().spec().gadget) + one;
            let all = tables.iter().zip(&own);
            all.map(|(t, own)| own + plan.tree.kind().choices(t.messages()) as f64 * choice).collect()
        };
        let coarse = choices.map(|gadget| with(ctx.params().choice_noise(gadget)));
        let coarse = coarse.filter(|variances| plan.results(variances).all(|log2| log2 <= MAX_LOG2_FAILURE));
        plan.coarse = coarse.is_some();
        plan.variances = coarse.unwrap_or_else(|| with(ctx.noise().blind_rotation));
        plan
    }

    /// Its rotations, without those of messages of the full domain.
    #[must_use]
    pub fn rotations(&self) -> usize {
        self.tree.rotations()
    }

    /// The noise variance, on the torus, of the noisiest result. The steepest row of all tables multiplies the noise of its
    /// rotations; each message before that of rows adds that of packing and of a rotation.
    #[must_use]
    pub fn variance(&self) -> f64 {
        self.variances.iter().copied().fold(0.0, f64::max)
    }

    /// log2 of the probability that a result is wrong, where rotations are by inputs of these variances: one of them is misread,
    /// or the result has too much noise.
    #[must_use]
    pub fn log2_failure(&self, ctx: &LweContext, inputs: &[f64]) -> f64 {
        let noise = ctx.params().noise();
        let read = self.tables.iter().take(1).flat_map(|t| inputs.iter().map(|v| t.from().log2_failure(&noise, *v, 0)));
        either(&read.chain(self.results(&self.variances)).collect::<Vec<_>>())
    }

    /// The same of the result of each table, if it has this variance.
    fn results<'b>(&'b self, variances: &'b [f64]) -> impl Iterator<Item = f64> + 'b {
        let results = self.tables.iter().zip(variances);
        results.map(|(t, variance)| log2_tail(0.5 / t.to().torus() as f64, *variance))
    }

    /// What rows add to the variance of each table: of each rotation the largest part that any row has, as results are told apart by their
    /// inputs.
    fn row_variances(&self, ctx: &LweContext) -> Vec<f64> {
        let (kind, neighbours, one) = (self.tree.kind(), ctx.noise().neighbours, ctx.noise().blind_rotation);
        let of_table = |rows: &Vec<usize>| {
            let (mut largest, mut rows) = (vec![0.0f64; kind.rotations()], rows.clone());
            rows.sort_unstable();
            rows.dedup();
            for factors in rows.iter().flat_map(|&row| self.rows[row].chunk_by(|x, y| x.0 == y.0)) {
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
        self.tree.leaves().iter().map(of_table).collect()
    }
}

/// Rows of two messages from which on they are made of their single entries: weights are then below 16, a product of words.
const FEWEST_ROWS: usize = 32;
/// Nodes whose rows are made together at most, and how many parts there are for threads to share out.
const SHARED: usize = 8;

/// Rows of two messages as sums of their single entries.
struct Entries {
    /// What each entry takes.
    single: Vec<Factors>,
    /// The entries of each row.
    weights: Vec<Vec<u8>>,
}

impl Entries {
    /// Those of a tree of many rows of two messages.
    fn of(ctx: &LweContext, tree: &Tree, (from, to): (Message, Message)) -> Result<Option<Self>, Error> {
        if tree.kind() != Rows::Turns || tree.rows().len() < FEWEST_ROWS {
            return Ok(None);
        }
        let values = |row: &Row| match row {
            Row::Of(tables) => tables.iter().flat_map(|table| table.values()).map(|&v| v as u8).collect(),
            Row::Signed(..) => vec![],
        };
        let weights = tree.rows().iter().map(values).collect();
        Ok(Some(Self { single: entry_factors(ctx.params(), from, to)?, weights }))
    }

    fn selectors<'a>(&self, ctx: &LweContext, powers: Powers<'a>) -> Selectors<'a> {
        Selectors::of(ctx, powers, &self.single.iter().map(|terms| &terms[..]).collect::<Vec<_>>())
    }
}

/// What rows of one place are made of.
enum Made<'a> {
    Powers(Powers<'a>),
    Selectors(Selectors<'a>, &'a Entries),
}

impl Made<'_> {
    /// Rows with these numbers.
    fn sums(&self, ctx: &LweContext, rows: &[Factors], numbers: &[usize]) -> Vec<LweCiphertext> {
        match self {
            Self::Powers(powers) => powers.sums(ctx, &numbers.iter().map(|&at| &rows[at][..]).collect::<Vec<_>>()),
            Self::Selectors(selectors, entries) => {
                let own = numbers.iter().map(|&at| (&entries.weights[at][..], &rows[at][..]));
                selectors.sums(ctx, &own.collect::<Vec<_>>())
            }
        }
    }
}

/// What rotations of one place are by: the messages that choose, and the inputs that rows are of.
struct Inputs<'a> {
    choices: Vec<Cow<'a, [LweCiphertext]>>,
    rows: Vec<Cow<'a, [LweCiphertext]>>,
}

/// Sums of the ciphertexts of each place, with these weights.
fn sums(ctx: &LweContext, terms: &[(&[LweCiphertext], i64)]) -> Result<Vec<LweCiphertext>, Error> {
    let one = |i: usize| -> Vec<_> { terms.iter().map(|&(list, weight)| (&list[i], weight)).collect() };
    (0..terms[0].0.len()).map(|i| Ok(LweCiphertext::combine(ctx, 0, &one(i))?)).collect()
}

impl<'a> Inputs<'a> {
    fn of(ctx: &LweContext, messages: &[&'a [LweCiphertext]], kind: Rows, from: Message) -> Result<Self, Error> {
        let (quarter, last) = (from.space() as i64 / 2, messages.len() - 1);
        let borrowed = |lists: &[&'a [LweCiphertext]]| lists.iter().map(|&list| Cow::Borrowed(list)).collect();
        match (kind, messages) {
            (Rows::Signs, &[high, low, last]) => Ok(Self {
                choices: vec![Cow::Owned(sums(ctx, &[(low, 2), (high, quarter)])?)],
                rows: vec![Cow::Borrowed(last), Cow::Owned(sums(ctx, &[(last, 1), (high, quarter)])?)],
            }),
            (Rows::Turns, &[ref before @ .., high, low, last]) => {
                let turns = TURNS.into_iter().flat_map(|t| TURNS.map(|u| (quarter * t, quarter * u)));
                let one = |(t, u)| Ok(Cow::Owned(sums(ctx, &[(last, 1), (low, t), (high, u)])?));
                Ok(Self { choices: borrowed(before), rows: turns.map(one).collect::<Result<_, Error>>()? })
            }
            _ => Ok(Self { choices: borrowed(&messages[..last]), rows: borrowed(&messages[last..]) }),
        }
    }
}

/// Evaluates each table on the messages, whose first list counts most; gives a list for each table. It takes the rotations
/// of the [`Tree`], and in the full domain one more for each message. A list more than the tables have messages says that
/// the message before the last, a padded one of 16, is there as two digits from 0 to 3, the high one first.
///
/// # Errors
/// No table, tables of different messages, another number of lists than the tables take, lists of different lengths;
/// [`aglet_schemes::Error::Failure`] if one would be wrong with a probability above `2^allowed`; those of [`Rotate::rotate`] and of
/// [`PackingKey::pack`].
pub fn lookup_tree(
    run: &impl Rotate,
    packing: &PackingKey,
    messages: &[&[LweCiphertext]],
    tables: &[TreeTable],
    allowed: f64,
) -> Result<Vec<Vec<LweCiphertext>>, Error> {
    let ctx = run.context();
    let (from, to) = agreed(messages, tables)?;
    let split = messages.len() > tables[0].messages();
    let kind = Rows::of(tables[0].messages(), split);
    let Inputs { choices, rows: inputs } = Inputs::of(ctx, messages, kind, from)?;
    let variances: Vec<f64> = choices.iter().chain(&inputs).map(|input| worst(input)).collect();
    let choosing = packing.choices();
    let plan = TreePlan::of(ctx, tables, split, choosing.map(BlindRotationKey::gadget));
    let choosing = choosing.filter(|_| plan.coarse);
    let log2_failure = plan.log2_failure(ctx, &variances);
    permit("A table of several messages (the set \"wide\" is made for them)", log2_failure, allowed)?;
    let choices = choices.iter().map(|cts| ready(run, from, cts)).collect::<Result<Vec<_>, _>>()?;
    let inputs = inputs.iter().map(|cts| ready(run, from, cts)).collect::<Result<Vec<_>, _>>()?;
    let TreePlan { tree, rows, .. } = &plan;
    let entries = Entries::of(ctx, tree, (from, to))?;
    let terms = rows.iter().chain(entries.iter().flat_map(|entries| &entries.single)).flatten();
    let used: BTreeSet<(usize, usize)> = terms.map(|&(i, at, _)| (i, at)).collect();
    let level = |message| tree.nodes().iter().filter(move |node| node.message == message);
    let widest = (0..choices.len()).map(|message| level(message).count()).max().unwrap_or(0).max(inputs.len());
    let together = (TOGETHER / widest).max(1);
    let start = [GlweSample::trivial(ctx, &parts_of_half_steps(ctx, to, kind.parts()), run.id())?];
    // Each result of a choice has a box of its own.
    let places = (0..kind.results()).map(|i| i * ctx.params().n() / from.boxes().0);
    let extracted = |sample: GlweSample| Ok(places.clone().map(|at| sample.extract(ctx, at)).collect::<Vec<_>>());
    let mut results = Vec::with_capacity(messages[0].len());
    for at in (0..messages[0].len()).step_by(together) {
        let some = at..messages[0].len().min(at + together);
        // The rotations of one place stand together.
        let turned: Vec<_> = some.clone().flat_map(|i| inputs.iter().map(move |input| input[i].clone())).collect();
        let samples = run.rotate(&turned, &start, 0, Ok)?;
        let samples: Vec<&[GlweSample]> = samples.chunks_exact(inputs.len()).collect();
        let mut found: Vec<Vec<LweCiphertext>> = vec![Vec::new(); samples.len()];
        let made = run.each(&samples, |own| {
            let powers = Powers::of(ctx, own, used.iter().copied());
            Ok(match &entries {
                Some(entries) => Made::Selectors(entries.selectors(ctx, powers), entries),
                None => Made::Powers(powers),
            })
        })?;
        let values = |found: &[Vec<LweCiphertext>], i: usize, numbers: &[usize]| -> Vec<LweCiphertext> {
            let own: Vec<usize> = numbers.iter().copied().filter(|&at| at < rows.len()).collect();
            let mut own = made[i].sums(ctx, rows, &own).into_iter();
            let chosen = |at: usize| at.checked_sub(rows.len()).map(|at| found[i][at].clone());
            numbers.iter().filter_map(|&at| chosen(at).or_else(|| own.next())).collect()
        };
        for message in (0..choices.len()).rev() {
            // Several nodes at a time, whose rows share what sums read.
            let nodes: Vec<&Node> = level(message).collect();
            let shared = nodes.len().div_ceil(SHARED).clamp(1, SHARED);
            let jobs: Vec<(usize, &[&Node])> =
                (0..samples.len()).flat_map(|i| nodes.chunks(shared).map(move |some| (i, some))).collect();
            let starts = run.each(&jobs, |(i, nodes)| {
                let numbers: Vec<usize> = nodes.iter().flat_map(|node| &node.values).copied().collect();
                let values = values(&found, *i, &numbers);
                let own = values.chunks_exact(values.len() / nodes.len());
                own.map(|own| Ok(spread(ctx, &packing.pack(ctx, own)?, from)?.made_of(ctx, own))).collect()
            })?;
            let starts: Vec<GlweSample> = starts.into_iter().flat_map(|some: Vec<_>| some).collect();
            if starts.is_empty() {
                continue;
            }
            let by = &choices[message][some.clone()];
            let chosen = match choosing {
                Some(key) => run.choose(key, by, &starts, extracted)?,
                None => run.rotate(by, &starts, 0, extracted)?,
            };
            chosen.into_iter().enumerate().for_each(|(at, cts)| found[at / nodes.len()].extend(cts));
        }
        results.extend((0..samples.len()).map(|i| values(&found, i, tree.roots())));
    }
    // Turns of digits that are the same ciphertext depend on each other.
    let left = results.iter().map(|row| worst(row)).fold(0.0, f64::max);
    permit("A table of several messages that depend on each other", log2_tail(0.5 / to.torus() as f64, left), allowed)?;
    Ok(columns(results, tables.len()))
}

/// What all tables take and give, if they agree with each other and with the messages.
fn agreed(messages: &[&[LweCiphertext]], tables: &[TreeTable]) -> Result<(Message, Message), Error> {
    let refused = |reason| Err(aglet_schemes::Error::InvalidParameters { reason }.into());
    let Some(first) = tables.first() else { return refused("there is no table to evaluate; give one or more") };
    let (from, to) = (first.from(), first.to());
    let same = |t: &TreeTable| (t.from(), t.to().torus(), t.messages()) == (from, to.torus(), first.messages());
    // Two digits of two bits are a message of four.
    let digits = usize::from((from.space(), from.domain()) == (16, Domain::Padded));
    let lists = first.messages()..=first.messages() + digits;
    if !tables.iter().all(same) || !lists.contains(&messages.len()) {
        return refused("tables read together take and give the same messages");
    }
    if messages.iter().any(|cts| cts.len() != messages[0].len()) {
        return refused("there is one of each message for every result");
    }
    Ok((from, to))
}

/// The table of a message from its packed values: each fills its box.
fn spread(ctx: &LweContext, packed: &GlweSample, from: Message) -> Result<GlweSample, aglet_rlwe::Error> {
    let (m, n, (boxes, centred)) = (ctx.modulus(), ctx.params().n(), from.boxes());
    let width = n / boxes;
    let mut words = Words::zeros(packed.words().len());
    for (out, column) in words.chunks_exact_mut(n).zip(packed.words().chunks_exact(n)) {
        // Coefficient i is the sum of the last `width` up to i; those before the first have wrapped around.
        let mut sum = column[n - width + 1..].iter().fold(0, |sum, &x| m.sub(sum, x));
        for (i, out) in out.iter_mut().enumerate() {
            sum = m.add(sum, column[i]);
            *out = sum;
            let leaves = if i + 1 < width { m.neg(column[i + 1 + n - width]) } else { column[i + 1 - width] };
            sum = m.sub(sum, leaves);
        }
    }
    let spread = GlweSample::new(ctx, words, packed.key(), packed.variance())?;
    Ok(if centred { spread.rotated_back(ctx, width as u16 / 2) } else { spread })
}
