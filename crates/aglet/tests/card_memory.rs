//! The forecast of a card's memory against what an emulated card really has at its fullest, and what is refused for lack of it.

use aglet::ckks::card::CardMemory;
use aglet::ckks::{presets, BootstrapCircuit, CkksParams, Engine, KeySize, Method, Request};
use aglet::integer::{self, Packing};
use aglet::{Control, Error, ErrorKind, MemoryError, Runtime};
use aglet_ring::{arch, Backend, Host};
use aglet_testing::card::{emulated, small, Arithmetic, Card, Order};
use aglet_testing::fixture::{shrunk_integers, Fixture};
use std::sync::Arc;

/// How far a forecast may be off.
pub const OFF: f64 = 0.03;

pub fn on(preset: &str, slots: Option<usize>, card: Arc<Card>) -> Fixture {
    let params: CkksParams = presets::load(preset, presets::Security::NotChecked).unwrap();
    let runtime = Runtime::seeded(2, arch::chosen().unwrap().name(), [5; 32]).unwrap().on_backend(card);
    Fixture::of(Engine::on(runtime, params, slots).unwrap())
}

/// Compares the forecast for `count` bootstraps at a time with what the card had at its fullest.
fn check(preset: &str, slots: Option<usize>, of: (Method, usize, KeySize), count: usize) {
    let card = emulated(Order::Forward, Arithmetic::F50);
    let f = on(preset, slots, card.clone());
    let request = Request::new(of.0, of.1, of.2, f.engine.slots());
    let key = f.key(request);
    let ct = f.encrypt(&vec![0.25; f.engine.slots()], f.engine.max_level().min(4));
    f.engine.bootstrap_many(&vec![(&ct, request); count], f.keys(&key), 1, &Control::new()).unwrap();
    let forecast = CardMemory::of(&f.engine.circuit(request).unwrap(), count).unwrap();
    let most = card.device().take_most_bytes();
    let off = forecast.bytes() as f64 / most as f64 - 1.0;
    println!("{preset} {slots:?} {of:?} {count}: {most} bytes, {:+.1} % forecast", 100.0 * off);
    assert!(off.abs() < OFF, "{preset} {slots:?} {of:?} {count}: {most} taken, {forecast:?}");
}

#[test]
fn the_memory_of_bootstraps_on_a_card_is_forecast() {
    check("toy", None, (Method::Regular, 3, KeySize::Large), 1);
    check("toy", None, (Method::Regular, 4, KeySize::Medium), 2);
    check("toy", None, (Method::Lossy, 3, KeySize::Small), 1);
    check("toy", Some(16), (Method::Sign, 2, KeySize::Large), 3);
}

#[test]
fn the_memory_of_ship_on_a_card_is_forecast() {
    check("toy-ship", None, (Method::Regular, 1, KeySize::Large), 1);
}

/// A card that is too small refuses before anything goes up, and one that is large enough for one at a time takes one at a time.
#[test]
fn what_a_card_has_no_room_for_is_refused() {
    let params: CkksParams = presets::load("toy", presets::Security::NotChecked).unwrap();
    let request = Request::new(Method::Regular, 3, KeySize::Medium, params.slots());
    let forecast = |count| {
        let circuit = BootstrapCircuit::new(&params, request).unwrap();
        CardMemory::of(&circuit, count).unwrap().bytes() as u64
    };
    let bootstrap = |bytes: u64| {
        let card = small(bytes);
        let f = on("toy", None, card.clone());
        let (key, ct) = (f.key(request), f.encrypt(&vec![0.25; f.engine.slots()], 1));
        let made = f.engine.bootstrap_many(&[(&ct, request); 2], f.keys(&key), 1, &Control::new());
        (made.map(|made| made.len()), card.device().take_most_bytes())
    };
    let (one, two) = (forecast(1), forecast(2));
    assert!(one + one / 50 < two, "{one} {two}");
    let (refused, most) = bootstrap(one - one / 50);
    let error = refused.unwrap_err();
    assert_eq!((error.kind(), most), (ErrorKind::Memory, 0), "{error}");
    assert!(error.to_string().contains("size=\"medium\" or \"small\""), "{error}");
    let [(first, alone), (second, together)] = [two - 1, 2 * two].map(bootstrap);
    assert_eq!([first.unwrap(), second.unwrap()], [2, 2]);
    assert!(alone < together && alone < two, "{one} {two}: {alone} {together}");
}

