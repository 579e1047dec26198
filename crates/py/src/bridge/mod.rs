//! Bridges between slots and look-ups for Python: the bridge and its key. `python/aglet/bridge` is the face of it.

mod integers;

pub use integers::{restore as restore_integers, IntegerBridge, IntegerBridgeKey};

use crate::ckks::{BootstrapKey, Ciphertext, ConjugationKey, Engine, RelinearizationKey, SecretKey};
use crate::errors::{count, raise};
use crate::family::{homed_files, homed_keys, homed_pickles, unchanging, works, Home};
use crate::lookup::{LookupEngine, LweArray, LweSecretKey};
use aglet::bridge::{Parts, Reading};
use aglet::ckks::BootstrapKeys;
use aglet::fhew::{Array, Domain, Form, Integer, Word};
use aglet::wire::{BridgeOrigin, Ends, Side};
use pyo3::prelude::*;
use pyo3::IntoPyObjectExt;

impl<S: Side> Home for Ends<S> {
    fn preset(&self) -> &str {
        aglet::wire::Origin::name(self)
    }
    fn said(&self) -> String {
        format!("presets {}", self.preset())
    }
    fn named_by(summary: &aglet::wire::Summary) -> Result<Self, aglet::Error> {
        Self::find(summary, false)
    }
}

homed_keys! { seeded BridgeOrigin:
    /// What leads from the secret key of slots to that of look-ups, and back.
    BridgeKey(aglet::bridge::BridgeKey), "bridge key" {
        /// Short id of the secret key of look-ups.
        #[getter]
        fn lookup_key_id(&self) -> String {
            self.value.lookup_id().to_string()
        }
    }
}

homed_pickles! { BridgeOrigin: BridgeKey }
unchanging! { BridgeKey }
homed_files! { Bridge, BridgeOrigin: BridgeKey }

/// An engine of slots and one of look-ups. All methods are safe to call from many threads.
#[pyclass(frozen, module = "aglet._core")]
pub struct Bridge {
    home: BridgeOrigin,
    slots: aglet::wire::CkksOrigin,
    lookups: aglet::fhew::Home,
    engine: aglet::bridge::Bridge,
}

works! { Bridge: aglet::bridge::Bridge }

/// As what slots are read, and the form of the result; reals are no larger than `size`.
fn reading(
    py: Python<'_>,
    lookups: &aglet::fhew::Home,
    bits: Option<i64>,
    (signed, size): (bool, f64),
) -> PyResult<(Reading, Form)> {
    let message = lookups.params().message();
    match bits {
        Some(bits) => {
            let bits = u32::try_from(count(py, "bits", bits)?).unwrap_or(u32::MAX);
            let of = || match signed {
                true => Integer::new(bits).map(|integer| (Reading::Real(integer, size), Form::Integers(integer))),
                false => Word::new(bits).map(|word| (Reading::Word(word), Form::Words(word))),
            };
            of().map_err(|error| raise(py, error.into()))
        }
        None if message.space() == 2 => Ok((Reading::Bits, Form::Bits)),
        None => Ok((Reading::Message(message.within(Domain::Padded)), Form::Messages(Domain::Padded))),
    }
}

/// The form of what tables or gates of an engine give.
fn results(lookups: &aglet::fhew::Home) -> Form {
    match lookups.params().message().space() {
        2 => Form::Bits,
        _ => Form::Messages(Domain::Padded),
    }
}

