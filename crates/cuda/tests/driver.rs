//! The driver, over a library that has its functions and an emulated card: no card was there. Every cause of a failure has its sentence, and a call
//! that fails gives no result.

use crate::case::{card, ring, same, Words};
use aglet_cuda::ops::Form;
use aglet_cuda::{Arithmetic, Card, Device, DeviceRing, Driver, Error, Launcher};
use aglet_ring::poly::Eval;
use aglet_ring::{arch, Poly, Ring};
use aglet_testing::emu::{FakeDriver, Order, Program};
use std::sync::Arc;

/// A driver that says what is set.
pub(crate) fn fake(settings: &[(&str, i64)]) -> FakeDriver {
    let fake = FakeDriver::new(Program::kernels());
    settings.iter().for_each(|&(what, value)| fake.set(what, value));
    fake
}

pub(crate) fn open(fake: &FakeDriver, index: usize) -> Result<Driver, Error> {
    Driver::open(Some(fake.file().into()), index)
}

/// What opening the first card of such a driver fails with.
pub(crate) fn refused(settings: &[(&str, i64)]) -> Error {
    open(&fake(settings), 0).expect_err("it is refused")
}

/// Something of each kind of work: key switches, products, divisions; the words of the host.
pub(crate) fn compute(ring: &Ring) -> Result<Vec<Poly<Eval>>, aglet_ring::Error> {
    let mut words = Words::new();
    let (x, key): (Poly<Eval>, _) = (words.poly(ring, 4, 0), words.key(ring, 2, (4, 2)));
    let digits = ring.digits(&[&x], (4, 2), &[vec![0, 1], vec![2, 3]])?;
    let (b, a) = ring.key_products(&[aglet_ring::KeyProduct::of(&digits[0])], &key, None)?.remove(0);
    let plan = ring.division(4, 2, 0).expect("there are special limbs to divide by");
    let mut made = ring.divide(&[&b, &a], &plan)?;
    made.extend(ring.forms(&[aglet_ring::Form::product(&made[0], &made[1])], 4, 0)?);
    for x in &made {
        x.host()?;
    }
    // How much room there is.
    ring.backend().room()?;
    Ok(made)
}

pub(crate) fn on(backend: Arc<dyn aglet_ring::Backend>) -> Ring {
    let plain = ring(9, &[47, 40, 40, 52, 50, 50], 2);
    let primes: Vec<u64> = (0..6).map(|i| plain.modulus(i).value()).collect();
    Ring::with_backend(9, &primes[..4], &primes[4..], (arch::chosen().unwrap(), backend)).unwrap()
}

#[test]
fn a_card_by_its_driver_has_the_words_of_the_host() {
    let wanted = compute(&on(Arc::new(aglet_ring::Host))).unwrap();
    for (major, ratio, arithmetic) in [(9, 2, Arithmetic::F50), (8, 2, Arithmetic::S64), (12, 64, Arithmetic::S64)] {
        let fake = fake(&[("major", major), ("ratio", ratio)]);
        let driver = open(&fake, 0).unwrap();
        assert_eq!(driver.arithmetic(), arithmetic);
        assert_eq!((driver.info().index, driver.info().capability), (0, (major as u32, 0)));
        let found = compute(&on(Arc::new(Card::tested(Device::new(driver)).unwrap()))).unwrap();
        assert_eq!(wanted.len(), found.len());
        for (wanted, found) in wanted.iter().zip(&found) {
            assert!(found.card().is_some());
            same("by the driver", found, wanted);
        }
        assert_eq!(fake.count("entered"), 0, "a thread has the context that it had before");
    }
}

