//! The negacyclic transform of small degrees, 2^6 to 2^12, whose values stand in no particular order.
//!
//! Cooley-Tukey as in `ntt.rs`, on data that fits the first cache. The last step takes blocks of `WIDTH^2` words: `log WIDTH`
//! stages on `WIDTH` vectors, one transpose, and `log WIDTH` stages with a multiplier for each lane. It ends there: vector
//! `b WIDTH + w` holds, in lane `l`, the value at position `(b WIDTH + l) WIDTH + w` of the ordered transform. What meets in that
//! order is products of values, and the inverse transform begins in it: one transpose in each direction. Lanes of four words take the first
//! `log WIDTH` of these stages as a step of its own: shorter chains of what depends on each other keep more units at work.
//!
//! Range of the integer lanes, in units of q. *Forward*: on a lift of `log N + 1`, a value of at most q and the sums of all stages stay
//! in `[1, 2 log N + 2)`, which a modulus of 47 bits has room for; with 48 bits values are lifted by 7, have at most six stages before
//! the last step and six in it, and are lifted anew between. *Inverse*: the operands of stage s are below `2^s` or 2, so differences
//! fit 52 bits while `bits + log N <= 51`; above, what has grown subsides to 2 after every block, in the middle of one of four stages.
//! Floating-point lanes: see `inv_lazy`; forward sums of values within q stay within 8q for 48 bits.

mod butterflies;

use crate::arch::lanes::Lanes;
use crate::constants::small::{Direction, SmallConstants};
use butterflies::{forward_block, inverse_block, Block, Growth, Twiddles};
use std::ops::Range;

/// `2^K` vectors that lie `stride` words apart.
#[inline(always)]
unsafe fn load_block<L: Lanes, const K: usize>(p: *const u64, stride: usize) -> Block<L> {
    // SAFETY: the vectors are inside the data by the contract of the caller.
    unsafe {
        let mut x: Block<L> = [L::splat_raw(0); 16];
        for (i, x) in x.iter_mut().enumerate().take(1 << K) {
            *x = L::load_raw(p.add(i * stride));
        }
        x
    }
}

#[inline(always)]
unsafe fn store_block<L: Lanes, const K: usize>(p: *mut u64, stride: usize, x: &Block<L>) {
    for (i, x) in x.iter().enumerate().take(1 << K) {
        // SAFETY: as in `load_block`.
        unsafe { L::store_raw(p.add(i * stride), *x) }
    }
}

/// What transforms have come into the cache while they compute: the same stretch of some planes, a few lines at a time.
pub(super) struct Ahead<'a> {
    planes: &'a [&'a [u8]],
    left: Range<usize>,
}

impl<'a> Ahead<'a> {
    /// These bytes of each plane, or what there is of them.
    pub(super) fn new(planes: &'a [&'a [u8]], bytes: Range<usize>) -> Self {
        Self { planes, left: if planes.is_empty() { 0..0 } else { bytes } }
    }

    #[inline(always)]
    unsafe fn fetch<L: Lanes>(&mut self) {
        if self.left.is_empty() {
            return;
        }
        for plane in self.planes {
            // SAFETY: any address will do.
            unsafe {
                let p: *const u64 = plane.as_ptr().wrapping_add(self.left.start).cast();
                L::prefetch(p);
                // Lanes of four words ask about twice as often.
                if L::WIDTH == 8 {
                    L::prefetch(p.wrapping_add(8));
                }
            }
        }
        self.left.start += if L::WIDTH == 8 { 128 } else { 64 };
    }
}

/// Calls a step with the number of its stages as a constant.
macro_rules! with_stages {
    ($k:expr, $step:ident::<$l:ty, K $(, $roomy:tt)?>($($arg:expr),*)) => {
        match $k {
            1 => $step::<$l, 1 $(, $roomy)?>($($arg),*),
            2 => $step::<$l, 2 $(, $roomy)?>($($arg),*),
            3 => $step::<$l, 3 $(, $roomy)?>($($arg),*),
            _ => $step::<$l, 4 $(, $roomy)?>($($arg),*),
        }
    };
}

