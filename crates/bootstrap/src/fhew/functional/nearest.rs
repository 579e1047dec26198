//! Digits of the whole numbers nearest to unsigned numbers with a fraction.

use super::{bootstrap, bootstrap_several, permit, worst, Rotate};
use crate::Error;
use aglet_rlwe::lwe::LweCiphertext;
use aglet_schemes::fhew::{Message, Nearest, Span, Unsigned};

/// The lowest `digits` digits of two bits of the nearest whole numbers, as messages of `to`: a list for each digit, the lowest first. A value
/// half way between two becomes either.
///
/// # Errors
/// [`aglet_schemes::Error::Message`] for more digits than a number has, [`aglet_schemes::Error::Failure`] if a digit of a whole number would
/// be wrong with a probability above `2^allowed`; those of [`Rotate::rotate`].
pub fn nearest(
    run: &impl Rotate,
    cts: &[LweCiphertext],
    (unsigned, digits): (Unsigned, u32),
    to: Message,
    allowed: f64,
) -> Result<Vec<Vec<LweCiphertext>>, Error> {
    let noise = run.context().params().noise();
    let plan = Nearest::new(unsigned, digits, &noise, worst(cts))?;
    permit("Rounding", plan.log2_failure(&noise, worst(cts)), allowed)?;
    let (mut found, mut input) = (Vec::new(), Vec::new());
    for (at, span) in plan.spans().iter().enumerate() {
        if at == 0 {
            input = whole(run, times(run, cts, plan.factor(span), 0)?, span)?;
        }
        let next = plan.spans().get(at + 1);
        let above = next.map(|one| times(run, cts, plan.factor(one), one.middle(run.context()))).transpose()?;
        let (digits, left) = read(run, span, (input, above), to)?;
        found.extend(digits);
        input = left;
    }
    Ok(found)
}

/// Ciphertexts times a factor, plus a phase.
fn times(run: &impl Rotate, cts: &[LweCiphertext], factor: i64, phase: u64) -> Result<Vec<LweCiphertext>, Error> {
    let each = cts.iter().map(|ct| LweCiphertext::combine(run.context(), phase, &[(ct, factor)]));
    Ok(each.collect::<Result<_, _>>()?)
}

/// `x - factor y - phase` of each pair.
fn less(run: &impl Rotate, x: &mut [LweCiphertext], y: &[LweCiphertext], factor: i64, phase: u64) -> Result<(), Error> {
    let ctx = run.context();
    let phase = ctx.modulus().neg(phase);
    for (x, y) in x.iter_mut().zip(y) {
        *x = LweCiphertext::combine(ctx, phase, &[(x, 1), (y, -factor)])?;
    }
    Ok(())
}

/// Numbers whose lowest bits are on the whole torus, without what they lack to whole ones.
fn whole(run: &impl Rotate, mut numbers: Vec<LweCiphertext>, span: &Span) -> Result<Vec<LweCiphertext>, Error> {
    for wave in [false, true] {
        let lacking = times(run, &numbers, 1 << span.bits, 0)?;
        let found = bootstrap(run, &lacking, &span.lacking(run.context(), wave))?;
        less(run, &mut numbers, &found, 1, 0)?;
    }
    Ok(numbers)
}

/// The digits of a span of numbers that have nothing else on the torus, and the numbers of the next span without it.
#[allow(clippy::type_complexity)] // lists of digits, and numbers
fn read(
    run: &impl Rotate,
    span: &Span,
    (mut input, above): (Vec<LweCiphertext>, Option<Vec<LweCiphertext>>),
    to: Message,
) -> Result<(Vec<Vec<LweCiphertext>>, Vec<LweCiphertext>), Error> {
    let ctx = run.context();
    let (tables, moves): (Vec<_>, Vec<_>) = span.highest(ctx, to).into_iter().unzip();
    let highest = several(run, &times(run, &input, 1, span.boxes(ctx))?, &tables, span.log_tables[0])?;
    let scale = 1i64 << span.next;
    less(run, &mut input, &highest[0], scale, ctx.modulus().mul(scale as u64, moves[0]))?;
    let mut digits = several(run, &input, &span.others(ctx, to), span.log_tables[1])?;
    let mut left = above.unwrap_or_default();
    if span.next > 0 {
        less(run, &mut left, &highest[0], 1, moves[0])?;
        less(run, &mut left, &digits.remove(0), 1, 0)?;
    }
    for (digit, bit) in digits[span.highest_digit()].iter_mut().zip(&highest[1]) {
        *digit = LweCiphertext::combine(ctx, moves[1], &[(digit, 1), (bit, 1)])?;
    }
    Ok((digits, left))
}

/// What each of several tables says, `2^log_tables` of them to a rotation.
fn several(
    run: &impl Rotate,
    cts: &[LweCiphertext],
    tables: &[Vec<u64>],
    log_tables: u32,
) -> Result<Vec<Vec<LweCiphertext>>, Error> {
    let mut found = Vec::new();
    for some in tables.chunks(1 << log_tables) {
        let log = some.len().next_power_of_two().trailing_zeros();
        found.extend(bootstrap_several(run, cts, some, log)?);
    }
    Ok(found)
}
