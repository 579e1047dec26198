//! Slots of CKKS as bits, messages and integers of a FHEW engine: every value, its noise, and what is refused.

use aglet::ckks::presets;
use aglet::ckks::{
    self, BootstrapKey, BootstrapKeys, Ciphertext, GaloisKey, KeySize, Method, RelinearizationKey, Request,
};
use aglet::fhew::{self, Domain, Form, Gate, Integer, Message, Table, Unsigned};
use aglet::scheme_switch::{Parts, Reading, SchemeSwitch, SchemeSwitchKey};
use aglet::{Control, ErrorKind, SecretKey};
use aglet_rlwe::lwe::log2_tail;
use aglet_testing::fixture::shrunk;
use num_complex::Complex64;

struct Sides {
    switch: SchemeSwitch,
    main: SecretKey,
    fhew_secret: fhew::SecretKey,
    key: SchemeSwitchKey,
    bootstrap: BootstrapKey,
}

fn sides(params: ckks::CkksParams, slots: Option<usize>, set: &str) -> Sides {
    let engine = ckks::Engine::new(params, slots, 2).unwrap();
    let fhew = fhew::Engine::new(fhew::presets::load(set, fhew::presets::Security::Bits128).unwrap(), 2).unwrap();
    let (main, fhew_secret) = (engine.create_secret_key().unwrap(), fhew.create_secret_key().unwrap());
    let request = Request::new(Method::Regular, 3, KeySize::Medium, engine.slots());
    let bootstrap = engine.create_bootstrap_key(&main, request, None, &Control::new()).unwrap();
    let switch = SchemeSwitch::new(engine, fhew).unwrap();
    let key = switch.create_key(&main, &fhew_secret, None, &Control::new()).unwrap();
    assert_eq!((key.id(), key.fhew_key_id()), (main.id(), fhew_secret.id()));
    Sides { switch, main, fhew_secret, key, bootstrap }
}

/// The numbers nearest to what ciphertexts hold, whatever their noise.
fn nearest(fhew: &fhew::Engine, cts: &[fhew::Ciphertext], form: fhew::Form, sk: &fhew::SecretKey) -> Vec<i64> {
    let array = fhew::Array::new(&fhew.context(), form, vec![cts.len()], sk.id(), cts.to_vec()).unwrap();
    fhew.decrypt_array(&array, sk, Some(0.0)).unwrap()
}

impl Sides {
    fn encrypt(&self, values: &[f64], level: usize) -> Ciphertext {
        let engine = self.switch.slots();
        let mut all = values.to_vec();
        all.resize(engine.slots(), 0.0);
        engine.encrypt_with_secret(&engine.encode(&all[..], level).unwrap(), &self.main).unwrap()
    }
    fn read(&self, ct: &Ciphertext, slots: &[usize], reading: Reading) -> Result<Vec<fhew::Ciphertext>, aglet::Error> {
        self.switch.to_fhew(ct, (slots, Parts::Real), reading, (&self.key, &self.bootstrap), &Control::new())
    }
}

#[test]
fn bits_of_slots_go_through_gates() {
    for slots in [None, Some(64)] {
        let s = sides(presets::load("toy", presets::Security::NotChecked).unwrap(), slots, "gate");
        let (engine, fhew) = (s.switch.slots(), s.switch.fhew());
        let bits: Vec<bool> = (0..engine.slots()).map(|i| i * i % 7 < 3).collect();
        let values: Vec<f64> = bits.iter().map(|&b| f64::from(u8::from(b))).collect();
        let all: Vec<usize> = (0..engine.slots()).rev().collect();
        for level in [0, 3] {
            let found = s.read(&s.encrypt(&values, level), &all, Reading::Bits).unwrap();
            let expected: Vec<bool> = bits.iter().rev().copied().collect();
            assert_eq!(fhew.decrypt_bits(&found, &s.fhew_secret).unwrap(), expected);
            let key = fhew.create_bootstrap_key(&s.fhew_secret, &Control::new()).unwrap();
            let (one, other) = (&found[..16], &found[16..32]);
            let out = fhew.gate(Gate::Nand, &[one, other], &key, None, &Control::new()).unwrap();
            let nand: Vec<bool> = expected[..16].iter().zip(&expected[16..32]).map(|(&x, &y)| !(x && y)).collect();
            assert_eq!(fhew.decrypt_bits(&out, &s.fhew_secret).unwrap(), nand);
        }
    }
}

