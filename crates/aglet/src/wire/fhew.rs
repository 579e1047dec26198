//! Files of FHEW: where their keys and ciphertexts are bound, and what is stored of each.

use super::parameters::{found, parameters, shown, Parameters};
use super::rlwe::{count, unknown, Words};
use super::{Family, Kind, Origin, Reader, Shape, Stored, Summary, Writer};
use crate::fhew::{presets, room, Array, BootstrapKey, FhewContext, Form, PackingKey, SecretKey};
use crate::{Error, KeyId, OtherEngine};
use aglet_bootstrap::FhewBootstrapKey;
use aglet_ring::packed::KeyShape;
use aglet_ring::small::SmallTable;
use aglet_rlwe::lwe::{samples, LweCiphertext, NoiseSource, SeededKey};
use aglet_schemes::fhew::{FhewLiteral, FhewParams};
use zeroize::Zeroizing;

/// Every type, in the order of the numbers.
const ALL: [Kind; 4] = [SecretKey::KIND, BootstrapKey::KIND, Array::KIND, PackingKey::KIND];
/// The types of the family.
pub(super) const FAMILY: Family = Family { name: FhewContext::FAMILY, kinds: &ALL, finer: |_, _| None };
/// Most axes of an array, as numpy has them.
const MOST_AXES: usize = 64;
/// Most ciphertexts of an array that is stored; more of them are several files.
const MOST_CELLS: usize = 1 << 32;
/// Bytes of a noise in a file: its name, its weight, its variance.
const SOURCE: usize = 32;

parameters! { FhewParams, FhewLiteral, "fhew", FhewLiteral::from_toml, presets::load }

impl FhewContext {
    /// The home that data names: a preset that comes with Aglet, or the parameters of the text.
    ///
    /// # Errors
    /// [`Error::Format`] for data of another family, a text that is no literal, or none of this fingerprint; the security gate's error
    /// for parameters below 128 bits, unless they are those of a preset or `allow_insecure` lets them pass.
    pub fn find(summary: &Summary, allow_insecure: bool) -> Result<Self, Error> {
        Self::new(found(summary, allow_insecure)?)
    }
}

impl Origin for FhewContext {
    const FAMILY: &'static str = FhewParams::FAMILY;

    fn name(&self) -> &str {
        &self.params().literal().name
    }
    fn fingerprint(&self) -> [u8; 32] {
        self.params().fingerprint()
    }
    fn slots(&self) -> usize {
        0
    }
    fn literal(&self) -> Result<String, Error> {
        self.params().text()
    }
    fn other(&self, literal: &str) -> Result<(String, OtherEngine), Error> {
        let name = shown(&FhewParams::of_text(literal)?.name);
        Ok((name.clone(), OtherEngine::Preset { name }))
    }
}

/// Residues of the modulus, with zeros up to a multiple of eight.
fn residues(context: &FhewContext, count: usize) -> Shape {
    Shape::Residues { modulus: *context.ctx().modulus(), count: count.next_multiple_of(8) }
}

impl Stored<FhewContext> for SecretKey {
    const KIND: Kind = Kind { tag: 11, name: "fhew secret key" };
    const SLOTS: bool = true;
    const SECRET: bool = true;

    fn id(&self) -> KeyId {
        self.id()
    }
    fn words(&self) -> Vec<u64> {
        vec![]
    }
    fn shapes(context: &FhewContext, _: &Words) -> Result<Vec<Shape>, Error> {
        Ok(vec![Shape::Bytes(SecretKey::packed_len(context.params().lwe()))])
    }
    fn put(&self, context: &FhewContext, out: &mut Writer<'_>) -> Result<(), Error> {
        out.bytes(self.packed(context.params().lwe()))
    }
    fn take(context: &FhewContext, id: KeyId, _: &Words, parts: &mut Reader<'_>) -> Result<Self, Error> {
        Ok(SecretKey::from_packed(context.params().lwe(), id, &parts.bytes()?)?)
    }
}

/// Samples of a key that are a section of a file together.
const TOGETHER: usize = 64;

/// A seed, and bodies of so many samples modulo the prime.
pub(super) fn key_shapes(context: &FhewContext, table: &SmallTable, shape: KeyShape) -> impl Iterator<Item = Shape> {
    let (all, n, modulus) = (samples(shape), table.n(), *context.ctx().modulus());
    let sections = (0..all).step_by(TOGETHER);
    let sections = sections.map(move |at| Shape::Residues { modulus, count: n * TOGETHER.min(all - at) });
    [Shape::Bytes(32)].into_iter().chain(sections)
}

pub(super) fn put_key(table: &SmallTable, key: &SeededKey, out: &mut Writer<'_>) -> Result<(), Error> {
    out.bytes(Zeroizing::new(key.seed().to_vec()))?;
    let (all, n) = (key.samples(), table.n());
    for first in (0..all).step_by(TOGETHER) {
        let mut bodies = vec![0; n * TOGETHER.min(all - first)];
        bodies.chunks_exact_mut(n).enumerate().for_each(|(i, body)| key.body(table, first + i, body));
        out.residues(&bodies)?;
    }
    Ok(())
}

pub(super) fn take_key(table: &SmallTable, shape: KeyShape, parts: &mut Reader<'_>) -> Result<SeededKey, Error> {
    let (seed, n) = (parts.seed()?, table.n());
    let (mut bodies, mut at) = (Vec::new(), 0);
    SeededKey::expand(table, shape, seed, |body| {
        if at == bodies.len() {
            (bodies, at) = (parts.residues()?, 0);
        }
        body.copy_from_slice(&bodies[at..at + n]);
        at += n;
        Ok(())
    })
}

