//! The suite of macro-operations: every operation against exact integers, on every backend and on chains with primes that it
//! does not serve. A backend is right if [`suite`] passes on it and gives the same words as on the others.
//!
//! Random numbers do not see a quotient that is rounded otherwise (fused, or in another order): the columns of conversions are
//! crafted within 2^-40 to 2^-64 Q of +-Q/2, where the last bit of a sum of doubles decides.

use super::*;
use crate::arch::{self, Kernels};
use crate::automorphism::{conjugation_exponent, rotation_exponent};
use crate::modulus::Modulus;
use crate::poly::Coeff;
use crate::primes::ntt_primes;
use crate::Ring;
use aglet_testing::exact::{residue, BigInt};
use num_complex::Complex64;
use std::collections::BTreeMap;

#[path = "divisions.rs"]
mod divisions;
#[path = "maps.rs"]
mod maps;
#[path = "relinearized.rs"]
mod relinearized;

use divisions::{digits, divisions};
use maps::{linear_maps, public_maps};
use relinearized::relinearized;

const LOG_N: u32 = 7;
const N: usize = 1 << LOG_N;

/// Primes of these sizes, all different.
fn primes(bits: &[u32]) -> Vec<u64> {
    bits.iter().fold(Vec::new(), |mut all, &bits| {
        let top = 1u64 << bits;
        all.extend(ntt_primes(top as f64, LOG_N, &all.clone(), top).next());
        all
    })
}

/// A chain that all kernels serve, and one of which vectors serve about half.
fn chains() -> [(Vec<u64>, Vec<u64>); 2] {
    let narrow = primes(&[47, 36, 40, 40, 40, 49, 50, 50, 50, 50, 50, 50, 48, 47, 50, 50, 50, 50, 33]);
    let mixed = primes(&[52, 36, 40, 58, 40, 61, 50, 50, 58, 50, 48, 55, 47, 40, 60, 50, 60, 49, 61]);
    [narrow, mixed].map(|p| (p[..14].to_vec(), p[14..].to_vec()))
}

/// What makes the inputs, and keeps the outputs.
struct Case<'a> {
    ring: &'a Ring,
    seed: u64,
    seen: Vec<u64>,
}

impl Case<'_> {
    fn next(&mut self) -> u64 {
        self.seed ^= self.seed << 13;
        self.seed ^= self.seed >> 7;
        self.seed ^= self.seed << 17;
        self.seed
    }
    fn modulus(&self, x: &Poly<Eval>, i: usize) -> Modulus {
        *self.ring.modulus(self.ring.prime_of(x.q_limbs(), i))
    }
    /// Words that are random, at the ends of their range or next to its middle.
    fn poly(&mut self, q_limbs: usize, p_limbs: usize) -> Poly<Eval> {
        let mut x: Poly<Eval> = self.ring.zero(q_limbs, p_limbs).unwrap();
        for i in 0..q_limbs + p_limbs {
            let q = self.modulus(&x, i).value();
            for at in 0..N {
                let word = self.next();
                x.limb_mut(i)[at] = [word % q, q - 1, 0, q / 2, q / 2 + 1, word % q][(word >> 60) as usize % 6];
            }
        }
        x
    }
    fn polys(&mut self, count: usize, q_limbs: usize, p_limbs: usize) -> Vec<Poly<Eval>> {
        (0..count).map(|_| self.poly(q_limbs, p_limbs)).collect()
    }
    fn key(&mut self, digits: usize, q_limbs: usize, p_limbs: usize) -> KeyBlock {
        let [b, a] = [0, 1].map(|_| self.polys(digits, q_limbs, p_limbs));
        self.ring.key_block(&b, &a).unwrap()
    }
    /// Compares a result with what it should be, limb by limb and word by word.
    fn is(&mut self, name: &str, found: &Poly<Eval>, expected: impl Fn(usize, &Modulus, usize) -> u64) {
        for i in 0..found.limbs() {
            let m = self.modulus(found, i);
            for (at, &word) in found.limb(i).iter().enumerate() {
                assert_eq!(word, expected(i, &m, at), "{name}: limb {i} ({} bits), word {at}", m.bits());
            }
            self.seen.extend(found.limb(i));
        }
    }
}

/// The polynomials of a key as they were packed.
fn unpacked(key: &KeyBlock) -> [Vec<Poly<Eval>>; 2] {
    key.halves().map(|half| half.iter().map(|p| p.unpacked().unwrap()).collect())
}

