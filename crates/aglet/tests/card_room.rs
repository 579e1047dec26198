//! Products, rotations and circuits of CKKS on cards: their forecast against what an emulated card has at its fullest, and that nothing
//! goes up where there is too little room.

use aglet::ckks::{presets, Ciphertext, CkksParams, Engine, FixedRotationKey, PolynomialBasis, RotationKey, SumWeight};
use aglet::{Control, Error, ErrorKind, MemoryError, Runtime};
use aglet_ring::{arch, Backend, Host};
use aglet_testing::card::{emulated, small, Arithmetic, Card, Order};
use aglet_testing::fixture::Fixture;
use num_complex::Complex64;
use std::sync::Arc;

/// How far a forecast may be off.
const OFF: f64 = 0.03;

fn engine(on: Arc<dyn Backend>) -> Engine {
    let params: CkksParams = presets::load("toy", presets::Security::NotChecked).unwrap();
    let runtime = Runtime::seeded(2, arch::chosen().unwrap().name(), [9; 32]).unwrap().on_backend(on);
    Engine::on(runtime, params, None).unwrap()
}

/// An engine on a card, with keys and ciphertexts that were made here.
struct Side {
    engine: Engine,
    here: Fixture,
    rotation: RotationKey,
    fixed: [FixedRotationKey; 2],
    /// Turns slots all the way around, in two steps.
    around: FixedRotationKey,
    x: Vec<Ciphertext>,
}

impl Side {
    /// With so many ciphertexts, each two levels below the one before, that were rotated `turns` times.
    fn on(card: Arc<dyn Backend>, count: usize, turns: usize) -> Self {
        let (engine, here) = (engine(card), Fixture::of(engine(Arc::new(Host))));
        let rotation = here.engine.create_rotation_key(&here.sk, &Control::new()).unwrap();
        let key = |delta| here.engine.create_fixed_rotation_key(&here.sk, delta, None).unwrap();
        let (fixed, around) = ([3, 5].map(key), key(here.engine.slots() as i64 / 2));
        let message: Vec<f64> = (0..here.engine.slots()).map(|i| (i % 7) as f64 / 8.0 - 0.25).collect();
        let x = (0..count).map(|i| here.encrypt(&message, 5 - 2 * i));
        let x = x.map(|x| (0..turns).fold(x, |x, _| here.engine.rotate_fixed(&x, &around).unwrap())).collect();
        Self { engine, here, rotation, fixed, around, x }
    }
}

type Run = fn(&Side) -> Result<Vec<Ciphertext>, Error>;

/// The name in the refusal, the number of inputs, and the work.
const WORK: [(&str, usize, Run); 9] = [
    ("a product", 2, |s| Ok(vec![s.engine.multiply(&s.x[0], &s.x[1], Some(&s.here.relin))?])),
    ("a product", 1, |s| Ok(vec![s.engine.multiply(&s.x[0], &s.x[0], Some(&s.here.relin))?])),
    ("a sum of products", 2, |s| {
        Ok(vec![s.engine.product_sum(&[(&s.x[0], &s.x[1]), (&s.x[1], &s.x[1])], &s.here.relin)?])
    }),
    ("a rotation", 1, |s| Ok(vec![s.engine.conjugate(&s.x[0], &s.here.conj)?])),
    ("a rotation", 1, |s| Ok(vec![s.engine.rotate(&s.x[0], &s.rotation, 5)?])),
    ("a rotation", 1, |s| s.engine.rotate_batch_fixed(&s.x[0], &s.fixed.each_ref(), &Control::new())),
    ("a rotation", 1, |s| s.engine.rotate_batch(&s.x[0], &s.rotation, &[1, 3, 6, 7], &Control::new())),
    ("a polynomial", 1, |s| {
        let coefficients: Vec<Complex64> = (0..8).map(|k| Complex64::new(0.5 / f64::from(k + 1), 0.0)).collect();
        let basis = PolynomialBasis::Chebyshev;
        Ok(vec![s.engine.evaluate_polynomial(&s.x[0], &coefficients, basis, &s.here.relin, &Control::new())?])
    }),
    ("a weighted sum", 2, |s| {
        let weights = [SumWeight::RealSlots(vec![0.5; s.engine.slots()]), SumWeight::Real(-0.25)];
        Ok(vec![s.engine.weighted_sum(&s.x.iter().zip(weights).collect::<Vec<_>>())?])
    }),
];

