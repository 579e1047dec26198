//! Arrays of FHEW ciphertexts with numpy's shapes, and operations on them that need no key.

use super::memory::{room, room_of_seeds};
use crate::{Error, ForeignError, KeyId, ParameterError};
use aglet_ring::arch;
use aglet_rlwe::lwe::{LweCiphertext, LweContext};
use aglet_schemes::fhew::{not, Domain, FhewParams, Integer, Unsigned};
use std::collections::HashMap;
use std::sync::Arc;

/// Parameters with their tables. An engine shares them with everything that it makes. Equal parameters make equal
/// contexts.
#[derive(Clone)]
pub struct FhewContext {
    params: FhewParams,
    ctx: Arc<LweContext>,
}

impl FhewContext {
    /// A context without an engine, for data from a file.
    ///
    /// # Errors
    /// A backend that `AGLET_BACKEND` names and this CPU lacks.
    pub fn new(params: FhewParams) -> Result<Self, Error> {
        let ctx = LweContext::new(params.lwe().clone(), arch::chosen()?)?;
        Ok(Self::of(params, Arc::new(ctx)))
    }
    pub(crate) fn of(params: FhewParams, ctx: Arc<LweContext>) -> Self {
        Self { params, ctx }
    }
    /// The parameters.
    #[must_use]
    pub fn params(&self) -> &FhewParams {
        &self.params
    }
    /// Their tables.
    pub(crate) fn ctx(&self) -> &LweContext {
        &self.ctx
    }
}

impl PartialEq for FhewContext {
    fn eq(&self, other: &Self) -> bool {
        self.params == other.params
    }
}

/// The form of an array: what its phases encode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Bits for gates, at Q/8 and -Q/8.
    Bits,
    /// Messages for LUTs, in the message space of the set.
    Messages(Domain),
    /// Signed integers, which do not wrap around.
    Integers(Integer),
    /// Unsigned integers, which wrap around.
    Unsigned(Unsigned),
}

impl Form {
    /// Its code in files.
    #[must_use]
    pub fn code(self) -> u64 {
        match self {
            Form::Bits => 0,
            Form::Messages(Domain::Padded) => 1,
            Form::Messages(Domain::Full) => 2,
            Form::Messages(Domain::Negacyclic) => 3,
            Form::Integers(integer) => 4 | u64::from(integer.bits()) << 8,
            Form::Unsigned(unsigned) => 5 | u64::from(unsigned.bits()) << 8,
        }
    }
    /// The form with this code, if there is one.
    #[must_use]
    pub fn of_code(code: u64) -> Option<Self> {
        let bits = u32::try_from(code >> 8).ok()?;
        match code & 255 {
            4 => Integer::new(bits).ok().map(Form::Integers),
            5 => Unsigned::new(bits).ok().map(Form::Unsigned),
            _ => [Form::Bits].into_iter().chain(Domain::ALL.map(Form::Messages)).find(|form| form.code() == code),
        }
    }
    /// Its name in sentences.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Form::Bits => "bits",
            Form::Messages(domain) => domain.name(),
            Form::Integers(_) => "signed",
            Form::Unsigned(_) => "unsigned",
        }
    }

    /// Its name and, of integers, their bits: two forms that differ have different ones.
    fn in_full(self) -> String {
        match self {
            Form::Integers(integer) => format!("{} of {} bits", self.name(), integer.bits()),
            Form::Unsigned(unsigned) => format!("{} of {} bits", self.name(), unsigned.bits()),
            Form::Bits | Form::Messages(_) => self.name().to_owned(),
        }
    }
}

/// Ciphertexts of one secret key and one form. An array never changes, and arrays that are indexed or reshaped from it
/// share its data.
#[derive(Clone)]
pub struct Array {
    context: FhewContext,
    form: Form,
    shape: Vec<usize>,
    key: KeyId,
    cells: Arc<Vec<LweCiphertext>>,
}

impl Array {
    /// Makes an array from its ciphertexts in C order.
    ///
    /// # Errors
    /// [`Error::Parameter`] for another number of them than the shape says, those of [`LweCiphertext::combine`] for other keys.
    pub fn new(
        context: &FhewContext,
        form: Form,
        shape: Vec<usize>,
        key: KeyId,
        cells: Vec<LweCiphertext>,
    ) -> Result<Self, Error> {
        let size = shape.iter().try_fold(1usize, |size, &n| size.checked_mul(n));
        if size != Some(cells.len()) {
            return Err(ParameterError::Shape { count: cells.len(), shape }.into());
        }
        if let Some(other) = cells.iter().find(|ct| ct.key() != key) {
            return Err(aglet_rlwe::Error::KeyMismatch { what: "ciphertext", found: other.key(), expected: key }.into());
        }
        Ok(Self { context: context.clone(), form, shape, key, cells: Arc::new(cells) })
    }

