//! The tail of the precision: how likely a multiple of q0 is, and the error that eval_mod leaves for it.
//!
//! Under a sparse secret of weight `h` a coefficient of `c0 + c1 s`, over `q0`, is a sum of `h + 1` values uniform in
//! `[-1/2, 1/2]`: the chance of `x = I + m/r` is the Irwin-Hall density there, and `|I| <= (h + 1) / 2` always.

use super::{EvalMod, Function};
use crate::ckks::request::Parts;
use crate::error::Error;
use aglet_circuits::Error as CircuitError;
use aglet_schemes::ckks::clear::ClearEvaluator;
use std::sync::Arc;

/// Messages between `-most` and `most` at which errors are looked for.
const MESSAGES: usize = 63;

/// A multiple of `q0` that eval_mod removes from a coefficient, of either sign.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Overflow {
    /// `|I|`.
    pub size: usize,
    /// An upper bound of its probability for one coefficient.
    pub chance: f64,
    /// The largest error of the result, without noise.
    pub error: f64,
}

impl EvalMod {
    /// Every overflow that a sparse secret of this weight allows, on real messages up to `most` in size (for the sign and bits, on
    /// their points): from 0 upwards.
    ///
    /// # Errors
    /// [`CircuitError::Factor`] for a weight of 0 or above [`EvalMod::max_weight`], or a message that comes within a quarter of `q0 / 2`.
    pub fn tail(&self, weight: usize, most: f64) -> Result<Vec<Overflow>, Error> {
        if !(1..=self.max_weight()).contains(&weight) {
            let requirement = "above 0, and one that the polynomial was planned for (EvalMod::under)";
            return Err(CircuitError::Factor { what: "weight of a sparse secret", requirement }.into());
        }
        if !(most > 0.0 && most <= self.message_ratio / 4.0) && self.function.message_ratio().is_none() {
            return Err(CircuitError::Factor {
                what: "size of a message",
                requirement: "above 0, at most a quarter of q0",
            }
            .into());
        }
        let (ratio, messages): (f64, Vec<f64>) = match &self.function {
            Function::Identity { .. } => {
                let step = 2.0 * most / (MESSAGES - 1) as f64;
                (self.message_ratio, (0..MESSAGES).map(|j| step * j as f64 - most).collect())
            }
            Function::Sign { .. } => (4.0, vec![-1.0, 1.0]),
            Function::Bits { .. } => (2.0, vec![0.0, 1.0]),
            // Anywhere between integers.
            Function::Functional(_) => (2.0, vec![-1.0, 1.0]),
        };
        let largest = messages.iter().fold(0.0, |most: f64, m| most.max(m.abs()));
        let function = match &self.function {
            Function::Functional(functional) => Function::Functional(Arc::new(functional.of_real_parts())),
            other => other.clone(),
        };
        let all = Self { function, rescales: true, ..self.clone() };
        let overflow = |size: usize| {
            let sizes = [size as f64, -(size as f64)];
            let of = |i: &f64| match all.function.functional() {
                Some(functional) => functional.cases(*i),
                None => messages.iter().map(|m| (i + m / ratio, vec![*m])).collect(),
            };
            let cases: Vec<_> = sizes.iter().flat_map(of).collect();
            let error = all.largest_error(&cases)?;
            // The density falls with |x|, so no message is likelier than the one nearest to zero.
            let nearest = (size as f64 - largest / ratio).max(0.0);
            let chance = irwin_hall(weight + 1, nearest) * if size == 0 { 1.0 } else { 2.0 };
            Ok(Overflow { size, chance: chance.min(1.0), error })
        };
        (0..=weight.div_ceil(2)).map(overflow).collect()
    }

    /// The largest error over pairs of `x` and the results that it should have.
    fn largest_error(&self, cases: &[(f64, Vec<f64>)]) -> Result<f64, Error> {
        // Any moduli and scales do where nothing is rounded.
        let (modulus, top) = (2f64.powi(50), self.function.levels() + 1);
        let slots = cases.len().next_power_of_two();
        let e = ClearEvaluator::new(slots, vec![modulus; top + 1], 1, 0)?;
        let mut input: Vec<_> = cases.iter().map(|(x, _)| (x / self.bound()).into()).collect();
        input.resize(slots, 0.0.into());
        let ct = e.encrypt(&input, top, Self::input_scale(modulus))?;
        let found = self.run(&e, &[ct], Parts::Real, modulus.sqrt())?;
        let each = found
            .iter()
            .enumerate()
            .flat_map(|(k, ct)| ct.values().iter().zip(cases).map(move |(z, (_, wanted))| (z.re - wanted[k]).abs()));
        Ok(each.fold(0.0, f64::max))
    }
}

