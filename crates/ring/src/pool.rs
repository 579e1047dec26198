//! Buffers of words that return to a pool when dropped, so that a bootstrap allocates nothing once it is warm.

use crate::demand::Demand;
use crate::process::Lock;
use crate::Error;
use memmap2::MmapMut;
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Weak};
use zeroize::Zeroize;

/// Buffers of at least this many bytes are mapped on their own and ask for huge pages.
const LARGE: usize = 1 << 21;
/// Large buffers start at different offsets within a page: otherwise the same position of all of them would compete for the
/// same eight lines of the first cache. Seventeen lines apart, thirty buffers spread over all of its sets.
const COLOUR_WORDS: usize = 17 * 8;
/// Words of the smallest page; writing one of them makes the system map the page.
const PAGE_WORDS: usize = 512;

enum Storage {
    Heap(Vec<u64>),
    /// The map and the word that it is used from.
    Mapped(MmapMut, usize),
}

impl Storage {
    fn new(words: usize) -> Result<Self, Error> {
        let bytes = words * 8;
        if bytes < LARGE {
            let found = bytemuck::allocation::try_zeroed_vec(words);
            return found.map(Self::Heap).map_err(|()| Error::OutOfMemory { bytes });
        }
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        let colour = NEXT.fetch_add(1, Ordering::Relaxed) % PAGE_WORDS * COLOUR_WORDS % PAGE_WORDS;
        let map = MmapMut::map_anon(bytes + PAGE_WORDS * 8).map_err(|_| Error::OutOfMemory { bytes })?;
        // Huge pages only make it faster: a kernel that has none may say no.
        #[cfg(target_os = "linux")]
        let _ = map.advise(memmap2::Advice::HugePage);
        Ok(Self::Mapped(map, colour))
    }
    fn words(&self) -> &[u64] {
        match self {
            Self::Heap(v) => v,
            Self::Mapped(m, colour) => {
                let words: &[u64] = bytemuck::cast_slice(m);
                &words[*colour..words.len() - PAGE_WORDS + colour]
            }
        }
    }
    fn words_mut(&mut self) -> &mut [u64] {
        match self {
            Self::Heap(v) => v,
            Self::Mapped(m, colour) => {
                let words: &mut [u64] = bytemuck::cast_slice_mut(m);
                let end = words.len() - PAGE_WORDS + *colour;
                &mut words[*colour..end]
            }
        }
    }
    fn capacity(&self) -> usize {
        self.words().len()
    }
}

#[derive(Default)]
struct Shelves {
    /// By capacity in words.
    free: BTreeMap<usize, Vec<Storage>>,
    held_words: usize,
    demand: Demand,
    /// Memory ran out: until something is reserved, what comes back goes on to the system, where forecasts see it.
    short: bool,
}

/// Which free buffer serves where none has the size that is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fit {
    /// None: for what may live long, in which the rest of a larger one would be lost.
    Exact,
    /// The smallest that is larger: for what lives shortly.
    Larger,
}

impl Shelves {
    fn take(&mut self, capacity: usize, fit: Fit) -> Option<Storage> {
        let largest = if fit == Fit::Exact { capacity } else { usize::MAX };
        let found = self.free.range_mut(capacity..=largest).find_map(|(_, shelf)| shelf.pop())?;
        self.held_words -= found.capacity();
        Some(found)
    }
}

/// Keeps dropped buffers for the next taker, up to a bound.
pub struct Pool {
    shelves: Lock<Shelves>,
    grain: usize,
    limit_words: usize,
}

impl Pool {
    /// A pool whose buffers have sizes in multiples of `grain` words and that keeps at most `limit_bytes`.
    pub fn new(grain: usize, limit_bytes: usize) -> Arc<Self> {
        Arc::new(Self { shelves: Lock::default(), grain, limit_words: limit_bytes / 8 })
    }

    /// A buffer of `len` words with arbitrary contents.
    pub fn take(self: &Arc<Self>, len: usize, fit: Fit) -> Result<Buffer, Error> {
        let capacity = len.next_multiple_of(self.grain);
        let reused = {
            let mut shelves = self.shelves.lock();
            shelves.demand.lend(capacity);
            shelves.take(capacity, fit)
        };
        let storage = match reused {
            Some(s) => s,
            None => self.allocated(capacity)?,
        };
        Ok(Buffer { storage: Some(storage), len, pool: Arc::downgrade(self), secret: false })
    }

    /// A buffer that never returns: for keys and other things that live long.
    pub fn take_exact(len: usize) -> Result<Buffer, Error> {
        Ok(Buffer { storage: Some(Storage::new(len)?), len, pool: Weak::new(), secret: false })
    }
    /// [`Pool::take_exact`], for which the pool gives up what lies in it where there is no other memory.
    pub fn take_lasting(&self, len: usize) -> Result<Buffer, Error> {
        Ok(Buffer { storage: Some(self.allocated(len)?), len, pool: Weak::new(), secret: false })
    }

    /// Fresh memory; where there is none, what lies here in other sizes is given back to the system first.
    fn allocated(&self, words: usize) -> Result<Storage, Error> {
        Storage::new(words).or_else(|error| match self.drain() {
            0 => Err(error),
            _ => Storage::new(words),
        })
    }

