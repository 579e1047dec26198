//! `SchemeSwitch` for Python: the switch between slots and FHEW, and its key. `python/aglet/scheme_switch` is the face of it.

mod integers;

pub use integers::{restore as restore_integers, IntegerSchemeSwitch, IntegerSchemeSwitchKey};

use crate::ckks::{BootstrapKey, Ciphertext, ConjugationKey, Engine, RelinearizationKey, SecretKey};
use crate::errors::{count, raise};
use crate::family::{family_files, family_keys, family_pickles, unchanging, works, FamilyContext};
use crate::fhew::{FhewArray, FhewEngine, FhewSecretKey};
use aglet::ckks::BootstrapKeys;
use aglet::fhew::{Array, Domain, Form, Integer, Unsigned};
use aglet::scheme_switch::{Parts, Reading};
use aglet::wire::{Ends, SchemeSwitchOrigin, Side};
use pyo3::prelude::*;
use pyo3::IntoPyObjectExt;

impl<S: Side> FamilyContext for Ends<S> {
    fn preset(&self) -> &str {
        self.name()
    }
    fn said(&self) -> String {
        format!("presets {}", self.preset())
    }
    fn named_by(summary: &aglet::wire::Summary) -> Result<Self, aglet::Error> {
        Self::find(summary, false)
    }
}

family_keys! { seeded SchemeSwitchOrigin:
    /// The keys that switch between the secret key of slots and that of FHEW.
    SchemeSwitchKey(aglet::scheme_switch::SchemeSwitchKey), "switching key" {
        /// Short id of the secret key of FHEW.
        #[getter]
        fn fhew_key_id(&self) -> String {
            self.value.fhew_key_id().to_string()
        }
    }
}

family_pickles! { SchemeSwitchOrigin: SchemeSwitchKey }
unchanging! { SchemeSwitchKey }
family_files! { SchemeSwitch, SchemeSwitchOrigin: SchemeSwitchKey }

/// An engine of slots and one of FHEW. All methods are safe to call from many threads.
#[pyclass(frozen, module = "aglet._core")]
pub struct SchemeSwitch {
    context: SchemeSwitchOrigin,
    slots: aglet::wire::CkksOrigin,
    fhew: aglet::fhew::FhewContext,
    engine: aglet::scheme_switch::SchemeSwitch,
}

works! { SchemeSwitch: aglet::scheme_switch::SchemeSwitch }

/// As what slots are read, and the form of the result; reals are no larger than `size`.
fn reading(
    py: Python<'_>,
    fhew: &aglet::fhew::FhewContext,
    bits: Option<i64>,
    (signed, size): (bool, f64),
) -> PyResult<(Reading, Form)> {
    let message = fhew.params().message();
    match bits {
        Some(bits) => {
            let bits = u32::try_from(count(py, "bits", bits)?).unwrap_or(u32::MAX);
            let of = || match signed {
                true => Integer::new(bits).map(|integer| (Reading::Real(integer, size), Form::Integers(integer))),
                false => Unsigned::new(bits).map(|unsigned| (Reading::Unsigned(unsigned), Form::Unsigned(unsigned))),
            };
            of().map_err(|error| raise(py, error.into()))
        }
        None if message.space() == 2 => Ok((Reading::Bits, Form::Bits)),
        None => Ok((Reading::Message(message.within(Domain::Padded)), Form::Messages(Domain::Padded))),
    }
}

/// The form of what tables or gates of an engine give.
fn results(fhew: &aglet::fhew::FhewContext) -> Form {
    match fhew.params().message().space() {
        2 => Form::Bits,
        _ => Form::Messages(Domain::Padded),
    }
}

