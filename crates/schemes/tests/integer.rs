//! Integers on a small ring: both readings of a ciphertext, arithmetic against numbers modulo t, noise against its bound.

use aglet_ring::arch::{self, Kernels};
use aglet_ring::automorphism::{conjugation_exponent, rotation_exponent};
use aglet_ring::sample::ChaChaSource;
use aglet_ring::Modulus;
use aglet_rlwe::security::Security;
use aglet_rlwe::{Context, KeyRole, KeySet, KeySwitchSpec, PublicKey, SecretKey, SwitchingKey};
use aglet_schemes::fault::{IntegerFault, TextFault};
use aglet_schemes::integer::{
    decrypt, encrypt, noise_budget, Encoder, Encryptor, IntegerCiphertext, IntegerEvaluator, IntegerParams, Noise,
    Packing, SlotEvaluator, WideRings,
};
use aglet_schemes::{Error, Evaluator, ParameterFault, Sum};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::Arc;

const LOG_N: u32 = 10;
const N: usize = 1 << LOG_N;

fn literal(t: u64, base: u32, level: u32) -> String {
    format!(
        "family = \"integer\"\nname = \"small\"\nsource = \"a test\"\nlog_n = {LOG_N}\nplaintext_modulus = {t}\nbase_bits = {base}\n\
         levels = {{ bits = {level}, count = 5 }}\nspecial = {{ bits = 45, count = 1 }}\n"
    )
}

struct World {
    ctx: Arc<Context>,
    params: IntegerParams,
    sk: SecretKey,
    pk: PublicKey,
    keys: KeySet,
    encoder: Encoder,
    random: ChaChaSource,
}

impl World {
    fn new(t: u64, packing: Packing, kernels: &'static Kernels) -> Self {
        let params = IntegerParams::from_toml(&literal(t, 44, 44), Security::NotChecked).unwrap();
        let ctx = Context::with_kernels(params.rlwe().clone(), kernels).unwrap();
        let mut random = ChaChaSource::from_seed([4; 32]);
        let sk = SecretKey::generate(&ctx, &mut random).unwrap();
        let pk = PublicKey::generate(&ctx, &sk, 6, &mut random).unwrap();
        let spec = KeySwitchSpec::balanced(&params, 6).unwrap();
        let mut keys = KeySet::new().with(
            KeyRole::Relinearization,
            SwitchingKey::relinearization(&ctx, spec.clone(), &sk, &mut random).unwrap().into(),
        );
        for galois in [rotation_exponent(1, N), rotation_exponent(-3, N), conjugation_exponent(N)] {
            let key = SwitchingKey::galois(&ctx, spec.clone(), galois, &sk, &mut random).unwrap();
            keys.insert(KeyRole::Galois(galois), key.into());
        }
        let encoder = Encoder::new(*params.plain(), (LOG_N, params.log_slots()), packing, kernels).unwrap();
        Self { ctx, params, sk, pk, keys, encoder, random }
    }
    fn e(&self) -> IntegerEvaluator<'_> {
        IntegerEvaluator::new(&self.ctx, &self.params, &self.keys)
    }
    fn encrypt(&mut self, values: &[i64], level: usize) -> IntegerCiphertext {
        let coefficients = self.encoder.encode(values).unwrap();
        let by = Encryptor::Secret(&self.sk);
        encrypt(&self.ctx, &self.params, &coefficients, level, (by, &mut self.random)).unwrap().into()
    }
    fn decrypt(&self, ct: &IntegerCiphertext) -> Vec<i64> {
        // The bound is above the noise, and a message never takes up what it leaves.
        let exact = noise_budget(&self.ctx, &self.params, ct, &self.sk).unwrap();
        assert!(self.e().budget(ct) <= exact, "{} bits by the bound, {exact} by the key", self.e().budget(ct));
        self.encoder.decode(&decrypt(&self.ctx, &self.params, ct, &self.sk).unwrap())
    }
    fn numbers(&mut self, count: usize) -> Vec<i64> {
        let t = self.params.plain();
        let mut words = vec![0; count];
        aglet_ring::sample::uniform(&mut self.random, t.value(), &mut words);
        words.into_iter().map(|x| t.centre(x)).collect()
    }
}

