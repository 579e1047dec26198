//! SHIP (eprint 2025/784): pack, encapsulate, roots, product, real part; for few slots SPRU (eprint 2025/651), which selects in place of rotating.
//!
//! No polynomial of the message's overflow is evaluated. Under a sparse secret the phase of a ciphertext is a short sum of public coefficients,
//! so `omega` to the phase is a short product of public roots of unity, each rotated by a secret position ([`keys`]), and `omega` forgets the
//! multiples of q0 by itself. Five levels of products leave the sine, or the cosine for bits; the chain is as short as that.

pub mod encapsulation;
pub mod keys;
pub mod params;
mod rules;
pub mod steps;
pub mod support;

pub use keys::{generate, RotationShape, ShipKeys};
pub use params::{rotation_shape, ShipParams, TABLE};
pub use rules::Rules;

use crate::ckks::request::{KeySize, Method, Request, MAX_BOUND};
use crate::ckks::steps::apply::Apply;
use crate::ckks::steps::trace::Trace;
use crate::error::Error;
use crate::plan::Plan;
use crate::step::{Scaled, Stage};
use aglet_circuits::dft::slots_to_coeffs;
use aglet_rlwe::Params;
use aglet_schemes::ckks::CkksParams;
use encapsulation::digit_count;
use num_complex::Complex64;
use std::f64::consts::PI;
use steps::encapsulate::Encapsulate;
use steps::factors::Factors;
use steps::gather::Gather;
use steps::one_hot::OneHotFactors;
use steps::pack::{Pack, PackSlots, PACK_LEVEL};
use steps::product::{factor_scale, Product};
use steps::real_part::RealPart;
use steps::Ship;

/// q0 over the scale at which bits become coefficients: 0 and 1 stand where the cosine is flat.
const BITS_RATIO: f64 = 2.0;

/// The most slots of SPRU, and the most plaintexts that a factor is selected from: with more of either, SHIP is as fast.
const MOST_SLOTS: usize = 64;
const MOST_PLAINTEXTS: usize = 512;

/// Whether so many slots are few enough for SPRU.
fn few(params: &CkksParams, slots: usize) -> bool {
    let one_hot = rotation_shape(params).and_then(|shape| shape.selecting(params.n(), slots)?.one_hot);
    slots <= MOST_SLOTS
        && slots < params.slots()
        && one_hot.is_some_and(|one_hot| one_hot.plaintexts <= MOST_PLAINTEXTS)
}

/// How rotations are cut for a message in so many slots; `None` for a set without SHIP.
fn shape_for(params: &CkksParams, slots: usize) -> Option<RotationShape> {
    let shape = rotation_shape(params)?;
    match few(params, slots) {
        true => shape.selecting(params.n(), slots),
        false => Some(shape),
    }
}

/// The most slots, below all of the ring, that SPRU may have; 0 for none.
#[must_use]
pub fn few_slots(params: &CkksParams) -> usize {
    (0..=MOST_SLOTS.ilog2()).map(|i| 1 << i).filter(|&slots| few(params, slots)).max().unwrap_or(0)
}

/// Refuses what SHIP has not. Without `coeffs_to_slots` there is no number of stages to choose, so only 1 is taken.
///
/// # Errors
/// [`Error::NotByMethod`].
fn check(params: &CkksParams, request: Request) -> Result<(), Error> {
    let refuse = |what: &str| {
        Err(Error::NotByMethod { preset: params.name().to_string(), method: "SHIP", what: what.to_string() })
    };
    let level = params.max_level();
    match request {
        Request { size: KeySize::Medium | KeySize::Small, .. } => refuse("has keys of one size; take size=\"large\""),
        Request { stage_count, .. } if stage_count != 1 => {
            refuse("has no coeffs_to_slots, whose number of stages stage_count sets; leave stage_count out")
        }
        Request { method: Method::Lossy | Method::Sign | Method::Merge | Method::LossyMerge, .. } => {
            refuse("refreshes numbers (regular) and bits; take one of these")
        }
        Request { slots, .. } if slots != params.slots() && !few(params, slots) => {
            let most = few_slots(params);
            refuse(&format!(
                "takes all slots of the ring, or few of them; leave slot_count out or choose a power of two up to {most}"
            ))
        }
        Request { target_level: Some(wanted), .. } if wanted != level => {
            refuse("leaves one level; leave target_level out")
        }
        _ => Ok(()),
    }
}

/// q0 over the scale of coefficients.
fn message_ratio(params: &CkksParams) -> f64 {
    params.message_ratio_log2().unwrap_or(0.0).exp2()
}

/// What becomes of a phase: the real part of `amplitude omega^phase`, twice, and an offset.
struct Wave {
    /// q0 over the scale of coefficients.
    ratio: f64,
    amplitude: Complex64,
    offset: f64,
}

/// What the sine is multiplied by. It falls short of `x` by `c x^3`, `c = (2 pi / ratio)^2 / 6`; times `1 + 3 c / 4` it is nowhere in
/// `[-1, 1]` farther from `x` than `c / 4` (and terms in `c^2`), as a Chebyshev polynomial is what is left.
fn stretch(ratio: f64) -> f64 {
    1.0 + (PI / ratio).powi(2) / 2.0
}

/// How far a number in `[-1, 1]` may be from what becomes of it without noise, `ratio` that of q0 and the scale of coefficients.
#[must_use]
pub fn error_of_sine(ratio: f64) -> f64 {
    let (radians, stretch) = (2.0 * PI / ratio, stretch(ratio));
    let error = |x: f64| (stretch * (radians * x).sin() / radians - x).abs();
    // It grows to where the slope is 1, and is as large again at the end.
    error((1.0 / stretch).acos() / radians).max(error(1.0))
}

