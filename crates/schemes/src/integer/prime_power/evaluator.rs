//! Ciphertexts modulo p and p^2, and arithmetic on them.

use super::{
    check, coefficients, Encoding, Pair, PairMap, PrimePower, PrimePowerEvaluator, PrimePowerForm, RaiseMap, Residue,
};
use crate::evaluator::Evaluator;
use crate::forms::Product;
use crate::forms::{Forms, Scale};
use crate::linear_map::LinearMap;
use crate::sample_map::SampleMap;
use crate::samples::{linear, SampleEvaluator};
use crate::spread::spread;
use crate::Error;
use aglet_ring::automorphism::rotation_exponent;
use aglet_ring::{Constant, Eval, Form, KeyProduct, Multiplier, Poly};
use aglet_rlwe::keyswitch::{digits, divide};
use aglet_rlwe::mod_switch::mod_switch;
use aglet_rlwe::{Context, KeyRole, KeySet, KeySwitchSpec, Sample};
use std::ops::Deref;
use std::sync::atomic::AtomicBool;
use std::sync::Arc;

/// An RLWE sample whose phase is `p^-k [f m] + e`.
pub struct PrimePowerCiphertext {
    /// The sample.
    pub sample: Sample,
    /// What it is modulo.
    pub power: PrimePower,
    /// The correction factor f of the message.
    pub correction_factor: Residue,
}

impl Deref for PrimePowerCiphertext {
    type Target = Sample;
    fn deref(&self) -> &Sample {
        &self.sample
    }
}

impl PrimePowerCiphertext {
    fn with(&self, polys: Vec<Poly<Eval>>, correction_factor: Residue) -> Arc<Self> {
        Arc::new(Self { sample: Sample { polys, key: self.key }, correction_factor, ..*self })
    }
    fn level(&self) -> usize {
        self.limbs() - 1
    }
}

/// An encoded map.
pub enum PrimePowerMap {
    /// Of slots, for one level and power of p.
    Slots(Box<SampleMap>, Encoding),
    /// Of what is raised.
    Raise(Box<RaiseMap>),
}

impl PrimePowerMap {
    /// Bytes of the encoded diagonals.
    #[must_use]
    pub fn byte_count(&self) -> usize {
        match self {
            Self::Slots(map, _) => map.byte_count(),
            Self::Raise(map) => map.byte_count(),
        }
    }
}

/// The ciphertext whose key and power a form has.
fn like<'a>(form: &PrimePowerForm<'a, Arc<PrimePowerCiphertext>>) -> Result<&'a Arc<PrimePowerCiphertext>, Error> {
    form.products.first().map(|p| p.left).or(form.terms.first().map(|t| t.1)).ok_or(Error::EmptyQuadratic)
}

/// For a map where another kind of map is wanted.
pub(super) fn mistaken() -> Error {
    Error::InvalidParameters { reason: "a map of slots and a map that raises the modulus were confused" }
}

/// Arithmetic modulo p and p^2 on one context with one set of keys. On phases it is a [`SampleEvaluator`].
#[derive(Clone, Copy)]
pub struct PrimePowerCiphertextEvaluator<'a> {
    samples: SampleEvaluator<'a>,
}

impl<'a> Deref for PrimePowerCiphertextEvaluator<'a> {
    type Target = SampleEvaluator<'a>;
    fn deref(&self) -> &SampleEvaluator<'a> {
        &self.samples
    }
}

impl<'a> PrimePowerCiphertextEvaluator<'a> {
    /// For the limbs that a bootstrap raises to.
    #[must_use]
    pub fn new(ctx: &'a Context, keys: &'a KeySet) -> Self {
        Self { samples: SampleEvaluator::new(ctx, keys) }
    }
    /// [`SampleEvaluator::stopped_by`].
    #[must_use]
    pub fn stopped_by(self, flag: &'a AtomicBool) -> Self {
        Self { samples: self.samples.stopped_by(flag) }
    }

    /// `p^-k x` modulo the first primes.
    fn over_power(&self, power: PrimePower, x: i64, limbs: usize) -> Vec<u64> {
        let moduli = (0..limbs).map(|i| self.context().ring().modulus(i));
        moduli.map(|m| m.mul(m.reduce_i64(x), m.inv(m.reduce(power.modulus())))).collect()
    }

    fn multiple(&self, a: &PrimePowerCiphertext, by: Multiplier<'_>) -> Result<Vec<Poly<Eval>>, Error> {
        let forms: Vec<_> = a.polys.iter().map(|poly| Form::multiple(by, poly)).collect();
        self.samples.forms(&forms, a.limbs())
    }

