//! How many launches work takes, and copies there and back through pinned memory, in a stream of the engine's own, over a library that does them as late as a card may.

use crate::case::{ring, same, Words};
use crate::driver::{fake, on, open, refused};
use aglet_cuda::{Arithmetic, Card, Device, DeviceRing, Driver, Error, Launcher, Row};
use aglet_ring::automorphism::rotation_exponent;
use aglet_ring::poly::Eval;
use aglet_ring::{Form, Host, KeyProduct, Multiplier, Poly, Ring};
use aglet_testing::emu::FakeDriver;
use std::sync::Arc;
use std::thread;

/// Limbs of the largest ring, so that a few fill the ring of pinned memory: there and back. How many calls there were until the last came.
fn there_and_back(fake: &FakeDriver, plain: &Ring) -> Result<i64, Error> {
    let on_card = DeviceRing::new(Device::new(open(fake, 0)?), plain, Arithmetic::F50)?;
    let mut words = Words::new();
    let wanted: Vec<Poly<Eval>> = (0..4).map(|_| words.poly(plain, 2, 0)).collect();
    let there = wanted.iter().map(|x| on_card.upload(x)).collect::<Result<Vec<_>, _>>()?;
    let found = there.iter().map(|x| on_card.download(x)).collect::<Result<Vec<_>, _>>()?;
    found.iter().zip(&wanted).for_each(|(found, wanted)| same("through pinned memory", found, wanted));
    Ok(fake.calls())
}

/// The fake driver copies when somebody waits for it: what is copied is what was there when it was asked for.
#[test]
fn copies_that_nobody_waits_for_find_their_words() {
    let plain = ring(17, &[50, 50], 0);
    // Late, at once, and without pinned memory.
    for setting in [("late", 1), ("late", 0), ("pin", 2), ("pin", 801)] {
        there_and_back(&fake(&[setting]), &plain).unwrap();
    }
    assert!(matches!(refused(&[("pin", 700)]), Error::Lost { call: "cuMemHostAlloc", .. }));
    // Words that were put down over others before these were copied.
    let error = there_and_back(&fake(&[("wait", 0)]), &plain).unwrap_err();
    assert!(matches!(&error, Error::Lost { status, .. } if status.contains("LAUNCH_FAILED")), "{error}");
}

#[test]
fn a_failure_of_every_call_of_a_copy_that_nobody_waits_for_is_an_error() {
    let plain = ring(17, &[50, 50], 0);
    let [whole, opened] = [(); 2].map(|()| fake(&[]));
    let here = there_and_back(&whole, &plain).unwrap();
    let driver = open(&opened, 0).unwrap();
    let (first, last) = (opened.calls() + 1, whole.calls() + 1);
    drop(driver);
    let mut failed = 0;
    for at in first..last {
        let broken = fake(&[("fail_at", at), ("fail_status", if at % 2 == 0 { 700 } else { 1 })]);
        match there_and_back(&broken, &plain) {
            Err(Error::Lost { .. }) => failed += 1,
            Err(other) => panic!("call {at}: {other}"),
            // Whoever gives back is not told.
            Ok(_) => assert!(at > here, "call {at} of {here}"),
        }
    }
    assert_eq!(failed, here + 1 - first, "all runs fail until the last words are here");
}

/// A block with these words.
fn block(driver: &Driver, words: &[u64]) -> u64 {
    let block = driver.allocate(words.len()).unwrap();
    driver.write(block, words).unwrap();
    block
}

#[test]
fn who_does_not_wait_for_words_that_come_finds_none() {
    for (settings, waited) in
        [([("wait", 1), ("pin", 0)], true), ([("wait", 2), ("pin", 0)], false), ([("wait", 2), ("pin", 2)], true)]
    {
        let driver = open(&fake(&settings), 0).unwrap();
        let (at, mut found) = (block(&driver, &[5; 64]), vec![7; 64]);
        driver.read(vec![vec![Row { block: at, at: 0, words: &mut found }]]).unwrap();
        // Without pinned memory it is the stream that is waited for, not an event.
        assert_eq!(found, if waited { [5; 64] } else { [0xa5a5_a5a5_a5a5_a5a5; 64] }, "{settings:?}");
    }
}

/// Copies back and waits of some work.
fn counted(fake: &FakeDriver, work: impl FnOnce()) -> [i64; 2] {
    let count = || ["copies_back", "waits"].map(|what| fake.count(what));
    let before = count();
    work();
    let now = count();
    [0, 1].map(|i| now[i] - before[i])
}

