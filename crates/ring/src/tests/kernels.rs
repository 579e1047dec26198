//! Pointwise, base conversion and key switching kernels against u128 arithmetic, on every backend.

use super::*;
use crate::automorphism::Permutation;
use crate::basis::BaseConverter;
use crate::pack::pack_bits;
use proptest::prelude::*;

/// Primes of the sizes that parameter sets use; congruences do not matter here.
const QS: [u64; 6] = [(1 << 50) - 27, (1 << 50) - 35, (1 << 48) - 59, (1 << 40) - 87, (1 << 40) - 167, 1_073_741_789];
const N: usize = 64;

fn rows(q: u64, count: usize, seed: u64) -> Vec<Vec<u64>> {
    let mut x = seed | 1;
    (0..count)
        .map(|k| {
            (0..N)
                .map(|i| {
                    x ^= x << 13;
                    x ^= x >> 7;
                    x ^= x << 17;
                    match (seed % 5, (i + k) % 3) {
                        (0, _) => q - 1,
                        (1, 0) | (2, 1) => q / 2 + 1,
                        (1, 1) => 0,
                        _ => x % q,
                    }
                })
                .collect()
        })
        .collect()
}

fn refs(rows: &[Vec<u64>]) -> Vec<&[u64]> {
    rows.iter().map(Vec::as_slice).collect()
}

fn halves(rows: &mut [(Vec<u64>, Vec<u64>)]) -> Vec<Halves<'_>> {
    rows.iter_mut().map(|(b, a)| (b.as_mut_slice(), a.as_mut_slice())).collect()
}

/// Where `AGLET_EXPECT_BACKEND` names kernels, they must be the first that the tests below run: tools/ifma/check.sh.
#[test]
fn the_forced_backend_is_here() {
    let names: Vec<_> = available().iter().map(|k| k.name()).collect();
    println!("backends under test: {}", names.join(", "));
    if let Ok(expected) = std::env::var("AGLET_EXPECT_BACKEND") {
        assert_eq!(names[0], expected);
    }
}

/// A row of a key, in whole words.
fn key_row(m: &Modulus, values: &[u64]) -> Vec<u64> {
    let bits = key_width(m);
    let mut words = vec![0; key_row_bytes(values.len(), bits).div_ceil(8)];
    match bits {
        64 => words.copy_from_slice(values),
        _ => pack_bits(bits, values, &mut bytemuck::cast_slice_mut(&mut words)[..values.len() / 8 * bits]),
    }
    words
}

/// Rows of a half of a key.
type Rows = Vec<Vec<u64>>;

/// Rows of keys, and the same as kernels take them.
fn key_rows(m: &Modulus, keys: &[(Rows, Rows)]) -> Vec<[Rows; 2]> {
    keys.iter().map(|(b, a)| [b, a].map(|half| half.iter().map(|row| key_row(m, row)).collect())).collect()
}
fn key_refs(packed: &[[Rows; 2]]) -> Vec<[Vec<&[u8]>; 2]> {
    packed.iter().map(|key| [0, 1].map(|h| key[h].iter().map(|row| bytemuck::cast_slice(row)).collect())).collect()
}

/// Sums of the largest residues, longer than any accumulator takes.
#[test]
fn the_longest_sums_of_the_largest_residues_are_exact() {
    let values = |x: u64| vec![x; N];
    for q in QS.into_iter().chain([(1 << 61) - 1]) {
        let m = Modulus::new(q).unwrap();
        let (largest, one) = (values(q - 1), values(1));
        for k in available().iter().filter(|k| k.serves(&m)) {
            for (count, key) in [1, 4, 5, 8, 9, 15, 16, 17, 33, 65].into_iter().flat_map(|c| [(c, &one), (c, &largest)])
            {
                let mut out = values(0);
                let products = vec![(&largest[..], &key[..]); count];
                k.form(&m, &FormRow { products: &products, constant: q - 1, ..FormRow::default() }, &mut out);
                let digits = if key[0] == 1 { m.neg(count as u64) } else { count as u64 };
                assert_eq!(out, values(m.sub(digits, 1)), "{} {count} products modulo {q}", k.name());

                // Rotated pairs (digits - 1, digits), times -1, for as many baby steps.
                let (packed, largest_digits) = (key_row(&m, key), vec![&largest[..]; count]);
                let (keys, bits) = (vec![bytemuck::cast_slice(&packed); count], key_width(&m));
                let row = || KeyRow { permutation: None, bits, b: &keys, a: &keys };
                let mut diagonal = largest.clone();
                k.prepare_constants(&m, &mut diagonal);
                let map = LinearMapRow {
                    inputs: &[LinearMapInput { digits: &largest_digits, lifted: Some((&largest, &largest)) }],
                    babies: &(0..count).map(|_| Some(row())).collect::<Vec<_>>(),
                    diagonals: &(0..count).map(|_| Some(DiagonalRow { constants: &diagonal })).collect::<Vec<_>>(),
                };
                let (mut b, mut a) = (values(0), values(0));
                k.linear_map(&m, &map, &mut [(&mut b, &mut a)]);
                let sum = |x| values(m.neg(m.mul(count as u64, x)));
                assert_eq!((b, a), (sum(m.sub(digits, 1)), sum(digits)), "{} {count} steps modulo {q}", k.name());
            }
        }
    }
}

