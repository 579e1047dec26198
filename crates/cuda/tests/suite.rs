//! Every operation on the emulated card against the host, word for word: both arithmetics, primes of 20 to 61 bits, three orders of
//! threads, one input and three.

use super::case::{card, hard_numbers, of_numbers, of_rows, ring, runs, same, Words, CHAINS};
use aglet_cuda::ops::{Diagonals, Form, KeyProduct, MapInput};
use aglet_cuda::{Arithmetic, DevicePoly, DeviceRing, Error};
use aglet_ring::automorphism::{conjugation_exponent, rotation_exponent};
use aglet_ring::ops::KeyStream;
use aglet_ring::poly::{Coeff, Eval};
use aglet_ring::{Constant, Digits, Multiplier, Poly, Ring};
use aglet_testing::emu::Order;

/// The degrees of the transforms; a quick run leaves out the largest.
const DEGREES: std::ops::RangeInclusive<u32> = 9..=if cfg!(feature = "long") { 17 } else { 14 };
/// The degree of the other operations.
const LOG_N: u32 = if cfg!(feature = "long") { 16 } else { 10 };

fn uploaded(device: &DeviceRing<'_>, polys: &[Poly<Eval>]) -> Vec<DevicePoly<Eval>> {
    polys.iter().map(|x| device.upload(x).unwrap()).collect()
}
fn all<T>(list: &[T]) -> Vec<&T> {
    list.iter().collect()
}
fn equal(device: &DeviceRing<'_>, what: &str, found: &DevicePoly<Eval>, wanted: &Poly<Eval>) {
    same(what, &device.download(found).unwrap(), wanted);
}

