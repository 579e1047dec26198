//! Base conversion: from residues modulo q_1..q_a to residues modulo other primes, exact up to the multiple of
//! Q = q_1...q_a, which a sum in doubles decides.

use super::{ask_ahead, lines, words};
use crate::arch::lanes::Lanes;
use crate::constants::basis::{ConverterConstants, Target};

/// Coefficients per tile: the sources of a tile stay in the L1 cache while the targets take turns.
const TILE: usize = 256;
/// Vectors in flight: their sums are independent, which hides the latency of the multiply-adds.
const FLIGHT: usize = 4;
/// Targets that take turns on a tile; a task has fewer.
const SHARE: usize = 8;

/// First half of a conversion, once for all targets: `v = floor(sum y_i / q_i + 1/2)` for every column, and the rows
/// `y_i` in working form, balanced where the lanes want it (then `v` counts accordingly).
///
/// # Safety
/// The CPU has the instruction set of `L`; all rows have one length, a multiple of 8.
#[inline(always)]
pub(crate) unsafe fn balance<L: Lanes>(c: &ConverterConstants, rows: &mut [&mut [u64]], v: &mut [u64]) {
    debug_assert!(rows.len() == c.sources().len());
    // SAFETY: offsets stay below the length of the rows. The modulus plays no part in loading.
    unsafe {
        let l = L::new(&c.targets()[0].modulus);
        for at in (0..v.len()).step_by(L::WIDTH) {
            let mut f = L::f_zero();
            for (row, source) in rows.iter().zip(c.sources()) {
                ask_ahead::<L>(row.as_ptr().add(at));
                f = L::f_mul_add(f, l.load(row.as_ptr().add(at)), source.inverse);
            }
            let mut multiples = L::f_round(f);
            if L::BALANCES {
                for (row, source) in rows.iter_mut().zip(c.sources()) {
                    let p = row.as_mut_ptr().add(at);
                    let (y, fewer) = L::balance(l.load(p), multiples, source.double);
                    L::store_raw(p, y);
                    multiples = fewer;
                }
            }
            L::store_raw(v.as_mut_ptr().add(at), multiples);
        }
    }
}

