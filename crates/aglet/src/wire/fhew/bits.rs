//! Words of up to 32 bits, one after the other in a little-endian bit string, which ends with zeros up to a whole byte.

/// Bytes of so many words.
pub(super) fn len(count: usize, bits: u32) -> usize {
    (count * bits as usize).div_ceil(8)
}

/// Packs words below `2^bits`.
pub(super) fn pack(words: impl Iterator<Item = u64>, bits: u32) -> Vec<u8> {
    let (mut out, mut held, mut filled) = (Vec::new(), 0u64, 0);
    for word in words {
        held |= word << filled;
        filled += bits;
        while filled >= 8 {
            out.push(held as u8);
            (held, filled) = (held >> 8, filled - 8);
        }
    }
    if filled > 0 {
        out.push(held as u8);
    }
    out
}

/// So many words; none if the zeros behind them are missing.
///
/// # Panics
/// If there are not as many bytes as [`len`] says.
pub(super) fn unpack(bytes: &[u8], count: usize, bits: u32) -> Option<Vec<u64>> {
    assert_eq!(bytes.len(), len(count, bits));
    let (mut out, mut held, mut filled) = (Vec::with_capacity(count), 0u64, 0);
    for &byte in bytes {
        held |= u64::from(byte) << filled;
        filled += 8;
        while filled >= bits && out.len() < count {
            out.push(held & ((1 << bits) - 1));
            (held, filled) = (held >> bits, filled - bits);
        }
    }
    (held == 0).then_some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_come_back_and_other_ends_are_refused() {
        for bits in 1..=32 {
            for count in [0, 1, 7, 8, 100] {
                let words: Vec<u64> = (0..count as u64).map(|i| (i * 0x9E37_79B9_7F4A_7C15) >> (64 - bits)).collect();
                let mut bytes = pack(words.iter().copied(), bits);
                assert_eq!(bytes.len(), len(count, bits));
                assert_eq!(unpack(&bytes, count, bits).as_ref(), Some(&words));
                if !(count * bits as usize).is_multiple_of(8) {
                    *bytes.last_mut().unwrap() |= 128;
                    assert_eq!(unpack(&bytes, count, bits), None);
                }
            }
        }
    }
}
