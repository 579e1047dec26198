//! Polynomials, bases, weighted sums and batches of rotations, at user levels and canonical scales.

use crate::ckks::arithmetic::check_owner;
use crate::ckks::engine::{Engine, FixedRotationKey, RelinearizationKey, RotationKey};
use crate::ckks::Ciphertext;
use crate::{Control, Error, LevelError, ParameterError, RangeError};
use aglet_circuits::polynomial::{depth, elements, Basis, Series};
use aglet_rlwe::{KeyRole, KeySet};
use aglet_schemes::ckks::approximate::same_scale;
use aglet_schemes::ckks::{CkksEvaluator, Known, Number, Size, Weight};
use aglet_schemes::{Approximate, Evaluator, Product, Quadratic};
use num_complex::Complex64;
use std::collections::BTreeMap;
use std::sync::Arc;

mod range;
mod weights;

pub use weights::{EncodedWeights, SumWeight};

/// The basis of a polynomial's coefficients.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PolynomialBasis {
    /// The powers `x^k`.
    Power,
    /// The Chebyshev polynomials `T_k`, with `x` in `[-1, 1]`.
    Chebyshev,
    /// The Chebyshev polynomials of half the value, `T_k(x / 2)`, with `x` in `[-2, 2]`, such as the difference of two
    /// values.
    HalfChebyshev,
}

impl PolynomialBasis {
    /// The basis with this name: "power", "chebyshev" or "half-chebyshev".
    pub fn parse(name: &str) -> Result<Self, Error> {
        match name {
            "power" => Ok(Self::Power),
            "chebyshev" => Ok(Self::Chebyshev),
            "half-chebyshev" => Ok(Self::HalfChebyshev),
            _ => Err(ParameterError::Basis { name: name.into() }.into()),
        }
    }
}

impl Engine {
    /// The value of a polynomial in every slot. Takes `ceil(log2(degree + 1))` levels; a constant polynomial takes
    /// none.
    ///
    /// Uses Paterson-Stockmeyer with exact scales ([`Series`]). The error is that of the products, about `2^-30` of the
    /// largest term. In the Chebyshev basis, values outside `[-1, 1]` give arbitrary results.
    ///
    /// # Errors
    /// [`Error::Range`] for coefficients that are not finite, too large or missing, [`Error::Level`] when levels are missing.
    pub fn evaluate_polynomial(
        &self,
        ct: &Ciphertext,
        coefficients: &[Complex64],
        basis: PolynomialBasis,
        key: &RelinearizationKey,
        control: &Control,
    ) -> Result<Ciphertext, Error> {
        if let Some(bad) = coefficients.iter().find(|c| !c.is_finite()) {
            return Err(RangeError::NoneFinite { what: "coefficient", value: bad.to_string() }.into());
        }
        let Some(constant) = coefficients.first() else {
            return Err(RangeError::NoCoefficient.into());
        };
        if coefficients[1..].iter().all(|c| c.norm() == 0.0) {
            let zero = self.multiply_integer(ct, 0)?;
            return if constant.im == 0.0 {
                self.add_scalar(&zero, constant.re)
            } else {
                self.add_scalar(&zero, *constant)
            };
        }
        let series = match basis {
            PolynomialBasis::Power => Series::new(Basis::Power, coefficients)?,
            PolynomialBasis::Chebyshev | PolynomialBasis::HalfChebyshev => Series::from_chebyshev(coefficients)?,
        };
        let below = self.spend_many(ct, series.depth(), &format!("A polynomial of degree {}", series.degree()))?;
        let keys = KeySet::new().with(KeyRole::Relinearization, key.0.clone());
        let known = Known::sized(self.polynomial_size(ct, coefficients, basis, below));
        let known = Self::polynomial_slots(ct, coefficients, basis, known);
        let scale = (basis == PolynomialBasis::Chebyshev, self.params().scale_at(below));
        self.fits_polynomial(ct, &series, scale, key)?;
        self.run(|| {
            let e = self.evaluator(&keys, Some(control));
            let x = match basis {
                // The variable of a Dickson series is twice that of the Chebyshev series.
                PolynomialBasis::Chebyshev => e.add(ct, ct)?,
                PolynomialBasis::Power | PolynomialBasis::HalfChebyshev => ct.clone(),
            };
            let out = series.evaluate_scaled(&e, &x, self.params().scale_at(below))?;
            let real = out.real;
            Ok(self.told(out, known, real))
        })
    }
    /// What is known, with the values of a polynomial where slots are known.
    fn polynomial_slots(ct: &Ciphertext, coefficients: &[Complex64], basis: PolynomialBasis, known: Known) -> Known {
        let half = if basis == PolynomialBasis::HalfChebyshev { 2.0 } else { 1.0 };
        // The numbers of a pattern are means of slots, no larger than these.
        let slope = range::slope(coefficients, basis, ct.known.size.most);
        ct.known.mapped(|x| range::value(coefficients, basis, x / half), slope, known)
    }
    /// Bounds on the values of a polynomial, and on what is computed on the way to them.
    fn polynomial_size(
        &self,
        ct: &Ciphertext,
        coefficients: &[Complex64],
        basis: PolynomialBasis,
        below: usize,
    ) -> Size {
        let (all, reached) = range::sizes(coefficients, basis, ct.known.size.most, ct.real);
        let mut size = ct.known.size.mapped(reached);
        size.least = range::least(coefficients, basis, (ct.known.size.least, ct.known.size.most), ct.real);
        size.root = range::root(coefficients, basis, &ct.known).max(size.least);
        // On the way nothing is below the level next to the result; series in other bases have larger parts.
        size.doubtful |= all.is_finite() && all * 1024.0 >= self.room(below + 1);
        size
    }