fn zip(t: &Modulus, x: &[i64], y: &[i64], f: impl Fn(i128, i128) -> i128) -> Vec<i64> {
    let one = |(&x, &y): (&i64, &i64)| t.centre(t.reduce_i128(f(i128::from(x), i128::from(y))));
    x.iter().zip(y).map(one).collect()
}

/// The product modulo `X^N + 1` and t, by its definition.
fn negacyclic(t: &Modulus, x: &[i64], y: &[i64]) -> Vec<i64> {
    let mut out = vec![0u64; x.len()];
    for (i, &a) in x.iter().enumerate() {
        for (j, &b) in y.iter().enumerate() {
            let term = t.reduce_i128(i128::from(a) * i128::from(b));
            let at = (i + j) % x.len();
            out[at] = if i + j < x.len() { t.add(out[at], term) } else { t.sub(out[at], term) };
        }
    }
    out.iter().map(|&c| t.centre(c)).collect()
}

#[test]
fn slots_are_values_at_the_powers_of_a_root() {
    let kernels = arch::chosen().unwrap();
    let t = Modulus::new(65537).unwrap();
    let encoder = Encoder::new(t, (6, 6), Packing::Slots, kernels).unwrap();
    let (x, y): (Vec<i64>, Vec<i64>) = ((0..64).map(|i| i * i - 900).collect(), (0..64).map(|i| 31 * i - 77).collect());
    let (p, q) = (encoder.encode(&x).unwrap(), encoder.encode(&y).unwrap());
    let canonical = |p: &[i64]| p.iter().map(|&c| t.reduce_i64(c)).collect::<Vec<_>>();
    assert_eq!(encoder.decode(&canonical(&p)), x);
    assert_eq!(encoder.decode(&canonical(&negacyclic(&t, &p, &q))), zip(&t, &x, &y, |x, y| x * y));
    // X -> X^5 rotates both rows by one, X -> X^-1 switches them.
    let image = |g: usize| {
        let mut out = vec![0; 64];
        p.iter().enumerate().for_each(|(i, &c)| out[i * g % 64] = if i * g % 128 < 64 { c } else { -c });
        encoder.decode(&canonical(&out))
    };
    let (rows, mut turned) = (x.chunks(32).collect::<Vec<_>>(), x.clone());
    turned.chunks_mut(32).for_each(|row| row.rotate_left(1));
    assert_eq!((image(5), image(127)), (turned, [rows[1], rows[0]].concat()));
}

#[test]
fn arithmetic_is_that_of_numbers_modulo_t() {
    for kernels in arch::available() {
        let mut w = World::new(65537, Packing::Slots, kernels);
        let t = *w.params.plain();
        let (x, y) = (w.numbers(N), w.numbers(N));
        let (a, b) = (w.encrypt(&x, 5), w.encrypt(&y, 3));
        let (e, plain) = (w.e(), w.encoder.encode(&y).unwrap());
        assert_eq!(w.decrypt(&e.add(&a, &b).unwrap()), zip(&t, &x, &y, |x, y| x + y));
        assert_eq!(w.decrypt(&e.sub(&b, &a).unwrap()), zip(&t, &y, &x, |x, y| x - y));
        assert_eq!(w.decrypt(&e.negate(&a).unwrap()), zip(&t, &x, &x, |x, _| -x));
        assert_eq!(w.decrypt(&e.add_plain(&a, &plain).unwrap()), zip(&t, &x, &y, |x, y| x + y));
        let largest = w.encoder.largest_value(&plain);
        assert_eq!(w.decrypt(&e.mul_plain(&a, (&plain, largest)).unwrap()), zip(&t, &x, &y, |x, y| x * y));
        assert_eq!(w.decrypt(&e.mul_number(&a, 65_530).unwrap()), zip(&t, &x, &y, |x, _| -7 * x));
        let product = e.mul(&a, &b).unwrap();
        assert_eq!((product.level(), product.degree()), (2, 1));
        assert_eq!(w.decrypt(&product), zip(&t, &x, &y, |x, y| x * y));
        let turn = |by: isize| {
            let row =
                |row: &[i64]| (0..N / 2).map(|j| row[(j as isize + by).rem_euclid(N as isize / 2) as usize]).collect();
            x.chunks(N / 2).map(row).collect::<Vec<Vec<_>>>().concat()
        };
        for by in [0, 1, -3] {
            assert_eq!(w.decrypt(&e.rotate_rows(&a, by).unwrap()), turn(by), "by {by}");
        }
        assert_eq!(w.decrypt(&e.rotate_columns(&a).unwrap()), [&x[N / 2..], &x[..N / 2]].concat());
        assert!(matches!(e.rotate_rows(&a, 2), Err(Error::MissingKey { .. })));
        // Nothing was changed, and a public key encrypts as well.
        assert_eq!((w.decrypt(&a), w.decrypt(&b)), (x.clone(), y));
        let by = (Encryptor::Public(&w.pk), &mut w.random);
        let c = encrypt(&w.ctx, &w.params, &w.encoder.encode(&x).unwrap(), 4, by).unwrap().into();
        assert_eq!(w.decrypt(&c), x);
    }
}

