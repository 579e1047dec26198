//! Blocks of a card by its driver: from a pool, or where it has none from what is idle. Who uses a block after it was left is noticed.

use crate::case::{ring, same, Words};
use crate::driver::{compute, fake, on, open};
use aglet_cuda::ops::Form;
use aglet_cuda::{Arithmetic, Card, Device, DeviceRing, Driver, Error, Launcher, Row};
use aglet_ring::poly::Eval;
use aglet_ring::{Host, Poly};
use std::sync::{Arc, Mutex};

#[test]
fn blocks_come_from_a_pool_and_all_go_back() {
    let wanted = compute(&on(Arc::new(Host))).unwrap();
    // With pools, without, and where they are said to be there and are not.
    for (setting, pools) in [(("pools", 1), 1), (("pools", 0), 0), (("pool", 801), 0), (("from_pool", 801), 0)] {
        let fake = fake(&[setting]);
        let card = Arc::new(Card::tested(Device::new(open(&fake, 0).unwrap())).unwrap());
        let found = compute(&on(card.clone())).unwrap();
        wanted.iter().zip(&found).for_each(|(wanted, found)| same("by blocks", found, wanted));
        let [blocks, from_pool, grown] = ["allocations", "from_pools", "grown"].map(|what| fake.count(what));
        println!("pools {pools}: {blocks} blocks of the driver, {from_pool} of a pool, which grew {grown} times");
        match pools {
            1 => assert!(blocks == 0 && from_pool > 50 && grown < 3),
            _ => assert!(blocks > 20 && from_pool == 0),
        }
        drop((found, card));
        assert_eq!(fake.used(), 0, "a card that nobody has any more has all of its memory");
    }
}

/// Copies the first words of a block here.
fn here(driver: &Driver, block: u64, words: &mut [u64]) -> Result<(), Error> {
    driver.read(vec![vec![Row { block, at: 0, words }]])
}

/// Leaves the newest block before each launch, which is the list that it reads: too early.
#[derive(Debug)]
struct Early(Driver, Mutex<Vec<(u64, usize)>>);

impl Launcher for Early {
    fn name(&self) -> String {
        self.0.name()
    }
    fn arithmetic(&self) -> Arithmetic {
        self.0.arithmetic()
    }
    fn free_bytes(&self) -> Result<u64, Error> {
        self.0.free_bytes()
    }
    fn allocate(&self, words: usize) -> Result<u64, Error> {
        let address = self.0.allocate(words)?;
        self.1.lock().unwrap().push((address, words));
        Ok(address)
    }
    fn free(&self, address: u64, words: usize) {
        let mut there = self.1.lock().unwrap();
        if let Some(at) = there.iter().position(|block| block.0 == address) {
            there.remove(at);
            self.0.free(address, words);
        }
    }
    fn write(&self, address: u64, words: &[u64]) -> Result<(), Error> {
        self.0.write(address, words)
    }
    fn read(&self, parts: Vec<Vec<Row<'_>>>) -> Result<(), Error> {
        self.0.read(parts)
    }
    fn launch(&self, kernel: &str, grid: [u32; 3], shape: (u32, u32), parameters: &[u64]) -> Result<(), Error> {
        let last = self.1.lock().unwrap().pop();
        if let Some((address, words)) = last {
            self.0.free(address, words);
        }
        self.0.launch(kernel, grid, shape, parameters)
    }
}

/// The sum of a polynomial with itself.
fn doubled(device: Device) -> Result<(Poly<Eval>, Poly<Eval>), Error> {
    let plain = ring(9, &[50, 49], 0);
    let on_card = DeviceRing::new(device, &plain, Arithmetic::F50)?;
    let x: Poly<Eval> = Words::new().poly(&plain, 2, 0);
    let there = on_card.upload(&x)?;
    let one = aglet_ring::Multiplier::integer(1);
    let form = Form { terms: vec![(one, &there), (one, &there)], ..Form::default() };
    let found = on_card.download(&on_card.forms(&[form], 2, 0)?[0])?;
    let mut wanted = plain.copy(&x, 2)?;
    plain.add_assign(&mut wanted, &x)?;
    Ok((found, wanted))
}

