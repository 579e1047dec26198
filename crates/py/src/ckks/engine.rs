//! The class `Engine`. Each method checks that its arguments belong to this engine, then calls the engine without the
//! GIL.

use super::bootstrap::request;
use super::objects::{
    AnyRotationKey, Ciphertext, ConjugationKey, Current, EncryptionKey, FixedRotationKey, Levelled, Plaintext,
    PublicKey, RelinearizationKey, RotationKey, SecretKey,
};
use crate::errors::{count, exception, raise};
use crate::family::{self, gate, ring_figures, vector, works};
use crate::reports::reported;
use crate::wait::wait;
use aglet::ckks::presets;
use aglet::ckks::{report, sizes, Points, Sharing, Stated};
use aglet::wire::CkksOrigin;
use aglet::Error;
use num_complex::Complex64;
use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;
use std::sync::Arc;

type Decoded<'py> = Bound<'py, PyArray1<Complex64>>;

/// A message. Its dtype says whether it is real or complex; its values are secret and never decide.
#[derive(FromPyObject)]
pub enum Slots<'py> {
    Real(PyReadonlyArray1<'py, f64>),
    Complex(PyReadonlyArray1<'py, Complex64>),
}

/// A number; its type says whether it is real or complex.
#[derive(FromPyObject)]
pub enum Scalar {
    Real(f64),
    Complex(Complex64),
}

/// A CKKS parameter set with its tables and its own thread pool. Many threads may call its methods at once.
#[pyclass(frozen, module = "aglet._core")]
pub struct Engine {
    /// The context that everything made by this engine carries.
    pub(crate) context: CkksOrigin,
    /// Shared with scheme switches.
    pub(crate) engine: Arc<aglet::ckks::Engine>,
}

works! { Engine: aglet::ckks::Engine }
ring_figures! { Engine }

impl Engine {
    /// A ciphertext with its level.
    pub(crate) fn wrap(&self, py: Python<'_>, value: aglet::ckks::Ciphertext) -> PyResult<Ciphertext> {
        let level = self.engine.level(&value).map_err(|error| raise(py, error))?;
        Ok(Ciphertext::new(&self.context, Current::new(value, level)))
    }
    /// A ciphertext that was computed from another.
    pub(crate) fn map(
        &self,
        py: Python<'_>,
        ct: &Ciphertext,
        work: impl FnOnce(&aglet::ckks::Engine, &aglet::ckks::Ciphertext) -> Result<aglet::ckks::Ciphertext, Error> + Send,
    ) -> PyResult<Ciphertext> {
        let ct = &ct.of(py, &self.context)?.get();
        self.wrap(py, self.quick(py, |e| work(e, ct))?)
    }
}

#[pymethods]
impl Engine {
    /// `levels` chooses the smallest secure set with these levels; the preset then only names its family. `parameters`
    /// is the text of an own parameter set. `machine` is the number of threads and, if it computes on one, that of the card.
    #[new]
    #[pyo3(signature = (preset, slot_count, machine, *, allow_insecure = false, levels = None, parameters = None))]
    fn new(
        py: Python<'_>,
        preset: &str,
        slot_count: Option<i64>,
        machine: (i64, Option<i64>),
        allow_insecure: bool,
        levels: Option<i64>,
        parameters: Option<&str>,
    ) -> PyResult<Self> {
        let slots = slot_count.map(|n| count(py, "slot_count", n)).transpose()?;
        let machine = family::machine(py, machine)?;
        let levels = levels.map(|n| count(py, "levels", n)).transpose()?;
        let engine = wait(py, None, |_| {
            let params = match (parameters, levels) {
                (Some(text), _) => presets::from_text(text, gate(allow_insecure))?,
                (None, Some(levels)) => sizes::with_levels(levels)?,
                (None, None) => presets::load(preset, gate(allow_insecure))?,
            };
            aglet::ckks::Engine::on(family::runtime(machine)?, params, slots)
        })?;
        let context = CkksOrigin { ctx: None, ..engine.origin() };
        Ok(Self { context, engine: Arc::new(engine) })
    }

    /// Who does the macro-operations.
    #[getter]
    fn device(&self) -> String {
        self.engine.device()
    }
    /// The kind of the secret key.
    #[getter]
    fn secret(&self) -> String {
        self.engine.params().secret().to_string()
    }
    /// The plan of a bootstrap on these parameters; see the function of the same name.
    fn plan<'py>(
        &self,
        py: Python<'py>,
        method: &str,
        stage_count: Option<i64>,
        key_size: &str,
    ) -> PyResult<Bound<'py, PyAny>> {
        let asked = request(py, self.engine.params(), method, stage_count, key_size, self.engine.slots())?;
        reported(py, || report::plan(self.engine.params(), asked, None, None))
    }
    #[getter]
    fn slot_count(&self) -> usize {
        self.engine.slots()
    }
    #[getter]
    fn max_level(&self) -> usize {
        self.engine.max_level()
    }
    #[getter]
    fn log_q(&self) -> f64 {
        self.engine.params().log_q()
    }

    /// Bytes in memory of a ciphertext at this level.
    fn ciphertext_bytes(&self, py: Python<'_>, level: i64) -> PyResult<u64> {
        let level = count(py, "level", level)?;
        self.quick(py, |e| e.ciphertext_bytes(level))
    }

    fn create_secret_key(&self, py: Python<'_>) -> PyResult<SecretKey> {
        Ok(SecretKey::new(&self.context, self.quick(py, |e| e.create_secret_key())?))
    }
    fn create_public_key(&self, py: Python<'_>, sk: &SecretKey) -> PyResult<PublicKey> {
        let sk = sk.of(py, &self.context)?;
        Ok(PublicKey::new(&self.context, self.quick(py, |e| e.create_public_key(sk))?))
    }
    fn create_relinearization_key(&self, py: Python<'_>, sk: &SecretKey) -> PyResult<RelinearizationKey> {
        let sk = sk.of(py, &self.context)?;
        let key = self.long(py, None, |e, control| e.create_relinearization_key_until(sk, control))?;
        Ok(RelinearizationKey::new(&self.context, key))
    }
    fn create_conjugation_key(&self, py: Python<'_>, sk: &SecretKey) -> PyResult<ConjugationKey> {
        let sk = sk.of(py, &self.context)?;
        let key = self.long(py, None, |e, control| e.create_conjugation_key_until(sk, control))?;
        Ok(ConjugationKey::new(&self.context, key))
    }
    #[pyo3(signature = (sk, progress = None))]
    fn create_rotation_key(
        &self,
        py: Python<'_>,
        sk: &SecretKey,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<RotationKey> {
        let sk = sk.of(py, &self.context)?;
        Ok(RotationKey::new(&self.context, self.long(py, progress, |e, control| e.create_rotation_key(sk, control))?))
    }
    #[pyo3(signature = (sk, delta, level = None))]
    fn create_fixed_rotation_key(
        &self,
        py: Python<'_>,
        sk: &SecretKey,
        delta: i64,
        level: Option<i64>,
    ) -> PyResult<FixedRotationKey> {
        let sk = sk.of(py, &self.context)?;
        let level = level.map(|l| count(py, "level", l)).transpose()?;
        let level = level.unwrap_or(self.engine.max_level());
        let key = self.long(py, None, |e, control| e.create_fixed_rotation_key_until(sk, delta, level, control))?;
        Ok(FixedRotationKey::new(&self.context, key))
    }

    /// `bound` declares that no value of the message is larger.
    #[pyo3(signature = (values, level, bound = None))]
    fn encode(&self, py: Python<'_>, values: Slots<'_>, level: i64, bound: Option<f64>) -> PyResult<Plaintext> {
        let level = count(py, "level", level)?;
        let value = match values {
            Slots::Real(values) => {
                let values = vector(&values);
                self.quick(py, |e| e.encode(&values, level))?
            }
            Slots::Complex(values) => {
                let values = vector(&values);
                self.quick(py, |e| e.encode(&values, level))?
            }
        };
        let value = match bound {
            Some(bound) => self.quick(py, |e| e.declare(value, bound))?,
            None => value,
        };
        Ok(Plaintext::new(&self.context, Levelled { value, level }))
    }
    fn decode<'py>(&self, py: Python<'py>, pt: &Plaintext) -> PyResult<Decoded<'py>> {
        let pt = &pt.of(py, &self.context)?.value;
        Ok(PyArray1::from_vec(py, self.quick(py, |e| e.decode(pt))?))
    }
    fn encrypt(&self, py: Python<'_>, pt: &Plaintext, key: EncryptionKey<'_>) -> PyResult<Ciphertext> {
        let pt = &pt.of(py, &self.context)?.value;
        let made = match &key {
            EncryptionKey::Public(key) => {
                let key = key.get().of(py, &self.context)?;
                self.quick(py, |e| e.encrypt(pt, key))?
            }
            EncryptionKey::Secret(key) => {
                let key = key.get().of(py, &self.context)?;
                self.quick(py, |e| e.encrypt_with_secret(pt, key))?
            }
        };
        self.wrap(py, made)
    }
    /// Has ciphertexts here that a card made, together.
    fn fetch(&self, py: Python<'_>, cts: Vec<PyRef<'_, Ciphertext>>) -> PyResult<()> {
        let cts = cts.iter().map(|ct| Ok(ct.of(py, &self.context)?.get())).collect::<PyResult<Vec<_>>>()?;
        self.quick(py, |e| e.fetch(&cts.iter().collect::<Vec<_>>()))
    }
    /// With `check`, refuses values that may not fit their modulus.
    #[pyo3(signature = (ct, sk, check = true))]
    fn decrypt_decode<'py>(
        &self,
        py: Python<'py>,
        ct: &Ciphertext,
        sk: &SecretKey,
        check: bool,
    ) -> PyResult<Decoded<'py>> {
        let (ct, sk) = (&ct.of(py, &self.context)?.get(), sk.of(py, &self.context)?);
        let decrypted = self.quick(py, |e| if check { e.decrypt(ct, sk) } else { e.decrypt_unchecked(ct, sk) });
        Ok(PyArray1::from_vec(py, decrypted?))
    }

    /// The values with flooding noise, and the bits of precision that remain.
    fn decrypt_shared<'py>(
        &self,
        py: Python<'py>,
        ct: &Ciphertext,
        sk: &SecretKey,
        queries: i64,
        security: f64,
        least_bits: Option<f64>,
    ) -> PyResult<(Decoded<'py>, f64)> {
        let (ct, sk) = (&ct.of(py, &self.context)?.get(), sk.of(py, &self.context)?);
        let how = Sharing { queries: count(py, "queries", queries)? as u64, security, least_bits };
        let shared = self.quick(py, |e| e.decrypt_shared(ct, sk, how))?;
        Ok((PyArray1::from_vec(py, shared.values), shared.bits))
    }
    /// The values that slots are rounded to, and whether they are signs.
    fn decrypt_bits<'py>(
        &self,
        py: Python<'py>,
        ct: &Ciphertext,
        sk: &SecretKey,
    ) -> PyResult<(Bound<'py, PyArray1<i8>>, bool)> {
        let (ct, sk) = (&ct.of(py, &self.context)?.get(), sk.of(py, &self.context)?);
        let (points, found) = self.quick(py, |e| e.decrypt_bits(ct, sk))?;
        Ok((PyArray1::from_vec(py, found), points == Points::Signs))
    }

    fn add(&self, py: Python<'_>, a: &Ciphertext, b: &Ciphertext) -> PyResult<Ciphertext> {
        let b = &b.of(py, &self.context)?.get();
        self.map(py, a, |e, a| e.add(a, b))
    }
    fn add_plain(&self, py: Python<'_>, ct: &Ciphertext, pt: &Plaintext) -> PyResult<Ciphertext> {
        let pt = &pt.of(py, &self.context)?.value;
        self.map(py, ct, |e, ct| e.add_plain(ct, pt))
    }
    fn add_scalar(&self, py: Python<'_>, ct: &Ciphertext, value: Scalar) -> PyResult<Ciphertext> {
        self.map(py, ct, |e, ct| match value {
            Scalar::Real(value) => e.add_scalar(ct, value),
            Scalar::Complex(value) => e.add_scalar(ct, value),
        })
    }
    fn sub(&self, py: Python<'_>, a: &Ciphertext, b: &Ciphertext) -> PyResult<Ciphertext> {
        let b = &b.of(py, &self.context)?.get();
        self.map(py, a, |e, a| e.subtract(a, b))
    }
    fn sub_plain(&self, py: Python<'_>, ct: &Ciphertext, pt: &Plaintext) -> PyResult<Ciphertext> {
        let pt = &pt.of(py, &self.context)?.value;
        self.map(py, ct, |e, ct| e.subtract_plain(ct, pt))
    }
    fn sub_scalar(&self, py: Python<'_>, ct: &Ciphertext, value: Scalar) -> PyResult<Ciphertext> {
        self.map(py, ct, |e, ct| match value {
            Scalar::Real(value) => e.add_scalar(ct, -value),
            Scalar::Complex(value) => e.add_scalar(ct, -value),
        })
    }
    fn negate(&self, py: Python<'_>, ct: &Ciphertext) -> PyResult<Ciphertext> {
        self.map(py, ct, |e, ct| e.negate(ct))
    }
    /// Without a key the product has three polynomials and the lower level of the two; relinearize it later.
    fn multiply(
        &self,
        py: Python<'_>,
        a: &Ciphertext,
        b: &Ciphertext,
        relin: Option<&RelinearizationKey>,
    ) -> PyResult<Ciphertext> {
        let b = &b.of(py, &self.context)?.get();
        let relin = relin.map(|key| key.of(py, &self.context)).transpose()?;
        self.map(py, a, |e, a| e.multiply(a, b, relin))
    }
    fn multiply_plain(&self, py: Python<'_>, ct: &Ciphertext, pt: &Plaintext) -> PyResult<Ciphertext> {
        let pt = &pt.of(py, &self.context)?.value;
        self.map(py, ct, |e, ct| e.multiply_plain(ct, pt))
    }
    /// Takes one level.
    fn multiply_scalar(&self, py: Python<'_>, ct: &Ciphertext, value: Scalar) -> PyResult<Ciphertext> {
        self.map(py, ct, |e, ct| match value {
            Scalar::Real(value) => e.multiply_scalar(ct, value),
            Scalar::Complex(value) => e.multiply_scalar(ct, value),
        })
    }
    /// Takes no level.
    fn multiply_int(&self, py: Python<'_>, ct: &Ciphertext, value: i64) -> PyResult<Ciphertext> {
        self.map(py, ct, |e, ct| e.multiply_integer(ct, value))
    }
    /// Multiplies by an integer times the imaginary unit. Takes no level.
    fn multiply_imaginary_int(&self, py: Python<'_>, ct: &Ciphertext, value: i64) -> PyResult<Ciphertext> {
        self.map(py, ct, |e, ct| e.multiply_imaginary_integer(ct, value))
    }
    fn square(&self, py: Python<'_>, ct: &Ciphertext, relin: Option<&RelinearizationKey>) -> PyResult<Ciphertext> {
        self.multiply(py, ct, ct, relin)
    }
    fn relinearize(&self, py: Python<'_>, ct: &Ciphertext, relin: &RelinearizationKey) -> PyResult<Ciphertext> {
        let relin = relin.of(py, &self.context)?;
        self.map(py, ct, |e, ct| e.relinearize(ct, relin))
    }
    /// `delta` as in `numpy.roll`: slot j moves to slot j + delta.
    fn rotate(&self, py: Python<'_>, ct: &Ciphertext, key: AnyRotationKey<'_>, delta: i64) -> PyResult<Ciphertext> {
        match &key {
            AnyRotationKey::Fixed(key) => {
                let key = key.get().of(py, &self.context)?;
                let slots = self.engine.slots() as i64;
                if key.delta.rem_euclid(slots) != delta.rem_euclid(slots) {
                    let sentence = format!(
                        "This fixed rotation key rotates by {}, not by {delta}; make one for that step.",
                        key.delta
                    );
                    return Err(exception(py, "KeyMismatchError", sentence));
                }
                self.map(py, ct, |e, ct| e.rotate_fixed(ct, key))
            }
            AnyRotationKey::Any(key) => {
                let key = key.get().of(py, &self.context)?;
                self.map(py, ct, |e, ct| e.rotate(ct, key, delta))
            }
            AnyRotationKey::Bootstrap(key) => {
                let key = key.get().of(py, &self.context)?;
                self.map(py, ct, |e, ct| e.rotate_by_bootstrap_key(ct, key, delta))
            }
        }
    }
    fn conjugate(&self, py: Python<'_>, ct: &Ciphertext, key: &ConjugationKey) -> PyResult<Ciphertext> {
        let key = key.of(py, &self.context)?;
        self.map(py, ct, |e, ct| e.conjugate(ct, key))
    }
    /// The real parts of all slots, or the imaginary ones, as real numbers.
    fn part(&self, py: Python<'_>, ct: &Ciphertext, imaginary: bool, key: &ConjugationKey) -> PyResult<Ciphertext> {
        let key = key.of(py, &self.context)?;
        self.map(py, ct, |e, ct| e.part(ct, imaginary, key))
    }
    fn level_down(&self, py: Python<'_>, ct: &Ciphertext, level: i64) -> PyResult<Ciphertext> {
        let level = count(py, "level", level)?;
        self.map(py, ct, |e, ct| e.level_down(ct, level))
    }
    /// The same ciphertext, with bounds that the caller states: on its values and on the errors of its slots.
    #[pyo3(signature = (ct, bound = None, noise = None))]
    fn assume(&self, py: Python<'_>, ct: &Ciphertext, bound: Option<f64>, noise: Option<f64>) -> PyResult<Ciphertext> {
        let [bound, noise] = [bound, noise].map(|said| said.unwrap_or(f64::INFINITY));
        self.map(py, ct, |e, ct| e.assume(ct, Stated { bound, noise }))
    }
    /// Refuses a ciphertext whose values are known to be too large for a comparison.
    fn check_compared(&self, py: Python<'_>, ct: &Ciphertext) -> PyResult<()> {
        let ct = &ct.of(py, &self.context)?.get();
        self.quick(py, |e| e.check_compared(ct))
    }
    /// Gives `to` the content of `source`. Results that were computed from `to` before do not change.
    fn assign(&self, py: Python<'_>, to: &Ciphertext, source: &Ciphertext) -> PyResult<()> {
        to.of(py, &self.context)?.receive(source.of(py, &self.context)?);
        Ok(())
    }
    fn clone(&self, py: Python<'_>, ct: &Ciphertext) -> PyResult<Ciphertext> {
        self.map(py, ct, |e, ct| e.duplicate(ct))
    }
}