impl Stored<FhewContext> for BootstrapKey {
    const KIND: Kind = Kind { tag: 12, name: "fhew bootstrap key" };
    const SLOTS: bool = true;

    fn id(&self) -> KeyId {
        self.id()
    }
    fn words(&self) -> Vec<u64> {
        vec![]
    }
    fn shapes(context: &FhewContext, _: &Words) -> Result<Vec<Shape>, Error> {
        let ctx = context.ctx();
        let (rotation, switch) = FhewBootstrapKey::shapes(ctx);
        let rotation = rotation.into_iter().flat_map(|shape| key_shapes(context, ctx.table(), shape));
        Ok(rotation.chain(key_shapes(context, ctx.switch_table(), switch)).collect())
    }
    fn put(&self, context: &FhewContext, out: &mut Writer<'_>) -> Result<(), Error> {
        let (ctx, (rotation, switch)) = (context.ctx(), self.0.keys());
        rotation.into_iter().try_for_each(|key| put_key(ctx.table(), key, out))?;
        put_key(ctx.switch_table(), switch, out)
    }
    fn take(context: &FhewContext, id: KeyId, _: &Words, parts: &mut Reader<'_>) -> Result<Self, Error> {
        let ctx = context.ctx();
        let (rotation, switch) = FhewBootstrapKey::shapes(ctx);
        let rotation = rotation.into_iter().map(|shape| take_key(ctx.table(), shape, parts));
        let rotation = rotation.collect::<Result<Vec<_>, Error>>()?;
        Ok(BootstrapKey(FhewBootstrapKey::of(ctx, rotation, take_key(ctx.switch_table(), switch, parts)?, id)?))
    }
}

impl Stored<FhewContext> for PackingKey {
    const KIND: Kind = Kind { tag: 14, name: "packing key" };
    const SLOTS: bool = true;

    fn id(&self) -> KeyId {
        self.id()
    }
    fn words(&self) -> Vec<u64> {
        vec![]
    }
    fn shapes(context: &FhewContext, _: &Words) -> Result<Vec<Shape>, Error> {
        let ctx = context.ctx();
        Ok(key_shapes(context, ctx.table(), Self::shape(ctx, ctx.params().spec().gadget)).collect())
    }
    fn put(&self, context: &FhewContext, out: &mut Writer<'_>) -> Result<(), Error> {
        put_key(context.ctx().table(), self.samples(), out)
    }
    fn take(context: &FhewContext, id: KeyId, _: &Words, parts: &mut Reader<'_>) -> Result<Self, Error> {
        let ctx = context.ctx();
        let gadget = ctx.params().spec().gadget;
        Ok(Self::of(ctx, gadget, take_key(ctx.table(), Self::shape(ctx, gadget), parts)?, id))
    }
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
}

impl Layout {
    fn of(array: &Array) -> Self {
        let (fresh, others): (Vec<_>, Vec<_>) = array.cells().iter().partition(|ct| ct.seed().is_some());
        Self {
            form: array.form(),
            axes: array.shape().len(),
            cells: array.cells().len(),
            fresh: fresh.len(),
            sources: others.iter().map(|ct| ct.sources().len()).sum(),
        }
    }
    fn words(&self) -> Vec<u64> {
        let counts = [self.axes, self.cells, self.fresh, self.sources].map(|n| n as u64);
        [self.form.code()].into_iter().chain(counts).collect()
    }
    fn read(w: &Words) -> Result<Self, Error> {
        let Some(form) = Form::of_code(w[0]) else { return unknown::<FhewContext, Array, _>("a form") };
        let axes = count::<FhewContext, Array>(w[1], 0, MOST_AXES, "a number of axes")?;
        let cells = count::<FhewContext, Array>(w[2], 0, MOST_CELLS, "a number of ciphertexts")?;
        let fresh = count::<FhewContext, Array>(w[3], 0, cells, "a number of fresh ciphertexts")?;
        Ok(Self {
            form,
            axes,
            cells,
            fresh,
            sources: count::<FhewContext, Array>(w[4], 0, MOST_CELLS, "a number of noises")?,
        })
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
    /// Lengths of axes; for each ciphertext how many noises it has, all ones if it is fresh; the noises; seeds; residues.
    fn shapes(context: &FhewContext, w: &Words) -> Result<Vec<Shape>, Error> {
        let layout = Layout::read(w)?;
        let bytes = [8 * layout.axes, 4 * layout.cells, SOURCE * layout.sources, 32 * layout.fresh];
        Ok(bytes.into_iter().map(Shape::Bytes).chain([residues(context, layout.residues(context))]).collect())
    }
    fn put(&self, context: &FhewContext, out: &mut Writer<'_>) -> Result<(), Error> {
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
                words.extend(ct.words().unwrap_or_default());
            }
            words.push(ct.body());
        }
        parts.into_iter().try_for_each(|part| out.bytes(Zeroizing::new(part)))?;
        words.resize(words.len().next_multiple_of(8), 0);
        out.residues(&words)
    }
    fn take(context: &FhewContext, id: KeyId, w: &Words, parts: &mut Reader<'_>) -> Result<Self, Error> {
        let layout = Layout::read(w)?;
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

/// Up to eight little-endian bytes.
fn word(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte))
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
