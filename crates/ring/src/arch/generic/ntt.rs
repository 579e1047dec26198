//! The negacyclic transform of degree N = R * C as R-point transforms of columns, then C-point transforms of rows.
//!
//! Cooley-Tukey with bit-reversed powers of a 2N-th root `psi`: position `i` of the result holds the value at
//! `psi^(2 brv(i) + 1)`. Columns are taken eight at a time (one cache line) into a scratch that fits the L1
//! cache; rows are taken `WIDTH` at a time and transposed, so that no butterfly ever crosses lanes. Memory is
//! passed over twice.
//!
//! Range of the floating-point lanes, in units of q, with the product bound `1/2 + |a|/8` of `avx2.rs`: from an
//! input of at most 1, four stages give 1.63, 2.33, 3.12, 4.01; from a tamed input (1/2) they give 1.06, 1.69,
//! 2.40, 3.20. Every product has an operand below 4, so values are tamed before every fifth stage. The inverse
//! tames both sums of a radix-4 step: inputs stay within 1, products take at most 4.

use crate::arch::lanes::Lanes;
use crate::ntt::NttTable;

/// Words of scratch: 512 rows of eight, or 512 columns of eight.
const SCRATCH: usize = 4096;

#[repr(align(64))]
struct Scratch([u64; SCRATCH]);

/// Where a step reads and writes: a base pointer and the distance of its rows in words.
#[derive(Clone, Copy)]
struct Place {
    at: *mut u64,
    stride: usize,
}

impl Place {
    /// # Safety
    /// Row `row` and offset `off` lie inside the memory that `at` points to.
    #[inline(always)]
    unsafe fn row(self, row: usize, off: usize) -> *mut u64 {
        // SAFETY: the caller keeps row and offset inside the allocation.
        unsafe { self.at.add(row * self.stride + off) }
    }
}

/// One radix-4 step: stages with `blocks` and `2 blocks` twiddles over `4 h blocks` rows of `words` words.
#[inline(always)]
unsafe fn forward4<L: Lanes, const CANONICAL: bool, const TAME: bool>(
    l: L,
    (src, dst): (Place, Place),
    (blocks, h, words): (usize, usize, usize),
    twiddles: impl Fn(usize) -> [L::T; 3],
) {
    let load = |p: *const u64| {
        // SAFETY: `p` is a row of `src`, valid for `words >= WIDTH` words.
        unsafe {
            let x = if CANONICAL { l.load(p) } else { L::load_raw(p) };
            if TAME {
                l.tame(x)
            } else {
                x
            }
        }
    };
    for b in 0..blocks {
        let [w1, w2, w3] = twiddles(b);
        for i in 0..h {
            let row = 4 * h * b + i;
            for off in (0..words).step_by(L::WIDTH) {
                // SAFETY: row + 3h < 4 h blocks = number of rows, off + WIDTH <= words.
                unsafe {
                    let (x0, x1) = (load(src.row(row, off)), load(src.row(row + h, off)));
                    let (x2, x3) = (load(src.row(row + 2 * h, off)), load(src.row(row + 3 * h, off)));
                    let (x0, x2) = l.fwd_butterfly(x0, x2, w1);
                    let (x1, x3) = l.fwd_butterfly(x1, x3, w1);
                    let (x0, x1) = l.fwd_butterfly(x0, x1, w2);
                    let (x2, x3) = l.fwd_butterfly(x2, x3, w3);
                    L::store_raw(dst.row(row, off), x0);
                    L::store_raw(dst.row(row + h, off), x1);
                    L::store_raw(dst.row(row + 2 * h, off), x2);
                    L::store_raw(dst.row(row + 3 * h, off), x3);
                }
            }
        }
    }
}

/// One radix-2 step with a single block: the first stage of an odd number of stages.
#[inline(always)]
unsafe fn forward2<L: Lanes, const CANONICAL: bool>(l: L, (src, dst): (Place, Place), (h, words): (usize, usize), w: L::T) {
    for i in 0..h {
        for off in (0..words).step_by(L::WIDTH) {
            // SAFETY: i + h < 2h = number of rows.
            unsafe {
                let (a, b) = (src.row(i, off), src.row(i + h, off));
                let (x, y) = if CANONICAL { (l.load(a), l.load(b)) } else { (L::load_raw(a), L::load_raw(b)) };
                let (x, y) = l.fwd_butterfly(x, y, w);
                L::store_raw(dst.row(i, off), x);
                L::store_raw(dst.row(i + h, off), y);
            }
        }
    }
}