/// `K` stages on blocks of `2^K h` words, in place.
#[inline(always)]
unsafe fn forward_step<L: Lanes, const K: usize>(l: L, data: &mut [u64], table: &[[u64; 2]], ahead: &mut Ahead<'_>) {
    let blocks = table.len() / ((1 << K) - 1);
    let h = (data.len() / blocks) >> K;
    for b in 0..blocks {
        // SAFETY: every vector stays inside the data, and block b has 2^K - 1 multipliers in the table.
        unsafe {
            let (p, w) = (data.as_mut_ptr().add(b * (h << K)), table.as_ptr().add(b * ((1 << K) - 1)));
            for at in (0..h).step_by(L::WIDTH) {
                ahead.fetch::<L>();
                let mut x = load_block::<L, K>(p.add(at), h);
                forward_block::<L, K, false>(l, &mut x, Twiddles(w.cast()));
                store_block::<L, K>(p.add(at), h, &x);
            }
        }
    }
}

#[inline(always)]
unsafe fn inverse_step<L: Lanes, const K: usize, const ROOMY: bool>(
    l: L,
    data: &mut [u64],
    table: &[[u64; 2]],
    growth: Growth<ROOMY>,
    ahead: &mut Ahead<'_>,
) {
    let blocks = table.len() / ((1 << K) - 1);
    let h = (data.len() / blocks) >> K;
    for b in 0..blocks {
        // SAFETY: as in `forward_step`.
        unsafe {
            let (p, w) = (data.as_mut_ptr().add(b * (h << K)), table.as_ptr().add(b * ((1 << K) - 1)));
            for at in (0..h).step_by(L::WIDTH) {
                ahead.fetch::<L>();
                let mut x = load_block::<L, K>(p.add(at), h);
                inverse_block::<L, K, ROOMY, false>(l, &mut x, Twiddles(w.cast()), growth);
                // What comes after the last step takes all that it leaves.
                if blocks > 1 {
                    growth.subside::<L, K>(l, &mut x);
                }
                store_block::<L, K>(p.add(at), h, &x);
            }
        }
    }
}

/// The last forward step: `K = log WIDTH` stages on vectors, the transpose, `K` stages on lanes. Without `VECTORS` the first of these are
/// left out, as they were a step like those before.
#[inline(always)]
unsafe fn forward_last<L: Lanes, const K: usize, const ROOMY: bool, const VECTORS: bool>(
    l: L,
    data: &mut [u64],
    d: &Direction,
    ahead: &mut Ahead<'_>,
) {
    let group = L::WIDTH * L::WIDTH;
    for b in 0..data.len() / group {
        // SAFETY: blocks are inside the data; each has 2^K - 1 multipliers of either kind.
        unsafe {
            let p = data.as_mut_ptr().add(b * group);
            ahead.fetch::<L>();
            let mut x = load_block::<L, K>(p, L::WIDTH);
            let at = b * ((1 << K) - 1);
            if VECTORS {
                if !ROOMY {
                    for x in &mut x {
                        *x = l.lift_anew(*x, STAGES_OF_A_LIFT);
                    }
                }
                forward_block::<L, K, false>(l, &mut x, Twiddles(d.last().as_ptr().add(at).cast()));
            }
            transpose::<L>(&mut x);
            let lanes = d.lanes().as_ptr().add(2 * L::WIDTH * at);
            forward_block::<L, K, true>(l, &mut x, Twiddles(lanes));
            store_block::<L, K>(p, L::WIDTH, &x);
        }
    }
}

