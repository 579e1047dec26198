//! The forecast of a card's memory against what an emulated card really has at its fullest, and what is refused for lack of it.

use aglet::ckks::card::CardMemory;
use aglet::ckks::{presets, BootstrapCircuit, CkksParams, Engine, KeySize, Method, Request};
use aglet::{Control, ErrorKind, Runtime};
use aglet_ring::arch;
use aglet_testing::card::{emulated, small, Arithmetic, Card, Order};
use aglet_testing::fixture::Fixture;
use std::sync::Arc;

/// How far a forecast may be off.
const OFF: f64 = 0.03;

fn on(preset: &str, slots: Option<usize>, card: Arc<Card>) -> Fixture {
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