/// One inverse radix-4 step; with `last`, both outputs that no twiddle touches are multiplied by `scale` instead
/// of tamed, and everything leaves canonical.
#[inline(always)]
unsafe fn inverse4<L: Lanes, const LAST: bool>(
    l: L,
    (src, dst): (Place, Place),
    (blocks, h, words): (usize, usize, usize),
    scale: L::T,
    twiddles: impl Fn(usize) -> [L::T; 3],
) {
    for b in 0..blocks {
        let [w1, w2, w3] = twiddles(b);
        for i in 0..h {
            let row = 4 * h * b + i;
            for off in (0..words).step_by(L::WIDTH) {
                // SAFETY: row + 3h < 4 h blocks = number of rows, off + WIDTH <= words.
                unsafe {
                    let (x0, x1) = (L::load_raw(src.row(row, off)), L::load_raw(src.row(row + h, off)));
                    let (x2, x3) =
                        (L::load_raw(src.row(row + 2 * h, off)), L::load_raw(src.row(row + 3 * h, off)));
                    let (s0, d0) = (l.inv_sum(x0, x1), l.inv_diff_mul(x0, x1, w2));
                    let (s1, d1) = (l.inv_sum(x2, x3), l.inv_diff_mul(x2, x3, w3));
                    let (y0, y2) = (l.inv_sum(s0, s1), l.inv_diff_mul(s0, s1, w1));
                    let (y1, y3) = (l.inv_sum(d0, d1), l.inv_diff_mul(d0, d1, w1));
                    if LAST {
                        l.store(dst.row(row, off), l.mul(y0, scale));
                        l.store(dst.row(row + h, off), l.mul(y1, scale));
                        l.store(dst.row(row + 2 * h, off), y2);
                        l.store(dst.row(row + 3 * h, off), y3);
                    } else {
                        let (y0, y1) = if L::GROWS { (l.tame(y0), l.tame(y1)) } else { (y0, y1) };
                        L::store_raw(dst.row(row, off), y0);
                        L::store_raw(dst.row(row + h, off), y1);
                        L::store_raw(dst.row(row + 2 * h, off), y2);
                        L::store_raw(dst.row(row + 3 * h, off), y3);
                    }
                }
            }
        }
    }
}

/// One inverse radix-2 step with a single block: the last stage of an odd number of stages.
#[inline(always)]
unsafe fn inverse2<L: Lanes, const LAST: bool>(
    l: L,
    (src, dst): (Place, Place),
    (h, words): (usize, usize),
    (w, scale): (L::T, L::T),
) {
    for i in 0..h {
        for off in (0..words).step_by(L::WIDTH) {
            // SAFETY: i + h < 2h = number of rows.
            unsafe {
                let (x, y) = (L::load_raw(src.row(i, off)), L::load_raw(src.row(i + h, off)));
                let (s, d) = (l.inv_sum(x, y), l.inv_diff_mul(x, y, w));
                if LAST {
                    l.store(dst.row(i, off), l.mul(s, scale));
                    l.store(dst.row(i + h, off), d);
                } else {
                    L::store_raw(dst.row(i, off), if L::GROWS { l.tame(s) } else { s });
                    L::store_raw(dst.row(i + h, off), d);
                }
            }
        }
    }
}

/// Forward transform in place: canonical coefficients to canonical values.
///
/// # Safety
/// The CPU has the instruction set of `L`; `data` holds N words; `t` was shaped for `L`.
#[inline(always)]
pub(crate) unsafe fn forward<L: Lanes>(t: &NttTable, data: &mut [u64]) {
    debug_assert!(data.len() == t.n() && data.iter().all(|&x| x < t.modulus().value()));
    // SAFETY: by the contract of this function and of the two passes.
    unsafe {
        let l = L::new(t.modulus());
        let mut scratch = Scratch([0; SCRATCH]);
        for column in (0..t.columns()).step_by(8) {
            forward_columns(l, t, data.as_mut_ptr().add(column), scratch.0.as_mut_ptr());
        }
        for row in (0..t.rows()).step_by(L::WIDTH) {
            forward_rows(l, t, row, data.as_mut_ptr().add(row * t.columns()), scratch.0.as_mut_ptr());
        }
    }
}

