//! Small transforms, blocks of blind rotations and sums of products against exact integers, on every backend.

use super::*;
use crate::arch;
use crate::blind::{self, Gadget};
use crate::packed::{KeyShape, PackedKey};
use proptest::prelude::*;

/// The primes of the gates and of larger tables, and the largest and the smallest that lanes treat alike.
const QS: [u64; 6] =
    [1_099_469_684_737, 281_474_846_687_233, 140_737_488_273_409, 140_737_488_486_401, 281_474_976_694_273, 7_340_033];

fn inputs(q: u64, n: usize, seed: u64) -> Vec<u64> {
    let mut x = seed | 1;
    (0..n)
        .map(|i| {
            x ^= x << 13;
            x ^= x >> 7;
            x ^= x << 17;
            match (seed % 6, i % 3) {
                (0, _) => q - 1,
                (1, 0) => q / 2,
                (1, 1) => q / 2 + 1,
                (2, _) => (q - 1) * (i as u64 % 2),
                _ => x % q,
            }
        })
        .collect()
}

fn moduli(log_n: u32) -> Vec<Modulus> {
    QS.iter().filter(|&&q| (q - 1) % (2 << log_n) == 0).map(|&q| Modulus::new(q).unwrap()).collect()
}

/// `a b` modulo `X^N + 1`, by definition.
fn product(m: &Modulus, a: &[u64], b: &[u64]) -> Vec<u64> {
    let n = a.len();
    let mut out = vec![0; n];
    for (i, &x) in a.iter().enumerate().filter(|(_, &x)| x != 0) {
        for (j, &y) in b.iter().enumerate() {
            let (k, p) = ((i + j) % n, m.mul(x, y));
            out[k] = if i + j < n { m.add(out[k], p) } else { m.sub(out[k], p) };
        }
    }
    out
}

/// `X^e a`.
fn rotated(m: &Modulus, a: &[u64], e: usize) -> Vec<u64> {
    let n = a.len();
    (0..n)
        .map(|i| {
            let from = (i + 2 * n - e) % (2 * n);
            if from < n {
                a[from]
            } else {
                m.neg(a[from - n])
            }
        })
        .collect()
}

#[test]
fn the_primes_are_those_of_the_design() {
    assert!(QS.iter().all(|&q| crate::primes::is_prime(q)));
    assert_eq!((moduli(12).len(), (QS[0] - 1) % (1 << 21), (QS[1] - 1) % (1 << 22)), (6, 0, 0));
}

#[test]
fn products_of_values_are_negacyclic_products() {
    for log_n in 6..=12 {
        for m in moduli(log_n) {
            let n = 1usize << log_n;
            let sparse: Vec<u64> = (0..n).map(|i| if i % 37 == 5 { m.value() - 1 - i as u64 } else { 0 }).collect();
            for seed in [0, 1, 2, 77] {
                let (a, start) = (inputs(m.value(), n, seed), inputs(m.value(), n, seed + 4));
                let expected: Vec<u64> =
                    product(&m, &sparse, &a).iter().zip(&start).map(|(&x, &y)| m.add(x, y)).collect();
                for k in arch::available() {
                    let t = SmallTable::new(m, log_n, k).unwrap();
                    let (mut x, mut y, mut sum) = (a.clone(), sparse.clone(), start.clone());
                    t.forward(&mut x);
                    t.forward(&mut y);
                    x.iter_mut().zip(&y).for_each(|(x, &y)| *x = m.mul(*x, y));
                    t.inverse_add(&mut x, &mut sum);
                    assert!(sum == expected, "{} {log_n} {}", k.name(), m.value());
                }
            }
        }
    }
}

#[test]
fn degrees_and_moduli_that_are_not_served_are_refused() {
    let (m, k) = (moduli(12)[0], arch::chosen().unwrap());
    assert!(SmallTable::new(m, 5, k).is_err() && SmallTable::new(m, 13, k).is_err());
    assert!(SmallTable::new(Modulus::new((1 << 50) - 27).unwrap(), 9, k).is_err());
    assert!(SmallTable::new(Modulus::new(65537).unwrap(), 12, k).is_ok());
    assert!(SmallTable::new(Modulus::new(17).unwrap(), 6, k).is_err());
}

