//! Base conversion against exact integers at the numbers where its quotient in doubles decides, on every backend: within 2^-40 to
//! 2^-64 Q of `+-Q/2`, and in steps of 2^-56 Q around `Q/2`, where a fused sum of doubles comes to another quotient.

use crate::Ring;
use crate::{arch, primes};
use aglet_testing::exact::{residue, BigInt, Moduli};

const LOG_N: u32 = 9;

fn chain(bits: u32, count: usize, taken: &[u64]) -> Vec<u64> {
    let top = 1u64 << bits;
    primes::ntt_primes(top as f64, LOG_N, taken, top).take(count).collect()
}

#[test]
fn numbers_next_to_half_the_modulus_stay_themselves_or_become_their_neighbour() {
    let mut q = chain(50, 9, &[]);
    q.extend(chain(40, 7, &q));
    let mut seen = Vec::new();
    for kernels in arch::available() {
        let ring = Ring::with_kernels(LOG_N, &q[..12], &q[12..], kernels).unwrap();
        let mut found = Vec::new();
        for (first, count) in [(0, 1), (0, 3), (2, 9), (9, 6), (0, 15)] {
            let sources: Vec<usize> = (first..first + count).collect();
            let targets: Vec<usize> = (0..q.len()).filter(|i| !sources.contains(i)).collect();
            found.extend(converted(&ring, &q, &sources, &targets));
        }
        seen.push((kernels.name(), found));
    }
    assert!(seen.iter().all(|(_, found)| *found == seen[0].1), "all backends round alike");
}

/// The rows of the targets, which are checked.
fn converted(ring: &Ring, q: &[u64], sources: &[usize], targets: &[usize]) -> Vec<Vec<u64>> {
    let own: Vec<u64> = sources.iter().map(|&i| q[i]).collect();
    let moduli = Moduli::new(&own);
    let (whole, mut numbers) = (BigInt::from(moduli.product().clone()), moduli.hard());
    let (half, fine) = (BigInt::from(moduli.product() >> 1u8), BigInt::from(moduli.product() >> 56u8));
    numbers.extend((-128..128).map(|j| moduli.centred(&moduli.residues(&(&half + &fine * j)))));
    let step = &whole / 17u8;
    while numbers.len() < 1 << LOG_N {
        let last = numbers[numbers.len() - 1].clone();
        numbers.push(moduli.centred(&moduli.residues(&(last + &step))));
    }
    let converter = ring.converter(sources, targets);
    let row = |i: usize| -> Vec<u64> {
        let times = |x: &BigInt| {
            (u128::from(residue(x, own[i])) * u128::from(converter.source_factors()[i]) % u128::from(own[i])) as u64
        };
        numbers.iter().map(times).collect()
    };
    let mut rows: Vec<Vec<u64>> = (0..own.len()).map(row).collect();
    let taken = rows.clone();
    let mut out = vec![vec![0; numbers.len()]; targets.len()];
    let (from, to) = (rows.iter_mut().map(|r| &mut r[..]).collect(), out.iter_mut().map(|r| &mut r[..]).collect());
    ring.convert(&converter, from, to, |_, _| ()).unwrap();
    let mut fused = 0;
    for (j, x) in numbers.iter().enumerate() {
        let y: Vec<u64> = taken.iter().map(|row| row[j]).collect();
        let terms = y.iter().zip(&own).map(|(&y, &q)| BigInt::from(moduli.product() / q) * y);
        let exact = terms.sum::<BigInt>() - &whole * quotient(&y, &own, |f, y, inverse| f + y * inverse);
        assert!(targets.iter().zip(&out).all(|(&t, row)| row[j] == residue(&exact, q[t])), "{x}: another quotient");
        let other = quotient(&y, &own, |f, y, inverse| y.mul_add(inverse, f));
        fused += usize::from(other != quotient(&y, &own, |f, y, inverse| f + y * inverse));
        let centred = moduli.centred(&moduli.residues(x));
        let is = |x: &BigInt| targets.iter().zip(&out).all(|(&t, row)| row[j] == residue(x, q[t]));
        // Twice the distance from half the modulus, beside the bound of the document.
        let far = &whole - BigInt::from(centred.magnitude() * 2u8);
        let near = (far << 51u8) < &whole * own.len();
        let neighbour = if centred > BigInt::ZERO { &centred - &whole } else { &centred + &whole };
        assert!(is(&centred) || near && is(&neighbour), "{x} from {} primes", own.len());
    }
    assert!(fused > 0 || own.len() == 1, "no column tells a fused quotient of {} primes from ours", own.len());
    out
}

/// `floor(sum y_i / q_i + 1/2)`, the sum in doubles from the first on, with one of the two ways to add a product.
fn quotient(y: &[u64], q: &[u64], add: impl Fn(f64, f64, f64) -> f64) -> u64 {
    let sum = y.iter().zip(q).fold(0.0, |f, (&y, &q)| add(f, y as f64, 1.0 / q as f64));
    (sum + 0.5) as u64
}
