//! The emulated card against exact integers, without the host's operations between.

use super::case::{card, hard_numbers, of_numbers, ring, Words, CHAINS};
use aglet_cuda::ops::{Form, KeyProduct};
use aglet_cuda::{Arithmetic, DeviceRing};
use aglet_ring::poly::{Coeff, Eval};
use aglet_ring::reversal::reversed;
use aglet_ring::{Constant, Multiplier, Poly, Ring};
use aglet_testing::emu::Order;
use aglet_testing::exact::{residue, BigInt};

const LOG_N: u32 = 10;
const N: usize = 1 << LOG_N;

fn product(x: u64, y: u64, q: u64) -> u64 {
    (u128::from(x) * u128::from(y) % u128::from(q)) as u64
}
fn power(x: u64, e: u64, q: u64) -> u64 {
    let square = |x: u64| product(x, x, q);
    match e {
        0 => 1,
        e if e % 2 == 0 => power(square(x), e / 2, q),
        e => product(x, power(square(x), e / 2, q), q),
    }
}
fn modulus(ring: &Ring, q_limbs: usize, i: usize) -> u64 {
    ring.modulus(ring.prime_of(q_limbs, i)).value()
}

/// The value of a row at `psi^(2 brv(at) + 1)`, by Horner's rule.
fn value(row: &[u64], psi: u64, at: usize, q: u64) -> u64 {
    let point = power(psi, 2 * reversed(at, N) as u64 + 1, q);
    row.iter().rev().fold(0, |sum, &c| ((u128::from(product(sum, point, q)) + u128::from(c)) % u128::from(q)) as u64)
}

#[test]
fn transforms_are_values_at_the_odd_powers_of_the_root() {
    for (chain, wanted) in CHAINS.into_iter().flat_map(|c| Arithmetic::ALL.map(|a| (c, a))) {
        let ring = ring(LOG_N, &chain[..6], 2);
        let device = DeviceRing::new(card(Order::Shuffled), &ring, wanted).unwrap();
        let x: Poly<Coeff> = Words::new().poly(&ring, 4, 2);
        let values = device.to_eval(&[&device.upload(&x).unwrap()]).unwrap().remove(0);
        let values = device.download(&values).unwrap();
        for i in 0..6 {
            let (prime, q) = (ring.prime_of(4, i), modulus(&ring, 4, i));
            for at in (0..N).step_by(37).chain([N - 1]) {
                assert_eq!(
                    values.host().unwrap().row(i)[at],
                    value(x.host().unwrap().row(i), ring.psi(prime), at, q),
                    "{q}, {at}"
                );
            }
        }
    }
}

#[test]
fn sums_of_products_are_exact() {
    for (chain, wanted) in CHAINS.into_iter().flat_map(|c| Arithmetic::ALL.map(|a| (c, a))) {
        let ring = ring(LOG_N, &chain[..8], 2);
        let device = DeviceRing::new(card(Order::Reverse), &ring, wanted).unwrap();
        let mut words = Words::new();
        let (x, key) = (words.polys(&ring, 70, (6, 2)), words.key(&ring, 35, (6, 2)));
        let there: Vec<_> = x.iter().map(|x| device.upload(x).unwrap()).collect();
        // All at the ends of their range: what an accumulator takes, and more.
        let form = Form {
            products: there.chunks(2).map(|pair| (1, &pair[0], &pair[1])).collect(),
            terms: there.iter().map(|x| (Multiplier::integer(-1), x)).collect(),
            constant: Multiplier::Constant(Constant::ONE),
            factor: None,
        };
        let form = device.download(&device.forms(&[form], 6, 2).unwrap().remove(0)).unwrap();
        let sum = KeyProduct { digits: &there[..35], added_before: None, added_after: None };
        let key_words = key.halves().map(|half| half.iter().map(|p| p.unpacked().unwrap()).collect::<Vec<_>>());
        let key_there = device.upload_key(&key).unwrap();
        let (b, a) = device.key_products(&[sum], &key_there, None).unwrap().remove(0);
        let halves = [device.download(&b).unwrap(), device.download(&a).unwrap()];
        for i in 0..8 {
            let q = modulus(&ring, 6, i);
            let add = |sum: u64, x: u64| ((u128::from(sum) + u128::from(x)) % u128::from(q)) as u64;
            for at in 0..N {
                let word = |x: &Poly<Eval>| x.host().unwrap().row(i)[at];
                let pairs = x.chunks(2).fold(1, |sum, pair| add(sum, product(word(&pair[0]), word(&pair[1]), q)));
                let wanted = x.iter().fold(pairs, |sum, x| add(sum, q - word(x)));
                assert_eq!(word(&form), wanted, "form modulo {q}, word {at}");
                for (half, key) in halves.iter().zip(&key_words) {
                    let terms = x.iter().zip(key).map(|(x, key)| product(word(x), word(key), q));
                    assert_eq!(word(half), terms.fold(0, add), "key product modulo {q}, word {at}");
                }
            }
        }
    }
}

/// What a base conversion makes of a number by its definition, and whether a fused sum of doubles would make something else.
fn converted(sources: &[u64], x: &BigInt) -> (BigInt, bool) {
    let whole: BigInt = sources.iter().product();
    let (mut sum, mut plain, mut fused) = (BigInt::ZERO, 0.0f64, 0.0f64);
    for &q in sources {
        let others = &whole / q;
        let inverse = power(residue(&others, q), q - 2, q);
        let y = product(residue(x, q), inverse, q);
        sum += others * y;
        (plain, fused) = (plain + y as f64 * (1.0 / q as f64), (y as f64).mul_add(1.0 / q as f64, fused));
    }
    let v = (plain + 0.5).floor();
    (sum - whole * v as u64, v != (fused + 0.5).floor())
}

#[test]
fn extensions_have_the_quotient_of_the_definition() {
    for (chain, wanted) in CHAINS.into_iter().flat_map(|c| Arithmetic::ALL.map(|a| (c, a))) {
        let ring = ring(LOG_N, &chain, 5);
        let device = DeviceRing::new(card(Order::Forward), &ring, wanted).unwrap();
        let mut fused = 0;
        for count in [1, 2, 5, 8, 13] {
            let from: Vec<usize> = (0..count).collect();
            let to: Vec<usize> = (0..19).collect();
            let sources: Vec<u64> = from.iter().map(|&i| ring.modulus(i).value()).collect();
            let numbers = hard_numbers(N, &sources);
            let x = device.to_eval(&[&device.upload(&of_numbers(&ring, &from, &numbers)).unwrap()]).unwrap();
            let found = device.extend(&[&x[0]], &from, &to).unwrap();
            // As coefficients again, of a ring in which all primes are of the chain.
            let primes: Vec<u64> = to.iter().map(|&i| ring.modulus(i).value()).collect();
            let chain = Ring::new(LOG_N, &primes, &[]).unwrap();
            let found = chain.to_coeff(device.download(&found[0]).unwrap()).unwrap();
            for (at, x) in numbers.iter().enumerate() {
                let (exact, other) = converted(&sources, x);
                fused += usize::from(other);
                for (i, &prime) in to.iter().enumerate() {
                    let wanted = residue(&exact, ring.modulus(prime).value());
                    assert_eq!(
                        found.host().unwrap().row(i)[at],
                        wanted,
                        "from {count} primes to prime {prime}, number {at}"
                    );
                }
            }
        }
        assert!(fused > 10, "only {fused} columns tell a fused quotient from ours");
    }
}
