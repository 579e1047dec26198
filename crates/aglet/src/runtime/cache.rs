//! A cache of things that take long to make and are likely to be used again.

use aglet_ring::process::Lock;
use std::sync::Arc;

/// Values by their keys, of which the latest `MOST` are kept.
pub(crate) struct Cache<K, V, const MOST: usize>(Lock<Vec<(K, Arc<V>)>>);

impl<K, V, const MOST: usize> Default for Cache<K, V, MOST> {
    fn default() -> Self {
        Self(Lock::default())
    }
}

impl<K: Clone, V, const MOST: usize> Cache<K, V, MOST> {
    /// All that is there, the latest first.
    pub fn all(&self) -> Vec<(K, Arc<V>)> {
        self.0.lock().clone()
    }
    /// The latest with such a key.
    pub fn find(&self, wanted: impl Fn(&K) -> bool) -> Option<(K, Arc<V>)> {
        self.0.lock().iter().find(|(key, _)| wanted(key)).cloned()
    }
    /// The latest with this key, or what is made and kept.
    pub fn get<E>(&self, key: K, make: impl FnOnce() -> Result<V, E>) -> Result<Arc<V>, E>
    where
        K: PartialEq,
    {
        match self.find(|other| *other == key) {
            Some((_, found)) => Ok(found),
            None => Ok(self.keep(key, make()?)),
        }
    }
    /// Keeps a value that was just made, in place of the oldest if there is no room.
    pub fn keep(&self, key: K, made: V) -> Arc<V> {
        let made = Arc::new(made);
        let mut kept = self.0.lock();
        kept.insert(0, (key, made.clone()));
        kept.truncate(MOST);
        made
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_latest_are_kept() {
        let kept = Cache::<u32, &str, 2>::default();
        for (key, value) in [(1, "one"), (2, "two"), (3, "three")] {
            assert_eq!(*kept.keep(key, value), value);
        }
        assert_eq!(kept.all().iter().map(|(key, _)| *key).collect::<Vec<_>>(), [3, 2]);
        assert!(kept.find(|&key| key == 1).is_none());
        assert_eq!(kept.find(|&key| key < 3).map(|(key, value)| (key, *value)), Some((2, "two")));
    }
}
