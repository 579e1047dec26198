//! Signs of integers, and comparisons by them.

use super::{bootstrap, permit, worst, Rotate, TOGETHER};
use crate::Error;
use aglet_rlwe::lwe::{log2_tail, GlweSample, LweCiphertext};
use aglet_schemes::fhew::{half_steps, Integer, Message};

/// 1 for integers of 0 or more and 0 for negative ones, as messages of `to`: all magnitudes of an integer in one batch,
/// then one rotation.
///
/// # Errors
/// [`aglet_schemes::Error::Failure`] if a sign would be wrong with a probability above `2^allowed`; those of [`Rotate::rotate`].
pub fn sign(
    run: &impl Rotate,
    cts: &[LweCiphertext],
    integer: Integer,
    to: Message,
    allowed: f64,
) -> Result<Vec<LweCiphertext>, Error> {
    let ctx = run.context();
    permit("A sign", integer.log2_failure(ctx.params(), worst(cts)), allowed)?;
    let middle = |ct: &LweCiphertext| {
        let mut ct = ct.clone();
        ct.add_phase(ctx, integer.half_step(ctx));
        ct
    };
    let middles: Vec<_> = cts.iter().map(middle).collect();
    let sums = if integer.magnitudes() == 1 { middles } else { magnitudes(run, &middles, integer)? };
    halves(run, &sums, to)
}

/// 1 for sums of padded messages of 0 or more and 0 for negative ones, which are at most as many as messages: one
/// rotation.
///
/// # Errors
/// As [`sign`].
pub fn sign_of_messages(
    run: &impl Rotate,
    cts: &[LweCiphertext],
    message: Message,
    allowed: f64,
) -> Result<Vec<LweCiphertext>, Error> {
    let ctx = run.context();
    permit("A sign", log2_tail(message.half_step(), ctx.params().noise().decision(worst(cts))), allowed)?;
    let half = half_steps(ctx, message)[0];
    let mut middles = cts.to_vec();
    middles.iter_mut().for_each(|ct| ct.add_phase(ctx, half));
    halves(run, &middles, message)
}

/// 1 where a phase lies in the first half of the torus, 0 where it lies in the second, as messages of `to`.
fn halves(run: &impl Rotate, cts: &[LweCiphertext], to: Message) -> Result<Vec<LweCiphertext>, Error> {
    let ctx = run.context();
    let table = Integer::sign_table(ctx, to);
    let mut signs = bootstrap(run, cts, &table)?;
    signs.iter_mut().for_each(|s| s.add_phase(ctx, table[0]));
    Ok(signs)
}

/// The sums of magnitudes, whose signs are those of the integers.
fn magnitudes(run: &impl Rotate, middles: &[LweCiphertext], integer: Integer) -> Result<Vec<LweCiphertext>, Error> {
    let (ctx, count) = (run.context(), integer.magnitudes());
    let starts = (0..count).map(|j| GlweSample::trivial(ctx, &integer.magnitude_table(ctx, j), run.id()));
    let starts = starts.collect::<Result<Vec<_>, _>>()?;
    let mut sums = Vec::with_capacity(middles.len());
    for some in middles.chunks(TOGETHER) {
        let (mut inputs, mut own) = (Vec::new(), Vec::new());
        for x in some {
            for j in 0..count {
                inputs.push(LweCiphertext::combine(ctx, 0, &[(x, integer.factor(j))])?);
                own.push(starts[j as usize].clone());
            }
        }
        let out = run.extract(&inputs, &own, 0, &[0])?;
        for terms in out.chunks(count as usize) {
            let terms: Vec<_> = terms.iter().flatten().map(|d| (d, 1)).collect();
            sums.push(LweCiphertext::combine(ctx, 0, &terms)?);
        }
    }
    Ok(sums)
}

/// A comparison of two integers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Order {
    /// x < y.
    Less,
    /// x <= y.
    LessEqual,
    /// x > y.
    Greater,
    /// x >= y.
    GreaterEqual,
}

/// 1 where a comparison holds and 0 elsewhere, as messages of `to`, for lists of one length: one sign for each pair.
/// Differences must be in the range of the integers: both numbers are at least 0, or both within half of the range.
///
/// # Errors
/// As [`sign`].
pub fn compare(
    run: &impl Rotate,
    [x, y]: [&[LweCiphertext]; 2],
    order: Order,
    integer: Integer,
    to: Message,
    allowed: f64,
) -> Result<Vec<LweCiphertext>, Error> {
    let ctx = run.context();
    let (sign_of_x, strict) = match order {
        Order::Less => (-1, true),
        Order::LessEqual => (-1, false),
        Order::Greater => (1, true),
        Order::GreaterEqual => (1, false),
    };
    // Strictly above 0 is from 1 on.
    let less = if strict { integer.encode(ctx, -1)? } else { 0 };
    let difference = |(x, y)| LweCiphertext::combine(ctx, less, &[(x, sign_of_x), (y, -sign_of_x)]);
    let differences = x.iter().zip(y).map(difference).collect::<Result<Vec<_>, _>>()?;
    sign(run, &differences, integer, to, allowed)
}

/// 1 where two integers are equal and 0 elsewhere, as messages of `to`: two signs for each pair, at least one of which
/// is 1.
///
/// # Errors
/// As [`compare`].
pub fn equal(
    run: &impl Rotate,
    [x, y]: [&[LweCiphertext]; 2],
    integer: Integer,
    to: Message,
    allowed: f64,
) -> Result<Vec<LweCiphertext>, Error> {
    let ctx = run.context();
    // Each may fail half as often.
    let allowed = allowed - 1.0;
    let up = compare(run, [x, y], Order::LessEqual, integer, to, allowed)?;
    let down = compare(run, [x, y], Order::GreaterEqual, integer, to, allowed)?;
    let minus_one = ctx.modulus().neg(to.encode(ctx, 1)?);
    let both = up.iter().zip(&down).map(|(u, d)| LweCiphertext::combine(ctx, minus_one, &[(u, 1), (d, 1)]));
    Ok(both.collect::<Result<_, _>>()?)
}