/// An engine of integers in a small ring.
pub fn integers(preset: &str, ring: (u32, u32), card: Arc<dyn Backend>) -> integer::Engine {
    let runtime = Runtime::seeded(2, arch::chosen().unwrap().name(), [5; 32]).unwrap().on_backend(card);
    integer::Engine::on(runtime, shrunk_integers(preset, "small", ring), Packing::Slots).unwrap()
}

#[test]
fn the_memory_of_bootstraps_of_integers_on_a_card_is_forecast() {
    for (preset, ring, count) in [("int16", (10, 10), 1), ("int16", (9, 9), 3), ("int16-deep", (10, 9), 2)] {
        let card = emulated(Order::Forward, Arithmetic::F50);
        let engine = integers(preset, ring, card.clone());
        let sk = engine.create_secret_key().unwrap();
        let key = engine.create_bootstrap_key(&sk, None, &Control::new()).unwrap();
        let cts = vec![engine.encrypt_with_secret(&[1, 2, 3], 1, &sk).unwrap(); count];
        // The second has all keys beside the stage that takes most, whatever stage it is.
        for _ in 0..2 {
            engine.bootstrap_many(&cts, &key, &Control::new()).unwrap();
        }
        let forecast = integer::card::bootstrap(engine.params(), count).unwrap();
        let most = card.device().take_most_bytes();
        let off = forecast.bytes() as f64 / most as f64 - 1.0;
        println!("{preset} {ring:?} {count}: {most} bytes, {:+.1} % forecast, {forecast:?}", 100.0 * off);
        assert!(off.abs() < OFF, "{preset} {count}: {most} taken, {forecast:?}");
    }
}

#[test]
fn the_memory_of_products_of_integers_on_a_card_is_forecast() {
    let card = emulated(Order::Forward, Arithmetic::F50);
    let engine = integers("int16", (10, 10), card.clone());
    let (sk, top) = (engine.create_secret_key().unwrap(), engine.params().max_level());
    let relin = engine.create_relinearization_key(&sk).unwrap();
    let fresh = || engine.encrypt_with_secret(&[1, 2, 3], top, &sk).unwrap();
    let [x, y] = [(), ()].map(|()| engine.multiply(&fresh(), &fresh(), &relin).unwrap());
    // Fresh operands are on the host when they are multiplied.
    let forecast = |levels| integer::card::product(engine.params(), levels).unwrap().bytes() as f64;
    assert!((card.device().take_most_bytes() as f64) < forecast([top; 2]));
    // Those of products are on the card.
    let there = x.level();
    engine.multiply(&x, &y, &relin).unwrap();
    let (wanted, most) = (forecast([there; 2]), card.device().take_most_bytes() as f64);
    println!("a product at level {there}: {most} bytes, {:+.1} % forecast", 100.0 * (wanted / most - 1.0));
    assert!((wanted / most - 1.0).abs() < OFF, "{most} taken, {wanted} forecast");
}

