//! Batches of rotations on the threads of an engine.

use super::card::Batch;
use super::memory::room;
use super::{BootstrapKey, Engine};
use crate::{Control, Error, KeyId};
use aglet_bootstrap::fhew::functional::Rotate;
use aglet_ring::BlockRotation;
use aglet_rlwe::lwe::{BlindRotationKey, GlweSample, LweCiphertext, LweContext};
use rayon::prelude::*;
use std::sync::{Arc, Mutex, PoisonError};

/// The number of ciphertexts that share each block of the key, so that their accumulators stay in the L2 cache.
const TOGETHER: usize = 32;
/// The accumulators that a card rotates at once: many times as many as it has processors, in at most 128 MB. Between two batches somebody
/// may ask to stop.
pub(super) const ON_CARD: usize = 4096;
/// The most tables that share a rotation.
const RESULTS: usize = 8;

/// An engine at work with a key.
pub(super) struct Workers<'a> {
    engine: &'a Engine,
    key: &'a BootstrapKey,
    control: &'a Control,
    /// What rotates in place of the threads.
    there: Option<Arc<dyn BlockRotation>>,
    /// Accumulators that it takes at once.
    on_card: usize,
    /// Rotations of the whole call, as far as known, and those that are done.
    progress: Mutex<(usize, usize)>,
}

impl Engine {
    /// Does what is made of so many rotations, about, with a key, on the threads of the engine.
    pub(super) fn work<T: Send>(
        &self,
        key: &BootstrapKey,
        control: &Control,
        rotations: usize,
        work: impl FnOnce(&Workers) -> Result<T, aglet_bootstrap::Error> + Send,
    ) -> Result<T, Error> {
        self.work_with((key, None), control, rotations, work)
    }

    /// The same with rotations that choose, by keys of their own where there are some.
    pub(super) fn work_with<T: Send>(
        &self,
        (key, choices): (&BootstrapKey, Option<&BlindRotationKey>),
        control: &Control,
        rotations: usize,
        work: impl FnOnce(&Workers) -> Result<T, aglet_bootstrap::Error> + Send,
    ) -> Result<T, Error> {
        // Sums and what is made of them.
        room(&self.context(), 2 * rotations)?;
        let progress = Mutex::new((rotations, 0));
        let (_, backend) = self.runtime.machine();
        self.runtime.run(|| {
            let free = backend.room()?;
            if let Some(room) = free {
                let fits = |chooses| self.fits_card(room, chooses);
                // Keys that choose, of an earlier call, leave where they are in the way.
                if choices.is_none() && key.chooses_on(&backend) && fits(true).is_err() {
                    key.forget_choices();
                }
                fits(choices.is_some())?;
            }
            let chooses = choices.is_some() || key.chooses_on(&backend);
            let (there, on_card) = (key.on(&self.ctx, &backend)?, self.at_once(free, chooses));
            Ok(work(&Workers { engine: self, key, control, there, on_card, progress })?)
        })
    }

    /// The accumulators, each with a start and as many results as there can be, that a card with room for so many bytes takes at once.
    fn at_once(&self, room: Option<u64>, chooses: bool) -> usize {
        let one = self.card_memory_of(Batch { count: 1, own: true, places: RESULTS, chooses });
        let Some((room, one)) = room.zip(one) else { return ON_CARD };
        (room.saturating_sub(one.keys() as u64) as usize / one.working).clamp(1, ON_CARD)
    }
}

impl Workers<'_> {
    /// What `work`, on a card or on the threads, makes of parts of the inputs with their starts, in their order: a list of one thing for each start of each.
    fn batches<T: Send>(
        &self,
        cts: &[LweCiphertext],
        starts: &[GlweSample],
        on_card: bool,
        work: impl Fn(&[LweCiphertext], &[GlweSample]) -> Result<Vec<T>, aglet_bootstrap::Error> + Sync,
    ) -> Result<Vec<T>, aglet_bootstrap::Error> {
        let each = starts.len().checked_div(cts.len()).unwrap_or_default().max(1);
        let together = match on_card {
            true => self.on_card,
            false => (each * cts.len()).div_ceil(self.engine.runtime.threads()).clamp(1, TOGETHER),
        };
        // Noisier inputs than fresh ones may take more rotations than were planned.
        let mut progress = self.progress.lock().unwrap_or_else(PoisonError::into_inner);
        progress.0 = progress.0.max(progress.1 + each * cts.len());
        drop(progress);
        let batch = |(some, own): (&[LweCiphertext], &[GlweSample])| {
            if self.control.cancelled() {
                return Err(aglet_bootstrap::Error::Cancelled);
            }
            let made = work(some, own)?;
            // Threads report one after the other, so that the number only grows.
            let mut progress = self.progress.lock().unwrap_or_else(PoisonError::into_inner);
            progress.1 += made.len();
            self.control.report(progress.1, progress.0, "rotations");
            Ok(made)
        };
        let batches: Vec<_> = if starts.len() == 1 {
            cts.chunks(together).map(|some| (some, starts)).collect()
        } else if each <= together {
            let count = together / each;
            cts.chunks(count).zip(starts.chunks(count * each)).collect()
        } else {
            let pairs = cts.iter().zip(starts.chunks(each));
            pairs.flat_map(|(ct, own)| own.chunks(together).map(move |some| (std::slice::from_ref(ct), some))).collect()
        };
        let batches: Result<Vec<Vec<T>>, _> = match on_card {
            true => batches.into_iter().map(batch).collect(),
            false => batches.into_par_iter().map(batch).collect(),
        };
        Ok(batches?.into_iter().flatten().collect())
    }

    /// What `then` makes of each result of rotations in batches.
    fn rotations<T: Send>(
        &self,
        cts: &[LweCiphertext],
        starts: &[GlweSample],
        on_card: bool,
        then: impl Fn(GlweSample) -> Result<T, aglet_bootstrap::Error> + Sync,
        rotate: impl Fn(&[LweCiphertext], &[GlweSample]) -> Result<Vec<GlweSample>, aglet_bootstrap::Error> + Sync,
    ) -> Result<Vec<T>, aglet_bootstrap::Error> {
        self.batches(cts, starts, on_card, |some, own| {
            let rotated = rotate(some, own)?;
            match on_card {
                true => rotated.into_par_iter().map(&then).collect(),
                false => rotated.into_iter().map(&then).collect(),
            }
        })
    }
}