/// Where the image of an automorphism takes its value at a position from: the definition.
fn source(galois: u64, at: usize) -> usize {
    let brv = |i: usize| i.reverse_bits() >> (usize::BITS - LOG_N);
    let exponent = (2 * brv(at) + 1) * galois as usize % (2 * N);
    brv(exponent / 2)
}

fn transforms(case: &mut Case<'_>) {
    let ring = case.ring;
    let x = case.poly(ring.q_count(), ring.p_count());
    let mut coefficients: Poly<Coeff> = ring.scratch(x.q_limbs(), x.p_limbs()).unwrap();
    (0..x.limbs()).for_each(|i| coefficients.limb_mut(i).copy_from_slice(x.limb(i)));
    let values = ring.to_eval(coefficients);
    case.is("to_eval", &values, |i, m, at| {
        let brv = at.reverse_bits() >> (usize::BITS - LOG_N);
        let point = m.pow(ring.table(ring.prime_of(x.q_limbs(), i)).psi(), 2 * brv as u64 + 1);
        x.limb(i).iter().rev().fold(0, |sum, &c| m.add(m.mul(sum, point), c))
    });
    let back = ring.to_coeff(values).unwrap();
    assert!((0..x.limbs()).all(|i| back.limb(i) == x.limb(i)), "to_coeff");
    for gap in [1, 2, 16, N] {
        let whole: Vec<i64> =
            (0..N).map(|at| if at % gap == 0 { (case.next() >> 20) as i64 - (1 << 43) } else { 0 }).collect();
        let found = ring.public_values(&whole, ring.scratch(3, 1).unwrap());
        let wanted = ring.to_eval(ring.lift(&whole, ring.scratch(3, 1).unwrap()));
        case.is("public values", &found, |i, _, at| wanted.limb(i)[at]);
    }
    for galois in [5, rotation_exponent(-3, N), conjugation_exponent(N)] {
        let mut out = ring.zero(3, 1).unwrap();
        ring.permute(&x, &ring.automorphism(galois), &mut out).unwrap();
        case.is("permute", &out, |i, _, at| x.limb_like(3, i)[source(galois, at)]);
    }
}

fn forms(case: &mut Case<'_>) {
    let (ring, q_limbs) = (case.ring, case.ring.q_count() - 1);
    let x = case.polys(6, q_limbs, 2);
    let longer = case.poly(q_limbs + 1, 3);
    let mut monomial = vec![0; N];
    monomial[N / 2] = 1;
    let i_values = ring.to_eval(ring.lift(&monomial, ring.scratch(q_limbs, 2).unwrap()));
    let large = Constant { re: -(10i128.pow(37)), im: 10i128.pow(36) + 1 };
    let residues: Vec<u64> = (0..q_limbs as u64 + 2).map(|i| if i % 3 == 0 { 0 } else { 7 * i }).collect();
    let constant = |c: Constant, i: usize, m: &Modulus, at: usize| {
        m.add(m.reduce_i128(c.re), m.mul(m.reduce_i128(c.im), i_values.limb(i)[at]))
    };
    for (count, factor) in [(0, None), (1, Some(large)), (5, None), (40, Some(Constant::integer(-1)))] {
        let products: Vec<_> = (0..count).map(|k| (1 + k as u32 % 3, &x[k % 6], &x[(k * k + 1) % 6])).collect();
        let terms = (0..count).map(|k| (Multiplier::Constant(large), &x[(k + 2) % 6]));
        let terms: Vec<_> = terms.chain([(Multiplier::Residues(&residues), &longer)]).collect();
        let factor = factor.map(Multiplier::Constant);
        let form = Form { products: products.clone(), terms, constant: Multiplier::Constant(large), factor };
        let out = ring.forms(&[form, Form::product(&x[0], &longer)], q_limbs, 2).unwrap();
        case.is("forms", &out[0], |i, m, at| {
            let like = |x: &Poly<Eval>| x.limb_like(q_limbs, i)[at];
            let mut sum = constant(large, i, m, at);
            for (times, x, y) in &products {
                sum = m.add(sum, m.mul(u64::from(*times), m.mul(like(x), like(y))));
            }
            for k in 0..count {
                sum = m.add(sum, m.mul(constant(large, i, m, at), like(&x[(k + 2) % 6])));
            }
            sum = m.add(sum, m.mul(residues[i], like(&longer)));
            match factor {
                Some(Multiplier::Constant(c)) => m.mul(sum, constant(c, i, m, at)),
                _ => sum,
            }
        });
        case.is("product", &out[1], |i, m, at| m.mul(x[0].limb(i)[at], longer.limb_like(q_limbs, i)[at]));
    }
}

