//! Functional bootstraps: the exponential goes into trigonometric polynomials, so values are refreshed and looked up at once (eprint
//! 2024/1623, 2026/367; order 1 is the Fejer kernel of `aglet_circuits::trigonometric`).
//!
//! A real or imaginary part `v` of a slot stands at `x = I + v / period`; the exponential `z = exp(2 pi i x)` does not know `I`. Every
//! function is `W + conj W` for a polynomial `W` in `z`. With functions `f` of real parts and `g` of imaginary ones, `f + i g` is `V + conj V'`
//! for `V = W_f + i W_g` and `V' = W_f - i W_g`: one conjugation. Several functions share the exponential and its powers.

use super::EvalMod;
use crate::ckks::request::Parts;
use crate::error::Error;
use aglet_circuits::polynomial::Series;
use aglet_circuits::{Error as CircuitError, Trigonometric};
use aglet_schemes::{Approximate, Quadratic};
use num_complex::Complex64;

/// The most functions that one functional bootstrap evaluates.
pub const MAX_FUNCTIONS: usize = 16;

/// The functions of a functional bootstrap.
#[derive(Debug, Clone, PartialEq)]
pub struct Functional {
    period: f64,
    points: Vec<f64>,
    functions: Vec<[Trigonometric; 2]>,
    /// The same as polynomials in the exponential.
    series: Vec<[Series; 2]>,
    tables: bool,
}

impl Functional {
    /// The functions (of real and of imaginary parts) of `v / period`, which are wanted at these values `v`. All of them are
    /// evaluated on each slot, to one result each.
    ///
    /// # Errors
    /// [`CircuitError::Factor`] for a period or values that are not finite, or no functions or more than [`MAX_FUNCTIONS`].
    pub fn new(period: f64, points: Vec<f64>, functions: Vec<[Trigonometric; 2]>) -> Result<Self, Error> {
        if !(period.is_finite() && period > 0.0) {
            return Err(CircuitError::Factor { what: "period of a function", requirement: "above 0" }.into());
        }
        if points.is_empty() || points.iter().any(|v| !v.is_finite()) {
            return Err(CircuitError::Factor { what: "values of a function", requirement: "at least one" }.into());
        }
        if !(1..=MAX_FUNCTIONS).contains(&functions.len()) {
            return Err(CircuitError::Factor { what: "number of functions", requirement: "between 1 and 16" }.into());
        }
        let polynomials: Vec<_> = functions.iter().flatten().map(|f| f.coefficients().to_vec()).collect();
        let mut series = Series::together(&polynomials, 2)?.into_iter();
        let pairs = functions.iter().map(|_| series.next().zip(series.next()).map(|(re, im)| [re, im]));
        let series = pairs.collect::<Option<Vec<_>>>().ok_or(CircuitError::ConstantPolynomial)?;
        Ok(Self { period, points, functions, series, tables: false })
    }

    /// Lookup tables, in order: `low + step m` becomes `entries[m]` of each, counting `m` modulo the number of entries.
    ///
    /// # Errors
    /// Those of [`Trigonometric::table`], [`CircuitError::Factor`] for tables of different lengths, a step that is zero or numbers that are not
    /// finite.
    pub fn tables(tables: &[[&[f64]; 2]], low: f64, step: f64, order: usize) -> Result<Self, Error> {
        let entries = tables.first().map_or(0, |[re, _]| re.len());
        if tables.iter().flatten().any(|table| table.len() != entries) {
            return Err(CircuitError::Factor { what: "lengths of tables", requirement: "equal" }.into());
        }
        if !(low.is_finite() && step.is_finite() && step > 0.0) {
            return Err(CircuitError::Factor { what: "step between values", requirement: "above 0" }.into());
        }
        let period = step * entries as f64;
        let one = |table: &[f64]| Trigonometric::table(table, order).map(|f| f.shifted(low / period));
        let both = |[re, im]: &[&[f64]; 2]| Ok([one(re)?, one(im)?]);
        let functions = tables.iter().map(both).collect::<Result<Vec<_>, Error>>()?;
        let points = (0..entries).map(|m| low + step * m as f64).collect();
        Ok(Self { tables: true, ..Self::new(period, points, functions)? })
    }