/// A driver gets the code for its card, and PTX where it has none or does not take it.
#[test]
fn kernels_come_as_code_of_the_card_or_as_ptx() {
    let wanted = compute(&on(Arc::new(aglet_ring::Host))).unwrap();
    for (settings, own_code) in [
        (vec![("major", 8)], true),
        (vec![("major", 9)], true),
        (vec![("major", 10)], true),
        (vec![("major", 12)], true),
        (vec![("major", 11)], false),
        (vec![("major", 13)], false),
        (vec![("cubin", 200)], false),
        (vec![("cubin", 209)], false),
        (vec![("cubin", 223)], false),
    ] {
        let fake = fake(&settings);
        let driver = open(&fake, 0).unwrap();
        assert_eq!(driver.has_own_code(), own_code, "{settings:?}");
        let found = compute(&on(Arc::new(Card::tested(Device::new(driver)).unwrap()))).unwrap();
        wanted.iter().zip(&found).for_each(|(wanted, found)| same("by either", found, wanted));
    }
    // What is no refusal of the code is an error.
    assert!(matches!(refused(&[("cubin", 2)]), Error::Memory { .. }));
    assert!(matches!(refused(&[("cubin", 700)]), Error::Lost { call: "cuModuleLoadData", .. }));
}

#[test]
fn what_is_wrong_with_a_driver_or_its_cards_has_a_sentence() {
    let none = Driver::open(Some("/nowhere/libcuda.so.1".into()), 0).unwrap_err();
    assert!(matches!(&none, Error::Driver { .. }), "{none}");
    assert!(
        none.to_string().contains("install it, name its library in AGLET_CUDA_DRIVER, or take mode=\"auto\""),
        "{none}"
    );
    // A library that is something else.
    let other = ["libm.so.6", "libc.so.6", "libSystem.B.dylib"].map(|name| Driver::open(Some(name.into()), 0));
    let other = other.into_iter().filter_map(Result::err).find(|e| !matches!(e, Error::Driver { .. })).unwrap();
    assert!(matches!(&other, Error::Symbol { symbol, .. } if symbol == "cuInit"), "{other}");
    assert!(matches!(refused(&[("init", 34)]), Error::Stub { .. }));
    assert!(matches!(refused(&[("init", 100)]), Error::NoCard));
    let other = refused(&[("init", 802)]);
    assert!(matches!(&other, Error::Start { call: "cuInit", status } if status == "status 802"), "{other}");
    let taken = refused(&[("retain", 46)]);
    assert!(matches!(&taken, Error::Start { call: "cuDevicePrimaryCtxRetain", .. }), "{taken}");
    let old = refused(&[("version", 11040)]);
    assert!(matches!(&old, Error::OldDriver { found, needed } if found == "11.4" && needed == "12.8"), "{old}");
    assert!(matches!(refused(&[("cards", 0)]), Error::NoCard));
    assert!(matches!(refused(&[("major", 7)]), Error::Capability { .. }));
    for status in [218, 221, 222, 223] {
        assert!(matches!(refused(&[("ptx", status)]), Error::Ptx { .. }), "{status}");
    }
    let two = fake(&[("cards", 2)]);
    let error = open(&two, 2).unwrap_err().to_string();
    assert!(error.contains("no card 2") && error.contains("1: fake card 1, compute capability 9.0, 8 GB"), "{error}");
    assert_eq!(open(&two, 1).unwrap().info().index, 1);
}

#[test]
fn a_card_that_computes_wrong_words_is_not_taken() {
    let fake = fake(&[]);
    let device = Device::new(open(&fake, 0).unwrap());
    fake.set("spoil", 1);
    let error = Card::tested(device).err().expect("the self-test notices");
    assert!(matches!(error, Error::Wrong { what: "transforms", .. }), "{error}");
}

#[test]
fn a_failure_of_every_call_is_an_error_and_no_result() {
    // How many calls there are from the first to the last.
    let whole = fake(&[]);
    let run = |fake: &FakeDriver| -> Result<Vec<Poly<Eval>>, aglet_ring::Error> {
        compute(&on(Arc::new(Card::tested(Device::new(open(fake, 0)?))?)))
    };
    let wanted = run(&whole).unwrap();
    let calls = whole.calls();
    assert!(calls > 100, "{calls} calls");
    // The last ones give back what there is: nobody hears of them.
    let mut failed = 0;
    for (pools, status, step) in [(1, 2, 7), (1, 700, 11), (1, 1, 13), (0, 2, 17), (0, 700, 29)] {
        for at in (1..calls).step_by(step).chain(1..20) {
            let fake = fake(&[("pools", pools), ("fail_at", at), ("fail_status", status)]);
            match run(&fake) {
                Err(error @ (aglet_ring::Error::Device { .. } | aglet_ring::Error::DeviceMemory { .. })) => {
                    failed += 1;
                    assert!(error.to_string().len() > 60, "{error}");
                }
                Err(other) => panic!("call {at}, status {status}: {other}"),
                // A block that could not be had is had after idle ones are given back; and whoever gives back is not told.
                Ok(found) => {
                    found.iter().zip(&wanted).for_each(|(found, wanted)| same("after a failure", found, wanted))
                }
            }
        }
    }
    assert!(failed > 100, "{failed} runs failed");
}