/// Runs a test on a chain of primes, in both arithmetics, in every order of threads.
fn everywhere(log_n: u32, test: impl Fn(&Ring, &DeviceRing<'_>, &mut Words)) {
    for chain in CHAINS {
        let ring = ring(log_n, &chain, 5);
        for (order, wanted) in runs() {
            let device = DeviceRing::new(card(order), &ring, wanted).unwrap();
            test(&ring, &device, &mut Words::new());
        }
    }
}

#[test]
fn transforms_of_every_degree() {
    for log_n in DEGREES {
        // A prime of each arithmetic, of the largest size and, where there is one, of the smallest.
        let ring = ring(log_n, &[61, 50, 20.max(log_n + 5)], 1);
        for (order, wanted) in runs() {
            let (device, mut words) = (DeviceRing::new(card(order), &ring, wanted).unwrap(), Words::new());
            let x: Vec<Poly<Coeff>> = vec![words.poly(&ring, 2, 1), words.poly(&ring, 1, 0)];
            let there: Vec<_> = x.iter().map(|x| device.upload(x).unwrap()).collect();
            let values = device.to_eval(&all(&there)).unwrap();
            let back = device.to_coeff(&all(&values)).unwrap();
            for ((x, values), back) in x.into_iter().zip(&values).zip(&back) {
                same(&format!("to_coeff at 2^{log_n}"), &device.download(back).unwrap(), &x);
                equal(&device, &format!("to_eval at 2^{log_n}"), values, &ring.to_eval(x));
            }
        }
    }
}

#[test]
fn residues_of_integers() {
    everywhere(LOG_N, |ring, device, words| {
        let ends = [i64::MIN, i64::MAX, -1, 0, 1];
        let integers =
            |words: &mut Words| (0..ring.n()).map(|k| ends.get(k).copied().unwrap_or(words.next() as i64)).collect();
        let x: Vec<Vec<i64>> = (0..3).map(|_| integers(words)).collect();
        let found = device.lift(&x.iter().map(|x| &x[..]).collect::<Vec<_>>(), 14, 5).unwrap();
        for (x, found) in x.iter().zip(&found) {
            same("lift", &device.download(found).unwrap(), &ring.lift(x, ring.scratch(14, 5).unwrap()));
        }
    });
}

#[test]
fn forms() {
    everywhere(LOG_N, |ring, device, words| {
        let shape = (ring.q_count() - 1, 2);
        let x = words.polys(ring, 6, shape);
        let longer = words.polys(ring, 1, (shape.0 + 1, 3));
        let (there, longer_there) = (uploaded(device, &x), uploaded(device, &longer));
        let large = Multiplier::Constant(Constant { re: -(10i128.pow(37)), im: 10i128.pow(36) + 1 });
        let residues: Vec<u64> = (0..shape.0 as u64 + 2).map(|i| if i % 3 == 0 { 0 } else { 7 * i }).collect();
        for (count, factor) in [(0, None), (1, Some(large)), (5, None), (40, Some(Multiplier::integer(-1)))] {
            let places: Vec<_> = (0..count).map(|k| (1 + k as u32 % 3, k % 6, (k * k + 1) % 6, (k + 2) % 6)).collect();
            let own = (Multiplier::Residues(&residues), &longer[0]);
            let host = aglet_ring::Form {
                products: places.iter().map(|&(times, i, j, _)| (times, &x[i], &x[j])).collect(),
                terms: places.iter().map(|&(.., k)| (large, &x[k])).chain([own]).collect(),
                constant: large,
                factor,
            };
            let own = (Multiplier::Residues(&residues), &longer_there[0]);
            let form = Form {
                products: places.iter().map(|&(times, i, j, _)| (times, &there[i], &there[j])).collect(),
                terms: places.iter().map(|&(.., k)| (large, &there[k])).chain([own]).collect(),
                constant: large,
                factor,
            };
            let product = Form { products: vec![(1, &there[0], &longer_there[0])], ..Form::default() };
            let wanted = ring.forms(&[host, aglet_ring::Form::product(&x[0], &longer[0])], shape.0, shape.1).unwrap();
            let found = device.forms(&[form, product], shape.0, shape.1).unwrap();
            for (found, wanted) in found.iter().zip(&wanted) {
                equal(device, &format!("a form of {count} products"), found, wanted);
            }
        }
        for galois in [5, rotation_exponent(-3, ring.n()), conjugation_exponent(ring.n())] {
            let phi = ring.automorphism(galois);
            let images = device.permute(&all(&there[..3]), &phi).unwrap();
            for (x, image) in x.iter().zip(&images) {
                let mut wanted = ring.zero(x.q_limbs(), x.p_limbs()).unwrap();
                ring.permute(x, &phi, &mut wanted).unwrap();
                equal(device, "permute", image, &wanted);
            }
        }
    });
}

/// Polynomials that have the hard numbers of some primes at the limbs of these.
fn hard(ring: &Ring, inputs: usize, parts: &[Vec<usize>]) -> Vec<Poly<Eval>> {
    let value = |&i: &usize| ring.modulus(i).value();
    let numbers: Vec<_> =
        parts.iter().map(|own| hard_numbers(ring.n(), &own.iter().map(value).collect::<Vec<_>>())).collect();
    let input = |k: usize| {
        let mut rows: Vec<Option<Vec<u64>>> = vec![None; parts.iter().map(Vec::len).sum()];
        for (own, numbers) in parts.iter().zip(&numbers) {
            let mut numbers = numbers.clone();
            numbers.rotate_left(k);
            let part = of_numbers(ring, own, &numbers);
            own.iter().zip(part.host().unwrap().iter()).for_each(|(&i, row)| rows[i] = Some(row.to_vec()));
        }
        let rows: Vec<Vec<u64>> = rows.into_iter().map(|row| row.expect("the parts have all limbs")).collect();
        ring.to_eval(of_rows(ring, rows.len(), &rows))
    };
    (0..inputs).map(input).collect()
}

#[test]
fn digits_and_extensions() {
    let shapes: [(usize, usize, Vec<Vec<usize>>); 6] = [
        (14, 5, vec![(0..13).collect(), vec![13]]),
        (14, 5, vec![vec![0, 3, 5, 8, 11], vec![1, 2, 4, 7, 9, 10], vec![6, 12, 13]]),
        (13, 1, vec![(0..6).collect(), (6..9).collect(), (9..13).collect()]),
        (9, 2, vec![vec![1, 2, 4, 6, 7], vec![0, 3, 5, 8]]),
        (2, 3, vec![vec![0], vec![1]]),
        (1, 1, vec![vec![0]]),
    ];
    everywhere(LOG_N, |ring, device, _| {
        for (s, (limbs, p_limbs, shape)) in shapes.iter().enumerate() {
            let x = hard(ring, if s % 2 == 0 { 3 } else { 1 }, shape);
            let there = uploaded(device, &x);
            let found = device.digits(&all(&there), (*limbs, *p_limbs), shape).unwrap();
            let to: Vec<usize> = (0..limbs + p_limbs).map(|i| ring.prime_of(*limbs, i)).collect();
            for (x, digits) in x.iter().zip(&found) {
                assert_eq!(digits.len(), shape.len());
                for (own, digit) in shape.iter().zip(digits) {
                    let part: Vec<Vec<u64>> = own.iter().map(|&i| x.host().unwrap().row(i).to_vec()).collect();
                    let part = of_rows(ring, own.len(), &part);
                    let wanted = ring.extend(&part, own, &to).unwrap();
                    let found = device.download(digit).unwrap();
                    assert_eq!((found.q_limbs(), found.p_limbs()), (*limbs, *p_limbs));
                    for (i, (found, wanted)) in
                        found.host().unwrap().iter().zip(wanted.host().unwrap().iter()).enumerate()
                    {
                        assert!(found == wanted, "limb {i} of digit {own:?} of {limbs} limbs");
                    }
                }
            }
        }
        let low = hard(ring, 3, &[vec![0]]);
        let there = uploaded(device, &low);
        for (q_limbs, p_limbs) in [(14, 2), (5, 0), (1, 0)] {
            let wanted = ring.raise(&all(&low), q_limbs, p_limbs).unwrap();
            for (found, wanted) in device.raise(&all(&there), q_limbs, p_limbs).unwrap().iter().zip(&wanted) {
                equal(device, "raise", found, wanted);
            }
        }
    });
}

#[test]
fn divisions() {
    everywhere(LOG_N, |ring, device, words| {
        let of_shape = |q_limbs: usize, p_limbs: usize, drop: usize| {
            ((0..q_limbs + p_limbs).map(|i| ring.prime_of(q_limbs, i)).collect::<Vec<_>>(), q_limbs - drop, 0)
        };
        let mut plans = vec![of_shape(14, 5, 0), of_shape(14, 5, 1), of_shape(14, 0, 13), of_shape(14, 5, 8)];
        plans.extend([of_shape(1, 1, 0), of_shape(3, 0, 1), of_shape(7, 2, 3)]);
        // Primes that come, in and above the chain of the dividend, and a power of two.
        plans.extend([(vec![0, 5, 6, 7], 3, 0), (vec![0, 1, 8, 9, 13], 5, 3), (vec![0, 1, 2, 4], 3, 90)]);
        for (k, (primes, to, shift)) in plans.into_iter().enumerate() {
            let plan = ring.mod_switch(primes.clone(), to, shift).unwrap();
            // Numbers that are hard modulo the product of the primes that leave, and random ones modulo the others.
            let leaving: Vec<usize> = plan.leaving().iter().map(|leaving| leaving.prime).collect();
            let value = |&i: &usize| ring.modulus(i).value();
            let numbers = hard_numbers(ring.n(), &leaving.iter().map(value).collect::<Vec<_>>());
            let tail = of_numbers(ring, &leaving, &numbers);
            let mut dividend = |rotation: usize| {
                let rows = primes.iter().map(|&prime| {
                    let m = ring.modulus(prime);
                    let Some(l) = plan.leaving().iter().position(|leaving| leaving.prime == prime) else {
                        return (0..ring.n()).map(|_| words.next() % m.value()).collect();
                    };
                    // The kernels see these times the gain, which is what is hard.
                    let others: Vec<_> = leaving.iter().map(|&i| *ring.modulus(i)).collect();
                    let wants = m.inv(aglet_ring::basis::others(&others, l, m));
                    let by = m.mul(wants, m.inv(plan.leaving()[l].factor));
                    let mut row: Vec<u64> = tail.host().unwrap().row(l).iter().map(|&x| m.mul(x, by)).collect();
                    row.rotate_left(rotation);
                    row
                });
                let rows: Vec<Vec<u64>> = rows.collect();
                // Each limb is transformed on a ring that has its prime at that place.
                let p_limbs = primes.iter().filter(|&&p| p >= ring.q_count()).count();
                let q_limbs = primes.len() - p_limbs;
                let chain: Vec<u64> = primes.iter().map(value).collect();
                let own = Ring::new(ring.log_n(), &chain[..q_limbs], &chain[q_limbs..]).unwrap();
                own.to_eval(of_rows(&own, q_limbs, &rows))
            };
            let x: Vec<_> = (0..if k % 2 == 0 { 3 } else { 1 }).map(&mut dividend).collect();
            let there = uploaded(device, &x);
            let wanted = ring.divide(&all(&x), &plan).unwrap();
            for (found, wanted) in device.divide(&all(&there), &plan).unwrap().iter().zip(&wanted) {
                equal(device, &format!("division of {primes:?} to {to}"), found, wanted);
            }
        }
    });
}

#[test]
fn products_with_keys() {
    let pair = |device: &DeviceRing<'_>, what: &str, found: &(_, _), wanted: &(_, _)| {
        equal(device, &format!("{what}, b"), &found.0, &wanted.0);
        equal(device, &format!("{what}, a"), &found.1, &wanted.1);
    };
    everywhere(LOG_N, |ring, device, words| {
        let shape = (5, 2);
        for (count, inputs, galois) in [(1, 1, 1), (3, 3, 5), (17, 1, conjugation_exponent(ring.n()))] {
            let key = words.key(ring, count + 1, (7, 3));
            let (limbs, order): (Vec<usize>, Vec<usize>) = ((0..5).collect(), (1..=count).rev().collect());
            let x: Vec<_> = (0..inputs).map(|_| words.polys(ring, count, shape)).collect();
            let added = [words.polys(ring, 3, (5, 0)), words.polys(ring, 3, shape)];
            let there: Vec<_> = x.iter().map(|x| uploaded(device, x)).collect();
            let added_there: Vec<_> = added.iter().map(|added| uploaded(device, added)).collect();
            let key_there = device.upload_key(&key).unwrap().part(&limbs, &order);
            let digits: Vec<Digits> = x.into_iter().map(Digits::of).collect();
            let (key, phi) = (key.part(&limbs, &order), ring.automorphism(galois));
            let phi = (galois > 1).then_some(&*phi);
            for which in [None, Some(0), Some(1)] {
                let host = |digits| aglet_ring::KeyProduct {
                    digits,
                    added_before: which.map(|w| &added[w][0]),
                    added_after: which.map(|w| (&added[w][1], &added[w][2])),
                };
                let wanted = ring.key_products(&digits.iter().map(host).collect::<Vec<_>>(), &key, phi).unwrap();
                let there = there.iter().map(|digits| KeyProduct {
                    digits: &digits[..],
                    added_before: which.map(|w| &added_there[w][0]),
                    added_after: which.map(|w| (&added_there[w][1], &added_there[w][2])),
                });
                let there: Vec<_> = there.collect();
                let found = device.key_products(&there, &key_there, phi).unwrap();
                found.iter().zip(&wanted).for_each(|(found, wanted)| pair(device, "key_products", found, wanted));
            }
        }
        for (digits, count, inputs) in [(1, 1, 1), (1, 7, 3), (1, 40, 1), (2, 7, 2), (5, 3, 1)] {
            let shape = (4, 1);
            let keys: Vec<_> = (0..count).map(|_| words.key(ring, digits, shape)).collect();
            let phis: Vec<_> = (0..count).map(|k| ring.automorphism(rotation_exponent(3 * k, ring.n()))).collect();
            let keys_there: Vec<_> = keys.iter().map(|key| device.upload_key(key).unwrap()).collect();
            let x: Vec<_> = (0..inputs).map(|_| words.polys(ring, digits, shape)).collect();
            let there: Vec<_> = x.iter().map(|x| uploaded(device, x)).collect();
            let x: Vec<Digits> = x.into_iter().map(Digits::of).collect();
            let before = words.polys(ring, inputs, (4, 0));
            let before_there = uploaded(device, &before);
            let of: Vec<_> = keys.iter().zip(&phis).map(|(key, phi)| (key, &**phi)).collect();
            let of_there: Vec<_> = keys_there.iter().zip(&phis).map(|(key, phi)| (key, &**phi)).collect();
            for added in [false, true] {
                let here = x.iter().zip(&before).map(|(digits, before)| aglet_ring::KeyProduct {
                    digits,
                    added_before: Some(before).filter(|_| added),
                    added_after: None,
                });
                let away = there.iter().zip(&before_there).map(|(digits, before)| KeyProduct {
                    digits,
                    added_before: Some(before).filter(|_| added),
                    added_after: None,
                });
                let wanted = ring.rotated_sums(&here.collect::<Vec<_>>(), &of).unwrap();
                let found = device.rotated_sums(&away.collect::<Vec<_>>(), &of_there).unwrap();
                found.iter().zip(&wanted).for_each(|(found, wanted)| pair(device, "rotated_sums", found, wanted));
            }
            let x = words.polys(ring, keys.len(), shape);
            let found = device.key_sum(&uploaded(device, &x), &all(&keys_there)).unwrap();
            pair(device, "key_sum", &found, &ring.key_sum(&x, &all(&keys)).unwrap());
        }
    });
}

