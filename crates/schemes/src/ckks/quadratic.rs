//! [`Quadratic`] forms on ciphertexts: products and terms summed first, then one relinearization and one rescale.

use super::approximate::Approximate;
use super::evaluator::{constant, encoding_error, CkksEvaluator};
use super::stated::{in_slots, rounding};
use super::{CkksCiphertext, Stated};
use crate::forms::Quadratic;
use crate::samples::linear;
use crate::Error;
use aglet_ring::{Digits, Eval, Form, KeyProduct, Multiplier, Pair, Poly};
use aglet_rlwe::keyswitch::{digits, divide};
use aglet_rlwe::{KeyRole, SwitchingKey};
use rayon::prelude::*;
use std::sync::Arc;

/// A form before its relinearization: `P c0`, `P c1` and, if it has products, the digits of `c2`.
struct Tensor<'a> {
    /// Whose slots and keys the result has.
    like: &'a CkksCiphertext,
    real: bool,
    /// Before the division.
    stated: Stated,
    c0: Poly<Eval>,
    c1: Poly<Eval>,
    digits: Option<Digits>,
}

impl Tensor<'_> {
    /// What meets the relinearization key, if anything does.
    fn product(&self) -> Option<KeyProduct<'_>> {
        Some(KeyProduct { added_after: Some((&self.c0, &self.c1)), ..KeyProduct::of(self.digits.as_ref()?) })
    }
}

