//! [`Quadratic`] forms on ciphertexts: products and terms summed first, then one relinearization and one rescale.

use super::approximate::Approximate;
use super::evaluator::{constant, encoding_error, CkksEvaluator};
use super::stated::{in_slots, rounding};
use super::{CkksCiphertext, Stated};
use crate::forms::Quadratic;
use crate::samples::linear;
use crate::Error;
use aglet_ring::{Eval, Form, Multiplier, Poly, Tensor};
use aglet_rlwe::keyswitch::{divide_forms, relinearize};
use aglet_rlwe::{KeyRole, SwitchingKey};
use rayon::prelude::*;
use std::sync::Arc;

/// A form before its relinearization and division.
struct Summed<'a> {
    /// Whose slots and keys the result has.
    like: &'a CkksCiphertext,
    real: bool,
    /// Before the division.
    stated: Stated,
    /// `c0` and `c1`, times the special primes if it has products.
    halves: [Form<'a>; 2],
    /// `c2`, if it has products.
    square: Option<Form<'a>>,
}

/// Both halves of a product, if there is one.
type Relinearized = Option<[Poly<Eval>; 2]>;

/// Products that are relinearized side by side: the key is read once for them, and tiles of all stay in a cache.
pub(super) const TOGETHER: usize = 4;

/// Forms of one level, whose products are relinearized side by side. They are divided by the special primes and so many of the chain: one,
/// or none for what is not to be rescaled.
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
    let summed = forms.iter().map(|form| summed(e, form, key)).collect::<Result<Vec<_>, _>>()?;
    let tensors: Vec<Tensor<'_>> = summed.iter().filter_map(Summed::tensor).collect();
    let mut relinearized = Vec::with_capacity(tensors.len());
    for some in tensors.chunks(TOGETHER) {
        e.check_stop()?;
        if let Some(key) = key {
            let limbs = first.level + 1;
            relinearized.extend(relinearize(e.context(), key.spec(), key.words(), some, (limbs, drop))?);
        }
    }
    let mut relinearized = relinearized.into_iter();
    let found: Vec<_> = summed.iter().map(|one| one.square.as_ref().and_then(|_| relinearized.next())).collect();
    // Many forms without products go side by side; of a few, each has all threads for its limbs.
    let many = forms.len() >= 2 * rayon::current_num_threads();
    let least = if many { 1 } else { forms.len() };
    let finish = |((one, found), form): ((&Summed<'_>, Relinearized), &Quadratic<'_, CkksCiphertext>)| {
        e.check_stop()?;
        let polys = match found {
            Some(polys) => polys.into(),
            None if drop == 0 => e.context().ring().forms(&one.halves, form.level + 1, 0)?,
            // Without a product there is nothing to divide by but the prime.
            None => divide_forms(e.context(), &one.halves, (form.level + 1, drop))?,
        };
        let scale = if drop == 0 { form.scale * e.modulus(form.level) } else { form.scale };
        let stated = one.stated.disturbed(in_slots(one.like.slots, rounding(e.context(), 2), scale));
        Ok::<_, Error>(Arc::new(one.like.with(polys, scale).real_if(one.real).stating(stated)))
    };
    summed.par_iter().zip(found).zip(forms).with_min_len(least).map(finish).collect()
}

impl<'a> Summed<'a> {
    /// What meets the relinearization key, if anything does.
    fn tensor(&self) -> Option<Tensor<'a>> {
        Some(Tensor { lifted: self.halves.clone(), square: self.square.clone()? })
    }
}

fn summed<'a>(
    e: &'a CkksEvaluator<'_>,
    form: &Quadratic<'a, CkksCiphertext>,
    key: Option<&SwitchingKey>,
) -> Result<Summed<'a>, Error> {
    let encoded = form.scale * e.modulus(form.level);
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
    if let Some(key) = key {
        e.own(key, like)?;
    }
    let square = key.map(|_| Form { products: products(&[(1, 1)]), ..Form::default() });
    Ok(Summed { like, real, stated: stated(e, form, (like, key)), halves: [c0, c1], square })
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
