//! Factors against their definition: masks for every place and sign, columns and muxes alone and together, the last division.

use super::*;
use crate::params::{Params, ParamsSpec};
use crate::security::{Secret, Security};
use aglet_ring::fft::unit_root;
use aglet_ring::primes::ntt_primes;
use aglet_ring::Coeff;
use aglet_testing::exact::{residue, BigInt, Moduli};
use num_complex::Complex64;

const LOG_N: u32 = 6;
const N: usize = 1 << LOG_N;
const PLACES: Places = Places { weight: 3, half_window: Some(12) };

fn shape(places: Places, columns: usize, mux: &[usize]) -> RotorShape {
    let digits = vec![vec![0, 1], vec![2, 3]];
    RotorShape { places, columns, mux: mux.to_vec(), raised: 4, special: 2, digits, choice: None }
}

/// A chain of so many primes of 50 bits, with as many raised ones, special ones beside both, and the raised ones alone.
pub(super) fn contexts(log_n: u32, places: Places, (limbs, special): (usize, usize)) -> (Arc<Context>, Arc<Context>) {
    let all: Vec<u64> = ntt_primes((1u64 << 50) as f64, log_n, &[], 1 << 50).take(2 * limbs + special).collect();
    let spec = ParamsSpec {
        log_n,
        secret: Secret::Ternary,
        sparse_secret: Some(Secret::BlockSparse(places.weight)),
        sparse_log_n: None,
        places: Some(places),
        q: all[..limbs].to_vec(),
        spare: all[limbs..2 * limbs].to_vec(),
        p: all[2 * limbs..].to_vec(),
        max_log_qp: Some((50 * (limbs + special) + 1) as f64),
        digits: None,
    };
    let ctx = Context::new(Params::new(spec, Security::NotChecked).unwrap()).unwrap();
    let raised = ctx.subset(&(limbs..2 * limbs).collect::<Vec<_>>()).unwrap();
    (ctx, raised)
}

/// The bands of these coefficients modulo `order`.
fn bands(a: &[u64], order: u64) -> Vec<Vec<Complex64>> {
    let slots = a.len() / 2;
    let root = |c: &u64| unit_root(c % order, order);
    let low: Vec<Complex64> = a[..slots].iter().map(root).collect();
    let high: Vec<Complex64> = a[slots..].iter().map(root).collect();
    let conjugate = |v: &[Complex64]| v.iter().map(Complex64::conj).collect();
    vec![low.clone(), conjugate(&low), high.clone(), conjugate(&high)]
}

/// Slot `i` of a factor by its definition.
fn factor(a: &[u64], order: u64, (place, sign): (usize, i8)) -> Vec<Complex64> {
    let coefficient = |i: usize| {
        let (source, wraps) = ((i + a.len() - place) % a.len(), i < place);
        let c = a[source] % order;
        if wraps ^ (sign < 0) {
            (order - c) % order
        } else {
            c
        }
    };
    (0..a.len() / 2).map(|i| unit_root(coefficient(i), order)).collect()
}

#[test]
fn masks_and_turns_give_every_place_and_sign() {
    let order = 1 << 12;
    let a: Vec<u64> = (0..N as u64).map(|i| (i * 1_234_567 + 89) % order).collect();
    let bands = bands(&a, order);
    let free = Places { weight: 3, half_window: None };
    for (shape, k) in [(shape(PLACES, 3, &[4, 2]), 1), (shape(free, 2, &[4, 4]), 0), (shape(PLACES, 24, &[]), 2)] {
        let start = shape.places.start(N, k);
        for place in start..start + shape.places.width(N) {
            for sign in [1, -1] {
                let coefficient = (place as u64, sign);
                // Columns: all but one mask are zero. Slot u of the rotated band is slot u - rotation of the band.
                let mut sum = vec![Complex64::default(); N / 2];
                for (i, rotation) in shape.column_rotations(N, k).enumerate() {
                    for (band, values) in bands.iter().enumerate() {
                        let mask = mask(&shape, (N, k), coefficient, (i, band));
                        for (u, sum) in sum.iter_mut().enumerate() {
                            *sum += mask[u] * values[(u + 4 * N - rotation) % (N / 2)];
                        }
                    }
                }
                let turn = Turn::new(&shape, N, k, place as u64);
                let rest: usize = (0..shape.mux.len()).map(|t| turn.mux[t] as usize * shape.stride(t)).sum();
                sum.rotate_right(rest);
                let wanted = factor(&a, order, (place, sign));
                let worst = sum.iter().zip(&wanted).map(|(x, y)| (x - y).norm()).fold(0.0, f64::max);
                assert!(worst < 1e-12, "{shape:?}, place {place}, sign {sign}: {worst}");
            }
        }
    }
}

/// Values of a polynomial of this scale in slots.
fn slots(ctx: &Context, poly: Poly<Eval>, scale: f64) -> Vec<Complex64> {
    let ring = ctx.ring();
    let one = ring.to_coeff(ring.copy(&poly, 1).unwrap());
    let at = |j: usize| ring.modulus(0).centre(one.host().row(0)[j]) as f64 / scale;
    let mut values: Vec<Complex64> = (0..N / 2).map(|j| Complex64::new(at(j), at(j + N / 2))).collect();
    SpecialFft::new(N / 2).forward(&mut values);
    values
}

