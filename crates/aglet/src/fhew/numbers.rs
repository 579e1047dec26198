//! Larger integers of an engine: signed integers, and unsigned integers with floors and digits.

use super::engine::same_length;
use super::{BootstrapKey, Engine, Work};
use crate::{Control, Error};
use aglet_bootstrap::fhew::functional::{self, Order};
use aglet_rlwe::lwe::LweCiphertext;
use aglet_schemes::fhew::{Integer, Nearest, Unsigned, MAX_LOG2_FAILURE};

impl Engine {
    /// 1 for integers of 0 or more and 0 for negative ones, as messages of the set: six rotations for 20 bits, five of
    /// them in one batch.
    ///
    /// # Errors
    /// Keys that do not belong together, integers whose sign would be wrong too often, [`Error::Cancelled`].
    pub fn sign(
        &self,
        integers: &[LweCiphertext],
        integer: Integer,
        key: &BootstrapKey,
        max_log2_failure: Option<f64>,
        control: &Control,
    ) -> Result<Vec<LweCiphertext>, Error> {
        let allowed = max_log2_failure.unwrap_or(MAX_LOG2_FAILURE);
        let to = self.params().message();
        let rotations = self.planned(Work::Sign(integer), integers.len());
        self.work(key, control, rotations, |run| functional::sign(run, integers, integer, to, allowed))
    }

    /// 1 for sums of padded messages of 0 or more, else 0: one rotation. Sums are at least the negative of the number
    /// of messages, and below it.
    ///
    /// # Errors
    /// As [`Engine::sign`].
    pub fn sign_of_messages(
        &self,
        messages: &[LweCiphertext],
        key: &BootstrapKey,
        max_log2_failure: Option<f64>,
        control: &Control,
    ) -> Result<Vec<LweCiphertext>, Error> {
        let (allowed, message) = (max_log2_failure.unwrap_or(MAX_LOG2_FAILURE), self.params().message());
        self.work(key, control, messages.len(), |run| functional::sign_of_messages(run, messages, message, allowed))
    }

    /// 1 where a comparison of integers holds and 0 elsewhere, as messages of the set: one sign for each pair.
    /// Differences must be in the range of the integers: both are at least 0, or both within half of the range.
    ///
    /// # Errors
    /// As [`Engine::sign`]; lists of different lengths.
    pub fn compare(
        &self,
        pair: [&[LweCiphertext]; 2],
        order: Order,
        integer: Integer,
        key: &BootstrapKey,
        max_log2_failure: Option<f64>,
        control: &Control,
    ) -> Result<Vec<LweCiphertext>, Error> {
        same_length(&pair)?;
        let allowed = max_log2_failure.unwrap_or(MAX_LOG2_FAILURE);
        let to = self.params().message();
        let rotations = self.planned(Work::Sign(integer), pair[0].len());
        self.work(key, control, rotations, |run| functional::compare(run, pair, order, integer, to, allowed))
    }

    /// 1 where two integers are the same and 0 elsewhere, as messages of the set: two signs for each pair, with the range of
    /// [`Engine::compare`].
    ///
    /// # Errors
    /// As [`Engine::compare`].
    pub fn equal(
        &self,
        pair: [&[LweCiphertext]; 2],
        integer: Integer,
        key: &BootstrapKey,
        max_log2_failure: Option<f64>,
        control: &Control,
    ) -> Result<Vec<LweCiphertext>, Error> {
        same_length(&pair)?;
        let allowed = max_log2_failure.unwrap_or(MAX_LOG2_FAILURE);
        let to = self.params().message();
        let rotations = self.planned(Work::Equal(integer), pair[0].len());
        self.work(key, control, rotations, |run| functional::equal(run, pair, integer, to, allowed))
    }

    /// Unsigned integers without their low `bits` bits, as unsigned integers of fewer bits: two rotations for every
    /// five bits, more if the noise requires it.
    ///
    /// # Errors
    /// More bits than an integer has, integers on which it would fail too often, keys that do not belong together, [`Error::Cancelled`].
    pub fn floor(
        &self,
        cts: &[LweCiphertext],
        unsigned: Unsigned,
        bits: u32,
        key: &BootstrapKey,
        max_log2_failure: Option<f64>,
        control: &Control,
    ) -> Result<Vec<LweCiphertext>, Error> {
        let allowed = max_log2_failure.unwrap_or(MAX_LOG2_FAILURE);
        let rotations = self.planned(Work::Floor(unsigned, bits), cts.len());
        self.work(key, control, rotations, |run| functional::floor(run, cts, unsigned, bits, allowed))
    }

    /// The digits of unsigned integers as messages of the set, the lowest first: a list for each digit. A digit has as
    /// many bits as a message.
    ///
    /// # Errors
    /// Integers on which it would fail too often, keys that do not belong together, [`Error::Cancelled`].
    pub fn digits(
        &self,
        cts: &[LweCiphertext],
        unsigned: Unsigned,
        key: &BootstrapKey,
        max_log2_failure: Option<f64>,
        control: &Control,
    ) -> Result<Vec<Vec<LweCiphertext>>, Error> {
        let allowed = max_log2_failure.unwrap_or(MAX_LOG2_FAILURE);
        let to = self.params().message();
        let rotations = self.planned(Work::Digits(unsigned), cts.len());
        self.work(key, control, rotations, |run| functional::digits(run, cts, unsigned, to, allowed))
    }

    /// The lowest `digits` digits of two bits of the whole numbers nearest to unsigned numbers with a fraction, as messages of the set: a list
    /// for each digit, the lowest first. A value half way between two numbers becomes either; [`Engine::half_way`] says which values may.
    ///
    /// # Errors
    /// More digits than a number has, numbers of which a digit would be wrong too often, keys that do not belong together, [`Error::Cancelled`].
    pub fn nearest(
        &self,
        cts: &[LweCiphertext],
        (unsigned, digits): (Unsigned, u32),
        key: &BootstrapKey,
        max_log2_failure: Option<f64>,
        control: &Control,
    ) -> Result<Vec<Vec<LweCiphertext>>, Error> {
        let allowed = max_log2_failure.unwrap_or(MAX_LOG2_FAILURE);
        let to = self.params().message();
        let rotations = self.planned(Work::Nearest(unsigned, digits), cts.len());
        self.work(key, control, rotations, |run| functional::nearest(run, cts, (unsigned, digits), to, allowed))
    }

    /// How near to half way between two whole numbers a value of this variance may lie, in steps of one, and become the farther one in
    /// [`Engine::nearest`] with a probability above `2^max_log2_failure`: at most 1/2.
    ///
    /// # Errors
    /// As there.
    pub fn half_way(&self, unsigned: Unsigned, variance: f64, max_log2_failure: Option<f64>) -> Result<f64, Error> {
        let noise = self.params().lwe().noise();
        let plan = Nearest::new(unsigned, 1, &noise, variance)?;
        Ok(plan.half_way(&noise, variance, max_log2_failure.unwrap_or(MAX_LOG2_FAILURE)))
    }
}
