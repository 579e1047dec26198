//! The bootstrap of LWE ciphertexts, whatever the method of its rotation: key switch, modulus switch, blind rotation,
//! sample extraction.

use super::{BlindRotation, Blocks, Dm, Lmkcdey, Ntru};
use crate::fault::RotationFault;
use crate::Error;
use aglet_ring::blind::Gadget;
use aglet_ring::packed::{KeyShape, PackedKey};
use aglet_ring::sample::ChaChaSource;
use aglet_ring::small::Words;
use aglet_ring::{Backend, BlockRotation, LweBatch, LweResults};
use aglet_rlwe::lwe::{
    BlindRotationKey, GlweSample, LweCiphertext, LweContext, LweSecretKey, LweSwitchingKey, Method, Progress,
    SeededKey, Switched,
};
use aglet_rlwe::KeyId;
use rayon::prelude::*;
use std::sync::Arc;

/// The keys of a bootstrap.
///
/// Every lookup is built on three calls, which all methods share: [`FhewBootstrapKey::bootstrap`] for one table,
/// [`FhewBootstrapKey::bootstrap_each`] for one table for each ciphertext, [`FhewBootstrapKey::rotate_tables`] for
/// whole GLWE samples.
pub struct FhewBootstrapKey {
    rotation: Box<dyn BlindRotation>,
    switch: LweSwitchingKey,
    id: KeyId,
}

impl FhewBootstrapKey {
    /// Makes the keys.
    ///
    /// # Errors
    /// Out of memory; [`aglet_rlwe::Error::Cancelled`].
    pub fn generate(
        ctx: &LweContext,
        sk: &LweSecretKey,
        source: &mut ChaChaSource,
        progress: &mut Progress<'_>,
    ) -> Result<Self, aglet_rlwe::Error> {
        let rotation: Box<dyn BlindRotation> = match ctx.params().spec().method {
            Method::Blocks | Method::Ginx => Box::new(Blocks::generate(ctx, sk, source, progress)?),
            Method::Dm(base) => Box::new(Dm::generate(ctx, sk, base, source, progress)?),
            Method::Lmkcdey(window) => Box::new(Lmkcdey::generate(ctx, sk, window, source, progress)?),
            Method::Ntru => Box::new(Ntru::generate(ctx, sk, source, progress)?),
        };
        Ok(Self { rotation, switch: LweSwitchingKey::generate(ctx, sk, source)?, id: sk.id() })
    }

    /// The shapes of its keys: those of the rotation, and of the key switch, which has another table.
    #[must_use]
    pub fn shapes(ctx: &LweContext) -> (Vec<KeyShape>, KeyShape) {
        let rotation = match ctx.params().spec().method {
            Method::Blocks | Method::Ginx => vec![Blocks::shape(ctx)],
            Method::Dm(base) => vec![Dm::shape(ctx, base)],
            Method::Lmkcdey(window) => Lmkcdey::shapes(ctx, window).to_vec(),
            Method::Ntru => vec![Ntru::shape(ctx)],
        };
        (rotation, LweSwitchingKey::shape(ctx))
    }

    /// Its keys, in the order of [`FhewBootstrapKey::shapes`].
    #[must_use]
    pub fn keys(&self) -> (Vec<&SeededKey>, &SeededKey) {
        (self.rotation.keys(), self.switch.samples())
    }

    /// Makes the bootstrap key from stored keys.
    ///
    /// # Errors
    /// [`aglet_rlwe::Error::Stored`] for another number of them.
    pub fn of(
        ctx: &LweContext,
        rotation: Vec<SeededKey>,
        switch: SeededKey,
        id: KeyId,
    ) -> Result<Self, aglet_rlwe::Error> {
        let missing = aglet_rlwe::Error::Stored { what: "FHEW bootstrap key lacks a part" };
        let mut rotation = rotation.into_iter();
        let mut next = || rotation.next().ok_or_else(|| missing.clone());
        let first = next()?;
        let coordinates = |samples| BlindRotationKey::of(samples, ctx.params().spec().gadget, id);
        let rotation: Box<dyn BlindRotation> = match ctx.params().spec().method {
            Method::Blocks | Method::Ginx => Box::new(Blocks::of(coordinates(first))),
            Method::Dm(base) => Box::new(Dm::of(coordinates(first), base)),
            Method::Lmkcdey(window) => Box::new(Lmkcdey::of_samples(ctx, coordinates(first), next()?, window)),
            Method::Ntru => Box::new(Ntru::of(first)),
        };
        Ok(Self { rotation, switch: LweSwitchingKey::of(switch, id), id })
    }