    /// Gives all that lies here back to the system, and what comes back until something is reserved; says how many bytes lay here.
    pub fn drain(&self) -> usize {
        let (free, words) = {
            let mut shelves = self.shelves.lock();
            shelves.short = true;
            (std::mem::take(&mut shelves.free), std::mem::take(&mut shelves.held_words))
        };
        drop(free);
        words * 8
    }

    /// Has `count` buffers for each `(len, count)` lie ready, with their pages mapped by the threads of the rayon pool that
    /// the caller stands in. Faster than page by page in the middle of the work, which finds them later.
    pub fn reserve(self: &Arc<Self>, mix: impl IntoIterator<Item = (usize, usize)>) -> Result<(), Error> {
        self.shelves.lock().short = false;
        let each = mix.into_iter().flat_map(|(len, count)| std::iter::repeat_n(len, count));
        let mut buffers = each.map(|len| self.take(len, Fit::Larger)).collect::<Result<Vec<_>, _>>()?;
        let pages = buffers.par_iter_mut().flat_map(|b| b.par_chunks_mut(PAGE_WORDS));
        pages.for_each(|page| page[0] = 0);
        Ok(())
    }

    /// Bytes that lie unused in the pool.
    pub fn held_bytes(&self) -> usize {
        self.shelves.lock().held_words * 8
    }

    /// What was lent at one time since this was last asked, beside what was lent already.
    pub fn take_demand(&self) -> Demand {
        std::mem::take(&mut self.shelves.lock().demand)
    }

    fn give_back(&self, storage: Storage, len: usize) {
        let capacity = storage.capacity();
        let mut shelves = self.shelves.lock();
        shelves.demand.give_back(len.next_multiple_of(self.grain));
        if !shelves.short && shelves.held_words + capacity <= self.limit_words {
            shelves.held_words += capacity;
            shelves.free.entry(capacity).or_default().push(storage);
        }
    }
}

/// Words on loan from a [`Pool`].
pub struct Buffer {
    /// Present until dropped.
    storage: Option<Storage>,
    len: usize,
    pool: Weak<Pool>,
    /// Wiped when dropped.
    secret: bool,
}

impl Buffer {
    /// Has it wiped before it returns or is freed.
    pub fn keep_secret(&mut self) {
        self.secret = true;
    }
    /// Words that it has room for.
    pub(crate) fn capacity(&self) -> usize {
        self.storage.as_ref().map_or(0, Storage::capacity)
    }
    /// Whether it is wiped when dropped.
    pub fn is_secret(&self) -> bool {
        self.secret
    }
}

impl std::ops::Deref for Buffer {
    type Target = [u64];
    fn deref(&self) -> &[u64] {
        self.storage.as_ref().map_or(&[], |s| &s.words()[..self.len])
    }
}

impl std::ops::DerefMut for Buffer {
    fn deref_mut(&mut self) -> &mut [u64] {
        let len = self.len;
        self.storage.as_mut().map_or(&mut [], |s| &mut s.words_mut()[..len])
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        if self.secret {
            self.zeroize();
        }
        if let (Some(storage), Some(pool)) = (self.storage.take(), self.pool.upgrade()) {
            pool.give_back(storage, self.len);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buffers_come_back_and_the_bound_holds() {
        let pool = Pool::new(64, 1024 * 8);
        let take = |len| pool.take(len, Fit::Exact).unwrap();
        let mut a = take(100);
        assert_eq!(a.len(), 100);
        a[99] = 7;
        drop(a);
        assert_eq!(pool.held_bytes(), 128 * 8);
        assert_eq!(take(120)[99], 7);
        drop(take(2000));
        assert_eq!(pool.held_bytes(), 128 * 8, "a buffer over the bound is not kept");
        let mut b = take(120);
        b.keep_secret();
        b.fill(7);
        drop(b);
        assert!(take(128).iter().all(|&w| w == 0), "a secret buffer comes back wiped");
        pool.reserve([(60, 2), (200, 3)]).unwrap();
        pool.reserve([(64, 1), (256, 3)]).unwrap();
        assert_eq!(pool.held_bytes(), (128 + 64 + 3 * 256) * 8, "a larger one that is free will do");
        let held = pool.held_bytes();
        let (small, larger) = (take(10), pool.take(180, Fit::Larger).unwrap());
        assert_eq!((larger.len(), pool.held_bytes()), (180, held - (64 + 256) * 8), "a larger one serves");
        drop((small, larger));
        assert_eq!(pool.held_bytes(), held, "it goes back to its place");
        pool.take_demand();
        drop((take(100), take(10)));
        drop(take(200));
        assert_eq!(pool.take_demand().mix(), [(256, 1), (64, 1)]);
        assert_eq!((pool.drain(), pool.held_bytes()), (held, 0));
        drop(take(60));
        assert_eq!(pool.drain(), 0, "an empty one serves on, and keeps nothing");
        pool.reserve([(60, 1)]).unwrap();
        assert_eq!(pool.held_bytes(), 64 * 8, "until something is reserved");
        let large = Pool::take_exact(LARGE / 8).unwrap();
        assert!(large.iter().all(|&w| w == 0));
    }
}