impl Rotate for Workers<'_> {
    fn context(&self) -> &LweContext {
        &self.engine.ctx
    }

    fn id(&self) -> KeyId {
        self.key.id()
    }

    /// Shared out to the threads; the accumulators of a thread share each block of the key. A card takes many at once, one batch after
    /// the other.
    fn rotate<T: Send>(
        &self,
        cts: &[LweCiphertext],
        starts: &[GlweSample],
        log_tables: u32,
        then: impl Fn(GlweSample) -> Result<T, aglet_bootstrap::Error> + Sync,
    ) -> Result<Vec<T>, aglet_bootstrap::Error> {
        let (ctx, key) = (&self.engine.ctx, &self.key.key);
        self.rotations(cts, starts, self.there.is_some(), then, |some, own| match &self.there {
            Some(there) => key.rotate_tables_by(ctx, &**there, some, own, log_tables),
            None => key.rotate_tables(ctx, some, own, log_tables),
        })
    }

    /// On a card nothing else than these coefficients comes back.
    fn extract(
        &self,
        cts: &[LweCiphertext],
        starts: &[GlweSample],
        log_tables: u32,
        at: &[usize],
    ) -> Result<Vec<Vec<LweCiphertext>>, aglet_bootstrap::Error> {
        let (ctx, key) = (&self.engine.ctx, &self.key.key);
        let Some(there) = &self.there else {
            let list = |sample: GlweSample| Ok(at.iter().map(|&at| sample.extract(ctx, at)).collect());
            return self.rotate(cts, starts, log_tables, list);
        };
        self.batches(cts, starts, true, |some, own| key.extract_by(ctx, &**there, (some, own, log_tables), at))
    }

    fn choose<T: Send>(
        &self,
        choices: &BlindRotationKey,
        cts: &[LweCiphertext],
        starts: &[GlweSample],
        then: impl Fn(GlweSample) -> Result<T, aglet_bootstrap::Error> + Sync,
    ) -> Result<Vec<T>, aglet_bootstrap::Error> {
        let (ctx, (_, backend)) = (&self.engine.ctx, self.engine.runtime.machine());
        let there = self.key.choices_on(ctx, &backend, choices)?;
        let there = there.as_deref();
        self.rotations(cts, starts, there.is_some(), then, |some, own| {
            self.key.key.choose(ctx, (choices, there), some, own)
        })
    }

    /// As [`Workers::extract`].
    fn choose_some(
        &self,
        choices: &BlindRotationKey,
        cts: &[LweCiphertext],
        starts: &[GlweSample],
        at: &[usize],
    ) -> Result<Vec<Vec<LweCiphertext>>, aglet_bootstrap::Error> {
        let (ctx, (_, backend)) = (&self.engine.ctx, self.engine.runtime.machine());
        match self.key.choices_on(ctx, &backend, choices)? {
            Some(there) => self.batches(cts, starts, true, |some, own| {
                self.key.key.choose_by(ctx, (choices, &*there), (some, own), at)
            }),
            None => {
                self.choose(choices, cts, starts, |sample| Ok(at.iter().map(|&at| sample.extract(ctx, at)).collect()))
            }
        }
    }

    fn each<T: Sync, U: Send>(
        &self,
        items: &[T],
        work: impl Fn(&T) -> Result<U, aglet_bootstrap::Error> + Sync,
    ) -> Result<Vec<U>, aglet_bootstrap::Error> {
        let one = |item| match self.control.cancelled() {
            true => Err(aglet_bootstrap::Error::Cancelled),
            false => work(item),
        };
        items.par_iter().map(one).collect()
    }
}