/// Second half, for the targets from `first` on: `sum y_i (Q/q_i) - v Q` modulo each of them, the centred value of the
/// number that the residues stand for (within a rounding of the double sum of +-Q/2). `rows` ends with the row of `v`.
///
/// # Safety
/// As for [`balance`], from which the rows come.
#[inline(always)]
pub(crate) unsafe fn convert<L: Lanes>(c: &ConverterConstants, first: usize, rows: &[&[u64]], dst: &mut [&mut [u64]]) {
    let len = rows[0].len();
    let targets = &c.targets()[first..first + dst.len()];
    let chunk = c.chunk(L::CHUNK_NARROW);
    debug_assert!(rows.len() == c.sources().len() + 1);
    let (mut sums, mut earlier) = (lines(2 * TILE), lines(TILE));
    let (sums, earlier) = (words(&mut sums), words(&mut earlier));
    let mut starts = [core::ptr::null::<u64>(); 33];
    for (targets, dst) in targets.chunks(SHARE).zip(dst.chunks_mut(SHARE)) {
        // SAFETY: offsets stay below `len` in the rows and below TILE in the scratch; tails shorter than FLIGHT vectors
        // take them one by one.
        unsafe {
            // Making lanes takes divisions: once for each target, not for each tile.
            let mut lanes = [L::new(&targets[0].modulus); SHARE];
            lanes[1..].iter_mut().zip(&targets[1..]).for_each(|(l, target)| *l = L::new(&target.modulus));
            for start in (0..len).step_by(TILE) {
                for (s, row) in starts.iter_mut().zip(rows) {
                    *s = row.as_ptr().add(start);
                }
                let rows = &starts[..rows.len()];
                let width = TILE.min(len - start);
                let mut pairs = 0;
                if L::FEW_REGISTERS && width.is_multiple_of(2 * L::WIDTH) {
                    pairs = targets.len() / 2;
                    let turns = lanes.chunks_exact(2).zip(targets.chunks_exact(2)).zip(dst.chunks_exact_mut(2));
                    for (turn, ((l, targets), out)) in turns.enumerate() {
                        let out = [out[0].as_mut_ptr().add(start), out[1].as_mut_ptr().add(start)];
                        for at in (0..width).step_by(2 * L::WIDTH) {
                            ask_for::<L, 2>(rows, (turn, pairs), at, out);
                            both_in_parts::<L, 2>([l[0], l[1]], targets, rows, (at, chunk), out);
                        }
                    }
                } else if L::WIDTH == 8 && rows.len() <= chunk && width.is_multiple_of(FLIGHT * L::WIDTH) {
                    pairs = targets.len() / 2;
                    let turns = lanes.chunks_exact(2).zip(targets.chunks_exact(2)).zip(dst.chunks_exact_mut(2));
                    for (turn, ((l, targets), out)) in turns.enumerate() {
                        let out = [out[0].as_mut_ptr().add(start), out[1].as_mut_ptr().add(start)];
                        for at in (0..width).step_by(FLIGHT * L::WIDTH) {
                            ask_for::<L, FLIGHT>(rows, (turn, pairs), at, out);
                            both::<L, FLIGHT>([l[0], l[1]], targets, rows, at, out);
                        }
                    }
                }
                for ((&l, target), out) in lanes.iter().zip(targets).zip(dst.iter_mut()).skip(2 * pairs) {
                    let group = FLIGHT * L::WIDTH;
                    let whole = width / group * group;
                    for at in (0..whole).step_by(group) {
                        column::<L, FLIGHT>(l, rows, &target.constants, (at, chunk), (sums, earlier));
                    }
                    for at in (whole..width).step_by(L::WIDTH) {
                        column::<L, 1>(l, rows, &target.constants, (at, chunk), (sums, earlier));
                    }
                    // Reducing needs a long chain of operations: the vectors of a tile hide each other's latency.
                    for at in (0..width).step_by(L::WIDTH) {
                        let mut x = l.acc_sum::<true>(L::acc_load(sums.as_ptr().add(2 * at)));
                        if rows.len() > chunk {
                            x = l.add(x, L::load_raw(earlier.as_ptr().add(at)));
                        }
                        l.store(out.as_mut_ptr().add(start + at), x);
                    }
                }
            }
        }
    }
}

/// Asks for later words of two targets, which are read before they are written, and of this turn's share of the sources, for `K`
/// vectors from `at`.
#[inline(always)]
unsafe fn ask_for<L: Lanes, const K: usize>(
    sources: &[*const u64],
    (turn, turns): (usize, usize),
    at: usize,
    out: [*mut u64; 2],
) {
    for line in (at..at + K * L::WIDTH).step_by(8) {
        // SAFETY: a prefetch touches nothing.
        unsafe {
            out.iter().for_each(|out| ask_ahead::<L>(out.wrapping_add(line)));
            if line / 8 % turns == turn {
                sources.iter().for_each(|row| ask_ahead::<L>(row.wrapping_add(line)));
            }
        }
    }
}

/// `K` neighbouring vectors of two targets, which share the loads, where an accumulator takes the whole sum.
#[inline(always)]
unsafe fn both<L: Lanes, const K: usize>(
    l: [L; 2],
    targets: &[Target],
    rows: &[*const u64],
    at: usize,
    out: [*mut u64; 2],
) {
    // SAFETY: there are two targets with a constant for each row; rows and outputs are valid for K vectors from `at`.
    unsafe {
        let constants = [targets[0].constants.as_ptr(), targets[1].constants.as_ptr()];
        let mut acc = [[l[0].acc_zero::<true>(); 2]; K];
        for (i, row) in rows.iter().enumerate() {
            let c = [L::splat_raw(*constants[0].add(i)), L::splat_raw(*constants[1].add(i))];
            for (k, a) in acc.iter_mut().enumerate() {
                let x = L::load_raw(row.add(at + k * L::WIDTH));
                *a = [l[0].mac(a[0], x, c[0]), l[1].mac(a[1], x, c[1])];
            }
        }
        for (k, a) in acc.iter().enumerate() {
            l[0].acc_finish::<true>(out[0].add(at + k * L::WIDTH), a[0]);
            l[1].acc_finish::<true>(out[1].add(at + k * L::WIDTH), a[1]);
        }
    }
}

