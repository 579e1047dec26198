//! Bit reversal, the order in which transforms leave what they compute.

/// The index below `count`, a power of two, that has the bits of `i` reversed.
#[must_use]
pub fn reversed(i: usize, count: usize) -> usize {
    debug_assert!(count.is_power_of_two() && i < count);
    // A shift by the whole word, where there is one index alone, would overflow.
    i.reverse_bits().checked_shr(usize::BITS - count.trailing_zeros()).unwrap_or(0)
}

/// Puts entry `j` at the place whose index has the bits of `j` reversed; the length is a power of two.
pub fn bit_reverse<T>(values: &mut [T]) {
    for j in 0..values.len() {
        let k = reversed(j, values.len());
        if j < k {
            values.swap(j, k);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn indices_are_reversed_bit_by_bit() {
        assert_eq!((0..8).map(|i| reversed(i, 8)).collect::<Vec<_>>(), [0, 4, 2, 6, 1, 5, 3, 7]);
        assert_eq!((reversed(0, 1), reversed(1, 2), reversed(1, 1 << 17)), (0, 1, 1 << 16));
        let mut values: Vec<usize> = (0..16).collect();
        bit_reverse(&mut values);
        assert!(values.iter().enumerate().all(|(i, &value)| value == reversed(i, 16)));
        bit_reverse(&mut [0]);
        bit_reverse::<u8>(&mut []);
    }
}