    /// Bytes that keys of these parameters take in memory.
    #[must_use]
    pub fn forecast(ctx: &LweContext) -> usize {
        let (rotation, switch) = Self::shapes(ctx);
        let rotation = rotation.into_iter().map(|shape| PackedKey::forecast(ctx.table(), shape));
        rotation.sum::<usize>() + PackedKey::forecast(ctx.switch_table(), switch)
    }

    /// Bytes in memory.
    #[must_use]
    pub fn byte_count(&self) -> usize {
        let (rotation, switch) = self.keys();
        rotation.into_iter().chain([switch]).map(|key| key.packed().byte_count()).sum()
    }

    /// The secret key that they are of.
    #[must_use]
    pub fn id(&self) -> KeyId {
        self.id
    }

    /// Evaluates a table on each phase and gives fresh ciphertexts. A phase in `[i, i + 1) / 2N` of the torus gives
    /// `table[i]`, and half the torus further its negative. Several ciphertexts share each part of the key while it is
    /// in the cache.
    ///
    /// # Errors
    /// [`aglet_rlwe::Error::KeyMismatch`] for a ciphertext of another key; a table without exactly N entries.
    pub fn bootstrap(
        &self,
        ctx: &LweContext,
        cts: &[LweCiphertext],
        table: &[u64],
    ) -> Result<Vec<LweCiphertext>, Error> {
        let start = GlweSample::trivial(ctx, table, self.id)?;
        let samples = self.rotate_tables(ctx, cts, std::slice::from_ref(&start), 0)?;
        Ok(samples.iter().map(|sample| sample.extract(ctx, 0)).collect())
    }

    /// The blind rotation itself: `X^(-e)` times a start for each ciphertext, whose phase is `e / 2N` of the torus
    /// (rounded down). A start is a table in the clear ([`GlweSample::trivial`]) or an encrypted sample, whose noise
    /// stays. There is one start for all ciphertexts, or as many for each, one after the other. Coefficient i of a
    /// result is coefficient `i + e` of its start, so several entries can be extracted from it.
    ///
    /// With `log_tables` above 0, exponents are multiples of `2^log_tables`: coefficients 0 to `2^log_tables - 1` are entries of as
    /// many tables that lie interleaved in the start, and the variance of the modulus switch grows by `4^log_tables`.
    ///
    /// # Errors
    /// [`aglet_rlwe::Error::KeyMismatch`] for a ciphertext or start of another key; another number of starts than of ciphertexts and than 1; more
    /// tables than entries.
    pub fn rotate_tables(
        &self,
        ctx: &LweContext,
        cts: &[LweCiphertext],
        starts: &[GlweSample],
        log_tables: u32,
    ) -> Result<Vec<GlweSample>, Error> {
        self.check(ctx, cts, starts, log_tables)?;
        let switched = cts.iter().map(|ct| self.switched(ctx, ct, log_tables)).collect::<Result<Vec<_>, Error>>()?;
        rotated(ctx, &switched, starts, None, |accs| {
            self.rotation.rotate(ctx, &switched, accs);
            Ok(())
        })
    }

    /// [`FhewBootstrapKey::rotate_tables`] of starts that hold encrypted values, of which each rotation chooses one or two: by keys of one
    /// digit, see [`aglet_rlwe::lwe::LweParams::choice_gadget`], which are on a backend if `there` says so. Results have the noise of
    /// [`aglet_rlwe::lwe::LweParams::choice_noise`] and that of their starts.
    ///
    /// # Errors
    /// As there, and for keys of another secret.
    pub fn choose(
        &self,
        ctx: &LweContext,
        (choices, there): (&BlindRotationKey, Option<&dyn BlockRotation>),
        cts: &[LweCiphertext],
        starts: &[GlweSample],
    ) -> Result<Vec<GlweSample>, Error> {
        self.check(ctx, cts, starts, 0)?;
        self.own_choices(choices)?;
        if let Some(there) = there {
            return self.whole(ctx, there, (cts, starts, 0), Some(choices.gadget()));
        }
        let switched = cts.iter().map(|ct| self.switched(ctx, ct, 0)).collect::<Result<Vec<_>, Error>>()?;
        rotated(ctx, &switched, starts, Some(choices.gadget()), |accs| {
            Blocks::rotate_by(choices, ctx, &switched, accs);
            Ok(())
        })
    }

