//! Messages and tables of an engine.

use super::engine::same_length;
use super::memory::room;
use super::{Array, Engine, Form, LookupKey, Work};
use crate::{Control, Error};
use aglet_bootstrap::functional;
use aglet_rlwe::lwe::{LweCiphertext, LweSecretKey, PackingKey};
use aglet_schemes::fhew::{Domain, Message, PairTable, Table, MAX_LOG2_FAILURE};

impl Engine {
    /// Encrypts messages, each on its own. `message` says how many there are and where they lie.
    ///
    /// # Errors
    /// A message out of range, no randomness, a secret key of another set.
    pub fn encrypt(&self, values: &[u64], message: Message, sk: &LweSecretKey) -> Result<Vec<LweCiphertext>, Error> {
        self.encrypt_phases(values.iter().map(|&m| Ok(message.encode(&self.ctx, m)?)), sk)
    }

    /// What a table says of each message: one rotation for each, two in the full domain. `max_log2_failure` allows results that are
    /// wrong more often than 2^-128.
    ///
    /// # Errors
    /// Keys that do not belong together, inputs on which it would fail too often, [`Error::Cancelled`].
    pub fn lookup(
        &self,
        messages: &[LweCiphertext],
        table: &Table,
        key: &LookupKey,
        max_log2_failure: Option<f64>,
        control: &Control,
    ) -> Result<Vec<LweCiphertext>, Error> {
        let tables = std::slice::from_ref(table);
        Ok(self.lookup_many(messages, tables, key, max_log2_failure, control)?.pop().unwrap_or_default())
    }

    /// The same bits or messages with the noise of a bootstrap: [`Engine::refresh`], or the table of the identity.
    ///
    /// # Errors
    /// As [`Engine::lookup`]; [`Error::Parameter`] for integers and words, which no table serves.
    pub fn refresh_array(
        &self,
        array: &Array,
        key: &LookupKey,
        max_log2_failure: Option<f64>,
        control: &Control,
    ) -> Result<Vec<LweCiphertext>, Error> {
        let domain = match array.form() {
            Form::Bits => return self.refresh(array.cells(), key, max_log2_failure, control),
            // The identity is no negacyclic table; messages of the full domain have the same phases.
            Form::Messages(Domain::Negacyclic) => Domain::Full,
            Form::Messages(domain) => domain,
            Form::Integers(_) | Form::Words(_) => {
                return Err(Error::Parameter(
                    "Bits and messages of tables are refreshed, and these are integers of more bits; take their digits, floor or sign, \
                     whose results have the noise of a bootstrap."
                        .into(),
                ))
            }
        };
        let message = self.params().message().within(domain);
        let identity: Vec<u64> = (0..message.space()).collect();
        self.lookup(array.cells(), &Table::new(message, message, &identity)?, key, max_log2_failure, control)
    }

    /// What each of several tables says of each message, a list for each table: all in one rotation (two in the full domain) where
    /// results stay right and can be looked up again, else in one for each; see [`functional::Way`].
    ///
    /// # Errors
    /// As [`Engine::lookup`]; no tables, or tables of different messages.
    pub fn lookup_many(
        &self,
        messages: &[LweCiphertext],
        tables: &[Table],
        key: &LookupKey,
        max_log2_failure: Option<f64>,
        control: &Control,
    ) -> Result<Vec<Vec<LweCiphertext>>, Error> {
        let allowed = max_log2_failure.unwrap_or(MAX_LOG2_FAILURE);
        room(&self.home(), 2 * tables.len() * messages.len())?;
        let rotations = self.planned(Work::Lookup(tables), messages.len());
        self.work(key, control, rotations, |run| functional::lookup(run, messages, tables, allowed))
    }

    /// What each of several tables says of each pair of messages, high and low, a list for each table: one rotation for the low message
    /// and one for each table, and in the full domain one more for either message. Made for the set "wide": the noise of others is too
    /// large for most tables, which are refused.
    ///
    /// # Errors
    /// As [`Engine::lookup_many`]; lists of different lengths.
    pub fn lookup_pairs(
        &self,
        pair: [&[LweCiphertext]; 2],
        tables: &[PairTable],
        keys: (&LookupKey, &PackingKey),
        max_log2_failure: Option<f64>,
        control: &Control,
    ) -> Result<Vec<Vec<LweCiphertext>>, Error> {
        same_length(&pair)?;
        let allowed = max_log2_failure.unwrap_or(MAX_LOG2_FAILURE);
        let (key, packing) = keys;
        let rotations = self.planned(Work::LookupPairs(tables), pair[0].len());
        self.work(key, control, rotations, |run| functional::lookup_pairs(run, packing, pair, tables, allowed))
    }
}
