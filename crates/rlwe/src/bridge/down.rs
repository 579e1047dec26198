//! Down: from RLWE modulo q0 to GLWE samples of a look-up key, by a modulus switch and a ring switch without special primes.
//!
//! `c0 + c1 s` becomes `b - sum a_r S_r(X^g)` with the digits of c1 in base 64, each times a sample of that power of the base times s.

use super::residues::{self, masks};
use super::{Bridge, LOG_BASE};
use crate::encapsulate::short_digits;
use crate::error::Error;
use crate::lwe::{draw_errors, GlweSample, LweCiphertext, LweContext, LweSecretKey};
use crate::sample::Sample;
use crate::secret::{KeyId, SecretKey};
use aglet_ring::sample::ChaChaSource;
use aglet_ring::small::Words;
use aglet_ring::{Coeff, Eval, Form, Multiplier, Poly, Ring};
use rayon::prelude::*;
use zeroize::Zeroizing;

/// For each digit a sample modulo Q, of degree N under `S_r(X^g)`, of the digit's weight times the secret that samples come from.
pub struct DownKey {
    /// For each digit its masks, then its body.
    samples: Vec<Vec<Poly<Eval>>>,
    seed: [u8; 32],
    from: KeyId,
    to: KeyId,
}

/// A sample of the large ring under a look-up key, in coefficients.
pub struct Lowered {
    /// Masks, then the body: N coefficients each.
    columns: Vec<Poly<Coeff>>,
    key: KeyId,
    variance: f64,
}

impl DownKey {
    /// Makes the key, which leads from one secret to the other.
    ///
    /// # Errors
    /// Memory that cannot be had; [`Error::BadParameters`] for a secret of another degree.
    pub fn generate(
        bridge: &Bridge,
        ctx: &LweContext,
        (from, to): (&SecretKey, &LweSecretKey),
        source: &mut ChaChaSource,
    ) -> Result<Self, Error> {
        let (ring, rank) = (&bridge.ring, ctx.params().spec().rank);
        if from.coefficients().len() != ring.n() {
            return Err(Error::bad_parameters("this secret key has another degree; use the engine that it is of"));
        }
        let wide = |s: &[i8]| Zeroizing::new(s.iter().map(|&s| i64::from(s)).collect::<Vec<_>>());
        let message = bridge.secret(&wide(from.coefficients()))?;
        let secrets = (0..rank).map(|r| bridge.secret(&wide(&bridge.spread(to, r))));
        let secrets = secrets.collect::<Result<Vec<_>, Error>>()?;
        let seed = source.public_seed();
        let mut error = Zeroizing::new(vec![0; ring.n()]);
        let samples = (0..bridge.digits).map(|t| {
            let mut columns = masks(ring, &seed, t, rank)?;
            draw_errors(ctx.params().glwe_error(), source, &mut error);
            let error = bridge.secret(&error)?;
            let weight = Multiplier::integer(1 << (LOG_BASE as usize * t));
            let body = Form {
                products: columns.iter().zip(&secrets).map(|(a, s)| (1, a, s)).collect(),
                terms: vec![(Multiplier::integer(1), &error), (weight, &message)],
                ..Form::default()
            };
            let mut out = [ring.lasting(1, 0)?];
            ring.forms_to(&[body], &mut out);
            columns.extend(out);
            Ok(columns)
        });
        Ok(Self { samples: samples.collect::<Result<_, Error>>()?, seed, from: from.id(), to: to.id() })
    }

    /// What is stored of it: the seed of its masks, and the values of the bodies.
    #[must_use]
    pub fn stored(&self) -> (&[u8; 32], Vec<&[u64]>) {
        (&self.seed, self.samples.iter().filter_map(|columns| columns.last().map(residues::values)).collect())
    }
    /// Bytes when stored: the seed, and each body in as many bits as the modulus has.
    #[must_use]
    pub fn stored_bytes(&self, bridge: &Bridge) -> usize {
        32 + self.samples.len() * bridge.ring.n() * bridge.ring.modulus(0).bits() as usize / 8
    }
    /// The key of which this was stored.
    ///
    /// # Errors
    /// [`Error::Stored`] for another number of bodies; memory that cannot be had.
    pub fn from_stored(
        bridge: &Bridge,
        ctx: &LweContext,
        (from, to): (KeyId, KeyId),
        seed: [u8; 32],
        bodies: Vec<Vec<u64>>,
    ) -> Result<Self, Error> {
        let q = bridge.ring.modulus(0).value();
        let fits = |body: &Vec<u64>| body.len() == bridge.ring.n() && body.iter().all(|&x| x < q);
        if bodies.len() != bridge.digits || !bodies.iter().all(fits) {
            return Err(Error::Stored { what: "bridge key has another shape than its parameters give it" });
        }
        let samples = bodies.into_iter().enumerate().map(|(t, body)| {
            let mut columns = masks(&bridge.ring, &seed, t, ctx.params().spec().rank)?;
            columns.push(residues::of_values(&bridge.ring, &body)?);
            Ok(columns)
        });
        Ok(Self { samples: samples.collect::<Result<_, Error>>()?, seed, from, to })
    }

