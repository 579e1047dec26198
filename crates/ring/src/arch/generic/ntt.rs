//! The negacyclic transform of degree N.
//!
//! Cooley-Tukey with bit-reversed powers of a 2N-th root `psi`: position `i` of the result holds the value at
//! `psi^(2 brv(i) + 1)`. A step is four stages or fewer on up to sixteen vectors in registers, in place. A step of four cuts
//! its block in sixteen, and every part is finished before the next one is begun. For N = 2^16 memory is passed over three
//! times: by two steps of two stages, and 32 KB at a time, which fit the L1 cache. (One step of four instead of two of two
//! would have sixteen streams 32 KB apart: all in one set of that cache, which has eight ways.)
//!
//! The last step, blocks of sixteen words, takes `WIDTH` neighbouring blocks side by side, transposed, so that no
//! butterfly ever crosses lanes. The multipliers of these blocks differ by a factor that depends on the lane alone: at
//! distance `h` it is `s^h`, `s` the twist of the lane. Word `i` is multiplied by `s^i` first, and then one multiplier
//! serves all lanes. That costs a ninth more products than a multiplier for each lane, and makes the tables five
//! times smaller (0.19 instead of 1 MB for N = 2^16), which would have to come from memory for every limb.
//!
//! Range of the integer lanes that are reduced, in units of q below U, the next power of two: what is multiplied must be in
//! `[0, 4U)`, sums may leave that by a q for each stage. A reduced sum is in `[q, U + 2q)`, so the results of its butterfly are in
//! `[0, U + 3q)`. Half of a stage's butterflies have results that the next stage multiplies, and only these are reduced; the others
//! follow after two stages, at `[-2q, U + 5q)`. Below 2^47 nothing has to before the last step: on a lift of 13, a canonical
//! value and the sums of thirteen stages stay in `[0, 27q)`.
//!
//! Range of the floating-point lanes, in units of q: the quotients of tables are rounded once, so a product is at most
//! `1/2 + |a|/16` (`doubles.rs` has `|a|/8` for any multiplier), and `a` may be 4. From an input of at most 1, four stages give
//! 1.57, 2.17, 2.80, 3.48. A later step tames the half of its input that its first stage does not multiply; then four stages give
//! 1.22, 1.80, 2.41, 3.06 at most. Before the last step all but word 0 are twisted, which leaves at most 0.72. The inverse tames
//! the sums of every second stage: inputs stay within 1, products take at most 4.
//!
//! Where sixteen registers have to do ([`Lanes::FEW_REGISTERS`]), two stages go at a time, on four vectors whose multipliers stay in
//! registers: a step of four stages is two passes over a block that fits the L1 cache, instead of one that spills every second value.

mod butterflies;

use super::ask_ahead;
use crate::arch::lanes::Lanes;
use crate::constants::ntt::NttConstants;
use butterflies::{forward_block, forward_quad, inverse_block, inverse_quad, last_rules, rules, Block, Twiddles};

/// Calls a step with the number of its stages as a constant.
macro_rules! with_stages {
    ($k:expr, $step:ident::<$l:ty, K $(, $flag:tt)*>($($arg:expr),*)) => {
        match $k {
            1 => $step::<$l, 1 $(, $flag)*>($($arg),*),
            2 => $step::<$l, 2 $(, $flag)*>($($arg),*),
            3 => $step::<$l, 3 $(, $flag)*>($($arg),*),
            _ => $step::<$l, 4 $(, $flag)*>($($arg),*),
        }
    };
}

/// Two forward stages on a block of `4 h` words, in place, for lanes with few registers: four vectors and three multipliers at a time.
#[inline(always)]
unsafe fn forward_quads<L: Lanes, const CANONICAL: bool, const TAME: bool>(
    l: L,
    data: *mut u64,
    h: usize,
    w: [L::T; 3],
) {
    for at in (0..h).step_by(L::WIDTH) {
        // SAFETY: `data` holds the block, and WIDTH divides h.
        unsafe {
            let p = [0, 1, 2, 3].map(|j| data.add(at + j * h));
            let mut x = [L::load_raw(p[0]); 4];
            for (j, x) in x.iter_mut().enumerate() {
                if CANONICAL && at % 8 == 0 {
                    ask_ahead::<L>(p[j]);
                }
                *x = match (CANONICAL, TAME && j < 2) {
                    (true, _) => l.load(p[j]),
                    (_, true) => l.tame(L::load_raw(p[j])),
                    _ => L::load_raw(p[j]),
                };
            }
            for (j, x) in forward_quad(l, x, w).into_iter().enumerate() {
                L::store_raw(p[j], x);
            }
        }
    }
}