    /// [`FhewBootstrapKey::rotate_tables`] by its keys on a backend, with the same words.
    ///
    /// # Errors
    /// As there, and those of the backend.
    pub fn rotate_tables_by(
        &self,
        ctx: &LweContext,
        there: &dyn BlockRotation,
        cts: &[LweCiphertext],
        starts: &[GlweSample],
        log_tables: u32,
    ) -> Result<Vec<GlweSample>, Error> {
        self.whole(ctx, there, (cts, starts, log_tables), None)
    }

    /// The results of a rotation by a backend, by keys with the digits of choices or by its own.
    fn whole(
        &self,
        ctx: &LweContext,
        there: &dyn BlockRotation,
        (cts, starts, log_tables): (&[LweCiphertext], &[GlweSample], u32),
        choice: Option<Gadget>,
    ) -> Result<Vec<GlweSample>, Error> {
        let (switched, results) = self.bootstrapped(ctx, there, (cts, starts, log_tables), None)?;
        let sample = |(result, (start, by)): (Vec<u64>, (&GlweSample, &Switched))| {
            let mut words = Words::zeros(result.len());
            words.copy_from_slice(&result);
            Ok(GlweSample::rotated(ctx, words, start, by, choice)?)
        };
        results.into_iter().zip(pairs(&switched, starts)).map(sample).collect()
    }

    /// Coefficients `at` of [`FhewBootstrapKey::rotate_tables_by`], a list for each result: what is not wanted stays on the backend.
    ///
    /// # Errors
    /// As there.
    pub fn extract_by(
        &self,
        ctx: &LweContext,
        there: &dyn BlockRotation,
        (cts, starts, log_tables): (&[LweCiphertext], &[GlweSample], u32),
        at: &[usize],
    ) -> Result<Vec<Vec<LweCiphertext>>, Error> {
        self.coefficients(ctx, there, (cts, starts, log_tables), (at, None))
    }

    /// Coefficients `at` of [`FhewBootstrapKey::choose`] by keys on a backend, a list for each result.
    ///
    /// # Errors
    /// As there.
    pub fn choose_by(
        &self,
        ctx: &LweContext,
        (choices, there): (&BlindRotationKey, &dyn BlockRotation),
        (cts, starts): (&[LweCiphertext], &[GlweSample]),
        at: &[usize],
    ) -> Result<Vec<Vec<LweCiphertext>>, Error> {
        self.own_choices(choices)?;
        self.coefficients(ctx, there, (cts, starts, 0), (at, Some(choices.gadget())))
    }

    fn own_choices(&self, choices: &BlindRotationKey) -> Result<(), Error> {
        match choices.key() == self.id {
            true => Ok(()),
            false => {
                let (found, expected) = (choices.key(), self.id);
                Err(aglet_rlwe::Error::KeyMismatch { what: "packing key", found, expected }.into())
            }
        }
    }

    /// Coefficients of the results of a rotation by a backend, by keys with the digits of choices or by its own.
    fn coefficients(
        &self,
        ctx: &LweContext,
        there: &dyn BlockRotation,
        (cts, starts, log_tables): (&[LweCiphertext], &[GlweSample], u32),
        (at, choice): (&[usize], Option<Gadget>),
    ) -> Result<Vec<Vec<LweCiphertext>>, Error> {
        let (switched, results) = self.bootstrapped(ctx, there, (cts, starts, log_tables), Some(at))?;
        let mut results = results.into_iter();
        let list = |pair| {
            let own = at.iter().zip(results.by_ref());
            own.map(|(&at, words)| Ok(GlweSample::extracted(ctx, words, pair, at, choice)?)).collect()
        };
        pairs(&switched, starts).map(list).collect()
    }