/// Forms of one level, whose products with the relinearization key are made side by side: it is read once. They are divided by
/// the special primes and so many of the chain: one, or none for what is not to be rescaled.
pub(super) fn divided(
    e: &CkksEvaluator<'_>,
    forms: &[Quadratic<'_, CkksCiphertext>],
    drop: usize,
) -> Result<Vec<CkksCiphertext>, Error> {
    let Some(first) = forms.first() else { return Ok(Vec::new()) };
    if let Some(other) = forms.iter().find(|f| f.level != first.level) {
        return Err(Error::LevelMismatch { left: first.level, right: other.level });
    }
    forms.iter().try_for_each(|form| form.check(e))?;
    let key = match forms.iter().all(|f| f.products.is_empty()) {
        true => None,
        false => Some(e.key(KeyRole::Relinearization, first.level + 1)?),
    };
    // Many forms go side by side; of a few, each has all threads for its limbs.
    let many = forms.len() >= 2 * rayon::current_num_threads();
    let least = if many { 1 } else { forms.len() };
    let tensors = forms.par_iter().with_min_len(least).map(|form| tensor(e, form, key));
    let mut tensors = tensors.collect::<Result<Vec<_>, _>>()?;
    let relinearized = match key {
        Some(key) => {
            let of: Vec<_> = tensors.iter().filter_map(Tensor::product).collect();
            e.context().ring().key_products(&of, key.words(), None)?
        }
        None => Vec::new(),
    };
    let mut pairs = relinearized.iter();
    // Digits have gone into these.
    let pairs: Vec<_> = tensors.iter_mut().map(|t| t.digits.take().and_then(|_| pairs.next())).collect();
    let finish = |((t, pair), form): ((&Tensor<'_>, &Option<&Pair>), &Quadratic<'_, CkksCiphertext>)| {
        e.check_stop()?;
        let (b, a) = pair.map_or((&t.c0, &t.c1), |(b, a)| (b, a));
        // Without a product there is nothing to divide by but the prime.
        let polys = match drop + b.p_limbs() {
            0 => [b, a].map(|poly| poly.prefix(poly.q_limbs())).into(),
            _ => divide(e.context(), &[b, a], drop)?,
        };
        let scale = if drop == 0 { form.scale * e.modulus(form.level) } else { form.scale };
        let stated = t.stated.disturbed(in_slots(t.like.slots, rounding(e.context(), 2), scale));
        Ok::<_, Error>(Arc::new(t.like.with(polys, scale).real_if(t.real).stating(stated)))
    };
    tensors.par_iter().zip(&pairs).zip(forms).with_min_len(least).map(finish).collect()
}

fn tensor<'a>(
    e: &CkksEvaluator<'_>,
    form: &Quadratic<'a, CkksCiphertext>,
    key: Option<&SwitchingKey>,
) -> Result<Tensor<'a>, Error> {
    e.check_stop()?;
    let (limbs, encoded) = (form.level + 1, form.scale * e.modulus(form.level));
    let like =
        form.products.first().map(|p| p.left).or(form.terms.first().map(|t| t.1)).ok_or(Error::EmptyQuadratic)?;
    let operands = form.products.iter().flat_map(|p| [p.left, p.right]).chain(form.terms.iter().map(|t| t.1));
    let mut real = form.constant.im == 0.0 && form.terms.iter().all(|t| t.0.im == 0.0);
    for x in operands {
        e.same_key(like, x)?;
        linear(x)?;
        real &= x.real;
    }
    let terms = form.terms.iter().map(|(c, x)| Ok((Multiplier::Constant(constant(*c, encoded / x.scale)?), *x)));
    let terms = terms.collect::<Result<Vec<_>, Error>>()?;
    let of = |i: usize| terms.iter().map(|(c, x)| (*c, &x.polys[i])).collect();
    let key = key.filter(|_| !form.products.is_empty());
    let special = |k: &SwitchingKey| Multiplier::Residues(e.context().ring().special_product(k.spec().p_limbs));
    let factor = key.map(special);
    let pairs = form.products.iter().map(|p| Ok((p.factor.unsigned_abs(), linear(p.left)?, linear(p.right)?)));
    let pairs = pairs.collect::<Result<Vec<_>, Error>>()?;
    // Polynomial i of every left operand times polynomial j of its right one, for each of the given (i, j).
    let products = |places: &[(usize, usize)]| -> Vec<_> {
        pairs.iter().flat_map(|(f, l, r)| places.iter().map(move |&(i, j)| (*f, l[i], r[j]))).collect()
    };
    let c0 = Form {
        products: products(&[(0, 0)]),
        terms: of(0),
        constant: Multiplier::Constant(constant(form.constant, encoded)?),
        factor,
    };
    let c1 = Form { products: products(&[(0, 1), (1, 0)]), terms: of(1), factor, ..Form::default() };
    let mut forms = vec![c0, c1];
    if let Some(key) = key {
        e.own(key, like)?;
        forms.push(Form { products: products(&[(1, 1)]), ..Form::default() });
    }
    let mut polys = e.forms(&forms, limbs)?;
    let c2 = if key.is_some() { polys.pop() } else { None };
    let digits = match (key, &c2) {
        (Some(key), Some(c2)) => digits(e.context(), key.spec(), &[c2])?.pop(),
        _ => None,
    };
    let [c0, c1] = polys.try_into().map_err(|_| Error::EmptyQuadratic)?;
    Ok(Tensor { like, real, stated: stated(e, form, (like, key)), c0, c1, digits })
}

/// What is stated of a form before its division, with the error of the key switch.
fn stated(
    e: &CkksEvaluator<'_>,
    form: &Quadratic<'_, CkksCiphertext>,
    (like, key): (&CkksCiphertext, Option<&SwitchingKey>),
) -> Stated {
    let (ctx, encoded) = (e.context(), form.scale * e.modulus(form.level));
    let products = form.products.iter().map(|p| {
        let product = p.left.stated.product(&p.right.stated, p.left.repeated(ctx));
        product.times(f64::from(p.factor), 0.0)
    });
    let terms = form.terms.iter().map(|(c, x)| x.stated.times(c.norm(), encoding_error(encoded / x.scale)));
    let constant = Stated::new(form.constant.norm(), 1.0 / encoded);
    let sum = products.chain(terms).fold(constant, |sum, part| sum.plus(&part));
    match key {
        Some(key) => sum.disturbed(in_slots(like.slots, key.spec().noise(ctx.params(), form.level + 1), encoded)),
        None => sum,
    }
}
