//! Stages on up to sixteen vectors in registers, and what they reduce. The ranges are those of `ntt.rs`.

use crate::arch::lanes::Lanes;

/// Multipliers in the order of use: for every block of a step, those of its first stage (one), its second (two), ...
#[derive(Clone, Copy)]
pub(super) struct Twiddles(pub(super) *const [u64; 2]);

impl Twiddles {
    #[inline(always)]
    pub(super) unsafe fn at<L: Lanes>(self, l: L, i: usize) -> L::T {
        // SAFETY: the caller keeps i inside the table.
        unsafe { l.splat(*self.0.add(i)) }
    }
    /// Those of two stages on four vectors: of the first stage one, of the second two neighbours.
    #[inline(always)]
    pub(super) unsafe fn quad<L: Lanes>(self, l: L, first: usize, second: usize) -> [L::T; 3] {
        // SAFETY: as above.
        unsafe { [self.at(l, first), self.at(l, second), self.at(l, second + 1)] }
    }
    #[inline(always)]
    pub(super) unsafe fn after(self, count: usize) -> Self {
        // SAFETY: as above.
        Self(unsafe { self.0.add(count) })
    }
}

/// Up to sixteen vectors on their way through a step.
pub(super) type Block<L> = [<L as Lanes>::V; 16];

/// Which butterflies of a stage reduce their first operand.
#[derive(Clone, Copy)]
pub(super) enum LazyReduction {
    Nobody,
    /// Those whose results the next stage multiplies.
    Half,
    All,
    /// All, from lazy values, as results are to be canonical.
    Last,
}
use LazyReduction::{All, Half, Last, Nobody};

/// What the stages of a step reduce: all in the last, as anything may be multiplied next, and two stages after the last All.
pub(super) const fn rules(stages: usize, first: bool, roomy: bool) -> [LazyReduction; 4] {
    match (roomy, first, stages) {
        (true, ..) | (_, true, 1) => [Nobody; 4],
        (_, true, 2) => [Nobody, All, Nobody, Nobody],
        (_, true, 3) => [Nobody, Half, All, Nobody],
        (_, true, _) => [Nobody, Half, Half, All],
        (_, _, 1) => [All, Nobody, Nobody, Nobody],
        (_, _, 2) => [Half, All, Nobody, Nobody],
        (_, _, 3) => [Half, Half, All, Nobody],
        _ => [Half, Half, All, All],
    }
}

/// The same for the last step, which begins with fresh products.
pub(super) const fn last_rules(stages: usize, roomy: bool) -> [LazyReduction; 4] {
    match (stages, roomy) {
        (3, _) => [Nobody, All, Last, Nobody],
        (_, true) => [Nobody, Nobody, All, Last],
        _ => [Nobody, Half, All, Last],
    }
}

/// One forward stage on `2 PAIRS` vectors, at distance `H`. Stage by stage, as neighbouring butterflies do not wait for
/// each other.
#[inline(always)]
pub(super) unsafe fn forward_stage<L: Lanes, const PAIRS: usize, const H: usize>(
    l: L,
    x: &mut Block<L>,
    w: Twiddles,
    lazy_reduce: LazyReduction,
) {
    for i in 0..PAIRS {
        let (b, a) = (i / H, i / H * H + i);
        // SAFETY: blocks b < PAIRS / H of this stage have the multipliers from PAIRS / H - 1 on.
        unsafe {
            let first = match lazy_reduce {
                Last => l.lazy_reduce_last(x[a]),
                All => l.lazy_reduce(x[a]),
                Half if i % H >= H / 2 => l.lazy_reduce(x[a]),
                _ => x[a],
            };
            (x[a], x[a + H]) = l.fwd_butterfly(first, x[a + H], w.at(l, PAIRS / H - 1 + b));
        }
    }
}

/// One inverse stage; with `TAME`, sums are tamed where the lanes grow. `first` is the multiplier of a single block.
#[inline(always)]
pub(super) unsafe fn inverse_stage<L: Lanes, const PAIRS: usize, const H: usize, const TAME: bool>(
    l: L,
    x: &mut Block<L>,
    w: Twiddles,
    first: L::T,
) {
    for i in 0..PAIRS {
        let (b, a) = (i / H, i / H * H + i);
        // SAFETY: as in `forward_stage`.
        unsafe {
            let w = if H == PAIRS { first } else { w.at(l, PAIRS / H - 1 + b) };
            let (sum, difference) = (l.inv_sum(x[a], x[a + H]), l.inv_diff_mul(x[a], x[a + H], w));
            (x[a], x[a + H]) = (if TAME && L::GROWS { l.tame(sum) } else { sum }, difference);
        }
    }
}

/// Two forward stages on four vectors.
#[inline(always)]
pub(super) unsafe fn forward_quad<L: Lanes>(l: L, x: [L::V; 4], w: [L::T; 3]) -> [L::V; 4] {
    // SAFETY: the caller vouches for the CPU.
    unsafe {
        let ((a, c), (b, d)) = (l.fwd_butterfly(x[0], x[2], w[0]), l.fwd_butterfly(x[1], x[3], w[0]));
        let ((a, b), (c, d)) = (l.fwd_butterfly(a, b, w[1]), l.fwd_butterfly(c, d, w[2]));
        [a, b, c, d]
    }
}