#[pymethods]
impl Bridge {
    #[new]
    fn new(py: Python<'_>, slots: &Engine, lookups: &LookupEngine) -> PyResult<Self> {
        let made = py.detach(|| aglet::bridge::Bridge::new(slots.engine.clone(), lookups.engine.clone()));
        let engine = made.map_err(|error| raise(py, error))?;
        Ok(Self { home: engine.origin(), slots: slots.home.clone(), lookups: lookups.home.clone(), engine })
    }
    /// Bytes in memory that its key takes.
    #[getter]
    fn key_bytes(&self, py: Python<'_>) -> PyResult<u64> {
        self.quick(py, aglet::bridge::Bridge::key_bytes)
    }
    /// Bytes that so many values take on their way up, beside keys and what a bootstrap takes.
    fn packing_bytes(&self, values: usize) -> u64 {
        self.engine.packing_bytes(values)
    }
    #[pyo3(signature = (sk, lookup_sk, memory_limit_bytes = None, progress = None))]
    fn create_bridge_key(
        &self,
        py: Python<'_>,
        sk: &SecretKey,
        lookup_sk: &LweSecretKey,
        memory_limit_bytes: Option<i64>,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<BridgeKey> {
        let (sk, lookup_sk) = (sk.of(py, &self.slots)?, lookup_sk.of(py, &self.lookups)?);
        let limit = memory_limit_bytes.map(|n| count(py, "memory_limit_bytes", n)).transpose()?.map(|n| n as u64);
        let key = self.long(py, progress, |bridge, control| bridge.create_key(sk, lookup_sk, limit, control))?;
        Ok(BridgeKey::new(&self.home, key))
    }

    /// Slots as messages of the look-up engine (bits, if they are of gates), or, of so many `bits`, as integers with a sign or, unless
    /// `signed`, as words; reals are no larger than `size`. `part` is "real", "imaginary" or "both", the real parts of all first.
    #[pyo3(signature = (ct, indices, shape, part, key, bootstrap_key, bits = None, signed = true, size = 1.0, progress = None))]
    #[allow(clippy::too_many_arguments)] // what a call of Python names
    fn to_lookup(
        &self,
        py: Python<'_>,
        ct: &Ciphertext,
        indices: Vec<usize>,
        shape: Vec<usize>,
        part: &str,
        key: &BridgeKey,
        bootstrap_key: &BootstrapKey,
        bits: Option<i64>,
        signed: bool,
        size: f64,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<LweArray> {
        let ct = ct.of(py, &self.slots)?.get();
        let (key, bootstrap) = (key.of(py, &self.home)?, bootstrap_key.of(py, &self.slots)?);
        let parts = match part {
            "real" => Parts::Real,
            "imaginary" => Parts::Imaginary,
            "both" => Parts::Both,
            _ => {
                let said = format!("Slots have no part \"{part}\"; choose \"real\", \"imaginary\" or \"both\".");
                return Err(raise(py, aglet::Error::Range(said)));
            }
        };
        let (reading, form) = reading(py, &self.lookups, bits, (signed, size))?;
        let array = self.long(py, progress, |bridge, control| {
            let cells = bridge.to_lookup(&ct, (&indices, parts), reading, (key, bootstrap), control)?;
            Array::new(&self.lookups, form, shape, key.lookup_id(), cells)
        })?;
        Ok(LweArray::new(&self.lookups, array))
    }

    /// The variance, in turns squared, of what comes down of fresh ciphertexts or of sums of `terms` of them, read as `to_lookup` does.
    #[pyo3(signature = (bits = None, signed = true, terms = 1, size = 1.0))]
    fn fresh_variance(
        &self,
        py: Python<'_>,
        bits: Option<i64>,
        signed: bool,
        terms: usize,
        size: f64,
    ) -> PyResult<f64> {
        let (reading, _) = reading(py, &self.lookups, bits, (signed, size))?;
        Ok(self.engine.fresh_variance(reading, terms))
    }

    /// log2 of the probability that a bit comes up wrong that a table or a gate gave with this variance, in turns squared.
    fn log2_failure_up(&self, py: Python<'_>, variance: f64) -> PyResult<f64> {
        self.quick(py, |bridge| bridge.log2_failure_up(results(&self.lookups), variance))
    }

    /// Bits as the real and, if there are any, imaginary parts of the first slots, in the order of C.
    #[pyo3(signature = (bits, imaginary, relin, conj, bootstrap_key, key, progress = None))]
    #[allow(clippy::too_many_arguments, clippy::wrong_self_convention)] // what a call of Python names
    fn from_lookup(
        &self,
        py: Python<'_>,
        bits: &LweArray,
        imaginary: Option<&LweArray>,
        relin: &RelinearizationKey,
        conj: &ConjugationKey,
        bootstrap_key: &BootstrapKey,
        key: &BridgeKey,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Ciphertext> {
        let key = key.of(py, &self.home)?;
        let bits = bits.of(py, &self.lookups)?;
        let imaginary = imaginary.map(|bits| bits.of(py, &self.lookups)).transpose()?;
        let keys = BootstrapKeys {
            relinearization: relin.of(py, &self.slots)?,
            conjugation: conj.of(py, &self.slots)?,
            bootstrap: bootstrap_key.of(py, &self.slots)?,
            rotation: None,
        };
        let (ct, level) = self.long(py, progress, |bridge, control| {
            let imaginary = imaginary.map(|bits| (bits.form(), bits.cells()));
            let ct = bridge.from_lookup((bits.form(), bits.cells()), imaginary, (key, keys), control)?;
            let level = bridge.slots().level(&ct)?;
            Ok((ct, level))
        })?;
        Ok(Ciphertext::new(&self.slots, crate::ckks::Current::new(ct, level)))
    }
}
