//! Keys that raise a root of unity to one coefficient of a product with a sparse secret (SHIP, eprint 2025/784).
//!
//! Of a public polynomial `a` and a secret monomial `sign X^place`, number `i` of a *factor* is `omega^(c_i)`, `c` the coefficients of
//! `a sign X^place` and `omega = e^(2 pi i / q0)`. All values that it may have are public: `omega^(+-a_j)`, four *bands* of N/2 numbers each. So a factor is a
//! rotation of the bands by a secret number, with secret masks where coefficients wrap around. The rotation is cut into digits. The first
//! (*column*) meets the masks: encryptions of the masks, turned back, are multiplied by the bands at every rotation, and all but one mask is
//! zero. Each of the others (*mux*) is a sum over its values of the rotation times an encryption of one or zero, an RGSW selector with the
//! rotation in its keys. Rotations run on primes of their own (*raised*), whose digits are whole limbs; the last division brings the factor to
//! the chain.

use crate::context::Context;
use crate::error::Error;
use crate::exchange::settle;
use crate::gadget::KeySwitchSpec;
use crate::keyswitch::divide;
use crate::places::{same, PlacedCoefficients, Places};
use crate::secret::{KeyId, SecretKey};
use crate::switching_key::SwitchingKey;
use aglet_ring::automorphism::{rotation_exponent, Automorphism};
use aglet_ring::fft::SpecialFft;
use aglet_ring::ops::KeyStream;
use aglet_ring::sample::ChaChaSource;
use aglet_ring::{Digits, Eval, Form, Multiplier, Pair, Poly};
use rayon::prelude::*;
use std::sync::Arc;
use zeroize::Zeroizing;

mod choice;

pub use choice::Choice;

/// Bands of values that a factor takes its own from: `omega^(a_i)` and its conjugate for `i` below N/2, then for `i` above.
pub const BANDS: usize = 4;
/// Special limbs of a column: its inputs are short, so the first special prime is enough.
const COLUMN_SPECIAL: usize = 1;

/// How factors are cut into digits, and what the digits of key switches are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RotorShape {
    /// Where the sparse secret has its coefficients.
    pub places: Places,
    /// Values of the first digit of a rotation.
    pub columns: usize,
    /// Values of the others.
    pub mux: Vec<usize>,
    /// Raised limbs.
    pub raised: usize,
    /// Special limbs of muxes.
    pub special: usize,
    /// The raised limbs of every digit of a key switch.
    pub digits: Vec<Vec<usize>>,
    /// For few numbers how all factors are chosen at once, in place of rotations: columns are plaintexts, and there are no muxes.
    pub choice: Option<Choice>,
}

