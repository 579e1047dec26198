//! Arrays of ciphertexts in the shapes of numpy, and what is done to them without a key.

use super::memory::{room, room_of_seeds};
use crate::{Error, KeyId};
use aglet_ring::arch;
use aglet_rlwe::lwe::{LweCiphertext, LweContext};
use aglet_schemes::fhew::{not, Domain, FhewParams, Integer, Word};
use std::sync::Arc;

/// Parameters with their tables, which an engine shares with all that it makes. Equal parameters make equal homes.
#[derive(Clone)]
pub struct Home {
    params: FhewParams,
    ctx: Arc<LweContext>,
}

impl Home {
    /// A home without an engine, for what comes out of a file.
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

impl PartialEq for Home {
    fn eq(&self, other: &Self) -> bool {
        self.params == other.params
    }
}

/// What the phases of an array stand for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Bits of gates, Q/8 and -Q/8.
    Bits,
    /// Messages of tables, as many as the set has.
    Messages(Domain),
    /// Integers with a sign, which do not wrap around.
    Integers(Integer),
    /// Integers without a sign, which wrap around.
    Words(Word),
}

impl Form {
    /// As a word of a file.
    #[must_use]
    pub fn code(self) -> u64 {
        match self {
            Form::Bits => 0,
            Form::Messages(Domain::Padded) => 1,
            Form::Messages(Domain::Full) => 2,
            Form::Messages(Domain::Negacyclic) => 3,
            Form::Integers(integer) => 4 | u64::from(integer.bits()) << 8,
            Form::Words(word) => 5 | u64::from(word.bits()) << 8,
        }
    }
    /// The form of a word, if it is one.
    #[must_use]
    pub fn of_code(code: u64) -> Option<Self> {
        let bits = u32::try_from(code >> 8).ok()?;
        match code & 255 {
            4 => Integer::new(bits).ok().map(Form::Integers),
            5 => Word::new(bits).ok().map(Form::Words),
            _ => [Form::Bits].into_iter().chain(Domain::ALL.map(Form::Messages)).find(|form| form.code() == code),
        }
    }
    /// In a word, for sentences.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Form::Bits => "bits",
            Form::Messages(domain) => domain.name(),
            Form::Integers(_) => "signed",
            Form::Words(_) => "unsigned",
        }
    }
}

/// Ciphertexts of one secret key and one form. Never changed once made; what is made of it shares its data.
#[derive(Clone)]
pub struct Array {
    home: Home,
    form: Form,
    shape: Vec<usize>,
    key: KeyId,
    cells: Arc<Vec<LweCiphertext>>,
}

impl Array {
    /// From its ciphertexts in the order of C, the last place first.
    ///
    /// # Errors
    /// [`Error::Parameter`] for another number of them than the shape says, those of [`LweCiphertext::combine`] for other keys.
    pub fn new(
        home: &Home,
        form: Form,
        shape: Vec<usize>,
        key: KeyId,
        cells: Vec<LweCiphertext>,
    ) -> Result<Self, Error> {
        let size = shape.iter().try_fold(1usize, |size, &n| size.checked_mul(n));
        if size != Some(cells.len()) {
            return Err(Error::Parameter(format!("{} ciphertexts have not the shape {shape:?}.", cells.len())));
        }
        if let Some(other) = cells.iter().find(|ct| ct.key() != key) {
            return Err(aglet_rlwe::Error::KeyMismatch { what: "ciphertext", found: other.key(), expected: key }.into());
        }
        Ok(Self { home: home.clone(), form, shape, key, cells: Arc::new(cells) })
    }

    /// The same parameters, form and key around other ciphertexts.
    fn with(&self, cells: impl Iterator<Item = Result<LweCiphertext, Error>>) -> Result<Self, Error> {
        room(&self.home, self.cells.len())?;
        let cells = cells.collect::<Result<Vec<_>, _>>()?;
        Self::new(&self.home, self.form, self.shape.clone(), self.key, cells)
    }

    /// Its parameters.
    #[must_use]
    pub fn home(&self) -> &Home {
        &self.home
    }
    /// What its phases stand for.
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
    /// Bytes in memory, without what it shares with others taken off.
    #[must_use]
    pub fn byte_count(&self) -> usize {
        self.cells.iter().map(LweCiphertext::byte_count).sum()
    }

    /// The ciphertexts at these places, in any order and any number of times: indexing, broadcasting and reshaping at once.
    ///
    /// # Errors
    /// [`Error::Parameter`] for a place that it does not have, or another number of places than the shape says.
    pub fn take(&self, places: &[usize], shape: Vec<usize>) -> Result<Self, Error> {
        room_of_seeds(places.len())?;
        let cell = |&at: &usize| {
            let none = || Error::Parameter(format!("There is no ciphertext {at} among {}.", self.cells.len()));
            self.cells.get(at).cloned().ok_or_else(none)
        };
        let cells = places.iter().map(cell).collect::<Result<Vec<_>, _>>()?;
        Self::new(&self.home, self.form, shape, self.key, cells)
    }

    /// One array of all ciphertexts of several, one after the other, on one axis.
    ///
    /// # Errors
    /// [`Error::Parameter`] for no array or arrays of different forms, [`Error::Foreign`] for other parameters, those of
    /// [`Array::new`].
    pub fn joined(arrays: &[&Self]) -> Result<Self, Error> {
        let Some(first) = arrays.first() else {
            return Err(Error::Parameter("There is no array to join; give one at least.".into()));
        };
        arrays.iter().try_for_each(|other| first.fits(other))?;
        room_of_seeds(arrays.iter().map(|array| array.cells.len()).sum())?;
        let cells: Vec<_> = arrays.iter().flat_map(|a| a.cells.iter().cloned()).collect();
        Self::new(&first.home, first.form, vec![cells.len()], first.key, cells)
    }

