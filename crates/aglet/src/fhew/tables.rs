//! Messages and tables of an engine.

use super::engine::same_length;
use super::estimate::full_rotations;
use super::memory::room;
use super::{Array, BootstrapKey, Engine, Form, Work};
use crate::{Control, Error, ParameterError};
use aglet_bootstrap::fhew::functional;
use aglet_rlwe::lwe::{BlindRotationKey, LweCiphertext, PackingKey};
use aglet_schemes::fhew::{Domain, Table, TreeTable, MAX_LOG2_FAILURE};

impl Engine {
    /// Evaluates a table on each message: one rotation each, two in the full domain. `max_log2_failure` accepts results
    /// that are wrong more often than 2^-128.
    ///
    /// # Errors
    /// Keys that do not belong together, inputs on which it would fail too often, [`Error::Cancelled`].
    pub fn lookup(
        &self,
        messages: &[LweCiphertext],
        table: &Table,
        key: &BootstrapKey,
        max_log2_failure: Option<f64>,
        control: &Control,
    ) -> Result<Vec<LweCiphertext>, Error> {
        let tables = std::slice::from_ref(table);
        Ok(self.lookup_many(messages, tables, key, max_log2_failure, control)?.pop().unwrap_or_default())
    }

    /// Bootstraps bits or messages without changing them: [`Engine::refresh`], or the table of the identity.
    ///
    /// # Errors
    /// As [`Engine::lookup`]; [`Error::Parameter`] for integers, which no table serves.
    pub fn refresh_array(
        &self,
        array: &Array,
        key: &BootstrapKey,
        max_log2_failure: Option<f64>,
        control: &Control,
    ) -> Result<Vec<LweCiphertext>, Error> {
        let domain = match array.form() {
            Form::Bits => return self.refresh(array.cells(), key, max_log2_failure, control),
            // The identity is no negacyclic table; messages of the full domain have the same phases.
            Form::Messages(Domain::Negacyclic) => Domain::Full,
            Form::Messages(domain) => domain,
            Form::Integers(_) | Form::Unsigned(_) => return Err(ParameterError::RefreshedIntegers.into()),
        };
        let message = self.params().message().within(domain);
        let identity: Vec<u64> = (0..message.space()).collect();
        self.lookup(array.cells(), &Table::new(message, message, &identity)?, key, max_log2_failure, control)
    }

    /// Evaluates several tables on each message; gives a list for each table. They share one rotation (two in the full
    /// domain) if the results stay correct and can be looked up again; otherwise each takes its own. See
    /// [`functional::Way`].
    ///
    /// # Errors
    /// As [`Engine::lookup`]; no tables, or tables of different messages.
    pub fn lookup_many(
        &self,
        messages: &[LweCiphertext],
        tables: &[Table],
        key: &BootstrapKey,
        max_log2_failure: Option<f64>,
        control: &Control,
    ) -> Result<Vec<Vec<LweCiphertext>>, Error> {
        let allowed = max_log2_failure.unwrap_or(MAX_LOG2_FAILURE);
        room(&self.context(), 2 * tables.len() * messages.len())?;
        let rotations = self.planned(Work::Lookup(tables), messages.len());
        self.work(key, control, rotations, |run| functional::lookup(run, messages, tables, allowed))
    }

    /// Evaluates each table on two to four messages, whose first list counts most; gives a list for each table. It takes one
    /// rotation for all rows of the last message, and then for p messages one for each table if there are two, `1 + p` if
    /// there are three, `1 + p + p^2` if there are four. Equal rows, and equal parts of tables, are computed once. In the
    /// full domain each message takes one more. With a list more than there are messages, the message before the last is
    /// there as two digits from 0 to 3, the high one first: 16 rotations serve the rows of both, choices are 16 times
    /// as few, and 12 to 16 rotations serve all choices of a message that has many. If there are two messages, two rotations serve rows, and one choice gives two tables. The set "wide" is made
    /// for it: other sets have too much noise for most tables and refuse them.
    ///
    /// # Errors
    /// As [`Engine::lookup_many`]; lists of different lengths.
    pub fn lookup_tree(
        &self,
        messages: &[&[LweCiphertext]],
        tables: &[TreeTable],
        keys: (&BootstrapKey, &PackingKey),
        max_log2_failure: Option<f64>,
        control: &Control,
    ) -> Result<Vec<Vec<LweCiphertext>>, Error> {
        let count = same_length(messages)?;
        let allowed = max_log2_failure.unwrap_or(MAX_LOG2_FAILURE);
        let (key, packing) = keys;
        let split = tables.first().is_some_and(|table| messages.len() > table.messages());
        let choices = packing.choices().map(BlindRotationKey::gadget);
        let plan = self.tree_plan(tables, split, choices);
        let rotations = (plan.rotations() + tables.first().map_or(0, full_rotations)) * count;
        let keys = (key, packing.choices().filter(|_| plan.chooses()));
        self.work_with(keys, control, rotations, |run| {
            functional::lookup_planned(run, packing, messages, &plan, allowed)
        })
    }
}