/// The digits of a column by definition, the top one first.
fn digits(m: &Modulus, g: Gadget, column: &[u64]) -> Vec<Vec<u64>> {
    let (q, base) = (i128::from(m.value()), 1i128 << g.log_base);
    let mut digits = vec![vec![0u64; column.len()]; g.levels];
    for (i, &x) in column.iter().enumerate() {
        // The nearest integer; ties and what doubles round otherwise do not occur in these inputs.
        let scaled = 2 * i128::from(m.centre(x)) * base.pow(g.levels as u32) + q;
        let mut y = scaled.div_euclid(2 * q);
        for level in (0..g.levels).rev() {
            // Half of the base goes to even quotients, as doubles round.
            let mut r = (y + base / 2).div_euclid(base);
            if (y + base / 2).rem_euclid(base) == 0 && r % 2 != 0 {
                r -= 1;
            }
            let digit = if level == 0 { y } else { y - r * base };
            digits[level][i] = m.reduce_i128(digit);
            y = r;
        }
    }
    digits
}

/// `out += row x sample` for the columns of a sample.
fn add_product(m: &Modulus, row: &[u64], sample: &[Vec<u64>], out: &mut [u64]) {
    for (column, key) in out.chunks_mut(row.len()).zip(sample) {
        column.iter_mut().zip(product(m, row, key)).for_each(|(o, p)| *o = m.add(*o, p));
    }
}

/// A block by definition: exact digits, exact products.
fn block(m: &Modulus, g: Gadget, keys: &[Vec<Vec<u64>>], exponents: &[u16], acc: &[u64], n: usize) -> Vec<u64> {
    let columns = acc.len() / n;
    let mut out = acc.to_vec();
    for (r, column) in acc.chunks(n).enumerate() {
        let digits = digits(m, g, column);
        for (j, &e) in exponents.iter().enumerate() {
            for (level, digit) in digits.iter().enumerate() {
                let turned = rotated(m, digit, usize::from(e));
                let row: Vec<u64> = turned.iter().zip(digit).map(|(&x, &y)| m.sub(x, y)).collect();
                add_product(m, &row, &keys[j][(r * g.levels + level) * columns..][..columns], &mut out);
            }
        }
    }
    out
}

/// An external product of the first `rows` columns by definition.
fn external(m: &Modulus, g: Gadget, key: &[Vec<u64>], rows: usize, acc: &[u64], n: usize) -> Vec<u64> {
    let columns = acc.len() / n;
    let mut out = acc.to_vec();
    out[..rows * n].fill(0);
    for (r, column) in acc.chunks(n).enumerate().take(rows) {
        for (level, digit) in digits(m, g, column).iter().enumerate() {
            add_product(m, digit, &key[(r * g.levels + level) * columns..][..columns], &mut out);
        }
    }
    out
}

fn packed(t: &SmallTable, shape: KeyShape, keys: &[Vec<Vec<u64>>]) -> PackedKey {
    let mut key = PackedKey::zeros(t, shape).unwrap();
    for (j, samples) in keys.iter().enumerate() {
        for row in 0..shape.rows {
            for level in 0..shape.levels {
                let mut values = Vec::new();
                for c in 0..shape.columns {
                    let mut x = samples[(row * shape.levels + level) * shape.columns + c].clone();
                    t.forward(&mut x);
                    values.extend(x);
                }
                key.write(t, [1, j, row, level], &values);
            }
        }
    }
    key
}

#[test]
fn blocks_are_external_products_on_every_backend() {
    // Log N, columns, levels, log base, keys: the shapes of the sets, at the ends of what an accumulator takes.
    let shapes =
        [(9, 4, 1, 16, 4), (9, 4, 1, 17, 1), (10, 3, 1, 18, 4), (6, 3, 1, 18, 5), (7, 2, 1, 22, 8), (8, 2, 2, 15, 4)];
    for (log_n, columns, levels, log_base, count) in shapes {
        let n = 1usize << log_n;
        for (i, m) in moduli(log_n).into_iter().take(5).enumerate() {
            let (q, g) = (m.value(), Gadget { levels, log_base });
            for seed in if n <= 256 { [0u64, 1, 9].as_slice() } else { &[9] } {
                let polynomial = |k: usize| inputs(q, n, seed + 6 * (k as u64 * 7 + i as u64));
                let keys: Vec<Vec<Vec<u64>>> = (0..count)
                    .map(|j| (0..columns * columns * levels).map(|k| polynomial(100 * j + k)).collect())
                    .collect();
                let acc: Vec<u64> = (0..columns).flat_map(|c| polynomial(1000 + c)).collect();
                let exponents: Vec<u16> =
                    (0..count).map(|j| [2 * n - 1, n, 0, 1, 77][j % 5] as u16 % (2 * n) as u16).collect();
                let expected = block(&m, g, &keys, &exponents, &acc, n);
                let shape = KeyShape { blocks: 3, keys: count, rows: columns, levels, columns };
                for k in arch::available() {
                    let t = SmallTable::new(m, log_n, k).unwrap();
                    let key = packed(&t, shape, &keys);
                    let mut scratch = Words::zeros(blind::scratch_words(&t, columns, g));
                    let mut found = acc.clone();
                    blind::blind_block(&t, &key, 1, g, [(&exponents, &mut found[..])], &mut scratch);
                    assert!(found == expected, "{} {log_n} {q} seed {seed}", k.name());
                    // The same with the keys as one, for two accumulators.
                    let (mut found, mut other) = (acc.clone(), acc.clone());
                    let mut merged = blind::SharedBlock::merged(&t, &key);
                    let accs = [&mut found[..], &mut other[..]];
                    merged.merge(&t, (&key, 1), g, &exponents, accs, &mut scratch);
                    assert!(found == expected && other == expected, "{} {log_n} {q} seed {seed}", k.name());
                }
            }
        }
    }
}

