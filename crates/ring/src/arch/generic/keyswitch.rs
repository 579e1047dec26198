//! Products of decomposed polynomials with switching keys, over one limb in the transform domain.

use super::{ask_ahead, AHEAD};
use crate::arch::lanes::Lanes;
use crate::arch::{Halves, SPARE_BYTES};
use crate::automorphism::Permutation;
use crate::modulus::Modulus;

/// Bits that a word of a key has in memory: those of the usual primes, or all.
pub(crate) const KEY_WIDTHS: [usize; 3] = [48, 50, 64];

/// Bits of the words of a key modulo this prime.
pub(crate) fn key_width(m: &Modulus) -> usize {
    KEY_WIDTHS.into_iter().find(|&bits| m.bits() as usize <= bits).unwrap_or(64)
}

/// Bytes of `n` words of a key, and those that kernels may read behind them.
pub(crate) fn key_row_bytes(n: usize, bits: usize) -> usize {
    n / 8 * bits + if bits < 64 { SPARE_BYTES } else { 0 }
}

/// One product with a key: the limbs of its two halves for each digit, and the automorphism that the digits go
/// through first (`None`: the identity).
pub(crate) struct KeyRow<'a> {
    /// Applied to the digits and to what is added before.
    pub(crate) permutation: Option<&'a Permutation>,
    /// Bits of a word: one of [`KEY_WIDTHS`]. Words of 64 bits lie at multiples of eight bytes.
    pub(crate) bits: usize,
    /// The `b` half, one packed limb for each digit.
    pub(crate) b: &'a [&'a [u8]],
    /// The `a` half, one packed limb for each digit.
    pub(crate) a: &'a [&'a [u8]],
}

/// Words of a limb that all inputs of [`key_product`] take before the first goes on: rows of a key of this length stay in the
/// L2 cache.
const SHARED: usize = 4096;
/// Words that a row is asked for ahead where a permutation leads to: no line of it is guessed by the processor.
pub(super) const PERMUTED_AHEAD: usize = 256;

/// Loads through a permutation, or straight.
#[inline(always)]
pub(super) unsafe fn load<L: Lanes>(l: L, row: &[u64], at: usize, permutation: Option<&Permutation>) -> L::V {
    // SAFETY: `at + WIDTH <= row.len()`, and a permutation made for this length and width permutes `0..row.len()`.
    unsafe {
        match permutation {
            None => l.load(row.as_ptr().add(at)),
            Some(g) => l.load_permuted(row.as_ptr(), *g.table().get_unchecked(at / L::WIDTH), g.inner().as_ptr()),
        }
    }
}

/// Asks for what [`load`] reads there.
#[inline(always)]
pub(super) unsafe fn ask<L: Lanes>(row: &[u64], at: usize, g: &Permutation) {
    // SAFETY: as for `load`.
    unsafe { L::prefetch(row.as_ptr().add(*g.table().get_unchecked(at / L::WIDTH) as usize)) }
}

/// Words of a key from position `at` on, a multiple of WIDTH.
#[inline(always)]
pub(super) unsafe fn load_key<L: Lanes, const BITS: usize>(l: L, row: &[u8], at: usize) -> L::V {
    // SAFETY: the row has the words of these positions, and spare bytes.
    unsafe {
        match BITS {
            64 => l.load(row.as_ptr().add(8 * at).cast()),
            _ => l.load_packed(row.as_ptr().add(at / 8 * BITS), at % 8, BITS),
        }
    }
}

/// Asks for what [`load_key`] reads there; any position will do.
#[inline(always)]
pub(super) unsafe fn ask_key<L: Lanes, const BITS: usize>(row: &[u8], at: usize) {
    // SAFETY: a prefetch touches nothing.
    unsafe { L::prefetch(row.as_ptr().wrapping_add(at / 8 * BITS).cast()) }
}

/// Asks for what [`load`] reads of a row some vectors later.
#[inline(always)]
unsafe fn ask_later<L: Lanes>(row: &[u64], at: usize, permutation: Option<&Permutation>) {
    // SAFETY: as for `load`; a permutation moves whole lines.
    unsafe {
        match permutation {
            _ if !at.is_multiple_of(8) => {}
            None => ask_ahead::<L>(row.as_ptr().add(at)),
            Some(g) if at + PERMUTED_AHEAD < row.len() => ask::<L>(row, at + PERMUTED_AHEAD, g),
            Some(_) => {}
        }
    }
}