    /// What a backend makes of a batch, and the exponents of its inputs.
    fn bootstrapped(
        &self,
        ctx: &LweContext,
        there: &dyn BlockRotation,
        (cts, starts, log_tables): (&[LweCiphertext], &[GlweSample], u32),
        coefficients: Option<&[usize]>,
    ) -> Result<(Vec<Switched>, Vec<Vec<u64>>), Error> {
        self.check(ctx, cts, starts, log_tables)?;
        cts.iter().try_for_each(|ct| self.switch.check(ctx, ct))?;
        let inputs: Vec<Vec<u64>> = cts.par_iter().map(|ct| [&ct.mask(ctx)[..], &[ct.body()]].concat()).collect();
        let starts: Vec<&[u64]> = starts.iter().map(GlweSample::words).collect();
        let batch = LweBatch { inputs: &inputs, starts: &starts, log_tables, coefficients };
        let LweResults { exponents, words } = there.bootstrap(&batch).map_err(aglet_rlwe::Error::from)?;
        Ok((exponents.into_iter().map(|(mask, body)| Switched { mask, body }).collect(), words))
    }

    /// Its rotations on a backend, such as a card; none where the host rotates.
    ///
    /// # Errors
    /// Those of the backend.
    pub fn on(
        &self,
        ctx: &LweContext,
        backend: &dyn Backend,
    ) -> Result<Option<Arc<dyn BlockRotation>>, aglet_rlwe::Error> {
        self.rotation.on(ctx, backend, &self.switch)
    }

    /// Keys of choices on a backend, for [`FhewBootstrapKey::choose`].
    ///
    /// # Errors
    /// Those of the backend.
    pub fn choices_on(
        &self,
        ctx: &LweContext,
        backend: &dyn Backend,
        choices: &BlindRotationKey,
    ) -> Result<Option<Arc<dyn BlockRotation>>, aglet_rlwe::Error> {
        Blocks::keys_on(choices, ctx, backend, &self.switch)
    }

    fn switched(&self, ctx: &LweContext, ct: &LweCiphertext, log_tables: u32) -> Result<Switched, Error> {
        Ok(Switched::new(ctx, &self.switch.apply(ctx, ct)?, log_tables))
    }

    fn check(
        &self,
        ctx: &LweContext,
        cts: &[LweCiphertext],
        starts: &[GlweSample],
        log_tables: u32,
    ) -> Result<(), Error> {
        let params = ctx.params();
        if starts.len() != 1 && !(starts.len() >= cts.len() && starts.len().is_multiple_of(cts.len())) {
            return Err(RotationFault::Starts { starts: starts.len(), ciphertexts: cts.len() }.into());
        }
        if log_tables >= params.spec().log_n {
            return Err(RotationFault::Tables { log_tables, entries: params.n() }.into());
        }
        if log_tables > 0 && params.spec().method.rotates_by_odd() {
            return Err(RotationFault::Odd { method: params.spec().method.name() }.into());
        }
        match starts.iter().find(|s| s.key() != self.id) {
            Some(s) => {
                let (found, expected) = (self.id, s.key());
                Err(aglet_rlwe::Error::KeyMismatch { what: "bootstrap key", found, expected }.into())
            }
            None => Ok(()),
        }
    }
}

/// What `rotate` makes of accumulators, one for each start of each input.
fn rotated(
    ctx: &LweContext,
    switched: &[Switched],
    starts: &[GlweSample],
    choice: Option<Gadget>,
    rotate: impl FnOnce(&mut [Words]) -> Result<(), Error>,
) -> Result<Vec<GlweSample>, Error> {
    let pairs = pairs(switched, starts);
    let turned = pairs.clone().map(|(start, by)| start.rotated_back(ctx, by.body));
    let mut accs: Vec<Words> = turned.map(GlweSample::into_words).collect();
    rotate(&mut accs)?;
    pairs.zip(accs).map(|((start, by), acc)| Ok(GlweSample::rotated(ctx, acc, start, by, choice)?)).collect()
}

/// Each start of each input. One start is that of all.
fn pairs<'a>(
    switched: &'a [Switched],
    starts: &'a [GlweSample],
) -> impl Iterator<Item = (&'a GlweSample, &'a Switched)> + Clone {
    let (own, each) = (usize::from(starts.len() > 1), starts.len().div_ceil(switched.len().max(1)));
    (0..switched.len() * each).map(move |i| (&starts[i * own], &switched[i / each]))
}
