//! Arrays whose ciphertexts are coefficients of few samples, in files: runs of coefficients, the masks, the bodies.

use super::super::rlwe::{count, unknown, Words};
use super::super::{Reader, Shape, Writer};
use super::array::{residues, MOST_CELLS};
use super::word;
use crate::fhew::{room_of_seeds, Array, FhewContext};
use crate::{Error, KeyId};
use aglet_rlwe::lwe::{LweCiphertext, SharedMask};
use std::collections::HashMap;
use std::sync::Arc;
use zeroize::Zeroizing;

/// Bytes of a run in a file.
const RUN: usize = 12;

/// Ciphertexts that are consecutive coefficients of a sample: its number, the first coefficient, how many.
#[derive(Clone, Copy)]
struct Run {
    mask: u32,
    first: u32,
    count: u32,
}

impl Run {
    fn bytes(self) -> impl Iterator<Item = u8> {
        [self.mask, self.first, self.count].into_iter().flat_map(u32::to_le_bytes)
    }
    fn of_bytes(bytes: &[u8]) -> Self {
        let [mask, first, count] = [0, 4, 8].map(|at| word(&bytes[at..at + 4]) as u32);
        Self { mask, first, count }
    }
}

/// The masks of an array in the order in which they appear, and its runs.
struct Shared<'a> {
    masks: Vec<&'a Arc<SharedMask>>,
    runs: Vec<Run>,
}

impl<'a> Shared<'a> {
    /// None if a ciphertext has a mask of its own, or if the masks have more words than ciphertexts of their own had.
    fn of(array: &'a Array) -> Option<Self> {
        let (mut found, mut numbers) = (Self { masks: Vec::new(), runs: Vec::<Run>::new() }, HashMap::new());
        for ct in array.cells() {
            let (mask, at) = ct.shared()?;
            let number = *numbers.entry(Arc::as_ptr(mask)).or_insert_with(|| {
                found.masks.push(mask);
                found.masks.len() - 1
            });
            match found.runs.last_mut() {
                Some(run) if run.mask as usize == number && (run.first + run.count) as usize == at => run.count += 1,
                _ => found.runs.push(Run { mask: number as u32, first: at as u32, count: 1 }),
            }
        }
        let words: usize = found.masks.iter().map(|mask| mask.words().len()).sum();
        let own = array.cells().len() * array.context().params().lwe().coordinates();
        (!found.masks.is_empty() && words <= own).then_some(found)
    }
}

/// How many masks and runs an array has; none if its ciphertexts do not share masks.
pub(super) fn counts(array: &Array) -> Option<[usize; 2]> {
    Shared::of(array).map(|found| [found.masks.len(), found.runs.len()])
}

/// The same of the words of a header, for so many ciphertexts.
pub(super) fn read(w: &Words, cells: usize) -> Result<Option<[usize; 2]>, Error> {
    if w[5] == 0 {
        return Ok(None);
    }
    let masks = count::<FhewContext, Array>(w[5], 1, cells.min(MOST_CELLS), "a number of masks")?;
    Ok(Some([masks, count::<FhewContext, Array>(w[6], masks, cells, "a number of runs")?]))
}

/// The parts: lengths of axes and runs, then masks and bodies.
pub(super) fn shapes(
    context: &FhewContext,
    axes: usize,
    [masks, runs]: [usize; 2],
    cells: usize,
) -> Result<Vec<Shape>, Error> {
    let words = masks * context.ctx().public_table()?.n() + cells;
    Ok(vec![Shape::Bytes(8 * axes + RUN * runs), residues(context, words)])
}

/// Writes an array that shares masks; false if it does not.
pub(super) fn put(array: &Array, out: &mut Writer<'_>) -> Result<bool, Error> {
    let Some(found) = Shared::of(array) else { return Ok(false) };
    let mut head: Vec<u8> = array.shape().iter().flat_map(|&n| (n as u64).to_le_bytes()).collect();
    found.runs.iter().for_each(|run| head.extend(run.bytes()));
    out.bytes(Zeroizing::new(head))?;
    let mut words: Vec<u64> = found.masks.iter().flat_map(|mask| mask.words()).copied().collect();
    words.extend(array.cells().iter().map(LweCiphertext::body));
    words.resize(words.len().next_multiple_of(8), 0);
    out.residues(&words)?;
    Ok(true)
}

/// The lengths of axes and the ciphertexts.
pub(super) fn take(
    context: &FhewContext,
    key: KeyId,
    (axes, masks, cells): (usize, usize, usize),
    parts: &mut Reader<'_>,
) -> Result<(Vec<usize>, Vec<LweCiphertext>), Error> {
    let (head, words) = (parts.bytes()?, parts.residues()?);
    room_of_seeds(cells)?;
    let (ctx, degree) = (context.ctx(), context.ctx().public_table()?.n());
    let (axes, runs) = head.split_at(8 * axes);
    let shape = axes.chunks_exact(8).map(|n| word(n) as usize).collect();
    let (polys, bodies) = words.split_at(masks * degree);
    let mask = |words: &[u64]| Ok(Arc::new(SharedMask::of_public_key(ctx, words.to_vec(), key)?));
    let masks = polys.chunks_exact(degree).map(mask).collect::<Result<Vec<_>, Error>>()?;
    let (mut out, mut bodies) = (Vec::with_capacity(cells), bodies.iter());
    for run in runs.chunks_exact(RUN).map(Run::of_bytes) {
        let Some(mask) = masks.get(run.mask as usize) else { return unknown::<FhewContext, Array, _>("a mask") };
        for (at, &body) in (run.first as usize..).zip(bodies.by_ref().take(run.count as usize)) {
            out.push(LweCiphertext::of_shared(ctx, mask, at, body, key)?);
        }
    }
    // What is left fills up the last eight.
    if out.len() != cells || bodies.any(|&w| w > 0) {
        return unknown::<FhewContext, Array, _>("runs");
    }
    Ok((shape, out))
}