#[test]
fn rows_come_by_few_copies_with_one_wait() {
    let plain = ring(17, &[50; 17], 0);
    for (pin, wanted) in [(0, [[1, 1], [2, 2], [3, 1]]), (2, [[6, 1], [17, 2], [4, 1]])] {
        let fake = fake(&[("pin", pin)]);
        let device = Device::new(open(&fake, 0).unwrap());
        let on_card = DeviceRing::new(device.clone(), &plain, Arithmetic::F50).unwrap();
        let mut words = Words::new();
        let [six, many]: [Poly<Eval>; 2] = [6, 17].map(|limbs| words.poly(&plain, limbs, 0));
        let there = [&six, &many].map(|x| on_card.upload(x).unwrap());
        let before = device.traffic();
        // A polynomial is a block. Sixteen limbs of the largest ring come at a time.
        let found = counted(&fake, || same("six limbs", &on_card.download(&there[0]).unwrap(), &six));
        assert_eq!(found, wanted[0], "{pin}");
        let ahead = fake.count("ahead");
        let found = counted(&fake, || same("17 limbs", &on_card.download(&there[1]).unwrap(), &many));
        assert_eq!(found, wanted[1], "{pin}");
        // The last one was asked for before the others were waited for.
        assert_eq!(fake.count("ahead") - ahead, i64::from(pin == 0));
        let traffic = device.traffic() - before;
        assert_eq!((traffic.reads, traffic.bytes_down, traffic.synchronous()), (3, 23 << 20, 3));
        // Rows of two blocks, in one of them with a gap.
        let driver = open(&fake, 0).unwrap();
        let blocks = [block(&driver, &[1, 2, 3, 4, 5]), block(&driver, &[6, 7, 8, 9])];
        let mut room = [[0; 2]; 4];
        let places = [(0, 0), (0, 3), (1, 0), (1, 2)];
        let rows = places.iter().zip(&mut room).map(|(&(i, at), words)| Row { block: blocks[i], at, words });
        let found = counted(&fake, || driver.read(vec![rows.collect()]).unwrap());
        assert_eq!((room, found), ([[1, 2], [4, 5], [6, 7], [8, 9]], wanted[2]));
    }
}

/// Both halves of a product with a key, on the card alone: of a card the words of the host.
fn halves(ring: &Ring) -> [Poly<Eval>; 2] {
    let mut words = Words::new();
    let (x, key): (Poly<Eval>, _) = (words.poly(ring, 4, 0), words.key(ring, 2, (4, 2)));
    let digits = ring.digits(&[&x], (4, 2), &[vec![0, 1], vec![2, 3]]).unwrap();
    ring.key_products(&[KeyProduct::of(&digits[0])], &key, None).unwrap().remove(0).into()
}

#[test]
fn polynomials_of_a_card_come_with_one_wait() {
    let host = on(Arc::new(Host));
    let wanted = halves(&host);
    let secret = Words::new().poly::<Eval>(&host, 4, 0).secret();
    let low = |ring: &Ring, [b, a]: &[Poly<Eval>; 2]| -> [Poly<Eval>; 2] {
        ring.divide(&[b, a], &ring.division(4, 2, 0).unwrap()).unwrap().try_into().ok().unwrap()
    };
    let wanted_low = low(&host, &wanted);
    let fake = fake(&[]);
    let card = Arc::new(Card::new(Device::new(open(&fake, 0).unwrap()), Arithmetic::F50));
    let ring = on(card.clone());
    let both = |what, found: &[Poly<Eval>; 2], wanted: &[Poly<Eval>; 2]| {
        found.iter().zip(wanted).for_each(|(found, wanted)| same(what, found, wanted));
    };
    // One by one they wait twice.
    let found = halves(&ring);
    assert_eq!(counted(&fake, || both("one by one", &found, &wanted)), [2, 2]);
    // Together once, and what is here comes no more; of what shares words one copy.
    let (found, before) = (halves(&ring), card.device().traffic());
    assert_eq!(counted(&fake, || Poly::fetch_all(&found).unwrap()), [2, 1]);
    let now = card.device().traffic() - before;
    assert_eq!((now.reads, now.synchronous(), now.bytes_down), (1, 1, 8 * 12 * 512));
    assert_eq!(counted(&fake, || Poly::fetch_all(&found).unwrap()), [0, 0]);
    both("together", &found, &wanted);
    let parts = low(&ring, &halves(&ring));
    assert_eq!(counted(&fake, || Poly::fetch_all([&parts[0], &parts[1].prefix(2), &parts[1]]).unwrap()), [2, 1]);
    both("prefixes", &parts, &wanted_low);
    // A form with a secret is computed here, as when a ciphertext is decrypted.
    let parts = low(&ring, &halves(&ring));
    let form = |[b, a]: &[Poly<Eval>; 2], ring: &Ring| {
        let form = Form { terms: vec![(Multiplier::integer(1), b)], ..Form::product(a, &secret) };
        ring.forms(&[form], 4, 0).unwrap().remove(0)
    };
    let mut sum = None;
    assert_eq!(counted(&fake, || sum = Some(form(&parts, &ring))), [2, 1]);
    same("a phase", &sum.unwrap(), &form(&wanted_low, &host));
}