/// Two inverse stages on a block of `4 h` words. With `FINAL` they are the last of the whole, and sums are multiplied by `scale`.
#[inline(always)]
unsafe fn inverse_quads<L: Lanes, const FINAL: bool>(l: L, data: *mut u64, h: usize, w: [L::T; 3], scale: L::T) {
    for at in (0..h).step_by(L::WIDTH) {
        // SAFETY: as for `forward_quads`.
        unsafe {
            let p = [0, 1, 2, 3].map(|j| data.add(at + j * h));
            let mut x = [L::load_raw(p[0]); 4];
            for (j, x) in x.iter_mut().enumerate() {
                *x = L::load_raw(p[j]);
            }
            let x = if FINAL { inverse_quad::<L, false>(l, x, w) } else { inverse_quad::<L, true>(l, x, w) };
            for (j, &x) in x.iter().enumerate() {
                match FINAL {
                    true => l.store_tame(p[j], if j < 2 { l.mul(x, scale) } else { x }),
                    false => L::store_raw(p[j], x),
                }
            }
        }
    }
}

/// A forward step of `K` stages on a block of `2^K h` words, in place. With `CANONICAL` it is the first step.
#[inline(always)]
unsafe fn forward_step<L: Lanes, const K: usize, const CANONICAL: bool, const ROOMY: bool>(
    l: L,
    data: *mut u64,
    h: usize,
    w: Twiddles,
) {
    // SAFETY: as below; a step of four stages is one of two and four of two.
    unsafe {
        match K {
            2 if L::FEW_REGISTERS => return forward_quads::<L, CANONICAL, true>(l, data, h, w.quad(l, 0, 1)),
            4 if L::FEW_REGISTERS => {
                forward_quads::<L, CANONICAL, true>(l, data, 4 * h, w.quad(l, 0, 1));
                for i in 0..4 {
                    forward_quads::<L, false, false>(l, data.add(4 * i * h), h, w.quad(l, 3 + i, 7 + 2 * i));
                }
                return;
            }
            _ => {}
        }
    }
    for at in (0..h).step_by(L::WIDTH) {
        // SAFETY: `data` holds the block, and WIDTH divides h.
        unsafe {
            let data = data.add(at);
            let mut x = [L::load_raw(data); 16];
            for (j, x) in x.iter_mut().enumerate().take(1 << K) {
                let p = data.add(j * h);
                if CANONICAL && at % 8 == 0 {
                    ask_ahead::<L>(p);
                }
                *x = match (CANONICAL, L::GROWS) {
                    (true, _) if j < 1 << (K - 1) => l.lift(l.load(p), if ROOMY { 13 } else { 1 }),
                    (true, _) => l.load(p),
                    (false, true) if j < 1 << (K - 1) => l.tame(L::load_raw(p)),
                    (false, _) => L::load_raw(p),
                };
            }
            let lazy_reduce = rules(K, CANONICAL, ROOMY);
            forward_block::<L, K>(l, &mut x, w, lazy_reduce);
            for (j, &x) in x.iter().enumerate().take(1 << K) {
                L::store_raw(data.add(j * h), x);
            }
        }
    }
}

/// The inverse of [`forward_step`]. With `FINAL` it is the last step of the whole: `scales` are what its results and,
/// instead of the table, its differences are multiplied by.
#[inline(always)]
unsafe fn inverse_step<L: Lanes, const K: usize, const FINAL: bool>(
    l: L,
    data: *mut u64,
    h: usize,
    w: Twiddles,
    scales: [L::T; 2],
) {
    // SAFETY: as below; a step of four stages is four of two and one of two.
    unsafe {
        let first = if FINAL { scales[1] } else { w.at(l, 0) };
        match K {
            2 if L::FEW_REGISTERS => {
                return inverse_quads::<L, FINAL>(l, data, h, [first, w.at(l, 1), w.at(l, 2)], scales[0]);
            }
            4 if L::FEW_REGISTERS => {
                for i in 0..4 {
                    let w = w.quad(l, 3 + i, 7 + 2 * i);
                    inverse_quads::<L, false>(l, data.add(4 * i * h), h, w, scales[0]);
                }
                return inverse_quads::<L, FINAL>(l, data, 4 * h, [first, w.at(l, 1), w.at(l, 2)], scales[0]);
            }
            _ => {}
        }
    }
    for at in (0..h).step_by(L::WIDTH) {
        // SAFETY: as for `forward_step`.
        unsafe {
            let data = data.add(at);
            let mut x = [L::load_raw(data); 16];
            for (j, x) in x.iter_mut().enumerate().take(1 << K) {
                *x = L::load_raw(data.add(j * h));
            }
            if FINAL {
                inverse_block::<L, K, false>(l, &mut x, w, scales[1]);
            } else {
                inverse_block::<L, K, true>(l, &mut x, w, w.at(l, 0));
            }
            for (j, &x) in x.iter().enumerate().take(1 << K) {
                let p = data.add(j * h);
                match (FINAL, j < 1 << (K - 1)) {
                    (true, true) => l.store_tame(p, l.mul(x, scales[0])),
                    (true, false) => l.store_tame(p, x),
                    (false, _) => L::store_raw(p, x),
                }
            }
        }
    }
}

