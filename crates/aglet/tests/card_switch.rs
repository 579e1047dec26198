//! Scheme switches with a card: their forecast against what an emulated card has at its fullest, and that nothing goes up where there is too
//! little room.

use crate::card_memory::{integers, OFF};
use aglet::ckks::{presets, BootstrapKey, BootstrapKeys, Ciphertext, CkksParams, Engine, KeySize, Method, Request};
use aglet::fhew::{self, Form};
use aglet::scheme_switch::{IntegerSchemeSwitch, Parts, Reading, SchemeSwitch, SchemeSwitchKey};
use aglet::{Control, Error, ErrorKind, MemoryError, Runtime};
use aglet_ring::{arch, Backend, Host};
use aglet_testing::card::{emulated, shared, small, Arithmetic, Card, Order};
use aglet_testing::fixture::Fixture;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Arc;

fn runtime(on: Arc<dyn Backend>) -> Runtime {
    Runtime::seeded(2, arch::chosen().unwrap().name(), [5; 32]).unwrap().on_backend(on)
}

fn card() -> Arc<Card> {
    emulated(Order::Forward, Arithmetic::F50)
}

fn gates() -> fhew::Engine {
    let params = fhew::presets::load("gate", fhew::presets::Security::Bits128).unwrap();
    fhew::Engine::on(runtime(Arc::new(Host)), params).unwrap()
}

/// A switch of CKKS whose slots are on a card, and all keys of both ways, which were never there.
struct Sides {
    switch: SchemeSwitch,
    here: Fixture,
    fhew_secret: fhew::SecretKey,
    key: SchemeSwitchKey,
    bootstrap: BootstrapKey,
}

impl Sides {
    fn on(card: Arc<dyn Backend>, slots: Option<usize>, size: KeySize) -> Self {
        let engine = |backend| {
            let params: CkksParams = presets::load("toy", presets::Security::NotChecked).unwrap();
            Engine::on(runtime(backend), params, slots).unwrap()
        };
        let here = Fixture::of(engine(Arc::new(Host)));
        let bootstrap = here.key(Request::new(Method::Lossy, 3, size, here.engine.slots()));
        let switch = SchemeSwitch::new(engine(card), gates()).unwrap();
        let fhew_secret = switch.fhew().create_secret_key().unwrap();
        let key = switch.create_key(&here.sk, &fhew_secret, None, &Control::new()).unwrap();
        Self { switch, here, fhew_secret, key, bootstrap }
    }
    fn values(&self) -> Vec<bool> {
        (0..self.here.engine.slots()).map(|i| i * i % 7 < 3).collect()
    }
    fn encrypt(&self, level: usize) -> Ciphertext {
        let values: Vec<f64> = self.values().into_iter().map(|bit| f64::from(u8::from(bit))).collect();
        self.here.encrypt(&values, level)
    }
    fn down(&self, ct: &Ciphertext) -> Result<Vec<bool>, Error> {
        let all: Vec<usize> = (0..self.here.engine.slots()).collect();
        let keys = (&self.key, &self.bootstrap);
        let found = self.switch.to_fhew(ct, (&all, Parts::Real), Reading::Bits, keys, &Control::new())?;
        self.switch.fhew().decrypt_bits(&found, &self.fhew_secret)
    }
    fn fresh(&self) -> Vec<fhew::Ciphertext> {
        self.switch.fhew().encrypt_bits(&self.values(), &self.fhew_secret).unwrap()
    }
    fn up(&self, bits: &[fhew::Ciphertext], complex: bool) -> Result<Vec<bool>, Error> {
        let keys = BootstrapKeys {
            relinearization: &self.here.relin,
            conjugation: &self.here.conj,
            bootstrap: &self.bootstrap,
            rotation: None,
        };
        let imaginary = complex.then_some((Form::Bits, &bits[..5]));
        let made = self.switch.from_fhew((Form::Bits, bits), imaginary, (&self.key, keys), &Control::new())?;
        Ok(self.here.engine.decrypt(&made, &self.here.sk)?.iter().map(|z| z.re > 0.5).collect())
    }
}

/// Forecasts with what a card had at its fullest, compared when all were made.
#[derive(Default)]
struct Compared(Vec<(String, u64, u64)>);

impl Compared {
    fn add(&mut self, what: String, forecast: u64, most: u64) {
        println!("{what}: {most} bytes, {:+.1} % forecast", 100.0 * (forecast as f64 / most as f64 - 1.0));
        self.0.push((what, forecast, most));
    }
    fn all_near(self, most_off: f64) {
        let off = |(_, forecast, most): &(String, u64, u64)| (*forecast as f64 / *most as f64 - 1.0).abs();
        assert!(self.0.iter().all(|one| off(one) < most_off));
    }
}

/// What a card that has little room was said to need, and that nothing went up.
fn refused<T>(card: &Card, work: impl FnOnce() -> Result<T, Error>) -> (&'static str, u64) {
    let _ = card.device().take_most_bytes();
    let held = card.device().held_bytes();
    let error = work().err().expect("it is refused");
    assert_eq!((error.kind(), card.device().take_most_bytes()), (ErrorKind::Memory, held), "{error}");
    match error {
        Error::Memory(
            MemoryError::CardSwitch { what, needed, .. }
            | MemoryError::IntegerCard { what, needed, .. }
            | MemoryError::CardLeft { what, needed, .. },
        ) => (what, needed),
        other => panic!("{other}"),
    }
}

const DOWN: &str = "a conversion to FHEW";
const UP: &str = "a conversion from FHEW";