#[inline(always)]
unsafe fn forward_columns<L: Lanes>(l: L, t: &NttTable, data: *mut u64, scratch: *mut u64) {
    let (data, scratch) = (Place { at: data, stride: t.columns() }, Place { at: scratch, stride: 8 });
    let (log_r, w) = (t.rows().trailing_zeros() as usize, t.column_forward());
    // SAFETY: every place covers rows() rows of eight words; twiddle indices stay below rows().
    unsafe {
        let splat = |i: usize| l.splat(w[i]);
        let (mut stage, mut since) = (0, 0);
        let mut src = data;
        if log_r % 2 == 1 {
            let dst = if log_r == 1 { data } else { scratch };
            forward2::<L, true>(l, (src, dst), (t.rows() / 2, 8), splat(1));
            (stage, since, src) = (1, 1, scratch);
        }
        while stage < log_r {
            let m = 1 << stage;
            let dst = if stage + 2 == log_r { data } else { scratch };
            let shape = (m, t.rows() >> (stage + 2), 8);
            let tw = |b: usize| [splat(m + b), splat(2 * (m + b)), splat(2 * (m + b) + 1)];
            let tame = L::GROWS && since + 2 > 4;
            match (stage == 0, tame) {
                (true, _) => forward4::<L, true, false>(l, (src, dst), shape, tw),
                (false, false) => forward4::<L, false, false>(l, (src, dst), shape, tw),
                (false, true) => forward4::<L, false, true>(l, (src, dst), shape, tw),
            }
            since = if tame { 2 } else { since + 2 };
            (stage, src) = (stage + 2, scratch);
        }
    }
}

#[inline(always)]
unsafe fn forward_rows<L: Lanes>(l: L, t: &NttTable, row: usize, data: *mut u64, scratch: *mut u64) {
    let (columns, log_c) = (t.columns(), t.columns().trailing_zeros() as usize);
    let place = Place { at: scratch, stride: L::WIDTH };
    // SAFETY: `data` holds WIDTH rows of columns() words, scratch as many; the table holds columns() - 1
    // multipliers for each row, in the order of use.
    unsafe {
        transpose_in::<L>(l, data, scratch, columns, |l, p| {
            let x = L::load_raw(p);
            if L::GROWS {
                l.tame(x)
            } else {
                x
            }
        });
        let (w, aux) = t.row_forward(row);
        let fetch = |k: usize| l.load_t(w.add(k * L::WIDTH), aux.add(k * L::WIDTH));
        let (mut stage, mut since, mut used) = (0, 0, 0);
        if log_c % 2 == 1 {
            forward2::<L, false>(l, (place, place), (columns / 2, L::WIDTH), fetch(0));
            (stage, since, used) = (1, 1, 1);
        }
        while stage < log_c {
            let m = 1 << stage;
            let shape = (m, columns >> (stage + 2), L::WIDTH);
            let tw = |b: usize| [fetch(used + 3 * b), fetch(used + 3 * b + 1), fetch(used + 3 * b + 2)];
            let tame = L::GROWS && since + 2 > 4;
            if tame {
                forward4::<L, false, true>(l, (place, place), shape, tw);
            } else {
                forward4::<L, false, false>(l, (place, place), shape, tw);
            }
            since = if tame { 2 } else { since + 2 };
            (stage, used) = (stage + 2, used + 3 * m);
        }
        transpose_out::<L>(scratch, data, columns, |p, x| l.store(p, x));
    }
}

/// Inverse transform in place, times `scale`: canonical values to canonical coefficients.
///
/// # Safety
/// The CPU has the instruction set of `L`; `data` holds N words; `t` was shaped for `L`.
#[inline(always)]
pub(crate) unsafe fn inverse<L: Lanes>(t: &NttTable, data: &mut [u64], scale: u64) {
    debug_assert!(data.len() == t.n() && data.iter().all(|&x| x < t.modulus().value()));
    let m = t.modulus();
    let scales = [L::prepare(m, scale), L::prepare(m, m.mul(scale, t.last_inverse()))];
    // SAFETY: by the contract of this function and of the two passes.
    unsafe {
        let l = L::new(m);
        let mut scratch = Scratch([0; SCRATCH]);
        for row in (0..t.rows()).step_by(L::WIDTH) {
            inverse_rows(l, t, row, data.as_mut_ptr().add(row * t.columns()), scratch.0.as_mut_ptr());
        }
        for column in (0..t.columns()).step_by(8) {
            inverse_columns(l, t, scales, data.as_mut_ptr().add(column), scratch.0.as_mut_ptr());
        }
    }
}

