//! Buffers of words that return to a pool when dropped, so that a bootstrap allocates nothing once it is warm.

use crate::process::Lock;
use crate::Error;
use memmap2::MmapMut;
use rayon::prelude::*;
use std::collections::HashMap;
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
            return Ok(Self::Heap(vec![0; words]));
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
    free: HashMap<usize, Vec<Storage>>,
    held_words: usize,
}

impl Shelves {
    fn take(&mut self, capacity: usize) -> Option<Storage> {
        let found = self.free.get_mut(&capacity)?.pop()?;
        self.held_words -= capacity;
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
    pub fn take(self: &Arc<Self>, len: usize) -> Result<Buffer, Error> {
        let capacity = len.next_multiple_of(self.grain);
        let reused = self.shelves.lock().take(capacity);
        let storage = match reused {
            Some(s) => s,
            None => Storage::new(capacity)?,
        };
        Ok(Buffer { storage: Some(storage), len, pool: Arc::downgrade(self), secret: false })
    }

    /// A buffer that never returns: for keys and other things that live long.
    pub fn take_exact(len: usize) -> Result<Buffer, Error> {
        Ok(Buffer { storage: Some(Storage::new(len)?), len, pool: Weak::new(), secret: false })
    }

    /// Has `count` buffers for each `(len, count)` lie ready, with their pages mapped by the threads of the rayon pool that
    /// the caller stands in. Faster than page by page in the middle of the work, which finds them later.
    pub fn reserve(self: &Arc<Self>, mix: impl IntoIterator<Item = (usize, usize)>) -> Result<(), Error> {
        let each = mix.into_iter().flat_map(|(len, count)| std::iter::repeat_n(len, count));
        let mut buffers = each.map(|len| self.take(len)).collect::<Result<Vec<_>, _>>()?;
        let pages = buffers.par_iter_mut().flat_map(|b| b.par_chunks_mut(PAGE_WORDS));
        pages.for_each(|page| page[0] = 0);
        Ok(())
    }

    /// Bytes that lie unused in the pool.
    pub fn held_bytes(&self) -> usize {
        self.shelves.lock().held_words * 8
    }

    fn give_back(&self, storage: Storage) {
        let capacity = storage.capacity();
        let mut shelves = self.shelves.lock();
        if shelves.held_words + capacity <= self.limit_words {
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
            pool.give_back(storage);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buffers_come_back_and_the_bound_holds() {
        let pool = Pool::new(64, 1024 * 8);
        let mut a = pool.take(100).unwrap();
        assert_eq!(a.len(), 100);
        a[99] = 7;
        drop(a);
        assert_eq!(pool.held_bytes(), 128 * 8);
        assert_eq!(pool.take(120).unwrap()[99], 7);
        drop(pool.take(2000).unwrap());
        assert_eq!(pool.held_bytes(), 128 * 8, "a buffer over the bound is not kept");
        let mut b = pool.take(120).unwrap();
        b.keep_secret();
        b.fill(7);
        drop(b);
        assert!(pool.take(128).unwrap().iter().all(|&w| w == 0), "a secret buffer comes back wiped");
        pool.reserve([(60, 2), (200, 3)]).unwrap();
        pool.reserve([(64, 1), (256, 3)]).unwrap();
        assert_eq!(pool.held_bytes(), (128 + 2 * 64 + 3 * 256) * 8);
        let large = Pool::take_exact(LARGE / 8).unwrap();
        assert!(large.iter().all(|&w| w == 0));
    }
}
