//! The last levels of eval_mod: the function of the exponential or of the cosine.

use super::wave::Wave;
use super::{EvalMod, Function};
use crate::error::Error;
use aglet_schemes::{Approximate, Product, Quadratic};
use num_complex::Complex64;

/// `left * right + constant`, part of the last level of a run.
#[derive(Clone)]
pub(super) struct Factors<C> {
    pub(super) left: C,
    right: C,
    pub(super) constant: Complex64,
}

impl EvalMod {
    /// Last forms.
    fn finish<E: Approximate>(
        &self,
        e: &E,
        forms: &[Quadratic<'_, E::Ciphertext>],
    ) -> Result<Vec<E::Ciphertext>, Error> {
        Ok(if self.rescales { e.quadratics(forms)? } else { e.unrescaled(forms)? })
    }

    /// Two harmonics of real arguments as `i (V - conj V)`. What the conjugation of `E'` rounds is imaginary and grows by
    /// `c`: where messages have a larger scale than `E'`, more is left of it than of what `V` rounds.
    pub(super) fn conjugated_last<E: Approximate>(
        &self,
        e: &E,
        powers: &[E::Ciphertext],
        scale: f64,
    ) -> Result<Vec<E::Ciphertext>, Error> {
        let forms = powers.iter().map(|power| Quadratic {
            products: vec![Product { factor: 1, left: power, right: power }],
            terms: vec![((-self.linear).into(), power)],
            constant: 0.0.into(),
            level: e.level(power),
            scale,
        });
        let vs = self.finish(e, &forms.collect::<Vec<_>>())?;
        let turned = e.conjugates(&vs)?;
        let results = vs.iter().zip(&turned).map(|(v, turned)| e.mul_i(&e.sub(v, turned)?));
        Ok(results.collect::<Result<_, _>>()?)
    }

    /// What [`EvalMod::last`] makes the results of, from [`EvalMod::powers`].
    pub(super) fn factors<E: Approximate>(
        &self,
        e: &E,
        powers: &[E::Ciphertext],
    ) -> Result<Vec<Vec<Factors<E::Ciphertext>>>, Error> {
        if let Wave::Cosine { .. } = self.wave {
            // Bits are half of 1 less the cosine.
            let half = if matches!(self.function, Function::Bits { .. }) { -0.5 } else { 0.0 };
            let constant = (self.wave.constant(self.kappa, 0) + half).into();
            let square = |power: &E::Ciphertext| Factors { left: power.clone(), right: power.clone(), constant };
            return Ok(powers.iter().map(|power| vec![square(power)]).collect());
        }
        let turned = e.conjugates(powers)?;
        if self.function.normalized() {
            return self.normalized(e, powers, &turned);
        }
        let product = |(power, turned)| {
            Ok(vec![Factors { left: e.sub(power, turned)?, right: e.add(power, turned)?, constant: 0.0.into() }])
        };
        powers.iter().zip(&turned).map(product).collect()
    }

    /// The same for exponentials whose size is to be cleaned, a level lower.
    fn normalized<E: Approximate>(
        &self,
        e: &E,
        powers: &[E::Ciphertext],
        turned: &[E::Ciphertext],
    ) -> Result<Vec<Vec<Factors<E::Ciphertext>>>, Error> {
        let bits = matches!(self.function, Function::Bits { .. });
        let mut squares = Vec::with_capacity(powers.len());
        for (power, turned) in powers.iter().zip(turned) {
            squares.push(if bits {
                vec![(power.clone(), power.clone()), (turned.clone(), turned.clone())]
            } else {
                vec![(e.sub(power, turned)?, e.add(power, turned)?)]
            });
        }
        let half = if bits { -0.5 } else { 0.0 };
        let form = |power: &E::Ciphertext, products, constant: f64| {
            let level = e.level(power);
            let scale = e.scale(power) * e.scale(power) / e.modulus(level);
            Quadratic { products, terms: vec![], constant: constant.into(), level, scale }
        };
        let lefts = powers.iter().zip(&squares).map(|(power, squares)| {
            let products = squares.iter().map(|(left, right)| Product { factor: 1, left, right });
            form(power, products.collect(), 0.0)
        });
        let lefts = e.quadratics(&lefts.collect::<Vec<_>>())?;
        // Of size 1 + d the exponential is off by 2d in its square: times 2 - (1 + d)^2 by d^2.
        let size = |left, right| vec![Product { factor: if bits { 4 } else { 2 }, left, right }];
        let sizes = powers.iter().zip(turned).map(|(power, turned)| form(power, size(power, turned), -2.0));
        let sizes = e.quadratics(&sizes.collect::<Vec<_>>())?;
        let pairs = lefts.into_iter().zip(&sizes);
        let factors = pairs.map(|(left, size)| {
            let right = e.negate(size)?;
            Ok(vec![Factors { left, right, constant: half.into() }])
        });
        factors.collect()
    }

    /// The last level: for each result the sum of the products, and of the terms of a second harmonic, with exactly `scale`.
    pub(super) fn last<E: Approximate>(
        &self,
        e: &E,
        factors: &[Vec<Factors<E::Ciphertext>>],
        scale: f64,
    ) -> Result<Vec<E::Ciphertext>, Error> {
        let forms = factors.iter().map(|factors| {
            let lefts = factors.iter().filter(|_| self.linear != 0.0).map(|f| &f.left);
            Quadratic {
                products: factors.iter().map(|f| Product { factor: 1, left: &f.left, right: &f.right }).collect(),
                terms: lefts.map(|left| ((-self.linear).into(), left)).collect(),
                constant: factors.iter().map(|f| f.constant).sum(),
                level: e.level(&factors[0].left),
                scale,
            }
        });
        let sums = self.finish(e, &forms.collect::<Vec<_>>())?;
        let of_sum = |sum: &E::Ciphertext| match (self.wave, &self.function) {
            (_, Function::Bits { .. }) => e.negate(sum),
            (Wave::Cosine { .. }, _) => Ok(sum.clone()),
            (_, Function::Identity { harmonics: 2 }) => e.mul_i(sum),
            _ => e.negate(&e.mul_i(sum)?),
        };
        Ok(sums.iter().map(of_sum).collect::<Result<_, _>>()?)
    }
}