/// A card that is too small for a product or a bootstrap of integers refuses before anything goes up, and as many are bootstrapped at
/// once as it has room for.
#[test]
fn integers_that_a_card_has_no_room_for_are_refused() {
    let ring = ("int16", (9, 9));
    let params = shrunk_integers(ring.0, "small", ring.1);
    let forecast = |count| integer::card::bootstrap(&params, count).unwrap().bytes() as u64;
    let (one, two, three) = (forecast(1), forecast(2), forecast(3));
    assert!(one < two && two < three, "{one} {two} {three}");
    let bootstrap = |bytes: u64| {
        let card = small(bytes);
        let engine = integers(ring.0, ring.1, card.clone());
        let sk = engine.create_secret_key().unwrap();
        let key = engine.create_bootstrap_key(&sk, None, &Control::new()).unwrap();
        let cts = vec![engine.encrypt_with_secret(&[4, 5], 1, &sk).unwrap(); 3];
        let made = engine.bootstrap_many(&cts, &key, &Control::new());
        let opened = made.map(|made| made.iter().all(|ct| engine.decrypt(ct, &sk).unwrap()[..2] == [4, 5]));
        (opened, card.device().take_most_bytes())
    };
    let (refused, most) = bootstrap(one - one / 50);
    let error = refused.unwrap_err();
    assert_eq!((error.kind(), most), (ErrorKind::Memory, 0), "{error}");
    assert!(
        error.to_string().contains("a bootstrap of this set takes") && error.to_string().contains("mode="),
        "{error}"
    );
    let [(first, alone), (second, together)] = [two - 1, 2 * three].map(bootstrap);
    assert!(first.unwrap() && second.unwrap());
    assert!(alone < together && alone < two, "{one} {two}: {alone} {together}");

    let top = params.max_level();
    let needed = integer::card::product(&params, [top; 2]).unwrap().bytes() as u64;
    let product = |bytes| {
        let card = small(bytes);
        let engine = integers(ring.0, ring.1, card.clone());
        let sk = engine.create_secret_key().unwrap();
        let relin = engine.create_relinearization_key(&sk).unwrap();
        let [x, y] = [(); 2].map(|()| engine.encrypt_with_secret(&[4, 5], top, &sk).unwrap());
        let made = engine.multiply(&x, &y, &relin);
        (made.map(|made| engine.decrypt(&made, &sk).unwrap()[..2] == [16, 25]), card.device().take_most_bytes())
    };
    let (refused, most) = product(needed - 8);
    let error = refused.unwrap_err();
    assert_eq!((error.kind(), most), (ErrorKind::Memory, 0), "{error}");
    assert!(product(needed).0.unwrap());
}

/// An engine of integers on a card, with keys and ciphertexts that were made here.
struct Integers {
    engine: integer::Engine,
    sk: aglet::SecretKey,
    relin: integer::RelinearizationKey,
    rotation: integer::RotationKey,
    /// Turns rows all the way around, at each level.
    around: integer::FixedRotationKey,
    x: Vec<integer::Ciphertext>,
}

impl Integers {
    /// With so many ciphertexts, each a level below the one before, that were rotated `turns` times.
    fn on(card: Arc<Card>, count: usize, turns: usize) -> Self {
        let [here, engine] = [Arc::new(Host) as Arc<dyn Backend>, card].map(|on| integers("int16", (9, 9), on));
        let (sk, top, control) = (here.create_secret_key().unwrap(), here.params().max_level(), Control::new());
        let relin = here.create_relinearization_key(&sk).unwrap();
        let rotation = here.create_rotation_key(&sk, &control).unwrap();
        let around = here.create_fixed_rotation_key(&sk, here.count() as i64 / 4, top, &control).unwrap();
        let x = (0..count).map(|i| here.encrypt_with_secret(&[0, 1, 2, 3], top - i, &sk).unwrap());
        let turned = |x| (0..turns).fold(x, |x, _| here.rotate_fixed(&x, &around).unwrap());
        let x = x.map(turned).collect();
        Self { engine, sk, relin, rotation, around, x }
    }

    /// What work of this name begins with: a relinearization with a product of degree 2.
    fn begin(&mut self, what: &str) {
        if what == "a relinearization" {
            self.x = vec![self.engine.multiply_only(&self.x[0], &self.x[1]).unwrap()];
        }
    }
}

