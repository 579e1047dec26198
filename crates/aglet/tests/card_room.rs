//! Products, rotations and circuits of CKKS on cards: their forecast against what an emulated card has at its fullest, and that nothing
//! goes up where there is too little room.

use aglet::ckks::{
    presets, BootstrapKey, Ciphertext, CkksParams, EncodedMap, EncodedMatrix, Engine, FixedRotationKey, KeySize,
    MapStep, Matrix, MatrixKey, Method, PolynomialBasis, RotationKey, SumWeight,
};
use aglet::{Control, Error, ErrorKind, MemoryError, Runtime};
use aglet_ring::{arch, Backend, Host};
use aglet_testing::card::{emulated, shared, small, Arithmetic, Card, Order};
use aglet_testing::fixture::Fixture;
use num_complex::Complex64;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

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
    matrix: OnceLock<MatrixKey>,
    bootstrap: OnceLock<BootstrapKey>,
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
        let (matrix, bootstrap) = (OnceLock::new(), OnceLock::new());
        Self { engine, here, rotation, fixed, around, matrix, bootstrap, x }
    }

    fn matrix_key(&self) -> &MatrixKey {
        let make = || self.here.engine.create_matrix_key(&self.here.sk, None, Some(4), &Control::new()).unwrap();
        self.matrix.get_or_init(make)
    }

    fn bootstrap_key(&self) -> &BootstrapKey {
        self.bootstrap.get_or_init(|| self.here.key(self.here.request(Method::Regular, 3, KeySize::Large)))
    }

    /// A linear map of two giant steps, not encoded.
    fn map(&self) -> Result<EncodedMap, Error> {
        let diagonal = |period: usize| (0..period).map(|i| Complex64::new(1.0 / (i + 3) as f64, 0.0)).collect();
        let [one, other] = &self.fixed;
        let steps = [
            MapStep { turn: None, terms: vec![(None, diagonal(512)), (Some(one), diagonal(64))] },
            MapStep { turn: Some(other), terms: vec![(Some(one), diagonal(512))] },
        ];
        self.engine.prepare_map(&steps, true, 5, &Control::new())
    }
}

/// A matrix of some rows, in runs of diagonals that do not follow each other.
fn entries() -> Vec<f64> {
    let entry = |i: usize| if [0, 1, 2, 40, 41, 200].contains(&((i % 256 + 512 - i / 256) % 512)) { 0.25 } else { 0.0 };
    (0..256 * 256).map(entry).collect()
}

/// What work begins with: ciphertexts at level 5 and 3, one at the lowest level, or a product of degree 2.
#[derive(Clone, Copy)]
enum Start {
    One,
    Two,
    Low,
    Square,
}
use Start::{Low, One, Square, Two};

impl Start {
    fn count(self) -> usize {
        if matches!(self, Two | Square) {
            2
        } else {
            1
        }
    }
    /// From ciphertexts, where they are.
    fn from(self, engine: &Engine, x: Vec<Ciphertext>) -> Result<Vec<Ciphertext>, Error> {
        Ok(match self {
            One | Two => x,
            Low => vec![engine.level_down(&x[0], 0)?],
            Square => vec![engine.multiply(&x[0], &x[1], None)?],
        })
    }
}

type Run = fn(&Side) -> Result<Vec<Ciphertext>, Error>;