    /// The same parameters, form and key around other ciphertexts.
    fn with(&self, cells: impl Iterator<Item = Result<LweCiphertext, Error>>) -> Result<Self, Error> {
        room(&self.context, self.cells.len())?;
        let cells = cells.collect::<Result<Vec<_>, _>>()?;
        Self::new(&self.context, self.form, self.shape.clone(), self.key, cells)
    }

    /// Its parameters.
    #[must_use]
    pub fn context(&self) -> &FhewContext {
        &self.context
    }
    /// Its form.
    #[must_use]
    pub fn form(&self) -> Form {
        self.form
    }
    /// Lengths of its axes.
    #[must_use]
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }
    /// The secret key that decrypts it.
    #[must_use]
    pub fn key(&self) -> KeyId {
        self.key
    }
    /// Its ciphertexts in the order of C.
    #[must_use]
    pub fn cells(&self) -> &[LweCiphertext] {
        &self.cells
    }
    /// Bytes in memory, counting data that it shares with other arrays in full.
    #[must_use]
    pub fn byte_count(&self) -> usize {
        let masks: HashMap<_, _> =
            self.cells.iter().filter_map(|ct| ct.shared()).map(|(m, _)| (Arc::as_ptr(m), m.byte_count())).collect();
        self.cells.iter().map(LweCiphertext::byte_count).sum::<usize>() + masks.values().sum::<usize>()
    }

    /// The largest variance of the noise of a ciphertext, over Q squared; 0 of an empty array.
    #[must_use]
    pub fn variance(&self) -> f64 {
        self.cells.iter().map(LweCiphertext::variance).fold(0.0, f64::max)
    }

    /// The ciphertexts at these positions, in any order and any number of times. This is indexing, broadcasting and
    /// reshaping in one.
    ///
    /// # Errors
    /// [`Error::Parameter`] for a place that it does not have, or another number of places than the shape says.
    pub fn take(&self, places: &[usize], shape: Vec<usize>) -> Result<Self, Error> {
        room_of_seeds(places.len())?;
        let cell = |&at: &usize| {
            let none = ParameterError::NoElement { at, count: self.cells.len() };
            Ok::<_, Error>(self.cells.get(at).cloned().ok_or(none)?)
        };
        let cells = places.iter().map(cell).collect::<Result<Vec<_>, _>>()?;
        Self::new(&self.context, self.form, shape, self.key, cells)
    }

    /// Joins the ciphertexts of several arrays, one after the other, on one axis.
    ///
    /// # Errors
    /// [`Error::Parameter`] for no array or arrays of different forms, [`Error::Foreign`] for other parameters, those of
    /// [`Array::new`].
    pub fn joined(arrays: &[&Self]) -> Result<Self, Error> {
        let Some(first) = arrays.first() else {
            return Err(ParameterError::NoArray.into());
        };
        arrays.iter().try_for_each(|other| first.fits(other))?;
        room_of_seeds(arrays.iter().map(|array| array.cells.len()).sum())?;
        let cells: Vec<_> = arrays.iter().flat_map(|a| a.cells.iter().cloned()).collect();
        Self::new(&first.context, first.form, vec![cells.len()], first.key, cells)
    }

    /// `self + weight other`, element by element, for integers.
    ///
    /// # Errors
    /// [`Error::Parameter`] for bits, other shapes; those of [`LweCiphertext::combine`].
    pub fn plus(&self, other: &Self, weight: i64) -> Result<Self, Error> {
        self.fits(other)?;
        self.integers()?;
        if self.shape != other.shape {
            return Err(ParameterError::Shapes { one: self.shape.clone(), other: other.shape.clone() }.into());
        }
        let ctx = self.context.ctx();
        let sum = |(x, y)| Ok(LweCiphertext::combine(ctx, 0, &[(x, 1), (y, weight)])?);
        self.with(self.cells.iter().zip(other.cells.iter()).map(sum))
    }

    /// The sum of each `count` consecutive integers, on one axis. An empty array has no sums.
    ///
    /// # Errors
    /// [`Error::Parameter`] for bits, or a number of integers that is no multiple of `count`.
    pub fn sums(&self, count: usize) -> Result<Self, Error> {
        self.integers()?;
        if count == 0 || !self.cells.len().is_multiple_of(count) {
            return Err(ParameterError::NoSums { cells: self.cells.len(), count }.into());
        }
        room(&self.context, self.cells.len() / count)?;
        let sum = |some: &[LweCiphertext]| {
            let terms: Vec<_> = some.iter().map(|ct| (ct, 1)).collect();
            Ok(LweCiphertext::combine(self.context.ctx(), 0, &terms)?)
        };
        let cells = self.cells.chunks(count).map(sum).collect::<Result<Vec<_>, Error>>()?;
        Self::new(&self.context, self.form, vec![cells.len()], self.key, cells)
    }

    /// Integers plus numbers in the clear, one for each element.
    ///
    /// # Errors
    /// [`Error::Parameter`] for bits, or another number of numbers.
    pub fn plus_clear(&self, numbers: &[i64]) -> Result<Self, Error> {
        self.integers()?;
        let (ctx, message) = (self.context.ctx(), self.context.params.message());
        self.zipped(numbers, |ct, &number| {
            let mut sum = ct.clone();
            sum.add_phase(
                ctx,
                match self.form {
                    Form::Bits => 0,
                    Form::Messages(domain) => message.within(domain).phase(ctx, number),
                    Form::Integers(integer) => integer.encode(ctx, number)?,
                    Form::Unsigned(unsigned) => unsigned.encode(ctx, number.rem_euclid(1 << unsigned.bits()) as u64)?,
                },
            );
            Ok(sum)
        })
    }

    /// Integers times numbers in the clear, one for each element.
    ///
    /// # Errors
    /// [`Error::Parameter`] for bits, or another number of numbers.
    pub fn times(&self, factors: &[i64]) -> Result<Self, Error> {
        self.integers()?;
        let ctx = self.context.ctx();
        self.zipped(factors, |ct, &factor| Ok(LweCiphertext::combine(ctx, 0, &[(ct, factor)])?))
    }

    /// Padded messages as those of the full domain, which lie twice as far apart: the room above them is gone, and sums wrap around. Messages
    /// that have left their range come out modulo their number.
    ///
    /// # Errors
    /// [`Error::Parameter`] for another form.
    pub fn without_padding(&self) -> Result<Self, Error> {
        if self.form != Form::Messages(Domain::Padded) {
            let padded = Form::Messages(Domain::Padded).in_full();
            return Err(ParameterError::Forms { one: self.form.in_full(), other: padded }.into());
        }
        let doubled = self.times(&vec![2; self.cells.len()])?;
        Ok(Self { form: Form::Messages(Domain::Full), ..doubled })
    }

    /// The negated bits.
    ///
    /// # Errors
    /// [`Error::Parameter`] for integers.
    pub fn negated(&self) -> Result<Self, Error> {
        if self.form != Form::Bits {
            return Err(ParameterError::NegatedIntegers.into());
        }
        self.with(self.cells.iter().map(|bit| Ok(not(self.context.ctx(), bit)?)))
    }

    fn zipped<T>(
        &self,
        numbers: &[T],
        work: impl Fn(&LweCiphertext, &T) -> Result<LweCiphertext, Error>,
    ) -> Result<Self, Error> {
        if numbers.len() != self.cells.len() {
            return Err(ParameterError::Numbers { found: numbers.len(), wanted: self.cells.len() }.into());
        }
        self.with(self.cells.iter().zip(numbers).map(|(ct, number)| work(ct, number)))
    }

    fn integers(&self) -> Result<(), Error> {
        match self.form {
            Form::Messages(_) | Form::Integers(_) | Form::Unsigned(_) => Ok(()),
            Form::Bits => Err(ParameterError::Bits.into()),
        }
    }

    fn fits(&self, other: &Self) -> Result<(), Error> {
        if self.context != other.context {
            let [one, other] = [self, other].map(|a| a.context.params.literal().name.clone());
            return Err(ForeignError::Arrays { one, other }.into());
        }
        if self.form != other.form {
            return Err(ParameterError::Forms { one: self.form.in_full(), other: other.form.in_full() }.into());
        }
        Ok(())
    }
}
