//! From CKKS to FHEW: slots of a ciphertext become LWE ciphertexts under a FHEW key.

use super::{fits_cells, SchemeSwitch, SchemeSwitchKey, ToFhewPipeline};
use crate::ckks::arithmetic::check_owner;
use crate::ckks::{BootstrapKey, Ciphertext, KeySize, Request};
use crate::fhew::{Integer, Message, Unsigned};
use crate::{Control, Error, MissingKeyError, ParameterError, RangeError};
use aglet_bootstrap::ckks::slots_first::lowering;
use aglet_bootstrap::BootstrapCircuit;
use aglet_bootstrap::Pipeline;
use aglet_ring::reversal::reversed;
use aglet_rlwe::lwe::{LweCiphertext, LweContext};
use aglet_rlwe::ring_switch::{self, LargeToSmallKey, SwitchedSample};
use aglet_schemes::ckks::params::Role;
use aglet_schemes::ckks::stated::{fresh, in_slots, rounding};
use aglet_schemes::ckks::CkksEvaluator;
use aglet_schemes::fhew::from_bit;
use aglet_schemes::Evaluator;
use std::sync::Arc;

/// As what slots are read.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Reading {
    /// 0 and 1, as bits of gates.
    Bits,
    /// 0 to p - 1, as messages of tables.
    Message(Message),
    /// Real numbers of this size at most, 1 for those from -1 to 1, as integers of this many bits: x as `x 2^(bits - 1) / size`, with
    /// all digits that it has below.
    Real(Integer, f64),
    /// Whole numbers from 0 on, as unsigned integers of this many bits, for digits and floors.
    Unsigned(Unsigned),
}

impl Reading {
    /// The part of the torus that the value 1 takes.
    pub(super) fn torus(self) -> f64 {
        match self {
            Self::Bits => 0.25,
            Self::Message(message) => 1.0 / message.torus() as f64,
            Self::Real(integer, size) => integer.largest_on_torus() / size,
            Self::Unsigned(unsigned) => (-f64::from(unsigned.bits())).exp2(),
        }
    }
    /// The largest size of a value.
    pub(super) fn most(self) -> f64 {
        match self {
            Self::Message(message) => (message.space() - 1) as f64,
            Self::Bits => 1.0,
            Self::Real(_, size) => size,
            Self::Unsigned(unsigned) => f64::from(unsigned.bits()).exp2() - 1.0,
        }
    }
    /// The largest size of what is read as one of its values: what is nearly a whole number is that number.
    fn room(self) -> f64 {
        match self {
            Self::Real(_, size) => size * (1.0 + ENDS),
            _ => self.most() + NEARLY,
        }
    }
}

/// Which parts of slots go to FHEW.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Parts {
    /// Real parts.
    Real,
    /// Imaginary parts.
    Imaginary,
    /// The real parts of all, then the imaginary parts of all.
    Both,
}

impl Parts {
    /// Whether each is an imaginary part, in the order of the results.
    fn imaginary(self) -> &'static [bool] {
        match self {
            Self::Real => &[false],
            Self::Imaginary => &[true],
            Self::Both => &[false, true],
        }
    }
}

/// Refuses slots that an engine with so many has not.
pub(super) fn check_slots(slots: &[usize], count: usize) -> Result<(), Error> {
    match slots.iter().find(|&&slot| slot >= count) {
        Some(&slot) => Err(RangeError::NoSlot { slot, count }.into()),
        None => Ok(()),
    }
}

/// Refuses values that are known to be larger than what is read, or stated to be possibly so.
fn check_size(ct: &Ciphertext, reading: Reading) -> Result<(), Error> {
    let (most, room) = (reading.most(), reading.room());
    // Of a complex message the size alone is known, and whole numbers that fit have one of so much.
    let whole = if ct.real { room } else { room * std::f64::consts::SQRT_2 };
    if ct.known.at_least().is_some_and(|size| size > whole) {
        return Err(RangeError::AboveReading { most }.into());
    }
    let (bound, most_stated) = (ct.stated.bound, if matches!(reading, Reading::Real(..)) { room } else { whole });
    if bound.is_finite() && bound > most_stated {
        return Err(RangeError::ReadingBound { bound, most }.into());
    }
    Ok(())
}

/// These coefficients of what went to FHEW, as ciphertexts of what they are read as. Bits of gates stand on both sides of zero.
pub(super) fn extracted(
    lowered: &SwitchedSample,
    (between, fhew): (&ring_switch::RingSwitch, &LweContext),
    at: &[usize],
    reading: Reading,
) -> Result<Vec<LweCiphertext>, Error> {
    let mut cts = lowered.extract(between, fhew, at)?;
    if reading == Reading::Bits {
        cts.iter_mut().for_each(|ct| ct.add_phase(fhew, from_bit(fhew, false)));
    }
    Ok(cts)
}

/// A conversion to FHEW whose maps are encoded: the request of the key, the fraction of the torus that 1 becomes.
#[derive(Clone, Copy, PartialEq)]
pub(super) struct Conversion(Request, f64);

impl Conversion {
    /// The part of the torus that the value 1 takes.
    pub(super) fn torus(&self) -> f64 {
        self.1
    }
}

/// How far from a whole number a slot may be known to be.
const NEARLY: f64 = 0.25;
/// Of what real numbers may be known to be beyond the ends: rounding in a bound that was computed. Noise has a 34th of the torus there.
const ENDS: f64 = 1.0 / 65_536.0;