/// The same where a sum may take more than an accumulator: what a part comes to is added to what the next one does.
#[inline(always)]
unsafe fn both_in_parts<L: Lanes, const K: usize>(
    l: [L; 2],
    targets: &[Target],
    rows: &[*const u64],
    (at, chunk): (usize, usize),
    out: [*mut u64; 2],
) {
    // SAFETY: as for `both`.
    unsafe {
        let mut constants = [targets[0].constants.as_ptr(), targets[1].constants.as_ptr()];
        let (mut rows, mut before) = (rows, [[l[0].constant(0); 2]; K]);
        loop {
            let (part, rest) = rows.split_at(rows.len().min(chunk));
            let mut acc = [[l[0].acc_zero::<true>(); 2]; K];
            let mut both = part.chunks_exact(2);
            for (i, row) in both.by_ref().enumerate() {
                add_row(l, &mut acc, row[0].add(at), constants.map(|c| c.add(2 * i)));
                add_row(l, &mut acc, row[1].add(at), constants.map(|c| c.add(2 * i + 1)));
            }
            if let [row] = both.remainder() {
                add_row(l, &mut acc, row.add(at), constants.map(|c| c.add(part.len() - 1)));
            }
            if rest.is_empty() {
                for (k, (a, before)) in acc.iter().zip(&before).enumerate() {
                    for t in 0..2 {
                        let x = l[t].acc_sum::<true>(a[t]);
                        let x = if part.len() < targets[0].constants.len() { l[t].add(x, before[t]) } else { x };
                        l[t].store(out[t].add(at + k * L::WIDTH), x);
                    }
                }
                return;
            }
            for (a, before) in acc.iter().zip(&mut before) {
                for t in 0..2 {
                    before[t] = l[t].tame(l[t].add(before[t], l[t].acc_reduce::<true>(a[t])));
                }
            }
            (rows, constants) = (rest, constants.map(|c| c.add(chunk)));
        }
    }
}

/// Adds the products of `K` vectors of a row with the constants of two targets.
#[inline(always)]
unsafe fn add_row<L: Lanes, const K: usize>(l: [L; 2], acc: &mut [[L::A; 2]; K], row: *const u64, c: [*const u64; 2]) {
    // SAFETY: as for `both`.
    unsafe {
        let c = [L::splat_raw(*c[0]), L::splat_raw(*c[1])];
        for (k, a) in acc.iter_mut().enumerate() {
            let x = L::load_raw(row.add(k * L::WIDTH));
            *a = [l[0].mac(a[0], x, c[0]), l[1].mac(a[1], x, c[1])];
        }
    }
}

/// `K` neighbouring vectors of one target: the last accumulator of each, and what earlier ones came to.
#[inline(always)]
unsafe fn column<L: Lanes, const K: usize>(
    l: L,
    rows: &[*const u64],
    constants: &[u64],
    (at, chunk): (usize, usize),
    (sums, earlier): (&mut [u64], &mut [u64]),
) {
    // SAFETY: rows are valid for K vectors from `at`, and so are the outputs.
    unsafe {
        let mut before = [l.constant(0); K];
        let mut acc = [l.acc_zero::<true>(); K];
        let mut room = chunk;
        for (row, &c) in rows.iter().zip(constants) {
            if room == 0 {
                for (a, b) in acc.iter_mut().zip(&mut before) {
                    *b = l.tame(l.add(*b, l.acc_reduce::<true>(*a)));
                    *a = l.acc_zero::<true>();
                }
                room = chunk;
            }
            let c = L::splat_raw(c);
            for (k, a) in acc.iter_mut().enumerate() {
                *a = l.mac(*a, L::load_raw(row.add(at + k * L::WIDTH)), c);
            }
            room -= 1;
        }
        for (k, (&a, &b)) in acc.iter().zip(&before).enumerate() {
            L::acc_store(sums.as_mut_ptr().add(2 * (at + k * L::WIDTH)), a);
            if rows.len() > chunk {
                L::store_raw(earlier.as_mut_ptr().add(at + k * L::WIDTH), b);
            }
        }
    }
}