    /// Sums and differences want one correction factor.
    fn same_factor(a: &PrimePowerCiphertext, b: &PrimePowerCiphertext) -> Result<(), Error> {
        match a.power == b.power && a.power.same(a.correction_factor, b.correction_factor) {
            true => Ok(()),
            false => Err(Error::InvalidParameters { reason: "operands of a sum have different factors" }),
        }
    }

    /// A form, divided by the special primes and so many of the chain.
    fn divided_form(
        &self,
        form: &PrimePowerForm<'_, Arc<PrimePowerCiphertext>>,
        drop: usize,
    ) -> Result<Vec<Poly<Eval>>, Error> {
        self.check_stop()?;
        let (power, limbs) = (check(self, form)?, form.level + 1);
        let full = form.scale * self.divisor(form.level);
        let like = like(form)?;
        for ct in form.products.iter().flat_map(|p| [p.left, p.right]).chain(form.terms.iter().map(|t| t.1)) {
            self.same_key(like, ct)?;
        }
        // Of the sum of products p^k times: so terms are brought to their factor over p^k.
        let terms = form.terms.iter().map(|(c, x)| {
            let whole = c.0[0] * full.over(x.correction_factor);
            self.over_power(power, power.centred(whole), limbs)
        });
        let (terms, key) = (terms.collect::<Vec<_>>(), self.form_key(form, like)?);
        let constant = self.over_power(power, power.centred(form.constant.0[0] * full), limbs);
        let inverse = self.over_power(power, 1, limbs);
        let ring = self.context().ring();
        let constant: Vec<u64> =
            constant.iter().zip(&inverse).enumerate().map(|(i, (&c, &p))| ring.modulus(i).mul(c, p)).collect();
        let special = |i| key.as_ref().map_or(1, |(_, spec)| ring.special_product(spec.p_limbs)[i]);
        let correction_factor: Vec<u64> = (0..limbs)
            .map(|i| ring.modulus(i))
            .enumerate()
            .map(|(i, m)| m.mul(m.reduce(power.modulus()), special(i)))
            .collect();
        let pairs = form.products.iter().map(|Product { left, right, .. }| Ok((linear(left)?, linear(right)?)));
        let pairs = pairs.collect::<Result<Vec<_>, Error>>()?;
        let products = |places: &[(usize, usize)]| -> Vec<_> {
            pairs.iter().flat_map(|(l, r)| places.iter().map(move |&(i, j)| (1, l[i], r[j]))).collect()
        };
        let of = |i: usize| {
            let each = terms.iter().zip(&form.terms);
            each.map(|(c, (_, x))| (Multiplier::Residues(c), &x.polys[i])).collect()
        };
        let factor = Some(Multiplier::Residues(&correction_factor));
        let constant = Multiplier::Residues(&constant);
        let c0 = Form { products: products(&[(0, 0)]), terms: of(0), constant, factor };
        let c1 = Form { products: products(&[(0, 1), (1, 0)]), terms: of(1), factor, ..Form::default() };
        let halves = self.samples.forms(&[c0, c1], limbs)?;
        let Some((key, spec)) = key else {
            return match drop {
                0 => Ok(halves),
                _ => Ok(divide(self.context(), &halves.iter().collect::<Vec<_>>(), drop)?),
            };
        };
        // The key brings its P.
        let factor = Some(Multiplier::integer(i128::from(power.modulus())));
        let c2 = self.samples.forms(&[Form { products: products(&[(1, 1)]), factor, ..Form::default() }], limbs)?;
        let digits = digits(self.context(), spec, &[&c2[0]])?;
        let product = KeyProduct { added_after: Some((&halves[0], &halves[1])), ..KeyProduct::of(&digits[0]) };
        let sums = ring.key_products(&[product], key.words(), None)?;
        self.divided(&sums[0], drop)
    }

    /// The relinearization key of a form with products.
    fn form_key(
        &self,
        form: &PrimePowerForm<'_, Arc<PrimePowerCiphertext>>,
        like: &PrimePowerCiphertext,
    ) -> Result<Option<(&'a aglet_rlwe::SwitchingKey, &'a KeySwitchSpec)>, Error> {
        if form.products.is_empty() {
            return Ok(None);
        }
        let key = self.key(KeyRole::Relinearization, form.level + 1)?;
        self.own(key, like)?;
        Ok(Some((key, key.spec())))
    }
}