fn copy(x: &Poly<Eval>) -> Poly<Eval> {
    let mut copy = Poly::lasting(x.n(), x.q_limbs(), x.p_limbs()).unwrap();
    (0..x.limbs()).for_each(|i| copy.limb_mut(i).copy_from_slice(x.limb(i)));
    copy
}

/// Several digits of several inputs, all of one shape.
struct Inputs {
    polys: Vec<Vec<Poly<Eval>>>,
    digits: Vec<Digits>,
}

impl Inputs {
    fn new(case: &mut Case<'_>, inputs: usize, digits: usize, (q_limbs, p_limbs): (usize, usize)) -> Self {
        let polys: Vec<_> = (0..inputs).map(|_| case.polys(digits, q_limbs, p_limbs)).collect();
        let digits = polys.iter().map(|x| Digits::of(x.iter().map(copy).collect())).collect();
        Self { polys, digits }
    }

    /// `sum_d phi(digit_d) half_d` of one input at one word of a limb, `half_d(i)` the limb of the key.
    fn product<'a>(
        &self,
        m: &Modulus,
        input: usize,
        half: impl Fn(usize) -> &'a [u64],
        galois: u64,
        (i, at): (usize, usize),
    ) -> u64 {
        let pairs = self.polys[input].iter().enumerate();
        pairs.fold(0, |sum, (d, x)| m.add(sum, m.mul(x.limb(i)[source(galois, at)], half(d)[at])))
    }
}

/// A word of what is added, which vanishes at limbs that it does not have.
fn word(x: Option<&Poly<Eval>>, i: usize, at: usize) -> u64 {
    x.filter(|x| i < x.limbs()).map_or(0, |x| x.limb(i)[at])
}

/// Whole keys at the ends of the range, and parts of keys in another order, whose words are canonical modulo every prime.
fn key_products(case: &mut Case<'_>) {
    let (ring, q_limbs, p_limbs) = (case.ring, 5, 2);
    for (count, inputs, galois, part) in
        [(1, 1, 1, false), (3, 2, 5, false), (17, 1, conjugation_exponent(N), true), (2, 3, 25, true)]
    {
        let x = Inputs::new(case, inputs, count, (q_limbs, p_limbs));
        let (whole, places, order): (_, Vec<usize>, Vec<usize>) = if part {
            let mut small = |_| {
                let mut x = case.poly(7, p_limbs);
                (0..9).for_each(|i| x.limb_mut(i).iter_mut().for_each(|w| *w &= u64::from(u32::MAX)));
                x
            };
            let halves = [0, 1].map(|_| (0..=count).map(&mut small).collect::<Vec<_>>());
            let [b, a] = halves;
            (ring.key_block(&b, &a).unwrap(), vec![3, 0, 2, 6, 4, 7, 8], (1..=count).rev().collect())
        } else {
            (case.key(count, q_limbs, p_limbs), (0..7).collect(), (0..count).collect())
        };
        let key = if part { whole.part(&places[..q_limbs], &order) } else { whole.clone() };
        let halves = unpacked(&whole);
        let half = |h: usize, i: usize| {
            let (polys, order, place) = (&halves[h], &order, places[i]);
            move |d: usize| polys[order[d]].limb(place)
        };
        let (short, full) = (case.polys(3, q_limbs, 0), case.polys(3, q_limbs, p_limbs));
        for added in [None, Some(&short), Some(&full)] {
            let (before, b_after, a_after) = (added.map(|x| &x[0]), added.map(|x| &x[1]), added.map(|x| &x[2]));
            let of = |digits| KeyProduct { digits, added_before: before, added_after: b_after.zip(a_after) };
            let of: Vec<_> = x.digits.iter().map(of).collect();
            let phi = ring.automorphism(galois);
            let found = ring.key_products(&of, &key, (galois > 1).then_some(&*phi)).unwrap();
            for (k, (b, a)) in found.iter().enumerate() {
                case.is("key_products, b", b, |i, m, at| {
                    let sum = x.product(m, k, half(0, i), galois, (i, at));
                    m.add(m.add(sum, word(before, i, source(galois, at))), word(b_after, i, at))
                });
                case.is("key_products, a", a, |i, m, at| {
                    m.add(x.product(m, k, half(1, i), galois, (i, at)), word(a_after, i, at))
                });
            }
        }
    }
    for (digits, count, inputs) in [(1, 1, 1), (1, 7, 2), (1, 40, 1), (2, 7, 2), (3, 3, 1), (5, 3, 2), (40, 2, 1)] {
        let x = Inputs::new(case, inputs, digits, (4, 1));
        let before = case.polys(inputs, 4, 0);
        let keys: Vec<_> = (0..count).map(|_| case.key(digits, 4, 1)).collect();
        let galois: Vec<u64> = (0..count).map(|k| rotation_exponent(3 * k as isize, N)).collect();
        let halves: Vec<_> = keys.iter().map(unpacked).collect();
        let phis: Vec<_> = galois.iter().map(|&g| ring.automorphism(g)).collect();
        let of: Vec<_> = keys.iter().zip(&phis).map(|(key, phi)| (key, &**phi)).collect();
        for added in [false, true] {
            let product = |(digits, before)| KeyProduct {
                digits,
                added_before: Some(before).filter(|_| added),
                added_after: None,
            };
            let products: Vec<_> = x.digits.iter().zip(&before).map(product).collect();
            for (k, pair) in ring.rotated_sums(&products, &of).unwrap().into_iter().enumerate() {
                for (h, sum) in [pair.0, pair.1].iter().enumerate() {
                    case.is("rotated_sums", sum, |i, m, at| {
                        halves.iter().zip(&galois).fold(0, |sum, (halves, &g)| {
                            let before = if added && h == 0 { word(Some(&before[k]), i, source(g, at)) } else { 0 };
                            let product = x.product(m, k, |d| halves[h][d].limb(i), g, (i, at));
                            m.add(sum, m.add(product, before))
                        })
                    });
                }
            }
        }
    }
}