#[test]
fn accumulators_of_a_batch_are_those_of_single_blocks() {
    for (log_n, columns, levels, log_base, count) in [(9, 4, 1, 16, 4), (10, 3, 1, 18, 4), (7, 2, 2, 11, 3)] {
        let n = 1usize << log_n;
        for m in moduli(log_n).into_iter().take(2) {
            let (q, g) = (m.value(), Gadget { levels, log_base });
            let keys: Vec<Vec<Vec<u64>>> = (0..count)
                .map(|j| (0..columns * columns * levels).map(|k| inputs(q, n, 9 + 6 * (100 * j + k) as u64)).collect())
                .collect();
            let shape = KeyShape { blocks: 3, keys: count, rows: columns, levels, columns };
            for k in arch::available() {
                let t = SmallTable::new(m, log_n, k).unwrap();
                let key = packed(&t, shape, &keys);
                let mut scratch = Words::zeros(blind::scratch_words(&t, columns, g));
                // As many as share a key, one more, and groups of several sizes.
                for batch in [2usize, 8, 9, 19] {
                    let exponents: Vec<Vec<u16>> =
                        (0..batch).map(|i| (0..count).map(|j| ((i * j * 77) % (2 * n)) as u16).collect()).collect();
                    let accs: Vec<Vec<u64>> = (0..batch).map(|i| inputs(q, columns * n, 1009 + 6 * i as u64)).collect();
                    let mut found = accs.clone();
                    let pairs = exponents.iter().zip(found.iter_mut().map(|acc| &mut acc[..]));
                    let pairs: Vec<_> = pairs.collect();
                    blind::blind_block(&t, &key, 1, g, pairs, &mut scratch);
                    for ((e, mut acc), found) in exponents.iter().zip(accs).zip(&found) {
                        blind::blind_block(&t, &key, 1, g, [(e, &mut acc[..])], &mut scratch);
                        assert!(*found == acc, "{} {log_n} {q} {batch}", k.name());
                    }
                }
            }
        }
    }
}

#[test]
fn packed_keys_give_back_what_was_written() {
    for m in moduli(6) {
        let shape = KeyShape { blocks: 2, keys: 1, rows: 1, levels: 1, columns: 3 };
        let values = [0, 1, m.value() / 2, m.value() / 2 + 1, m.value() - 1];
        let values: Vec<u64> = values.into_iter().chain(inputs(m.value(), 3 * 64 - 5, 9)).collect();
        for k in arch::available() {
            let t = SmallTable::new(m, 6, k).unwrap();
            let (mut key, mut out) = (PackedKey::zeros(&t, shape).unwrap(), vec![0; 64]);
            key.write(&t, [1, 0, 0, 0], &values);
            for (column, own) in values.chunks(64).enumerate() {
                key.read(&t, [1, 0, 0, 0], column, &mut out);
                assert!(out == own, "{} {}", k.name(), m.value());
            }
        }
    }
}

#[test]
fn external_products_replace_columns_on_every_backend() {
    // Log N, columns, of which are cut into digits, levels, log base: whole products, and key switches that leave the body.
    let shapes = [
        (9, 4, 4, 1, 19),
        (10, 3, 3, 1, 19),
        (10, 3, 2, 1, 19),
        (7, 2, 1, 2, 15),
        (6, 4, 3, 2, 9),
        (6, 2, 2, 7, 3),
        (7, 1, 1, 10, 2),
    ];
    for (log_n, columns, rows, levels, log_base) in shapes {
        let n = 1usize << log_n;
        let small = Modulus::new(995_329).unwrap();
        for (i, m) in moduli(log_n).into_iter().take(5).chain([small]).enumerate() {
            let (q, g) = (m.value(), Gadget { levels, log_base });
            for seed in if n <= 256 { [0u64, 1, 9].as_slice() } else { &[9] } {
                let polynomial = |k: usize| inputs(q, n, seed + 6 * (k as u64 * 7 + i as u64));
                let samples: Vec<Vec<u64>> = (0..rows * columns * levels).map(polynomial).collect();
                let acc: Vec<u64> = (0..columns).flat_map(|c| polynomial(1000 + c)).collect();
                let expected = external(&m, g, &samples, rows, &acc, n);
                let shape = KeyShape { blocks: 2, keys: 1, rows, levels, columns };
                for k in arch::available() {
                    let t = SmallTable::new(m, log_n, k).unwrap();
                    let key = packed(&t, shape, std::slice::from_ref(&samples));
                    let mut scratch = Words::zeros(blind::scratch_words(&t, columns, g));
                    let mut found = acc.clone();
                    blind::external_product(&t, &key, 1, Some(0), g, &mut found, &mut scratch);
                    assert!(found == expected, "{} {log_n} {q} seed {seed}", k.name());
                }
            }
        }
    }
}