#[test]
fn the_memory_of_operations_on_a_card_is_forecast_and_asked_for() {
    for (what, count, run) in WORK {
        let card = emulated(Order::Forward, Arithmetic::F50);
        let mut side = Side::on(card.clone(), count, 1);
        // What it begins with goes up by a key that it does not need; in the second run its own keys are there too.
        side.x = side.x.iter().map(|x| side.engine.rotate_fixed(x, &side.around).unwrap()).collect();
        let open = |side: &Side, made: Vec<Ciphertext>| -> Vec<Vec<Complex64>> {
            made.iter().map(|ct| side.engine.decrypt(ct, &side.here.sk).unwrap()).collect()
        };
        let wanted = open(&side, run(&side).unwrap());
        let _ = card.device().take_most_bytes();
        run(&side).unwrap();
        let most = (card.device().take_most_bytes() as usize - side.around.card_bytes()) as f64;
        let on = |bytes| {
            let card = small(bytes);
            let side = Side::on(card.clone(), count, 2);
            let made = run(&side)
                .map(|made| made.iter().map(|ct| side.engine.decrypt(ct, &side.here.sk).unwrap()).collect::<Vec<_>>());
            (made, card.device().take_most_bytes())
        };
        // Without a key it is done here, where the ciphertexts are.
        let (refused, taken) = on(100_000);
        if what == "a weighted sum" {
            assert!(refused.unwrap() == wanted && taken == 0);
            continue;
        }
        let error = refused.expect_err(what);
        assert_eq!((error.kind(), taken), (ErrorKind::Memory, 0), "{error}");
        assert!(error.to_string().contains(&format!("{what} takes")), "{error}");
        let Error::Memory(MemoryError::CardOperation { needed, .. }) = error else { panic!("{error:?}") };
        let off = needed as f64 / most - 1.0;
        println!("{what}: {most} bytes, {:+.1} % forecast", 100.0 * off);
        assert!(off.abs() < OFF, "{what}: {most} taken, {needed} forecast");
        assert!(on(needed + needed / 100).0.unwrap() == wanted, "{what} has the same words");
    }
}

/// A weighted sum is done where one of its ciphertexts is, and the others go there.
#[test]
fn a_weighted_sum_that_a_card_has_no_room_for_is_refused() {
    let sum = |card: Arc<Card>| {
        let side = Side::on(card.clone(), 2, 0);
        let there = side.engine.conjugate(&side.x[1], &side.here.conj).unwrap();
        let fresh: Vec<_> =
            (0..30).map(|i| side.here.encrypt(&vec![f64::from(i) / 64.0; side.engine.slots()], 5)).collect();
        let weight = |i: usize| match i % 2 {
            0 => SumWeight::Real(0.125),
            _ => SumWeight::RealSlots(vec![0.25; side.engine.slots()]),
        };
        let terms: Vec<_> = fresh.iter().chain([&there]).enumerate().map(|(i, ct)| (ct, weight(i))).collect();
        let before = card.device().take_most_bytes();
        let made = side.engine.weighted_sum(&terms).map(|made| side.engine.decrypt(&made, &side.here.sk).unwrap());
        (made, before, card.device().take_most_bytes(), side.here.conj.card_bytes())
    };
    let (made, before, most, key) = sum(emulated(Order::Forward, Arithmetic::F50));
    let wanted = made.unwrap();
    // 30 numbers of i / 64, those at odd places times twice as much, and the first slot of the message, -1/4, once more.
    let whole =
        (0..30).map(|i| f64::from(i) / 64.0 * if i % 2 == 0 { 0.125 } else { 0.25 }).sum::<f64>() - 0.25 * 0.125;
    assert!((wanted[0].re - whole).abs() < 1e-4, "{} {whole}", wanted[0]);
    let (refused, held, after, _) = sum(small(before * 11 / 10));
    let error = refused.unwrap_err();
    assert!(error.kind() == ErrorKind::Memory && after <= held, "{error}");
    let Error::Memory(MemoryError::CardOperation { needed, .. }) = error else { panic!("{error:?}") };
    let off = needed as f64 / (most - key as u64) as f64 - 1.0;
    println!("a weighted sum: {most} bytes, {key} of them a key, {:+.1} % forecast", 100.0 * off);
    assert!(off.abs() < OFF, "{most} taken, {needed} forecast");
    assert!(sum(small(most)).0.unwrap() == wanted);
}