#[test]
fn numbers_of_slots_go_through_tables_and_signs() {
    let s = sides(shrunk("regular", 11), None, "lut4");
    let (count, fhew, control) = (s.switch.slots().slots(), s.switch.fhew(), Control::new());
    let key = fhew.create_bootstrap_key(&s.fhew_secret, &control).unwrap();
    let message = Message::new(16, Domain::Padded).unwrap();
    let values: Vec<f64> = (0..count).map(|i| (i * 5 % 16) as f64).collect();
    let at: Vec<usize> = (0..40).map(|i| i * 25).collect();
    let found = s.read(&s.encrypt(&values, 0), &at, Reading::Message(message)).unwrap();
    let expected: Vec<u64> = at.iter().map(|&i| (i * 5 % 16) as u64).collect();
    assert_eq!(fhew.decrypt(&found, message, &s.fhew_secret).unwrap(), expected);
    let squares: Vec<u64> = (0..16).map(|m| m * m % 16).collect();
    let table = Table::new(message, message, &squares).unwrap();
    let out = fhew.lookup(&found[..8], &table, &key, None, &control).unwrap();
    let wanted: Vec<u64> = expected[..8].iter().map(|&m| m * m % 16).collect();
    assert_eq!(fhew.decrypt(&out, message, &s.fhew_secret).unwrap(), wanted);

    // Reals of 20 bits: ties, neighbours of a unit, the ends.
    let (integer, unit) = (Integer::new(20).unwrap(), 1.0 / 524_288.0);
    let some = [0.0, unit, -unit, 2.0 * unit, -2.0 * unit, 1.0 - unit, -1.0, 0.5, -0.5, 0.1234, -0.0001, 0.001];
    let values: Vec<f64> = (0..count).map(|i| some[i % some.len()]).collect();
    let at: Vec<usize> = (0..some.len()).collect();
    let reals = s.read(&s.encrypt(&values, 2), &at, Reading::Real(integer, 1.0)).unwrap();
    let found = nearest(fhew, &reals, fhew::Form::Integers(integer), &s.fhew_secret);
    for (x, found) in some.iter().zip(found) {
        assert!((x / unit - found as f64).abs() < 0.75, "{x}: {found}");
    }
    let signs = fhew.sign(&reals, integer, &key, None, &control).unwrap();
    let wanted: Vec<u64> = some.iter().map(|&x| u64::from(x >= 0.0)).collect();
    assert_eq!(fhew.decrypt(&signs, message, &s.fhew_secret).unwrap(), wanted);
    assert!(reals.iter().all(|ct| ct.variance().sqrt() < 2f64.powi(-22)), "{:e}", reals[0].variance().sqrt());
}

