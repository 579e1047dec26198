//! LUTs on several messages, such as a number of 12 bits as three nibbles, by a tree of rotations
//! (Guimaraes, Borin, Aranha, TCHES 2021-2, p. 229).
//!
//! One rotation by the last message serves the rows of all other messages, as multiples of one polynomial. If the message
//! before it is there as two digits of two bits, sixteen rotations serve rows of both: the last message is turned by
//! quarters of the torus, as the digits say, and tables are negated half a torus on, so that rows are sums of tables of
//! the turned messages, as a Fourier transform of a group of order 4 in each digit has it. The messages before choose, the
//! last first: values are packed into the table of a message, and a rotation by it takes one out, or a product where a message makes many
//! choices ([`BoxSample`]). What several tables of the same messages have in common is computed once.

use super::tables::ready;
use super::tree_plan::{Entries, TreePlan};
use super::{columns, permit, worst, Rotate, TOGETHER};
use crate::Error;
use aglet_ring::small::Words;
use aglet_rlwe::lwe::{
    log2_tail, BlindRotationKey, BoxSample, GlweSample, LweCiphertext, LweContext, PackingKey, Powers, Selectors,
};
use aglet_schemes::fhew::{parts_of_half_steps, Factors, Message, Node, Rows, TreeTable, TURNS};
use std::borrow::Cow;

/// Nodes whose rows are made together at most, and how many parts there are for threads to share out.
const SHARED: usize = 8;

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
/// of the [`Tree`](aglet_schemes::fhew::Tree) or of products, and in the full domain one more for each message. A list more than the tables have messages says that
/// the message before the last, a padded one of 16, is there as two digits from 0 to 3, the high one first.
///
/// # Errors
/// As [`lookup_planned`].
pub fn lookup_tree(
    run: &impl Rotate,
    packing: &PackingKey,
    messages: &[&[LweCiphertext]],
    tables: &[TreeTable],
    allowed: f64,
) -> Result<Vec<Vec<LweCiphertext>>, Error> {
    let split = tables.first().is_some_and(|table| messages.len() > table.messages());
    let plan = TreePlan::of(run.context(), tables, split, packing.choices().map(BlindRotationKey::gadget));
    lookup_planned(run, packing, messages, &plan, allowed)
}

