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

/// Multipliers of a pass. A trait and not a closure: closures do not take `inline(always)`, and a call into one loses the
/// target features.
trait Multipliers<L: Lanes>: Copy {
    /// Those of block `b` of a radix-4 step whose first stage has `blocks` blocks.
    unsafe fn step(self, l: L, blocks: usize, b: usize) -> [L::T; 3];
}

/// One table entry in all lanes: for columns.
#[derive(Clone, Copy)]
struct Splat<'a>(&'a [[u64; 2]]);

impl Splat<'_> {
    #[inline(always)]
    unsafe fn one<L: Lanes>(self, l: L, i: usize) -> L::T {
        // SAFETY: the caller keeps i below the number of rows.
        unsafe { l.splat(*self.0.get_unchecked(i)) }
    }
}

impl<L: Lanes> Multipliers<L> for Splat<'_> {
    #[inline(always)]
    unsafe fn step(self, l: L, blocks: usize, b: usize) -> [L::T; 3] {
        let i = blocks + b;
        // SAFETY: 2 i + 1 < 4 blocks <= rows.
        unsafe { [self.one(l, i), self.one(l, 2 * i), self.one(l, 2 * i + 1)] }
    }
}

/// As [`Splat`] for the very last step of the inverse: the first multiplier has the scale folded in.
#[derive(Clone, Copy)]
struct Last<'a>(&'a [[u64; 2]], [u64; 2]);

impl<L: Lanes> Multipliers<L> for Last<'_> {
    #[inline(always)]
    unsafe fn step(self, l: L, _: usize, _: usize) -> [L::T; 3] {
        // SAFETY: a radix-4 step has at least four rows.
        unsafe { [l.splat(self.1), Splat(self.0).one(l, 2), Splat(self.0).one(l, 3)] }
    }
}

/// Vectors in the order of use: for rows.
#[derive(Clone, Copy)]
struct Stream {
    w: *const u64,
    aux: *const u64,
}

impl Stream {
    #[inline(always)]
    unsafe fn one<L: Lanes>(self, l: L, k: usize) -> L::T {
        // SAFETY: the table holds columns - 1 vectors for each group of rows.
        unsafe { l.load_t(self.w.add(k * L::WIDTH), self.aux.add(k * L::WIDTH)) }
    }
    #[inline(always)]
    unsafe fn after<L: Lanes>(self, vectors: usize) -> Self {
        // SAFETY: as above.
        unsafe { Self { w: self.w.add(vectors * L::WIDTH), aux: self.aux.add(vectors * L::WIDTH) } }
    }
}

impl<L: Lanes> Multipliers<L> for Stream {
    #[inline(always)]
    unsafe fn step(self, l: L, _: usize, b: usize) -> [L::T; 3] {
        // SAFETY: as above.
        unsafe { [self.one(l, 3 * b), self.one(l, 3 * b + 1), self.one(l, 3 * b + 2)] }
    }
}

/// Loads for a forward step.
#[inline(always)]
unsafe fn load<L: Lanes, const CANONICAL: bool, const TAME: bool>(l: L, p: *const u64) -> L::V {
    // SAFETY: `p` is a row of the source, valid for WIDTH words.
    unsafe {
        let x = if CANONICAL { l.load(p) } else { L::load_raw(p) };
        if TAME {
            l.tame(x)
        } else {
            x
        }
    }
}