/// Two inverse stages on four vectors; sums of the second are tamed with `TAME`.
#[inline(always)]
pub(super) unsafe fn inverse_quad<L: Lanes, const TAME: bool>(l: L, x: [L::V; 4], w: [L::T; 3]) -> [L::V; 4] {
    // SAFETY: the caller vouches for the CPU.
    unsafe {
        let (a, b) = (l.inv_sum(x[0], x[1]), l.inv_diff_mul(x[0], x[1], w[1]));
        let (c, d) = (l.inv_sum(x[2], x[3]), l.inv_diff_mul(x[2], x[3], w[2]));
        let (sum, other) = (l.inv_sum(a, c), l.inv_sum(b, d));
        let (sum, other) = if TAME { (l.tame(sum), l.tame(other)) } else { (sum, other) };
        [sum, other, l.inv_diff_mul(a, c, w[0]), l.inv_diff_mul(b, d, w[0])]
    }
}

/// `K` forward stages in registers; `lazy_reduce` says what each reduces.
#[inline(always)]
pub(super) unsafe fn forward_block<L: Lanes, const K: usize>(
    l: L,
    x: &mut Block<L>,
    w: Twiddles,
    lazy_reduce: [LazyReduction; 4],
) {
    // SAFETY: the table holds 2^K - 1 multipliers from `w` on.
    unsafe {
        match K {
            4 if L::FEW_REGISTERS => {
                let first = w.quad(l, 0, 1);
                for i in 0..4 {
                    let quad = forward_quad(l, [x[i], x[i + 4], x[i + 8], x[i + 12]], first);
                    (x[i], x[i + 4], x[i + 8], x[i + 12]) = (quad[0], quad[1], quad[2], quad[3]);
                }
                for i in 0..4 {
                    let quad = [x[4 * i], x[4 * i + 1], x[4 * i + 2], x[4 * i + 3]];
                    x[4 * i..][..4].copy_from_slice(&forward_quad(l, quad, w.quad(l, 3 + i, 7 + 2 * i)));
                }
            }
            1 => forward_stage::<L, 1, 1>(l, x, w, lazy_reduce[0]),
            2 => {
                forward_stage::<L, 2, 2>(l, x, w, lazy_reduce[0]);
                forward_stage::<L, 2, 1>(l, x, w, lazy_reduce[1]);
            }
            3 => {
                forward_stage::<L, 4, 4>(l, x, w, lazy_reduce[0]);
                forward_stage::<L, 4, 2>(l, x, w, lazy_reduce[1]);
                forward_stage::<L, 4, 1>(l, x, w, lazy_reduce[2]);
            }
            _ => {
                forward_stage::<L, 8, 8>(l, x, w, lazy_reduce[0]);
                forward_stage::<L, 8, 4>(l, x, w, lazy_reduce[1]);
                forward_stage::<L, 8, 2>(l, x, w, lazy_reduce[2]);
                forward_stage::<L, 8, 1>(l, x, w, lazy_reduce[3]);
            }
        }
    }
}

/// `K` inverse stages; `first` stands for the multiplier of the forward transform's first stage, which comes last here.
/// Without `TAME` the sums of that stage stay as they are.
#[inline(always)]
pub(super) unsafe fn inverse_block<L: Lanes, const K: usize, const TAME: bool>(
    l: L,
    x: &mut Block<L>,
    w: Twiddles,
    first: L::T,
) {
    // SAFETY: the table holds 2^K - 1 multipliers from `w` on.
    unsafe {
        match K {
            4 if L::FEW_REGISTERS => {
                for i in 0..4 {
                    let quad = [x[4 * i], x[4 * i + 1], x[4 * i + 2], x[4 * i + 3]];
                    x[4 * i..][..4].copy_from_slice(&inverse_quad::<L, true>(l, quad, w.quad(l, 3 + i, 7 + 2 * i)));
                }
                let last = [first, w.at(l, 1), w.at(l, 2)];
                for i in 0..4 {
                    let quad = inverse_quad::<L, TAME>(l, [x[i], x[i + 4], x[i + 8], x[i + 12]], last);
                    (x[i], x[i + 4], x[i + 8], x[i + 12]) = (quad[0], quad[1], quad[2], quad[3]);
                }
            }
            1 => inverse_stage::<L, 1, 1, TAME>(l, x, w, first),
            2 => {
                inverse_stage::<L, 2, 1, false>(l, x, w, first);
                inverse_stage::<L, 2, 2, TAME>(l, x, w, first);
            }
            3 => {
                inverse_stage::<L, 4, 1, false>(l, x, w, first);
                inverse_stage::<L, 4, 2, true>(l, x, w, first);
                inverse_stage::<L, 4, 4, TAME>(l, x, w, first);
            }
            _ => {
                inverse_stage::<L, 8, 1, false>(l, x, w, first);
                inverse_stage::<L, 8, 2, true>(l, x, w, first);
                inverse_stage::<L, 8, 4, false>(l, x, w, first);
                inverse_stage::<L, 8, 8, TAME>(l, x, w, first);
            }
        }
    }
}