/// Circuits of several products, tables and rotations: refused before anything goes up on a card that is a little too small, done on one
/// that is a little larger than what they take at their fullest.
#[test]
fn circuits_of_integers_that_a_card_has_no_room_for_are_refused() {
    type Run = fn(&Integers) -> Result<integer::Ciphertext, Error>;
    // With the number of inputs.
    let circuits: [(&str, usize, Run, &[i64]); 8] = [
        ("a product", 1, |i| i.engine.multiply(&i.x[0], &i.x[0], &i.relin), &[0, 1, 4, 9]),
        ("a relinearization", 2, |i| i.engine.relinearize(&i.x[0], &i.relin), &[0, 1, 4, 9]),
        ("a power", 1, |i| i.engine.power(&i.x[0], 5, &i.relin, &Control::new()), &[0, 1, 32, 243]),
        (
            "a polynomial",
            1,
            |i| i.engine.evaluate_polynomial(&i.x[0], &[3, 1, 0, 2, 0, 0, 1], (&i.relin, None), &Control::new()),
            &[3, 7, 85, 789],
        ),
        (
            "a table",
            2,
            |i| {
                let table = i.engine.table(&(0..16).map(|v| v * v % 7).collect::<Vec<_>>(), 2)?;
                i.engine.lookup(&i.x, &table, &i.relin, &Control::new())
            },
            // Of 4 v + v.
            &[0, 4, 2, 1],
        ),
        ("a rotation", 1, |i| i.engine.rotate_rows(&i.x[0], &i.rotation, -3), &[3, 0, 0, 0]),
        ("a rotation", 1, |i| i.engine.rotate_columns(&i.x[0], &i.rotation), &[0, 0, 0, 0]),
        ("a rotation", 1, |i| i.engine.sum_slots(&i.x[0], &i.rotation), &[6, 6, 6, 6]),
    ];
    for (what, count, run, wanted) in circuits {
        let card = emulated(Order::Forward, Arithmetic::F50);
        let mut side = Integers::on(card.clone(), count, 1);
        // What it begins with goes up by a key that it does not need; in the second run its own keys are there too.
        side.x = side.x.iter().map(|x| side.engine.rotate_fixed(x, &side.around).unwrap()).collect();
        side.begin(what);
        run(&side).unwrap();
        let _ = card.device().take_most_bytes();
        run(&side).unwrap();
        let most = (card.device().take_most_bytes() as usize - side.around.card_bytes()) as f64;
        let on = |bytes| {
            let card = small(bytes);
            let mut side = Integers::on(card.clone(), count, 2);
            side.begin(what);
            let made = run(&side);
            (made.map(|made| side.engine.decrypt(&made, &side.sk).unwrap()), card.device().take_most_bytes())
        };
        let (refused, taken) = on(100_000);
        let error = refused.expect_err(what);
        assert_eq!((error.kind(), taken), (ErrorKind::Memory, 0), "{error}");
        assert!(error.to_string().contains(&format!("{what} of this set takes")), "{error}");
        let Error::Memory(MemoryError::IntegerCard { needed, .. }) = error else { panic!("{error:?}") };
        let off = needed as f64 / most - 1.0;
        println!("{what}: {most} bytes, {:+.1} % forecast", 100.0 * off);
        assert!(off.abs() < OFF, "{what}: {most} taken, {needed} forecast");
        // Lists of addresses are more beside limbs of a small ring.
        assert_eq!(on(needed + needed / 100).0.unwrap()[..wanted.len()], *wanted, "{what}");
    }
}

/// A weighted sum needs no key: it is done where one of its ciphertexts is, and the others go there.
#[test]
fn a_weighted_sum_of_integers_that_a_card_has_no_room_for_is_refused() {
    let sum = |card: Arc<Card>| {
        let side = Integers::on(card.clone(), 2, 0);
        let there = side.engine.rotate_columns(&side.x[1], &side.rotation).unwrap();
        let top = side.engine.params().max_level();
        let fresh = || side.engine.encrypt_with_secret(&[1, 2], top, &side.sk).unwrap();
        let (cts, weight) = ((0..20).map(|_| fresh()).collect::<Vec<_>>(), side.engine.encode(&[3, 5]).unwrap());
        let terms: Vec<_> = [&there].into_iter().chain(&cts).map(|ct| (ct, &weight)).collect();
        let before = card.device().take_most_bytes();
        let made = side.engine.weighted_sum(&terms, &Control::new());
        let most = card.device().take_most_bytes();
        // What is here stays here.
        assert!(cts[0].level() == top && side.engine.weighted_sum(&terms[1..3], &Control::new()).is_ok());
        (made.map(|made| side.engine.decrypt(&made, &side.sk).unwrap()[..2] == [60, 200]), before, most)
    };
    let (made, before, most) = sum(emulated(Order::Forward, Arithmetic::F50));
    assert!(made.unwrap() && most > before);
    // The key and the result of the rotation are there, which the forecast does not count; the room for the sum is what is left.
    let (refused, before, after) = sum(small(before * 11 / 10));
    let error = refused.unwrap_err();
    assert_eq!((error.kind(), after <= before), (ErrorKind::Memory, true), "{error}");
    assert!(error.to_string().contains("a weighted sum of this set takes"), "{error}");
    assert!(sum(small(most)).0.unwrap());
}
