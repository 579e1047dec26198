//! Bootstraps and products on a card that others have a part of: compared with what is free, before anything goes up and in the middle.

use crate::card_memory::{integers, on, OFF};
use aglet::ckks::card::CardMemory;
use aglet::ckks::{KeySize, Method, Request};
use aglet::{integer, Control, Error, ErrorKind, MemoryError};
use aglet_testing::card::{shared, taken_after, Card};
use std::sync::atomic::{AtomicU64, Ordering};

/// Has a card so many bytes from now on, and asks it.
fn left(card: &Card, memory: &AtomicU64, bytes: u64) {
    memory.store(bytes, Ordering::Relaxed);
    card.device().room().unwrap();
}

/// A bootstrap is compared with what is free beside others: those that have the card, and what of it is there already.
#[test]
fn a_bootstrap_that_does_not_fit_beside_others_is_refused() {
    let (card, memory) = shared();
    let f = on("toy", None, card.clone());
    let request = Request::new(Method::Regular, 3, KeySize::Medium, f.engine.slots());
    let (key, ct) = (f.key(request), f.encrypt(&vec![0.25; f.engine.slots()], 1));
    let run = |count| f.engine.bootstrap_many(&vec![(&ct, request); count], f.keys(&key), 1, &Control::new());
    let open = |made: Vec<_>| made.iter().map(|ct| f.engine.decrypt(ct, &f.sk).unwrap()).collect::<Vec<_>>();
    let forecast = |count| CardMemory::of(&f.engine.circuit(request).unwrap(), count).unwrap().bytes() as u64;
    // Others: keys that it does not meet, with ciphertexts.
    let keys: Vec<_> = (1..6).map(|by| f.engine.create_fixed_rotation_key(&f.sk, by, None).unwrap()).collect();
    let x = f.encrypt(&vec![0.5; f.engine.slots()], 5);
    let _kept: Vec<_> = keys.iter().map(|key| f.engine.rotate_fixed(&x, key).unwrap()).collect();
    let others = card.device().take_most_bytes().min(card.device().held_bytes());
    // The tables are there already.
    left(&card, &memory, others + forecast(1) - forecast(1) / 10);
    let error = run(1).unwrap_err();
    assert_eq!((error.kind(), card.device().held_bytes()), (ErrorKind::Memory, others), "{error}");
    assert!(error.to_string().contains("a bootstrap takes"), "{error}");
    // With as much as was said it runs, once and again: of what it takes the keys and maps are there then.
    let Error::Memory(MemoryError::CardLeft { needed, .. }) = error else { panic!("{error:?}") };
    left(&card, &memory, others + needed + needed / 50);
    let _ = card.device().take_most_bytes();
    let wanted = open(run(1).unwrap());
    let off = needed as f64 / (card.device().take_most_bytes() - others) as f64 - 1.0;
    println!("a bootstrap beside others: {:+.1} % forecast", 100.0 * off);
    assert!(off.abs() < OFF, "{needed}");
    assert!(open(run(1).unwrap()) == wanted);
    // Two of them run one after the other, and side by side where there is room.
    let most = |bytes| {
        left(&card, &memory, bytes);
        let _ = card.device().take_most_bytes();
        assert!(open(run(2).unwrap()) == [wanted[0].clone(), wanted[0].clone()]);
        card.device().take_most_bytes()
    };
    let second = forecast(2) - forecast(1);
    let alone = most(others + needed + second / 10 * 9);
    assert!(alone < most(others + needed + 2 * second));
    // Another program takes what is left: the keys that are there do not help.
    let held = card.device().held_bytes();
    left(&card, &memory, held + 1000);
    let error = run(1).unwrap_err();
    assert!(matches!(&error, Error::Memory(MemoryError::CardLeft { .. } | MemoryError::Card { .. })), "{error}");
    assert_eq!(card.device().held_bytes(), held, "nothing goes up");
}