#[test]
fn five_products_in_a_row_with_sums_across_levels() {
    let mut w = World::new(65537, Packing::Slots, arch::chosen().unwrap());
    let t = *w.params.plain();
    let mut x = w.numbers(N);
    let fresh = x.clone();
    let (first, mut ct) = (w.encrypt(&x, 5), w.encrypt(&x, 5));
    for level in (0..5).rev() {
        // A ciphertext that stays at the top is added to what has come down.
        ct = w.e().add(&w.e().mul(&ct, &ct).unwrap(), &first).unwrap();
        x = zip(&t, &zip(&t, &x, &x, |x, y| x * y), &fresh, |x, y| x + y);
        assert_eq!((ct.level(), ct.correction_factor), (level, w.params.correction_factor_at(level)));
        assert_eq!(w.decrypt(&ct), x, "level {level}");
    }
    assert!(matches!(w.e().mul(&ct, &ct), Err(Error::LevelTooLow { .. })));
    assert!(matches!(w.e().level_down(&ct, 1), Err(Error::LevelTooLow { required: 1, actual: 0 })));
    for level in 0..5 {
        let down = w.e().level_down(&first, level).unwrap();
        assert_eq!((down.level(), down.correction_factor), (level, w.params.correction_factor_at(level)));
        assert_eq!(w.decrypt(&down), fresh);
    }
}

#[test]
fn coefficients_multiply_as_polynomials_for_any_odd_modulus() {
    for t in [65539, 999_999, 16_000_001, 3] {
        let mut w = World::new(t, Packing::Coefficients, arch::chosen().unwrap());
        let t = *w.params.plain();
        let (x, y) = (w.numbers(N), w.numbers(N));
        let (a, b) = (w.encrypt(&x, 2), w.encrypt(&y, 2));
        let product = w.e().mul(&a, &b).unwrap();
        assert_eq!(w.decrypt(&product), negacyclic(&t, &x, &y), "modulo {}", t.value());
        assert_eq!(w.decrypt(&w.e().add(&product, &a).unwrap()), zip(&t, &negacyclic(&t, &x, &y), &x, |x, y| x + y));
    }
}

/// `phase = (Q k + [f m]_t) / t + e` with `k = -f m / Q mod t`: at level 0, where Q is one word.
#[test]
fn the_same_ciphertext_is_one_of_bfv() {
    let mut w = World::new(65537, Packing::Coefficients, arch::chosen().unwrap());
    let (t, q) = (*w.params.plain(), *w.ctx.ring().modulus(0));
    let x = w.numbers(N);
    let top = w.encrypt(&x, 3);
    let ct = w.e().level_down(&top, 0).unwrap();
    let ring = w.ctx.ring();
    let phase = ring.to_coeff(ring.copy(&w.sk.decrypt(&w.ctx, &ct).unwrap(), 1).unwrap()).unwrap();
    let (by, inverse) = (t.neg(ct.correction_factor), t.inv(t.reduce(q.value())));
    for (&word, &m) in phase.host().unwrap().row(0).iter().zip(&x) {
        let k = (2 * u128::from(word) * u128::from(t.value()) + u128::from(q.value())) / (2 * u128::from(q.value()));
        assert_eq!(t.reduce_u128(k), t.mul(t.mul(by, t.reduce_i64(m)), inverse));
    }
}

