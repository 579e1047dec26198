//! Arrays whose ciphertexts are coefficients of few samples, in files: runs of coefficients, the masks, the bodies. Words have all their
//! bits, or the few that they were rounded to for sending.

use super::super::{count, unknown, Reader, Shape, Words, Writer};
use super::array::{residues, MOST_CELLS};
use super::{bits, word};
use crate::fhew::{room_of_seeds, Array, FhewContext};
use crate::{Error, KeyId};
use aglet_rlwe::lwe::{LweCiphertext, Rounding, SharedMask};
use std::collections::HashMap;
use std::sync::Arc;
use zeroize::Zeroizing;

/// Bytes of a run in a file.
const RUN: usize = 16;
/// Bytes of the variance of a rounded sample.
const VARIANCE: usize = 8;

/// Ciphertexts that are coefficients of a sample, at equal distances.
#[derive(Clone, Copy)]
struct Run {
    mask: u32,
    first: u32,
    step: u32,
    count: u32,
}

impl Run {
    fn bytes(self) -> impl Iterator<Item = u8> {
        [self.mask, self.first, self.step, self.count].into_iter().flat_map(u32::to_le_bytes)
    }
    fn of_bytes(bytes: &[u8]) -> Self {
        let [mask, first, step, count] = [0, 4, 8, 12].map(|at| word(&bytes[at..at + 4]) as u32);
        Self { mask, first, step, count }
    }
    /// Takes one more ciphertext, if it is where the next one of the run would be: the second one says how far they are apart.
    fn takes(&mut self, mask: u32, at: u32) -> bool {
        let fits = self.mask == mask && at > self.first;
        if fits && self.count == 1 {
            self.step = at - self.first;
        }
        let fits = fits && at - self.first == self.step * self.count;
        self.count += u32::from(fits);
        fits
    }
}

/// How the words of an array are written.
#[derive(Clone, Copy, PartialEq)]
pub(super) struct Layout {
    masks: usize,
    runs: usize,
    /// None for the words of a public key.
    rounding: Option<Rounding>,
}

/// The masks of an array in the order in which they appear, and its runs.
struct Shared<'a> {
    masks: Vec<&'a Arc<SharedMask>>,
    runs: Vec<Run>,
}

impl<'a> Shared<'a> {
    /// None if a ciphertext has a mask of its own, if masks are of two kinds, or if they have more words than ciphertexts of their own had.
    fn of(array: &'a Array) -> Option<Self> {
        let (mut found, mut numbers) = (Self { masks: Vec::new(), runs: Vec::<Run>::new() }, HashMap::new());
        for ct in array.cells() {
            let (mask, at) = ct.shared()?;
            let number = *numbers.entry(Arc::as_ptr(mask)).or_insert_with(|| {
                found.masks.push(mask);
                found.masks.len() - 1
            }) as u32;
            if !found.runs.last_mut().is_some_and(|run| run.takes(number, at as u32)) {
                found.runs.push(Run { mask: number, first: at as u32, step: 1, count: 1 });
            }
        }
        let rounding = found.masks.first()?.rounding();
        let words: usize = found.masks.iter().map(|mask| mask.words().len()).sum();
        let own = array.cells().len() * array.context().params().lwe().coordinates();
        (found.masks.iter().all(|mask| mask.rounding() == rounding))
            .then_some(found)
            .filter(|_| rounding.is_some() || words <= own)
    }
    fn layout(&self) -> Layout {
        Layout { masks: self.masks.len(), runs: self.runs.len(), rounding: self.masks[0].rounding() }
    }
}

impl Layout {
    /// None if the ciphertexts of an array do not share masks.
    pub(super) fn of(array: &Array) -> Option<Self> {
        Shared::of(array).map(|found| found.layout())
    }

    /// The words of a header.
    pub(super) fn words(self) -> [u64; 3] {
        let bits = self.rounding.map_or(0, |r| u64::from(r.mask_bits) | u64::from(r.body_bits) << 8);
        [self.masks as u64, self.runs as u64, bits]
    }

    /// The same of a header, for so many ciphertexts.
    pub(super) fn read(w: &Words, cells: usize) -> Result<Option<Self>, Error> {
        if w[5] == 0 {
            return Ok(None);
        }
        let masks = count::<FhewContext, Array>(w[5], 1, cells.min(MOST_CELLS), "a number of masks")?;
        let runs = count::<FhewContext, Array>(w[6], masks, cells, "a number of runs")?;
        let [mask_bits, body_bits] = [w[7] & 255, w[7] >> 8].map(|bits| u32::try_from(bits).unwrap_or(u32::MAX));
        let rounding = (w[7] != 0).then_some(Rounding { mask_bits, body_bits });
        if rounding.is_some_and(|r| !(1..=32).contains(&r.mask_bits) || !(1..=32).contains(&r.body_bits)) {
            return unknown::<FhewContext, Array, _>("bits of words");
        }
        Ok(Some(Self { masks, runs, rounding }))
    }

    /// The parts: lengths of axes, runs and, of rounded samples, variances; then masks and bodies.
    pub(super) fn shapes(self, context: &FhewContext, axes: usize, cells: usize) -> Result<Vec<Shape>, Error> {
        let (head, words) = (8 * axes + RUN * self.runs, self.masks * degree(context, self.rounding)?);
        Ok(match self.rounding {
            None => vec![Shape::Bytes(head), residues(context, words + cells)],
            Some(r) => {
                let bytes = bits::len(words, r.mask_bits) + bits::len(cells, r.body_bits);
                vec![Shape::Bytes(head + VARIANCE * self.masks), Shape::Bytes(bytes)]
            }
        })
    }