/// The pair `sum_d phi(digit_d) (b_d, a_d)`, plus `phi(addend)` on the first, at one position; canonical or balanced.
/// With `D` the number of digits is known and no more than a wide accumulator takes beside the addend. `ALONE` is for rows that are read
/// from one end to the other, and asked for ahead, and for sums as of `acc_sum`.
#[inline(always)]
pub(super) unsafe fn product<L: Lanes, const D: usize, const BITS: usize, const ALONE: bool>(
    l: L,
    digits: &[&[u64]],
    addend: Option<&[u64]>,
    key: &KeyRow<'_>,
    at: usize,
) -> (L::V, L::V) {
    // SAFETY: all rows are longer than `at + WIDTH` words, and there are as many key limbs as digits.
    unsafe {
        let zero = (l.acc_zero::<false>(), l.acc_zero::<false>());
        let (mut b, mut a) = zero;
        if let Some(row) = addend {
            if ALONE {
                ask_later::<L>(row, at, key.permutation);
            }
            b = l.acc_add(b, load(l, row, at, key.permutation));
        }
        // What earlier accumulators came to.
        let (mut b_sum, mut a_sum) = (l.constant(0), l.constant(0));
        let mut room = L::CHUNK - 1;
        for d in 0..if D > 0 { D } else { digits.len() } {
            if D == 0 && room == 0 {
                b_sum = l.tame(l.add(b_sum, l.acc_reduce::<false>(b)));
                a_sum = l.tame(l.add(a_sum, l.acc_reduce::<false>(a)));
                ((b, a), room) = (zero, L::CHUNK);
            }
            let digit = digits.get_unchecked(d);
            let (key_b, key_a) = (key.b.get_unchecked(d), key.a.get_unchecked(d));
            if ALONE {
                ask_later::<L>(digit, at, key.permutation);
                if at.is_multiple_of(8) {
                    ask_key::<L, BITS>(key_b, at + AHEAD);
                    ask_key::<L, BITS>(key_a, at + AHEAD);
                }
            }
            let x = load(l, digit, at, key.permutation);
            b = l.mac(b, x, load_key::<L, BITS>(l, key_b, at));
            a = l.mac(a, x, load_key::<L, BITS>(l, key_a, at));
            room -= 1;
        }
        if D > 0 && ALONE {
            return (l.acc_sum::<false>(b), l.acc_sum::<false>(a));
        }
        let (b, a) = (l.acc_reduce::<false>(b), l.acc_reduce::<false>(a));
        if D > 0 {
            (b, a)
        } else {
            (l.tame(l.add(b_sum, b)), l.tame(l.add(a_sum, a)))
        }
    }
}

/// Calls a function with the bits of a key's words as a constant, and the number of digits where it is small, 0 otherwise.
macro_rules! with_key {
    ($bits:expr, $count:expr, $f:ident::<$l:ty>($($arg:expr),*)) => {
        match ($bits, $count) {
            (48, 1) => $f::<$l, 1, 48>($($arg),*),
            (48, 2) => $f::<$l, 2, 48>($($arg),*),
            (48, 3) => $f::<$l, 3, 48>($($arg),*),
            (48, _) => $f::<$l, 0, 48>($($arg),*),
            (50, 1) => $f::<$l, 1, 50>($($arg),*),
            (50, 2) => $f::<$l, 2, 50>($($arg),*),
            (50, 3) => $f::<$l, 3, 50>($($arg),*),
            (50, _) => $f::<$l, 0, 50>($($arg),*),
            _ => $f::<$l, 0, 64>($($arg),*),
        }
    };
}
pub(super) use with_key;

/// What [`Kernels::key_product`](crate::arch::Kernels::key_product) makes a product of, and what it adds.
pub(crate) struct ProductRow<'a> {
    /// Digits, raised.
    pub(crate) digits: &'a [&'a [u64]],
    /// Added to the `b` half before the permutation.
    pub(crate) added_before: Option<&'a [u64]>,
    /// Added to both halves after it.
    pub(crate) added_after: Option<(&'a [u64], &'a [u64])>,
}

impl ProductRow<'_> {
    /// Limbs of what is added.
    pub(in crate::arch) fn addends(&self) -> u64 {
        u64::from(self.added_before.is_some()) + 2 * u64::from(self.added_after.is_some())
    }
    /// Whether all rows have so many words.
    pub(in crate::arch) fn has_length(&self, n: usize) -> bool {
        let after = self.added_after.into_iter().flat_map(|(x, y)| [x, y]);
        self.digits.iter().copied().chain(self.added_before).chain(after).all(|row| row.len() == n)
    }
}

/// For every input `out = sum_d phi(digit_d) (b_d, a_d) + (phi(added_before), 0) + added_after` over one limb, canonical.
///
/// # Safety
/// The CPU has the instruction set of `L`; all rows have the same length, a multiple of 8, and those of the key as many words and spare bytes; as many outputs as inputs, of which
/// all have as many digits, and the key as many limbs; permutations were made for this length and for `L`.
#[inline(always)]
pub(crate) unsafe fn key_product<L: Lanes>(
    m: &Modulus,
    inputs: &[ProductRow<'_>],
    key: &KeyRow<'_>,
    out: &mut [Halves<'_>],
) {
    let (Some(first), Some(n)) = (inputs.first(), out.first().map(|o| o.0.len())) else { return };
    for start in (0..n).step_by(SHARED) {
        for (input, (b, a)) in inputs.iter().zip(out.iter_mut()) {
            let range = (start, n.min(start + SHARED));
            // SAFETY: as stated.
            unsafe {
                with_key!(
                    key.bits,
                    first.digits.len(),
                    key_product_of::<L>(L::new(m), input, key, range, (&mut **b, &mut **a))
                )
            }
        }
    }
}

#[inline(always)]
unsafe fn key_product_of<L: Lanes, const D: usize, const BITS: usize>(
    l: L,
    input: &ProductRow<'_>,
    key: &KeyRow<'_>,
    (start, end): (usize, usize),
    out: Halves<'_>,
) {
    for at in (start..end).step_by(L::WIDTH) {
        // SAFETY: as for `key_product`.
        unsafe {
            let (mut b, mut a) = product::<L, D, BITS, true>(l, input.digits, input.added_before, key, at);
            if let Some((x, y)) = input.added_after {
                (b, a) = (l.add(b, l.load(x.as_ptr().add(at))), l.add(a, l.load(y.as_ptr().add(at))));
            }
            l.store(out.0.as_mut_ptr().add(at), b);
            l.store(out.1.as_mut_ptr().add(at), a);
        }
    }
}