#[test]
fn what_would_not_decrypt_is_refused_before() {
    let mut w = World::new(65537, Packing::Slots, arch::chosen().unwrap());
    let mut x = w.numbers(N);
    let t = *w.params.plain();
    let mut ct = w.encrypt(&x, 3);
    let refused = loop {
        match w.e().mul_number(&ct, 30_000) {
            Ok(more) => ct = more,
            Err(e) => break e,
        }
        x = zip(&t, &x, &x, |x, _| 30_000 * x);
        assert_eq!(w.decrypt(&ct), x);
    };
    assert!(matches!(refused, Error::Noise { bits } if bits > 0.0 && bits < 16.0), "{refused}");
    assert!(refused.to_string().contains("too large for its level"));
    // The bound is not idle: what it refuses is within a factor of what the key sees.
    let exact = noise_budget(&w.ctx, &w.params, &ct, &w.sk).unwrap();
    assert!(exact - w.e().budget(&ct) < 16.0, "{exact} bits, {} by the bound", w.e().budget(&ct));
    let stranger = SecretKey::generate(&w.ctx, &mut w.random).unwrap();
    assert!(decrypt(&w.ctx, &w.params, &ct, &stranger).is_err());
    assert!(matches!(w.encoder.encode(&[1, 65537]), Err(Error::Residue { value: 65537, index: 1, t: 65537 })));
    assert!(matches!(w.encoder.encode(&[0; N + 1]), Err(Error::SlotMismatch { .. })));
    assert_eq!(w.encoder.decode(&[0; N]), [0; N]);
    let by = Encryptor::Secret(&w.sk);
    let high = encrypt(&w.ctx, &w.params, &[0; N], 6, (by, &mut w.random));
    assert!(matches!(high, Err(Error::NoSuchLevel { level: 6, max: 5 })));
}

/// All of a polynomial at t/2, which the roots next to 1 get whole: by itself, times itself, and times others, for as long as it goes.
#[test]
fn bounds_hold_for_the_messages_that_are_worst() {
    for t in [3, 65537] {
        let mut w = World::new(t, Packing::Coefficients, arch::chosen().unwrap());
        let t = *w.params.plain();
        let worst = vec![t.value() as i64 / 2; N];
        let mut by_plain = (w.encrypt(&worst, 5), worst.clone());
        let mut products = 0;
        while let Ok(more) = w.e().mul_plain(&by_plain.0, (&worst, w.encoder.largest_value(&worst))) {
            by_plain = (more, negacyclic(&t, &by_plain.1, &worst));
            assert_eq!(w.decrypt(&by_plain.0), by_plain.1, "modulo {}, product {products}", t.value());
            products += 1;
        }
        // Each takes `log2(N t / pi)` bits, and what is left is too little for one more.
        let bits = (N as f64 * (t.value() / 2) as f64 * std::f64::consts::FRAC_2_PI).log2();
        let mut squares = (w.encrypt(&worst, 5), worst);
        assert!((f64::from(products) * bits - w.e().budget(&squares.0)).abs() < bits + 0.1, "{products}");
        for level in (0..5).rev() {
            squares = (w.e().mul(&squares.0, &squares.0).unwrap(), negacyclic(&t, &squares.1, &squares.1));
            assert_eq!(w.decrypt(&squares.0), squares.1, "modulo {}, level {level}", t.value());
        }
    }
}