    /// Whether they are lookup tables, for which values count modulo the period.
    pub fn is_tables(&self) -> bool {
        self.tables
    }
    /// How far apart two values are that the functions do not distinguish.
    pub fn period(&self) -> f64 {
        self.period
    }
    /// The values on which the functions are wanted.
    pub fn points(&self) -> &[f64] {
        &self.points
    }
    /// The functions, of real and of imaginary parts.
    pub fn functions(&self) -> &[[Trigonometric; 2]] {
        &self.functions
    }
    /// The levels that they take below the exponential.
    pub fn depth(&self) -> usize {
        self.series[0][0].depth()
    }
    /// Whether imaginary parts have other functions than real ones.
    pub fn differ(&self) -> bool {
        self.functions.iter().any(|[re, im]| re != im)
    }
    /// Relinearizations below the exponential of so many parts.
    pub(super) fn relinearizations(&self, parts: Parts) -> usize {
        let powers = self.series[0][0].relinearizations() - self.series[0][0].products();
        let count = if parts == Parts::Real { 1 } else { 2 };
        let lines = self.series.iter().flat_map(|pair| &pair[..count]).map(Series::products);
        count * powers + lines.sum::<usize>()
    }

    /// The least scale of a power of an exponential at the level `top`, and of what such powers are multiplied with on the way to a result of
    /// this scale, on these moduli.
    pub fn least_scales(&self, moduli: &[f64], top: usize, result: f64) -> (f64, f64) {
        let last = (top + 1).saturating_sub(self.depth());
        let (mut power, mut factor) = (moduli[last], result);
        let (mut powers, mut factors) = (power, result);
        for modulus in &moduli[last..=top] {
            // The power of the last level has its prime as scale, which this leaves as it is.
            power = (power * modulus).sqrt();
            factor *= modulus / power;
            (powers, factors) = (powers.min(power), factors.min(factor));
        }
        (powers, factors)
    }

    /// The scale at which the exponential enters at a level: powers then end at the prime of the last level.
    pub(super) fn scale_in<E: Approximate>(&self, e: &E, level: usize) -> f64 {
        let last = (level + 1).saturating_sub(self.depth());
        (last + 1..=level).fold(e.modulus(last), |scale, level| (scale * e.modulus(level)).sqrt())
    }
}

impl EvalMod {
    /// The functions of exponentials: for each ciphertext, one result for each function. Real and imaginary parts, if there are
    /// both, follow one another in `exponentials`.
    pub(super) fn functional<E: Approximate>(
        &self,
        e: &E,
        functional: &Functional,
        (exponentials, parts): (&[E::Ciphertext], Parts),
        scale: f64,
    ) -> Result<Vec<E::Ciphertext>, Error> {
        let ends = |forms: &[Quadratic<'_, E::Ciphertext>]| {
            Ok(if self.rescales { e.quadratics(forms)? } else { e.unrescaled(forms)? })
        };
        let powers = functional.series[0][0].elements_of_all(e, exponentials)?;
        let of_parts = if parts == Parts::Real { 1 } else { 2 };
        let mut sums: Vec<Vec<E::Ciphertext>> = vec![Vec::new(); exponentials.len() / of_parts];
        let mut turned = sums.clone();
        for [re, im] in &functional.series {
            let found = if of_parts == 1 || re == im {
                re.evaluate_all_on(e, &powers, scale, &ends)?
            } else {
                let of = |part: usize| powers.iter().skip(part).step_by(2).cloned().collect::<Vec<_>>();
                let res = re.evaluate_all_on(e, &of(0), scale, &ends)?;
                let ims = im.evaluate_all_on(e, &of(1), scale, &ends)?;
                res.into_iter().zip(ims).flat_map(|(re, im)| [re, im]).collect()
            };
            for (number, found) in found.chunks(of_parts).enumerate() {
                match found {
                    [re, im] => {
                        let im = e.mul_i(im)?;
                        sums[number].push(e.add(re, &im)?);
                        turned[number].push(e.sub(re, &im)?);
                    }
                    _ => {
                        sums[number].extend_from_slice(found);
                        turned[number].extend_from_slice(found);
                    }
                }
            }
        }
        let conjugates = e.conjugates(&turned.concat())?;
        let both = sums.concat().into_iter().zip(&conjugates);
        Ok(both.map(|(sum, conjugate)| e.add(&sum, conjugate)).collect::<Result<_, _>>()?)
    }
}