/// One radix-4 step: stages with `blocks` and `2 blocks` twiddles over `4 h blocks` rows of `words` words.
#[inline(always)]
unsafe fn forward4<L: Lanes, const CANONICAL: bool, const TAME: bool>(
    l: L,
    (src, dst): (Place, Place),
    (blocks, h, words): (usize, usize, usize),
    multipliers: impl Multipliers<L>,
) {
    for b in 0..blocks {
        // SAFETY: b < blocks.
        let [w1, w2, w3] = unsafe { multipliers.step(l, blocks, b) };
        for i in 0..h {
            let row = 4 * h * b + i;
            if CANONICAL {
                // The next columns: a line of each row, too far apart for the processor to guess.
                for k in 0..4 {
                    // SAFETY: a prefetch touches nothing; the address need not be valid.
                    unsafe { L::prefetch(src.at.wrapping_add((row + k * h) * src.stride + words)) }
                }
            }
            for off in (0..words).step_by(L::WIDTH) {
                // SAFETY: row + 3h < 4 h blocks = number of rows, off + WIDTH <= words.
                unsafe {
                    let x0 = load::<L, CANONICAL, TAME>(l, src.row(row, off));
                    let x1 = load::<L, CANONICAL, TAME>(l, src.row(row + h, off));
                    let x2 = load::<L, CANONICAL, TAME>(l, src.row(row + 2 * h, off));
                    let x3 = load::<L, CANONICAL, TAME>(l, src.row(row + 3 * h, off));
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
unsafe fn forward2<L: Lanes, const CANONICAL: bool>(
    l: L,
    (src, dst): (Place, Place),
    (h, words): (usize, usize),
    w: L::T,
) {
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
/// of tamed, and everything leaves canonical. With `FAR`, the neighbouring lines of the source are prefetched.
#[inline(always)]
unsafe fn inverse4<L: Lanes, const LAST: bool, const FAR: bool>(
    l: L,
    (src, dst): (Place, Place),
    (blocks, h, words): (usize, usize, usize),
    scale: L::T,
    multipliers: impl Multipliers<L>,
) {
    for b in 0..blocks {
        // SAFETY: b < blocks.
        let [w1, w2, w3] = unsafe { multipliers.step(l, blocks, b) };
        for i in 0..h {
            let row = 4 * h * b + i;
            if FAR {
                for k in 0..4 {
                    // SAFETY: a prefetch touches nothing; the address need not be valid.
                    unsafe { L::prefetch(src.at.wrapping_add((row + k * h) * src.stride + words)) }
                }
            }
            for off in (0..words).step_by(L::WIDTH) {
                // SAFETY: row + 3h < 4 h blocks = number of rows, off + WIDTH <= words.
                unsafe {
                    let (x0, x1) = (L::load_raw(src.row(row, off)), L::load_raw(src.row(row + h, off)));
                    let (x2, x3) = (L::load_raw(src.row(row + 2 * h, off)), L::load_raw(src.row(row + 3 * h, off)));
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
    let (log_r, w) = (t.rows().trailing_zeros() as usize, Splat(t.column_forward()));
    // SAFETY: every place covers rows() rows of eight words; twiddle indices stay below rows().
    unsafe {
        let (mut stage, mut since) = (0, 0);
        let mut src = data;
        if log_r % 2 == 1 {
            let dst = if log_r == 1 { data } else { scratch };
            forward2::<L, true>(l, (src, dst), (t.rows() / 2, 8), w.one(l, 1));
            (stage, since, src) = (1, 1, scratch);
        }
        while stage < log_r {
            let m = 1 << stage;
            let dst = if stage + 2 == log_r { data } else { scratch };
            let shape = (m, t.rows() >> (stage + 2), 8);
            let tame = L::GROWS && since + 2 > 4;
            match (stage == 0, tame) {
                (true, _) => forward4::<L, true, false>(l, (src, dst), shape, w),
                (false, false) => forward4::<L, false, false>(l, (src, dst), shape, w),
                (false, true) => forward4::<L, false, true>(l, (src, dst), shape, w),
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
        transpose_in::<L, false>(l, data, scratch, columns);
        let (w, aux) = t.row_forward(row);
        let mut w = Stream { w, aux };
        let (mut stage, mut since) = (0, 0);
        if log_c % 2 == 1 {
            forward2::<L, false>(l, (place, place), (columns / 2, L::WIDTH), w.one(l, 0));
            (stage, since, w) = (1, 1, w.after::<L>(1));
        }
        while stage < log_c {
            let m = 1 << stage;
            let shape = (m, columns >> (stage + 2), L::WIDTH);
            let tame = L::GROWS && since + 2 > 4;
            if tame {
                forward4::<L, false, true>(l, (place, place), shape, w);
            } else {
                forward4::<L, false, false>(l, (place, place), shape, w);
            }
            since = if tame { 2 } else { since + 2 };
            (stage, w) = (stage + 2, w.after::<L>(3 * m));
        }
        transpose_out::<L, true>(l, scratch, data, columns);
    }
}

/// Inverse transform from `src` to `dst`, times `scale`: canonical values to canonical coefficients.
///
/// # Safety
/// The CPU has the instruction set of `L`; both hold N words, and are the same memory or apart; `t` was shaped for `L`.
#[inline(always)]
pub(crate) unsafe fn inverse<L: Lanes>(t: &NttTable, src: *const u64, dst: &mut [u64], scale: u64) {
    debug_assert!(dst.len() == t.n());
    let m = t.modulus();
    let scales = [L::prepare(m, scale), L::prepare(m, m.mul(scale, t.last_inverse()))];
    // SAFETY: by the contract of this function and of the two passes.
    unsafe {
        let l = L::new(m);
        let mut scratch = Scratch([0; SCRATCH]);
        for row in (0..t.rows()).step_by(L::WIDTH) {
            let at = row * t.columns();
            inverse_rows(l, t, row, (src.add(at), dst.as_mut_ptr().add(at)), scratch.0.as_mut_ptr());
        }
        for column in (0..t.columns()).step_by(8) {
            inverse_columns(l, t, scales, dst.as_mut_ptr().add(column), scratch.0.as_mut_ptr());
        }
    }
}

#[inline(always)]
unsafe fn inverse_rows<L: Lanes>(
    l: L,
    t: &NttTable,
    row: usize,
    (src, dst): (*const u64, *mut u64),
    scratch: *mut u64,
) {
    let (columns, log_c) = (t.columns(), t.columns().trailing_zeros() as usize);
    let place = Place { at: scratch, stride: L::WIDTH };
    // SAFETY: as in `forward_rows`.
    unsafe {
        transpose_in::<L, true>(l, src, scratch, columns);
        let (w, aux) = t.row_inverse(row);
        let mut w = Stream { w, aux };
        let unused = w.one(l, 0);
        let mut stage = log_c;
        while stage >= 2 {
            let m = 1 << (stage - 2);
            inverse4::<L, false, false>(l, (place, place), (m, columns >> stage, L::WIDTH), unused, w);
            (stage, w) = (stage - 2, w.after::<L>(3 * m));
        }
        if stage == 1 {
            let w = w.one(l, 0);
            inverse2::<L, false>(l, (place, place), (columns / 2, L::WIDTH), (w, w));
        }
        transpose_out::<L, false>(l, scratch, dst, columns);
    }
}

#[inline(always)]
unsafe fn inverse_columns<L: Lanes>(l: L, t: &NttTable, scales: [[u64; 2]; 2], data: *mut u64, scratch: *mut u64) {
    let (data, scratch) = (Place { at: data, stride: t.columns() }, Place { at: scratch, stride: 8 });
    let (log_r, w) = (t.rows().trailing_zeros() as usize, t.column_inverse());
    // SAFETY: as in `forward_columns`.
    unsafe {
        // The last stage has one twiddle; times `scale` it is scales[1].
        let scale = l.splat(scales[0]);
        let (mut stage, mut src) = (log_r, data);
        while stage >= 2 {
            let m = 1 << (stage - 2);
            let shape = (m, t.rows() >> stage, 8);
            if stage == 2 {
                inverse4::<L, true, false>(l, (src, data), shape, scale, Last(w, scales[1]));
            } else if stage == log_r {
                inverse4::<L, false, true>(l, (src, scratch), shape, scale, Splat(w));
            } else {
                inverse4::<L, false, false>(l, (src, scratch), shape, scale, Splat(w));
            }
            (stage, src) = (stage - 2, scratch);
        }
        if stage == 1 {
            inverse2::<L, true>(l, (src, data), (t.rows() / 2, 8), (l.splat(scales[1]), scale));
        }
    }
}

/// Rows `0..WIDTH` of `data` to the columns of `scratch`; words that are not canonical are in working form, and are tamed.
#[inline(always)]
unsafe fn transpose_in<L: Lanes, const CANONICAL: bool>(l: L, data: *const u64, scratch: *mut u64, columns: usize) {
    for c in (0..columns).step_by(L::WIDTH) {
        // SAFETY: c + WIDTH <= columns, a multiple of 8.
        unsafe {
            let mut x = [L::load_raw(data.add(c)); 8];
            for (i, x) in x.iter_mut().enumerate().take(L::WIDTH) {
                let p = data.add(i * columns + c);
                *x = match (CANONICAL, L::GROWS) {
                    (true, _) => l.load(p),
                    (false, true) => l.tame(L::load_raw(p)),
                    (false, false) => L::load_raw(p),
                };
            }
            L::transpose(&mut x);
            for (i, &x) in x.iter().enumerate().take(L::WIDTH) {
                L::store_raw(scratch.add((c + i) * L::WIDTH), x);
            }
        }
    }
}

/// The way back, to canonical words or in working form.
#[inline(always)]
unsafe fn transpose_out<L: Lanes, const CANONICAL: bool>(l: L, scratch: *const u64, data: *mut u64, columns: usize) {
    for c in (0..columns).step_by(L::WIDTH) {
        // SAFETY: c + WIDTH <= columns, a multiple of 8.
        unsafe {
            let mut x = [L::load_raw(scratch.add(c * L::WIDTH)); 8];
            for (i, x) in x.iter_mut().enumerate().take(L::WIDTH).skip(1) {
                *x = L::load_raw(scratch.add((c + i) * L::WIDTH));
            }
            L::transpose(&mut x);
            for (i, &x) in x.iter().enumerate().take(L::WIDTH) {
                let p = data.add(i * columns + c);
                if CANONICAL {
                    l.store(p, x);
                } else {
                    L::store_raw(p, x);
                }
            }
        }
    }
}