#[test]
fn automorphisms_of_coefficients_take_powers_to_powers() {
    let (m, n) = (moduli(6)[0], 64);
    let a = inputs(m.value(), n, 77);
    for galois in [1, 5, 127, 123] {
        let mut found = vec![0; n];
        blind::automorphism(&m, &a, galois, &mut found);
        let mut expected = vec![0; n];
        for (i, &x) in a.iter().enumerate() {
            let one: Vec<u64> = (0..n).map(|j| u64::from(j == 0)).collect();
            let power = rotated(&m, &one, i * galois % (2 * n));
            expected.iter_mut().zip(&power).for_each(|(e, &p)| *e = m.add(*e, m.mul(x, p)));
        }
        assert_eq!(found, expected, "{galois}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn sums_with_small_weights_are_exact(i in 0..6usize, terms in 1usize..1300, count in 0usize..20, seed: u64) {
        let (m, n) = (moduli(6)[i], 64);
        let words = inputs(m.value(), terms * n, seed);
        let rows: Vec<&[u64]> = words.chunks(n).collect();
        let small = |at: usize| if seed.is_multiple_of(6) { 15 } else { (seed >> (at % 61)) as u8 % 16 };
        let weights: Vec<Vec<u8>> = (0..count).map(|r| (0..terms).map(|t| small(17 * r + t)).collect()).collect();
        let sum = |own: &Vec<u8>, at: usize| -> u64 {
            let all = rows.iter().zip(own).map(|(row, &w)| u128::from(row[at]) * u128::from(w));
            (all.sum::<u128>() % u128::from(m.value())) as u64
        };
        let mut expected: Vec<u64> = weights.iter().flat_map(|own| (0..n).map(move |at| sum(own, at))).collect();
        expected.resize(count.next_multiple_of(8) * n, 0);
        for k in arch::available() {
            let t = SmallTable::new(m, 6, k).unwrap();
            prop_assert!(blind::Selection::of(&rows).sums(&t, &weights)[..] == expected, "{}", k.name());
        }
    }

    #[test]
    fn sums_and_differences_are_exact(i in 0..6usize, seed: u64) {
        let (m, n) = (moduli(6)[i], 64);
        let words = inputs(m.value(), 2 * n, seed);
        let (x, y) = words.split_at(n);
        let pairs = || x.iter().zip(y);
        let sums: Vec<u64> = pairs().map(|(&x, &y)| m.add(x, y)).collect();
        let differences: Vec<u64> = pairs().map(|(&x, &y)| m.sub(x, y)).collect();
        for k in arch::available() {
            let (t, mut x, mut y) = (SmallTable::new(m, 6, k).unwrap(), x.to_vec(), y.to_vec());
            blind::sum_difference(&t, &mut x, &mut y);
            prop_assert!((&x, &y) == (&sums, &differences), "{}", k.name());
        }
    }

    #[test]
    fn sums_of_products_are_exact(i in 0..6usize, rows in 1usize..40, columns in 4usize..10, seed: u64) {
        let (log_n, m) = (6, moduli(6)[i]);
        let n = 1usize << log_n;
        let shape = KeyShape { blocks: 1, keys: 1, rows: 1, levels: rows, columns };
        let digits = inputs(m.value(), rows * n, seed);
        let keys = inputs(m.value(), rows * columns * n, seed / 6);
        let expected: Vec<u64> = (0..columns * n)
            .map(|i| (0..rows).fold(0, |s, r| m.add(s, m.mul(digits[r * n + i % n], keys[r * columns * n + i]))))
            .collect();
        for k in arch::available() {
            let t = SmallTable::new(m, log_n, k).unwrap();
            let mut key = PackedKey::zeros(&t, shape).unwrap();
            for (r, values) in keys.chunks(columns * n).enumerate() {
                key.write(&t, [0, 0, 0, r], values);
            }
            let mut out = vec![0; columns * n];
            blind::product_sum(&t, &key, &digits, &mut out);
            prop_assert!(out == expected, "{}", k.name());
        }
    }
}