/// What a functional bootstrap makes of an exponential that is off.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sensitivity {
    /// Half of the largest second derivative by the value: errors of the argument, squared, times this.
    pub square: f64,
    /// The largest derivative by the value: zero for tables.
    pub slope: f64,
    /// The largest derivative by the size of the exponential.
    pub by_size: f64,
    /// The largest absolute value of a result.
    pub largest: f64,
}

impl Functional {
    /// The largest of all functions, on their values.
    pub fn sensitivity(&self) -> Sensitivity {
        let all = self.functions.iter().flatten().flat_map(|f| self.points.iter().map(move |v| (f, v / self.period)));
        let none = Sensitivity { square: 0.0, slope: 0.0, by_size: 0.0, largest: 0.0 };
        all.fold(none, |most, (f, x)| Sensitivity {
            square: most.square.max(0.5 * f.curvature(x).abs() / self.period.powi(2)),
            slope: most.slope.max(f.slope(x).abs() / self.period),
            by_size: most.by_size.max(f.by_size(x).abs()),
            largest: most.largest.max(f.value(x).abs()),
        })
    }

    /// The least distance of two different results of one function.
    pub fn least_difference(&self) -> f64 {
        let of = |f: &Trigonometric| {
            let mut values: Vec<f64> = self.points.iter().map(|v| f.value(v / self.period)).collect();
            values.sort_by(f64::total_cmp);
            // Equal entries differ by what the transform rounds.
            let gaps = values.windows(2).map(|pair| pair[1] - pair[0]).filter(|gap| *gap > ROUNDED);
            gaps.fold(f64::INFINITY, f64::min)
        };
        self.functions.iter().flatten().map(of).fold(f64::INFINITY, f64::min)
    }

    /// By how much an error of a value moves a result at most.
    pub fn displacement(&self, error: f64) -> f64 {
        let all = self.functions.iter().flatten().flat_map(|f| self.points.iter().map(move |v| (f, v)));
        let moved = |(f, v): (&Trigonometric, &f64)| {
            let wanted = f.value(v / self.period);
            [v - error, v + error].map(|v| (f.value(v / self.period) - wanted).abs())
        };
        all.flat_map(moved).fold(0.0, f64::max)
    }

    /// The largest error of a value, up to half a step of so many points, with which every result is within `most` of what it should be.
    pub fn largest_error(&self, most: f64) -> f64 {
        let half = 0.5 * self.period / self.points.len() as f64;
        let mut found = 0.0;
        for step in 1..=STEPS {
            let error = half * 2f64.powf(f64::from(step - STEPS) / 4.0);
            if self.displacement(error) > most {
                break;
            }
            found = error;
        }
        found
    }

    /// Arguments of the exponential for an overflow `i`, with the values of the functions of real parts there.
    pub(super) fn cases(&self, i: f64) -> Vec<(f64, Vec<f64>)> {
        let values = |x: f64| self.functions.iter().map(|[re, _]| re.value(x)).collect();
        self.points.iter().map(|v| v / self.period).map(|x| (i + (x - x.round()), values(x))).collect()
    }

    /// Those of imaginary parts too, as functions of real ones.
    pub(super) fn of_real_parts(&self) -> Self {
        let mut all = self.clone();
        if self.differ() {
            let turned = |[re, im]: &[Trigonometric; 2]| [im.clone(), re.clone()];
            all.functions.extend(self.functions.iter().map(turned));
            let turned = |[re, im]: &[Series; 2]| [im.clone(), re.clone()];
            all.series.extend(self.series.iter().map(turned));
        }
        all
    }
}

/// Differences of results below this are roundings.
const ROUNDED: f64 = 1e-9;

/// Errors that are tried, four to an octave, down to 2^-16 of half a step.
const STEPS: i32 = 64;

/// Complex numbers of the results at given values, for tests and models.
impl Functional {
    /// What the functions make of these slots: of both parts, or of the real one only.
    pub fn values(&self, slots: &[Complex64], parts: Parts) -> Vec<Vec<Complex64>> {
        let of = |[re, im]: &[Trigonometric; 2]| {
            let one = |z: &Complex64| {
                let imaginary = if parts == Parts::Real { 0.0 } else { im.value(z.im / self.period) };
                Complex64::new(re.value(z.re / self.period), imaginary)
            };
            slots.iter().map(one).collect()
        };
        self.functions.iter().map(of).collect()
    }
}