/// A bound that does not hold, as one of an altered file: where limbs have room the numbers are right, and what is lost is refused.
#[test]
fn what_the_secret_key_sees_to_be_lost_is_refused() {
    let mut w = World::new(65537, Packing::Slots, arch::chosen().unwrap());
    let (t, x) = (*w.params.plain(), w.numbers(N));
    let by = (Encryptor::Secret(&w.sk), &mut w.random);
    let mut ct = encrypt(&w.ctx, &w.params, &w.encoder.encode(&x).unwrap(), 3, by).unwrap();
    let (mut expected, mut lost) = (x, 0);
    for _ in 0..20 {
        ct.noise = Noise::of_log2(1.0);
        ct = Arc::into_inner(w.e().mul_number(&Arc::new(ct), 30_001).unwrap()).unwrap();
        ct.noise = Noise::of_log2(1.0);
        expected = zip(&t, &expected, &expected, |x, _| 30_001 * x);
        match decrypt(&w.ctx, &w.params, &ct, &w.sk) {
            Ok(words) => assert_eq!((w.encoder.decode(&words), lost), (expected.clone(), 0)),
            Err(Error::UsedUp { bits }) if bits < 1.0 => lost += 1,
            Err(other) => panic!("{other}"),
        }
    }
    assert!((7..14).contains(&lost), "{lost} lost");
}

#[test]
fn parameters_that_cannot_hold_a_product_are_refused() {
    let refused = |text: &str| IntegerParams::from_toml(text, Security::NotChecked).unwrap_err();
    assert_eq!(refused(&literal(65536, 44, 44)), IntegerFault::Plaintext { t: 65536 }.into());
    let t = (1 << 31) + 1;
    assert_eq!(refused(&literal(t, 44, 44)), IntegerFault::Plaintext { t }.into());
    assert!(matches!(
        refused(&literal(65537, 44, 28)),
        Error::BadParameters(ParameterFault::Integer(IntegerFault::SmallLevel { t: 65537, bits, .. })) if bits > 0.0
    ));
    assert!(matches!(
        refused(&literal(65537, 24, 44)),
        Error::BadParameters(ParameterFault::Integer(IntegerFault::SmallBase { t: 65537, bits })) if bits > 0.0
    ));
    let insecure = IntegerParams::from_toml(&literal(65537, 44, 44), Security::Bits128);
    assert!(matches!(insecure, Err(Error::Rlwe(aglet_rlwe::Error::InsecureParameters { .. }))));
    let few = IntegerFault::FewPrimes { what: "level", bits: 70 };
    assert_eq!(refused(&literal(65537, 44, 70)), few.into());
    let binary = format!("{}secret = \"binary\"\n", literal(65537, 44, 44));
    assert_eq!(refused(&binary), IntegerFault::BinarySecret.into());
    let foreign = refused("family = \"ckks\"");
    assert!(matches!(foreign, Error::BadParameters(ParameterFault::Text(TextFault::Unreadable { .. }))), "{foreign}");
    let t = Modulus::new(65539).unwrap();
    let none = Encoder::new(t, (LOG_N, 0), Packing::Slots, arch::chosen().unwrap());
    assert!(matches!(none, Err(Error::NoSlots { t: 65539, n: N })));
}

#[test]
fn every_backend_gives_the_same_bits() {
    let words = |kernels| {
        let mut w = World::new(65537, Packing::Slots, kernels);
        let x = w.numbers(N);
        let ct = w.encrypt(&x, 5);
        let out = w.e().rotate_rows(&w.e().mul(&ct, &ct).unwrap(), 1).unwrap();
        let ring = w.ctx.ring();
        let coeffs = out.polys.iter().map(|p| ring.to_coeff(ring.copy(p, p.q_limbs()).unwrap()).unwrap());
        coeffs.flat_map(|p| p.host().unwrap().iter().map(<[u64]>::to_vec).collect::<Vec<_>>()).collect::<Vec<_>>()
    };
    let first = words(arch::chosen().unwrap());
    assert!(arch::available().iter().all(|kernels| words(kernels) == first));
}