impl Evaluator for PrimePowerCiphertextEvaluator<'_> {
    type Scalar = Pair;
    type Ciphertext = Arc<PrimePowerCiphertext>;
    type Transform = PrimePowerMap;

    fn slots(&self) -> usize {
        self.context().params().sparse_n() / 2
    }
    fn level(&self, ct: &Self::Ciphertext) -> usize {
        ct.level()
    }
    fn level_down(&self, a: &Self::Ciphertext, level: usize) -> Result<Self::Ciphertext, Error> {
        match a.level() {
            actual if actual < level => Err(Error::LevelTooLow { required: level, actual }),
            _ => Ok(Arc::new(PrimePowerCiphertext { sample: a.truncated(self.context(), level + 1)?, ..**a })),
        }
    }
    fn add(&self, a: &Self::Ciphertext, b: &Self::Ciphertext) -> Result<Self::Ciphertext, Error> {
        Self::same_factor(a, b)?;
        Ok(a.with(self.sum(a, b, |x, y| self.context().ring().add_assign(x, y))?, a.correction_factor))
    }
    fn sub(&self, a: &Self::Ciphertext, b: &Self::Ciphertext) -> Result<Self::Ciphertext, Error> {
        Self::same_factor(a, b)?;
        Ok(a.with(self.sum(a, b, |x, y| self.context().ring().sub_assign(x, y))?, a.correction_factor))
    }
    fn negate(&self, a: &Self::Ciphertext) -> Result<Self::Ciphertext, Error> {
        Ok(a.with(self.multiple(a, Multiplier::integer(-1))?, a.correction_factor))
    }
    fn mul(&self, a: &Self::Ciphertext, b: &Self::Ciphertext) -> Result<Self::Ciphertext, Error> {
        let level = a.level().min(b.level());
        let scale = (a.correction_factor * b.correction_factor).over(self.divisor(level));
        let products = vec![Product { factor: 1, left: a, right: b }];
        let form = PrimePowerForm { products, terms: Vec::new(), constant: Pair::both(Residue::ZERO), level, scale };
        Ok(self.forms(&[form])?.remove(0))
    }
    fn mul_scalar(&self, a: &Self::Ciphertext, c: Pair) -> Result<Self::Ciphertext, Error> {
        let [re, im] = c.parts().map(|part| i128::from(a.power.centred(part)));
        Ok(a.with(self.multiple(a, Multiplier::Constant(Constant { re, im }))?, a.correction_factor))
    }
    fn add_scalar(&self, a: &Self::Ciphertext, c: Pair) -> Result<Self::Ciphertext, Error> {
        let ring = self.context().ring();
        let parts = c.parts().map(|part| a.power.centred(part * a.correction_factor));
        let plain = ring.to_eval(ring.lift(&spread(&parts, ring.n()), ring.scratch(a.limbs(), 0)?));
        let inverse = self.over_power(a.power, 1, a.limbs());
        let mut forms: Vec<_> = a.polys.iter().map(|poly| Form::multiple(Multiplier::integer(1), poly)).collect();
        forms[0].terms.push((Multiplier::Residues(&inverse), &plain));
        Ok(a.with(self.samples.forms(&forms, a.limbs())?, a.correction_factor))
    }
    fn rotate(&self, a: &Self::Ciphertext, by: isize) -> Result<Self::Ciphertext, Error> {
        let n = self.context().ring().n();
        match by.rem_euclid(n as isize / 2) {
            0 => Ok(a.clone()),
            by => {
                Ok(a.with(self.automorphisms(&[&a.sample], rotation_exponent(by, n))?.remove(0), a.correction_factor))
            }
        }
    }
    /// Modulo p^2, so that it serves both powers, and rescaled.
    fn encode_map(&self, map: &LinearMap<Pair>, level: usize) -> Result<PrimePowerMap, Error> {
        self.encode_pairs(&map.clone().into(), Encoding { level, power: PrimePower::Two, gain: Residue::ONE, drop: 1 })
    }
    fn transform(&self, ct: &Self::Ciphertext, transform: &PrimePowerMap) -> Result<Self::Ciphertext, Error> {
        Ok(self.transforms(std::slice::from_ref(ct), transform)?.remove(0))
    }
    fn transforms(&self, of: &[Self::Ciphertext], transform: &PrimePowerMap) -> Result<Vec<Self::Ciphertext>, Error> {
        let PrimePowerMap::Slots(map, Encoding { level, gain, drop, .. }) = transform else { return Err(mistaken()) };
        let (level, gain, drop) = (*level, *gain, *drop);
        let samples: Vec<&Sample> = of.iter().map(|ct| &ct.sample).collect();
        let (sums, _) = map.apply(self, &samples)?;
        let gain = (0..drop).fold(gain, |gain, i| gain.over(self.divisor(level - i)));
        of.iter()
            .zip(&sums)
            .map(|(ct, pair)| Ok(ct.with(self.divided(pair, drop)?, ct.correction_factor * gain)))
            .collect()
    }
}