/// Maps of one and several giant steps with and without gaps, of diagonals of all lengths.
#[test]
fn linear_maps() {
    everywhere(LOG_N, |ring, device, words| {
        let (shape, n) = ((4, 2), ring.n());
        for (digits, babies, giants, inputs) in [(1, 1, 1, 1), (3, 5, 6, 3), (2, 18, 1, 1)] {
            let x: Vec<_> = (0..inputs).map(|_| words.polys(ring, digits, shape)).collect();
            let lifted: Vec<_> = (0..inputs).map(|_| words.polys(ring, 2, (shape.0, 0))).collect();
            let keys: Vec<_> = (0..babies).map(|_| words.key(ring, digits, shape)).collect();
            let phis: Vec<_> = (0..babies).map(|k| ring.automorphism(rotation_exponent(k as isize, n))).collect();
            let (mut entries, mut entries_there) = (Vec::new(), Vec::new());
            for k in 0..giants * babies {
                let len = [1, 2, 16, n][k % 4];
                let small: Vec<i64> = (0..len).map(|_| words.next() as i64 >> (k % 40)).collect();
                let there = k == 0 || k % 5 != 3;
                entries_there.push(there.then(|| device.diagonal(&small, shape).unwrap()));
                entries.push(there.then_some(small));
            }
            let there: Vec<_> = x.iter().map(|x| uploaded(device, x)).collect();
            let lifted_there: Vec<_> = lifted.iter().map(|x| uploaded(device, x)).collect();
            let keys_there: Vec<_> = keys.iter().map(|key| device.upload_key(key).unwrap()).collect();
            let x: Vec<_> = x.into_iter().map(Digits::of).collect();
            // The first is the unrotated pair.
            let of: Vec<_> = (0..babies).map(|k| (k > 0).then(|| (&keys[k], &*phis[k]))).collect();
            let of_there: Vec<_> = (0..babies).map(|k| (k > 0).then(|| (&keys_there[k], &*phis[k]))).collect();
            let input = |k: usize| aglet_ring::ops::MapInput { digits: &x[k], lifted: (&lifted[k][0], &lifted[k][1]) };
            let inputs_host: Vec<_> = (0..inputs).map(input).collect();
            let input = |k: usize| MapInput { digits: &there[k], lifted: (&lifted_there[k][0], &lifted_there[k][1]) };
            let inputs_there: Vec<_> = (0..inputs).map(input).collect();
            let lengths: Vec<_> = entries.iter().map(|small| small.as_ref().map(Vec::len)).collect();
            let small = |k: usize| Ok::<_, aglet_ring::Error>(entries[k].clone().unwrap_or_default());
            let map = ring.diagonals(babies, &lengths, shape, small).unwrap();
            let map_there = Diagonals::new(babies, entries_there);
            for steps in [0..1, 1..giants] {
                let wanted = ring.linear_map(&inputs_host, &of, &map, steps.clone()).unwrap();
                let found = device.linear_map(&inputs_there, &of_there, &map_there, steps).unwrap();
                assert_eq!(found.len(), wanted.len());
                for (found, wanted) in found.iter().flatten().zip(wanted.iter().flatten()) {
                    equal(device, "linear_map, b", &found.0, &wanted.0);
                    equal(device, "linear_map, a", &found.1, &wanted.1);
                }
            }
        }
    });
}

