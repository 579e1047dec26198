//! The distribution of sparse secrets with a known support, and their number.

use super::*;

const FREE: SecretSupport = SecretSupport { weight: 31, half_window: None };
const WINDOWS: SecretSupport = SecretSupport { weight: 31, half_window: Some(352) };

#[test]
fn there_are_as_many_as_the_design_counted() {
    // 2^31 times 8192 over 31, and the windows of the real sets.
    assert!((FREE.log2_count(1 << 13) - 321.3).abs() < 0.1, "{}", FREE.log2_count(1 << 13));
    assert!((WINDOWS.log2_count(1 << 14) - 321.8).abs() < 0.6, "{}", WINDOWS.log2_count(1 << 14));
    FREE.least_count(1 << 13).unwrap();
    WINDOWS.least_count(1 << 14).unwrap();
    let few = SecretSupport { half_window: Some(321), ..WINDOWS }.least_count(1 << 13);
    assert!(matches!(few, Err(ShipFault::Count { bits, share: 0.4, .. }) if bits < 128.0));
    let wide = SecretSupport { half_window: Some(600), ..WINDOWS }.check(1 << 14);
    assert_eq!(wide, Err(ShipFault::Windows { n: 1 << 14, weight: 31, window: Some(1200), most: 528 }));
    WINDOWS.check(1 << 14).unwrap();
    // By hand: two of four support, and windows {0, 1} and {1, 2}, of whose four pairs one does not increase.
    assert!((SecretSupport { weight: 2, half_window: None }.log2_count(4) - 24f64.log2()).abs() < 1e-12);
    let two = SecretSupport { weight: 2, half_window: Some(1) };
    assert_eq!([two.start(4, 0), two.start(4, 1), two.width(4)], [0, 1, 2]);
    assert!((two.log2_count(4) - 12f64.log2()).abs() < 1e-12);
}

#[test]
fn secrets_are_uniform_over_all() {
    let mut random = ChaChaSource::from_seed([3; 32]);
    for (support, n, lists) in [
        (SecretSupport { weight: 2, half_window: Some(1) }, 4, vec![[0, 1], [0, 2], [1, 2]]),
        (SecretSupport { weight: 2, half_window: None }, 3, vec![[0, 1], [0, 2], [1, 2]]),
    ] {
        let (mut counts, mut negative, runs) = (vec![0; lists.len()], [0; 2], 6000);
        for _ in 0..runs {
            let drawn = SignedSupport::draw(support, n, &mut random);
            let found = [drawn.get(0).0, drawn.get(1).0];
            counts[lists.iter().position(|list| *list == found).unwrap()] += 1;
            (0..2).for_each(|k| negative[k] += i32::from(drawn.get(k).1 < 0));
            let s = drawn.coefficients(n);
            for (at, &c) in s.iter().enumerate() {
                let wanted = (0..2).find(|&k| found[k] == at as u64).map_or(0, |k| drawn.get(k).1);
                assert_eq!(c, wanted);
            }
        }
        // Five deviations of a binomial.
        assert!(counts.iter().all(|&c| f64::abs(f64::from(c) - 2000.0) < 5.0 * 36.6), "{counts:?}");
        assert!(negative.iter().all(|&c| f64::abs(f64::from(c) - 3000.0) < 5.0 * 38.8), "{negative:?}");
    }
}

#[test]
fn positions_of_real_sets_increase_in_their_windows() {
    let mut random = ChaChaSource::from_seed([5; 32]);
    for (support, n) in [(FREE, 1 << 13), (WINDOWS, 1 << 14)] {
        for _ in 0..20 {
            let drawn = SignedSupport::draw(support, n, &mut random);
            let all: Vec<usize> = (0..31).map(|k| drawn.get(k).0 as usize).collect();
            assert!(all.windows(2).all(|pair| pair[0] < pair[1]));
            for (k, position) in all.iter().enumerate() {
                assert!((support.start(n, k)..support.start(n, k) + support.width(n)).contains(position));
            }
        }
    }
}

#[test]
fn positions_and_signs_are_wiped() {
    fn wiped_when_dropped(_: &impl zeroize::ZeroizeOnDrop) {}
    let drawn = SignedSupport::draw(WINDOWS, 1 << 14, &mut ChaChaSource::from_seed([6; 32]));
    wiped_when_dropped(&drawn.coefficients(1 << 14));
    // All that a secret has, by name: this compiles while each of it is wiped and nothing stands beside it.
    let SignedSupport { positions, signs } = drawn;
    wiped_when_dropped(&positions);
    wiped_when_dropped(&signs);
}