/// [`lookup_tree`] by a plan for these messages and for choices of this key.
///
/// # Errors
/// No table, tables of different messages, another number of lists than the tables take, lists of different lengths;
/// [`aglet_schemes::Error::Failure`] if one would be wrong with a probability above `2^allowed`; those of [`Rotate::rotate`] and of
/// [`PackingKey::pack`].
pub fn lookup_planned(
    run: &impl Rotate,
    packing: &PackingKey,
    messages: &[&[LweCiphertext]],
    plan: &TreePlan,
    allowed: f64,
) -> Result<Vec<Vec<LweCiphertext>>, Error> {
    let ctx = run.context();
    let (from, to) = plan.agreed(messages)?;
    let kind = plan.kind;
    let Inputs { choices, rows: inputs } = Inputs::of(ctx, messages, kind, from)?;
    let variances: Vec<f64> = choices.iter().chain(&inputs).map(|input| worst(input)).collect();
    plan.permit(ctx, &variances, allowed)?;
    let choices = choices.iter().map(|cts| ready(run, from, cts)).collect::<Result<Vec<_>, _>>()?;
    let inputs = inputs.iter().map(|cts| ready(run, from, cts)).collect::<Result<Vec<_>, _>>()?;
    let level = |message| plan.nodes.iter().filter(move |node| node.message == message);
    let widest = (0..choices.len()).map(|message| level(message).count()).max().unwrap_or(0).max(inputs.len());
    let together = (TOGETHER / widest).max(1);
    let start = [GlweSample::trivial(ctx, &parts_of_half_steps(ctx, to, kind.parts()), run.id())?];
    let mut results = Vec::with_capacity(messages[0].len());
    for at in (0..messages[0].len()).step_by(together) {
        let some = at..messages[0].len().min(at + together);
        // The rotations of one place stand together.
        let turned: Vec<_> = some.clone().flat_map(|i| inputs.iter().map(move |input| input[i].clone())).collect();
        let samples = run.rotate(&turned, &start, 0, Ok)?;
        let samples: Vec<&[GlweSample]> = samples.chunks_exact(inputs.len()).collect();
        let mut found: Vec<Vec<LweCiphertext>> = vec![Vec::new(); samples.len()];
        let made = run.each(&samples, |own| {
            let powers = Powers::of(ctx, own, plan.used.iter().copied());
            Ok(match &plan.entries {
                Some(entries) => Made::Selectors(entries.selectors(ctx, powers), entries),
                None => Made::Powers(powers),
            })
        })?;
        let values = |found: &[Vec<LweCiphertext>], i: usize, numbers: &[usize]| -> Vec<LweCiphertext> {
            let own: Vec<usize> = numbers.iter().copied().filter(|&at| at < plan.rows.len()).collect();
            let mut own = made[i].sums(ctx, &plan.rows, &own).into_iter();
            let chosen = |at: usize| at.checked_sub(plan.rows.len()).map(|at| found[i][at].clone());
            numbers.iter().filter_map(|&at| chosen(at).or_else(|| own.next())).collect()
        };
        for message in (0..choices.len()).rev() {
            // Several nodes at a time, whose rows share what sums read.
            let nodes: Vec<&Node> = level(message).collect();
            let shared = nodes.len().div_ceil(SHARED).clamp(1, SHARED);
            let jobs: Vec<(usize, &[&Node])> =
                (0..samples.len()).flat_map(|i| nodes.chunks(shared).map(move |some| (i, some))).collect();
            let multiplied = plan.multiplies(message).is_some();
            let starts = run.each(&jobs, |(i, nodes)| {
                let numbers: Vec<usize> = nodes.iter().flat_map(|node| &node.values).copied().collect();
                let values = values(&found, *i, &numbers);
                let own = values.chunks_exact(values.len() / nodes.len());
                let start = |own: &[LweCiphertext]| {
                    let packed = packing.pack(ctx, own)?;
                    // The box of a product fills boxes.
                    let start = if multiplied { packed } else { spread(ctx, &packed, from)? };
                    Ok(start.made_of(ctx, own))
                };
                own.map(start).collect()
            })?;
            let starts: Vec<GlweSample> = starts.into_iter().flat_map(|some: Vec<_>| some).collect();
            if starts.is_empty() {
                continue;
            }
            let chosen = chosen(run, packing, plan, (message, from), &choices[message][some.clone()], &starts)?;
            chosen.into_iter().enumerate().for_each(|(at, cts)| found[at / nodes.len()].extend(cts));
        }
        results.extend((0..samples.len()).map(|i| values(&found, i, &plan.roots)));
    }
    // Turns of digits that are the same ciphertext depend on each other.
    let left = results.iter().map(|row| worst(row)).fold(0.0, f64::max);
    permit("A table of several messages that depend on each other", log2_tail(0.5 / to.torus() as f64, left), allowed)?;
    Ok(columns(results, plan.roots.len()))
}

/// What a message says of starts, as many for each of its ciphertexts, one after the other: packed values, which fill boxes if rotations choose.
fn chosen(
    run: &impl Rotate,
    packing: &PackingKey,
    plan: &TreePlan,
    (message, from): (usize, Message),
    by: &[LweCiphertext],
    starts: &[GlweSample],
) -> Result<Vec<Vec<LweCiphertext>>, Error> {
    let ctx = run.context();
    // Each result of a choice has a box of its own.
    let places: Vec<usize> = (0..plan.kind.results()).map(|i| i * ctx.params().n() / from.boxes().0).collect();
    let Some((gadget, variance)) = plan.multiplies(message) else {
        return match packing.choices().filter(|_| plan.coarse) {
            Some(key) => run.choose_some(key, by, starts, &places),
            None => run.extract(by, starts, 0, &places),
        };
    };
    let mut one = vec![0; ctx.params().n()];
    one[0] = 1;
    let one = spread(ctx, &GlweSample::trivial(ctx, &one, run.id())?, from)?;
    let own = BoxSample::starts(ctx, gadget, &one.words()[ctx.params().coordinates()..], run.id())?;
    let all: Vec<GlweSample> = by.iter().flat_map(|_| own.iter().cloned()).collect();
    let rows = run.rotate(by, &all, 0, Ok)?;
    let rows: Vec<&[GlweSample]> = rows.chunks_exact(own.len()).collect();
    let boxes = run.each(&rows, |rows| Ok(BoxSample::of(ctx, gadget, rows, variance)?))?;
    let each = starts.len() / by.len();
    let jobs: Vec<(&BoxSample, &GlweSample)> =
        starts.iter().enumerate().map(|(at, start)| (&boxes[at / each], start)).collect();
    run.each(&jobs, |(own, start)| {
        let product = own.product(ctx, start)?;
        Ok(places.iter().map(|&at| product.extract(ctx, at)).collect())
    })
}

/// The table of a message from its packed values: each fills its box.
fn spread(ctx: &LweContext, packed: &GlweSample, from: Message) -> Result<GlweSample, Error> {
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
