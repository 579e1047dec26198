//! Packed streams against sums in 128 bits, for every width and backend: residues at the ends of their range, sums longer than
//! accumulators take, several inputs, tiles.

use super::*;
use crate::arch;
use crate::automorphism::rotation_exponent;
use crate::primes::ntt_primes;
use crate::Ring;

/// More than a tile of positions.
const LOG_N: u32 = 10;
const N: usize = 1 << LOG_N;

/// Primes of every width, two of them special: the largest that vectors serve, the largest of their width, and smaller ones.
fn ring(kernels: &'static arch::Kernels) -> Ring {
    let primes = [50, 48, 46, 44, 40, 32, 28, 24, 20, 50, 41].iter().fold(Vec::new(), |mut all, &bits| {
        let top = 1u64 << bits;
        all.extend(ntt_primes(top as f64, LOG_N, &all.clone(), top).next());
        all
    });
    Ring::with_kernels(LOG_N, &primes[..9], &primes[9..], kernels).unwrap()
}

/// Residues that are random, 0, 1, or the largest; all the largest for seed 0.
fn poly(ring: &Ring, (q_limbs, p_limbs): (usize, usize), seed: u64) -> Poly<Eval> {
    let (mut x, mut out) = (seed | 1, ring.zero::<Eval>(q_limbs, p_limbs).unwrap());
    for i in 0..q_limbs + p_limbs {
        let q = ring.modulus(ring.prime_of(q_limbs, i)).value();
        for word in out.limb_mut(i) {
            (x, *word) = (x ^ x << 13, q - 1);
            x ^= x >> 7;
            x ^= x << 17;
            if seed > 0 {
                *word = [x % q, x % q, 0, q - 1, 1][(x >> 60) as usize % 5];
            }
        }
    }
    out
}

fn samples(ring: &Ring, shape: (usize, usize), count: u64, seed: u64) -> Vec<Poly<Eval>> {
    (0..count).map(|k| poly(ring, shape, seed * (k + 1))).collect()
}

#[test]
fn a_stream_gives_back_what_it_was_packed_of() {
    for kernels in arch::available() {
        let ring = ring(kernels);
        let [b, a] = [5, 77].map(|seed| samples(&ring, (9, 2), 3, seed));
        let stream = KeyStream::new(&ring, &[&b, &a]).unwrap();
        let moduli: Vec<Modulus> = (0..11).map(|i| *ring.modulus(i)).collect();
        assert_eq!(stream.byte_count(), KeyStream::forecast(N, &moduli, 3, 2));
        // 50 + 48 + 46 + 44 + 40 + 32 + 28 + 24 + 20 + 50 + 42 bits.
        assert_eq!(stream.byte_count(), 11 * SPARE_BYTES + 6 * N * 424 / 8);
        for (s, (b, a)) in b.iter().zip(&a).enumerate() {
            for (half, wanted) in [b, a].into_iter().enumerate() {
                let found = stream.unpacked(&ring, s, half).unwrap();
                (0..11).for_each(|i| assert_eq!(found.limb(i), wanted.limb(i), "{}", kernels.name()));
            }
        }
    }
}

#[test]
fn sums_with_keys_are_exact_for_every_width_and_backend() {
    for (kernels, seed) in arch::available().iter().flat_map(|k| [(k, 0), (k, 3)]) {
        let ring = ring(kernels);
        let shape = (9, 2);
        let rotations: Vec<_> = [0, 1, 5, -3, 100].map(|k| ring.automorphism(rotation_exponent(k, N))).into();
        let digits: Vec<Digits> =
            (0..4).map(|k| Digits::of(samples(&ring, shape, 1 + k % 2, seed * (k + 9)))).collect();
        // Two sums of three inputs each.
        let of = vec![vec![&digits[0], &digits[1]], vec![&digits[2], &digits[3]]];
        let [b, a] = [5, 77].map(|k| samples(&ring, shape, 15, seed * k));
        let stream = KeyStream::new(&ring, &[&b, &a]).unwrap();
        let found = ring.stream_sums(&of, &stream, &rotations.iter().map(|g| &**g).collect::<Vec<_>>()).unwrap();
        let mut turned = vec![0; N];
        for (list, found) in of.iter().zip(&found) {
            for (half, found) in [(&b, &found.0), (&a, &found.1)] {
                for i in 0..11 {
                    let m = ring.modulus(i);
                    let mut wanted = vec![0u64; N];
                    for (r, g) in rotations.iter().enumerate() {
                        for (d, x) in list.iter().flat_map(|x| x.limbs(i)).enumerate() {
                            g.apply(x, &mut turned);
                            let key = half[3 * r + d].limb(i);
                            wanted
                                .iter_mut()
                                .zip(&turned)
                                .zip(key)
                                .for_each(|((w, &x), &k)| *w = m.add(*w, m.mul(x, k)));
                        }
                    }
                    assert!(found.limb(i) == wanted, "{} limb {i}", kernels.name());
                }
            }
        }
    }
}

#[test]
fn products_with_diagonals_meet_every_stream_in_tiles() {
    for kernels in arch::available() {
        let ring = ring(kernels);
        let shape = (9, 0);
        let of = [[3, 8], [0, 6]].map(|seeds| seeds.map(|seed| samples(&ring, shape, 14, seed)));
        let maps: Vec<_> = [21, 34, 55].map(|seed| samples(&ring, shape, 14, seed)).into();
        let streams: Vec<_> = maps.iter().map(|map| KeyStream::new(&ring, &[map]).unwrap()).collect();
        let found = ring.stream_products(&of, &streams).unwrap();
        for (map, found) in maps.iter().zip(&found) {
            for (list, found) in of.iter().flatten().zip(found.iter().flatten()) {
                for i in 0..9 {
                    let m = ring.modulus(i);
                    let at = |j: usize| {
                        list.iter().zip(map).fold(0, |s, (x, k)| m.add(s, m.mul(x.limb(i)[j], k.limb(i)[j])))
                    };
                    assert!(found.limb(i) == (0..N).map(at).collect::<Vec<_>>(), "{} limb {i}", kernels.name());
                }
            }
        }
    }
}
