//! Down from integers: slots of exact integers as LWE ciphertexts of a look-up key.
//!
//! After the first stages of a bootstrap a number m is `m / t` of a turn, modulo q0. Times the integer nearest to t times the part of a
//! turn that look-ups give to 1, and through a ring switch, its coefficient is what they take.

use super::Reading;
use crate::fhew::{self, fits};
use crate::integer::{self, BootstrapKey, Ciphertext};
use crate::{Control, Error, KeyId, SecretKey};
use aglet_ring::{Form, Multiplier};
use aglet_rlwe::bridge::{self, DownKey};
use aglet_rlwe::lwe::LweCiphertext;
use aglet_rlwe::Sample;
use aglet_schemes::fhew::from_bit;
use aglet_schemes::integer::Noise;
use std::sync::Arc;

/// Most bits of words: 2^16 parts of a turn are not quite `1 / t` each, which is a sixteenth of a unit of this many bits at most.
const MOST_BITS: u32 = 12;
/// Rounding errors that the noise of a coefficient at q0 is as large as at most: that of the last map, and what it leaves of the input.
const ROUNDINGS: f64 = 2.0;

/// An engine of integers that bootstraps and a look-up engine, and the ring between them. Shared freely: all methods take `&self`.
pub struct IntegerBridge {
    pub(crate) numbers: Arc<integer::Engine>,
    pub(crate) lookups: Arc<fhew::Engine>,
    pub(crate) between: Arc<bridge::Bridge>,
}

/// What leads from the secret key of integers to that of look-ups: a ring switch.
pub struct IntegerBridgeKey {
    pub(crate) down: DownKey,
    stored_bytes: usize,
}

impl IntegerBridgeKey {
    /// The key of this part.
    pub(crate) fn of(between: &bridge::Bridge, down: DownKey) -> Self {
        Self { stored_bytes: down.stored_bytes(between), down }
    }
    /// The secret key of integers.
    #[must_use]
    pub fn id(&self) -> KeyId {
        self.down.from()
    }
    /// The secret key of look-ups.
    #[must_use]
    pub fn lookup_id(&self) -> KeyId {
        self.down.to()
    }
    /// Bytes in memory.
    #[must_use]
    pub fn byte_count(&self) -> usize {
        self.down.byte_count()
    }
    /// Bytes when stored: bodies, and a seed for all else.
    #[must_use]
    pub fn stored_bytes(&self) -> usize {
        self.stored_bytes
    }
}

impl IntegerBridge {
    /// A bridge between two engines, which runs on the threads of the first.
    ///
    /// # Errors
    /// [`Error::Parameter`] for an engine without a bootstrap or without slots; a modulus of the look-up engine that has no ring of this degree.
    pub fn new(numbers: impl Into<Arc<integer::Engine>>, lookups: impl Into<Arc<fhew::Engine>>) -> Result<Self, Error> {
        let (numbers, lookups) = (numbers.into(), lookups.into());
        if !numbers.can_bootstrap() || numbers.packing() != integer::Packing::Slots {
            return Err(Error::Parameter(format!(
                "An engine of parameters \"{}\" without a bootstrap or without slots has no slots_to_coeffs, which a bridge begins with; take a set of \
                 integers with a bootstrap, and slots.",
                numbers.params().name()
            )));
        }
        let (log_n, kernels) = (numbers.params().log_n(), numbers.runtime().kernels());
        let between = Arc::new(numbers.run(|| Ok(bridge::Bridge::new(&lookups.ctx, log_n, kernels)?))?);
        Ok(Self { numbers, lookups, between })
    }

