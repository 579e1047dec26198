//! The ring switch to the small ring, before sample extraction: from RLWE modulo q0 to GLWE samples of a FHEW key, by a modulus switch and a ring switch without special primes.
//!
//! `c0 + c1 s` becomes `b - sum a_r S_r(X^g)` with the digits of c1 in base 64, each times a sample of that power of the base times s.

use super::residues::{self, masks};
use super::{RingSwitch, LOG_BASE};
use crate::error::Error;
use crate::fault::RingSwitchFault;
use crate::gadget_digits::gadget_digits;
use crate::lwe::{draw_errors, GlweSample, LweCiphertext, LweContext, LweSecretKey};
use crate::sample::Sample;
use crate::secret::{KeyId, SecretKey};
use aglet_ring::sample::ChaChaSource;
use aglet_ring::small::Words;
use aglet_ring::{Coeff, Eval, Form, Multiplier, Poly, Ring};
use rayon::prelude::*;
use zeroize::Zeroizing;

/// For each digit a sample modulo Q, of degree N under `S_r(X^g)`, of the digit's weight times the secret that samples come from.
pub struct LargeToSmallKey {
    /// For each digit its masks, then its body.
    samples: Vec<Vec<Poly<Eval>>>,
    seed: [u8; 32],
    from: KeyId,
    to: KeyId,
}

/// A sample of the large ring under a FHEW key, in coefficients.
pub struct SwitchedSample {
    /// Masks, then the body: N coefficients each.
    columns: Vec<Poly<Coeff>>,
    key: KeyId,
    /// The secret key that it comes from.
    from: KeyId,
    variance: f64,
}

impl LargeToSmallKey {
    /// Makes the key, which leads from one secret to the other.
    ///
    /// # Errors
    /// Memory that cannot be had; [`Error::BadParameters`] for a secret of another degree.
    pub fn generate(
        switch: &RingSwitch,
        ctx: &LweContext,
        (from, to): (&SecretKey, &LweSecretKey),
        source: &mut ChaChaSource,
    ) -> Result<Self, Error> {
        let (ring, rank) = (&switch.ring, ctx.params().spec().rank);
        let (found, expected) = (from.coefficients().len(), ring.n());
        if found != expected {
            return Err(RingSwitchFault::SecretKey { found, expected }.into());
        }
        let wide = |s: &[i8]| Zeroizing::new(s.iter().map(|&s| i64::from(s)).collect::<Vec<_>>());
        let message = switch.secret(&wide(from.coefficients()))?;
        let secrets = (0..rank).map(|r| switch.secret(&wide(&switch.spread(to, r))));
        let secrets = secrets.collect::<Result<Vec<_>, Error>>()?;
        let seed = source.public_seed();
        let mut error = Zeroizing::new(vec![0; ring.n()]);
        let samples = (0..switch.digits).map(|t| {
            let mut columns = masks(ring, &seed, t, rank)?;
            draw_errors(ctx.params().glwe_error(), source, &mut error);
            let error = switch.secret(&error)?;
            let weight = Multiplier::integer(1 << (LOG_BASE as usize * t));
            let body = Form {
                products: columns.iter().zip(&secrets).map(|(a, s)| (1, a, s)).collect(),
                terms: vec![(Multiplier::integer(1), &error), (weight, &message)],
                ..Form::default()
            };
            let mut out = [ring.lasting(1, 0)?];
            ring.forms_to(&[body], &mut out)?;
            columns.extend(out);
            Ok(columns)
        });
        Ok(Self { samples: samples.collect::<Result<_, Error>>()?, seed, from: from.id(), to: to.id() })
    }

    /// What is stored of it: the seed of its masks, and the values of the bodies.
    ///
    /// # Errors
    /// Values that cannot be had on this machine.
    pub fn stored(&self) -> Result<(&[u8; 32], Vec<&[u64]>), Error> {
        let bodies = self.samples.iter().filter_map(|columns| columns.last().map(residues::values));
        Ok((&self.seed, bodies.collect::<Result<_, _>>()?))
    }
    /// Bytes when stored: the seed, and each body in as many bits as the modulus has.
    #[must_use]
    pub fn stored_bytes(&self, switch: &RingSwitch) -> usize {
        32 + self.samples.len() * switch.ring.n() * switch.ring.modulus(0).bits() as usize / 8
    }
    /// The key of which this was stored.
    ///
    /// # Errors
    /// [`Error::Stored`] for another number of bodies; memory that cannot be had.
    pub fn from_stored(
        switch: &RingSwitch,
        ctx: &LweContext,
        (from, to): (KeyId, KeyId),
        seed: [u8; 32],
        bodies: Vec<Vec<u64>>,
    ) -> Result<Self, Error> {
        let q = switch.ring.modulus(0).value();
        let fits = |body: &Vec<u64>| body.len() == switch.ring.n() && body.iter().all(|&x| x < q);
        if bodies.len() != switch.digits || !bodies.iter().all(fits) {
            return Err(Error::Stored { what: "ring switch key has another shape than its parameters give it" });
        }
        let samples = bodies.into_iter().enumerate().map(|(t, body)| {
            let mut columns = masks(&switch.ring, &seed, t, ctx.params().spec().rank)?;
            columns.push(residues::of_values(&switch.ring, &body)?);
            Ok(columns)
        });
        Ok(Self { samples: samples.collect::<Result<_, Error>>()?, seed, from, to })
    }

