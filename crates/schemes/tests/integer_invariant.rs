//! The product of BFV by its definition, `round(t a b / Q)` in exact integers (eprint 2012/144): word for word the scaled product on
//! residues, and the same numbers as the product by modulus switching, which shares no step with it.

use aglet_ring::arch;
use aglet_ring::sample::ChaChaSource;
use aglet_ring::{Eval, Poly};
use aglet_rlwe::security::Security;
use aglet_rlwe::{Context, KeyRole, KeySet, KeySwitchSpec, SecretKey, SwitchingKey};
use aglet_schemes::integer::{
    decrypt, encrypt, noise_budget, Ciphertext, Encoder, Encryptor, IntegerEvaluator, IntegerParams, Noise, Packing,
    WideRings,
};
use aglet_schemes::Error;
use std::sync::Arc;

/// Two primes of 30 bits hold a ciphertext: sums of 128 products of its coefficients have 126 bits.
const LITERAL: &str = r#"
family = "integer"
name = "small"
source = "a test"
log_n = 7
plaintext_modulus = 257
base_bits = 30
levels = { bits = 30, count = 1 }
special = { bits = 32, count = 2 }
"#;

/// The centred coefficients of a polynomial of two limbs.
fn lifted(ctx: &Context, poly: &Poly<Eval>) -> Vec<i128> {
    let ring = ctx.ring();
    let words = ring.to_coeff(ring.copy(poly, 2).unwrap()).unwrap();
    let (rows, q, r) = (words.host().unwrap(), ring.modulus(0), ring.modulus(1));
    let inverse = r.inv(r.reduce(q.value()));
    let one = |j: usize| {
        let low = rows.row(0)[j];
        let step = r.mul(r.sub(rows.row(1)[j], r.reduce(low)), inverse);
        centred(i128::from(low) + i128::from(q.value()) * i128::from(step), whole(ctx))
    };
    (0..ring.n()).map(one).collect()
}

/// Q.
fn whole(ctx: &Context) -> i128 {
    i128::from(ctx.ring().modulus(0).value()) * i128::from(ctx.ring().modulus(1).value())
}

fn centred(x: i128, q: i128) -> i128 {
    match x.rem_euclid(q) {
        x if x > q / 2 => x - q,
        x => x,
    }
}

/// `sum a b` modulo X^N + 1, exactly.
fn products(pairs: &[(&[i128], &[i128])]) -> Vec<i128> {
    let n = pairs[0].0.len();
    let mut out = vec![0; n];
    for (a, b) in pairs {
        for (i, x) in a.iter().enumerate() {
            for (j, y) in b.iter().enumerate() {
                let sign = if i + j < n { 1 } else { -1 };
                out[(i + j) % n] += sign * x * y;
            }
        }
    }
    out
}

/// `round(t x / Q)` modulo Q, coefficient by coefficient, as a polynomial.
fn scaled(ctx: &Context, t: i128, x: &[i128]) -> Poly<Eval> {
    let (ring, q) = (ctx.ring(), whole(ctx));
    let round = |x: &i128| centred(t * x.div_euclid(q) + (t * x.rem_euclid(q) + q / 2).div_euclid(q), q) as i64;
    let coefficients: Vec<i64> = x.iter().map(round).collect();
    ring.to_eval(ring.lift(&coefficients, ring.scratch(2, 0).unwrap()))
}