#[test]
fn the_memory_of_conversions_on_a_card_is_forecast() {
    let mut compared = Compared::default();
    for (slots, size) in [(None, KeySize::Large), (None, KeySize::Medium), (Some(64), KeySize::Medium)] {
        let (little, whole) = (small(1000), card());
        let [none, all] = [little.clone(), whole.clone()].map(|card| Sides::on(card, slots, size));
        for level in [0, 5] {
            // Twice, so that a card has all keys at the fullest moment.
            for _ in 0..2 {
                assert_eq!(all.down(&all.encrypt(level)).unwrap(), all.values());
            }
            let (name, needed) = refused(&little, || none.down(&none.encrypt(level)));
            assert_eq!(name, DOWN);
            let most = whole.device().take_most_bytes();
            compared.add(format!("to FHEW {slots:?} {size:?}, from level {level}"), needed, most);
        }
    }
    for (slots, size, complex) in
        [(None, KeySize::Large, false), (None, KeySize::Medium, true), (Some(64), KeySize::Medium, false)]
    {
        let (little, whole) = (small(1000), card());
        let [none, all] = [little.clone(), whole.clone()].map(|card| Sides::on(card, slots, size));
        for _ in 0..2 {
            assert_eq!(all.up(&all.fresh(), complex).unwrap(), all.values());
        }
        let (name, needed) = refused(&little, || none.up(&none.fresh(), complex));
        assert_eq!(name, UP);
        compared.add(format!("from FHEW {slots:?} {size:?} {complex}"), needed, whole.device().take_most_bytes());
    }
    compared.all_near(OFF);
}

/// Work on a card that has nothing, or much else: refused where too little is left, and done with what was said; once more, as keys and maps are
/// there then.
fn beside(
    what: &str,
    (card, memory): (&Card, &AtomicU64),
    compared: &mut Compared,
    work: &dyn Fn() -> Result<(), Error>,
) -> &'static str {
    let left = |bytes: u64| {
        memory.store(bytes, Ordering::Relaxed);
        card.device().room().unwrap();
    };
    let held = card.device().held_bytes();
    left(held + 1000);
    let (name, needed) = refused(card, work);
    left(held + needed / 100 * 97);
    assert_eq!(refused(card, work), (name, needed), "{what}");
    left(held + needed + needed / 20);
    let _ = card.device().take_most_bytes();
    work().unwrap();
    // All keys are there at the fullest moment.
    work().unwrap();
    compared.add(format!("{what}, beside {held} bytes"), needed, card.device().take_most_bytes() - held);
    name
}

#[test]
fn conversions_that_do_not_fit_beside_others_are_refused() {
    let mut compared = Compared::default();
    let (card, memory) = shared();
    let s = Sides::on(card.clone(), None, KeySize::Medium);
    let (ct, bits) = (s.encrypt(5), s.fresh());
    let up = || s.up(&bits, false).map(|found| assert_eq!(found, s.values()));
    assert_eq!(beside("from FHEW", (&card, &memory), &mut compared, &up), UP);
    let down = || s.down(&ct).map(|found| assert_eq!(found, s.values()));
    assert_eq!(beside("to FHEW", (&card, &memory), &mut compared, &down), DOWN);
    // A ciphertext that rotations left on the card.
    let (card, memory) = shared();
    let s = Sides::on(card.clone(), None, KeySize::Medium);
    let key = |by: i64| s.here.engine.create_fixed_rotation_key(&s.here.sk, by, None).unwrap();
    let keys = [s.here.engine.slots() as i64 / 2, 1, 2, 3].map(key);
    let ct = (0..2).fold(s.encrypt(5), |ct, _| s.switch.slots().rotate_fixed(&ct, &keys[0]).unwrap());
    // Others have more of the card than the conversion takes.
    let _others = keys.each_ref().map(|key| s.switch.slots().rotate_fixed(&ct, key).unwrap());
    let down = || s.down(&ct).map(|found| assert_eq!(found, s.values()));
    assert_eq!(beside("to FHEW from the card", (&card, &memory), &mut compared, &down), DOWN);
    compared.all_near(OFF);
}

#[test]
fn conversions_of_integers_that_do_not_fit_are_refused() {
    let (mut compared, control) = (Compared::default(), Control::new());
    let (card, memory) = shared();
    let (engine, fhew) = (integers("int16", (10, 10), card.clone()), gates());
    let (main, fhew_secret) = (engine.create_secret_key().unwrap(), fhew.create_secret_key().unwrap());
    let bootstrap = engine.create_bootstrap_key(&main, None, &control).unwrap();
    let bits: Vec<bool> = (0..engine.count()).map(|i| i * i % 5 < 2).collect();
    let numbers: Vec<i64> = bits.iter().map(|&bit| bit.into()).collect();
    let ct = engine.encrypt_with_secret(&numbers, 3, &main).unwrap();
    let switch = IntegerSchemeSwitch::new(engine, fhew).unwrap();
    let key = switch.create_key(&main, &fhew_secret, None, &control).unwrap();
    let (all, keys): (Vec<usize>, _) = ((0..bits.len()).collect(), (&key, &bootstrap));
    let fresh = switch.fhew().encrypt_bits(&bits, &fhew_secret).unwrap();
    let up = || {
        let made = switch.from_fhew((Form::Bits, &fresh), None, keys, &control)?;
        assert_eq!(switch.slots().decrypt(&made, &main)?, numbers);
        Ok(())
    };
    assert_eq!(beside("integers from FHEW", (&card, &memory), &mut compared, &up), UP);
    let down = || {
        let found = switch.to_fhew(&ct, &all, Reading::Bits, keys, &control)?;
        assert_eq!(switch.fhew().decrypt_bits(&found, &fhew_secret)?, bits);
        Ok(())
    };
    assert_eq!(beside("integers to FHEW", (&card, &memory), &mut compared, &down), DOWN);
    // Of the few limbs of the way down, lists of addresses and what follows the maps are more.
    compared.all_near(2.0 * OFF);
}
