//! Bootstraps by roots of unity (SHIP, eprint 2025/784): pack, encapsulate, roots, product, real part.
//!
//! No polynomial of the message's overflow is evaluated. Under a sparse secret the phase of a ciphertext is a short sum of public coefficients,
//! so `omega` to the phase is a short product of public roots of unity, each in a secret place ([`aglet_rlwe::rotor`]), and `omega` forgets the
//! multiples of q0 by itself. Five levels of products leave the sine, or the cosine for bits; the chain is as short as that.

pub mod steps;

use crate::error::Error;
use crate::plan::Plan;
use crate::slots_first::steps::eval_mod::Function;
use crate::slots_first::steps::linear::Apply;
use crate::slots_first::steps::trace::Trace;
use crate::slots_first::{KeySize, Layout, Method, Request, MAX_BOUND};
use crate::step::{Scaled, Stage};
use aglet_circuits::dft::slots_to_coeffs;
use aglet_rlwe::encapsulate::digit_count;
use aglet_rlwe::{Params, RotorShape};
use aglet_schemes::approximate::PACK_LEVEL;
use aglet_schemes::ckks::CkksParams;
use aglet_schemes::Pack;
use num_complex::Complex64;
use std::f64::consts::PI;
use steps::choose::Choose;
use steps::encapsulate::Encapsulate;
use steps::gather::Gather;
use steps::pack::PackSlots;
use steps::product::{factor_scale, Product};
use steps::real_part::RealPart;
use steps::roots::Roots;
use steps::Ship;

/// q0 over the scale at which bits become coefficients: 0 and 1 stand where the cosine is flat.
const BITS_RATIO: f64 = 2.0;

/// Few slots at most, and plaintexts that a factor is chosen from: with more of either, rotations of roots of unity are as fast.
const MOST_SLOTS: usize = 64;
const MOST_PLAINTEXTS: usize = 512;

/// Whether so many slots are few: factors are chosen.
fn few(params: &CkksParams, slots: usize) -> bool {
    let choice = params.rotor_shape().and_then(|shape| shape.choosing(params.n(), slots)?.choice);
    slots <= MOST_SLOTS && slots < params.slots() && choice.is_some_and(|choice| choice.plaintexts <= MOST_PLAINTEXTS)
}

/// The most slots, below all of the ring, that a bootstrap by roots of unity may have; 0 for none.
#[must_use]
pub fn few_slots(params: &CkksParams) -> usize {
    (0..=MOST_SLOTS.ilog2()).map(|i| 1 << i).filter(|&slots| few(params, slots)).max().unwrap_or(0)
}

/// The request that the keys for this one are made for: all of a set are the same.
#[must_use]
pub fn request_of_key(request: Request) -> Request {
    Request::new(Method::Regular, request.stage_count, request.size, request.slots)
}