/// What another program takes between the question and the work is missing in the middle: nothing is lost.
#[test]
fn memory_that_is_taken_in_the_middle_of_a_bootstrap_loses_nothing() {
    let (card, memory, blocks) = taken_after();
    let f = on("toy", None, card.clone());
    let request = Request::new(Method::Regular, 3, KeySize::Medium, f.engine.slots());
    let (key, ct) = (f.key(request), f.encrypt(&vec![0.25; f.engine.slots()], 1));
    let run = || f.engine.bootstrap_many(&[(&ct, request)], f.keys(&key), 1, &Control::new());
    let open = |made: Vec<_>| f.engine.decrypt(&made[0], &f.sk).unwrap();
    let wanted = open(run().unwrap());
    // How many blocks one takes where all is there.
    let (whole, many) = (memory.load(Ordering::Relaxed), 1 << 40);
    blocks.store(many, Ordering::Relaxed);
    run().unwrap();
    let taken = many - blocks.load(Ordering::Relaxed);
    assert!(taken > 100, "{taken} blocks");
    let held = card.device().held_bytes();
    for after in (1..taken).step_by(taken as usize / 9) {
        blocks.store(after, Ordering::Relaxed);
        let error = run().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Device, "{error}");
        let said = error.to_string();
        assert!(said.contains("in the middle of an operation") && said.contains("nothing is lost"), "{said}");
        assert_eq!(card.device().held_bytes(), held, "what was made so far is given back");
        memory.store(whole, Ordering::Relaxed);
        assert!(open(run().unwrap()) == wanted, "after {after} of {taken} blocks");
    }
}

/// The same of integers.
#[test]
fn bootstraps_and_products_of_integers_that_do_not_fit_beside_others_are_refused() {
    let (card, memory) = shared();
    let engine = integers("int16", (9, 9), card.clone());
    let (sk, control) = (engine.create_secret_key().unwrap(), Control::new());
    let key = engine.create_bootstrap_key(&sk, None, &control).unwrap();
    let (relin, rotation) =
        (engine.create_relinearization_key(&sk).unwrap(), engine.create_rotation_key(&sk, &control).unwrap());
    let fresh = |level| engine.encrypt_with_secret(&[4, 5], level, &sk).unwrap();
    let (low, top) = (fresh(1), engine.params().max_level());
    let kept = engine.rotate_rows(&engine.rotate_columns(&fresh(top), &rotation).unwrap(), &rotation, 127).unwrap();
    let others = card.device().held_bytes();
    let forecast = integer::card::bootstrap(engine.params(), 1).unwrap().bytes() as u64;
    left(&card, &memory, others + forecast / 100 * 97);
    let bootstrap = || engine.bootstrap(&low, &key, &control);
    let error = bootstrap().unwrap_err();
    assert_eq!((error.kind(), card.device().held_bytes()), (ErrorKind::Memory, others), "{error}");
    let Error::Memory(MemoryError::CardLeft { needed, .. }) = error else { panic!("{error:?}") };
    left(&card, &memory, others + needed + needed / 50);
    for _ in 0..2 {
        assert_eq!(engine.decrypt(&bootstrap().unwrap(), &sk).unwrap()[..2], [4, 5]);
    }
    // A product of what is there, by a key that is not; and one that stays at degree 2.
    let products: [&dyn Fn() -> Result<integer::Ciphertext, Error>; 2] =
        [&|| engine.multiply(&kept, &kept, &relin), &|| engine.multiply_only(&kept, &kept)];
    for product in products {
        let held = card.device().held_bytes();
        left(&card, &memory, held + 1000);
        let error = product().unwrap_err();
        assert_eq!(card.device().held_bytes(), held, "nothing goes up");
        let Error::Memory(MemoryError::CardLeft { what: "a product", needed, .. }) = error else { panic!("{error:?}") };
        // Lists of addresses are more beside limbs of a small ring.
        left(&card, &memory, held + needed + needed / 10);
        let _ = card.device().take_most_bytes();
        let made = product().unwrap();
        let off = needed as f64 / (card.device().take_most_bytes() - held) as f64 - 1.0;
        println!("a product beside others: {needed} bytes, {:+.1} % forecast", 100.0 * off);
        assert!(off.abs() < 2.0 * OFF, "{needed}");
        drop(made);
    }
}