/// Base conversions of the longest bases, of residues that are all largest or all largest when balanced.
#[test]
fn the_longest_conversions_are_exact() {
    let primes: Vec<Modulus> = (0..1 << 12)
        .map(|k| (1u64 << 50) - 1 - 2 * k)
        .filter(|&q| crate::primes::is_prime(q))
        .map(|q| Modulus::new(q).unwrap())
        .collect();
    let target = primes[40];
    for count in [14, 15, 16, 17, 18, 31, 32] {
        let sources = &primes[..count];
        for largest in [|q: u64| q - 1, |q: u64| q / 2, |q: u64| q / 2 + 1] {
            let y: Vec<Vec<u64>> = sources.iter().map(|m| vec![largest(m.value()); N]).collect();
            let expected: Vec<Vec<u64>> = available()
                .iter()
                .map(|k| {
                    let c = BaseConverter::new(sources, &[target], k);
                    let (mut rows, mut v, mut out) = (y.clone(), vec![0; N], vec![0; N]);
                    let c = &c.parts()[0];
                    c.balance(&mut rows.iter_mut().map(Vec::as_mut_slice).collect::<Vec<_>>(), &mut v);
                    rows.push(v);
                    c.convert(0, &refs(&rows), &mut [&mut out]);
                    out
                })
                .collect();
            assert!(expected.iter().all(|out| out == &expected[expected.len() - 1]), "{count} sources");
        }
    }
}