/// Lays out a request. The number of stages has no meaning: there is one of each, and no other number is taken.
///
/// # Errors
/// [`Error::NotByRoots`] for what such a bootstrap has not.
pub fn layout(params: &CkksParams, request: Request) -> Result<Layout, Error> {
    let refuse = |what: &str| Err(Error::NotByRoots { preset: params.name().to_string(), what: what.to_string() });
    let level = params.max_level();
    match request {
        Request { size: KeySize::Medium | KeySize::Small, .. } => {
            return refuse("has keys of one size; take size=\"large\"")
        }
        Request { stage_count, .. } if stage_count != 1 => {
            return refuse("has no maps that stages are cut from, so stage_count has no meaning; leave it out")
        }
        Request { method: Method::Lossy | Method::Sign | Method::Merge | Method::LossyMerge, .. } => {
            return refuse("refreshes numbers (regular) and bits; take one of these")
        }
        Request { slots, .. } if slots != params.slots() && !few(params, slots) => {
            let most = few_slots(params);
            return refuse(&format!(
                "takes all slots of the ring, or few of them; leave slot_count out or choose a power of two up to {most}"
            ));
        }
        Request { target_level: Some(wanted), .. } if wanted != level => {
            return refuse("leaves one level; leave target_level out")
        }
        _ => {}
    }
    Ok(Layout {
        request: Request { target_level: None, ..request },
        ring_slots: params.slots(),
        function: Function::Identity { harmonics: 1 },
        packed: false,
        level,
        moduli: params.q().iter().map(|&q| q as f64).collect(),
        exchanged: None,
        hidden: params.hidden_levels(),
        sparse_weight: params.ephemeral_weight().unwrap_or(0),
        message_ratio: params.message_ratio_log2().unwrap_or(0.0).exp2(),
        scale_in: params.scale_at(0),
        scale_out: params.scale_at(level),
    })
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
    let (turn, stretch) = (2.0 * PI / ratio, stretch(ratio));
    let error = |x: f64| (stretch * (turn * x).sin() / turn - x).abs();
    // It grows to where the slope is 1, and is as large again at the end.
    error((1.0 / stretch).acos() / turn).max(error(1.0))
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
/// [`Error::Chain`] if the chain has not the levels, [`Error::Bound`] for a bound outside `(0, 2^18]`.
pub fn plan(layout: &Layout, params: &CkksParams) -> Result<Plan<Ship>, Error> {
    let scheme = aglet_schemes::Error::from;
    let (Some(shape), Some(ship)) = (params.rotor_shape(), &params.literal().ship) else {
        return Err(Error::NotForBootstrap { preset: params.name().to_string() });
    };
    let Layout { request, ref moduli, .. } = *layout;
    let product = Product { factors: shape.places.weight + 1 };
    let (top, end) = (moduli.len() - 1, PACK_LEVEL + layout.level);
    if top != end + product.levels() || layout.hidden != PACK_LEVEL {
        return Err(Error::Chain { primes: moduli.len(), needed: end + product.levels() + 1 });
    }
    if !(request.bound > 0.0 && request.bound <= MAX_BOUND) {
        return Err(Error::Bound { bound: request.bound, max: MAX_BOUND });
    }
    let parts = if request.real { 1 } else { 2 };
    let wave = Wave::of(request.method, layout.message_ratio);
    let packed = moduli[0] / wave.ratio;
    let out = layout.scale_out * request.bound;
    let primes: Vec<f64> = moduli[end + 1..].iter().rev().copied().collect();
    let leaf = factor_scale(out, &primes);
    let raised = params.raised().map_err(scheme)?;
    let digits = digit_count(64 - params.q()[0].leading_zeros(), ship.digit_bits);
    let by = Encapsulate { weight: shape.places.weight, digits, bits: ship.digit_bits };
    let choosing = few(params, request.slots).then(|| shape.choosing(params.n(), request.slots)).flatten();
    let (few, shape) = (choosing.is_some(), choosing.unwrap_or(shape));
    let (raised_ratio, variance) = ratio_and_variance(params, &raised, &shape, leaf);
    let roots = Roots { shape, parts, amplitude: wave.amplitude, raised_ratio, variance };
    let mut list = Vec::new();
    let mut at = Scaled { level: PACK_LEVEL, scale: layout.scale_in };
    let mut push = |name: &str, step: Ship, level: usize, scale: f64| {
        let to = Scaled { level, scale };
        list.push(Stage { name: name.into(), step, from: at, to });
        at = to;
    };
    let (packing, step) = to_coefficients(layout, params, packed, few)?;
    push(packing, step, 0, packed);
    push("encapsulate", by.into(), 0, packed);
    if few {
        let sum = trace(&roots.shape);
        push("choose", Choose(roots).into(), top, leaf);
        if let Some(trace) = sum {
            push("trace", trace.into(), top, leaf);
        }
        push("product", Gather { slots: request.slots, product }.into(), end, out);
    } else {
        push("roots", roots.into(), top, leaf);
        push("product", product.into(), end, out);
    }
    push("real_part", RealPart { parts, offset: wave.offset }.into(), end, out);
    Plan::new(list, moduli)
}

/// The first stage, by its name: all slots are packed as coefficients at the scale `packed`, few of them by a map.
fn to_coefficients(
    layout: &Layout,
    params: &CkksParams,
    packed: f64,
    few: bool,
) -> Result<(&'static str, Ship), Error> {
    let (request, scale_ratio) = (layout.request, packed / layout.scale_in);
    if !few {
        return Ok(("pack", PackSlots(Pack { factor: 1.0 / request.bound, scale_ratio }).into()));
    }
    let factor = Complex64::new(1.0 / request.bound, 0.0);
    let mut maps = slots_to_coeffs(request.slots, 1, factor, request.size.steps())?;
    let map = maps.remove(0).repeated(params.slots())?;
    Ok(("slots_to_coeffs", Apply { map, level: PACK_LEVEL, scale_ratio }.into()))
}

/// The sum of the blocks that few slots choose factors from; `None` for a single one.
fn trace(shape: &RotorShape) -> Option<Trace> {
    let choice = shape.choice.filter(|choice| choice.blocks > 1)?;
    let lengths: Vec<usize> = (0..choice.blocks.ilog2()).map(|i| (choice.numbers * choice.factors) << i).collect();
    // Four at a time share a decomposition, for one key more than two and two.
    let sums = lengths.chunks(2).map(|sum| (1..1usize << sum.len()).map(|i| i * sum[0]).collect());
    Some(Trace { sums: sums.collect() })
}

/// The product of the raised primes over that of the chain, and the variance of a factor that comes from there at its scale, before it is rounded.
fn ratio_and_variance(params: &Params, raised: &Params, shape: &RotorShape, leaf: f64) -> (f64, f64) {
    let ratio = raised.q().iter().zip(params.q()).fold(1.0, |ratio, (&r, &q)| ratio * (r as f64 / q as f64));
    // The lists may differ in length.
    let rest = |list: &[u64], from: usize| list.iter().skip(from).map(|&q| q as f64).product::<f64>();
    let both = raised.q().len().min(params.q().len());
    let ratio = ratio * rest(raised.q(), both) / rest(params.q(), both);
    let square = params.secret().squared_norm(params.n());
    (ratio, shape.noise(raised, square, leaf * ratio) / (ratio * ratio))
}
