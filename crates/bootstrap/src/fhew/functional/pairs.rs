//! LUTs on two messages, such as a byte as two nibbles.
//!
//! One rotation by the low message serves the tables of all high messages, as multiples of one polynomial. The results
//! are packed into the table of the high message, and a second rotation rotates it. Several tables of the same pair
//! share the first rotation.

use super::tables::ready;
use super::{columns, permit, worst, Rotate, TOGETHER};
use crate::Error;
use aglet_ring::small::Words;
use aglet_rlwe::lwe::{log2_tail, GlweSample, LweCiphertext, LweContext, PackingKey};
use aglet_schemes::fhew::{either, half_steps, Message, PairTable, Table};

/// The noise variance, on the torus, of results of tables on two messages that are evaluated together. The steepest row
/// of all tables multiplies the noise of a rotation and of packing; a second rotation adds its own.
#[must_use]
pub fn pair_variance(ctx: &LweContext, tables: &[PairTable]) -> f64 {
    tables.iter().map(|table| variance_of(ctx, table)).fold(0.0, f64::max)
}

/// The same of one table.
fn variance_of(ctx: &LweContext, table: &PairTable) -> f64 {
    let row = |row: &Table| GlweSample::product_variance(ctx, &row.factors(ctx.params()));
    let steepest = table.rows().iter().map(row).fold(0.0, f64::max);
    steepest + PackingKey::noise(ctx, ctx.params().spec().gadget) + ctx.noise().blind_rotation
}

/// log2 of the probability that a LUT on two messages of these variances is wrong: one of them is misread, or the
/// result has too much noise.
#[must_use]
pub fn pair_log2_failure(ctx: &LweContext, tables: &[PairTable], variances: [f64; 2]) -> f64 {
    let noise = ctx.params().noise();
    let read = tables.iter().take(1).flat_map(|t| variances.map(|v| t.from().log2_failure(&noise, v, 0)));
    let result = |t: &PairTable| log2_tail(0.5 / t.to().torus() as f64, variance_of(ctx, t));
    either(&read.chain(tables.iter().map(result)).collect::<Vec<_>>())
}

/// Evaluates each table on each pair of messages; gives a list for each table. It takes a rotation for the low message,
/// and one for the high message and each table; in the full domain one more for each message.
///
/// # Errors
/// No table, tables of different messages, lists of different lengths; [`aglet_schemes::Error::Failure`] if one would be wrong with a probability
/// above `2^allowed`; those of [`Rotate::rotate`] and of [`PackingKey::pack`].
pub fn lookup_pairs(
    run: &impl Rotate,
    packing: &PackingKey,
    [high, low]: [&[LweCiphertext]; 2],
    tables: &[PairTable],
    allowed: f64,
) -> Result<Vec<Vec<LweCiphertext>>, Error> {
    let ctx = run.context();
    let Some(first) = tables.first() else {
        let reason = "there is no table to evaluate; give one or more";
        return Err(aglet_schemes::Error::InvalidParameters { reason }.into());
    };
    let (from, to) = (first.from(), first.to());
    if tables.iter().any(|t| (t.from(), t.to().torus()) != (from, to.torus())) {
        let reason = "tables read together take and give the same messages";
        return Err(aglet_schemes::Error::InvalidParameters { reason }.into());
    }
    if high.len() != low.len() {
        let reason = "there is a high message for each low one";
        return Err(aglet_schemes::Error::InvalidParameters { reason }.into());
    }
    let log2_failure = pair_log2_failure(ctx, tables, [worst(high), worst(low)]);
    permit("A table of two messages (the set \"wide\" is made for them)", log2_failure, allowed)?;
    let (mut rows, low, high) = (Vec::with_capacity(low.len()), ready(run, from, low)?, ready(run, from, high)?);
    let jumps: Vec<Vec<_>> =
        tables.iter().map(|t| t.rows().iter().map(|r| r.factors(ctx.params())).collect()).collect();
    let start = [GlweSample::trivial(ctx, &half_steps(ctx, to), run.id())?];
    for (low, high) in low.chunks(TOGETHER).zip(high.chunks(TOGETHER)) {
        let starts = run.rotate(low, &start, 0, |sample| {
            let table = |rows: &Vec<Vec<(usize, i64)>>| {
                let values: Vec<_> = rows.iter().map(|jumps| sample.product(ctx, jumps)).collect();
                Ok(spread(ctx, &packing.pack(ctx, &values)?, from)?.made_of(&sample))
            };
            jumps.iter().map(table).collect::<Result<Vec<GlweSample>, Error>>()
        })?;
        let starts = starts.concat();
        let inputs: Vec<_> = high.iter().flat_map(|ct| vec![ct.clone(); tables.len()]).collect();
        let out = run.rotate(&inputs, &starts, 0, |sample| Ok(sample.extract(ctx, 0)))?;
        rows.extend(out.chunks(tables.len()).map(<[_]>::to_vec));
    }
    Ok(columns(rows, tables.len()))
}

/// The table of the high message from its values: each fills its box.
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
