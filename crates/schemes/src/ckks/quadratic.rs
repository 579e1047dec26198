//! [`Quadratic`] forms on ciphertexts: products and terms summed first, then one relinearization and one rescale.

use super::approximate::Approximate;
use super::evaluator::{constant, encoding_error, CkksEvaluator};
use super::stated::{in_slots, rounding};
use super::{CkksCiphertext, Stated};
use crate::forms::Quadratic;
use crate::samples::{linear, SHARING};
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
    let mut quotients =
        if drop == 0 { Vec::new() } else { quotients(e, &summed, (first.level + 1, drop))? }.into_iter();
    let finish = |(one, form): (&Summed<'_>, &Quadratic<'_, CkksCiphertext>)| {
        e.check_stop()?;
        let polys: Vec<_> = match &one.square {
            Some(_) => relinearized.next().into_iter().flatten().collect(),
            None if drop == 0 => e.context().ring().forms(&one.halves, form.level + 1, 0)?,
            None => quotients.by_ref().take(2).collect(),
        };
        let scale = if drop == 0 { form.scale * e.modulus(form.level) } else { form.scale };
        let stated = one.stated.disturbed(in_slots(one.like.slots, rounding(e.context(), 2), scale));
        Ok::<_, Error>(Arc::new(one.like.with(polys, scale).real_if(one.real).stating(stated)))
    };
    summed.iter().zip(forms).map(finish).collect()
}

/// The halves of all forms without products, which there is nothing to divide by but primes of the chain. Neighbours that have terms of
/// the same ciphertexts are divided together.
fn quotients(
    e: &CkksEvaluator<'_>,
    summed: &[Summed<'_>],
    (limbs, drop): (usize, usize),
) -> Result<Vec<Poly<Eval>>, Error> {
    let plain: Vec<_> = summed.iter().filter(|one| one.square.is_none()).collect();
    let groups: Vec<_> = plain.chunk_by(|a, b| a.shares(b)).flat_map(|group| group.chunks(SHARING)).collect();
    // Many groups go side by side; of a few, each has all threads for its limbs.
    let many = groups.len() >= 2 * rayon::current_num_threads();
    let least = if many { 1 } else { groups.len().max(1) };
    let divided = groups.par_iter().with_min_len(least).map(|group| {
        e.check_stop()?;
        let halves: Vec<_> = group.iter().flat_map(|one| one.halves.clone()).collect();
        Ok(divide_forms(e.context(), &halves, (limbs, drop))?)
    });
    let divided: Vec<Vec<_>> = divided.collect::<Result<_, Error>>()?;
    Ok(divided.into_iter().flatten().collect())
}

impl<'a> Summed<'a> {
    /// What meets the relinearization key, if anything does.
    fn tensor(&self) -> Option<Tensor<'a>> {
        Some(Tensor { lifted: self.halves.clone(), square: self.square.clone()? })
    }
    /// Whether another one begins with the same ciphertext, as sums of powers of one variable do.
    fn shares(&self, other: &Self) -> bool {
        let first = |one: &Self| one.halves[0].operands().next().map(std::ptr::from_ref);
        first(self) == first(other)
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
