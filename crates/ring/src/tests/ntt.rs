//! The transform against its definition, and every backend against scalar, bit for bit.

use crate::arch;
use crate::modulus::Modulus;
use crate::ntt::NttTable;
use proptest::prelude::*;

fn prime(bits: u32, log_n: u32) -> Modulus {
    let step = 2u64 << log_n;
    let mut q = ((1u64 << bits) - 1) / step * step + 1;
    loop {
        if q < 1 << bits && crate::primes::is_prime(q) {
            return Modulus::new(q).unwrap();
        }
        q -= step;
    }
}

fn inputs(m: &Modulus, n: usize, seed: u64) -> Vec<u64> {
    let q = m.value();
    match seed % 8 {
        0 => vec![q - 1; n],
        1 => (0..n as u64).map(|i| if i % 2 == 0 { q - 1 } else { 0 }).collect(),
        2 => (0..n as u64).map(|i| if i < n as u64 / 2 { q / 2 } else { q / 2 + 1 }).collect(),
        3 => (0..n as u64).map(|i| i % 2).collect(),
        _ => {
            let mut x = seed | 1;
            (0..n)
                .map(|_| {
                    x ^= x << 13;
                    x ^= x >> 7;
                    x ^= x << 17;
                    x % q
                })
                .collect()
        }
    }
}

#[test]
fn values_stand_where_they_are_said_to() {
    let log_n = 6;
    let n = 1usize << log_n;
    for bits in [30, 50, 61] {
        let m = prime(bits, log_n);
        for kernels in arch::available().iter().filter(|k| k.serves(&m)) {
            let t = NttTable::new(m, log_n, kernels).unwrap();
            let a = inputs(&m, n, 1234567);
            let mut b = a.clone();
            t.forward(&mut b);
            for (i, &value) in b.iter().enumerate() {
                let e = 2 * (i.reverse_bits() >> (usize::BITS - log_n)) as u64 + 1;
                let x = m.pow(t.psi(), e);
                let expected = a.iter().rev().fold(0, |s, &c| m.add(m.mul(s, x), c));
                assert_eq!(value, expected, "{} position {i}", kernels.name());
            }
        }
    }
}

/// Modulo the square of 65537, whose roots are those modulo 65537 to its power.
#[test]
fn a_root_may_be_given_and_the_modulus_be_a_square() {
    let (p, m) = (Modulus::new(65537).unwrap(), Modulus::new(65537 * 65537).unwrap());
    for log_n in [6, 7, 10] {
        for kernels in arch::available() {
            let lifted = m.pow(NttTable::new(p, log_n, kernels).unwrap().psi(), 65537);
            let t = NttTable::with_root(m, log_n, lifted, kernels).unwrap();
            for seed in [0, 1, 2, 99] {
                let a = inputs(&m, t.n(), seed);
                let mut b = a.clone();
                t.forward(&mut b);
                for (i, &value) in b.iter().enumerate().step_by(7) {
                    let x = m.pow(lifted, 2 * (i.reverse_bits() >> (usize::BITS - log_n)) as u64 + 1);
                    assert_eq!(value, a.iter().rev().fold(0, |s, &c| m.add(m.mul(s, x), c)), "{}", kernels.name());
                }
                t.inverse(&mut b);
                assert_eq!(a, b);
            }
            assert!(NttTable::with_root(m, log_n, m.mul(lifted, lifted), kernels).is_err());
        }
    }
}