/// The first inverse step; without `VECTORS` its stages on lanes alone.
#[inline(always)]
unsafe fn inverse_last<L: Lanes, const K: usize, const ROOMY: bool, const VECTORS: bool>(
    l: L,
    data: &mut [u64],
    d: &Direction,
    ahead: &mut Ahead<'_>,
) {
    let group = L::WIDTH * L::WIDTH;
    for b in 0..data.len() / group {
        // SAFETY: as in `forward_last`.
        unsafe {
            let p = data.as_mut_ptr().add(b * group);
            ahead.fetch::<L>();
            let mut x = load_block::<L, K>(p, L::WIDTH);
            let at = b * ((1 << K) - 1);
            let lanes = d.lanes().as_ptr().add(2 * L::WIDTH * at);
            let growth = Growth::<ROOMY>(0);
            inverse_block::<L, K, ROOMY, true>(l, &mut x, Twiddles(lanes), growth);
            growth.subside::<L, K>(l, &mut x);
            transpose::<L>(&mut x);
            if VECTORS {
                let (last, growth) = (d.last().as_ptr().add(at).cast(), growth.next(K));
                inverse_block::<L, K, ROOMY, false>(l, &mut x, Twiddles(last), growth);
                growth.subside::<L, K>(l, &mut x);
            }
            store_block::<L, K>(p, L::WIDTH, &x);
        }
    }
}

/// Transposes the first `WIDTH` vectors of a block.
#[inline(always)]
unsafe fn transpose<L: Lanes>(x: &mut Block<L>) {
    let mut first = [x[0], x[1], x[2], x[3], x[4], x[5], x[6], x[7]];
    // SAFETY: the lanes fit the CPU by the contract of the caller.
    unsafe { L::transpose(&mut first) }
    x[..8].copy_from_slice(&first);
}

/// Whether forward sums need no settling.
#[inline(always)]
fn roomy<L: Lanes>(t: &SmallConstants) -> bool {
    t.modulus().bits() <= if L::ROOMY_BITS > 0 { L::ROOMY_BITS } else { 48 }
}

/// Stages before the last step, and in it, where values are lifted anew between them: 6 at most of degree 2^12.
const STAGES_OF_A_LIFT: u64 = 6;

/// What is added to values before a forward transform, in units of q, where lanes need room below.
#[inline(always)]
pub(super) fn lift<L: Lanes>(t: &SmallConstants) -> u64 {
    if roomy::<L>(t) {
        u64::from(t.log_n()) + 1
    } else {
        STAGES_OF_A_LIFT + 1
    }
}

#[inline(always)]
unsafe fn forward_steps<L: Lanes, const ROOMY: bool>(
    l: L,
    t: &SmallConstants,
    data: &mut [u64],
    ahead: &mut Ahead<'_>,
) {
    // SAFETY: the steps of the table are those of this degree and these lanes.
    unsafe {
        for step in t.forward_tables().steps() {
            with_stages!(step.stages(), forward_step::<L, K>(l, data, step.table(), ahead));
        }
        match L::WIDTH {
            8 => forward_last::<L, 3, ROOMY, true>(l, data, t.forward_tables(), ahead),
            4 => {
                forward_step::<L, 2>(l, data, t.forward_tables().last(), ahead);
                forward_last::<L, 2, ROOMY, false>(l, data, t.forward_tables(), ahead);
            }
            _ => {}
        }
    }
}

/// From working form, lifted by [`lift`], to working form in the order of the table: what `mul` takes.
///
/// # Safety
/// The CPU has the instruction set of `L`, the table was shaped for it; `data` has N words, integers within q on their lift.
#[inline(always)]
pub(super) unsafe fn forward_raw<L: Lanes>(l: L, t: &SmallConstants, data: &mut [u64], ahead: &mut Ahead<'_>) {
    // SAFETY: as for this function.
    unsafe {
        if roomy::<L>(t) {
            forward_steps::<L, true>(l, t, data, ahead);
        } else {
            forward_steps::<L, false>(l, t, data, ahead);
        }
    }
}