    /// `self + weight other`, place by place, of integers.
    ///
    /// # Errors
    /// [`Error::Parameter`] for bits, other shapes; those of [`LweCiphertext::combine`].
    pub fn plus(&self, other: &Self, weight: i64) -> Result<Self, Error> {
        self.fits(other)?;
        self.integers()?;
        if self.shape != other.shape {
            let sentence =
                format!("The shapes {:?} and {:?} differ; give arrays of one shape.", self.shape, other.shape);
            return Err(Error::Parameter(sentence));
        }
        let ctx = self.home.ctx();
        let sum = |(x, y)| Ok(LweCiphertext::combine(ctx, 0, &[(x, 1), (y, weight)])?);
        self.with(self.cells.iter().zip(other.cells.iter()).map(sum))
    }

    /// The sums of each `count` of its integers that follow one another: one axis, or none of nothing.
    ///
    /// # Errors
    /// [`Error::Parameter`] for bits, or a number of integers that is no multiple of `count`.
    pub fn sums(&self, count: usize) -> Result<Self, Error> {
        self.integers()?;
        if count == 0 || !self.cells.len().is_multiple_of(count) {
            let sentence =
                format!("{} ciphertexts have no sums of {count}; give an axis that has some.", self.cells.len());
            return Err(Error::Parameter(sentence));
        }
        room(&self.home, self.cells.len() / count)?;
        let sum = |some: &[LweCiphertext]| {
            let terms: Vec<_> = some.iter().map(|ct| (ct, 1)).collect();
            Ok(LweCiphertext::combine(self.home.ctx(), 0, &terms)?)
        };
        let cells = self.cells.chunks(count).map(sum).collect::<Result<Vec<_>, Error>>()?;
        Self::new(&self.home, self.form, vec![cells.len()], self.key, cells)
    }

    /// Integers plus numbers in the clear, one for each place.
    ///
    /// # Errors
    /// [`Error::Parameter`] for bits, or another number of numbers.
    pub fn plus_clear(&self, numbers: &[i64]) -> Result<Self, Error> {
        self.integers()?;
        let (ctx, message) = (self.home.ctx(), self.home.params.message());
        self.zipped(numbers, |ct, &number| {
            let mut sum = ct.clone();
            sum.add_phase(
                ctx,
                match self.form {
                    Form::Bits => 0,
                    Form::Messages(domain) => message.within(domain).phase(ctx, number),
                    Form::Integers(integer) => integer.encode(ctx, number)?,
                    Form::Words(word) => word.encode(ctx, number.rem_euclid(1 << word.bits()) as u64)?,
                },
            );
            Ok(sum)
        })
    }

    /// Integers times numbers in the clear, one for each place.
    ///
    /// # Errors
    /// [`Error::Parameter`] for bits, or another number of numbers.
    pub fn times(&self, factors: &[i64]) -> Result<Self, Error> {
        self.integers()?;
        let ctx = self.home.ctx();
        self.zipped(factors, |ct, &factor| Ok(LweCiphertext::combine(ctx, 0, &[(ct, factor)])?))
    }

    /// Bits negated.
    ///
    /// # Errors
    /// [`Error::Parameter`] for integers.
    pub fn negated(&self) -> Result<Self, Error> {
        if self.form != Form::Bits {
            let sentence = "Integers have no negation as bits do; take a table, or subtract them from a number.";
            return Err(Error::Parameter(sentence.into()));
        }
        self.with(self.cells.iter().map(|bit| Ok(not(self.home.ctx(), bit)?)))
    }

    fn zipped<T>(
        &self,
        numbers: &[T],
        work: impl Fn(&LweCiphertext, &T) -> Result<LweCiphertext, Error>,
    ) -> Result<Self, Error> {
        if numbers.len() != self.cells.len() {
            let (found, wanted) = (numbers.len(), self.cells.len());
            return Err(Error::Parameter(format!(
                "There are {found} numbers for {wanted} ciphertexts; give one each."
            )));
        }
        self.with(self.cells.iter().zip(numbers).map(|(ct, number)| work(ct, number)))
    }

    fn integers(&self) -> Result<(), Error> {
        match self.form {
            Form::Messages(_) | Form::Integers(_) | Form::Words(_) => Ok(()),
            Form::Bits => Err(Error::Parameter(
                "Bits have no sums; combine them by gates, as in engine.xor(x, y, key), or encrypt integers.".into(),
            )),
        }
    }

    fn fits(&self, other: &Self) -> Result<(), Error> {
        if self.home != other.home {
            let names = [self, other].map(|a| a.home.params.literal().name.clone());
            return Err(Error::Foreign(format!(
                "These arrays are of the sets \"{}\" and \"{}\"; use ciphertexts of one engine.",
                names[0], names[1]
            )));
        }
        if self.form != other.form {
            return Err(Error::Parameter(format!(
                "One array holds values of the form \"{}\" and the other \"{}\"; bring them to one form with a table, or encrypt \
                 them alike.",
                self.form.name(),
                other.form.name()
            )));
        }
        Ok(())
    }
}
