//! What a process has to itself. A child made by fork has the memory of its parent but only the thread that forked: threads
//! that it sees in that memory do not run, and a lock that one of them held is never opened.

use std::convert::Infallible;
use std::process;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

/// A value for each process, made when a forked child first asks for its own.
///
/// Processes are told apart by their numbers. What belongs to another process is never dropped, as a thread that is not here
/// may have been in the middle of changing it: it stays in memory, which a child shares with its parent.
pub struct PerProcess<T> {
    process: u32,
    value: Arc<T>,
    next: OnceLock<Box<PerProcess<T>>>,
}

impl<T> PerProcess<T> {
    /// With the value of this process.
    pub fn new(value: T) -> Self {
        Self { process: process::id(), value: Arc::new(value), next: OnceLock::new() }
    }

    /// The value of this process; `make` is given that of the process that it was forked from. Nobody waits here for a thread
    /// that makes one: of several, one is kept.
    ///
    /// # Errors
    /// Those of `make`.
    pub fn get<E>(&self, make: impl Fn(&T) -> Result<T, E>) -> Result<&T, E> {
        let (now, mut here) = (process::id(), self);
        while here.process != now {
            here = match here.next.get() {
                Some(next) => next,
                None => {
                    let made = Box::new(Self::new(make(&here.value)?));
                    here.next.get_or_init(|| made)
                }
            };
        }
        Ok(&here.value)
    }
}

impl<T> Drop for PerProcess<T> {
    fn drop(&mut self) {
        if self.process != process::id() {
            std::mem::forget(self.value.clone());
        }
    }
}

/// A mutex that no fork leaves closed: a child takes over what it protects if no other thread of the parent held it, and else
/// begins with the default. For caches and pools, whose contents may be missing.
#[derive(Default)]
pub struct Lock<T>(PerProcess<Mutex<T>>);

impl<T: Default> Default for PerProcess<Mutex<T>> {
    fn default() -> Self {
        Self::new(Mutex::default())
    }
}

impl<T: Default> Lock<T> {
    /// Waits until no other thread of this process has it. After a panic in one that had it, it is open as before.
    pub fn lock(&self) -> MutexGuard<'_, T> {
        let take_over = |before: &Mutex<T>| {
            let left = before.try_lock().map(|mut value| std::mem::take(&mut *value));
            Ok::<_, Infallible>(Mutex::new(left.unwrap_or_default()))
        };
        let Ok(mutex) = self.0.get(take_over);
        mutex.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As it is in a child of the process that made it.
    fn forked<T>(mut x: PerProcess<T>) -> PerProcess<T> {
        x.process = process::id() ^ 1;
        x
    }

    #[test]
    fn a_process_makes_its_value_once_and_its_child_another() {
        let mut x = PerProcess::new(1);
        assert_eq!(x.get(|_| Err(())), Ok(&1));
        x = forked(x);
        assert_eq!(x.get(|_| Err("none")), Err("none"));
        assert_eq!(x.get(|before| Ok::<_, ()>(before + 1)), Ok(&2));
        assert_eq!(x.get(|_| Err(())), Ok(&2), "made once");
        x.next = x.next.take().map(|child| OnceLock::from(Box::new(forked(*child)))).unwrap_or_default();
        assert_eq!(x.get(|before| Ok::<_, ()>(before + 1)), Ok(&3), "of the child before it");
    }

    #[test]
    fn only_the_owner_drops() {
        let counted = Arc::new(());
        drop(PerProcess::new(counted.clone()));
        assert_eq!(Arc::strong_count(&counted), 1);
        drop(forked(PerProcess::new(counted.clone())));
        assert_eq!(Arc::strong_count(&counted), 2);
    }

    #[test]
    fn a_child_takes_over_what_nobody_held() {
        let lock = Lock(forked(PerProcess::new(Mutex::new(vec![7]))));
        assert_eq!(*lock.lock(), [7]);
        lock.lock().push(8);
        assert_eq!(*lock.lock(), [7, 8]);
        let lock = Lock(forked(PerProcess::new(Mutex::new(vec![7]))));
        let _held = lock.0.value.lock().unwrap();
        assert!(lock.lock().is_empty(), "a held one is left alone");
    }
}