/// Words `i` of `WIDTH` neighbouring blocks of `2^K` words, as vector `i`.
#[inline(always)]
unsafe fn gather<L: Lanes, const K: usize, const CANONICAL: bool>(l: L, data: *const u64) -> Block<L> {
    // SAFETY: `data` is valid for WIDTH blocks, and WIDTH is at most 2^K.
    unsafe {
        let mut x = [L::load_raw(data); 16];
        for part in 0..(1 << K) / L::WIDTH {
            let mut t = [x[0]; 8];
            for (lane, t) in t.iter_mut().enumerate().take(L::WIDTH) {
                let p = data.add((lane << K) + part * L::WIDTH);
                if CANONICAL {
                    ask_ahead::<L>(p);
                }
                *t = if CANONICAL { l.load(p) } else { L::load_raw(p) };
            }
            L::transpose(&mut t);
            x[part * L::WIDTH..][..L::WIDTH].copy_from_slice(&t[..L::WIDTH]);
        }
        x
    }
}

/// The way back, to canonical words or in working form.
#[inline(always)]
unsafe fn scatter<L: Lanes, const K: usize, const CANONICAL: bool>(l: L, data: *mut u64, x: &Block<L>) {
    // SAFETY: as for `gather`.
    unsafe {
        for part in 0..(1 << K) / L::WIDTH {
            let mut t = [x[0]; 8];
            t[..L::WIDTH].copy_from_slice(&x[part * L::WIDTH..][..L::WIDTH]);
            L::transpose(&mut t);
            for (lane, &t) in t.iter().enumerate().take(L::WIDTH) {
                let p = data.add((lane << K) + part * L::WIDTH);
                if CANONICAL {
                    l.store(p, t);
                } else {
                    L::store_raw(p, t);
                }
            }
        }
    }
}

/// Multiplies word `i` of every block by `s^i`, `s` the twist of its lane, from word `first` on.
#[inline(always)]
unsafe fn twist<L: Lanes, const K: usize>(l: L, x: &mut Block<L>, (main, aux): (*const u64, *const u64), first: usize) {
    if L::WIDTH > 1 {
        for (i, x) in x.iter_mut().enumerate().take(1 << K).skip(first) {
            // SAFETY: the table holds 2^K vectors.
            unsafe { *x = l.mul(*x, l.load_t(main.add(i * L::WIDTH), aux.add(i * L::WIDTH))) }
        }
    }
}

/// The last `K` stages of the forward transform on `groups` groups of `WIDTH` blocks.
#[inline(always)]
unsafe fn forward_last<L: Lanes, const K: usize, const ROOMY: bool>(
    l: L,
    data: *mut u64,
    groups: usize,
    lanes: (*const u64, *const u64),
    w: Twiddles,
) {
    for g in 0..groups {
        // SAFETY: `data` holds that many groups, the table 2^K - 1 multipliers for each.
        unsafe {
            let data = data.add(g * (L::WIDTH << K));
            let mut x = gather::<L, K, false>(l, data);
            if L::GROWS {
                x[0] = l.tame(x[0]);
            }
            if !ROOMY {
                x[0] = l.lazy_reduce(x[0]);
            }
            twist::<L, K>(l, &mut x, lanes, usize::from(!ROOMY));
            for x in x.iter_mut().take(1 << (K - 1)).skip(usize::from(!ROOMY)) {
                *x = l.lift(*x, if ROOMY { 2 } else { 1 });
            }
            let lazy_reduce = last_rules(K, ROOMY);
            forward_block::<L, K>(l, &mut x, w.after(g * ((1 << K) - 1)), lazy_reduce);
            scatter::<L, K, true>(l, data, &x);
        }
    }
}

/// The first `K` stages of the inverse transform, from canonical values.
#[inline(always)]
unsafe fn inverse_last<L: Lanes, const K: usize>(
    l: L,
    (src, dst): (*const u64, *mut u64),
    groups: usize,
    lanes: (*const u64, *const u64),
    w: Twiddles,
) {
    for g in 0..groups {
        // SAFETY: as for `forward_last`.
        unsafe {
            let (at, w) = (g * (L::WIDTH << K), w.after(g * ((1 << K) - 1)));
            let mut x = gather::<L, K, true>(l, src.add(at));
            // These words are written, and come from memory where they are not those of the source. (Narrow lanes are slow enough for the
            // processor to have them in time.)
            if L::WIDTH == 8 && !core::ptr::eq(src, dst) {
                for line in (0..L::WIDTH << K).step_by(8) {
                    ask_ahead::<L>(dst.add(at + line));
                }
            }
            inverse_block::<L, K, true>(l, &mut x, w, w.at(l, 0));
            twist::<L, K>(l, &mut x, lanes, 1);
            scatter::<L, K, false>(l, dst.add(at), &x);
        }
    }
}

