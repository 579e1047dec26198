//! What goes to an emulated card and comes from it: launches, copies, and which of these wait.

use aglet::ckks::{presets, Ciphertext, CkksParams, Engine, KeySize, Method, Request, StageRun};
use aglet::integer::{self, Packing};
use aglet::{Control, Runtime};
use aglet_cuda::{Device, Driver};
use aglet_ring::arch;
use aglet_ring::traffic::Traffic;
use aglet_testing::card::{emulated, Arithmetic, Card, Order};
use aglet_testing::emu::{FakeDriver, Program};
use aglet_testing::fixture::{shrunk_integers, Fixture};
use std::sync::Arc;

fn runtime(card: &Arc<Card>) -> Runtime {
    Runtime::seeded(2, arch::chosen().unwrap().name(), [5; 32]).unwrap().on_backend(card.clone())
}

fn card() -> Arc<Card> {
    emulated(Order::Forward, Arithmetic::F50)
}

/// What a bootstrap without its first use of keys asks of a card, and of each stage as the engine says it.
fn check(what: &str, whole: Traffic, stages: &[StageRun], most_launches: u64) {
    println!("{what}: {whole:?}");
    stages.iter().for_each(|run| println!("  {}: {:?}", run.name, run.traffic));
    let sum = stages.iter().fold(Traffic::default(), |sum, run| sum + run.traffic);
    let idle: Vec<&str> = stages.iter().filter(|run| run.traffic.launches == 0).map(|run| &run.name[..]).collect();
    assert!(idle.is_empty() || idle == ["scale_down"], "{what}: {idle:?} launch nothing");
    // Bringing inputs to their level is no stage.
    assert!((whole.launches - 4..=whole.launches).contains(&sum.launches), "{what}: {sum:?} of {whole:?}");
    assert!(whole.launches <= most_launches, "{what}: {whole:?}");
    // A list for each operation, not for each kernel, and none of them waits.
    assert!(whole.writes < whole.launches && whole.waits == 0, "{what}: {whole:?}");
    assert!(whole.synchronous() <= 4, "{what}: {whole:?}");
}

#[test]
fn lists_of_bootstraps_wait_for_nothing() {
    for (of, slots, count, most) in
        [((Method::Regular, 3, KeySize::Large), None, 1, 670), ((Method::Regular, 4, KeySize::Medium), None, 2, 1500)]
    {
        let card = card();
        let params: CkksParams = presets::load("toy", presets::Security::NotChecked).unwrap();
        let f = Fixture::of(Engine::on(runtime(&card), params, slots).unwrap());
        let request = Request::new(of.0, of.1, of.2, f.engine.slots());
        let (key, ct) = (f.key(request), f.encrypt(&vec![0.25; f.engine.slots()], 4));
        let run = || f.engine.bootstrap_many(&vec![(&ct, request); count], f.keys(&key), 1, &Control::new()).unwrap();
        run();
        let before = card.device().traffic();
        run();
        check(&format!("toy {of:?}"), card.device().traffic() - before, &f.engine.stage_runs(), most);
    }
}

/// Both polynomials of a result come here with one wait, to be decrypted or stored.
#[test]
fn a_result_comes_with_one_wait() {
    let card = card();
    let params: CkksParams = presets::load("toy", presets::Security::NotChecked).unwrap();
    let f = Fixture::of(Engine::on(runtime(&card), params, None).unwrap());
    let ct = f.encrypt(&vec![0.5; f.engine.slots()], 4);
    let product = || f.engine.multiply(&ct, &ct, Some(&f.relin)).unwrap();
    let reads = |work: &dyn Fn()| {
        let before = card.device().traffic();
        work();
        (card.device().traffic() - before).reads
    };
    let made = product();
    let decrypted = || assert!((f.engine.decrypt(&made, &f.sk).unwrap()[0].re - 0.25).abs() < 1e-6);
    assert_eq!([reads(&decrypted), reads(&decrypted)], [1, 0], "what came stays");
    let (made, here) = (product(), product());
    f.engine.decrypt(&here, &f.sk).unwrap();
    let stored = |x| f.engine.serialize(x, &Control::new()).unwrap();
    assert_eq!(reads(&|| assert_eq!(*stored(&made), *stored(&here))), 1);
    // Of three polynomials too.
    let made = f.engine.multiply(&product(), &product(), None).unwrap();
    assert_eq!(reads(&|| assert!((f.engine.decrypt(&made, &f.sk).unwrap()[0].re - 0.0625).abs() < 1e-6)), 1);
}

