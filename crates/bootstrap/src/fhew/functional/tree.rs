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
use aglet_ring::small::Words;
use aglet_rlwe::lwe::{log2_tail, GlweSample, LweCiphertext, LweContext, PackingKey};
use aglet_schemes::fhew::{either, parts_of_half_steps, row_factors, Domain, Message, Node, Tree, TreeTable, TURNS};

/// The noise variance, on the torus, of results of tables on several messages that are evaluated together. The steepest row
/// of all tables multiplies the noise of its rotations; each message before that of rows adds that of packing and of a
/// rotation. If it is `split`, rows are of two messages.
#[must_use]
pub fn tree_variance(ctx: &LweContext, tables: &[TreeTable], split: bool) -> f64 {
    tables.iter().map(|table| variance_of(ctx, table, split)).fold(0.0, f64::max)
}

/// The same of one table: of each rotation the largest part that any row has, as results are told apart by their inputs.
fn variance_of(ctx: &LweContext, table: &TreeTable, split: bool) -> f64 {
    let (length, rotations) = if split { (table.from().space() as usize, TURNS.len() * TURNS.len()) } else { (1, 1) };
    let mut largest = vec![0.0f64; rotations];
    for row in table.rows().chunks_exact(length) {
        for one in row_factors(ctx.params(), row).chunk_by(|x, y| x.0 == y.0) {
            let factors: Vec<_> = one.iter().map(|&(_, at, w)| (at, w)).collect();
            let most = &mut largest[one[0].0];
            *most = most.max(GlweSample::product_variance(ctx, &factors));
        }
    }
    let choice = PackingKey::noise(ctx, ctx.params().spec().gadget) + ctx.noise().blind_rotation;
    largest.iter().sum::<f64>() + (table.messages() - 1 - usize::from(split)) as f64 * choice
}

/// log2 of the probability that a LUT is wrong, which rotates by inputs of these variances: one of them is misread, or the
/// result has too much noise.
#[must_use]
pub fn tree_log2_failure(ctx: &LweContext, tables: &[TreeTable], variances: &[f64], split: bool) -> f64 {
    let noise = ctx.params().noise();
    let read = tables.iter().take(1).flat_map(|t| variances.iter().map(|v| t.from().log2_failure(&noise, *v, 0)));
    let result = |t: &TreeTable| log2_tail(0.5 / t.to().torus() as f64, variance_of(ctx, t, split));
    either(&read.chain(tables.iter().map(result)).collect::<Vec<_>>())
}

/// The last message, turned by each multiple of the digits, high and low, of the message before it: see [`TURNS`].
fn turns(
    ctx: &LweContext,
    [high, low, last]: [&[LweCiphertext]; 3],
    from: Message,
) -> Result<Vec<Vec<LweCiphertext>>, Error> {
    let quarter = from.space() as i64 / 2;
    let one = |i: usize, t: i64, u: i64| {
        Ok(LweCiphertext::combine(ctx, 0, &[(&last[i], 1), (&low[i], quarter * t), (&high[i], quarter * u)])?)
    };
    let all = |(t, u)| (0..last.len()).map(|i| one(i, t, u)).collect();
    TURNS.into_iter().flat_map(|t| TURNS.map(|u| (t, u))).map(all).collect()
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
    let choices = tables[0].messages() - 1 - usize::from(split);
    let (before, rest) = messages.split_at(choices);
    let inputs = match rest {
        &[high, low, last] => turns(ctx, [high, low, last], from)?,
        _ => vec![rest[0].to_vec()],
    };
    let variances: Vec<f64> = before.iter().copied().chain(inputs.iter().map(|input| &input[..])).map(worst).collect();
    let log2_failure = tree_log2_failure(ctx, tables, &variances, split);
    permit("A table of several messages (the set \"wide\" is made for them)", log2_failure, allowed)?;
    let before = before.iter().map(|cts| ready(run, from, cts)).collect::<Result<Vec<_>, _>>()?;
    let inputs = inputs.iter().map(|cts| ready(run, from, cts)).collect::<Result<Vec<_>, _>>()?;
    let tree = Tree::of(tables, split);
    let rows: Vec<_> = tree.rows().iter().map(|row| row_factors(ctx.params(), row)).collect();
    let level = |message| tree.nodes().iter().filter(move |node| node.message == message);
    let widest = (0..choices).map(|message| level(message).count()).max().unwrap_or(0).max(inputs.len());
    let together = (TOGETHER / widest).max(1);
    let parts = if split { inputs.len() as u64 } else { 1 };
    let start = [GlweSample::trivial(ctx, &parts_of_half_steps(ctx, to, parts), run.id())?];
    let mut results = Vec::with_capacity(messages[0].len());
    for at in (0..messages[0].len()).step_by(together) {
        let some = at..messages[0].len().min(at + together);
        // The rotations of one place stand together.
        let turned: Vec<_> = some.clone().flat_map(|i| inputs.iter().map(move |input| input[i].clone())).collect();
        let samples = run.rotate(&turned, &start, 0, Ok)?;
        let samples: Vec<&[GlweSample]> = samples.chunks_exact(inputs.len()).collect();
        let mut found: Vec<Vec<LweCiphertext>> = vec![Vec::new(); samples.len()];
        // Rows together, as they share powers of X.
        let values = |found: &[Vec<LweCiphertext>], i: usize, numbers: &[usize]| -> Vec<LweCiphertext> {
            let own: Vec<_> = numbers.iter().filter_map(|&at| rows.get(at).cloned()).collect();
            let mut own = GlweSample::sums(ctx, samples[i], &own).into_iter();
            let chosen = |at: usize| at.checked_sub(rows.len()).map(|at| found[i][at].clone());
            numbers.iter().filter_map(|&at| chosen(at).or_else(|| own.next())).collect()
        };
        for message in (0..choices).rev() {
            let jobs: Vec<(usize, &Node)> =
                (0..samples.len()).flat_map(|i| level(message).map(move |node| (i, node))).collect();
            let starts = run.each(&jobs, |(i, node)| {
                let values = values(&found, *i, &node.values);
                Ok(spread(ctx, &packing.pack(ctx, &values)?, from)?.made_of(ctx, &values))
            })?;
            if jobs.is_empty() {
                continue;
            }
            let chosen = run.rotate(&before[message][some.clone()], &starts, 0, |sample| Ok(sample.extract(ctx, 0)))?;
            jobs.iter().zip(chosen).for_each(|((i, _), ct)| found[*i].push(ct));
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
