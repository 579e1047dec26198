//! Digits and divisions by definition: columns are crafted next to half the modulus, where the last bit of a sum of doubles decides.

use super::*;

/// A number modulo the product Q of some primes: what a conversion makes of it, by its definition, and whether a fused sum
/// would make something else.
fn converted(sources: &[u64], x: &BigInt) -> (BigInt, bool) {
    let whole: BigInt = sources.iter().product();
    let (mut sum, mut plain, mut fused) = (BigInt::ZERO, 0.0f64, 0.0f64);
    for &q in sources {
        let others = &whole / q;
        let m = Modulus::new(q).unwrap();
        let y = m.mul(residue(x, q), m.inv(residue(&others, q)));
        sum += others * y;
        // Two rounded operations, and one.
        (plain, fused) = (plain + y as f64 * (1.0 / q as f64), (y as f64).mul_add(1.0 / q as f64, fused));
    }
    let v = (plain + 0.5).floor();
    (sum - whole * v as u64, v != (fused + 0.5).floor())
}

/// As many numbers as a polynomial has coefficients: the ends, and next to them and to half of Q on either side.
fn crafted(case: &mut Case<'_>, sources: &[u64]) -> Vec<BigInt> {
    let whole: BigInt = sources.iter().product();
    let half: BigInt = &whole >> 1u8;
    let mut all = vec![BigInt::ZERO, 1.into(), (-1).into(), half.clone(), -half.clone(), half.clone() + 1];
    while all.len() < N {
        let (bits, word) = (40 + all.len() as u64 / 2 % 25, case.next());
        let away: BigInt = ((&whole >> bits) * (word >> 40)) >> 24u8;
        all.push(if word % 4 < 2 { &half - away } else { away - &half } + (word % 2));
    }
    all
}

/// A polynomial whose coefficients have these residues modulo the primes of its limbs.
fn of_numbers(ring: &Ring, limbs: (usize, usize), number: impl Fn(usize, usize) -> BigInt) -> Poly<Eval> {
    let mut x: Poly<Coeff> = ring.zero(limbs.0, limbs.1).unwrap();
    for i in 0..limbs.0 + limbs.1 {
        let q = ring.modulus(ring.prime_of(limbs.0, i)).value();
        x.limb_mut(i).iter_mut().enumerate().for_each(|(at, word)| *word = residue(&number(i, at), q));
    }
    ring.to_eval(x)
}

/// Digits of 1 to 13 limbs, and polynomials modulo the lowest prime; returns how many columns a fused sum would get wrong.
pub(super) fn digits(case: &mut Case<'_>) -> usize {
    let (ring, mut hard) = (case.ring, 0);
    let shapes: [(usize, usize, Vec<Vec<usize>>); 6] = [
        (14, 5, vec![(0..13).collect(), vec![13]]),
        (14, 5, vec![vec![0, 3, 5, 8, 11], vec![1, 2, 4, 7, 9, 10], vec![6, 12, 13]]),
        (13, 1, vec![(0..6).collect(), (6..9).collect(), (9..13).collect()]),
        (9, 2, vec![vec![1, 2, 4, 6, 7], vec![0, 3, 5, 8]]),
        (2, 3, vec![vec![0], vec![1]]),
        (1, 1, vec![vec![0]]),
    ];
    for (limbs, p_limbs, shape) in shapes {
        let sources: Vec<Vec<u64>> =
            shape.iter().map(|own| own.iter().map(|&i| ring.modulus(i).value()).collect()).collect();
        let mut polys = Vec::new();
        for _ in 0..2 {
            let numbers: Vec<Vec<BigInt>> = sources.iter().map(|own| crafted(case, own)).collect();
            let digit_of = |i: usize| shape.iter().position(|own| own.contains(&i)).unwrap();
            polys.push((of_numbers(ring, (limbs, 0), |i, at| numbers[digit_of(i)][at].clone()), numbers));
        }
        let inputs: Vec<_> = polys.iter().map(|(x, _)| x).collect();
        let found = ring.digits(&inputs, (limbs, p_limbs), &shape).unwrap();
        for (found, (_, numbers)) in found.iter().zip(&polys) {
            assert_eq!((found.count(), found.shape()), (shape.len(), (limbs, p_limbs)));
            for (d, own) in sources.iter().enumerate() {
                let expected: Vec<_> = numbers[d].iter().map(|x| converted(own, x)).collect();
                hard += expected.iter().filter(|(_, fused)| *fused).count();
                let raised = of_numbers(ring, (limbs, p_limbs), |_, at| expected[at].0.clone());
                for i in 0..limbs + p_limbs {
                    let row = found.limbs(i).nth(d).unwrap();
                    assert!(row == raised.limb(i), "limb {i} of digit {d} of {shape:?}");
                    case.seen.extend(row);
                }
            }
        }
    }
    let q0 = [ring.modulus(0).value()];
    let numbers = crafted(case, &q0);
    let low = of_numbers(ring, (1, 0), |_, at| numbers[at].clone());
    for (q_limbs, p_limbs) in [(14, 2), (5, 0), (1, 0)] {
        let raised = ring.raise(&[&low], q_limbs, p_limbs).unwrap().remove(0);
        let expected = of_numbers(ring, (q_limbs, p_limbs), |_, at| converted(&q0, &numbers[at]).0);
        case.is("raise", &raised, |i, _, at| expected.limb(i)[at]);
    }
    hard
}