/// The name in the refusal, the number of inputs, and the work.
const WORK: [(&str, Start, Run); 14] = [
    ("a product", Two, |s| Ok(vec![s.engine.multiply(&s.x[0], &s.x[1], Some(&s.here.relin))?])),
    ("a product", One, |s| Ok(vec![s.engine.multiply(&s.x[0], &s.x[0], Some(&s.here.relin))?])),
    ("a sum of products", Two, |s| {
        Ok(vec![s.engine.product_sum(&[(&s.x[0], &s.x[1]), (&s.x[1], &s.x[1])], &s.here.relin)?])
    }),
    ("a rotation", One, |s| Ok(vec![s.engine.conjugate(&s.x[0], &s.here.conj)?])),
    ("a rotation", One, |s| Ok(vec![s.engine.rotate(&s.x[0], &s.rotation, 5)?])),
    ("a rotation", One, |s| s.engine.rotate_batch_fixed(&s.x[0], &s.fixed.each_ref(), &Control::new())),
    ("a rotation", One, |s| s.engine.rotate_batch(&s.x[0], &s.rotation, &[1, 3, 6, 7], &Control::new())),
    ("a polynomial", One, |s| {
        let coefficients: Vec<Complex64> = (0..8).map(|k| Complex64::new(0.5 / f64::from(k + 1), 0.0)).collect();
        let basis = PolynomialBasis::Chebyshev;
        Ok(vec![s.engine.evaluate_polynomial(&s.x[0], &coefficients, basis, &s.here.relin, &Control::new())?])
    }),
    ("a basis", One, |s| s.engine.make_basis(&s.x[0], 7, PolynomialBasis::Chebyshev, &s.here.relin, &Control::new())),
    ("a rotation", Low, |s| Ok(vec![s.engine.rotate_by_bootstrap_key(&s.x[0], s.bootstrap_key(), 7)?])),
    ("a relinearization", Square, |s| Ok(vec![s.engine.relinearize(&s.x[0], &s.here.relin)?])),
    ("a linear map", One, |s| {
        Ok(vec![s.engine.linear_map(&s.map()?, &s.x[0], &s.fixed.each_ref(), &Control::new())?])
    }),
    ("a product with a matrix", One, |s| {
        let matrix = Matrix { entries: &entries(), columns: 256 };
        Ok(vec![s.engine.multiply_matrix(&matrix, &s.x[0], s.matrix_key(), &Control::new())?])
    }),
    ("a weighted sum", Two, |s| {
        let weights = [SumWeight::RealSlots(vec![0.5; s.engine.slots()]), SumWeight::Real(-0.25)];
        Ok(vec![s.engine.weighted_sum(&s.x.iter().zip(weights).collect::<Vec<_>>())?])
    }),
];

