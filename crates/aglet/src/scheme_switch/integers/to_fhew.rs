//! From integers to FHEW: slots of exact integers become LWE ciphertexts under a FHEW key.
//!
//! After the first stages of a bootstrap a number m is `m / t` of the torus, modulo q0. Times the integer nearest to t times the part of the
//! torus that lookups give to 1, and through a ring switch, its coefficient is what they take.

use crate::integer::{BootstrapKey, Ciphertext};
use crate::scheme_switch::to_fhew::{check_slots, extracted};
use crate::scheme_switch::{fits_cells, Reading};
use crate::scheme_switch::{IntegerSchemeSwitch, IntegerSchemeSwitchKey};
use crate::{Control, Error, ParameterError};
use aglet_ring::{Form, Multiplier};
use aglet_rlwe::lwe::LweCiphertext;
use aglet_rlwe::ring_switch::LargeToSmallKey;
use aglet_rlwe::Sample;
use aglet_schemes::integer::Noise;

/// Most bits of unsigned integers: 2^16 parts of the torus are not quite `1 / t` each, which is a sixteenth of a unit of this many bits at most.
const MOST_BITS: u32 = 12;
/// Rounding errors that the noise of a coefficient at q0 is as large as at most: that of the last map, and what it leaves of the input.
const ROUNDINGS: f64 = 2.0;

impl IntegerSchemeSwitch {
    /// Some slots as LWE ciphertexts under the FHEW key, in the order given, as often as they are named, each with its noise. Slots
    /// hold what a reading takes; others give numbers of no meaning.
    ///
    /// # Errors
    /// [`Error::Range`] for a slot that does not exist or integers of more than 20 bits, [`Error::Parameter`] for reals or integers of more than 12,
    /// [`Error::Level`] below the level of a bootstrap, [`Error::Noise`] for what a bootstrap would not take, keys that do not belong together, [`Error::Cancelled`].
    pub fn to_fhew(
        &self,
        ct: &Ciphertext,
        slots: &[usize],
        reading: Reading,
        (key, bootstrap): (&IntegerSchemeSwitchKey, &BootstrapKey),
        control: &Control,
    ) -> Result<Vec<LweCiphertext>, Error> {
        self.check(ct, slots, reading, (key, bootstrap))?;
        fits_cells(&self.fhew.ctx, slots.len())?;
        let (weight, variance) = self.weight(reading);
        let low = self.slots.to_coefficients(ct, bootstrap, control)?;
        let (ring, fhew) = (self.slots.ctx.ring(), &self.fhew.ctx);
        self.slots.run(|| {
            let times = |poly| Form::multiple(Multiplier::integer(weight.into()), poly);
            let polys = ring.forms(&low.polys.iter().map(times).collect::<Vec<_>>(), 1, 0)?;
            let sample = Sample { polys, key: low.key };
            let lowered = key.large_to_small.apply(&self.between, fhew, (ring, &sample), variance)?;
            let at: Vec<usize> = slots.iter().map(|&slot| self.coefficient(slot)).collect();
            extracted(&lowered, (&self.between, fhew), &at, reading)
        })
    }

    /// Refuses what cannot go to FHEW before any work is done on it.
    fn check(
        &self,
        ct: &Ciphertext,
        slots: &[usize],
        reading: Reading,
        (key, bootstrap): (&IntegerSchemeSwitchKey, &BootstrapKey),
    ) -> Result<(), Error> {
        check_slots(slots, self.slots.count())?;
        let fits = match reading {
            Reading::Bits | Reading::Message(_) => true,
            Reading::Unsigned(unsigned) => unsigned.bits() <= MOST_BITS,
            Reading::Real(..) => false,
        };
        if !fits {
            return Err(ParameterError::IntegerReading { most: MOST_BITS }.into());
        }
        for (what, found) in [("switching key", key.id()), ("bootstrap key", bootstrap.id())] {
            if found != ct.key {
                return Err(aglet_rlwe::Error::KeyMismatch { what, found, expected: ct.key }.into());
            }
        }
        Ok(())
    }

    /// The integer nearest to t times what part of the torus 1 takes, and the variance over q0 squared of a coefficient that is
    /// multiplied by it: of its noise, and of how far the largest value comes from where it should.
    fn weight(&self, reading: Reading) -> (u64, f64) {
        let params = self.slots.params();
        let (t, q0) = (params.plain().value() as f64, self.slots.ctx.modulus(0));
        let weight = (t * reading.torus()).round();
        let root = Noise::rounding(params).times(ROUNDINGS).log2().exp2();
        let noise = weight * root / (params.n() as f64).sqrt() / q0;
        let off = reading.most() * (weight / t - reading.torus());
        (weight as u64, noise * noise + off * off)
    }

    /// The variance, on the torus, that slots have after the conversion to FHEW.
    #[must_use]
    pub fn variance(&self, reading: Reading) -> f64 {
        self.weight(reading).1 + LargeToSmallKey::noise(&self.between, &self.fhew.ctx)
    }
}