#[inline(always)]
unsafe fn inverse_rows<L: Lanes>(l: L, t: &NttTable, row: usize, data: *mut u64, scratch: *mut u64) {
    let (columns, log_c) = (t.columns(), t.columns().trailing_zeros() as usize);
    let place = Place { at: scratch, stride: L::WIDTH };
    // SAFETY: as in `forward_rows`.
    unsafe {
        transpose_in::<L>(l, data, scratch, columns, |l, p| l.load(p));
        let (w, aux) = t.row_inverse(row);
        let fetch = |k: usize| l.load_t(w.add(k * L::WIDTH), aux.add(k * L::WIDTH));
        let (mut stage, mut used) = (log_c, 0);
        while stage >= 2 {
            let m = 1 << (stage - 2);
            let tw = |b: usize| [fetch(used + 3 * b), fetch(used + 3 * b + 1), fetch(used + 3 * b + 2)];
            inverse4::<L, false>(l, (place, place), (m, columns >> stage, L::WIDTH), fetch(0), tw);
            (stage, used) = (stage - 2, used + 3 * m);
        }
        if stage == 1 {
            let w = fetch(used);
            inverse2::<L, false>(l, (place, place), (columns / 2, L::WIDTH), (w, w));
        }
        transpose_out::<L>(scratch, data, columns, |p, x| L::store_raw(p, x));
    }
}

#[inline(always)]
unsafe fn inverse_columns<L: Lanes>(l: L, t: &NttTable, scales: [[u64; 2]; 2], data: *mut u64, scratch: *mut u64) {
    let (data, scratch) = (Place { at: data, stride: t.columns() }, Place { at: scratch, stride: 8 });
    let (log_r, w) = (t.rows().trailing_zeros() as usize, t.column_inverse());
    // SAFETY: as in `forward_columns`.
    unsafe {
        let splat = |i: usize| l.splat(w[i]);
        // The last stage has one twiddle; times `scale` it is scales[1].
        let (scale, last) = (l.splat(scales[0]), l.splat(scales[1]));
        let (mut stage, mut src) = (log_r, data);
        while stage >= 2 {
            let m = 1 << (stage - 2);
            let shape = (m, t.rows() >> stage, 8);
            if stage == 2 {
                inverse4::<L, true>(l, (src, data), shape, scale, |_| [last, splat(2), splat(3)]);
            } else {
                let tw = |b: usize| [splat(m + b), splat(2 * (m + b)), splat(2 * (m + b) + 1)];
                inverse4::<L, false>(l, (src, scratch), shape, scale, tw);
            }
            (stage, src) = (stage - 2, scratch);
        }
        if stage == 1 {
            inverse2::<L, true>(l, (src, data), (t.rows() / 2, 8), (last, scale));
        }
    }
}

/// Rows `0..WIDTH` of `data` to the columns of `scratch`.
#[inline(always)]
unsafe fn transpose_in<L: Lanes>(l: L, data: *const u64, scratch: *mut u64, columns: usize, load: impl Fn(L, *const u64) -> L::V) {
    for c in (0..columns).step_by(L::WIDTH) {
        // SAFETY: c + WIDTH <= columns, a multiple of 8.
        unsafe {
            let mut x = [load(l, data.add(c)); 8];
            for (i, x) in x.iter_mut().enumerate().take(L::WIDTH).skip(1) {
                *x = load(l, data.add(i * columns + c));
            }
            L::transpose(&mut x);
            for (i, &x) in x.iter().enumerate().take(L::WIDTH) {
                L::store_raw(scratch.add((c + i) * L::WIDTH), x);
            }
        }
    }
}

/// The way back.
#[inline(always)]
unsafe fn transpose_out<L: Lanes>(scratch: *const u64, data: *mut u64, columns: usize, store: impl Fn(*mut u64, L::V)) {
    for c in (0..columns).step_by(L::WIDTH) {
        // SAFETY: c + WIDTH <= columns, a multiple of 8.
        unsafe {
            let mut x = [L::load_raw(scratch.add(c * L::WIDTH)); 8];
            for (i, x) in x.iter_mut().enumerate().take(L::WIDTH).skip(1) {
                *x = L::load_raw(scratch.add((c + i) * L::WIDTH));
            }
            L::transpose(&mut x);
            for (i, &x) in x.iter().enumerate().take(L::WIDTH) {
                store(data.add(i * columns + c), x);
            }
        }
    }
}