    /// `[x, x^2, ..]` or `[T_1, T_2, ..]` up to a degree; element `k` is `ceil(log2 k)` levels below `x`.
    ///
    /// # Errors
    /// [`Error::Range`] for degree 0, [`Error::Level`] when levels are missing.
    pub fn make_basis(
        &self,
        ct: &Ciphertext,
        degree: usize,
        basis: PolynomialBasis,
        key: &RelinearizationKey,
        control: &Control,
    ) -> Result<Vec<Ciphertext>, Error> {
        // Beyond this no engine has the levels; it bounds what is allocated.
        if !(1..=1 << 20).contains(&degree) {
            return Err(RangeError::BasisDegree { degree }.into());
        }
        self.spend_many(ct, depth(degree - 1), &format!("A basis up to degree {degree}"))?;
        let keys = KeySet::new().with(KeyRole::Relinearization, key.0.clone());
        let hidden = self.params().hidden_levels();
        let kind = match basis {
            PolynomialBasis::Power => Basis::Power,
            PolynomialBasis::Chebyshev => Basis::Dickson,
            PolynomialBasis::HalfChebyshev => return Err(ParameterError::HalfBasis.into()),
        };
        self.fits_basis(ct, (kind, degree), key)?;
        self.run(|| {
            let e = self.evaluator(&keys, Some(control));
            let scale_at = |chain: usize| self.params().scale_at(chain - hidden);
            let made = elements(&e, kind, ct, degree, &scale_at)?;
            let known = |k: usize| {
                let mut unit = vec![Complex64::ZERO; k + 1];
                unit[k] = Complex64::new(1.0, 0.0);
                let size = ct.known.size;
                let least = range::least(&unit, basis, (size.least, size.most), ct.real);
                let root = range::root(&unit, basis, &ct.known).max(least);
                let size = Size { least, root, ..size.mapped(range::sizes(&unit, basis, size.most, ct.real).1) };
                Self::polynomial_slots(ct, &unit, basis, Known::sized(size))
            };
            let told = |(k, element): (usize, Ciphertext)| {
                let real = element.real;
                self.told(element, known(k + 1), real)
            };
            Ok(made.into_iter().enumerate().map(told).collect())
        })
    }