impl RotorShape {
    /// Rotations that the digits reach.
    #[must_use]
    pub fn reach(&self) -> usize {
        self.mux.iter().product::<usize>() * self.columns
    }
    /// Rotations between two values of mux `t`.
    fn stride(&self, t: usize) -> usize {
        self.mux[..t].iter().product::<usize>() * self.columns
    }
    /// The rotations to the right of the column of factor `k`, in a ring of degree `n`.
    fn column_rotations(&self, n: usize, k: usize) -> impl Iterator<Item = usize> {
        let start = self.places.start(n, k);
        (0..self.columns).map(move |i| start + i)
    }
    /// Those of mux `t`.
    fn mux_rotations(&self, t: usize) -> impl Iterator<Item = usize> + '_ {
        (0..self.mux[t]).map(move |v| v * self.stride(t))
    }
    /// The shape of a column key: a sample for each value and band.
    #[must_use]
    pub fn column_spec(&self) -> KeySwitchSpec {
        let digits = vec![(0..self.raised).collect(); BANDS * self.columns];
        KeySwitchSpec { q_limbs: self.raised, p_limbs: COLUMN_SPECIAL, digits }
    }
    /// The shape of the key of mux `t`: for each value samples that meet the digits of c1, and as many for c0.
    #[must_use]
    pub fn mux_spec(&self, t: usize) -> KeySwitchSpec {
        let digits = (0..2 * self.mux[t]).flat_map(|_| self.digits.clone()).collect();
        KeySwitchSpec { q_limbs: self.raised, p_limbs: self.special, digits }
    }
    /// The shapes of all keys of one factor, the column first.
    fn specs(&self) -> Vec<KeySwitchSpec> {
        std::iter::once(self.column_spec()).chain((0..self.mux.len()).map(|t| self.mux_spec(t))).collect()
    }
    /// Bytes of all keys in memory, on the raised primes of a context's parameters.
    ///
    /// # Errors
    /// Limbs that the parameters lack.
    pub fn byte_count(&self, raised: &crate::Params) -> Result<usize, Error> {
        let one = |spec: KeySwitchSpec| {
            let primes = crate::wire::primes(raised, spec.q_limbs, spec.p_limbs)?;
            Ok(KeyStream::forecast(raised.n(), primes.iter().map(|(_, m)| m), spec.digits.len(), 2))
        };
        self.keys().into_iter().map(|(_, spec)| one(spec)).sum()
    }

    /// The variance of a coefficient of a factor in units of its scale before the last division, `scale` that of the bands, `square` the
    /// squared norm of the main secret: a rounding for the column and all but the last mux, and the errors of all keys.
    #[must_use]
    pub fn noise(&self, raised: &crate::Params, square: f64, scale: f64) -> f64 {
        let column = raised.p()[0] as f64;
        let sigma = aglet_ring::sample::GAUSSIAN_SIGMA * aglet_ring::sample::GAUSSIAN_SIGMA;
        let keys: f64 = (0..self.mux.len()).map(|t| self.mux_spec(t).noise(raised, self.raised)).sum();
        let samples = if self.choice.is_some() { choice::SIGNS } else { BANDS };
        let masks = samples as f64 * self.columns as f64 * sigma * (scale / column).powi(2);
        self.mux.len() as f64 * (square + 1.0) / 12.0 + keys + masks
    }
}

/// A secret rotation as digits, which are secret: constant time.
struct Turn {
    column: u64,
    mux: Vec<u64>,
}

/// `x / by` and the rest of numbers with a quotient below `most`: without a division, whose time may tell of `x`.
fn divided(x: u64, by: u64, most: usize) -> (u64, u64) {
    let reached = |i: usize| 1 ^ (x.wrapping_sub(i as u64 * by) >> 63);
    let quotient = (1..most).map(reached).sum();
    (quotient, x - quotient * by)
}

impl Turn {
    fn new(shape: &RotorShape, n: usize, k: usize, place: u64) -> Self {
        let turn = place.wrapping_sub(shape.places.start(n, k) as u64) & (n as u64 / 2 - 1);
        let (mut rest, column) = divided(turn, shape.columns as u64, shape.reach() / shape.columns);
        let mut mux = vec![0; shape.mux.len()];
        for t in (0..shape.mux.len()).rev() {
            (mux[t], rest) = divided(rest, (shape.stride(t) / shape.columns) as u64, shape.mux[t]);
        }
        Self { column, mux }
    }
}

/// The mask of one band where the column leaves it: 1 where the factor takes its value from the band, and 0 everywhere if the
/// column is not this one. Constant time.
fn mask(shape: &RotorShape, (n, k): (usize, usize), (place, sign): (u64, i8), (i, band): (usize, usize)) -> Vec<f64> {
    let (half, turn) = (n as u64 / 2, Turn::new(shape, n, k, place));
    let rest = (0..shape.mux.len()).fold(0, |sum, t| sum + turn.mux[t] * shape.stride(t) as u64);
    let (here, negative) = (same(turn.column, i as u64), u64::from(sign as u8 >> 7));
    let at = |u: u64| {
        // Where the muxes bring this number to, and the coefficient that its value is taken from.
        let to = (u + rest) & (half - 1);
        let wraps = to.wrapping_sub(place) >> 63;
        let source = to.wrapping_sub(place) & (n as u64 - 1);
        let own = 2 * (1 ^ (source.wrapping_sub(half) >> 63)) + (wraps ^ negative);
        (here & same(own, band as u64)) as f64
    };
    (0..half).map(at).collect()
}