/// The density at `x` of a sum of `n` values uniform in `[-1/2, 1/2]`: with `y = x + n/2`,
/// `f_n(y) = (y f_(n-1)(y) + (n - y) f_(n-1)(y - 1)) / (n - 1)`, in which nothing cancels.
fn irwin_hall(n: usize, x: f64) -> f64 {
    let y = x + n as f64 / 2.0;
    if !(0.0..n as f64).contains(&y) {
        return 0.0;
    }
    let (whole, rest) = (y.floor() as usize, y.fract());
    // At `rest + k`, for the number of values so far.
    let mut f: Vec<f64> = (0..=whole).map(|k| if k == 0 { 1.0 } else { 0.0 }).collect();
    for n in 2..=n {
        for k in (0..=whole).rev() {
            let at = rest + k as f64;
            let below = if k == 0 { 0.0 } else { f[k - 1] };
            f[k] = (at * f[k] + (n as f64 - at).max(0.0) * below) / (n - 1) as f64;
        }
    }
    f[whole]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_law_of_the_overflow_is_that_of_the_formula() {
        // f_n(x) = 1/(n-1)! sum_j (-1)^j C(n, j) (x + n/2 - j)_+^(n-1), where little cancels: near the end.
        let n = 33;
        let factorial: f64 = (1..n).map(|k| k as f64).product();
        for x in [16.0, 15.0, 14.0, 13.75, 12.0, 11.0, 9.5] {
            let mut binomial = 1.0;
            let mut sum = 0.0;
            for j in 0..n {
                let base: f64 = n as f64 / 2.0 - x - j as f64;
                if base > 0.0 {
                    sum += if j % 2 == 0 { binomial } else { -binomial } * base.powi(n - 1);
                }
                binomial *= f64::from(n - j) / f64::from(j + 1);
            }
            assert!((irwin_hall(33, x) / (sum / factorial) - 1.0).abs() < 1e-9, "{x}");
        }
        // Every number has an integer part: the densities at integers and a shift add up to one.
        for shift in [0.0, 0.25, 0.6] {
            let all: f64 = (-17..=17).map(|i| irwin_hall(33, f64::from(i) + shift)).sum();
            assert!((all - 1.0).abs() < 1e-12);
        }
        assert_eq!(irwin_hall(33, 16.5), 0.0);
        assert!((irwin_hall(33, 11.0).log2() + 39.0).abs() < 0.1 && (irwin_hall(33, 16.0).log2() + 149.7).abs() < 0.1);
    }

    #[test]
    fn no_overflow_up_to_14_costs_more_than_the_noise_of_the_most_precise_set() {
        // 2^-75 is the chance of 14; what is above is one bootstrap in 2^81.
        for (log2_ratio, harmonics, bits) in
            [(5.75, 2, 20.0), (6.5, 2, 23.5), (6.75, 2, 24.3), (8.0, 2, 25.7), (10.5, 1, 19.9)]
        {
            let eval_mod = EvalMod::new(Function::Identity { harmonics }, f64::exp2(log2_ratio)).unwrap();
            for found in eval_mod.tail(32, 1.0).unwrap() {
                let wanted = if found.size <= 14 { bits } else { 3.0 };
                assert!(-found.error.log2() > wanted, "r = 2^{log2_ratio}: {found:?}");
            }
        }
    }

    #[test]
    fn under_weight_28_only_14_costs_more_than_noise_and_it_is_rarer() {
        assert!((irwin_hall(29, 14.0).log2() + 125.94).abs() < 0.01);
        for log2_ratio in [6.0, 6.75, 8.0] {
            let eval_mod = EvalMod::new(Function::Identity { harmonics: 2 }, f64::exp2(log2_ratio)).unwrap();
            let mut mean = 0.0;
            for found in eval_mod.under(28).unwrap().tail(28, 1.0).unwrap() {
                let wanted = [19.5, 1.0][usize::from(found.size == 14)];
                assert!(-found.error.log2() > wanted, "r = 2^{log2_ratio}: {found:?}");
                mean += found.chance * found.error;
            }
            assert!(log2_ratio < 6.75 || -mean.log2() > 24.7, "r = 2^{log2_ratio}: {}", -mean.log2());
        }
    }

    #[test]
    fn what_has_no_tail_is_refused() {
        let eval_mod = EvalMod::new(Function::Identity { harmonics: 2 }, 64.0).unwrap();
        for (weight, most) in [(0, 1.0), (33, 1.0), (usize::MAX, 1.0), (32, 0.0), (32, 17.0), (32, f64::NAN)] {
            assert!(eval_mod.tail(weight, most).is_err(), "{weight} {most}");
        }
        assert_eq!(eval_mod.tail(32, 1.0).unwrap().len(), 17);
        assert_eq!(eval_mod.tail(30, 16.0).unwrap().len(), 16);
    }
}