/// Divisions by special primes and the highest of the chain, and switches of primes; returns as [`digits`].
pub(super) fn divisions(case: &mut Case<'_>) -> usize {
    let (ring, mut hard, mut straight) = (case.ring, 0, 0);
    let of_shape = |q_limbs: usize, p_limbs: usize, drop: usize| {
        ((0..q_limbs + p_limbs).map(|i| ring.prime_of(q_limbs, i)).collect::<Vec<_>>(), q_limbs - drop, 0)
    };
    let mut plans = vec![of_shape(14, 5, 0), of_shape(14, 5, 1), of_shape(14, 0, 13), of_shape(14, 5, 8)];
    plans.extend([of_shape(1, 1, 0), of_shape(3, 0, 1), of_shape(7, 2, 3)]);
    // Primes that come, in and above the chain of the dividend, and a power of two.
    plans.extend([(vec![0, 5, 6, 7], 3, 0), (vec![0, 1, 8, 9, 13], 5, 3), (vec![0, 1, 2, 4], 3, 90)]);
    for (primes, to, shift) in plans {
        let plan = ring.mod_switch(primes.clone(), to, shift).unwrap();
        let leaving: Vec<usize> = primes.iter().copied().filter(|&p| p >= to).collect();
        let coming: Vec<usize> = (0..to).filter(|l| !primes.contains(l)).collect();
        let value = |p: &usize| ring.modulus(*p).value();
        let sources: Vec<u64> = leaving.iter().map(value).collect();
        let (divisor, gain): (BigInt, BigInt) =
            (sources.iter().product(), coming.iter().map(value).product::<BigInt>() << shift);
        // Dividends whose products with the gain are crafted modulo the divisor.
        let inverse = gain.modinv(&divisor).unwrap();
        let products = crafted(case, &sources);
        let numbers: Vec<BigInt> = products.iter().map(|x| x * &inverse % &divisor + &divisor * case.next()).collect();
        let mut x: Poly<Coeff> = ring.rows(primes.len()).unwrap();
        for (limb, p) in primes.iter().enumerate() {
            x.limb_mut(limb).iter_mut().zip(&numbers).for_each(|(word, number)| *word = residue(number, value(p)));
            ring.table(*p).forward(x.limb_mut(limb));
        }
        let x = x.transformed();
        let found = ring.divide(&[&x, &x], &plan).unwrap();
        let expected: Vec<_> = numbers.iter().map(|number| converted(&sources, &(number * &gain))).collect();
        hard += expected.iter().filter(|(_, fused)| *fused).count();
        let quotients: Vec<BigInt> =
            numbers.iter().zip(&expected).map(|(number, (y, _))| (number * &gain - y) / &divisor).collect();
        let quotient = of_numbers(ring, (to, 0), |_, at| quotients[at].clone());
        for found in &found {
            case.is(&format!("division of {primes:?} to {to}"), found, |i, _, at| quotient.limb(i)[at]);
        }
        // Straight to other primes, where limbs that leave come after those that stay.
        let (stays, onward): (Vec<usize>, Vec<usize>) = ((0..to).collect(), (to..19).collect());
        if primes[..to] == stays && gain == 1.into() {
            let split = |limbs: std::ops::Range<usize>| {
                let mut part: Poly<Eval> = ring.rows(limbs.len()).unwrap();
                limbs.clone().for_each(|i| part.limb_mut(i - limbs.start).copy_from_slice(x.limb(i)));
                part
            };
            let (high, low) = (split(0..to), split(to..primes.len()));
            let extended = ring.divide_extended(&[[&high, &low]], &plan, &onward).unwrap().remove(0);
            let twice = ring.extend(&found[0], &stays, &onward).unwrap();
            case.is("an extended quotient", &extended, |i, _, at| twice.limb(i)[at]);
            straight += 1;
        }
        let ratio = gain.to_string().parse::<f64>().unwrap() / divisor.to_string().parse::<f64>().unwrap();
        assert!((plan.ratio() / ratio - 1.0).abs() < 1e-12);
    }
    assert_eq!(straight, 7, "plans without a gain");
    for nothing in [ring.division(3, 0, 0), ring.division(3, 1, 3), ring.mod_switch(vec![0, 1], 2, 0)] {
        assert!(nothing.is_none(), "nothing leaves, or nothing stays");
    }
    hard
}
