//! Floors and digits of unsigned integers.

use super::{bootstrap_several, permit, worst, Rotate};
use crate::Error;
use aglet_rlwe::lwe::LweCiphertext;
use aglet_schemes::fhew::{Group, Message, Unsigned};

/// Unsigned integers without their low `bits` bits: `floor(x / 2^bits)`, as integers of `bits` bits fewer.
///
/// # Errors
/// [`aglet_schemes::Error::Message`] for more bits than an integer has, [`aglet_schemes::Error::Failure`] if a floor would be wrong with a probability above
/// `2^allowed` however it is cut; those of [`Rotate::rotate`].
pub fn floor(
    run: &impl Rotate,
    cts: &[LweCiphertext],
    unsigned: Unsigned,
    bits: u32,
    allowed: f64,
) -> Result<Vec<LweCiphertext>, Error> {
    let groups = unsigned.groups(&run.context().params().noise(), bits, worst(cts), allowed)?;
    let mut left = cts.to_vec();
    for group in groups {
        read(run, group, &mut left, None)?;
    }
    Ok(left)
}

/// The digits of unsigned integers as messages of `to`, the lowest first; gives a list for each digit. Each has as many bits as a
/// message; the last may have fewer.
///
/// # Errors
/// [`aglet_schemes::Error::Failure`] if a digit would be wrong with a probability above `2^allowed`; those of [`Rotate::rotate`].
pub fn digits(
    run: &impl Rotate,
    cts: &[LweCiphertext],
    unsigned: Unsigned,
    to: Message,
    allowed: f64,
) -> Result<Vec<Vec<LweCiphertext>>, Error> {
    let noise = run.context().params().noise();
    let groups = unsigned.digits(&noise, to, worst(cts));
    permit("A digit", Group::log2_failure(&groups, &noise, worst(cts)), allowed)?;
    let mut left = cts.to_vec();
    groups.into_iter().map(|group| read(run, group, &mut left, Some(to))).collect()
}

/// Takes the bits of a group off integers, unless nothing is read after them, and gives them as messages of `to`, if asked to.
fn read(
    run: &impl Rotate,
    group: Group,
    numbers: &mut [LweCiphertext],
    to: Option<Message>,
) -> Result<Vec<LweCiphertext>, Error> {
    let (ctx, m) = (run.context(), run.context().modulus());
    let mut digits: Vec<LweCiphertext> = Vec::new();
    for &part in group.parts() {
        let clears = group.clears(part, to.is_some());
        let counts = [clears.then(|| group.counts(ctx)), to.map(|to| group.digit_counts(ctx, to))];
        let (tables, moves): (Vec<_>, Vec<_>) =
            counts.into_iter().flatten().map(|counts| group.table(ctx, part, counts)).unzip();
        let middle = group.middle(ctx, part);
        let inputs = numbers.iter().map(|w| LweCiphertext::combine(ctx, middle, &[(w, group.factor())]));
        let inputs = inputs.collect::<Result<Vec<_>, _>>()?;
        let log_tables = if tables.len() > 1 { group.log_tables } else { 0 };
        let mut found = bootstrap_several(run, &inputs, &tables, log_tables)?.into_iter().zip(moves);
        if let Some((bits, by)) = clears.then(|| found.next()).flatten() {
            for (number, bits) in numbers.iter_mut().zip(&bits) {
                *number = LweCiphertext::combine(ctx, m.neg(by), &[(number, 1), (bits, -1)])?;
            }
        }
        if let Some((mut bits, by)) = found.next() {
            bits.iter_mut().for_each(|b| b.add_phase(ctx, by));
            let sums = digits.iter().zip(&bits).map(|(d, b)| LweCiphertext::combine(ctx, 0, &[(d, 1), (b, 1)]));
            digits = if digits.is_empty() { bits } else { sums.collect::<Result<_, _>>()? };
        }
    }
    Ok(digits)
}