/// Sums with packed keys, of residues of every width.
#[test]
fn streams() {
    // Streams on the host have primes of 50 bits or less.
    let ring = ring(LOG_N, &[50, 48, 46, 44, 40, 32, 28, 24, 22, 50, 41], 2);
    for (order, wanted) in runs() {
        let (device, mut words, shape) = (DeviceRing::new(card(order), &ring, wanted).unwrap(), Words::new(), (9, 2));
        let phis = [0, 1, 5, -3, 100].map(|k| ring.automorphism(rotation_exponent(k, ring.n())));
        let phis: Vec<_> = phis.iter().map(|phi| &**phi).collect();
        let inputs: Vec<_> = (0..3).map(|_| words.polys(&ring, 3, shape)).collect();
        let there: Vec<_> = inputs.iter().map(|x| uploaded(&device, x)).collect();
        let digits: Vec<Digits> = inputs.into_iter().map(Digits::of).collect();
        let [b, a] = [0, 1].map(|_| words.polys(&ring, 15, shape));
        let key = KeyStream::new(&ring, &[&b, &a]).unwrap();
        let wanted = ring.stream_sums(&digits.iter().map(|x| vec![x]).collect::<Vec<_>>(), &key, &phis).unwrap();
        let lists: Vec<Vec<_>> = there.iter().map(|x| all(x)).collect();
        let found = device.stream_sums(&lists, &device.upload_stream(&key).unwrap(), &phis).unwrap();
        for (found, wanted) in found.iter().zip(&wanted) {
            equal(&device, "stream_sums, b", &found.0, &wanted.0);
            equal(&device, "stream_sums, a", &found.1, &wanted.1);
        }
        let pairs: Vec<[Vec<_>; 2]> = (0..2).map(|_| [0, 1].map(|_| words.polys(&ring, 14, (9, 0)))).collect();
        let there: Vec<[Vec<_>; 2]> = pairs.iter().map(|[x, y]| [uploaded(&device, x), uploaded(&device, y)]).collect();
        let maps: Vec<_> = (0..3).map(|_| words.polys(&ring, 14, (9, 0))).collect();
        let streams: Vec<_> = maps.iter().map(|map| KeyStream::new(&ring, &[map]).unwrap()).collect();
        let streams_there: Vec<_> = streams.iter().map(|stream| device.upload_stream(stream).unwrap()).collect();
        let wanted = ring.stream_products(&pairs, &streams).unwrap();
        let found = device.stream_products(&there, &streams_there.iter().collect::<Vec<_>>()).unwrap();
        for (found, wanted) in found.iter().flatten().zip(wanted.iter().flatten()) {
            equal(&device, "stream_products, first", &found.0, &wanted[0]);
            equal(&device, "stream_products, second", &found.1, &wanted[1]);
        }
    }
}

#[test]
fn what_a_device_refuses() {
    let small = ring(8, &[40], 0);
    let refused = DeviceRing::new(card(Order::Forward), &small, Arithmetic::F50);
    assert!(matches!(refused.err(), Some(Error::Degree { log_n: 8 })));
    let ring = ring(10, &[40], 0);
    let device = DeviceRing::new(card(Order::Forward), &ring, Arithmetic::F50).unwrap();
    let secret: Poly<Eval> = ring.secret_scratch(1, 0).unwrap();
    assert!(matches!(device.upload(&secret).err(), Some(Error::Secret)));
}