    /// The lengths of axes and the ciphertexts.
    pub(super) fn take(
        self,
        context: &FhewContext,
        key: KeyId,
        (axes, cells): (usize, usize),
        parts: &mut Reader<'_>,
    ) -> Result<(Vec<usize>, Vec<LweCiphertext>), Error> {
        let head = parts.bytes()?;
        room_of_seeds(cells)?;
        let (axes, rest) = head.split_at(8 * axes);
        let (runs, variances) = rest.split_at(RUN * self.runs);
        let (masks, bodies) = match self.rounding {
            None => self.full(context, key, cells, parts)?,
            Some(rounding) => self.rounded(context, rounding, (variances, cells), parts)?,
        };
        let (mut out, mut bodies) = (Vec::with_capacity(cells), &bodies[..]);
        for run in runs.chunks_exact(RUN).map(Run::of_bytes) {
            let mask = masks.get(run.mask as usize).filter(|_| run.step > 0);
            let (Some(mask), Some((now, later))) = (mask, bodies.split_at_checked(run.count as usize)) else {
                return unknown::<FhewContext, Array, _>("a run");
            };
            bodies = later;
            let places = (run.first as usize..).step_by(run.step as usize);
            for (at, &body) in places.zip(now) {
                out.push(LweCiphertext::of_shared(context.ctx(), mask, at, body, key)?);
            }
        }
        if !bodies.is_empty() {
            return unknown::<FhewContext, Array, _>("runs");
        }
        Ok((axes.chunks_exact(8).map(|n| word(n) as usize).collect(), out))
    }

    /// Masks of a public key and bodies.
    fn full(self, context: &FhewContext, key: KeyId, cells: usize, parts: &mut Reader<'_>) -> Result<Samples, Error> {
        let (words, degree) = (parts.residues()?, degree(context, None)?);
        let (polys, bodies) = words.split_at(self.masks * degree);
        let mask = |words: &[u64]| Ok(Arc::new(SharedMask::of_public_key(context.ctx(), words.to_vec(), key)?));
        let masks = polys.chunks_exact(degree).map(mask).collect::<Result<_, Error>>()?;
        // What is left fills up the last eight.
        let (bodies, left) = bodies.split_at(cells);
        if left.iter().any(|&w| w > 0) {
            return unknown::<FhewContext, Array, _>("parts");
        }
        Ok((masks, bodies.to_vec()))
    }

    /// Masks and bodies that were rounded.
    fn rounded(
        self,
        context: &FhewContext,
        rounding: Rounding,
        (variances, cells): (&[u8], usize),
        parts: &mut Reader<'_>,
    ) -> Result<Samples, Error> {
        let (bytes, degree, ctx) = (parts.bytes()?, degree(context, Some(rounding))?, context.ctx());
        let count = self.masks * degree;
        let (masks, bodies) = bytes.split_at(bits::len(count, rounding.mask_bits));
        let unpacked =
            (bits::unpack(masks, count, rounding.mask_bits), bits::unpack(bodies, cells, rounding.body_bits));
        let (Some(words), Some(bodies)) = unpacked else { return unknown::<FhewContext, Array, _>("parts") };
        let mask = |(words, variance)| {
            let variance = f64::from_bits(word(variance));
            Ok(Arc::new(SharedMask::rounded(ctx, words, rounding, variance)?))
        };
        let masks = words.chunks_exact(degree).zip(variances.chunks_exact(VARIANCE)).map(mask);
        let masks = masks.collect::<Result<_, Error>>()?;
        Ok((masks, bodies.iter().map(|&w| Rounding::lift(ctx, w, rounding.body_bits)).collect()))
    }
}

type Samples = (Vec<Arc<SharedMask>>, Vec<u64>);

/// Words of a mask.
fn degree(context: &FhewContext, rounding: Option<Rounding>) -> Result<usize, Error> {
    match rounding {
        None => Ok(context.ctx().public_table()?.n()),
        Some(_) => Ok(context.params().lwe().coordinates()),
    }
}

/// Writes an array that shares masks; false if it does not.
pub(super) fn put(array: &Array, out: &mut Writer<'_>) -> Result<bool, Error> {
    let Some(found) = Shared::of(array) else { return Ok(false) };
    let (ctx, bodies) = (array.context().ctx(), array.cells().iter().map(LweCiphertext::body));
    let mut head: Vec<u8> = array.shape().iter().flat_map(|&n| (n as u64).to_le_bytes()).collect();
    found.runs.iter().for_each(|run| head.extend(run.bytes()));
    let words = found.masks.iter().flat_map(|mask| mask.words()).copied();
    let Some(Rounding { mask_bits, body_bits }) = found.layout().rounding else {
        out.bytes(Zeroizing::new(head))?;
        let mut words: Vec<u64> = words.chain(bodies).collect();
        words.resize(words.len().next_multiple_of(8), 0);
        out.residues(&words)?;
        return Ok(true);
    };
    found.masks.iter().for_each(|mask| head.extend(mask.variance().to_bits().to_le_bytes()));
    out.bytes(Zeroizing::new(head))?;
    let mut bytes = bits::pack(words.map(|w| Rounding::round(ctx, w, mask_bits)), mask_bits);
    bytes.extend(bits::pack(bodies.map(|w| Rounding::round(ctx, w, body_bits)), body_bits));
    out.bytes(Zeroizing::new(bytes))?;
    Ok(true)
}
