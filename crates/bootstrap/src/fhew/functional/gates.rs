//! Gates on bits: a sum, and a rotation that evaluates its sign. Sums without a margin take one more rotation.

use super::{bootstrap, Rotate};
use crate::Error;
use aglet_rlwe::lwe::LweCiphertext;
use aglet_schemes::fhew::{mux_end, mux_start, mux_table, pair_table, Decision, Gate};

/// Evaluates a gate, element by element: one rotation for each, or two if three bits share noise or have too much of it
/// together.
///
/// # Errors
/// [`aglet_schemes::Error::Inputs`] for another number of arrays, [`aglet_schemes::Error::Failure`] if a result would be wrong with a probability above `2^allowed`;
/// those of [`Rotate::rotate`].
///
/// # Panics
/// If an array is shorter than the first.
pub fn gate(
    run: &impl Rotate,
    gate: Gate,
    inputs: &[&[LweCiphertext]],
    allowed: f64,
) -> Result<Vec<LweCiphertext>, Error> {
    gate.check(inputs.len())?;
    let decision = |i: usize| {
        let bits: Vec<&LweCiphertext> = inputs.iter().map(|array| &array[i]).collect();
        gate.decision(run.context(), &bits)
    };
    let count = inputs.first().map_or(0, |array| array.len());
    decide(run, &(0..count).map(decision).collect::<Result<Vec<_>, _>>()?, allowed)
}

/// `select ? x : y`, element by element: two rotations for each, or three as in [`gate`].
///
/// # Errors
/// As [`gate`].
///
/// # Panics
/// If an array is shorter than the first.
pub fn mux(
    run: &impl Rotate,
    [select, x, y]: [&[LweCiphertext]; 3],
    allowed: f64,
) -> Result<Vec<LweCiphertext>, Error> {
    let ctx = run.context();
    let starts = select.iter().zip(x).map(|(select, x)| mux_start(ctx, [select, x], allowed));
    let both = bootstrap(run, &starts.collect::<Result<Vec<_>, _>>()?, &mux_table(ctx))?;
    let end = |(i, both)| mux_end(ctx, both, [&select[i], &x[i], &y[i]]);
    decide(run, &both.iter().enumerate().map(end).collect::<Result<Vec<_>, _>>()?, allowed)
}

/// The bits of sums. Whether the third term shares the noise of a pair shows after the rotation of the pair, as its name is of that
/// rotation; then another pair goes first. The term that was made last cannot share the noise of what is made of it.
fn decide(run: &impl Rotate, decisions: &[Decision<'_>], allowed: f64) -> Result<Vec<LweCiphertext>, Error> {
    let ctx = run.context();
    let mut sums: Vec<_> = decisions.iter().map(|decision| decision.sum(ctx, allowed)).collect();
    // What nothing helps is refused before others are worked on.
    let pairs = decisions.iter().zip(&sums).map(|(decision, sum)| match sum {
        Ok(_) => Ok(Vec::new()),
        Err(error) => Some(decision.pairs(ctx, allowed)).filter(|pairs| !pairs.is_empty()).ok_or_else(|| error.clone()),
    });
    let pairs = pairs.collect::<Result<Vec<_>, _>>()?;
    for attempt in 0..pairs.iter().map(Vec::len).max().unwrap_or(0) {
        let open = pairs.iter().enumerate().filter(|(i, _)| sums[*i].is_err());
        let open: Vec<_> = open.filter_map(|(i, pairs)| Some((i, *pairs.get(attempt)?))).collect();
        let firsts = open.iter().map(|&(i, pair)| decisions[i].pair(ctx, pair)).collect::<Result<Vec<_>, _>>()?;
        let read = bootstrap(run, &firsts, &pair_table(ctx))?;
        for (&(i, pair), read) in open.iter().zip(&read) {
            sums[i] = decisions[i].sum_with(ctx, (pair, read), allowed);
        }
    }
    bootstrap(run, &sums.into_iter().collect::<Result<Vec<_>, _>>()?, &Gate::table(ctx))
}
