//! Stages on up to sixteen vectors in registers, and how they keep their range, which is that of `small.rs`.

use crate::arch::lanes::Lanes;

/// Multipliers in the order of use: one for all lanes each, or with `EACH` a vector for each.
#[derive(Clone, Copy)]
pub(super) struct Twiddles<const EACH: bool>(pub(super) *const u64);

impl<const EACH: bool> Twiddles<EACH> {
    #[inline(always)]
    pub(super) unsafe fn at<L: Lanes>(self, l: L, i: usize) -> L::T {
        // SAFETY: the caller keeps i inside the table; two words, or two vectors, stand for a multiplier.
        unsafe {
            if EACH {
                let p = self.0.add(2 * L::WIDTH * i);
                l.load_t(p, p.add(L::WIDTH))
            } else {
                let p = self.0.add(2 * i);
                l.splat([*p, *p.add(1)])
            }
        }
    }
}

pub(super) type Block<L> = [<L as Lanes>::V; 16];

#[inline(always)]
pub(super) unsafe fn forward_stage<L: Lanes, const PAIRS: usize, const H: usize, const EACH: bool>(
    l: L,
    x: &mut Block<L>,
    w: Twiddles<EACH>,
) {
    for i in 0..PAIRS {
        let (b, a) = (i / H, i / H * H + i);
        // SAFETY: blocks b < PAIRS / H of this stage have the multipliers from PAIRS / H - 1 on.
        unsafe {
            (x[a], x[a + H]) = l.fwd_butterfly(x[a], x[a + H], w.at(l, PAIRS / H - 1 + b));
        }
    }
}

/// `K` forward stages in registers.
#[inline(always)]
pub(super) unsafe fn forward_block<L: Lanes, const K: usize, const EACH: bool>(
    l: L,
    x: &mut Block<L>,
    w: Twiddles<EACH>,
) {
    // SAFETY: the table holds 2^K - 1 multipliers from `w` on.
    unsafe {
        match K {
            0 => {}
            1 => forward_stage::<L, 1, 1, EACH>(l, x, w),
            2 => {
                forward_stage::<L, 2, 2, EACH>(l, x, w);
                forward_stage::<L, 2, 1, EACH>(l, x, w);
            }
            3 => {
                forward_stage::<L, 4, 4, EACH>(l, x, w);
                forward_stage::<L, 4, 2, EACH>(l, x, w);
                forward_stage::<L, 4, 1, EACH>(l, x, w);
            }
            _ => {
                forward_stage::<L, 8, 8, EACH>(l, x, w);
                forward_stage::<L, 8, 4, EACH>(l, x, w);
                forward_stage::<L, 8, 2, EACH>(l, x, w);
                forward_stage::<L, 8, 1, EACH>(l, x, w);
            }
        }
    }
}

/// How an inverse transform keeps its range: log2 of what operands are below, in units of q, and whether sums may grow to the end.
#[derive(Clone, Copy)]
pub(super) struct Growth<const ROOMY: bool>(pub(super) usize);

impl<const ROOMY: bool> Growth<ROOMY> {
    /// After some stages; a product is below 2q.
    #[inline(always)]
    pub(super) fn after(self, stages: usize) -> Self {
        Self((self.0 + stages).max(1))
    }

    /// After a block, whose results have subsided unless there is room.
    #[inline(always)]
    pub(super) fn next(self, stages: usize) -> Self {
        Self(if ROOMY { self.after(stages).0 } else { 1 })
    }

    /// What has grown in the last `K` stages comes below 2q again, unless there is room. A product is made where the highest bit of an
    /// index is set, and doubles in every stage from there.
    #[inline(always)]
    pub(super) unsafe fn subside<L: Lanes, const K: usize>(self, l: L, x: &mut Block<L>) {
        if ROOMY {
            return;
        }
        // SAFETY: the lanes fit the CPU by the contract of the caller.
        unsafe {
            match K {
                1 => subside::<L, 1, 2>(l, x, 1),
                2 => {
                    subside::<L, 1, 4>(l, x, 2);
                    subside::<L, 2, 4>(l, x, 1);
                }
                3 => {
                    subside::<L, 1, 8>(l, x, 3);
                    subside::<L, 2, 8>(l, x, 2);
                    subside::<L, 4, 8>(l, x, 1);
                }
                // The other two have subsided in the middle.
                _ => {
                    subside::<L, 4, 16>(l, x, 2);
                    subside::<L, 8, 16>(l, x, 1);
                }
            }
        }
    }
}

/// The first `COUNT` of every `OF`, below `2^(log + 1) q`, to below `2^log q`.
#[inline(always)]
pub(super) unsafe fn subside<L: Lanes, const COUNT: usize, const OF: usize>(l: L, x: &mut Block<L>, log: usize) {
    // Lanes that tame do so once.
    if L::GROWS && log > 1 {
        return;
    }
    for (i, x) in x.iter_mut().enumerate() {
        if i % OF < COUNT {
            // SAFETY: the lanes fit the CPU by the contract of the caller.
            unsafe { *x = l.subside(*x, l.multiple(1 << log)) }
        }
    }
}

#[inline(always)]
pub(super) unsafe fn inverse_stage<
    L: Lanes,
    const PAIRS: usize,
    const H: usize,
    const ROOMY: bool,
    const EACH: bool,
>(
    l: L,
    x: &mut Block<L>,
    w: Twiddles<EACH>,
    Growth(log): Growth<ROOMY>,
) {
    // SAFETY: as in `forward_stage`.
    unsafe {
        let offset = l.multiple(1 << log);
        for i in 0..PAIRS {
            let (b, a) = (i / H, i / H * H + i);
            (x[a], x[a + H]) = l.inv_lazy(x[a], x[a + H], w.at(l, PAIRS / H - 1 + b), offset);
        }
    }
}

/// `K` inverse stages in registers.
#[inline(always)]
pub(super) unsafe fn inverse_block<L: Lanes, const K: usize, const ROOMY: bool, const EACH: bool>(
    l: L,
    x: &mut Block<L>,
    w: Twiddles<EACH>,
    growth: Growth<ROOMY>,
) {
    // SAFETY: the table holds 2^K - 1 multipliers from `w` on.
    unsafe {
        match K {
            0 => {}
            1 => inverse_stage::<L, 1, 1, ROOMY, EACH>(l, x, w, growth),
            2 => {
                inverse_stage::<L, 2, 1, ROOMY, EACH>(l, x, w, growth);
                inverse_stage::<L, 2, 2, ROOMY, EACH>(l, x, w, growth.after(1));
            }
            3 => {
                inverse_stage::<L, 4, 1, ROOMY, EACH>(l, x, w, growth);
                inverse_stage::<L, 4, 2, ROOMY, EACH>(l, x, w, growth.after(1));
                inverse_stage::<L, 4, 4, ROOMY, EACH>(l, x, w, growth.after(2));
            }
            _ => {
                inverse_stage::<L, 8, 1, ROOMY, EACH>(l, x, w, growth);
                inverse_stage::<L, 8, 2, ROOMY, EACH>(l, x, w, growth.after(1));
                growth.subside::<L, 2>(l, x);
                inverse_stage::<L, 8, 4, ROOMY, EACH>(l, x, w, growth.next(2));
                inverse_stage::<L, 8, 8, ROOMY, EACH>(l, x, w, growth.next(2).after(1));
            }
        }
    }
}