/// Noise is less than ciphertexts say, and as large as a distance as often as is computed.
#[test]
fn noise_is_less_than_said_and_fails_as_often_as_computed() {
    let s = sides(shrunk("regular", 11), None, "lut4");
    let (count, fhew) = (s.switch.slots().slots(), s.switch.fhew());
    let all: Vec<usize> = (0..count).collect();
    let reading = Reading::Real(Integer::new(20).unwrap(), 1.0);
    let (mut errors, mut said) = (Vec::new(), 0.0);
    for _ in 0..4 {
        let found = s.read(&s.encrypt(&vec![0.0; count], 0), &all, reading).unwrap();
        said = found[0].variance();
        // So large that units of 2^-20 of the torus show it.
        let wide = fhew.sum(&[(&found[..], 1 << 20)]).unwrap();
        let units = nearest(fhew, &wide, fhew::Form::Unsigned(Unsigned::new(20).unwrap()), &s.fhew_secret);
        let centred = |u: i64| (u as f64 + 524_288.0).rem_euclid(1_048_576.0) - 524_288.0;
        errors.extend(units.into_iter().map(|u| centred(u) / 2f64.powi(40)));
    }
    let variance = errors.iter().map(|e| e * e).sum::<f64>() / errors.len() as f64;
    println!("deviation 2^{:.2}, said 2^{:.2}", variance.log2() / 2.0, said.log2() / 2.0);
    // What is said counts every rounding by a bound, and all of them as if they were one.
    assert!(variance < said, "measured over said {:.3}", variance / said);
    // Beyond a distance lie as many as the tail of a Gaussian of what was measured has, and so no more than that of what is said.
    for deviations in [1.5, 2.0, 2.5, 3.0] {
        let distance = deviations * variance.sqrt();
        let beyond = errors.iter().filter(|e| e.abs() > distance).count() as f64;
        let expected = log2_tail(distance, variance).exp2() * errors.len() as f64;
        // Few are beyond three deviations, and the tail of such a count is longer than that of a Gaussian.
        let chance = 6.0 * expected.sqrt() + 0.05 * expected;
        assert!((beyond - expected).abs() < chance, "{beyond} beyond {deviations} deviations, {expected:.0} computed");
    }
}

/// A switch with the keys of a way back.
struct Up {
    sides: Sides,
    relinearization: RelinearizationKey,
    conjugation: GaloisKey,
}

impl Up {
    fn new(params: ckks::CkksParams, slots: Option<usize>, set: &str) -> Self {
        let mut sides = sides(params, slots, set);
        let engine = sides.switch.slots();
        let request = Request::new(Method::Lossy, 3, KeySize::Medium, engine.slots());
        let bootstrap = engine.create_bootstrap_key(&sides.main, request, None, &Control::new()).unwrap();
        let relinearization = engine.create_relinearization_key(&sides.main).unwrap();
        let conjugation = engine.create_conjugation_key(&sides.main).unwrap();
        sides.bootstrap = bootstrap;
        Self { sides, relinearization, conjugation }
    }
    fn keys(&self) -> BootstrapKeys<'_> {
        let (relinearization, conjugation) = (&self.relinearization, &self.conjugation);
        BootstrapKeys { relinearization, conjugation, bootstrap: &self.sides.bootstrap, rotation: None }
    }
    fn raise(&self, form: Form, bits: &[fhew::Ciphertext]) -> Result<Ciphertext, aglet::Error> {
        self.sides.switch.from_fhew((form, bits), None, (&self.sides.key, self.keys()), &Control::new())
    }
    /// The noise of a rotation is squared, so that its tail is long: 24 times the root mean square is 6.4 deviations of a bit.
    fn assert_squared(&self, ct: &Ciphertext, expected: &[bool]) {
        let (error, stated) = (self.error(ct, expected), ct.stated.noise);
        assert!(
            error < 24.0 * stated && stated < 2f64.powi(-8),
            "2^{:.1}, stated 2^{:.1}",
            error.log2(),
            stated.log2()
        );
    }
    /// The largest error of a slot.
    fn error(&self, ct: &Ciphertext, expected: &[bool]) -> f64 {
        let engine = self.sides.switch.slots();
        let found = engine.decrypt(ct, &self.sides.main).unwrap();
        let wanted = |i| f64::from(u8::from(expected.get(i).copied().unwrap_or(false)));
        found.iter().enumerate().map(|(i, z)| (z.re - wanted(i)).hypot(z.im)).fold(0.0, f64::max)
    }
}