#[test]
fn memory_that_runs_out_is_said_and_what_is_given_back_is_had_again() {
    for pools in [1, 0] {
        runs_out(&fake(&[("memory", 1 << 20), ("pools", pools)]));
    }
}

fn runs_out(fake: &FakeDriver) {
    let (device, plain) = (Device::new(open(fake, 0).unwrap()), ring(10, &[50, 49], 0));
    let on_card = DeviceRing::new(device.clone(), &plain, Arithmetic::F50).unwrap();
    let x: Poly<Eval> = Words::new().poly(&plain, 2, 0);
    for _ in 0..200 {
        // Blocks of one size come from the idle ones.
        let there = on_card.upload(&x).unwrap();
        let form = Form { products: vec![(1, &there, &there)], ..Form::default() };
        on_card.download(&on_card.forms(&[form], 2, 0).unwrap()[0]).unwrap();
    }
    let mut held = Vec::new();
    let error = loop {
        match on_card.upload(&x) {
            Ok(there) => held.push(there),
            Err(error) => break error,
        }
    };
    assert!(matches!(error, Error::Memory { bytes: 16384, free } if free < 16384), "{error}");
    // What was held is idle now, and goes back to the driver for a block of another size.
    let count = held.len();
    held.clear();
    let more: Poly<Eval> = Words::new().poly(&plain, 1, 0);
    let found: Vec<_> = (0..count).map(|_| on_card.upload(&more).unwrap()).collect();
    same("after memory ran out", &on_card.download(&found[0]).unwrap(), &more);
}

#[test]
fn a_lost_card_says_so_for_ever() {
    let fake = fake(&[]);
    let device = Device::new(open(&fake, 0).unwrap());
    let plain = ring(9, &[50], 0);
    let on_card = DeviceRing::new(device, &plain, Arithmetic::S64).unwrap();
    let x: Poly<Eval> = Words::new().poly(&plain, 1, 0);
    let there = on_card.upload(&x).unwrap();
    same("before it is lost", &on_card.download(&there).unwrap(), &x);
    fake.set("fail_status", 719);
    fake.set("fail_at", fake.calls() + 2);
    for _ in 0..2 {
        let error = on_card.download(&there).unwrap_err();
        assert!(
            matches!(&error, Error::Lost { call: "cuMemcpyDtoHAsync", status } if status.contains("LAUNCH_FAILED")),
            "{error}"
        );
    }
    fake.set("fail_at", 0);
    assert!(matches!(on_card.upload(&x), Err(Error::Lost { .. })), "what is lost stays lost");
}

/// Whoever is asked for the traffic at the end of a stage waits if the card was opened so.
#[test]
fn a_card_that_is_measured_waits_at_the_end_of_stages() {
    for times in [0, 1] {
        let fake = fake(&[]);
        let driver = open(&fake, 0).unwrap();
        let device = Device::new(if times == 0 { driver } else { driver.that_waits() });
        let before = fake.count("waits");
        assert_eq!(device.traffic().launches, 0);
        assert_eq!(fake.count("waits") - before, times);
    }
}

#[test]
fn cards_of_two_drivers_are_two() {
    let fakes = [fake(&[("order", Order::Forward as i64)]), fake(&[("order", Order::Reverse as i64)])];
    let plain = ring(9, &[50, 50], 0);
    let x: Poly<Eval> = Words::new().poly(&plain, 2, 0);
    let emulated = card(Order::Forward);
    let devices = fakes.iter().map(|fake| Device::new(open(fake, 0).unwrap())).chain([emulated]);
    for device in devices {
        let on_card = DeviceRing::new(device, &plain, Arithmetic::F50).unwrap();
        same("there and back", &on_card.download(&on_card.upload(&x).unwrap()).unwrap(), &x);
    }
}