/// The residues of integers smaller than every prime, as large as that allows, and of larger ones.
fn short_lifts(ring: &Ring) {
    let moduli: Vec<i64> = (0..6).map(|i| ring.modulus(ring.prime_of(4, i)).value() as i64).collect();
    let least = *moduli.iter().min().unwrap();
    for largest in [least - 1, least, i64::MAX / 2] {
        let words: Vec<i64> = (0..N as i64).map(|j| [largest, -largest, 0, 1, -1, j][j as usize % 6]).collect();
        let space = || ring.scratch(4, 2).unwrap();
        let mut found = vec![("lift", ring.lift(&words, space())), ("lift_public", ring.lift_public(&words, space()))];
        if largest < least {
            found.push(("lift_short", ring.lift_short(&words, space())));
        }
        for (name, found) in found {
            for (i, q) in moduli.iter().enumerate() {
                let wanted: Vec<u64> = words.iter().map(|c| c.rem_euclid(*q) as u64).collect();
                assert_eq!(found.limb(i), wanted, "{name} of {largest}, limb {i}");
            }
        }
    }
}

/// Sums of polynomials that each have a key of their own, made of what is lifted from the ring modulo the square of 65537.
fn lifts(case: &mut Case<'_>) {
    let ring = case.ring;
    let p = Modulus::new(65537).unwrap();
    let square = Modulus::new(65537 * 65537).unwrap();
    let root = square.pow(p.pow(3, 65536 / (2 * N as u64)), 65537);
    let plain = ring.modulo(square, ring.log_n(), root).unwrap();
    assert!(ring.modulo(square, ring.log_n(), root + 1).is_err());
    let plan = ring.lift_plan(&plain, 4, 2);
    let lift = |case: &mut Case<'_>| {
        let q = square.value();
        let word = |w: u64| [w % q, q - 1, 0, q / 2, q / 2 + 1, w % q][(w >> 60) as usize % 6];
        let words: Vec<i64> = (0..N).map(|_| square.centre(word(case.next()))).collect();
        let x = plain.to_eval(plain.lift(&words, plain.scratch(1, 0).unwrap()));
        let lifted = ring.lift_from(&plain, &x, &plan).unwrap();
        let expected = ring.to_eval(ring.lift(&words, ring.scratch(4, 2).unwrap()));
        case.is("lift_from", &lifted, |i, _, at| expected.limb(i)[at]);
        lifted
    };
    // From the ring of half the degree, as polynomials in X^2.
    let half = ring.modulo(square, ring.log_n() - 1, square.mul(root, root)).unwrap();
    let small: Vec<i64> = (0..N as i64 / 2).map(|j| j * j * 77 - 3000).collect();
    let x = half.to_eval(half.lift(&small, half.scratch(1, 0).unwrap()));
    let spread: Vec<i64> = small.iter().flat_map(|&c| [c, 0]).collect();
    let expected = ring.to_eval(ring.lift(&spread, ring.scratch(4, 2).unwrap()));
    let lifted = ring.lift_from(&half, &x, &plan).unwrap();
    case.is("lift_from a subring", &lifted, |i, _, at| expected.limb(i)[at]);
    short_lifts(ring);
    let q = i128::from(ring.modulus(0).value());
    let words: Vec<i64> = (0..N as i64).map(|j| (j - 40) * 0x1_2345_6789).collect();
    let low = ring.to_eval(ring.lift(&words, ring.scratch(1, 0).unwrap()));
    let m = i128::from(square.value());
    let switched: Vec<i64> =
        words.iter().step_by(2).map(|&c| ((i128::from(c).rem_euclid(q) * m + q / 2) / q % m) as i64).collect();
    let expected = half.to_eval(half.lift(&switched, half.scratch(1, 0).unwrap()));
    assert_eq!(half.switch_from(ring, &low).unwrap().limb(0), expected.limb(0));
    // To the nearest of some parts of q, and from there to as many of a square: exactly the multiples.
    for parts in [2, 65_537] {
        let nearest = ring.nearest_parts(&low, parts).unwrap();
        let (found, parts) = (ring.to_coeff(ring.copy(&nearest, 1).unwrap()).unwrap(), i128::from(parts));
        for (&c, &x) in words.iter().zip(found.limb(0)) {
            let part = (i128::from(c).rem_euclid(q) * parts + q / 2) / q % parts;
            assert_eq!(i128::from(x), (part * q + parts / 2) / parts);
            assert_eq!((i128::from(x) * parts * parts + q / 2) / q, part * parts);
        }
    }
    for count in [1, 2, 31] {
        let x: Vec<_> = (0..count).map(|_| lift(case)).collect();
        let keys: Vec<_> = (0..count).map(|_| case.key(1, 5, 2)).collect();
        let halves: Vec<_> = keys.iter().map(unpacked).collect();
        let (b, a) = ring.key_sum(&x, &keys.iter().collect::<Vec<_>>()).unwrap();
        for (h, sum) in [b, a].iter().enumerate() {
            case.is("key_sum", sum, |i, m, at| {
                let half = |key: &[Vec<Poly<Eval>>; 2]| key[h][0].limb_like(4, i)[at];
                x.iter().zip(&halves).fold(0, |sum, (x, key)| m.add(sum, m.mul(x.limb(i)[at], half(key))))
            });
        }
    }
}