#[test]
fn polynomials_of_two_cards_come_from_each() {
    let fakes = [fake(&[]), fake(&[])];
    let rings =
        fakes.each_ref().map(|fake| on(Arc::new(Card::new(Device::new(open(fake, 0).unwrap()), Arithmetic::F50))));
    let wanted = halves(&on(Arc::new(Host)));
    let found = rings.each_ref().map(halves);
    let all: Vec<&Poly<Eval>> = found.iter().flatten().collect();
    let both =
        counted(&fakes[0], || assert_eq!(counted(&fakes[1], || Poly::fetch_all(all.iter().copied()).unwrap()), [2, 2]));
    assert_eq!(both, [2, 1], "those of the other card come one by one");
    for found in &found {
        found.iter().zip(&wanted).for_each(|(found, wanted)| same("of two cards", found, wanted));
    }
    // One that fails leaves none here, and what was lost is said.
    let [b, a] = halves(&rings[0]);
    fakes[0].set("fail_status", 700);
    fakes[0].set("fail_at", fakes[0].calls() + 3);
    assert!(matches!(Poly::fetch_all([&b, &a]), Err(aglet_ring::Error::Device { .. })));
    assert!(b.host().is_err() && a.host().is_err());
}

/// A step of the trace: what is added before goes through the automorphism of each key.
#[test]
fn rotated_sums_are_one_launch_whatever_is_added() {
    let fake = fake(&[]);
    let card = Arc::new(Card::new(Device::new(open(&fake, 0).unwrap()), Arithmetic::F50));
    let [host, on_card] = [on(Arc::new(Host)), on(card.clone())];
    let mut words = Words::new();
    let phis: Vec<_> = (0..8).map(|k| host.automorphism(rotation_exponent(k + 1, host.n()))).collect();
    let keys: Vec<_> = phis.iter().map(|_| words.key(&host, 2, (4, 2))).collect();
    let keys: Vec<_> = keys.iter().zip(&phis).map(|(key, phi)| (key, &**phi)).collect();
    let (x, before): (Vec<Poly<Eval>>, _) = (words.polys(&host, 2, (4, 0)), words.polys(&host, 2, (4, 0)));
    let digits = on_card.digits(&[&x[0], &x[1]], (4, 2), &[vec![0, 1], vec![2, 3]]).unwrap();
    for added in [[false; 2], [true; 2], [true, false]] {
        let of: Vec<_> = (0..2)
            .map(|k| KeyProduct { added_before: added[k].then_some(&before[k]), ..KeyProduct::of(&digits[k]) })
            .collect();
        let wanted = host.rotated_sums(&of, &keys).unwrap();
        on_card.rotated_sums(&of, &keys).unwrap();
        let so_far = card.device().traffic();
        let found = on_card.rotated_sums(&of, &keys).unwrap();
        let now = card.device().traffic() - so_far;
        // One for each arithmetic, as one prime is above 50 bits, and a list for both.
        assert_eq!((now.launches, now.writes), (2, 1), "{added:?}");
        for (found, wanted) in found.iter().zip(&wanted) {
            same("rotated_sums, b", &found.0, &wanted.0);
            same("rotated_sums, a", &found.1, &wanted.1);
        }
    }
}

#[test]
fn threads_that_have_words_come_at_a_time_find_their_own() {
    let fake = fake(&[]);
    let driver = open(&fake, 0).unwrap();
    thread::scope(|scope| {
        for i in 0..12 {
            let driver = &driver;
            scope.spawn(move || {
                let wanted: Vec<u64> = (i << 32..).take(1 << 16).collect();
                let (at, mut found) = (block(driver, &wanted), vec![0; 1 << 16]);
                for _ in 0..5 {
                    driver.read(vec![vec![Row { block: at, at: 0, words: &mut found }]]).unwrap();
                    assert!(found == wanted, "thread {i}");
                    found.fill(0);
                }
                driver.free(at, 1 << 16);
            });
        }
    });
    // Four blocks for what goes there, and four at most for what comes.
    assert!((5..=8).contains(&fake.count("pinned")), "{}", fake.count("pinned"));
    let other = open(&fake, 0).unwrap();
    assert_eq!(fake.count("streams"), 2, "each engine has a stream of its own");
    drop((driver, other));
    assert_eq!([fake.count("pinned"), fake.count("streams"), fake.used()], [0, 0, 0]);
}

#[test]
fn a_stream_that_cannot_be_had_is_said() {
    for status in [2, 801] {
        let error = refused(&[("stream", status)]);
        assert!(matches!(&error, Error::Start { call: "cuStreamCreate", .. }), "{error}");
    }
}

/// Nothing secret is put down in pinned memory, which outlives it: the driver is not even called.
#[test]
fn secrets_meet_no_pinned_memory() {
    let fake = fake(&[]);
    let plain = ring(10, &[50, 50], 0);
    let on_card = DeviceRing::new(Device::new(open(&fake, 0).unwrap()), &plain, Arithmetic::F50).unwrap();
    let secret: Poly<Eval> = Words::new().poly(&plain, 2, 0).secret();
    let before = fake.calls();
    assert!(matches!(on_card.upload(&secret), Err(Error::Secret)));
    assert_eq!(fake.calls(), before);
}