#[test]
fn bits_go_up_to_fresh_slots_and_down_again() {
    for slots in [None, Some(64)] {
        let up = Up::new(presets::load("toy", presets::Security::NotChecked).unwrap(), slots, "gate");
        let (switch, s) = (&up.sides.switch, &up.sides);
        let (engine, fhew) = (switch.slots(), switch.fhew());
        let key = fhew.create_bootstrap_key(&s.fhew_secret, &Control::new()).unwrap();
        for count in [engine.slots(), 37, 1, 0] {
            let bits: Vec<bool> = (0..count).map(|i| i * i % 11 < 5).collect();
            let fresh = fhew.encrypt_bits(&bits, &s.fhew_secret).unwrap();
            let raised = up.raise(Form::Bits, &fresh).unwrap();
            let level = engine.bootstrap_output_level(Request::new(Method::Lossy, 3, KeySize::Medium, engine.slots()));
            assert_eq!((engine.level(&raised).unwrap(), raised.real), (level.unwrap(), true));
            assert_eq!(raised.points, Some(ckks::Points::Bits));
            let error = up.error(&raised, &bits);
            assert!(error < 2f64.powi(-12), "{count} bits of {:?} slots: {:.1}", slots, error.log2());
            assert!(raised.stated.noise < 2f64.powi(-14), "stated 2^{:.1}", raised.stated.noise.log2());
        }
        // Down, through a gate, up, and down.
        let bits: Vec<bool> = (0..24).map(|i| i % 3 == 0).collect();
        let values: Vec<f64> = bits.iter().map(|&b| f64::from(u8::from(b))).collect();
        let at: Vec<usize> = (0..24).collect();
        let low = s.read(&s.encrypt(&values, 0), &at, Reading::Bits).unwrap();
        let nand = fhew.gate(Gate::Nand, &[&low[..12], &low[12..]], &key, None, &Control::new()).unwrap();
        let expected: Vec<bool> = (0..12).map(|i| !(bits[i] && bits[i + 12])).collect();
        let raised = up.raise(Form::Bits, &nand).unwrap();
        up.assert_squared(&raised, &expected);
        let again = s.read(&raised, &at[..12], Reading::Bits).unwrap();
        assert_eq!(fhew.decrypt_bits(&again, &s.fhew_secret).unwrap(), expected);
    }
}

#[test]
fn signs_of_slots_go_up_as_slots() {
    let up = Up::new(shrunk("regular", 11), None, "lut4");
    let (s, control) = (&up.sides, Control::new());
    let fhew = s.switch.fhew();
    let key = fhew.create_bootstrap_key(&s.fhew_secret, &control).unwrap();
    let values: Vec<f64> = (0..16).map(|i| f64::from(i) / 7.5 - 1.0).collect();
    let (at, integer): (Vec<usize>, _) = ((0..16).collect(), Integer::new(16).unwrap());
    let reals = s.read(&s.encrypt(&values, 3), &at, Reading::Real(integer, 1.0)).unwrap();
    let signs = fhew.sign(&reals, integer, &key, None, &control).unwrap();
    let raised = up.raise(Form::Messages(Domain::Padded), &signs).unwrap();
    let expected: Vec<bool> = values.iter().map(|&x| x >= 0.0).collect();
    up.assert_squared(&raised, &expected);
}

