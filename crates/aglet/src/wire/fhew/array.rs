//! Arrays of FHEW ciphertexts in files: seeds and words, or few masks that all ciphertexts share.

use super::super::{count, unknown, Kind, Reader, Shape, Stored, Words, Writer};
use super::{shared, word};
use crate::fhew::{room, Array, FhewContext, Form};
use crate::{Error, KeyId};
use aglet_rlwe::lwe::{LweCiphertext, NoiseSource};
use zeroize::Zeroizing;

/// Most axes of an array, as numpy has them.
const MOST_AXES: usize = 64;
/// Most ciphertexts of an array that is stored; more of them are several files.
pub(super) const MOST_CELLS: usize = 1 << 32;
/// Bytes of a noise in a file: its name, its weight, its variance.
const SOURCE: usize = 32;

/// Residues of the modulus, with zeros up to a multiple of eight.
pub(super) fn residues(context: &FhewContext, count: usize) -> Shape {
    Shape::Residues { modulus: *context.ctx().modulus(), count: count.next_multiple_of(8) }
}

/// What the words of an array say.
struct Layout {
    form: Form,
    axes: usize,
    cells: usize,
    /// Ciphertexts that are a seed and a body.
    fresh: usize,
    /// Noises of all others together.
    sources: usize,
    /// Masks and runs, where all share masks: then there is nothing else.
    shared: Option<shared::Layout>,
}

impl Layout {
    fn of(array: &Array) -> Self {
        let (form, axes, cells) = (array.form(), array.shape().len(), array.cells().len());
        if let Some(shared) = shared::Layout::of(array) {
            return Self { form, axes, cells, fresh: 0, sources: 0, shared: Some(shared) };
        }
        let (fresh, others): (Vec<_>, Vec<_>) = array.cells().iter().partition(|ct| ct.seed().is_some());
        let sources = others.iter().map(|ct| ct.sources().len()).sum();
        Self { form, axes, cells, fresh: fresh.len(), sources, shared: None }
    }
    fn words(&self) -> Vec<u64> {
        let counts = [self.axes, self.cells, self.fresh, self.sources].map(|n| n as u64);
        let shared = self.shared.map(shared::Layout::words).unwrap_or_default();
        [self.form.code()].into_iter().chain(counts).chain(shared).collect()
    }
    fn read(w: &Words) -> Result<Self, Error> {
        let Some(form) = Form::of_code(w[0]) else { return unknown::<FhewContext, Array, _>("a form") };
        let axes = count::<FhewContext, Array>(w[1], 0, MOST_AXES, "a number of axes")?;
        let cells = count::<FhewContext, Array>(w[2], 0, MOST_CELLS, "a number of ciphertexts")?;
        let fresh = count::<FhewContext, Array>(w[3], 0, cells, "a number of fresh ciphertexts")?;
        let sources = count::<FhewContext, Array>(w[4], 0, MOST_CELLS, "a number of noises")?;
        Ok(Self { form, axes, cells, fresh, sources, shared: shared::Layout::read(w, cells)? })
    }
    /// Words of all ciphertexts: a body of those that are fresh, all of the others.
    fn residues(&self, context: &FhewContext) -> usize {
        self.fresh + (self.cells - self.fresh) * (context.params().lwe().coordinates() + 1)
    }
}

impl Stored<FhewContext> for Array {
    const KIND: Kind = Kind { tag: 13, name: "fhew ciphertext" };
    const SLOTS: bool = true;