/// Everything that a ring can be asked for, against exact integers; returns all words of the results.
fn suite(ring: &Ring) -> Vec<u64> {
    let mut case = Case { ring, seed: 0x9e37_79b9_7f4a_7c15, seen: Vec::new() };
    transforms(&mut case);
    forms(&mut case);
    let hard = [digits(&mut case), divisions(&mut case)];
    assert!(hard.iter().all(|&columns| columns > 10), "too few columns that a fused quotient gets wrong: {hard:?}");
    key_products(&mut case);
    relinearized(&mut case);
    lifts(&mut case);
    linear_maps(&mut case);
    public_maps(&mut case);
    case.seen
}

#[test]
fn every_backend_passes_the_suite_with_the_same_words() {
    for (q, p) in chains() {
        let words = |kernels: &&'static Kernels| suite(&Ring::with_kernels(LOG_N, &q, &p, kernels).unwrap());
        let all: Vec<Vec<u64>> = arch::available().iter().map(words).collect();
        assert!(!all[0].is_empty() && all.iter().all(|words| *words == all[0]));
    }
}

#[test]
fn every_prime_has_the_best_kernels_that_serve_it() {
    let [_, (q, p)] = chains();
    for kernels in arch::available() {
        let ring = Ring::with_kernels(LOG_N, &q, &p, kernels).unwrap();
        for i in 0..q.len() + p.len() {
            let own = ring.table(i).kernels().name();
            assert_eq!(own, if kernels.serves(ring.modulus(i)) { kernels.name() } else { "scalar" });
        }
        // A source that vectors do not serve makes a conversion scalar, a target only its own row.
        let parts = |sources: &[usize]| {
            let converter = ring.converter(sources, &[0, 1, 2]);
            converter.parts().iter().map(|p| (p.kernels().name(), p.places().to_vec())).collect::<Vec<_>>()
        };
        assert_eq!(parts(&[3, 4]), [("scalar", vec![0, 1, 2])]);
        match kernels.name() {
            "scalar" => assert_eq!(parts(&[4, 6]), [("scalar", vec![0, 1, 2])]),
            name => assert_eq!(parts(&[4, 6]), [("scalar", vec![0]), (name, vec![1, 2])]),
        }
    }
}