#[pymethods]
impl SchemeSwitch {
    #[new]
    fn new(py: Python<'_>, slots: &Engine, fhew: &FhewEngine) -> PyResult<Self> {
        let made = py.detach(|| aglet::scheme_switch::SchemeSwitch::new(slots.engine.clone(), fhew.engine.clone()));
        let engine = made.map_err(|error| raise(py, error))?;
        Ok(Self { context: engine.origin(), slots: slots.context.clone(), fhew: fhew.context.clone(), engine })
    }
    /// Bytes in memory that its key takes.
    #[getter]
    fn key_bytes(&self, py: Python<'_>) -> PyResult<u64> {
        self.quick(py, aglet::scheme_switch::SchemeSwitch::key_bytes)
    }
    /// Bytes that so many values take in the conversion from FHEW, beside keys and what a bootstrap takes.
    fn packing_bytes(&self, values: usize) -> u64 {
        self.engine.packing_bytes(values)
    }
    #[pyo3(signature = (sk, fhew_secret_key, memory_limit_bytes = None, progress = None))]
    fn create_switch_key(
        &self,
        py: Python<'_>,
        sk: &SecretKey,
        fhew_secret_key: &FhewSecretKey,
        memory_limit_bytes: Option<i64>,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<SchemeSwitchKey> {
        let (sk, fhew_secret_key) = (sk.of(py, &self.slots)?, fhew_secret_key.of(py, &self.fhew)?);
        let limit = memory_limit_bytes.map(|n| count(py, "memory_limit_bytes", n)).transpose()?.map(|n| n as u64);
        let key = self.long(py, progress, |switch, control| switch.create_key(sk, fhew_secret_key, limit, control))?;
        Ok(SchemeSwitchKey::new(&self.context, key))
    }

    /// Slots as messages of the FHEW engine (bits, if they are of gates), or, of so many `bits`, as integers with a sign or, unless
    /// `signed`, as unsigned integers; reals are no larger than `size`. `part` is "real", "imaginary" or "both", the real parts of all first.
    #[pyo3(signature = (ct, indices, shape, part, key, bootstrap_key, bits = None, signed = true, size = 1.0, progress = None))]
    #[allow(clippy::too_many_arguments)] // what a call of Python names
    fn to_fhew(
        &self,
        py: Python<'_>,
        ct: &Ciphertext,
        indices: Vec<usize>,
        shape: Vec<usize>,
        part: &str,
        key: &SchemeSwitchKey,
        bootstrap_key: &BootstrapKey,
        bits: Option<i64>,
        signed: bool,
        size: f64,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<FhewArray> {
        let ct = ct.of(py, &self.slots)?.get();
        let (key, bootstrap) = (key.of(py, &self.context)?, bootstrap_key.of(py, &self.slots)?);
        let parts = match part {
            "real" => Parts::Real,
            "imaginary" => Parts::Imaginary,
            "both" => Parts::Both,
            _ => {
                return Err(raise(py, aglet::RangeError::NoPart { part: part.into() }.into()));
            }
        };
        let (reading, form) = reading(py, &self.fhew, bits, (signed, size))?;
        let array = self.long(py, progress, |switch, control| {
            let cells = switch.to_fhew(&ct, (&indices, parts), reading, (key, bootstrap), control)?;
            Array::new(&self.fhew, form, shape, key.fhew_key_id(), cells)
        })?;
        Ok(FhewArray::new(&self.fhew, array))
    }

    /// The variance, on the torus, of what goes to FHEW of fresh ciphertexts or of sums of `terms` of them, read as `to_fhew` does.
    #[pyo3(signature = (bits = None, signed = true, terms = 1, size = 1.0))]
    fn fresh_variance(
        &self,
        py: Python<'_>,
        bits: Option<i64>,
        signed: bool,
        terms: usize,
        size: f64,
    ) -> PyResult<f64> {
        let (reading, _) = reading(py, &self.fhew, bits, (signed, size))?;
        Ok(self.engine.fresh_variance(reading, terms))
    }

    /// log2 of the probability that a bit comes back wrong that a table or a gate gave with this variance, on the torus.
    fn log2_failure_from_fhew(&self, py: Python<'_>, variance: f64) -> PyResult<f64> {
        self.quick(py, |switch| switch.log2_failure_from_fhew(results(&self.fhew), variance))
    }

    /// Bits as the real and, if there are any, imaginary parts of the first slots, in the order of C.
    #[pyo3(signature = (bits, imaginary, relin, conj, bootstrap_key, key, progress = None))]
    #[allow(clippy::too_many_arguments, clippy::wrong_self_convention)] // what a call of Python names
    fn from_fhew(
        &self,
        py: Python<'_>,
        bits: &FhewArray,
        imaginary: Option<&FhewArray>,
        relin: &RelinearizationKey,
        conj: &ConjugationKey,
        bootstrap_key: &BootstrapKey,
        key: &SchemeSwitchKey,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Ciphertext> {
        let key = key.of(py, &self.context)?;
        let bits = bits.of(py, &self.fhew)?;
        let imaginary = imaginary.map(|bits| bits.of(py, &self.fhew)).transpose()?;
        let keys = BootstrapKeys {
            relinearization: relin.of(py, &self.slots)?,
            conjugation: conj.of(py, &self.slots)?,
            bootstrap: bootstrap_key.of(py, &self.slots)?,
            rotation: None,
        };
        let (ct, level) = self.long(py, progress, |switch, control| {
            let imaginary = imaginary.map(|bits| (bits.form(), bits.cells()));
            let ct = switch.from_fhew((bits.form(), bits.cells()), imaginary, (key, keys), control)?;
            let level = switch.slots().level(&ct)?;
            Ok((ct, level))
        })?;
        Ok(Ciphertext::new(&self.slots, crate::ckks::Current::new(ct, level)))
    }
}
