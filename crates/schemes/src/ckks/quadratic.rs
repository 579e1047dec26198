//! [`Quadratic`] forms on ciphertexts: products and terms summed first, then one relinearisation and one rescale.

use super::evaluator::{linear, CkksEvaluator, Constant};
use super::CkksCiphertext;
use crate::approximate::{Approximate, Quadratic};
use crate::Error;
use aglet_ring::{Eval, Poly};
use aglet_rlwe::keyswitch::{divide, products, Switched};
use aglet_rlwe::{Digits, KeyRole, SwitchingKey};
use std::sync::Arc;

/// A form before its relinearisation: `P c0`, `P c1` and, if it has products, the digits of `c2`.
struct Tensor<'a> {
    /// Whose slots and keys the result has.
    like: &'a CkksCiphertext,
    real: bool,
    c0: Poly<Eval>,
    c1: Poly<Eval>,
    digits: Option<Digits>,
}

/// Forms of one level, whose products with the relinearisation key are made side by side: it is read once. They are divided by
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
        false => Some(e.key(KeyRole::Square, first.level + 1)?),
    };
    let tensors = forms.iter().map(|form| tensor(e, form, key)).collect::<Result<Vec<_>, _>>()?;
    let with_products = tensors
        .iter()
        .filter_map(|t| Some(Switched { digits: t.digits.as_ref()?, rotated: None, plain: Some((&t.c0, &t.c1)) }));
    let mut switched = match key {
        Some(key) => products(e.context(), key, None, &with_products.collect::<Vec<_>>())?,
        None => Vec::new(),
    }
    .into_iter();
    let finish = |(t, form): (&Tensor<'_>, &Quadratic<'_, CkksCiphertext>)| -> Result<_, Error> {
        e.check_stop()?;
        let pair = if t.digits.is_some() { switched.next() } else { None };
        let (b, a) = pair.as_ref().map_or((&t.c0, &t.c1), |(b, a)| (b, a));
        // Without a product there is nothing to divide by but the prime.
        let ring = e.context().ring();
        let part = |x: &Poly<Eval>| match drop + x.p_limbs() {
            0 => Ok(ring.copy(x, x.q_limbs())?),
            _ => divide(e.context(), x, drop).map_err(Error::from),
        };
        let scale = if drop == 0 { form.scale * e.modulus(form.level) } else { form.scale };
        Ok(Arc::new(t.like.with(vec![part(b)?, part(a)?], scale).real_if(t.real)))
    };
    tensors.iter().zip(forms).map(finish).collect()
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
    let terms = form.terms.iter().map(|(c, x)| Ok((Constant::new(*c, encoded / x.scale)?, *x)));
    let terms = terms.collect::<Result<Vec<_>, Error>>()?;
    let of = |i: usize| terms.iter().map(|(c, x)| (*c, &x.polys[i])).collect::<Vec<_>>();
    let key = key.filter(|_| !form.products.is_empty());
    let special = key.map_or(0, |k| k.spec().p_limbs);
    let pairs = form.products.iter().map(|p| Ok((p.factor, linear(p.left)?, linear(p.right)?)));
    let pairs = pairs.collect::<Result<Vec<_>, Error>>()?;
    // Polynomial i of every left operand times polynomial j of its right one, for each of the given (i, j).
    let products = |places: &[(usize, usize)]| -> Vec<_> {
        pairs.iter().flat_map(|(f, l, r)| places.iter().map(move |&(i, j)| (*f, l[i], r[j]))).collect()
    };
    let constant = Constant::new(form.constant, encoded)?;
    let c0 = e.form(limbs, &products(&[(0, 0)]), &of(0), constant, special)?;
    let c1 = e.form(limbs, &products(&[(0, 1), (1, 0)]), &of(1), Constant::ZERO, special)?;
    let digits = match key {
        None => None,
        Some(key) => {
            e.own(key, like)?;
            let c2 = e.form(limbs, &products(&[(1, 1)]), &[], Constant::ZERO, 0)?;
            Some(Digits::new(e.context(), key.spec(), &c2)?)
        }
    };
    Ok(Tensor { like, real, c0, c1, digits })
}
