//! The two waves of eval_mod: the exponential, and the cosine if no other function of the angle is needed.

use super::coefficients::{ANY_COS, ANY_SIN, EXP_COS, EXP_SIN, NARROW_ANY_COS, NARROW_ANY_SIN, NARROW_COS, NARROW_SIN};
use super::{Function, DOUBLE_ANGLE, K, MAX_WEIGHT};
use crate::error::Error;
use aglet_circuits::polynomial::Series;
use num_complex::Complex64;
use std::f64::consts::TAU;

/// The function that the polynomial approximates at an eighth of the angle, and how the angle is doubled.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Wave {
    /// `exp(2 pi i x / 8)`, which is squared.
    Exponential(Fit),
    /// `D = 2 cos(2 pi (x - shift) / 8)`: `D^2 - 2` doubles the angle. It is real, so nothing has to be conjugated.
    Cosine {
        /// A quarter and any integer turn it into the sine.
        shift: f64,
    },
}

/// Where a polynomial is good.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Fit {
    /// On the shorter interval that a sparser secret leaves: by a lower degree.
    narrow: bool,
    /// Anywhere between integers, not only near them.
    anywhere: bool,
}

impl Fit {
    /// Near integers, for every secret.
    const NEAR: Self = Self { narrow: false, anywhere: false };

    /// Of the even and of the odd Chebyshev polynomials: the cosine and the sine.
    fn coefficients(self) -> (&'static [f64], &'static [f64]) {
        match self {
            Self { narrow: false, anywhere: false } => (&EXP_COS, &EXP_SIN),
            Self { narrow: true, anywhere: false } => (&NARROW_COS, &NARROW_SIN),
            Self { narrow: false, anywhere: true } => (&ANY_COS, &ANY_SIN),
            Self { narrow: true, anywhere: true } => (&NARROW_ANY_COS, &NARROW_ANY_SIN),
        }
    }
}

/// What is added to the shift that a function needs. Where the angle is a multiple of `pi`, four apart from this shift, the
/// cosine is at its end at every doubling, and an error grows by 64 and not by 8. The Dickson polynomials err most at zero,
/// so this place should be far from it.
const SHIFT: f64 = 2.0;

/// The interval of the narrow exponentials.
const NARROW_K: f64 = 15.0;

/// The largest weight that never leaves it.
const NARROW_WEIGHT: usize = 2 * (NARROW_K as usize - 1);

/// log2 of the message ratios that the one near integers is fitted for; larger ones want more bits of the angle.
const NARROW_RATIOS: [f64; 2] = [5.5, 8.25];

impl Wave {
    /// The cosine where the result is one, at its flat points: elsewhere it is the noisier of the two.
    pub(super) fn of(function: &Function) -> Self {
        match function {
            Function::Sign { normalized: false } => Self::Cosine { shift: SHIFT + 0.25 },
            Function::Bits { normalized: false } => Self::Cosine { shift: SHIFT },
            Function::Functional(_) => Self::Exponential(Fit { anywhere: true, ..Fit::NEAR }),
            _ => Self::Exponential(Fit::NEAR),
        }
    }

    /// The wave that does for `function` under a sparse secret of this weight.
    pub(super) fn under(function: &Function, message_ratio: f64, weight: usize) -> Self {
        let able = match function {
            Function::Identity { harmonics: 2 } => {
                (NARROW_RATIOS[0]..=NARROW_RATIOS[1]).contains(&message_ratio.log2())
            }
            Function::Functional(_) => true,
            _ => false,
        };
        match Self::of(function) {
            Self::Exponential(fit) => Self::Exponential(Fit { narrow: able && weight <= NARROW_WEIGHT, ..fit }),
            wave => wave,
        }
    }

    fn is_narrow(self) -> bool {
        matches!(self, Self::Exponential(Fit { narrow: true, .. }))
    }

    /// The polynomial is good for `|x|` up to this.
    pub(super) fn bound(self) -> f64 {
        if self.is_narrow() {
            NARROW_K
        } else {
            K
        }
    }

    /// The largest weight of a sparse secret that never leaves this interval.
    pub(super) fn max_weight(self) -> usize {
        if self.is_narrow() {
            NARROW_WEIGHT
        } else {
            MAX_WEIGHT
        }
    }

    /// The polynomial in `D_1 = 2x / K`, with the factor that [`DOUBLE_ANGLE`] squarings make `kappa` of.
    pub(super) fn series(self, kappa: f64) -> Result<Series, Error> {
        let factor = root(kappa, DOUBLE_ANGLE);
        let (even, odd, fit) = match self {
            Self::Exponential(fit) => (Complex64::new(factor, 0.0), Complex64::new(0.0, factor), fit),
            Self::Cosine { shift } => {
                let (sine, cosine) = (TAU * shift / f64::from(1 << DOUBLE_ANGLE)).sin_cos();
                let [even, odd] = [cosine, sine].map(|part| Complex64::new(2.0 * factor * part, 0.0));
                (even, odd, Fit::NEAR)
            }
        };
        let (cosine, sine) = fit.coefficients();
        let term = |k: usize| if k.is_multiple_of(2) { even * cosine[k / 2] } else { odd * sine[k / 2] };
        Ok(Series::from_chebyshev(&(0..cosine.len() + sine.len()).map(term).collect::<Vec<_>>())?.centred())
    }

    /// What is added to a square to double the angle, if so many squarings after it make the factor `kappa`.
    pub(super) fn constant(self, kappa: f64, squarings: usize) -> f64 {
        match self {
            Self::Exponential(_) => 0.0,
            Self::Cosine { .. } => -2.0 * root(kappa, squarings),
        }
    }
}

/// The factor that so many squarings make `kappa` of.
fn root(kappa: f64, squarings: usize) -> f64 {
    (0..squarings).fold(kappa, |root, _| root.sqrt())
}