/// A list of results comes here with one wait in place of one for each, to be decrypted or stored.
#[test]
fn a_list_of_results_comes_with_one_wait() {
    let reads = |card: &Arc<Card>, work: &mut dyn FnMut()| {
        let before = card.device().traffic();
        work();
        (card.device().traffic() - before).reads
    };
    let on = card();
    let params: CkksParams = presets::load("toy", presets::Security::NotChecked).unwrap();
    let f = Fixture::of(Engine::on(runtime(&on), params, None).unwrap());
    let ct = f.encrypt(&vec![0.5; f.engine.slots()], 4);
    let products = || (0..9).map(|_| f.engine.multiply(&ct, &ct, Some(&f.relin)).unwrap()).collect::<Vec<_>>();
    let decrypted = |cts: &[Ciphertext]| {
        cts.iter().for_each(|ct| assert!((f.engine.decrypt(ct, &f.sk).unwrap()[0].re - 0.25).abs() < 1e-6));
    };
    let (one_by_one, mut together) = (products(), products());
    // One of the list is here already, one is there twice, and one never was there.
    decrypted(&together[3..4]);
    together.extend([together[0].clone(), f.encrypt(&vec![0.25; f.engine.slots()], 3)]);
    let fetched = || f.engine.fetch(&together.iter().collect::<Vec<_>>()).unwrap();
    let found = [
        reads(&on, &mut || decrypted(&one_by_one)),
        reads(&on, &mut || fetched()),
        reads(&on, &mut || decrypted(&together)),
        reads(&on, &mut || fetched()),
    ];
    assert_eq!(found, [9, 1, 0, 0]);
    let here = |ct| f.engine.serialize(ct, &Control::new()).unwrap();
    assert!(one_by_one.iter().zip(&together).all(|(x, y)| *here(x) == *here(y)));

    let on = card();
    let engine =
        integer::Engine::on(runtime(&on), shrunk_integers("int16", "small", (10, 10)), Packing::Slots).unwrap();
    let sk = engine.create_secret_key().unwrap();
    let relin = engine.create_relinearization_key(&sk).unwrap();
    let ct = engine.encrypt_with_secret(&[1, 2, 3], 3, &sk).unwrap();
    let squares = || (0..5).map(|_| engine.multiply(&ct, &ct, &relin).unwrap()).collect::<Vec<_>>();
    let decrypted = |cts: &[integer::Ciphertext]| {
        cts.iter().for_each(|ct| assert_eq!(engine.decrypt(ct, &sk).unwrap()[..3], [1, 4, 9]));
    };
    let (one_by_one, together) = (squares(), squares());
    let found = [
        reads(&on, &mut || decrypted(&one_by_one)),
        reads(&on, &mut || engine.fetch(&together.iter().collect::<Vec<_>>()).unwrap()),
        reads(&on, &mut || decrypted(&together)),
    ];
    assert_eq!(found, [5, 1, 0]);
}

/// Blocks that a driver gives one by one wait, and so do they when they go back. Those of a pool do not, and it grows no more when all keys are there.
#[test]
fn bootstraps_take_no_blocks_that_wait() {
    let fake = FakeDriver::new(Program::kernels());
    let driver = Driver::open(Some(fake.file().into()), 0).unwrap();
    let card = Arc::new(Card::tested(Device::new(driver)).unwrap());
    let params: CkksParams = presets::load("toy", presets::Security::NotChecked).unwrap();
    let f = Fixture::of(Engine::on(runtime(&card), params, None).unwrap());
    let request = f.request(Method::Regular, 3, KeySize::Large);
    let (key, ct) = (f.key(request), f.encrypt(&vec![0.25; f.engine.slots()], 4));
    let count = || ["allocations", "from_pools", "grown"].map(|what| fake.count(what));
    for run in 0..3 {
        let before = count();
        let made = f.bootstrap(&[&ct], &key, request).unwrap();
        assert!(f.precision(&made[0], &vec![0.25; f.engine.slots()]).mean > 20.0);
        let (now, most) = (count(), card.device().take_most_bytes());
        let [blocks, from_pool, grown] = [0, 1, 2].map(|i| now[i] - before[i]);
        println!(
            "run {run}: {blocks} blocks, {from_pool} of the pool, which grew {grown} times to {}, {most}",
            fake.used()
        );
        assert!(blocks == 0 && from_pool > 900 && (run < 2 || grown == 0));
        assert!(
            (fake.used() as u64) < most + (3 << 20),
            "a pool takes little more than is in use at the fullest moment"
        );
    }
}

#[test]
fn lists_of_bootstraps_of_integers_wait_for_nothing() {
    let card = card();
    let engine =
        integer::Engine::on(runtime(&card), shrunk_integers("int16", "small", (10, 10)), Packing::Slots).unwrap();
    let sk = engine.create_secret_key().unwrap();
    let key = engine.create_bootstrap_key(&sk, None, &Control::new()).unwrap();
    let ct = engine.encrypt_with_secret(&[1, 2, 3], 1, &sk).unwrap();
    engine.bootstrap(&ct, &key, &Control::new()).unwrap();
    let before = card.device().traffic();
    engine.bootstrap(&ct, &key, &Control::new()).unwrap();
    check("int16", card.device().traffic() - before, &engine.stage_runs(), 5000);
}