#[test]
fn factors_under_keys_are_those_of_the_definition_with_the_noise_of_the_formula() {
    let (ctx, raised) = contexts(LOG_N, PLACES, (4, 2));
    let mut random = ChaChaSource::from_seed([4; 32]);
    let sk = SecretKey::generate(&ctx, &mut random).unwrap();
    let main = sk.for_subset(&raised).unwrap();
    let order = 1 << 12;
    let a: Vec<u64> = (0..N as u64).map(|i| (i * 7_654_321 + 11) % order).collect();
    for shape in [shape(PLACES, 3, &[4, 2]), shape(PLACES, 6, &[4]), shape(PLACES, 2, &[3, 4])] {
        let (_, placed) = SecretKey::generate_placed(&ctx, &mut random).unwrap();
        let source = |k: usize, t: usize| Ok::<_, Error>(ChaChaSource::from_seed([16 * k as u8 + t as u8; 32]));
        let keys = RotorKeys::generate(&raised, &shape, &placed, &main, source).unwrap();
        assert_eq!(keys.byte_count(), shape.byte_count(raised.params()).unwrap());
        let q: f64 = ctx.params().q().iter().map(|&q| q as f64).product();
        let r: f64 = raised.params().q().iter().map(|&q| q as f64).product();
        let (leaf, scale) = (2f64.powi(36), 2f64.powi(36) * r / q);
        let fft = SpecialFft::new(N / 2);
        let lift = |band: &Vec<Complex64>| {
            let coefficients = fft.coefficients(band, scale).unwrap();
            raised.ring().to_eval(raised.ring().lift(&coefficients, raised.ring().scratch(4, 1).unwrap()))
        };
        let encoded = bands(&a, order).iter().map(lift).collect();
        let found = keys.factors(&[Digits::of(encoded)], 4, &|| Ok(())).unwrap().remove(0);
        let (mut sum, mut count) = (0.0, 0);
        for (k, polys) in found.into_iter().enumerate() {
            let phase = sk.decrypt(&ctx, &crate::Sample { polys, key: sk.id() }).unwrap();
            let wanted = factor(&a, order, (placed.get(k).0 as usize, placed.get(k).1));
            for (x, y) in slots(&ctx, phase, leaf).iter().zip(&wanted) {
                sum += (x - y).norm_sqr() * leaf * leaf / N as f64;
                count += 1;
            }
        }
        let norm = ctx.params().secret().squared_norm(N);
        let model = shape.noise(raised.params(), norm, scale) * (leaf / scale).powi(2) + (norm + 1.0) / 12.0;
        // A coefficient's variance v is N v in |slot|^2; 96 slots, of which neighbours are independent.
        let ratio = sum / f64::from(count) / model;
        assert!((0.6..1.6).contains(&ratio), "{shape:?}: {ratio}");
        // Kept and made again, they are the same; in another order they are refused.
        let again = |key: &RotorKey| {
            let bodies = (0..key.spec().digits.len()).map(|s| key.body(&raised, s).unwrap()).collect();
            let key = SwitchingKey::from_stored(raised.params(), key.id(), key.spec().clone(), *key.seed(), bodies);
            RotorKey::packed(&raised, key.unwrap()).unwrap()
        };
        let kept = RotorKeys::from_keys(raised.clone(), shape.clone(), keys.iter().map(again).collect()).unwrap();
        let half = |key: &RotorKey| key.stream.unpacked(raised.ring(), 1, 1).unwrap();
        for (x, y) in kept.iter().zip(keys.iter()) {
            assert_eq!(half(x).host().row(0), half(y).host().row(0));
        }
        let turned: Vec<_> = keys.iter().map(again).rev().collect();
        assert!(RotorKeys::from_keys(raised.clone(), shape, turned).is_err());
    }
}

#[test]
fn the_last_division_is_exact() {
    let (ctx, raised) = contexts(LOG_N, PLACES, (4, 2));
    let ring = raised.ring();
    // round(v R P / Q), whose quotient is v.
    let mut x: Poly<Coeff> = ring.zero(4, 2).unwrap();
    let primes: Vec<u64> = raised.params().q().iter().chain(raised.params().p()).copied().collect();
    let of = |primes: &[u64]| BigInt::from(Moduli::new(primes).product().clone());
    let (from, to) = (of(&primes), of(ctx.params().q()));
    let wanted: Vec<i64> = (0..N as i64).map(|i| (i - 32) * 12_345_678_901 + i * i).collect();
    let number = |v: &i64| {
        let (above, below): (BigInt, BigInt) = (&from * *v * 2 + &to, &to * 2);
        let quotient: BigInt = &above / &below;
        if &quotient * &below > above {
            quotient - 1
        } else {
            quotient
        }
    };
    let numbers: Vec<BigInt> = wanted.iter().map(number).collect();
    x.host_mut().par_iter().enumerate().for_each(|(i, row)| {
        row.iter_mut().zip(&numbers).for_each(|(word, number)| *word = residue(number, primes[i]));
    });
    let settled = ctx.ring().to_coeff(settle(&raised, &[&ring.to_eval(x)], 4).unwrap().remove(0));
    for i in 0..4 {
        let m = ctx.ring().modulus(i);
        let expected: Vec<u64> = wanted.iter().map(|&v| m.reduce_i64(v)).collect();
        assert_eq!(settled.host().row(i), expected);
    }
}