proptest! {
    #[test]
    fn form_is_exact(i in 0..QS.len(), np in 0usize..20, nt in 0usize..20, c: u64, seed: u64) {
        let m = Modulus::new(QS[i]).unwrap();
        let (a, b, x) = (rows(QS[i], np, seed), rows(QS[i], np, seed ^ 5), rows(QS[i], nt, seed ^ 10));
        let constants: Vec<u64> = (0..nt as u64).map(|k| if seed % 5 == 0 { QS[i] / 2 } else { m.mul(seed, k + 1) }).collect();
        let c = m.reduce(c);
        let products: Vec<_> = refs(&a).into_iter().zip(refs(&b)).collect();
        let terms: Vec<_> = refs(&x).into_iter().zip(constants.iter().copied()).collect();
        let expected: Vec<u64> = (0..N).map(|j| {
            let s = products.iter().fold(c, |s, p| m.add(s, m.mul(p.0[j], p.1[j])));
            let s = terms.iter().fold(s, |s, t| m.add(s, m.mul(t.0[j], t.1)));
            if np % 2 == 0 { s } else { m.mul(s, c) }
        }).collect();
        let form = FormRow { products: &products, terms: &terms, constant: c, factor: (np % 2 == 1).then_some(c) };
        for k in available() {
            let mut out = vec![0; N];
            k.form(&m, &form, &mut out);
            prop_assert_eq!(&out, &expected, "{}", k.name());
        }
    }

    #[test]
    fn rsub_mul_is_exact(i in 0..QS.len(), w: u64, seed: u64) {
        let m = Modulus::new(QS[i]).unwrap();
        let (x, y, w) = (rows(QS[i], 1, seed), rows(QS[i], 1, seed ^ 3), m.reduce(w));
        let expected: Vec<u64> = (0..N).map(|j| m.mul(m.sub(y[0][j], x[0][j]), w)).collect();
        for k in available() {
            let mut out = x[0].clone();
            k.rsub_mul(&m, &mut out, &y[0], w);
            prop_assert_eq!(&out, &expected, "{}", k.name());
        }
    }

    #[test]
    fn conversion_centres_and_agrees(count in 1usize..=4, seed: u64) {
        let sources: Vec<Modulus> = QS[..count].iter().map(|&q| Modulus::new(q).unwrap()).collect();
        let targets: Vec<Modulus> = QS[count..].iter().map(|&q| Modulus::new(q).unwrap()).collect();
        let y: Vec<Vec<u64>> = sources.iter().enumerate().map(|(k, m)| rows(m.value(), 1, seed ^ k as u64).remove(0)).collect();
        // The number itself: sum y_i Q/q_i mod Q, centred, in u128 arithmetic modulo each target.
        let expected: Vec<Vec<u64>> = targets.iter().map(|t| (0..N).map(|j| {
            let quotient: f64 = sources.iter().enumerate().fold(0.0, |f, (i, m)| f + y[i][j] as f64 * (1.0 / m.value() as f64));
            let v = (quotient + 0.5) as u64;
            let q = sources.iter().fold(1, |p, m| t.mul(p, t.reduce(m.value())));
            let sum = (0..count).fold(0, |s, i| {
                let hat = (0..count).filter(|&l| l != i).fold(1, |p, l| t.mul(p, t.reduce(QS[l])));
                t.add(s, t.mul(hat, t.reduce(y[i][j])))
            });
            t.sub(sum, t.mul(v, q))
        }).collect()).collect();
        for k in available() {
            let c = BaseConverter::new(&sources, &targets, k);
            let c = &c.parts()[0];
            let (mut rows, mut v) = (y.clone(), vec![0; N]);
            c.balance(&mut rows.iter_mut().map(Vec::as_mut_slice).collect::<Vec<_>>(), &mut v);
            rows.push(v);
            let mut out = vec![vec![0; N]; targets.len()];
            c.convert(0, &refs(&rows), &mut out.iter_mut().map(Vec::as_mut_slice).collect::<Vec<_>>());
            prop_assert_eq!(&out, &expected, "{}", k.name());
            let last = targets.len() - 1;
            let mut one = vec![0; N];
            c.convert(last, &refs(&rows), &mut [&mut one]);
            prop_assert_eq!(&one, &expected[last], "{}", k.name());
        }
    }

    #[test]
    fn key_products_and_linear_maps_are_exact(
        i in 0..QS.len(), d in 1usize..20, babies in 1usize..18, giants in 1usize..4, count in 1usize..4, seed: u64
    ) {
        let m = Modulus::new(QS[i]).unwrap();
        let q = QS[i];
        let digits: Vec<_> = (0..count as u64).map(|c| rows(q, d, seed.wrapping_add(c << 20))).collect();
        let lifted: Vec<_> = (0..count as u64).map(|c| rows(q, 2, seed.wrapping_add(c << 21) ^ 9)).collect();
        let keys: Vec<_> = (0..babies).map(|b| (rows(q, d, seed ^ (20 + b as u64)), rows(q, d, seed ^ (50 + b as u64)))).collect();
        let galois: Vec<u64> = (0..babies).map(|b| crate::automorphism::rotation_exponent(b as isize, N)).collect();
        let lens = [1usize, 2, 4, 16, 64];
        let diagonals: Vec<Vec<Option<Vec<u64>>>> = (0..giants).map(|g| (0..babies).map(|b| {
            ((seed >> ((g * babies + b) % 60)) & 3 != 0).then(|| rows(q, 1, seed ^ (g * 100 + b) as u64).remove(0)[..lens[(g + b) % 5]].to_vec())
        }).collect()).collect();
        let permuted = |g: u64, row: &[u64]| { let mut out = vec![0; N]; Permutation::new(g, N, 1).apply(row, &mut out); out };
        // Of each input.
        let rotated: Vec<Vec<(Vec<u64>, Vec<u64>)>> = digits.iter().zip(&lifted).map(|(digits, lifted)| (0..babies).map(|b| {
            if b == 0 { return (lifted[0].clone(), lifted[1].clone()); }
            let ds: Vec<Vec<u64>> = digits.iter().map(|x| permuted(galois[b], x)).collect();
            let add = permuted(galois[b], &lifted[0]);
            ((0..N).map(|j| (0..d).fold(add[j], |s, k| m.add(s, m.mul(ds[k][j], keys[b].0[k][j])))).collect(),
             (0..N).map(|j| (0..d).fold(0, |s, k| m.add(s, m.mul(ds[k][j], keys[b].1[k][j])))).collect())
        }).collect()).collect();
        let packed = key_rows(&m, &keys);
        let (key_refs, bits) = (key_refs(&packed), key_width(&m));
        for k in available() {
            let autos: Vec<_> = galois.iter().map(|&g| Permutation::new(g, N, k.width())).collect();
            let digit_refs: Vec<_> = digits.iter().map(|d| refs(d)).collect();
            let key = |b: usize| KeyRow { permutation: Some(&autos[b]), bits, b: &key_refs[b][0], a: &key_refs[b][1] };
            if babies > 1 {
                let mut out = vec![(vec![0; N], vec![0; N]); count];
                let mut inputs: Vec<_> = digit_refs.iter().zip(&lifted)
                    .map(|(digits, l)| ProductRow { digits, added_before: Some(&l[0]), added_after: None }).collect();
                k.key_product(&m, &inputs, &key(1), &mut halves(&mut out));
                for (found, expected) in out.iter().zip(&rotated) {
                    prop_assert_eq!(found, &expected[1], "{}", k.name());
                }
                for (input, l) in inputs.iter_mut().zip(&lifted) {
                    input.added_after = Some((&l[0], &l[1]));
                }
                k.key_product(&m, &inputs, &key(1), &mut halves(&mut out));
                for (((x, y), l), r) in out.iter().zip(&lifted).zip(&rotated) {
                    for j in 0..N {
                        prop_assert_eq!((x[j], y[j]), (m.add(r[1].0[j], l[0][j]), m.add(r[1].1[j], l[1][j])));
                    }
                }
            }
            let mut shaped = diagonals.clone();
            shaped.iter_mut().flatten().flatten().for_each(|c| k.prepare_constants(&m, c));
            for (shaped, d) in shaped.iter().flatten().flatten().zip(diagonals.iter().flatten().flatten()) {
                let mut alone = d.clone();
                k.shaper().prepare_constants(&m, &mut alone);
                prop_assert_eq!(shaped, &alone, "{}", k.name());
            }
            let row = LinearMapRow {
                inputs: &digit_refs.iter().zip(&lifted)
                    .map(|(digits, l)| LinearMapInput { digits, lifted: Some((&l[0], &l[1])) }).collect::<Vec<_>>(),
                babies: &(0..babies).map(|b| (b > 0).then(|| key(b))).collect::<Vec<_>>(),
                diagonals: &shaped.iter().flatten().map(|d| d.as_ref().map(|c| DiagonalRow { constants: c })).collect::<Vec<_>>(),
            };
            let mut out = vec![(vec![0; N], vec![0; N]); giants * count];
            k.linear_map(&m, &row, &mut halves(&mut out));
            for (o, (b, a)) in out.iter().enumerate() {
                let (g, c) = (o / count, o % count);
                for j in 0..N {
                    let terms = diagonals[g].iter().zip(&rotated[c]).filter_map(|(d, r)| Some((d.as_ref()?, r)));
                    let expected = terms.fold((0, 0), |(x, y), (c, r)| {
                        let c = c[j * c.len() / N];
                        (m.add(x, m.mul(r.0[j], c)), m.add(y, m.mul(r.1[j], c)))
                    });
                    prop_assert_eq!((b[j], a[j]), expected, "{} giant {} input {}", k.name(), g, c);
                }
            }
        }
    }

    #[test]
    fn sums_over_rotations_are_exact(
        i in 0..QS.len(), count in 1usize..40, digits in 1usize..6, inputs in 1usize..4, added: bool, seed: u64,
    ) {
        let m = Modulus::new(QS[i]).unwrap();
        let (xs, before) = (rows(QS[i], inputs * digits, seed), rows(QS[i], inputs, seed ^ 7));
        let half = |k: usize| rows(QS[i], digits, seed ^ k as u64);
        let keys: Vec<_> = (0..count).map(|k| (half(20 + k), half(90 + k))).collect();
        let galois = |k: usize| crate::automorphism::rotation_exponent(3 * k as isize, N);
        let expected: Vec<_> = xs.chunks(digits).zip(&before).map(|(x, before)| {
            let mut sums = (vec![0; N], vec![0; N]);
            let mut rotated = vec![0; N];
            for (k, (b, a)) in keys.iter().enumerate() {
                let phi = Permutation::new(galois(k), N, 1);
                for (d, x) in x.iter().enumerate() {
                    phi.apply(x, &mut rotated);
                    for j in 0..N {
                        sums.0[j] = m.add(sums.0[j], m.mul(rotated[j], b[d][j]));
                        sums.1[j] = m.add(sums.1[j], m.mul(rotated[j], a[d][j]));
                    }
                }
                if added {
                    phi.apply(before, &mut rotated);
                    (0..N).for_each(|j| sums.0[j] = m.add(sums.0[j], rotated[j]));
                }
            }
            sums
        }).collect();
        let packed = key_rows(&m, &keys);
        let (key_refs, bits) = (key_refs(&packed), key_width(&m));
        for k in available() {
            let autos: Vec<_> = (0..count).map(|i| Permutation::new(galois(i), N, k.width())).collect();
            let rows: Vec<_> =
                key_refs.iter().zip(&autos).map(|([b, a], g)| KeyRow { permutation: Some(g), bits, b, a }).collect();
            let mut out = vec![(vec![0; N], vec![0; N]); inputs];
            let all = refs(&xs);
            let input = |(digits, before)| ProductRow {
                digits,
                added_before: Some(before).filter(|_| added),
                added_after: None,
            };
            let inputs: Vec<_> = all.chunks(digits).zip(refs(&before)).map(input).collect();
            k.rotated_sum(&m, &inputs, &rows, &mut halves(&mut out));
            prop_assert_eq!(&out, &expected, "{}", k.name());
        }
    }
}