#[test]
fn every_preset_keeps_its_claims() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../aglet/presets/integer");
    let mut levels = Vec::new();
    for file in std::fs::read_dir(folder).unwrap() {
        let path = file.unwrap().path();
        let text = std::fs::read_to_string(&path).unwrap();
        let params = IntegerParams::from_toml(&text, Security::NotChecked).unwrap();
        let claims = params.literal().claims.clone().unwrap();
        // What claims less is a toy, says so, and does not pass the gate.
        let toy = params.name().starts_with("toy-") && text.contains("INSECURE");
        assert_eq!(IntegerParams::from_toml(&text, Security::Bits128).is_err(), toy, "{}", params.name());
        assert_eq!(claims.security_bits < 128.0, toy, "{}", params.name());
        assert_eq!(path.file_stem().unwrap().to_str().unwrap(), params.name());
        assert!((params.log_qp() - claims.log_qp).abs() <= 0.01, "{}: log QP = {}", params.name(), params.log_qp());
        let bits = (params.security().bits * 10.0).floor() / 10.0;
        assert!((bits - claims.security_bits).abs() < 1e-9, "{}: {bits} bits", params.name());
        levels.push((params.log_n(), params.max_level()));
    }
    levels.sort_unstable();
    assert_eq!(levels, [(10, 8), (10, 26), (13, 4), (14, 9), (15, 8), (15, 19), (16, 26), (16, 39)]);
}

#[test]
fn sums_side_by_side_have_the_words_of_each_alone() {
    let mut w = World::new(65537, Packing::Slots, arch::chosen().unwrap());
    let t = *w.params.plain();
    let numbers: Vec<Vec<i64>> = (0..3).map(|_| w.numbers(N)).collect();
    let cts: Vec<_> = numbers.iter().zip([5, 3, 4]).map(|(x, level)| w.encrypt(x, level)).collect();
    let other = w.encrypt(&numbers[0], 2);
    let e = SlotEvaluator::new(w.e(), &w.encoder);
    let words = |x: &IntegerCiphertext| -> Vec<u64> {
        x.polys.iter().flat_map(|p| p.host().unwrap().iter().flatten().copied().collect::<Vec<_>>()).collect()
    };
    // More than are divided together, of one ciphertext too, with multiples that are 0, and one of another level.
    let factors = |i: usize| (0..3).map(move |j| ((i * 977 + j * 31) % 65537 * (i + j) % 65537) as i64);
    let terms = |i: usize| match i {
        7 => vec![(3, &other)],
        9 => vec![(0, &cts[0])],
        _ => factors(i).zip(&cts).take(1 + i % 3).collect(),
    };
    let sums: Vec<_> = (0..40).map(|i| Sum { terms: terms(i), constant: i as i64 - 20 }).collect();
    let found = e.sums(&sums).unwrap();
    for (i, (found, sum)) in found.iter().zip(&sums).enumerate() {
        let alone = e.add_scalar(&e.sum_of_products(&[], &sum.terms).unwrap(), sum.constant).unwrap();
        assert_eq!(words(found), words(&alone), "{i}");
        assert_eq!((found.correction_factor, found.level()), (alone.correction_factor, alone.level()));
        let wanted = (0..N).map(|j| {
            let of = |x: &IntegerCiphertext| cts.iter().position(|y| Arc::ptr_eq(x, y)).unwrap_or(0);
            let sum = sum.terms.iter().map(|(c, x)| i128::from(*c) * i128::from(numbers[of(x)][j])).sum::<i128>();
            t.centre(t.reduce_i128(sum + i as i128 - 20))
        });
        assert_eq!(w.decrypt(found), wanted.collect::<Vec<_>>(), "{i}");
    }
    // A number in every slot is a message whose other coefficients are 0.
    let mut message = vec![0; N];
    message[0] = -12345;
    let (number, plain) = (e.add_number(&cts[0], -12345).unwrap(), e.add_plain(&cts[0], &message).unwrap());
    assert_eq!(words(&number), words(&plain));
    assert!(e.sums(&[]).unwrap().is_empty());
    assert!(matches!(e.sums_of_terms(&[&[]]), Err(Error::EmptyQuadratic)));
    let lowest = w.e().level_down(&other, 0).unwrap();
    assert!(matches!(e.sums_of_terms(&[&[(1, &lowest)]]), Err(Error::LevelTooLow { required: 1, actual: 0 })));
}

