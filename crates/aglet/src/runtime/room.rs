//! Room for what is small: memory that has to be left before work begins, and the pools that give some back.

use aglet_ring::pool::Pool;
use aglet_ring::process::Lock;
use aglet_ring::Error;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

/// Bytes that can be had before work begins. Polynomials and keys say so where they cannot; what is small beside them ends the
/// process then, as everywhere in Rust.
pub(super) const HEADROOM: usize = 64 << 20;
/// For so long what was seen holds: nobody fills a quarter of that memory meanwhile. A look costs ten microseconds, and the smallest
/// sum of ciphertexts takes twenty.
const FRESH: Duration = Duration::from_millis(2);

/// Looks whether memory is left, and has pools that can give some.
pub(super) struct Room {
    pools: Lock<Vec<Weak<Pool>>>,
    began: Instant,
    /// Nanoseconds after that, until which no look is needed.
    until: AtomicU64,
}

impl Default for Room {
    fn default() -> Self {
        Self { pools: Lock::default(), began: Instant::now(), until: AtomicU64::new(0) }
    }
}

impl Room {
    /// Takes a pool in.
    pub(super) fn add(&self, pool: &Arc<Pool>) {
        let mut pools = self.pools.lock();
        pools.retain(|pool| pool.strong_count() > 0);
        pools.push(Arc::downgrade(pool));
    }

    /// Refuses work where memory is nearly used up even after the pools gave theirs.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub(super) fn check(&self) -> Result<(), Error> {
        let now = self.began.elapsed();
        if now.as_nanos() < u128::from(self.until.load(Ordering::Relaxed)) {
            return Ok(());
        }
        self.headroom(HEADROOM)?;
        self.until.store((now + FRESH).as_nanos() as u64, Ordering::Relaxed);
        Ok(())
    }

    /// Refuses what takes so many bytes that no polynomial asks for, such as tables, and leaves less than work needs.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub(super) fn check_beside(&self, bytes: usize) -> Result<(), Error> {
        self.headroom(bytes.saturating_add(HEADROOM))
    }

    fn headroom(&self, bytes: usize) -> Result<(), Error> {
        headroom(bytes).or_else(|_| {
            self.make();
            headroom(bytes)
        })
    }

    /// Has the pools give all that lies in them back to the system, and the next call look again.
    pub(super) fn make(&self) {
        self.until.store(0, Ordering::Relaxed);
        let pools: Vec<_> = self.pools.lock().iter().filter_map(Weak::upgrade).collect();
        pools.iter().for_each(|pool| {
            pool.drain();
        });
    }
}

/// Asks the system for memory that is given back at once. Nothing is touched, so it takes ten microseconds.
pub(super) fn headroom(bytes: usize) -> Result<(), Error> {
    let mut room: Vec<u8> = Vec::new();
    room.try_reserve_exact(bytes).map_err(|_| Error::OutOfMemory { bytes })?;
    std::hint::black_box(&room);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use aglet_ring::pool::Fit;

    #[test]
    fn what_no_memory_holds_is_refused_before_it_is_made() {
        let room = Room::default();
        room.check_beside(1 << 20).unwrap();
        for bytes in [1 << 62, usize::MAX] {
            assert!(matches!(room.check_beside(bytes), Err(Error::OutOfMemory { .. })));
        }
    }

    #[test]
    fn pools_give_what_lies_in_them_and_are_forgotten_with_their_rings() {
        let (room, pool) = (Room::default(), Pool::new(64, 1 << 20));
        room.add(&pool);
        drop(pool.take(100, Fit::Exact).unwrap());
        room.check().unwrap();
        assert!(
            pool.held_bytes() > 0 && room.until.load(Ordering::Relaxed) > 0,
            "where memory is left, nothing is given up"
        );
        room.make();
        assert_eq!((pool.held_bytes(), room.until.load(Ordering::Relaxed)), (0, 0), "and the next call looks again");
        drop(pool);
        room.add(&Pool::new(64, 1 << 20));
        room.add(&Pool::new(64, 1 << 20));
        assert_eq!(room.pools.lock().len(), 1, "one that lives, or did when it came");
    }
}