/// A key of one digit of a rotation, packed.
pub struct RotorKey {
    id: KeyId,
    spec: KeySwitchSpec,
    seed: [u8; 32],
    stream: KeyStream,
}

impl RotorKey {
    /// Packs what was made or read as a switching key of this shape on the raised primes of `ctx`.
    ///
    /// # Errors
    /// Memory that cannot be had.
    pub fn packed(ctx: &Context, key: SwitchingKey) -> Result<Self, Error> {
        let (id, spec, words, seed) = key.into_parts();
        let stream = KeyStream::new(ctx.ring(), &words.halves())?;
        Ok(Self { id, spec, seed, stream })
    }

    /// The key of these samples. What is packed goes back to the pool.
    fn made(
        ctx: &Context,
        spec: KeySwitchSpec,
        samples: &[(Multiplier<'_>, &Poly<Eval>)],
        sk: &SecretKey,
        random: &mut ChaChaSource,
    ) -> Result<Self, Error> {
        let (q_limbs, p_limbs) = (spec.q_limbs, spec.p_limbs);
        let room = || Ok(ctx.ring().scratch(q_limbs, p_limbs)?);
        Self::packed(ctx, SwitchingKey::generate_in(ctx, spec, samples, sk, random, room)?)
    }

    /// The masks of factor `k`.
    fn column(
        ctx: &Context,
        (shape, k): (&RotorShape, usize),
        coefficient: (u64, i8),
        sk: &SecretKey,
        random: &mut ChaChaSource,
    ) -> Result<Self, Error> {
        let (ring, spec, fft) = (ctx.ring(), shape.column_spec(), SpecialFft::new(ctx.ring().n() / 2));
        let special = ring.modulus(ring.q_count()).value() as f64;
        let samples: Vec<_> = (0..shape.columns).flat_map(|i| (0..BANDS).map(move |band| (i, band))).collect();
        let encoded = |&sample: &(usize, usize)| {
            let values = Zeroizing::new(mask(shape, (ring.n(), k), coefficient, sample));
            let coefficients = Zeroizing::new(fft.coefficients(&values, special)?);
            Ok(ring.to_eval(ring.lift(&coefficients, ring.secret_scratch(spec.q_limbs, spec.p_limbs)?)))
        };
        let masks = samples.par_iter().map(encoded).collect::<Result<Vec<Poly<Eval>>, Error>>()?;
        let samples: Vec<_> = masks.iter().map(|mask| (Multiplier::integer(-1), mask)).collect();
        Self::made(ctx, spec, &samples, sk, random)
    }

    /// The selectors of mux `t` of factor `k`.
    fn mux(
        ctx: &Context,
        (shape, k, t): (&RotorShape, usize, usize),
        (place, _): (u64, i8),
        sk: &SecretKey,
        random: &mut ChaChaSource,
    ) -> Result<Self, Error> {
        let (ring, spec) = (ctx.ring(), shape.mux_spec(t));
        let special = ring.special_product(shape.special);
        let limbs = 0..spec.q_limbs + spec.p_limbs;
        // Minus P modulo the primes of the digit, 0 modulo the others.
        let residue = |digit: &[usize], i| if digit.contains(&i) { ring.modulus(i).neg(special[i]) } else { 0 };
        let minus: Vec<Vec<u64>> =
            shape.digits.iter().map(|digit| limbs.clone().map(|i| residue(digit, i)).collect()).collect();
        let chosen = Turn::new(shape, ring.n(), k, place).mux[t];
        let mut messages = Vec::with_capacity(2 * shape.mux[t]);
        for (v, rotation) in shape.mux_rotations(t).enumerate() {
            let here = same(chosen, v as u64);
            let shape = (spec.q_limbs, spec.p_limbs);
            let mut turned: Poly<Eval> = ring.secret_scratch(shape.0, shape.1)?;
            ring.permute(sk.eval(), &right(ctx, rotation), &mut turned);
            let mut image = [ring.secret_scratch(shape.0, shape.1)?];
            ring.forms_to(&[Form::multiple(Multiplier::integer(i128::from(here)), &turned)], &mut image);
            let mut one = Zeroizing::new(vec![0i64; ring.n()]);
            one[0] = here as i64;
            let one = ring.to_eval(ring.lift_short(&one, ring.secret_scratch(shape.0, shape.1)?));
            messages.extend(image);
            messages.push(one);
        }
        let of = |message| minus.iter().map(move |minus| (Multiplier::Residues(minus), message));
        let samples: Vec<_> = messages.iter().flat_map(of).collect();
        Self::made(ctx, spec, &samples, sk, random)
    }

    /// The name of the secret key that results are under.
    pub fn id(&self) -> KeyId {
        self.id
    }
    /// Its limbs and samples.
    pub fn spec(&self) -> &KeySwitchSpec {
        &self.spec
    }
    /// Bytes in memory.
    pub fn byte_count(&self) -> usize {
        self.stream.byte_count()
    }
    /// The seed of its uniform halves.
    pub fn seed(&self) -> &[u8; 32] {
        &self.seed
    }
    /// The other half of a sample.
    ///
    /// # Errors
    /// Memory that cannot be had.
    pub fn body(&self, ctx: &Context, sample: usize) -> Result<Poly<Eval>, Error> {
        Ok(self.stream.unpacked(ctx.ring(), sample, 0)?)
    }

    fn apply(&self, ctx: &Context, of: &[Vec<&Digits>], rotations: &[Arc<Automorphism>]) -> Result<Vec<Pair>, Error> {
        let rotations: Vec<&Automorphism> = rotations.iter().map(|phi| &**phi).collect();
        Ok(ctx.ring().stream_sums(of, &self.stream, &rotations)?)
    }
}

/// The automorphism that rotates numbers to the right.
fn right(ctx: &Context, by: usize) -> Arc<Automorphism> {
    ctx.ring().automorphism(rotation_exponent(-(by as isize), ctx.ring().n()))
}

/// The keys of all factors of one sparse secret, on the raised primes of a context of their own.
pub struct RotorKeys {
    ctx: Arc<Context>,
    shape: RotorShape,
    /// For each factor its column, then its muxes.
    factors: Vec<Vec<RotorKey>>,
}

impl RotorKeys {
    /// Makes the keys on the raised primes, which are the chain of `ctx`, those of a factor side by side; `random` is asked for a source for
    /// each key, by factor and digit, in no certain order.
    ///
    /// # Errors
    /// Those of `random` and of keys.
    pub fn generate<E: From<Error> + Send>(
        ctx: &Arc<Context>,
        shape: &RotorShape,
        secret: &PlacedCoefficients,
        sk: &SecretKey,
        random: impl Fn(usize, usize) -> Result<ChaChaSource, E> + Sync,
    ) -> Result<Self, E> {
        if let Some(choice) = &shape.choice {
            return Self::of_choice(ctx, (shape, choice), (secret, sk), random);
        }
        let key = |k: usize, digit: usize| {
            let (coefficient, mut source) = (secret.get(k), random(k, digit)?);
            Ok(match digit.checked_sub(1) {
                None => RotorKey::column(ctx, (shape, k), coefficient, sk, &mut source)?,
                Some(t) => RotorKey::mux(ctx, (shape, k, t), coefficient, sk, &mut source)?,
            })
        };
        let factor = |k: usize| (0..=shape.mux.len()).into_par_iter().map(|digit| key(k, digit)).collect();
        let factors = (0..shape.places.weight).map(factor).collect::<Result<_, E>>()?;
        Ok(Self { ctx: ctx.clone(), shape: shape.clone(), factors })
    }

    /// The keys made of these, all columns and muxes in their order.
    ///
    /// # Errors
    /// [`Error::Stored`] unless they have the shapes that belong there.
    pub fn from_keys(ctx: Arc<Context>, shape: RotorShape, keys: Vec<RotorKey>) -> Result<Self, Error> {
        let specs = shape.keys();
        let fits = keys.iter().zip(&specs).all(|(key, (_, spec))| key.spec == *spec);
        if !fits || keys.len() != specs.len() {
            return Err(Error::Stored {
                what: "keys of roots of unity have other shapes than their parameters give them",
            });
        }
        let (mut keys, each) = (keys.into_iter(), if shape.choice.is_some() { 1 } else { shape.mux.len() + 1 });
        let factors = (0..specs.len() / each).map(|_| keys.by_ref().take(each).collect()).collect();
        Ok(Self { ctx, shape, factors })
    }

    /// The context whose chain is the raised primes.
    pub fn context(&self) -> &Arc<Context> {
        &self.ctx
    }
    /// How factors are cut.
    pub fn shape(&self) -> &RotorShape {
        &self.shape
    }
    /// All keys: factor by factor, the column and then the muxes.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &RotorKey> {
        self.factors.iter().flatten()
    }
    /// The name of the secret key that factors are under.
    pub fn id(&self) -> Option<KeyId> {
        self.iter().next().map(RotorKey::id)
    }
    /// Bytes in memory.
    pub fn byte_count(&self) -> usize {
        self.iter().map(RotorKey::byte_count).sum()
    }

    /// For each of several lists of bands, encoded at the raised primes and the first special one, all factors on the first `limbs` primes of the
    /// chain: the keys are read once. `stop` is asked before each digit.
    ///
    /// # Errors
    /// Those of `stop`; memory that cannot be had.
    pub fn factors(
        &self,
        bands: &[Digits],
        limbs: usize,
        stop: &(dyn Fn() -> Result<(), Error> + Sync),
    ) -> Result<Vec<Vec<Vec<Poly<Eval>>>>, Error> {
        let factor = |k: usize| self.factor(k, bands, limbs, stop);
        let by_factor = (0..self.factors.len()).into_par_iter().map(factor).collect::<Result<Vec<_>, _>>()?;
        let mut out: Vec<Vec<_>> = bands.iter().map(|_| Vec::with_capacity(self.factors.len())).collect();
        for of_factor in by_factor {
            of_factor.into_iter().zip(&mut out).for_each(|(polys, list)| list.push(polys));
        }
        Ok(out)
    }

    /// One factor of each list of bands.
    fn factor(
        &self,
        k: usize,
        bands: &[Digits],
        limbs: usize,
        stop: &(dyn Fn() -> Result<(), Error> + Sync),
    ) -> Result<Vec<Vec<Poly<Eval>>>, Error> {
        let (ctx, shape, keys) = (&*self.ctx, &self.shape, &self.factors[k]);
        stop()?;
        let rotations: Vec<_> = shape.column_rotations(ctx.ring().n(), k).map(|by| right(ctx, by)).collect();
        let of: Vec<_> = bands.iter().map(|bands| vec![bands]).collect();
        let mut sums = keys[0].apply(ctx, &of, &rotations)?;
        for t in 0..shape.mux.len() {
            stop()?;
            let rotations: Vec<_> = shape.mux_rotations(t).map(|by| right(ctx, by)).collect();
            let digits = sums.iter().map(|(b, a)| {
                let halves = divide(ctx, &[a, b], 0)?;
                let halves: Vec<&Poly<Eval>> = halves.iter().collect();
                Ok(ctx.ring().digits(&halves, (shape.raised, shape.special), &shape.digits)?)
            });
            let digits = digits.collect::<Result<Vec<Vec<Digits>>, Error>>()?;
            let of: Vec<Vec<&Digits>> = digits.iter().map(|digits| digits.iter().collect()).collect();
            sums = keys[t + 1].apply(ctx, &of, &rotations)?;
        }
        sums.iter().map(|(b, a)| settle(ctx, &[b, a], limbs)).collect()
    }
}

#[cfg(test)]
#[path = "tests/rotor.rs"]
mod tests;