#[test]
fn multiplication_is_negacyclic() {
    let (log_n, m) = (7, prime(50, 7));
    let n = 1usize << log_n;
    let (a, b) = (inputs(&m, n, 99), inputs(&m, n, 77));
    let mut expected = vec![0; n];
    for (i, &x) in a.iter().enumerate() {
        for (j, &y) in b.iter().enumerate() {
            let p = m.mul(x, y);
            let k = (i + j) % n;
            expected[k] = if i + j < n { m.add(expected[k], p) } else { m.sub(expected[k], p) };
        }
    }
    for kernels in arch::available() {
        let t = NttTable::new(m, log_n, kernels).unwrap();
        let (mut x, mut y, mut z) = (a.clone(), b.clone(), vec![0; n]);
        t.forward(&mut x);
        t.forward(&mut y);
        kernels.form(&m, &arch::FormRow { products: &[(&x, &y)], ..Default::default() }, &mut z);
        t.inverse(&mut z);
        assert_eq!(z, expected, "{}", kernels.name());
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn backends_agree_with_scalar(log_n in 6u32..=13, bits in prop::sample::select(vec![25u32, 40, 48, 50]), seed: u64) {
        let m = prime(bits, log_n);
        let n = 1usize << log_n;
        let scalar = NttTable::new(m, log_n, arch::by_name("scalar").unwrap()).unwrap();
        let a = inputs(&m, n, seed);
        let mut expected = a.clone();
        scalar.forward(&mut expected);
        let factor = m.reduce(seed);
        for kernels in arch::available() {
            let t = NttTable::new(m, log_n, kernels).unwrap();
            let mut b = a.clone();
            t.forward(&mut b);
            prop_assert_eq!(&b, &expected);
            t.inverse_scaled(&mut b, factor);
            let scaled: Vec<u64> = a.iter().map(|&x| m.mul(x, factor)).collect();
            prop_assert_eq!(&b, &scaled);
        }
    }
}

#[test]
fn every_degree_at_both_ends_of_what_a_size_of_primes_allows() {
    for log_n in 6..=17 {
        let (n, step) = (1usize << log_n, 2u64 << log_n);
        // The largest and the smallest prime of these sizes: what lanes keep unreduced depends on both.
        let above =
            |bits: u32| (0..).map(|i| (1u64 << bits) + 1 + i * step).find(|&q| crate::primes::is_prime(q)).unwrap();
        let smallest = [46, 47, 48, 49].map(|bits| Modulus::new(above(bits)).unwrap());
        for m in [prime(46, log_n), prime(47, log_n), prime(48, log_n), prime(50, log_n)].into_iter().chain(smallest) {
            for seed in [0, 1, 2, 12345] {
                let a = inputs(&m, n, seed);
                let mut expected = a.clone();
                NttTable::new(m, log_n, arch::by_name("scalar").unwrap()).unwrap().forward(&mut expected);
                for kernels in arch::available() {
                    let t = NttTable::new(m, log_n, kernels).unwrap();
                    let mut b = a.clone();
                    t.forward(&mut b);
                    assert!(b == expected, "{} {log_n} {} forward", kernels.name(), m.value());
                    t.inverse(&mut b);
                    assert!(b == a, "{} {log_n} {} inverse", kernels.name(), m.value());
                }
            }
        }
    }
}

#[test]
fn a_thousand_round_trips_at_the_real_size() {
    let m = prime(50, 16);
    let n = 1usize << 16;
    for kernels in arch::available() {
        let t = NttTable::new(m, 16, kernels).unwrap();
        let a = inputs(&m, n, 0);
        let mut b = a.clone();
        for _ in 0..if kernels.name() == "scalar" { 32 } else { 1024 } {
            t.forward(&mut b);
            t.inverse(&mut b);
        }
        assert!(a == b, "{}", kernels.name());
    }
}

#[test]
fn subring_values_repeat_in_runs() {
    let (log_n, m) = (10, prime(50, 10));
    let n = 1usize << log_n;
    let t = NttTable::new(m, log_n, arch::chosen().unwrap()).unwrap();
    for log_len in 1..=log_n {
        let len = 1usize << log_len;
        let mut small = inputs(&m, len, 31);
        let mut full = vec![0; n];
        small.iter().enumerate().for_each(|(i, &c)| full[i * (n / len)] = c);
        t.forward_subring(&mut small);
        t.forward(&mut full);
        assert!((0..n).all(|i| full[i] == small[i * len / n]), "length {len}");
    }
    let i = t.imaginary_unit();
    assert_eq!(m.mul(i, i), m.value() - 1);
    let mut monomial = vec![0; n];
    monomial[n / 2] = 1;
    t.forward(&mut monomial);
    assert!(monomial[..n / 2].iter().all(|&x| x == i) && monomial[n / 2..].iter().all(|&x| x == m.neg(i)));
}