#[test]
fn the_product_by_its_definition_is_that_by_modulus_switching() {
    let params = IntegerParams::from_toml(LITERAL, Security::NotChecked).unwrap();
    let kernels = arch::chosen().unwrap();
    let ctx = Context::with_kernels(params.rlwe().clone(), kernels).unwrap();
    let mut random = ChaChaSource::from_seed([9; 32]);
    let sk = SecretKey::generate(&ctx, &mut random).unwrap();
    let spec = KeySwitchSpec::balanced(&params, 2).unwrap();
    let key = SwitchingKey::relinearization(&ctx, spec, &sk, &mut random).unwrap();
    let keys = KeySet::new().with(KeyRole::Relinearization, key.into());
    let t = *params.plain();
    let encoder = Encoder::new(t, (params.log_n(), params.log_slots()), Packing::Slots, kernels).unwrap();
    let numbers = |seed: i64| (0..128).map(|i| t.centre(t.reduce_i64(i * i * seed + 3 * i - seed))).collect::<Vec<_>>();
    let (x, y) = (numbers(7), numbers(-31));
    let mut encrypted = |values: &[i64]| -> Arc<Ciphertext> {
        let by = (Encryptor::Secret(&sk), &mut random);
        encrypt(&ctx, &params, &encoder.encode(values).unwrap(), 1, by).unwrap().into()
    };
    let (a, b) = (encrypted(&x), encrypted(&y));

    let halves = |ct: &Ciphertext| [0, 1].map(|i| lifted(&ctx, &ct.polys[i]));
    let ([a0, a1], [b0, b1]) = (halves(&a), halves(&b));
    let tensor = [products(&[(&a0, &b0)]), products(&[(&a0, &b1), (&a1, &b0)]), products(&[(&a1, &b1)])];
    let polys = || tensor.iter().map(|x| scaled(&ctx, i128::from(t.value()), x)).collect::<Vec<_>>();
    // BFV's k = -f m / Q: k k' is that of the factor -f f' / Q.
    let over_q = t.inv(t.reduce_i128(whole(&ctx)));
    let correction_factor = t.reduce_i128(-i128::from(t.mul(t.mul(a.correction_factor, b.correction_factor), over_q)));
    let invariant = a.with(polys(), correction_factor, Noise::of_log2(32.0));
    let numbers_of = |ct: &Ciphertext| encoder.decode(&decrypt(&ctx, &params, ct, &sk).unwrap());
    let expected: Vec<i64> = x.iter().zip(&y).map(|(x, y)| t.centre(t.reduce_i64(x * y))).collect();
    assert_eq!(numbers_of(&invariant), expected);
    let e = IntegerEvaluator::new(&ctx, &params, &keys);
    assert_eq!(numbers_of(&e.mul(&a, &b).unwrap()), expected);
    // The same on residues alone, by every kernel.
    let on_residues = |&kernels| e.scaled_product(&WideRings::new(&params, kernels).unwrap(), &a, &b).unwrap();
    for found in arch::available().iter().map(on_residues) {
        assert_eq!(found.correction_factor, correction_factor);
        for (x, y) in found.polys.iter().zip(polys()) {
            assert!(x.host().unwrap().iter().eq(y.host().unwrap().iter()));
        }
        assert_eq!(numbers_of(&found), expected);
    }
    // No more budget than the definition leaves at this level, and no less than the bound above says.
    let exact = noise_budget(&ctx, &params, &invariant, &sk).unwrap();
    assert!((20.0..45.0).contains(&exact) && e.budget(&invariant) <= exact, "{exact} bits");
    assert_ne!(
        numbers_of(&a.with(polys(), t.mul(a.correction_factor, b.correction_factor), Noise::of_log2(32.0))),
        expected
    );
}

#[test]
fn levels_without_a_wide_ring_are_refused() {
    let deep = LITERAL.replace("count = 1", "count = 33");
    let params = IntegerParams::from_toml(&deep, Security::NotChecked).unwrap();
    let kernels = arch::chosen().unwrap();
    let ctx = Context::with_kernels(params.rlwe().clone(), kernels).unwrap();
    let mut random = ChaChaSource::from_seed([9; 32]);
    let (sk, keys, wide) =
        (SecretKey::generate(&ctx, &mut random).unwrap(), KeySet::new(), WideRings::new(&params, kernels).unwrap());
    let e = IntegerEvaluator::new(&ctx, &params, &keys);
    let mut at = |level| -> Result<usize, Error> {
        let ct = encrypt(&ctx, &params, &[1; 128], level, (Encryptor::Secret(&sk), &mut random)).unwrap().into();
        Ok(e.scaled_product(&wide, &ct, &ct)?.level())
    };
    assert!(matches!(at(32), Err(Error::InvalidParameters { reason }) if reason.contains("lower level")));
    assert_eq!(at(31).unwrap(), 31);
}
