//! Circuits on a family that none of the crates knows: two files, and nothing else had to be touched for it.

mod scheme;

use aglet_circuits::dft::{coeffs_to_slots, even_split, slots_to_coeffs};
use aglet_circuits::matrix::{Matrix, MatrixCut};
use aglet_circuits::polynomial::{Basis, Series};
use aglet_circuits::{BabySteps, Error};
use aglet_ring::reversal::bit_reverse;
use aglet_schemes::{Error as SchemeError, Evaluator, Scalar};
use scheme::{Pair, Pretend};

/// 4n divides 256.
const SLOTS: usize = 64;
const STEPS: BabySteps = BabySteps { giant_cost: 4.0, most: 8, right: false };

fn message(seed: u64) -> Vec<Pair> {
    (0..SLOTS as u64).map(|j| Pair((seed + 31 * j * j) % 257, (7 * j + seed) % 257)).collect()
}

#[test]
fn what_is_hidden_comes_back_and_products_are_those_of_the_slots() {
    let e = Pretend::new(SLOTS);
    let (x, y) = (message(3), message(200));
    let (a, b) = (e.encrypt(&x, 2), e.encrypt(&y, 2));
    let product = e.mul(&a, &e.negate(&b).unwrap()).unwrap();
    let wanted: Vec<Pair> = x.iter().zip(&y).map(|(x, y)| *x * -*y).collect();
    assert_eq!((e.decrypt(&product), e.level(&product)), (wanted, 1));
    assert!(matches!(e.add(&product, &a), Err(SchemeError::LevelMismatch { left: 1, right: 2 })));
    let sum = e.rotate_sum(&a, &[1, 5]).unwrap();
    assert_eq!(e.decrypt(&sum)[60], x[60] + x[61] + x[1]);
}

#[test]
fn the_homomorphic_dft_is_that_of_the_residues() {
    let (e, pairs, factor) = (Pretend::new(SLOTS), message(9), Pair(30, 2));
    let zeta = Pair::root(4 * SLOTS as u64);
    // Straight from the definition, with the pairs in bit-reversed order.
    let mut reversed = pairs.clone();
    bit_reverse(&mut reversed);
    let fives = std::iter::successors(Some(1u64), |power| Some(5 * power % 256));
    let slot = |five: u64| {
        let terms = reversed.iter().enumerate().map(|(k, w)| *w * zeta.power(k as u64 * five % 256));
        factor * terms.fold(Pair::ZERO, |sum, term| sum + term)
    };
    let wanted: Vec<Pair> = fives.take(SLOTS).map(slot).collect();
    for stages in 1..=4 {
        let mut ct = e.encrypt(&pairs, 1);
        for map in slots_to_coeffs(SLOTS, stages, factor, STEPS).unwrap() {
            ct = e.transform(&ct, &e.encode_map(&map, 1).unwrap()).unwrap();
        }
        assert_eq!(e.decrypt(&ct), wanted, "{stages} stages");
        for map in coeffs_to_slots(SLOTS, &even_split(SLOTS.ilog2(), stages), Pair::ONE, STEPS).unwrap() {
            ct = e.transform(&ct, &e.encode_map(&map, 1).unwrap()).unwrap();
        }
        let back: Vec<Pair> = pairs.iter().map(|w| factor * *w).collect();
        assert_eq!(e.decrypt(&ct), back, "{stages} stages");
    }
    let refused = slots_to_coeffs(SLOTS, 2, Pair(0, 1), STEPS);
    assert!(matches!(refused, Err(Error::Factor { .. })));
}

#[test]
fn polynomials_are_evaluated_exactly_in_their_depth() {
    let (e, x) = (Pretend::new(SLOTS), message(77));
    for degree in 1..=21 {
        for basis in [Basis::Power, Basis::Dickson] {
            let coefficients: Vec<Pair> =
                (0..=degree as u64).map(|k| Pair(3 * k + 1, if k % 3 == 1 { 0 } else { k + 2 })).collect();
            let series = Series::new(basis, &coefficients).unwrap();
            let y = series.evaluate(&e, &e.encrypt(&x, 5)).unwrap();
            let wanted: Vec<Pair> = x.iter().map(|x| series.value(*x)).collect();
            assert_eq!(e.decrypt(&y), wanted, "degree {degree}, {basis:?}");
            assert!(e.level(&y) >= 5 - series.depth());
        }
    }
    let series = Series::new(Basis::Power, &[Pair::ONE; 20]).unwrap();
    let refused = series.evaluate(&e, &e.encrypt(&x, 4)).unwrap_err();
    assert_eq!(refused, SchemeError::LevelTooLow { required: 5, actual: 4 }.into());
}

#[test]
fn matrices_are_cut_and_joined() {
    let (e, x) = (Pretend::new(SLOTS), message(5));
    let (rows, columns) = (40, 30);
    let entries: Vec<Pair> = (0..rows * columns).map(|i| Pair(i as u64 % 257, (i * i) as u64 % 257)).collect();
    let matrix = Matrix { entries: &entries, columns };
    let cut = MatrixCut::new(&matrix, SLOTS, 4, 3).unwrap();
    let ct = e.encrypt(&x, 1);
    let (mut sum, mut at) = (e.mul_scalar(&ct, Pair::ZERO).unwrap(), None);
    for run in cut.runs().iter().rev() {
        let turn = at.map_or(0, |at: usize| at - run.first);
        let part = e.transform(&ct, &e.encode_map(&cut.map(*run).unwrap(), 1).unwrap()).unwrap();
        sum = e.add(&e.rotate(&sum, (4 * turn) as isize).unwrap(), &part).unwrap();
        at = Some(run.first);
    }
    let found = e.decrypt(&e.rotate(&sum, 4 * at.unwrap() as isize).unwrap());
    for (j, found) in found.iter().enumerate() {
        let row = entries.chunks(columns).nth(j).unwrap_or_default();
        let wanted = row.iter().zip(&x).fold(Pair::ZERO, |sum, (m, x)| sum + *m * *x);
        assert_eq!(*found, wanted, "row {j}");
    }
}