    /// Runs work on the threads of the engine of integers.
    pub(crate) fn run<T: Send>(&self, work: impl FnOnce() -> Result<T, Error> + Send) -> Result<T, Error> {
        self.numbers.run(work)
    }
    /// Name of the kernels in use.
    #[must_use]
    pub fn backend(&self) -> &'static str {
        self.numbers.backend()
    }
    /// Worker threads of the engine of integers.
    #[must_use]
    pub fn threads(&self) -> usize {
        self.numbers.threads()
    }
    /// The engine whose slots are read.
    #[must_use]
    pub fn numbers(&self) -> &integer::Engine {
        &self.numbers
    }
    /// The engine of gates and tables.
    #[must_use]
    pub fn lookups(&self) -> &fhew::Engine {
        &self.lookups
    }
    /// Bytes in memory that the key of this bridge takes.
    #[must_use]
    pub fn key_bytes(&self) -> u64 {
        DownKey::forecast(&self.between, &self.lookups.ctx) as u64
    }

    /// Makes the key. What it takes is forecast and compared with `memory_limit` bytes and with what the system has.
    ///
    /// # Errors
    /// [`Error::KeyMemory`] before anything is allocated, no randomness, a secret key of another degree.
    pub fn create_key(
        &self,
        numbers: &SecretKey,
        lookups: &fhew::SecretKey,
        memory_limit: Option<u64>,
    ) -> Result<IntegerBridgeKey, Error> {
        fits("bridge key", self.key_bytes() as usize, memory_limit)?;
        let mut source = self.numbers.runtime().random("bridge key", 0)?;
        let keys = (numbers, lookups);
        let made = || Ok(DownKey::generate(&self.between, &self.lookups.ctx, keys, &mut source)?);
        Ok(IntegerBridgeKey::of(&self.between, self.numbers.run(made)?))
    }

    /// Some slots as LWE ciphertexts under the look-up key, in the order given, as often as they are named, each with its noise. Slots
    /// hold what a reading takes; others give numbers of no meaning.
    ///
    /// # Errors
    /// [`Error::Range`] for a slot that does not exist or words of more than 20 bits, [`Error::Parameter`] for reals or words of more than 12,
    /// [`Error::Level`] below the level of a bootstrap, [`Error::Noise`] for what a bootstrap would not take, keys that do not belong together, [`Error::Cancelled`].
    pub fn to_lookup(
        &self,
        ct: &Ciphertext,
        slots: &[usize],
        reading: Reading,
        (key, bootstrap): (&IntegerBridgeKey, &BootstrapKey),
        control: &Control,
    ) -> Result<Vec<LweCiphertext>, Error> {
        self.check(ct, slots, reading, (key, bootstrap))?;
        let (weight, variance) = self.weight(reading);
        let low = self.numbers.to_coefficients(ct, bootstrap, control)?;
        let (ring, lookups) = (self.numbers.context().ring(), &self.lookups.ctx);
        self.numbers.run(|| {
            let times = |poly| Form::multiple(Multiplier::integer(weight.into()), poly);
            let polys = ring.forms(&low.polys.iter().map(times).collect::<Vec<_>>(), 1, 0)?;
            let sample = Sample { polys, key: low.key };
            let lowered = key.down.apply(&self.between, lookups, (ring, &sample), variance)?;
            let at: Vec<usize> = slots.iter().map(|&slot| self.coefficient(slot)).collect();
            let mut cts = lowered.extract(&self.between, lookups, &at)?;
            if reading == Reading::Bits {
                cts.iter_mut().for_each(|ct| ct.add_phase(lookups, from_bit(lookups, false)));
            }
            Ok(cts)
        })
    }

    /// Refuses what cannot come down before any work is done on it.
    fn check(
        &self,
        ct: &Ciphertext,
        slots: &[usize],
        reading: Reading,
        (key, bootstrap): (&IntegerBridgeKey, &BootstrapKey),
    ) -> Result<(), Error> {
        let count = self.numbers.count();
        if let Some(outside) = slots.iter().find(|&&slot| slot >= count) {
            return Err(Error::Range(format!("There is no slot {outside}; this engine has slots 0 to {}.", count - 1)));
        }
        let fits = match reading {
            Reading::Bits | Reading::Message(_) => true,
            Reading::Word(word) => word.bits() <= MOST_BITS,
            Reading::Real(_) => false,
        };
        if !fits {
            return Err(Error::Parameter(format!(
                "Slots of integers come down as bits, messages or words of up to {MOST_BITS} bits; take digits of larger ones before."
            )));
        }
        for (what, found) in [("bridge key", key.id()), ("bootstrap key", bootstrap.id())] {
            if found != ct.key {
                return Err(aglet_rlwe::Error::KeyMismatch { what, found, expected: ct.key }.into());
            }
        }
        Ok(())
    }

    /// The integer nearest to t times what part of a turn 1 takes, and the variance over q0 squared of a coefficient that is
    /// multiplied by it: of its noise, and of how far the largest value comes from where it should.
    fn weight(&self, reading: Reading) -> (u64, f64) {
        let params = self.numbers.params();
        let (t, q0) = (params.plain().value() as f64, self.numbers.context().modulus(0));
        let weight = (t * reading.turn()).round();
        let root = Noise::rounding(params).times(ROUNDINGS).log2().exp2();
        let noise = weight * root / (params.n() as f64).sqrt() / q0;
        let off = reading.most() * (weight / t - reading.turn());
        (weight as u64, noise * noise + off * off)
    }

    /// The variance, in turns squared, that slots have after the way down.
    #[must_use]
    pub fn variance(&self, reading: Reading) -> f64 {
        self.weight(reading).1 + DownKey::noise(&self.between, &self.lookups.ctx)
    }

    /// The coefficient of a slot: the DFT leaves each row in bit-reversed order, the second N/2 behind the first.
    fn coefficient(&self, slot: usize) -> usize {
        let (row, n) = (self.numbers.count() / 2, self.numbers.params().n());
        let reversed = (slot % row).reverse_bits().checked_shr(usize::BITS - row.ilog2()).unwrap_or(0);
        reversed * (n / 2 / row) + slot / row * (n / 2)
    }
}