#[test]
fn the_memory_of_operations_on_a_card_is_forecast_and_asked_for() {
    for (what, start, run) in WORK {
        let card = emulated(Order::Forward, Arithmetic::F50);
        let mut side = Side::on(card.clone(), start.count(), 1);
        // What it begins with goes up by a key that it does not need; in the second run its own keys are there too.
        let there = side.x.iter().map(|x| side.engine.rotate_fixed(x, &side.around).unwrap()).collect();
        side.x = start.from(&side.engine, there).unwrap();
        let open = |side: &Side, made: Vec<Ciphertext>| -> Vec<Vec<Complex64>> {
            made.iter().map(|ct| side.engine.decrypt(ct, &side.here.sk).unwrap()).collect()
        };
        let wanted = open(&side, run(&side).unwrap());
        let _ = card.device().take_most_bytes();
        run(&side).unwrap();
        let most = (card.device().take_most_bytes() as usize - side.around.card_bytes()) as f64;
        let on = |bytes| {
            let card = small(bytes);
            let mut side = Side::on(card.clone(), start.count(), 2);
            side.x = start.from(&side.engine, std::mem::take(&mut side.x)).unwrap();
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

/// A product that stays at degree 2 needs no key: it is done where one of its operands is.
#[test]
fn a_product_of_degree_2_that_a_card_has_no_room_for_is_refused() {
    let (card, memory) = shared();
    let Side { engine: first, here, around, x, .. } = Side::on(card.clone(), 2, 1);
    let there: Vec<_> = x.iter().map(|x| first.rotate_fixed(x, &around).unwrap()).collect();
    drop((around, x));
    let _ = card.device().take_most_bytes();
    let open = |ct: &Ciphertext| {
        let linear = here.engine.relinearize(ct, &here.relin).unwrap();
        here.engine.decrypt(&linear, &here.sk).unwrap()
    };
    let wanted = open(&first.multiply(&there[0], &there[1], None).unwrap());
    let most = card.device().take_most_bytes() as f64;
    // Another engine has not asked yet.
    let on = |bytes| {
        memory.store(bytes, Ordering::Relaxed);
        engine(card.clone()).multiply(&there[0], &there[1], None)
    };
    let held = card.device().held_bytes();
    let error = on(held).unwrap_err();
    assert!(error.to_string().contains("a product takes") && card.device().take_most_bytes() == held, "{error}");
    let Error::Memory(MemoryError::CardOperation { needed, keys: 0, .. }) = error else { panic!("{error:?}") };
    let off = needed as f64 / most - 1.0;
    println!("a product of degree 2: {most} bytes, {:+.1} % forecast", 100.0 * off);
    assert!(off.abs() < OFF, "{most} taken, {needed} forecast");
    assert!(open(&on(needed + needed / 100).unwrap()) == wanted);
}

/// A card has so many bytes, and is asked for them.
fn left(card: &Card, memory: &AtomicU64, bytes: u64) {
    memory.store(bytes, Ordering::Relaxed);
    card.device().room().unwrap();
}

/// Encoded diagonals stay on a card: they must fit into what it has left.
#[test]
fn encoded_diagonals_that_a_card_has_no_room_for_are_refused() {
    let (card, memory) = shared();
    let leave = |bytes| left(&card, &memory, bytes);
    let side = Side::on(card.clone(), 1, 0);
    let (matrix, key, now) = (Matrix { entries: &entries(), columns: 256 }, side.matrix_key(), Control::new());
    let encode = || side.engine.encode_matrix(&matrix, key, 5, &now);
    let first = encode().unwrap();
    let product = |matrix: &EncodedMatrix| {
        let made = side.engine.multiply_encoded_matrix(matrix, &side.x[0], key, &now).unwrap();
        side.engine.decrypt(&made, &side.here.sk).unwrap()
    };
    let wanted = product(&first);
    // A second one beside it does not fit, though either one would.
    leave(card.device().held_bytes() + 1000);
    let before = card.device().held_bytes();
    let error = encode().err().unwrap();
    assert!(error.to_string().contains("this matrix takes") && error.to_string().contains("without encoding it"));
    let Error::Memory(MemoryError::CardMap { needed, .. }) = error else { panic!("{error:?}") };
    assert_eq!(card.device().held_bytes(), before, "nothing goes up");
    drop(first);
    let freed = before - card.device().held_bytes();
    assert_eq!(freed, needed, "what it takes is known to the word");
    let again = encode().unwrap();
    leave(1 << 32);
    assert!(product(&again) == wanted);
    // An encoded map is asked for alike.
    leave(card.device().held_bytes());
    let steps = [MapStep { turn: None, terms: vec![(None, vec![Complex64::ONE; 8])] }];
    let error = side.engine.encode_map(&steps, true, 5, &now).err().unwrap();
    assert!(error.kind() == ErrorKind::Memory && error.to_string().contains("this linear map takes"), "{error}");
}

/// A card that has room for an operation, and not beside what others have there.
#[test]
fn an_operation_that_does_not_fit_beside_others_is_refused() {
    let (card, memory) = shared();
    let leave = |bytes| left(&card, &memory, bytes);
    let side = Side::on(card.clone(), 1, 0);
    let x = side.engine.rotate_fixed(&side.x[0], &side.fixed[0]).unwrap();
    let _ = card.device().take_most_bytes();
    let again = || side.engine.rotate_fixed(&x, &side.fixed[0]);
    drop(again().unwrap());
    let (held, most) = (card.device().held_bytes(), card.device().take_most_bytes());
    // The key is there: what is left suffices for the work, and for no further key.
    leave(most + (most - held) / 50);
    again().unwrap();
    let _ = card.device().take_most_bytes();
    let error = side.engine.rotate_fixed(&x, &side.fixed[1]).unwrap_err();
    assert_eq!(card.device().take_most_bytes(), held, "nothing goes up");
    assert!(error.to_string().contains("a rotation takes") && error.to_string().contains("more there; drop keys"));
    let Error::Memory(MemoryError::CardLeft { needed, free, .. }) = error else { panic!("{error:?}") };
    let off = needed as f64 / (side.fixed[1].card_bytes() as u64 + most - held) as f64 - 1.0;
    assert!(off.abs() < OFF && free < needed, "{needed} {free}");
    // Somebody leaves.
    leave(held + needed + needed / 100);
    side.engine.rotate_fixed(&x, &side.fixed[1]).unwrap();
}