impl Forms for PrimePowerCiphertextEvaluator<'_> {
    type Scale = Residue;

    fn scale_of(&self, ct: &Self::Ciphertext) -> Residue {
        ct.correction_factor
    }
    fn divisor(&self, level: usize) -> Residue {
        Residue::from(self.context().ring().modulus(level).value())
    }
    fn forms(&self, forms: &[PrimePowerForm<'_, Self::Ciphertext>]) -> Result<Vec<Self::Ciphertext>, Error> {
        forms.iter().map(|form| Ok(like(form)?.with(self.divided_form(form, 1)?, form.scale))).collect()
    }
}

impl PrimePowerEvaluator for PrimePowerCiphertextEvaluator<'_> {
    fn power(&self, ct: &Self::Ciphertext) -> PrimePower {
        ct.power
    }
    fn modulo_p(&self, ct: &Self::Ciphertext) -> Result<Self::Ciphertext, Error> {
        let polys = self.multiple(ct, Multiplier::integer(i128::from(super::P)))?;
        Ok(Arc::new(PrimePowerCiphertext {
            sample: Sample { polys, key: ct.key },
            power: PrimePower::One,
            correction_factor: ct.correction_factor,
        }))
    }
    fn over_p(&self, ct: &Self::Ciphertext) -> Self::Ciphertext {
        let polys = ct.polys.iter().map(|poly| poly.prefix(poly.q_limbs())).collect();
        Arc::new(PrimePowerCiphertext {
            sample: Sample { polys, key: ct.key },
            power: PrimePower::One,
            correction_factor: ct.correction_factor,
        })
    }
    fn unrescaled(&self, form: &PrimePowerForm<'_, Self::Ciphertext>) -> Result<Self::Ciphertext, Error> {
        Ok(like(form)?.with(self.divided_form(form, 0)?, form.scale * self.divisor(form.level)))
    }
    fn encapsulate(&self, ct: &Self::Ciphertext) -> Result<Self::Ciphertext, Error> {
        Ok(Arc::new(PrimePowerCiphertext { sample: self.samples.dense_to_sparse(ct)?, ..**ct }))
    }
    fn whole_parts(&self, ct: &Self::Ciphertext) -> Result<Self::Ciphertext, Error> {
        if ct.limbs() != 1 {
            return Err(Error::LevelMismatch { left: ct.limbs() - 1, right: 0 });
        }
        let ring = self.context().ring();
        let polys = linear(&ct.sample)?.into_iter().map(|poly| ring.nearest_parts(poly, super::P));
        Ok(ct.with(polys.collect::<Result<_, _>>()?, ct.correction_factor))
    }
    fn encode_raise(&self, map: &LinearMap<Pair>, level: usize) -> Result<PrimePowerMap, Error> {
        Ok(PrimePowerMap::Raise(RaiseMap::encode(self.context(), map, level)?.into()))
    }
    fn raise(&self, ct: &Self::Ciphertext, map: &PrimePowerMap) -> Result<Self::Ciphertext, Error> {
        let PrimePowerMap::Raise(map) = map else { return Err(mistaken()) };
        map.raise(self, ct)
    }
    fn mod_switch(&self, ct: &Self::Ciphertext, level: usize, gain: Residue) -> Result<Self::Ciphertext, Error> {
        self.check_stop()?;
        let polys = mod_switch(self.context(), &ct.polys.iter().collect::<Vec<_>>(), level + 1, 0)?;
        Ok(ct.with(polys, ct.correction_factor * gain))
    }
    fn encode_pairs(&self, map: &PairMap, how: Encoding) -> Result<PrimePowerMap, Error> {
        let polynomial = |values: &[Pair]| {
            let scaled = coefficients(values).into_iter().map(|c| how.power.centred(c * how.gain));
            Ok(scaled.collect())
        };
        let cut: Vec<_> = map.maps().iter().map(|map| map.giant_steps()).collect();
        let maps: Vec<&[_]> = cut.iter().map(Vec::as_slice).collect();
        let slots = map.direct.slots();
        let map = SampleMap::new(self, (slots, &maps), how.level, None, polynomial)?;
        Ok(PrimePowerMap::Slots(map.encoded(self)?.into(), how))
    }
}