#[test]
fn complex_slots_come_down_and_go_up_as_two_bits() {
    for slots in [None, Some(64)] {
        let up = Up::new(presets::load("toy", presets::Security::NotChecked).unwrap(), slots, "gate");
        let (s, control) = (&up.sides, Control::new());
        let (engine, fhew) = (s.switch.slots(), s.switch.fhew());
        let (real, imaginary): (Vec<bool>, Vec<bool>) =
            (0..engine.slots()).map(|i| (i * i % 7 < 3, i * i % 5 < 2)).unzip();
        let part = |bit: bool| f64::from(u8::from(bit));
        let values: Vec<_> = real.iter().zip(&imaginary).map(|(&x, &y)| Complex64::new(part(x), part(y))).collect();
        let ct = engine.encrypt_with_secret(&engine.encode(&values[..], 2).unwrap(), &s.main).unwrap();
        let all: Vec<usize> = (0..engine.slots()).collect();
        let read = |ct: &Ciphertext, parts| {
            let found = s.switch.to_fhew(ct, (&all, parts), Reading::Bits, (&s.key, &s.bootstrap), &control).unwrap();
            fhew.decrypt_bits(&found, &s.fhew_secret).unwrap()
        };
        assert_eq!(read(&ct, Parts::Real), real);
        assert_eq!(read(&ct, Parts::Imaginary), imaginary);
        assert_eq!(read(&ct, Parts::Both), [real.clone(), imaginary.clone()].concat());

        // Up, with fewer imaginary parts than real ones, and down again.
        let fresh = |bits: &[bool]| fhew.encrypt_bits(bits, &s.fhew_secret).unwrap();
        let (ups, others) = (fresh(&real), fresh(&imaginary[..21]));
        let raise = |real, imaginary| s.switch.from_fhew(real, imaginary, (&s.key, up.keys()), &control);
        let raised = raise((Form::Bits, &ups), Some((Form::Bits, &others))).unwrap();
        assert!(!raised.real && raised.points.is_none());
        let found = engine.decrypt(&raised, &s.main).unwrap();
        let wanted = |i: usize| Complex64::new(part(real[i]), if i < 21 { part(imaginary[i]) } else { 0.0 });
        let error = found.iter().enumerate().map(|(i, z)| (z - wanted(i)).norm()).fold(0.0, f64::max);
        assert!(error < 2f64.powi(-12) && raised.stated.noise < 2f64.powi(-13), "2^{:.1}", error.log2());
        assert_eq!(read(&raised, Parts::Real), real);
        assert_eq!(read(&raised, Parts::Imaginary)[..21], imaginary[..21]);
    }
}

#[test]
fn what_cannot_go_up_is_refused() {
    let up = Up::new(presets::load("toy", presets::Security::NotChecked).unwrap(), Some(64), "gate");
    let (s, control) = (&up.sides, Control::new());
    let (switch, engine, fhew) = (&s.switch, s.switch.slots(), s.switch.fhew());
    let kind = |result: Result<Ciphertext, aglet::Error>| result.map(|_| ()).unwrap_err().kind();
    let bits = fhew.encrypt_bits(&[true; 65], &s.fhew_secret).unwrap();
    assert_eq!(kind(up.raise(Form::Bits, &bits)), ErrorKind::Range);
    assert_eq!(kind(up.raise(Form::Integers(Integer::new(4).unwrap()), &bits[..1])), ErrorKind::Parameter);
    let noisy = fhew.sum(&[(&bits[..1], 1 << 33)]).unwrap();
    assert_eq!(kind(up.raise(Form::Bits, &noisy)), ErrorKind::Range);
    let log2_failure = |ct: &fhew::Ciphertext| switch.log2_failure_from_fhew(Form::Bits, ct.variance()).unwrap();
    assert!(log2_failure(&noisy[0]) > -128.0 && log2_failure(&bits[0]) < -1000.0);
    let other = fhew.create_secret_key().unwrap();
    let foreign = fhew.encrypt_bits(&[true], &other).unwrap();
    assert_eq!(kind(up.raise(Form::Bits, &foreign)), ErrorKind::KeyMismatch);
    let stranger = engine.create_secret_key().unwrap();
    let key = switch.create_key(&stranger, &s.fhew_secret, None, &control).unwrap();
    let bit = &bits[..1];
    assert_eq!(kind(switch.from_fhew((Form::Bits, bit), None, (&key, up.keys()), &control)), ErrorKind::KeyMismatch);
    for (method, size) in [(Method::Regular, KeySize::Medium), (Method::Lossy, KeySize::Small)] {
        let request = Request::new(method, 3, size, engine.slots());
        let bootstrap = engine.create_bootstrap_key(&s.main, request, None, &control).unwrap();
        let keys = BootstrapKeys { bootstrap: &bootstrap, ..up.keys() };
        assert_eq!(kind(switch.from_fhew((Form::Bits, bit), None, (&s.key, keys), &control)), ErrorKind::MissingKey);
    }
    control.cancel();
    assert_eq!(kind(switch.from_fhew((Form::Bits, bit), None, (&s.key, up.keys()), &control)), ErrorKind::Cancelled);
}