    fn id(&self) -> KeyId {
        self.key()
    }
    fn words(&self) -> Vec<u64> {
        Layout::of(self).words()
    }
    /// Lengths of axes; for each ciphertext how many noises it has, all ones if it is fresh; the noises; seeds; residues. Where all
    /// ciphertexts share masks, see `shared.rs`.
    fn shapes(context: &FhewContext, w: &Words) -> Result<Vec<Shape>, Error> {
        let layout = Layout::read(w)?;
        if let Some(shared) = layout.shared {
            return shared.shapes(context, layout.axes, layout.cells);
        }
        let bytes = [8 * layout.axes, 4 * layout.cells, SOURCE * layout.sources, 32 * layout.fresh];
        Ok(bytes.into_iter().map(Shape::Bytes).chain([residues(context, layout.residues(context))]).collect())
    }
    fn put(&self, context: &FhewContext, out: &mut Writer<'_>) -> Result<(), Error> {
        if shared::put(self, out)? {
            return Ok(());
        }
        let layout = Layout::of(self);
        room(context, layout.cells - layout.fresh)?;
        let mut parts = [const { Vec::new() }; 4];
        let mut words = Vec::with_capacity(layout.residues(context).next_multiple_of(8));
        self.shape().iter().for_each(|&n| parts[0].extend((n as u64).to_le_bytes()));
        for ct in self.cells() {
            let noises = if ct.seed().is_some() { u32::MAX } else { ct.sources().len() as u32 };
            parts[1].extend(noises.to_le_bytes());
            if let Some(seed) = ct.seed() {
                parts[3].extend(seed);
            } else {
                ct.sources().iter().for_each(|source| parts[2].extend(source_bytes(source)));
                words.extend(ct.mask(context.ctx()).iter());
            }
            words.push(ct.body());
        }
        parts.into_iter().try_for_each(|part| out.bytes(Zeroizing::new(part)))?;
        words.resize(words.len().next_multiple_of(8), 0);
        Ok(out.residues(&words)?)
    }
    fn take(context: &FhewContext, id: KeyId, w: &Words, parts: &mut Reader<'_>) -> Result<Self, Error> {
        let layout = Layout::read(w)?;
        if let Some(shared) = layout.shared {
            let (shape, cells) = shared.take(context, id, (layout.axes, layout.cells), parts)?;
            return Array::new(context, layout.form, shape, id, cells)
                .or_else(|_| unknown::<FhewContext, Self, _>("a shape"));
        }
        let [shape, noises, sources, seeds] = [parts.bytes()?, parts.bytes()?, parts.bytes()?, parts.bytes()?];
        let words = parts.residues()?;
        let shape = shape.chunks_exact(8).map(|n| word(n) as usize).collect();
        let mut rest = Rest { sources: &sources, seeds: &seeds, words: &words };
        room(context, layout.cells - layout.fresh)?;
        let cells = noises.chunks_exact(4).map(|noises| rest.cell(context, id, word(noises) as u32));
        let cells = cells.collect::<Result<Vec<_>, Error>>()?;
        // What is left is what fills up the last eight.
        if !rest.sources.is_empty()
            || !rest.seeds.is_empty()
            || rest.words.len() > 7
            || rest.words.iter().any(|&w| w > 0)
        {
            return unknown::<FhewContext, Self, _>("parts");
        }
        Array::new(context, layout.form, shape, id, cells).or_else(|_| unknown::<FhewContext, Self, _>("a shape"))
    }
}

fn source_bytes(source: &NoiseSource) -> [u8; SOURCE] {
    let words = [source.name[0], source.name[1], source.weight as u64, source.variance.to_bits()];
    let mut bytes = [0; SOURCE];
    bytes.chunks_exact_mut(8).zip(words).for_each(|(out, word)| out.copy_from_slice(&word.to_le_bytes()));
    bytes
}

/// What ciphertexts are still to be made of.
struct Rest<'a> {
    sources: &'a [u8],
    seeds: &'a [u8],
    words: &'a [u64],
}

impl Rest<'_> {
    /// The next one, of so many noises or, for all ones, of a seed.
    fn cell(&mut self, context: &FhewContext, key: KeyId, noises: u32) -> Result<LweCiphertext, Error> {
        let Some(cell) = self.next(context, key, noises) else { return unknown::<FhewContext, Array, _>("parts") };
        cell
    }
    fn next(&mut self, context: &FhewContext, key: KeyId, noises: u32) -> Option<Result<LweCiphertext, Error>> {
        if noises == u32::MAX {
            let seed = split(&mut self.seeds, 32)?.try_into().ok()?;
            return Some(Ok(LweCiphertext::from_seed(context.ctx(), seed, split(&mut self.words, 1)?[0], key)));
        }
        let sources = split(&mut self.sources, (noises as usize).checked_mul(SOURCE)?)?.chunks_exact(SOURCE);
        let sources = sources.map(|bytes| {
            let [a, b, weight, variance] = [0, 8, 16, 24].map(|at| word(&bytes[at..at + 8]));
            NoiseSource { name: [a, b], weight: weight as i64, variance: f64::from_bits(variance) }
        });
        let words = split(&mut self.words, context.params().lwe().coordinates() + 1)?.to_vec();
        Some(LweCiphertext::from_words(context.ctx(), words, key, sources.collect()).map_err(Error::from))
    }
}

/// Takes so many off the front.
fn split<'a, T>(from: &mut &'a [T], count: usize) -> Option<&'a [T]> {
    let (now, later) = from.split_at_checked(count)?;
    *from = later;
    Some(now)
}
