//! Lazy ranges at their ends: what lanes lift anew or let subside stays the same residue, inside the range that comes next.

use super::by_name;
use super::doubles::Doubles;
use super::lanes::Lanes;
use super::portable::Four;
use super::scalar::Scalar;
use crate::modulus::Modulus;

/// The primes of the gates and of larger tables.
const QS: [u64; 2] = [1_099_469_684_737, 281_474_846_687_233];

/// What is done to integers, by a multiple of q.
#[derive(Clone, Copy, Debug)]
enum Step {
    LiftAnew(u64),
    Subside(u64),
}

impl Step {
    /// In units of q, what integers must be below, and where they come to.
    fn ranges(self) -> (u64, std::ops::Range<u64>) {
        match self {
            Step::LiftAnew(times) => (16, times..times + 4),
            Step::Subside(times) => (2 * times, 0..times),
        }
    }
}

/// Words of working form after a step, and their residues.
struct Found {
    raw: Vec<u64>,
    residues: Vec<u64>,
}

#[inline(always)]
unsafe fn run<L: Lanes>(m: &Modulus, step: Step, integers: &[u64]) -> Found {
    let (mut raw, mut residues) = (vec![0; integers.len()], vec![0; integers.len()]);
    // SAFETY: the lanes fit the CPU by the contract of the caller, and there are whole vectors of integers.
    unsafe {
        let l = L::new(m);
        let one = l.splat(L::prepare(m, 1));
        for at in (0..integers.len()).step_by(L::WIDTH) {
            let x = l.load(integers.as_ptr().add(at));
            let y = match step {
                Step::LiftAnew(times) => l.lift_anew(x, times),
                Step::Subside(times) => l.subside(x, l.multiple(times)),
            };
            L::store_raw(raw.as_mut_ptr().add(at), y);
            l.store(residues.as_mut_ptr().add(at), l.mul(y, one));
        }
    }
    Found { raw, residues }
}

/// Every multiple of q in a range with its neighbours, and integers from all over it: whole vectors.
fn integers(q: u64, below: u64) -> Vec<u64> {
    let ends = (0..=below).flat_map(|k| [k * q, k * q + 1, k * q + q / 2, (k * q).saturating_sub(1)]);
    let mut integers: Vec<u64> = ends.filter(|&x| x < below * q).collect();
    integers.extend((0..64u64).map(|i| i.wrapping_mul(0x9e37_79b9_7f4a_7c15) % (below * q)));
    integers.resize(integers.len().next_multiple_of(8), below * q - 1);
    integers
}

/// All steps of a transform on these lanes; `inside` says whether a word of working form is in a range.
fn check(run: impl Fn(&Modulus, Step, &[u64]) -> Found, inside: impl Fn(u64, u64, std::ops::Range<u64>) -> bool) {
    let lifts = [1, 6, 7, 12].map(Step::LiftAnew);
    for m in QS.map(|q| Modulus::new(q).unwrap()) {
        for step in lifts.into_iter().chain([2, 4, 8].map(Step::Subside)) {
            let (below, range) = step.ranges();
            let integers = integers(m.value(), below);
            let found = run(&m, step, &integers);
            for (i, &x) in integers.iter().enumerate() {
                assert_eq!(found.residues[i], x % m.value(), "{x} by {step:?} modulo {}", m.value());
                assert!(inside(m.value(), found.raw[i], range.clone()), "{x} by {step:?} modulo {}", m.value());
            }
        }
    }
}

/// Scalar words stay as they are: their butterflies reduce on their own.
#[test]
fn scalar_words_stay() {
    // SAFETY: scalar lanes ask nothing of the CPU.
    check(|m, step, x| unsafe { run::<Scalar>(m, step, x) }, |q, word, _| word < 16 * q);
}

#[cfg_attr(target_arch = "x86_64", target_feature(enable = "fma"))]
unsafe fn portable(m: &Modulus, step: Step, integers: &[u64]) -> Found {
    // SAFETY: the features are those of the lanes.
    unsafe { run::<Doubles<Four>>(m, step, integers) }
}

/// Doubles stay as they are where others are lifted, and are tamed to within half of q where others subside.
fn stays_or_is_tamed(q: u64, word: u64, range: std::ops::Range<u64>) -> bool {
    let (q, y) = (q as f64, f64::from_bits(word));
    if range.start > 0 {
        (0.0..16.0 * q).contains(&y)
    } else {
        y.abs() <= q / 2.0 + 1.0
    }
}

#[test]
fn portable_doubles_stay_or_are_tamed() {
    if by_name("portable").is_ok() {
        // SAFETY: the kernels exist, so the CPU has the features.
        check(|m, step, x| unsafe { portable(m, step, x) }, stays_or_is_tamed);
    }
}

#[cfg(target_arch = "x86_64")]
mod vectors {
    use super::{check, run, stays_or_is_tamed, Found, Modulus, Step};
    use crate::arch::x86_64::avx512ifma::Avx512Ifma;
    use crate::arch::{by_name, doubles::Doubles};
    use core::arch::x86_64::__m256d;

    #[target_feature(enable = "avx512f,avx512dq,avx512vl,avx512ifma,avx512vbmi")]
    unsafe fn ifma(m: &Modulus, step: Step, integers: &[u64]) -> Found {
        // SAFETY: the features are those of the lanes.
        unsafe { run::<Avx512Ifma>(m, step, integers) }
    }

    #[target_feature(enable = "avx2,fma")]
    unsafe fn avx2(m: &Modulus, step: Step, integers: &[u64]) -> Found {
        // SAFETY: the features are those of the lanes.
        unsafe { run::<Doubles<__m256d>>(m, step, integers) }
    }

    #[test]
    fn integer_lanes_come_into_the_next_range() {
        if by_name("avx512ifma").is_ok() {
            // SAFETY: the kernels exist, so the CPU has the features.
            let run = |m: &Modulus, step, x: &[u64]| unsafe { ifma(m, step, x) };
            check(run, |q, word, range| (range.start * q..range.end * q).contains(&word));
        }
    }

    #[test]
    fn doubles_stay_or_are_tamed() {
        if by_name("avx2").is_ok() {
            // SAFETY: as above.
            check(|m, step, x| unsafe { avx2(m, step, x) }, stays_or_is_tamed);
        }
    }
}
