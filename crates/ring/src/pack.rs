//! Residues packed to the bits of their prime, as files hold them: residue `j` of a limb is bits `j b` to `j b + b` of a
//! little-endian bit string, `b` the bits of the prime. Eight residues fill `b` bytes, so a limb ends with a byte.

use crate::modulus::Modulus;

/// Residues that are packed at a time.
const GROUP: usize = 8;
/// Bytes of the longest group (61 bits) and of a word that begins within it.
const ROOM: usize = 61 + 16;

/// Bytes of `n` packed residues; `n` is a multiple of eight.
pub fn packed_len(m: &Modulus, n: usize) -> usize {
    n / GROUP * m.bits() as usize
}

/// Packs canonical residues. Constant time.
///
/// # Panics
/// If the limb is no multiple of eight residues, or `out` not as long as [`packed_len`] says.
pub fn pack(m: &Modulus, limb: &[u64], out: &mut [u8]) {
    assert!(limb.len().is_multiple_of(GROUP) && out.len() == packed_len(m, limb.len()));
    debug_assert!(limb.iter().all(|&value| value < m.value()));
    pack_bits(m.bits() as usize, limb, out);
}

/// The residues of a packed limb; `false` if one of them is not below the prime, and then the limb must not be used.
///
/// # Panics
/// If the limb is no multiple of eight residues, or `bytes` not as long as [`packed_len`] says.
#[must_use]
pub fn unpack(m: &Modulus, bytes: &[u8], limb: &mut [u64]) -> bool {
    assert!(limb.len().is_multiple_of(GROUP) && bytes.len() == packed_len(m, limb.len()));
    unpack_bits(m.bits() as usize, bytes, limb);
    limb.iter().fold(true, |canonical, &value| canonical & (value < m.value()))
}

/// Words of so many bits, 61 at most, as one bit string; constant time. Both are whole groups of eight.
pub(crate) fn pack_bits(bits: usize, words: &[u64], out: &mut [u8]) {
    for (values, bytes) in words.chunks_exact(GROUP).zip(out.chunks_exact_mut(bits)) {
        let (mut held, mut filled, mut at) = (0u128, 0, 0);
        for &value in values {
            held |= u128::from(value) << filled;
            filled += bits;
            if filled >= 64 {
                bytes[at..at + 8].copy_from_slice(&(held as u64).to_le_bytes());
                (held, filled, at) = (held >> 64, filled - 64, at + 8);
            }
        }
        let rest = bytes.len() - at;
        bytes[at..].copy_from_slice(&held.to_le_bytes()[..rest]);
    }
}

/// The words of such a string.
pub(crate) fn unpack_bits(bits: usize, bytes: &[u8], words: &mut [u64]) {
    let mask = (1u64 << bits) - 1;
    let mut room = [0u8; ROOM];
    for (values, bytes) in words.chunks_exact_mut(GROUP).zip(bytes.chunks_exact(bits)) {
        room[..bits].copy_from_slice(bytes);
        for (j, value) in values.iter_mut().enumerate() {
            let (at, shift) = (j * bits / 8, j * bits % 8);
            let mut word = [0; 16];
            word.copy_from_slice(&room[at..at + 16]);
            *value = (u128::from_le_bytes(word) >> shift) as u64 & mask;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const QS: [u64; 6] = [3, 65537, (1 << 40) - 87, (1 << 47) - 115, (1 << 50) - 27, (1 << 61) - 1];

    proptest! {
        #[test]
        fn comes_back_and_is_one_bit_string(i in 0..QS.len(), words in prop::collection::vec(any::<u64>(), 64)) {
            let m = Modulus::new(QS[i]).unwrap();
            let limb: Vec<u64> = words.iter().map(|&w| m.reduce(w)).collect();
            let mut packed = vec![0xFF; packed_len(&m, limb.len())];
            pack(&m, &limb, &mut packed);
            let mut back = vec![0; limb.len()];
            prop_assert!(unpack(&m, &packed, &mut back));
            prop_assert_eq!(&back, &limb);
            let bit = |k: usize| u64::from(packed[k / 8] >> (k % 8) & 1);
            for (j, &r) in limb.iter().enumerate() {
                let bits = m.bits() as usize;
                prop_assert_eq!((0..bits).map(|k| bit(j * bits + k) << k).sum::<u64>(), r);
            }
        }
    }

    #[test]
    fn a_residue_that_is_not_canonical_is_seen_wherever_it_stands() {
        for q in QS {
            let m = Modulus::new(q).unwrap();
            let all_ones = (1u64 << m.bits()) - 1;
            let mut limb = vec![0; 16];
            for bad in [q, all_ones] {
                for place in 0..16 {
                    let mut packed = vec![0; packed_len(&m, 16)];
                    for k in (0..m.bits() as usize).filter(|k| bad >> k & 1 == 1) {
                        let at = place * m.bits() as usize + k;
                        packed[at / 8] |= 1 << (at % 8);
                    }
                    assert!(!unpack(&m, &packed, &mut limb), "{bad} at {place} modulo {q}");
                }
            }
        }
    }
}