impl Wave {
    /// The sine, near 0 the message itself, or for bits the cosine.
    fn of(method: Method, ratio: f64) -> Self {
        match method {
            Method::Bits => Self { ratio: BITS_RATIO, amplitude: Complex64::new(-0.25, 0.0), offset: 0.5 },
            _ => Self { ratio, amplitude: Complex64::new(0.0, -stretch(ratio) * ratio / (4.0 * PI)), offset: 0.0 },
        }
    }
}

/// Lays out the stages for a request and proves their levels and scales.
///
/// # Errors
/// [`Error::NotByMethod`] for what SHIP has not, [`Error::Chain`] if the chain has not the levels, [`Error::Bound`] for a bound outside `(0, 2^18]`.
pub fn plan(params: &CkksParams, request: Request) -> Result<Plan<Ship>, Error> {
    let (Some(shape), Some(ship)) = (shape_for(params, request.slots), ShipParams::of(params)) else {
        return Err(Error::NotForBootstrap { preset: params.name().to_string() });
    };
    check(params, request)?;
    let moduli: Vec<f64> = params.q().iter().map(|&q| q as f64).collect();
    let (level, scale_in) = (params.max_level(), params.scale_at(0));
    let product = Product { factors: shape.support.weight + 1 };
    let (top, end) = (moduli.len() - 1, PACK_LEVEL + level);
    if top != end + product.levels() || params.hidden_levels() != PACK_LEVEL {
        return Err(Error::Chain { primes: moduli.len(), needed: end + product.levels() + 1 });
    }
    if !(request.bound > 0.0 && request.bound <= MAX_BOUND) {
        return Err(Error::Bound { bound: request.bound, max: MAX_BOUND });
    }
    let parts = if request.real { 1 } else { 2 };
    let wave = Wave::of(request.method, message_ratio(params));
    let packed = moduli[0] / wave.ratio;
    let out = params.scale_at(level) * request.bound;
    let primes: Vec<f64> = moduli[end + 1..].iter().rev().copied().collect();
    let leaf = factor_scale(out, &primes);
    let raised = params.raised()?;
    let digits = digit_count(64 - params.q()[0].leading_zeros(), ship.digit_bits);
    let by = Encapsulate { weight: shape.support.weight, digits, bits: ship.digit_bits };
    let few = shape.one_hot.is_some();
    let (raised_ratio, variance) = ratio_and_variance(params, &raised, &shape, leaf);
    let factors = Factors { shape, parts, amplitude: wave.amplitude, raised_ratio, variance };
    let mut list = Vec::new();
    let mut at = Scaled { level: PACK_LEVEL, scale: scale_in };
    let mut push = |name: &str, step: Ship, level: usize, scale: f64| {
        let to = Scaled { level, scale };
        list.push(Stage { name: name.into(), step, from: at, to });
        at = to;
    };
    let (packing, step) = to_coefficients(params, request, packed, few)?;
    push(packing, step, 0, packed);
    push("encapsulate", by.into(), 0, packed);
    if few {
        let sum = trace(&factors.shape);
        push("select", OneHotFactors(factors).into(), top, leaf);
        if let Some(trace) = sum {
            push("trace", trace.into(), top, leaf);
        }
        push("product", Gather { slots: request.slots, product }.into(), end, out);
    } else {
        push("roots", factors.into(), top, leaf);
        push("product", product.into(), end, out);
    }
    push("real_part", RealPart { parts, offset: wave.offset }.into(), end, out);
    Plan::new(list, &moduli)
}

/// The first stage, by its name: all slots are packed as coefficients at the scale `packed`, few of them by a map.
fn to_coefficients(
    params: &CkksParams,
    request: Request,
    packed: f64,
    few: bool,
) -> Result<(&'static str, Ship), Error> {
    let scale_ratio = packed / params.scale_at(0);
    if !few {
        return Ok(("pack", PackSlots(Pack { factor: 1.0 / request.bound, scale_ratio }).into()));
    }
    let factor = Complex64::new(1.0 / request.bound, 0.0);
    let mut maps = slots_to_coeffs(request.slots, 1, factor, request.size.steps())?;
    let map = maps.remove(0).repeated(params.slots())?;
    Ok(("slots_to_coeffs", Apply { map, level: PACK_LEVEL, scale_ratio }.into()))
}

/// The sum of the blocks that SPRU selects factors from; `None` for a single one.
fn trace(shape: &RotationShape) -> Option<Trace> {
    let one_hot = shape.one_hot.filter(|one_hot| one_hot.blocks > 1)?;
    let lengths: Vec<usize> = (0..one_hot.blocks.ilog2()).map(|i| (one_hot.numbers * one_hot.factors) << i).collect();
    // Four at a time share a decomposition, for one key more than two and two.
    let sums = lengths.chunks(2).map(|sum| (1..1usize << sum.len()).map(|i| i * sum[0]).collect());
    Some(Trace { sums: sums.collect() })
}

/// The product of the raised primes over that of the chain, and the variance of a factor that comes from there at its scale, before it is rounded.
fn ratio_and_variance(params: &Params, raised: &Params, shape: &RotationShape, leaf: f64) -> (f64, f64) {
    let ratio = raised.q().iter().zip(params.q()).fold(1.0, |ratio, (&r, &q)| ratio * (r as f64 / q as f64));
    // The lists may differ in length.
    let rest = |list: &[u64], from: usize| list.iter().skip(from).map(|&q| q as f64).product::<f64>();
    let both = raised.q().len().min(params.q().len());
    let ratio = ratio * rest(raised.q(), both) / rest(params.q(), both);
    let square = params.secret().squared_norm(params.n());
    (ratio, shape.noise(raised, square, leaf * ratio) / (ratio * ratio))
}
