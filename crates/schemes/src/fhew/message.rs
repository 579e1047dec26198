//! Small integers as phases: where messages lie on the torus, and how often a bootstrap reads a neighbouring message
//! instead.

use crate::Error;
use aglet_rlwe::lwe::{log2_tail, LweContext, Noise};

/// log2 of the largest accepted probability of a wrong result, unless the caller accepts more. A failure can leak
/// information when decryptions are shared, so it counts as a break of security.
pub const MAX_LOG2_FAILURE: f64 = -128.0;

/// Where messages lie on the torus, and so which LUTs are possible.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Domain {
    /// On half of the torus, with a padding bit above: any LUT in one rotation, but sums must stay below p.
    Padded,
    /// On the whole torus, so sums wrap around modulo p: any LUT, in two rotations.
    Full,
    /// On the whole torus as well: LUTs with `f(m + p/2) = -f(m)`, in one rotation and with twice the distance between
    /// messages.
    Negacyclic,
}

impl Domain {
    /// All of them.
    pub const ALL: [Domain; 3] = [Domain::Padded, Domain::Full, Domain::Negacyclic];

    /// Its name in lower case, as users write it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Domain::Padded => "padded",
            Domain::Full => "full",
            Domain::Negacyclic => "negacyclic",
        }
    }
}

/// Messages 0 to p - 1 of one domain. m has the phase `m Q / 2p` if padded, and `m Q / p` on the whole torus.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Message {
    space: u64,
    domain: Domain,
}

impl Message {
    /// `space` is p: 2, 4, 8 or 16.
    ///
    /// # Errors
    /// [`Error::Message`] for another p.
    pub fn new(space: u64, domain: Domain) -> Result<Self, Error> {
        if ![2, 4, 8, 16].contains(&space) {
            return Err(Error::Message { value: space, what: "a number of messages", allowed: "2, 4, 8 or 16".into() });
        }
        Ok(Self { space, domain })
    }

    /// The number of messages p.
    #[must_use]
    pub fn space(self) -> u64 {
        self.space
    }
    /// Where they lie.
    #[must_use]
    pub fn domain(self) -> Domain {
        self.domain
    }
    /// Every `step`-th of these messages, counted from 0: they lie so much further apart.
    ///
    /// # Errors
    /// [`Error::Message`] for a step that does not leave 2, 4, 8 or 16 messages.
    pub fn every(self, step: u64) -> Result<Self, Error> {
        let fits = step > 0 && self.space.is_multiple_of(step);
        let left = if fits { Self::new(self.space / step, self.domain).ok() } else { None };
        left.ok_or_else(|| {
            let allowed = format!("a power of two up to {}", self.space / 2);
            Error::Message { value: step, what: "a step between messages", allowed }
        })
    }
    /// The same number of messages in another domain.
    #[must_use]
    pub fn within(self, domain: Domain) -> Self {
        Self { domain, ..self }
    }

    /// Phases of messages that the torus has room for: p, or 2p with the bit of padding.
    #[must_use]
    pub fn torus(self) -> u64 {
        match self.domain {
            Domain::Padded => 2 * self.space,
            _ => self.space,
        }
    }

    /// The phase of a message.
    ///
    /// # Errors
    /// [`Error::Message`] for one that is not below p.
    pub fn encode(self, ctx: &LweContext, message: u64) -> Result<u64, Error> {
        if message >= self.space {
            let allowed = format!("0 to {}", self.space - 1);
            return Err(Error::Message { value: message, what: "a message", allowed });
        }
        Ok(ctx.modulus().mul(message, fraction(ctx, self.torus())))
    }

    /// The phase of any number, modulo p or, with padding, 2p: what is added to a ciphertext in the clear.
    #[must_use]
    pub fn phase(self, ctx: &LweContext, number: i64) -> u64 {
        ctx.modulus().mul(number.rem_euclid(self.torus() as i64) as u64, fraction(ctx, self.torus()))
    }

    /// The message nearest to a phase, modulo p or, with padding, 2p: from p on it has left the range of tables.
    #[must_use]
    pub fn decode(self, ctx: &LweContext, phase: u64) -> u64 {
        let (q, torus) = (u128::from(ctx.modulus().value()), u128::from(self.torus()));
        ((2 * u128::from(phase) * torus + q) / (2 * q) % torus) as u64
    }

    /// Boxes on the half of the torus that a rotation reads, the phases of one message each, and whether message 0 lies in the middle of the
    /// first rather than at its start.
    #[must_use]
    pub fn boxes(self) -> (usize, bool) {
        match self.domain {
            Domain::Padded => (self.space as usize, true),
            Domain::Full => (self.space as usize, false),
            Domain::Negacyclic => (self.space as usize / 2, true),
        }
    }

    /// Half the way from one message to the next, on the torus: how far a phase may be off where it is decrypted.
    #[must_use]
    pub fn half_step(self) -> f64 {
        0.5 / self.torus() as f64
    }

    /// How far phases are from the next message where a rotation reads them, on the torus.
    #[must_use]
    pub fn distance(self) -> f64 {
        0.25 / self.boxes().0 as f64
    }

    /// log2 of the probability that a lookup of an input of this variance is wrong, where one rotation reads `2^log_tables` tables.
    /// The two rotations of the full domain count together.
    #[must_use]
    pub fn log2_failure(self, noise: &Noise, variance: f64, log_tables: u32) -> f64 {
        let tail = |variance: f64, log_tables: u32| log2_tail(self.distance(), noise.interleaved(variance, log_tables));
        match self.domain {
            Domain::Full => {
                let half = variance / 4.0;
                either(&[tail(half, 0), tail(half + noise.blind_rotation, log_tables)])
            }
            _ => tail(variance, log_tables),
        }
    }
}

/// log2 of the probability that one of several things happens, at most: the sum of theirs.
#[must_use]
pub fn either(log2: &[f64]) -> f64 {
    let most = log2.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if most == f64::NEG_INFINITY {
        return most;
    }
    (most + log2.iter().map(|x| (x - most).exp2()).sum::<f64>().log2()).min(0.0)
}

/// `round(Q / parts)`.
pub(crate) fn fraction(ctx: &LweContext, parts: u64) -> u64 {
    (ctx.modulus().value() + parts / 2) / parts
}
