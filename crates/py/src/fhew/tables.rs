//! Lookup tables of `FhewEngine` on one message and on several.

use super::objects::{FhewArray, FhewBootstrapKey, PackingKey};
use super::FhewEngine;
use crate::errors::exception;
use aglet::fhew::{Array, Ciphertext, Domain, Engine, Form, Table, TreeTable};
use aglet::Control;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use std::borrow::Cow;

/// The values of a table of several messages.
#[derive(FromPyObject)]
pub(super) enum Values {
    /// What large tables are given as.
    Bytes(PyBackedBytes),
    Numbers(Vec<u64>),
}

impl Values {
    /// The values as numbers.
    pub(super) fn numbers(&self) -> Cow<'_, [u64]> {
        match self {
            Self::Bytes(bytes) => bytes.iter().map(|&value| u64::from(value)).collect(),
            Self::Numbers(numbers) => Cow::Borrowed(numbers),
        }
    }
}

impl FhewEngine {
    /// Checks that the arrays hold messages of one domain.
    fn messages_of<'a>(
        &self,
        py: Python<'_>,
        inputs: &'a [PyRef<'_, FhewArray>],
    ) -> PyResult<(Vec<&'a Array>, Domain)> {
        let forms: Vec<Form> = inputs.iter().map(|x| Ok(x.of(py, &self.context)?.form())).collect::<PyResult<_>>()?;
        let refusal = match forms.iter().find(|form| !matches!(form, Form::Messages(_))) {
            Some(other) => format!("Tables take messages, and these are {}; encrypt whole numbers.", other.name()),
            None => "lookup2 takes two messages of one domain; encrypt both alike.".into(),
        };
        let arrays = self.inputs(py, |form| matches!(form, Form::Messages(_)), &refusal, inputs)?;
        match forms.first() {
            Some(Form::Messages(domain)) => Ok((arrays, *domain)),
            _ => Err(exception(py, "ParameterError", refusal)),
        }
    }
    /// Makes an array of this shape for each table.
    fn made_each(
        &self,
        py: Python<'_>,
        like: &Array,
        key: &FhewBootstrapKey,
        results: Vec<Vec<Ciphertext>>,
    ) -> PyResult<Vec<FhewArray>> {
        results.into_iter().map(|cells| self.made(py, like.form(), like.shape(), key, cells)).collect()
    }
}

#[pymethods]
impl FhewEngine {
    /// Evaluates each table on messages that are multiples of `step`, in their domain.
    #[pyo3(signature = (ct, tables, key, max_log2_failure = None, progress = None, step = 1))]
    #[allow(clippy::too_many_arguments)]
    fn lookup(
        &self,
        py: Python<'_>,
        ct: PyRef<'_, FhewArray>,
        tables: Vec<Vec<u64>>,
        key: &FhewBootstrapKey,
        max_log2_failure: Option<f64>,
        progress: Option<&Bound<'_, PyAny>>,
        step: u64,
    ) -> PyResult<Vec<FhewArray>> {
        let (inputs, own) = ([ct], key.of(py, &self.context)?);
        let (arrays, domain) = self.messages_of(py, &inputs)?;
        let work = |e: &Engine, control: &Control| {
            let message = e.params().message().within(domain);
            let from = message.every(step)?;
            let tables = tables.iter().map(|values| Ok(Table::new(from, message, values)?));
            let tables = tables.collect::<Result<Vec<_>, aglet::Error>>()?;
            e.lookup_many(arrays[0].cells(), &tables, own, max_log2_failure, control)
        };
        let out = self.long(py, progress, work)?;
        self.made_each(py, arrays[0], key, out)
    }
    /// Evaluates each table on two to four messages, the first counts most; the arrays have one shape. One array more
    /// says that the message before the last is there as two digits, the high one first. Values come as a list, or as bytes.
    #[pyo3(signature = (messages, tables, key, packing_key, max_log2_failure = None, progress = None))]
    #[allow(clippy::too_many_arguments)]
    fn lookup_tree(
        &self,
        py: Python<'_>,
        messages: Vec<PyRef<'_, FhewArray>>,
        tables: Vec<Values>,
        key: &FhewBootstrapKey,
        packing_key: &PackingKey,
        max_log2_failure: Option<f64>,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Vec<FhewArray>> {
        let keys = (key.of(py, &self.context)?, packing_key.of(py, &self.context)?);
        let (arrays, domain) = self.messages_of(py, &messages)?;
        if domain == Domain::Negacyclic {
            let sentence =
                "lookup2 takes messages of the domains \"padded\" and \"full\"; encrypt the messages in one of them.";
            return Err(exception(py, "ParameterError", sentence.into()));
        }
        let work = |e: &Engine, control: &Control| {
            let message = e.params().message().within(domain);
            let tables = tables.iter().map(|values| Ok(TreeTable::new(message, message, &values.numbers())?));
            let tables = tables.collect::<Result<Vec<_>, aglet::Error>>()?;
            let messages: Vec<_> = arrays.iter().map(|array| array.cells()).collect();
            e.lookup_tree(&messages, &tables, keys, max_log2_failure, control)
        };
        let out = self.long(py, progress, work)?;
        self.made_each(py, arrays[0], key, out)
    }
}