    /// `sum weight * ciphertext`, one level below the lowest ciphertext, with a single rescale.
    ///
    /// # Errors
    /// [`Error::Range`] without terms or for weights that are not finite, [`Error::Level`] at level 0.
    pub fn weighted_sum(&self, terms: &[(&Ciphertext, SumWeight<'_>)]) -> Result<Ciphertext, Error> {
        self.weighted_sum_until(terms, &Control::new())
    }

    /// The same, and it can be stopped: hundreds of vectors take seconds to encode.
    ///
    /// # Errors
    /// As [`Engine::weighted_sum`].
    pub fn weighted_sum_until(
        &self,
        terms: &[(&Ciphertext, SumWeight<'_>)],
        control: &Control,
    ) -> Result<Ciphertext, Error> {
        let levels = terms.iter().map(|(ct, _)| self.level(ct)).collect::<Result<Vec<_>, _>>()?;
        let lowest = levels.iter().enumerate().min_by_key(|(_, level)| **level);
        let Some((place, &level)) = lowest else {
            return Err(RangeError::EmptySum.into());
        };
        let below = self.spend_many(terms[place].0, 1, "A weighted sum")?;
        let (chain, scale) = (self.params().chain_level(level), self.params().scale_at(below));
        let real = terms.iter().all(|(ct, weight)| ct.real && weight.is_real());
        let parts = terms.iter().map(|(ct, weight)| weight.weighed(&ct.known));
        let zero = Known::of(std::iter::once(Complex64::ZERO));
        let known = self.fitting(parts.fold(zero, |sum, part| sum.plus(&part)), below)?;
        let keys = KeySet::new();
        self.fits_sum(terms, chain)?;
        self.run(|| {
            let e = self.evaluator(&keys, Some(control));
            let weigh = |(ct, weight): &(&'_ Ciphertext, SumWeight<'_>)| {
                control.check()?;
                self.weight(weight, level, ct.scale, scale * e.modulus(chain) / ct.scale)
            };
            let weights = terms.iter().map(weigh).collect::<Result<Vec<_>, _>>()?;
            let terms: Vec<_> = terms.iter().map(|(ct, _)| *ct).zip(weights).collect();
            Ok(self.told(e.weighted_sum(&terms, chain, scale)?, known, real))
        })
    }

    /// `sum left * right`, one level below the lowest ciphertext, with one relinearization and one rescale.
    ///
    /// # Errors
    /// [`Error::Range`] without products or for results that would not fit, [`Error::Level`] at level 0.
    pub fn product_sum(
        &self,
        pairs: &[(&Ciphertext, &Ciphertext)],
        key: &RelinearizationKey,
    ) -> Result<Ciphertext, Error> {
        let operands = || pairs.iter().flat_map(|(left, right)| [*left, *right]);
        let levels = operands().map(|ct| Ok((self.level(ct)?, ct))).collect::<Result<Vec<_>, Error>>()?;
        let Some(&(level, lowest)) = levels.iter().min_by_key(|(level, _)| *level) else {
            return Err(RangeError::EmptyProducts.into());
        };
        let below = self.spend_many(lowest, 1, "A sum of products")?;
        operands().try_for_each(|x| self.fitting(x.known, level).map(drop))?;
        let product = |(a, b): &(&Ciphertext, &Ciphertext)| match Arc::ptr_eq(a, b) {
            true => a.known.square(),
            false => a.known.product(&b.known),
        };
        let zero = Known::of(std::iter::once(Complex64::ZERO));
        let known = self.fitting(pairs.iter().map(product).fold(zero, |sum, part| sum.plus(&part)), below)?;
        let keys = KeySet::new().with(KeyRole::Relinearization, key.0.clone());
        self.fits_products("a sum of products", pairs, level, key)?;
        self.run(|| {
            let aligned = operands().map(|ct| self.adjust(ct, level)).collect::<Result<Vec<_>, _>>()?;
            let products = aligned.chunks_exact(2).map(|pair| Product { factor: 1, left: &pair[0], right: &pair[1] });
            let form = Quadratic {
                products: products.collect(),
                terms: vec![],
                constant: Complex64::ZERO,
                level: self.params().chain_level(level),
                scale: self.params().scale_at(below),
            };
            let known = Self::known_beside(known, &aligned.iter().collect::<Vec<_>>());
            let out = self.evaluator(&keys, None).quadratic(&form)?;
            Ok(self.told(out, known, aligned.iter().all(|ct| ct.real)))
        })
    }

    /// Encodes weights for sums at a user level. Ciphertexts at higher levels are brought down to it.
    ///
    /// # Errors
    /// [`Error::Range`] for weights that are not finite or more than slots, [`Error::Level`] at level 0.
    pub fn encode_weights<T: Number>(&self, values: &[T], level: usize) -> Result<EncodedWeights, Error> {
        let level = self.check_level(level)?;
        let Some(below) = level.checked_sub(1) else {
            return Err(LevelError::Encoding { what: "A weighted sum", operand: "its weights" }.into());
        };
        values.iter().try_for_each(|&z| finite_weight(z).map(drop))?;
        let (chain, scale) = (self.params().chain_level(level), self.params().scale_at(level));
        let keys = KeySet::new();
        let encoded = self.run(|| {
            let modulus = self.evaluator(&keys, None).modulus(chain);
            Ok(self.encoder.encode(&self.ctx, values, chain, self.params().scale_at(below) * modulus / scale)?)
        })?;
        Ok(EncodedWeights { encoded: Arc::new(encoded), level, scale })
    }

    /// A weight for the evaluator, encoded at a user level and scale unless it is one number.
    fn weight(&self, weight: &SumWeight<'_>, level: usize, of: f64, scale: f64) -> Result<Weight, Error> {
        let chain = self.params().chain_level(level);
        match weight {
            SumWeight::Real(c) => Ok(Weight::Number(finite_weight(*c)?)),
            SumWeight::Complex(c) => Ok(Weight::Number(finite_weight(*c)?)),
            SumWeight::RealSlots(values) => self.weights(values, chain, scale),
            SumWeight::ComplexSlots(values) => self.weights(values, chain, scale),
            SumWeight::Plaintext(pt) => self.weights(&self.encoder.decode(&self.ctx, pt)?, chain, scale),
            // What a bootstrap leaves has the canonical scale but for the last bits of a double.
            SumWeight::Encoded(weights) if weights.level == level && same_scale(weights.scale, of) => {
                Ok(Weight::Slots(weights.encoded.clone()))
            }
            SumWeight::Encoded(weights) => Err(LevelError::Weights { encoded: weights.level, level }.into()),
        }
    }
    fn weights<T: Number>(&self, values: &[T], chain: usize, scale: f64) -> Result<Weight, Error> {
        values.iter().try_for_each(|&z| finite_weight(z).map(drop))?;
        Ok(Weight::Slots(Arc::new(self.encoder.encode(&self.ctx, values, chain, scale)?)))
    }

    /// Rotates one ciphertext by several steps, to the right as `numpy.roll`. Steps that are powers of two share one
    /// decomposition (hoisting). Other steps share their first key switches: a step with `b` ones in binary takes `b`
    /// key switches, each shared with all steps that begin alike.
    ///
    /// # Errors
    /// Those of a key of another secret key, [`Error::Cancelled`].
    pub fn rotate_batch(
        &self,
        ct: &Ciphertext,
        key: &RotationKey,
        deltas: &[i64],
        control: &Control,
    ) -> Result<Vec<Ciphertext>, Error> {
        check_owner(ct, "rotation key", key.id())?;
        self.fits_rotations(ct, key, deltas)?;
        let keys = key.steps.iter().map(|(_, k)| k.with_role()).collect();
        let slots = self.slots() as i64;
        let wanted = deltas.iter().map(|d| d.rem_euclid(slots)).enumerate().collect();
        let mut out = vec![ct.clone(); deltas.len()];
        self.run(|| rotate_tree(&self.evaluator(&keys, Some(control)), ct, wanted, &mut out))?;
        Ok(out)
    }

    /// Rotates one ciphertext by the step of each key; keys of one level share one decomposition (hoisting).
    ///
    /// # Errors
    /// [`Error::Level`] for a key of a lower level, those of a key of another secret key, [`Error::Cancelled`].
    pub fn rotate_batch_fixed(
        &self,
        ct: &Ciphertext,
        keys: &[&FixedRotationKey],
        control: &Control,
    ) -> Result<Vec<Ciphertext>, Error> {
        keys.iter().try_for_each(|key| self.check_rotation(ct, key))?;
        let held = keys.iter().map(|k| k.key.with_role()).collect();
        self.fits_automorphisms(ct, keys.iter().map(|k| k.key.with_role()), true)?;
        let slots = self.slots() as i64;
        let left: Vec<isize> = keys.iter().map(|k| -(k.delta.rem_euclid(slots)) as isize).collect();
        self.run(|| Ok(self.evaluator(&held, Some(control)).rotate_each(ct, &left)?))
    }

    /// The level `count` levels below a ciphertext, or the error that says how many are missing.
    pub(crate) fn spend_many(&self, ct: &Ciphertext, count: usize, what: &str) -> Result<usize, Error> {
        let level = self.level(ct)?;
        Ok(level.checked_sub(count).ok_or_else(|| LevelError::TooFew { what: what.into(), count, level })?)
    }
}

fn finite_weight(weight: impl Number) -> Result<Complex64, Error> {
    let z: Complex64 = weight.into();
    let refused = || RangeError::NoneFinite { what: "weight", value: z.to_string() };
    Ok(z.is_finite().then_some(z).ok_or_else(refused)?)
}

/// Rotates by what is left of each wanted step: all lowest ones from one decomposition, then on from each of the results.
fn rotate_tree(
    e: &CkksEvaluator<'_>,
    ct: &Ciphertext,
    wanted: Vec<(usize, i64)>,
    out: &mut [Ciphertext],
) -> Result<(), Error> {
    let mut groups: BTreeMap<i64, Vec<(usize, i64)>> = BTreeMap::new();
    for (place, left) in wanted {
        match left & left.wrapping_neg() {
            0 => out[place] = ct.clone(),
            step => groups.entry(step).or_default().push((place, left - step)),
        }
    }
    let steps: Vec<isize> = groups.keys().map(|&step| -step as isize).collect();
    let rotated = e.rotate_each(ct, &steps)?;
    groups.into_values().zip(rotated).try_for_each(|(group, ct)| rotate_tree(e, &ct, group, out))
}