#[test]
fn scaled_products_spend_budget_and_no_level() {
    for &kernels in arch::available() {
        let mut w = World::new(65537, Packing::Slots, kernels);
        let (wide, t) = (WideRings::new(&w.params, kernels).unwrap(), *w.params.plain());
        for level in 0..=w.params.max_level() {
            let (x, y) = (w.numbers(N), w.numbers(N));
            let (mut ct, other, mut expected) = (w.encrypt(&x, level), w.encrypt(&y, level), x);
            let mut products = 0;
            let refused = loop {
                // Sides change, and every second one is a square: bounds hold whatever is multiplied.
                let found = match products % 2 {
                    0 => w.e().mul_scaled(&wide, &ct, &other),
                    _ => w.e().mul_scaled(&wide, &ct, &ct),
                };
                let Ok(found) = found else { break found };
                let second = if products % 2 == 0 { &y } else { &expected };
                expected = zip(&t, &expected, second, |x, y| x * y);
                (ct, products) = (found, products + 1);
                assert_eq!((w.decrypt(&ct), ct.level(), ct.degree()), (expected.clone(), level, 1));
                let exact = noise_budget(&w.ctx, &w.params, &ct, &w.sk).unwrap();
                assert!(exact - w.e().budget(&ct) < 12.0 * f64::from(products), "{exact} {}", w.e().budget(&ct));
            };
            assert!(matches!(refused, Err(Error::Noise { .. })), "{refused:?}");
            // A product takes at most 34 bits, and its operands leave 18 at the beginning.
            assert!(f64::from(products) >= (w.params.log_q_at(level) - 35.0) / 37.0 - 1.0, "{products} at {level}");
        }
        // What has been scaled goes on as any other: sums, products by modulus switching, and the way down.
        let (x, y) = (w.numbers(N), w.numbers(N));
        let (a, b) = (w.encrypt(&x, 4), w.encrypt(&y, 3));
        let product = w.e().mul_scaled(&wide, &a, &b).unwrap();
        assert_eq!(product.level(), 3);
        let low = w.e().level_down(&product, 2).unwrap();
        let found = w.e().add(&w.e().mul(&low, &low).unwrap(), &a).unwrap();
        let xy = zip(&t, &x, &y, |x, y| x * y);
        let squares = zip(&t, &xy, &xy, |x, y| x * y);
        assert_eq!(w.decrypt(&found), zip(&t, &squares, &x, |x, y| x + y));
    }
}

/// Every relinearization is told of, and none begins once somebody wants to stop.
#[test]
fn slots_are_watched_and_stopped_between_products() {
    let mut w = World::new(65537, Packing::Slots, arch::chosen().unwrap());
    let x = w.encrypt(&[3, 4], 3);
    let (flag, told) = (AtomicBool::new(false), AtomicUsize::new(0));
    let done = || {
        if told.fetch_add(1, Ordering::Relaxed) == 2 {
            flag.store(true, Ordering::Relaxed);
        }
    };
    let e = SlotEvaluator::new(w.e().stopped_by(&flag), &w.encoder).watched_by(&done);
    let sum = e.form(&[], &[(2, &x)], 1).unwrap();
    assert_eq!(told.load(Ordering::Relaxed), 0, "a sum of terms is not relinearized");
    let square = e.mul(&sum, &sum).unwrap();
    let form = e.form(&[(&square, &square), (&sum, &square)], &[(1, &x)], 5).unwrap();
    assert_eq!(told.load(Ordering::Relaxed), 2);
    e.mul(&square, &sum).unwrap();
    assert!(matches!(e.mul(&square, &square), Err(Error::Cancelled)));
    assert!(matches!(e.form(&[(&sum, &sum)], &[], 0), Err(Error::Cancelled)));
    assert_eq!((told.load(Ordering::Relaxed), w.decrypt(&form)[0]), (3, 49 * 49 + 7 * 49 + 3 + 5));
}