impl SchemeSwitch {
    /// Parts of some slots as LWE ciphertexts under the FHEW key, in the order given, as often as they are named. From any level;
    /// rotations come from a bootstrap key for the slots of the engine. Each carries its noise, that which the ciphertext states of its slots
    /// included, so that lookups which would fail refuse it. [`ckks::Engine::assume`](crate::ckks::Engine::assume) adds what a
    /// ciphertext does not state.
    ///
    /// # Errors
    /// [`Error::Range`] for a slot that does not exist, a message that is known or stated to be too large, or one whose noise is not known,
    /// [`Error::MissingKey`] for a small bootstrap key or one for other slots, [`Error::Memory`] for more slots than fit into memory,
    /// keys that do not belong together, [`Error::Cancelled`].
    pub fn to_fhew(
        &self,
        ct: &Ciphertext,
        (slots, parts): (&[usize], Parts),
        reading: Reading,
        (key, bootstrap): (&SchemeSwitchKey, &BootstrapKey),
        control: &Control,
    ) -> Result<Vec<LweCiphertext>, Error> {
        self.check(ct, slots, reading, (key, bootstrap))?;
        fits_cells(&self.fhew.ctx, slots.len() * parts.imaginary().len())?;
        let noise = self.noise(ct.stated.noise, reading);
        let circuit = self.slots.circuit(bootstrap.request())?;
        let ctx = self.slots.context_of(&circuit.params)?;
        let keys = bootstrap.on_chain(&circuit.params);
        let fhew = &self.fhew.ctx;
        self.slots.run(|| {
            self.fits_to_fhew(ct, (&circuit, &keys), Conversion(circuit.request, reading.torus()))?;
            let e = CkksEvaluator::new(&ctx, &keys, ctx.params().n() / 2).stopped_by(control.flag());
            let pipeline = self.pipeline(&e, &circuit, reading)?;
            let lowest = self.slots.adjust(ct, 0)?;
            let input = e.level_down(&lowest, pipeline.plan().input().level)?;
            let out = pipeline.run(&e, std::slice::from_ref(&input), &mut ())?.remove(0);
            let lowered = key.large_to_small.apply(&self.between, fhew, (ctx.ring(), &out.sample), noise)?;
            let part = |&part: &bool| slots.iter().map(move |&slot| self.coefficient(slot, part));
            let at: Vec<usize> = parts.imaginary().iter().flat_map(part).collect();
            extracted(&lowered, (&self.between, fhew), &at, reading)
        })
    }

    /// Refuses what cannot go to FHEW before any work is done on it.
    fn check(
        &self,
        ct: &Ciphertext,
        slots: &[usize],
        reading: Reading,
        (key, bootstrap): (&SchemeSwitchKey, &BootstrapKey),
    ) -> Result<(), Error> {
        let count = self.slots.slots();
        check_slots(slots, count)?;
        if ct.degree() != 1 {
            return Err(aglet_rlwe::Error::Degree { degree: ct.degree() }.into());
        }
        check_owner(ct, "switching key", key.id())?;
        check_owner(ct, "bootstrap key", bootstrap.id())?;
        if bootstrap.size() == KeySize::Small || bootstrap.request().slots != count {
            return Err(MissingKeyError::ToFhew { count }.into());
        }
        check_size(ct, reading)?;
        match ct.stated.noise.is_finite() {
            true => Ok(()),
            false => Err(RangeError::UnknownToRead.into()),
        }
    }

    /// The variance over q0 squared that a coefficient has before the ring switch: the error of the slots, of which each part has
    /// half, and what the way to level 0 and the linear maps round, each no more than a rescale at the scale of level 0. Diagonals are
    /// rounded at the size of the primes of slots_to_coeffs.
    fn noise(&self, stated: f64, reading: Reading) -> f64 {
        let (params, most) = (self.slots.params(), reading.most());
        let scale = params.scale_at(0);
        let stated = stated + most / scale;
        let rescale = in_slots(params.slots(), rounding(&self.slots.ctx, 2), scale);
        let rescales = (params.hidden_levels() + 1) as f64;
        let prime = params.q()[params.role(Role::SlotsToCoeffs)].iter().min().map_or(scale, |&q| q as f64);
        let diagonals = most / prime * ((rescales - 1.0) * params.slots() as f64 / 6.0).sqrt();
        reading.torus().powi(2) / 2.0 * (stated * stated + rescales * rescale * rescale + diagonals * diagonals)
    }

    /// The variance, on the torus, that slots of fresh ciphertexts (encrypted by the secret key) have after the conversion to FHEW, or of sums
    /// and differences of `terms` such.
    #[must_use]
    pub fn fresh_variance(&self, reading: Reading, terms: usize) -> f64 {
        let (params, ctx) = (self.slots.params(), &self.slots.ctx);
        let slot = in_slots(params.slots(), fresh(ctx, true), params.scale_at(0));
        self.noise(terms as f64 * slot, reading) + LargeToSmallKey::noise(&self.between, &self.fhew.ctx)
    }

    /// The pipeline of a conversion to FHEW, which is kept encoded.
    fn pipeline(
        &self,
        e: &CkksEvaluator<'_>,
        circuit: &BootstrapCircuit,
        reading: Reading,
    ) -> Result<Arc<ToFhewPipeline>, Error> {
        let conversion = Conversion(circuit.request, reading.torus());
        self.kept.0.get(conversion, || {
            let layout = circuit.layout.as_ref().ok_or(ParameterError::RaisesNothing)?;
            Ok(Pipeline::new(e, lowering(layout, reading.torus())?)?)
        })
    }

    /// The coefficient of a part of a slot: the DFT leaves slots in bit-reversed order, the copies of sparse slots between them, and
    /// imaginary parts behind all real ones.
    pub(super) fn coefficient(&self, slot: usize, imaginary: bool) -> usize {
        let (slots, all) = (self.slots.slots(), self.slots.params().slots());
        reversed(slot, slots) * (all / slots) + if imaginary { all } else { 0 }
    }
}
