//! The two waves of eval_mod: the exponential, and the cosine if no other function of the angle is needed.

use super::coefficients::{ANY_COS, ANY_SIN, EXP_COS, EXP_SIN, NARROW_COS, NARROW_SIN};
use super::{Function, DOUBLE_ANGLE, K, MAX_WEIGHT};
use crate::error::Error;
use aglet_circuits::polynomial::Series;
use num_complex::Complex64;
use std::f64::consts::TAU;

/// The function that the polynomial approximates at an eighth of the angle, and how the angle is doubled.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Wave {
    /// `exp(2 pi i x / 8)`, which is squared.
    Exponential,
    /// The same for the shorter interval that a sparser secret leaves, by a polynomial of lower degree.
    NarrowExponential,
    /// The same as the first, where it is needed anywhere between integers.
    AnyExponential,
    /// `D = 2 cos(2 pi (x - shift) / 8)`: `D^2 - 2` doubles the angle. It is real, so nothing has to be conjugated.
    Cosine {
        /// A quarter and any integer turn it into the sine.
        shift: f64,
    },
}

/// What is added to the shift that a function needs. Where the angle is a multiple of `pi`, four apart from this shift, the
/// cosine is at its end at every doubling, and an error grows by 64 and not by 8. The Dickson polynomials err most at zero,
/// so this place should be far from it.
const SHIFT: f64 = 2.0;

/// The interval of the narrow exponential.
const NARROW_K: f64 = 15.0;

/// The largest weight that never leaves it.
const NARROW_WEIGHT: usize = 2 * (NARROW_K as usize - 1);

/// log2 of the message ratios that it is fitted for; larger ones want more bits of the angle.
const NARROW_RATIOS: [f64; 2] = [5.5, 8.25];

impl Wave {
    /// The cosine where the result is one, at its flat points: elsewhere it is the noisier of the two.
    pub(super) fn of(function: &Function) -> Self {
        match function {
            Function::Sign { normalized: false } => Self::Cosine { shift: SHIFT + 0.25 },
            Function::Bits { normalized: false } => Self::Cosine { shift: SHIFT },
            Function::Functional(_) => Self::AnyExponential,
            _ => Self::Exponential,
        }
    }

    /// The wave that does for `function` under a sparse secret of this weight.
    pub(super) fn under(function: &Function, message_ratio: f64, weight: usize) -> Self {
        let ratios = NARROW_RATIOS[0]..=NARROW_RATIOS[1];
        let able = matches!(function, Function::Identity { harmonics: 2 }) && ratios.contains(&message_ratio.log2());
        match Self::of(function) {
            Self::Exponential if able && weight <= NARROW_WEIGHT => Self::NarrowExponential,
            wave => wave,
        }
    }

    /// The polynomial is good for `|x|` up to this.
    pub(super) fn bound(self) -> f64 {
        match self {
            Self::NarrowExponential => NARROW_K,
            _ => K,
        }
    }

    /// The largest weight of a sparse secret that never leaves this interval.
    pub(super) fn max_weight(self) -> usize {
        match self {
            Self::NarrowExponential => NARROW_WEIGHT,
            _ => MAX_WEIGHT,
        }
    }

    /// The polynomial in `D_1 = 2x / K`, with the factor that [`DOUBLE_ANGLE`] squarings make `kappa` of.
    pub(super) fn series(self, kappa: f64) -> Result<Series, Error> {
        let factor = root(kappa, DOUBLE_ANGLE);
        let (even, odd) = match self {
            Self::Exponential | Self::NarrowExponential | Self::AnyExponential => {
                (Complex64::new(factor, 0.0), Complex64::new(0.0, factor))
            }
            Self::Cosine { shift } => {
                let (sine, cosine) = (TAU * shift / f64::from(1 << DOUBLE_ANGLE)).sin_cos();
                (Complex64::new(2.0 * factor * cosine, 0.0), Complex64::new(2.0 * factor * sine, 0.0))
            }
        };
        let (cosine, sine): (&[f64], &[f64]) = match self {
            Self::NarrowExponential => (&NARROW_COS, &NARROW_SIN),
            Self::AnyExponential => (&ANY_COS, &ANY_SIN),
            _ => (&EXP_COS, &EXP_SIN),
        };
        let term = |k: usize| if k.is_multiple_of(2) { even * cosine[k / 2] } else { odd * sine[k / 2] };
        Ok(Series::from_chebyshev(&(0..cosine.len() + sine.len()).map(term).collect::<Vec<_>>())?.centred())
    }

    /// What is added to a square to double the angle, if so many squarings after it make the factor `kappa`.
    pub(super) fn constant(self, kappa: f64, squarings: usize) -> f64 {
        match self {
            Self::Exponential | Self::NarrowExponential | Self::AnyExponential => 0.0,
            Self::Cosine { .. } => -2.0 * root(kappa, squarings),
        }
    }
}

/// The factor that so many squarings make `kappa` of.
fn root(kappa: f64, squarings: usize) -> f64 {
    (0..squarings).fold(kappa, |root, _| root.sqrt())
}
