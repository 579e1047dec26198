//! What is switched is the same message at the scale of the switched primes, to the rounding of one division, on every backend.

use super::*;
use crate::chain::{self, primes};
use crate::params::{Params, ParamsSpec};
use aglet_ring::arch;
use aglet_ring::Coeff;
use rayon::prelude::*;
use std::sync::Arc;

/// Five primes of Q, of 40 bits but for the lowest, and four spare ones.
fn context(kernels: &'static arch::Kernels) -> Arc<Context> {
    let large = primes(6, 50, 5, &[]);
    let q = [primes(6, 47, 1, &[]), primes(6, 40, 4, &[])].concat();
    let spare = [&large[2..], &primes(6, 33, 1, &[])].concat();
    let p = large[..2].to_vec();
    let spec = ParamsSpec { log_n: 6, sparse_secret: None, q, spare, p, max_log_qp: Some(400.0), ..chain::spec() };
    Context::with_kernels(chain::params(spec), kernels).unwrap()
}

#[test]
fn a_context_has_the_spare_primes_and_its_chain_has_not() {
    let ctx = context(arch::chosen().unwrap());
    let params: &Params = ctx.params();
    assert_eq!((params.q().len(), params.spare().len(), ctx.ring().q_count(), ctx.all().q_count()), (5, 4, 5, 9));
    let own = ctx.subset(&[0, 5, 6, 7]).unwrap();
    assert_eq!(own.params().q()[1..], params.spare()[..3]);
    assert_eq!((own.params().spare().len(), own.ring().modulus(3).value()), (0, params.spare()[2]));
    // A subset of a subset counts on.
    assert_eq!(own.params().subset(&[0, 2]).unwrap().prime_indices(), [0, 6]);
    assert!(params.subset(&[0, 9]).is_err());
}

/// `sum c_i 2^(20 i)` with small `c_i`, as residues; and the same numbers as doubles.
fn numbers(n: usize, terms: u32) -> (Vec<Vec<i64>>, Vec<f64>) {
    let digit = |i: usize, j: u32| ((i as i64 * 7919 + i64::from(j) * 104_729) % 2001) - 1000;
    let digits: Vec<Vec<i64>> = (0..n).map(|i| (0..terms).map(|j| digit(i, j)).collect()).collect();
    let value = |d: &Vec<i64>| d.iter().enumerate().map(|(j, &c)| c as f64 * f64::from(20 * j as i32).exp2()).sum();
    let values = digits.iter().map(value).collect();
    (digits, values)
}

/// Numbers modulo the primes of a ring, which are theirs up to a number of limbs.
fn residues(ring: &aglet_ring::Ring, limbs: usize, digits: &[Vec<i64>]) -> Poly<Coeff> {
    let mut x: Poly<Coeff> = ring.scratch(limbs, 0).unwrap();
    x.host_mut().par_iter().enumerate().for_each(|(prime, limb)| {
        let m = ring.modulus(prime);
        for (r, d) in limb.iter_mut().zip(digits) {
            let base = m.reduce(1 << 20);
            *r = d.iter().rev().fold(0, |sum, &c| m.add(m.mul(sum, base), m.reduce_i64(c)));
        }
    });
    x
}

#[test]
fn the_lowest_primes_are_switched_to_those_of_a_context_and_back() {
    let mut seen: Option<Vec<Vec<u64>>> = None;
    for kernels in arch::available() {
        let whole = context(kernels);
        let ctx = whole.subset(&[0, 5, 6, 2, 7]).unwrap();
        let (digits, values) = numbers(whole.ring().n(), 5);
        let x = whole.ring().to_eval(residues(whole.ring(), 4, &digits));
        let (there, ratio) = mod_switch_in(&ctx, &[&x]).unwrap();
        let primes = |i: usize| whole.ring().modulus(i).value() as f64;
        let spare = |i: usize| whole.params().spare()[i] as f64;
        assert!((ratio / (spare(0) * spare(1) / (primes(1) * primes(3))) - 1.0).abs() < 1e-12);
        let back = mod_switch(&ctx, &[&there[0]], 4, 0).unwrap().remove(0);
        let there = ctx.ring().to_coeff(ctx.ring().copy(&there[0], 4).unwrap()).unwrap();
        let back = whole.ring().to_coeff(back).unwrap();
        for (i, value) in values.iter().enumerate() {
            // A rounding there is less than one here, where numbers are smaller.
            let error = (0..4).map(|l| {
                let m = whole.ring().modulus(l);
                let wanted =
                    digits[i].iter().rev().fold(0, |sum, &c| m.add(m.mul(sum, m.reduce(1 << 20)), m.reduce_i64(c)));
                m.centre(m.sub(back.host().unwrap().row(l)[i], wanted)).abs()
            });
            assert!(error.max().unwrap() <= 1, "{value}");
        }
        let found: Vec<Vec<u64>> =
            there.host().unwrap().iter().chain(back.host().unwrap().iter()).map(<[u64]>::to_vec).collect();
        assert_eq!(seen.get_or_insert(found.clone()), &found, "{} differs", kernels.name());
    }
    // The same primes, and more than there are.
    let whole = context(arch::chosen().unwrap());
    let x = whole.ring().zero::<Eval>(2, 0).unwrap();
    for same in [vec![0, 1, 6], vec![0]] {
        assert!(matches!(mod_switch_in(&whole.subset(&same).unwrap(), &[&x]), Err(Error::Level { .. })));
    }
}

#[test]
fn a_polynomial_is_divided_by_what_leaves_and_multiplied_by_what_comes() {
    let mut seen: Option<Vec<Vec<u64>>> = None;
    for kernels in arch::available() {
        let whole = context(kernels);
        let mut found = Vec::new();
        for (limbs, to, shift, terms) in
            [(vec![0, 5, 6, 7], 3, 0, 5), (vec![0, 1, 5, 6, 8], 4, 3, 4), (vec![0, 5, 6], 2, 0, 5)]
        {
            let ctx = whole.subset(&limbs).unwrap();
            let (ring, n) = (ctx.ring(), ctx.ring().n());
            let (digits, values) = numbers(n, terms);
            let x = residues(ring, limbs.len(), &digits);
            let out = mod_switch(&ctx, &[&ring.to_eval(x)], to, shift).unwrap().remove(0);
            assert_eq!((out.q_limbs(), out.p_limbs()), (to, 0));
            let out = whole.ring().to_coeff(out).unwrap();
            let ratio = mod_switch_ratio(&ctx, limbs.len(), to, shift).unwrap();
            for (i, value) in values.iter().enumerate() {
                let wanted = value * ratio;
                for l in 0..to {
                    let found = whole.ring().modulus(l).centre(out.host().unwrap().row(l)[i]) as f64;
                    assert!((found - wanted).abs() < 0.51 + wanted.abs() * 1e-12, "{found} for {wanted}");
                }
            }
            found.extend(out.host().unwrap().iter().map(<[u64]>::to_vec));
        }
        assert_eq!(seen.get_or_insert(found.clone()), &found, "{} differs", kernels.name());
    }
}

#[test]
fn what_does_not_exist_is_refused() {
    let whole = context(arch::chosen().unwrap());
    let x = whole.ring().zero(3, 0).unwrap();
    // Nothing leaves.
    assert!(matches!(mod_switch(&whole, &[&x], 3, 0), Err(Error::Level { .. })));
    assert!(matches!(mod_switch(&whole, &[&x], 0, 0), Err(Error::Level { .. })));
    assert!(matches!(mod_switch_ratio(&whole, 3, 10, 0), Err(Error::Level { .. })));
}