    /// The secret key that samples come from.
    #[must_use]
    pub fn from(&self) -> KeyId {
        self.from
    }
    /// The FHEW secret that they go to.
    #[must_use]
    pub fn to(&self) -> KeyId {
        self.to
    }
    /// Bytes in memory.
    #[must_use]
    pub fn byte_count(&self) -> usize {
        self.samples.iter().flatten().map(Poly::byte_count).sum()
    }
    /// Bytes that a key of these parameters takes in memory.
    #[must_use]
    pub fn forecast(switch: &RingSwitch, ctx: &LweContext) -> usize {
        8 * switch.digits * (ctx.params().spec().rank + 1) * switch.ring.n()
    }

    /// A sample of one limb, of a ring of degree N, under the FHEW key. `variance` is that of its own noise over q0 squared.
    ///
    /// # Errors
    /// [`Error::KeyMismatch`] for a sample of another key, [`Error::Level`] for one above the lowest modulus, [`Error::Degree`] for one
    /// that waits for relinearization; memory that cannot be had.
    pub fn apply(
        &self,
        switch: &RingSwitch,
        ctx: &LweContext,
        (large, sample): (&Ring, &Sample),
        variance: f64,
    ) -> Result<SwitchedSample, Error> {
        let [c0, c1] = &sample.polys[..] else { return Err(Error::Degree { degree: sample.degree() }) };
        if sample.key != self.from {
            return Err(Error::KeyMismatch { what: "ring switch key", found: self.from, expected: sample.key });
        }
        if sample.limbs() != 1 {
            return Err(Error::Level { needed: 0, found: sample.limbs() - 1 });
        }
        let ring = &switch.ring;
        let body = ring.switch_from(large, c0)?;
        let digits = gadget_digits(ring, &ring.switch_from(large, c1)?, switch.digits, LOG_BASE)?;
        let form = |column: usize| Form {
            products: digits.iter().zip(&self.samples).map(|(d, columns)| (1, d, &columns[column])).collect(),
            ..Form::default()
        };
        let rank = ctx.params().spec().rank;
        let mut forms: Vec<Form<'_>> = (0..=rank).map(form).collect();
        forms[rank].terms.push((Multiplier::integer(1), &body));
        let columns = ring.forms(&forms, 1, 0)?.into_iter().map(|column| ring.to_coeff(column));
        let columns = columns.collect::<Result<_, _>>()?;
        Ok(SwitchedSample { columns, key: self.to, from: self.from, variance: variance + Self::noise(switch, ctx) })
    }

    /// The variance that the ring switch adds to a coefficient, over Q squared: the digits against the errors of the key. What rounding
    /// to Q adds is 2^18 times less.
    #[must_use]
    pub fn noise(switch: &RingSwitch, ctx: &LweContext) -> f64 {
        let (q, base) = (ctx.modulus().value() as f64, f64::from(LOG_BASE).exp2());
        // The top digit covers what is left of Q.
        let top = (q / base.powi(switch.digits as i32 - 1)).powi(2) / 12.0;
        let digits = (switch.digits - 1) as f64 * (base * base / 12.0 + 1.0 / 6.0) + top;
        switch.ring.n() as f64 * digits * (ctx.params().glwe_error().sigma() / q).powi(2)
    }
}

impl SwitchedSample {
    /// The coefficients of one class, `class + i g`, as a sample of the small ring. What values erred by before may be one noise in all of
    /// them, and in those of other ciphertexts of their key, such as rotations; digits of a ciphertext and its negative meet the key alike.
    /// So all that goes to FHEW from one secret counts as dependent.
    ///
    /// # Errors
    /// [`Error::BadParameters`] for a class that does not exist.
    pub fn class(&self, switch: &RingSwitch, ctx: &LweContext, class: usize) -> Result<GlweSample, Error> {
        let classes = switch.classes();
        if class >= classes {
            return Err(RingSwitchFault::Class { class, classes }.into());
        }
        let mut words = Words::zeros(ctx.params().coordinates() + ctx.params().n());
        for (out, column) in words.chunks_exact_mut(ctx.params().n()).zip(&self.columns) {
            residues::class(column, class, classes, out)?;
        }
        Ok(GlweSample::new(ctx, words, self.key, self.variance)?.from_key(self.from))
    }

    /// Coefficients of the large ring, each as an LWE ciphertext under the FHEW key, in the order given.
    ///
    /// # Errors
    /// [`Error::BadParameters`] for a coefficient that does not exist.
    pub fn extract(&self, switch: &RingSwitch, ctx: &LweContext, at: &[usize]) -> Result<Vec<LweCiphertext>, Error> {
        let (n, classes) = (switch.ring.n(), switch.classes());
        if let Some(&index) = at.iter().find(|&&c| c >= n) {
            return Err(RingSwitchFault::Coefficient { index, count: n }.into());
        }
        let mut wanted: Vec<usize> = at.iter().map(|c| c % classes).collect();
        wanted.sort_unstable();
        wanted.dedup();
        let samples = wanted.par_iter().map(|&class| self.class(switch, ctx, class));
        let samples = samples.collect::<Result<Vec<_>, Error>>()?;
        let one = |&c: &usize| {
            // Every class that is asked for is there.
            let place = wanted.partition_point(|&class| class < c % classes);
            samples[place].extract(ctx, c / classes)
        };
        Ok(at.par_iter().map(one).collect())
    }
}