/// Canonical coefficients to canonical values, in place.
///
/// # Safety
/// The CPU has the instruction set of `L`, the table was shaped for it; `data` has N canonical words.
#[inline(always)]
pub(crate) unsafe fn forward<L: Lanes>(t: &SmallConstants, data: &mut [u64]) {
    // SAFETY: every vector stays inside the N words.
    unsafe {
        let l = L::new(t.modulus());
        for at in (0..data.len()).step_by(L::WIDTH) {
            let p = data.as_mut_ptr().add(at);
            L::store_raw(p, l.lift(l.load(p), lift::<L>(t)));
        }
        forward_raw(l, t, data, &mut Ahead::new(&[], 0..0));
        let one = l.splat(L::prepare(t.modulus(), 1));
        for at in (0..data.len()).step_by(L::WIDTH) {
            let p = data.as_mut_ptr().add(at);
            l.store(p, l.mul(L::load_raw(p), one));
        }
    }
}

#[inline(always)]
unsafe fn inverse_steps<L: Lanes, const ROOMY: bool>(
    l: L,
    t: &SmallConstants,
    data: &mut [u64],
    ahead: &mut Ahead<'_>,
) {
    let tables = t.inverse_tables();
    // SAFETY: the steps of the table are those of this degree and these lanes.
    unsafe {
        match L::WIDTH {
            8 => inverse_last::<L, 3, ROOMY, true>(l, data, tables, ahead),
            4 => {
                inverse_last::<L, 2, ROOMY, false>(l, data, tables, ahead);
                inverse_step::<L, 2, ROOMY>(l, data, tables.last(), Growth::<ROOMY>(0).next(2), ahead);
            }
            _ => {}
        }
        let mut growth = Growth::<ROOMY>(0).next(2 * L::WIDTH.trailing_zeros() as usize);
        for step in tables.steps().iter().rev() {
            with_stages!(step.stages(), inverse_step::<L, K, ROOMY>(l, data, step.table(), growth, ahead));
            growth = growth.next(step.stages());
        }
    }
}

/// Adds the coefficients of values in working form to `sum`; they may have been `SCALED` by 1/N before.
///
/// # Safety
/// The CPU has the instruction set of `L`, the table was shaped for it; both have N words, values are within q, sums canonical.
#[inline(always)]
pub(super) unsafe fn inverse_add_raw<L: Lanes, const SCALED: bool>(
    l: L,
    t: &SmallConstants,
    values: &mut [u64],
    sum: &mut [u64],
    ahead: &mut Ahead<'_>,
) {
    // SAFETY: every vector stays inside the N words.
    unsafe {
        if t.modulus().bits() + t.log_n() <= 51 {
            inverse_steps::<L, true>(l, t, values, ahead);
        } else {
            inverse_steps::<L, false>(l, t, values, ahead);
        }
        let n_inverse = l.splat(L::prepare(t.modulus(), t.n_inverse()));
        for at in (0..sum.len()).step_by(L::WIDTH) {
            let p = sum.as_mut_ptr().add(at);
            let x = L::load_raw(values.as_ptr().add(at));
            l.store(p, l.add(if SCALED { x } else { l.mul(x, n_inverse) }, l.load(p)));
        }
    }
}

/// Adds the coefficients of canonical values to `sum`; the values are overwritten.
///
/// # Safety
/// The CPU has the instruction set of `L`, the table was shaped for it; both have N canonical words.
#[inline(always)]
pub(crate) unsafe fn inverse_add<L: Lanes>(t: &SmallConstants, values: &mut [u64], sum: &mut [u64]) {
    // SAFETY: every vector stays inside the N words.
    unsafe {
        let l = L::new(t.modulus());
        for at in (0..values.len()).step_by(L::WIDTH) {
            let p = values.as_mut_ptr().add(at);
            L::store_raw(p, l.load(p));
        }
        inverse_add_raw::<L, false>(l, t, values, sum, &mut Ahead::new(&[], 0..0));
    }
}
