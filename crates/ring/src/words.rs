//! Words that begin at a cache line.

use std::ops::{Deref, DerefMut};

/// Words of a cache line.
const LINE: usize = 8;

/// Words that begin at a cache line, as the kernels of small transforms like them.
pub struct Words {
    /// What lies before the line, then the words.
    words: Vec<u64>,
    start: usize,
}

impl Words {
    /// So many zeros.
    #[must_use]
    pub fn zeros(len: usize) -> Self {
        let mut words = vec![0; len + LINE - 1];
        let start = words.as_ptr().align_offset(LINE * size_of::<u64>()).min(LINE - 1);
        // In place: the allocation stays.
        words.truncate(start + len);
        Self { words, start }
    }
}

impl Clone for Words {
    fn clone(&self) -> Self {
        let mut copy = Self::zeros(self.len());
        copy.copy_from_slice(self);
        copy
    }
}

impl Deref for Words {
    type Target = [u64];
    fn deref(&self) -> &[u64] {
        &self.words[self.start..]
    }
}

impl DerefMut for Words {
    fn deref_mut(&mut self) -> &mut [u64] {
        &mut self.words[self.start..]
    }
}

#[cfg(test)]
mod tests {
    use super::Words;

    #[test]
    fn words_begin_at_a_cache_line_also_where_they_are_copied() {
        for len in [1, 7, 8, 100, 4096] {
            let mut words = Words::zeros(len);
            words.iter_mut().enumerate().for_each(|(i, word)| *word = i as u64);
            let copy = words.clone();
            for some in [&words, &copy] {
                assert!(some.len() == len && some.as_ptr().addr().is_multiple_of(64));
                assert!(some.iter().enumerate().all(|(i, &word)| word == i as u64));
            }
        }
    }
}