#[test]
fn what_cannot_come_down_is_refused() {
    let s = sides(presets::load("toy", presets::Security::NotChecked).unwrap(), None, "gate");
    let (engine, control) = (s.switch.slots(), Control::new());
    let ones = s.encrypt(&vec![1.0; engine.slots()], 0);
    let kind = |result: Result<Vec<fhew::Ciphertext>, aglet::Error>| result.map(|_| ()).unwrap_err().kind();
    assert_eq!(kind(s.read(&ones, &[0, engine.slots()], Reading::Bits)), ErrorKind::Range);
    let twos = s.encrypt(&vec![2.0; engine.slots()], 0);
    assert_eq!(kind(s.read(&twos, &[0], Reading::Bits)), ErrorKind::Range);
    assert!(s.read(&ones, &[], Reading::Bits).unwrap().is_empty());
    // What it states of its size and noise is held, and what the caller says of both counts where it is less.
    let said = |ct: &Ciphertext, bound, noise| engine.assume(ct, ckks::Stated { bound, noise });
    let half = engine.multiply_scalar(&s.encrypt(&[1.0, 0.0], 1), 1.0).unwrap();
    assert!(half.stated.noise.is_infinite());
    assert_eq!(kind(s.read(&half, &[0], Reading::Bits)), ErrorKind::Range);
    let known = said(&half, 1.0, 0.001).unwrap();
    assert_eq!((known.stated.bound, known.stated.noise), (1.0, 0.001));
    assert!(s.read(&known, &[0], Reading::Bits).is_ok());
    let large = said(&ones, 3.0, f64::INFINITY).unwrap();
    assert_eq!(kind(s.read(&large, &[0], Reading::Bits)), ErrorKind::Range);
    assert_eq!(said(&large, 1.0, f64::INFINITY).unwrap().stated.bound, 1.0);
    for (bound, noise) in [(0.5, 1.0), (0.0, 1.0), (1.0, -1.0), (f64::NAN, 1.0)] {
        assert_eq!(said(&ones, bound, noise).map(|_| ()).unwrap_err().kind(), ErrorKind::Range);
    }
    let other = engine.create_secret_key().unwrap();
    let foreign = s.switch.create_key(&other, &s.fhew_secret, None, &control).unwrap();
    let read =
        |down, bootstrap| s.switch.to_fhew(&ones, (&[0], Parts::Real), Reading::Bits, (down, bootstrap), &control);
    assert_eq!(kind(read(&foreign, &s.bootstrap)), ErrorKind::KeyMismatch);
    let small = Request::new(Method::Regular, 3, KeySize::Small, engine.slots());
    let small = engine.create_bootstrap_key(&s.main, small, None, &control).unwrap();
    assert_eq!(kind(read(&s.key, &small)), ErrorKind::MissingKey);
    control.cancel();
    assert_eq!(kind(read(&s.key, &s.bootstrap)), ErrorKind::Cancelled);
    let forecast = s.switch.create_key(&s.main, &s.fhew_secret, Some(1000), &Control::new());
    assert_eq!(forecast.map(|_| ()).unwrap_err().kind(), ErrorKind::Memory);
    // SHIP has no maps that lead to coefficients.
    let ship = ckks::Engine::new(presets::load("toy-ship", presets::Security::NotChecked).unwrap(), None, 1).unwrap();
    let fhew = fhew::Engine::new(fhew::presets::load("gate", fhew::presets::Security::Bits128).unwrap(), 1).unwrap();
    assert_eq!(SchemeSwitch::new(ship, fhew).map(|_| ()).unwrap_err().kind(), ErrorKind::Parameter);
}