#[test]
fn a_block_that_is_used_after_it_was_left_is_noticed() {
    // Blocks that are left when the launches that read them were asked for are there until these are done.
    for late in [1, 0] {
        let (found, wanted) = doubled(Device::new(open(&fake(&[("late", late)]), 0).unwrap())).unwrap();
        same("a sum", &found, &wanted);
        // Before them is too early.
        let early = Early(open(&fake(&[("late", late)]), 0).unwrap(), Mutex::default());
        let error = doubled(Device::new(early)).unwrap_err();
        assert!(matches!(&error, Error::Lost { status, .. } if status.contains("LAUNCH_FAILED")), "{error}");
    }
    // A copy, there or here, small or large.
    for (words, there) in [(64, true), (1 << 18, true), (64, false)] {
        let driver = open(&fake(&[]), 0).unwrap();
        let (kept, left) = (driver.allocate(64).unwrap(), driver.allocate(words).unwrap());
        let mut found = vec![7; words];
        driver.write(kept, &found[..64]).unwrap();
        driver.write(left, &found).unwrap();
        driver.free(left, words);
        let used = if there { driver.write(left, &found) } else { here(&driver, left, &mut found) };
        let error = used.and_then(|()| here(&driver, kept, &mut found[..64])).unwrap_err();
        assert!(matches!(error, Error::Lost { .. }), "{words} {there}: {error}");
    }
}

/// Blocks of all sizes come and go; those that are there share no word, and have what was written to them.
#[test]
fn blocks_that_are_there_share_no_word() {
    for pools in [1, 0] {
        let fake = fake(&[("pools", pools)]);
        let driver = open(&fake, 0).unwrap();
        let (mut state, mut there): (u64, Vec<(u64, usize, u64)>) = (1, Vec::new());
        let mut next = |below: usize| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 33) as usize % below
        };
        let check = |(address, words, mark): (u64, usize, u64)| {
            let mut found = vec![0; words];
            here(&driver, address, &mut found).unwrap();
            assert!(found.iter().all(|&word| word == mark), "a block has its own words");
            driver.free(address, words);
        };
        for mark in 0..300 {
            let most = 2 << next(12);
            let words = 1 + next(most);
            let address = driver.allocate(words).unwrap();
            driver.write(address, &vec![mark; words]).unwrap();
            let end = address + 8 * words as u64;
            assert!(there.iter().all(|&(at, words, _)| end <= at || at + 8 * words as u64 <= address));
            there.push((address, words, mark));
            if there.len() > 20 {
                check(there.swap_remove(next(20)));
            }
        }
        there.into_iter().for_each(check);
        drop(driver);
        assert_eq!(fake.used(), 0);
    }
}

/// A pool leaves a quarter of the card to other programs, unless its blocks are in use.
#[test]
fn a_pool_keeps_three_quarters_of_a_card_at_most() {
    let whole = 64 << 20;
    let fake = fake(&[("memory", whole)]);
    let driver = open(&fake, 0).unwrap();
    let words = whole as usize / 64;
    let blocks: Vec<u64> = (0..7).map(|_| driver.allocate(words).unwrap()).collect();
    let wait = || {
        let one = driver.allocate(1).unwrap();
        driver.write(one, &[5]).unwrap();
        here(&driver, one, &mut [0]).unwrap();
        driver.free(one, 1);
    };
    wait();
    assert!(fake.used() >= whole / 8 * 7, "blocks in use stay");
    // All that could be had is what is free, whoever keeps it.
    let free = driver.free_bytes().unwrap();
    blocks.iter().for_each(|&block| driver.free(block, words));
    assert_eq!(driver.free_bytes().unwrap(), free + whole as u64 / 8 * 7);
    wait();
    assert_eq!(fake.used(), whole / 4 * 3);
    // What is idle serves a block of another size, after the work that had it.
    let large = driver.allocate(words * 15 / 2).unwrap();
    driver.free(large, words * 15 / 2);
    // Of two engines one has what the other does not keep.
    let other = open(&fake, 0).unwrap();
    wait();
    let error = other.allocate(words * 4).unwrap_err();
    assert!(matches!(error, Error::Memory { free, .. } if free <= whole as usize / 4), "{error}");
    drop(driver);
    other.allocate(words * 4).unwrap();
}