    /// The secret key that samples come from.
    #[must_use]
    pub fn from(&self) -> KeyId {
        self.from
    }
    /// The look-up secret that they go to.
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
    pub fn forecast(bridge: &Bridge, ctx: &LweContext) -> usize {
        8 * bridge.digits * (ctx.params().spec().rank + 1) * bridge.ring.n()
    }

    /// A sample of one limb, of a ring of degree N, under the look-up key. `variance` is that of its own noise over q0 squared.
    ///
    /// # Errors
    /// [`Error::KeyMismatch`] for a sample of another key, [`Error::Level`] for one above the lowest modulus, [`Error::Degree`] for one
    /// that waits for relinearization; memory that cannot be had.
    pub fn apply(
        &self,
        bridge: &Bridge,
        ctx: &LweContext,
        (large, sample): (&Ring, &Sample),
        variance: f64,
    ) -> Result<Lowered, Error> {
        let [c0, c1] = &sample.polys[..] else { return Err(Error::Degree { degree: sample.degree() }) };
        if sample.key != self.from {
            return Err(Error::KeyMismatch { what: "bridge key", found: self.from, expected: sample.key });
        }
        if sample.limbs() != 1 {
            return Err(Error::Level { needed: 0, found: sample.limbs() - 1 });
        }
        let ring = &bridge.ring;
        let body = ring.switch_from(large, c0)?;
        let digits = short_digits(ring, &ring.switch_from(large, c1)?, bridge.digits, LOG_BASE)?;
        let form = |column: usize| Form {
            products: digits.iter().zip(&self.samples).map(|(d, columns)| (1, d, &columns[column])).collect(),
            ..Form::default()
        };
        let rank = ctx.params().spec().rank;
        let mut forms: Vec<Form<'_>> = (0..=rank).map(form).collect();
        forms[rank].terms.push((Multiplier::integer(1), &body));
        let columns = ring.forms(&forms, 1, 0)?.into_iter().map(|column| ring.to_coeff(column)).collect();
        Ok(Lowered { columns, key: self.to, variance: variance + Self::noise(bridge, ctx) })
    }

    /// The variance that the ring switch adds to a coefficient, over Q squared: the digits against the errors of the key. What rounding
    /// to Q adds is 2^18 times less.
    #[must_use]
    pub fn noise(bridge: &Bridge, ctx: &LweContext) -> f64 {
        let (q, base) = (ctx.modulus().value() as f64, f64::from(LOG_BASE).exp2());
        // The top digit covers what is left of Q.
        let top = (q / base.powi(bridge.digits as i32 - 1)).powi(2) / 12.0;
        let digits = (bridge.digits - 1) as f64 * (base * base / 12.0 + 1.0 / 6.0) + top;
        bridge.ring.n() as f64 * digits * (ctx.params().glwe_error().sigma() / q).powi(2)
    }
}

impl Lowered {
    /// The coefficients of one class, `class + i g`, as a sample of the small ring.
    ///
    /// # Errors
    /// [`Error::BadParameters`] for a class that does not exist.
    pub fn class(&self, bridge: &Bridge, ctx: &LweContext, class: usize) -> Result<GlweSample, Error> {
        let classes = bridge.classes();
        if class >= classes {
            return Err(Error::bad_parameters(format!(
                "there are {classes} classes of coefficients, not {}",
                class + 1
            )));
        }
        let mut words = Words::zeros(ctx.params().coordinates() + ctx.params().n());
        for (out, column) in words.chunks_exact_mut(ctx.params().n()).zip(&self.columns) {
            residues::class(column, class, classes, out);
        }
        GlweSample::new(ctx, words, self.key, self.variance)
    }

    /// Coefficients of the large ring, each as an LWE ciphertext under the look-up key, in the order given.
    ///
    /// # Errors
    /// [`Error::BadParameters`] for a coefficient that does not exist.
    pub fn extract(&self, bridge: &Bridge, ctx: &LweContext, at: &[usize]) -> Result<Vec<LweCiphertext>, Error> {
        let (n, classes) = (bridge.ring.n(), bridge.classes());
        if let Some(outside) = at.iter().find(|&&c| c >= n) {
            return Err(Error::bad_parameters(format!("there is no coefficient {outside}; there are {n}")));
        }
        let mut wanted: Vec<usize> = at.iter().map(|c| c % classes).collect();
        wanted.sort_unstable();
        wanted.dedup();
        let samples = wanted.par_iter().map(|&class| self.class(bridge, ctx, class));
        let samples = samples.collect::<Result<Vec<_>, Error>>()?;
        let one = |&c: &usize| {
            // Every class that is asked for is there.
            let place = wanted.partition_point(|&class| class < c % classes);
            samples[place].extract(ctx, c / classes)
        };
        Ok(at.par_iter().map(one).collect())
    }
}