/// Forward transform in place: canonical coefficients to canonical values.
///
/// # Safety
/// The CPU has the instruction set of `L`; `data` holds N words; `t` was shaped for `L`.
#[inline(always)]
pub(crate) unsafe fn forward<L: Lanes>(t: &NttConstants, data: &mut [u64]) {
    debug_assert!(data.len() == t.n() && data.iter().all(|&x| x < t.modulus().value()));
    // SAFETY: as stated.
    unsafe {
        if t.modulus().bits() <= L::ROOMY_BITS {
            forward_with::<L, true>(t, data);
        } else {
            forward_with::<L, false>(t, data);
        }
    }
}

#[inline(always)]
unsafe fn forward_with<L: Lanes, const ROOMY: bool>(t: &NttConstants, data: &mut [u64]) {
    let (tables, chunk) = (t.forward_tables(), t.chunk());
    // SAFETY: by the contract of this function; tables are as long as `NttTable` says.
    unsafe {
        let l = L::new(t.modulus());
        let (lanes, groups) = (tables.twist(), chunk / (L::WIDTH << t.last_stages()));
        for at in (0..t.n()).step_by(chunk) {
            let part = data.as_mut_ptr().add(at);
            // The steps of all blocks that begin here, the largest first.
            let mut words = t.n();
            for step in tables.steps() {
                let (k, h) = (step.stages, words >> step.stages);
                if at % words == 0 {
                    let w = Twiddles(step.table.as_ptr()).after(at / words * ((1 << k) - 1));
                    if at == 0 && words == t.n() {
                        with_stages!(k, forward_step::<L, K, true, ROOMY>(l, part, h, w));
                    } else {
                        with_stages!(k, forward_step::<L, K, false, ROOMY>(l, part, h, w));
                    }
                }
                words = h;
            }
            let w = Twiddles(tables.last().as_ptr()).after(at / chunk * groups * ((1 << t.last_stages()) - 1));
            match t.last_stages() {
                3 => forward_last::<L, 3, ROOMY>(l, part, groups, lanes, w),
                _ => forward_last::<L, 4, ROOMY>(l, part, groups, lanes, w),
            }
        }
    }
}

/// Inverse transform from `src` to `dst`, times `scale`: canonical values to canonical coefficients.
///
/// # Safety
/// The CPU has the instruction set of `L`; both hold N words, and are the same memory or apart; `t` was shaped for `L`.
#[inline(always)]
pub(crate) unsafe fn inverse<L: Lanes>(t: &NttConstants, src: *const u64, dst: &mut [u64], scale: u64) {
    debug_assert!(dst.len() == t.n());
    let (m, tables, chunk) = (t.modulus(), t.inverse_tables(), t.chunk());
    // SAFETY: as for `forward`.
    unsafe {
        let l = L::new(m);
        // The last stage has one multiplier; with `scale` it is the second of these.
        let scales = [l.splat(L::prepare(m, scale)), l.splat(L::prepare(m, m.mul(scale, t.last_inverse())))];
        let (lanes, groups) = (tables.twist(), chunk / (L::WIDTH << t.last_stages()));
        for at in (0..t.n()).step_by(chunk) {
            let both = (src.add(at), dst.as_mut_ptr().add(at));
            let w = Twiddles(tables.last().as_ptr()).after(at / chunk * groups * ((1 << t.last_stages()) - 1));
            match t.last_stages() {
                3 => inverse_last::<L, 3>(l, both, groups, lanes, w),
                _ => inverse_last::<L, 4>(l, both, groups, lanes, w),
            }
            // The steps of all blocks that end here, the smallest first.
            let (end, mut h) = (at + chunk, 1 << t.last_stages());
            for step in tables.steps().iter().rev() {
                let (k, words) = (step.stages, h << step.stages);
                if end % words == 0 {
                    let block = end / words - 1;
                    let (w, part) = (
                        Twiddles(step.table.as_ptr()).after(block * ((1 << k) - 1)),
                        dst.as_mut_ptr().add(end - words),
                    );
                    if words == t.n() {
                        with_stages!(k, inverse_step::<L, K, true>(l, part, h, w, scales));
                    } else {
                        with_stages!(k, inverse_step::<L, K, false>(l, part, h, w, scales));
                    }
                }
                h = words;
            }
        }
    }
}
