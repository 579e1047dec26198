//! What tests share: rings of mixed primes, words at the ends of their ranges, numbers where a rounding is hard.

use aglet_cuda::{Arithmetic, Device, Driver};
use aglet_ring::poly::{Coeff, Eval, Representation};
use aglet_ring::primes::ntt_primes;
use aglet_ring::{KeyBlock, Poly, Ring};
use aglet_testing::emu::{Emu, FakeDriver, Order, Program};
use aglet_testing::exact::{residue, BigInt, Moduli};
use rayon::prelude::*;
use std::sync::OnceLock;

/// Where the environment has this, operations run on the first card of this machine, by its driver: `tools/first_card` runs the suite so.
const REAL: &str = "AGLET_SUITE_CARD";

fn real() -> Option<Device> {
    static CARD: OnceLock<Device> = OnceLock::new();
    let open = || Device::new(Driver::open(None, 0).unwrap_or_else(|e| panic!("{e}")));
    std::env::var_os(REAL).map(|_| CARD.get_or_init(open).clone())
}

/// A card with the kernels of this crate, which are compiled once.
pub fn card(by: impl Into<By>) -> Device {
    if let Some(card) = real() {
        return card;
    }
    match by.into() {
        By::Emulator(order) => Emu::device(Program::kernels(), order),
        By::Driver => {
            let fake = FakeDriver::new(Program::kernels());
            Device::new(Driver::open(Some(fake.file().into()), 0).unwrap())
        }
    }
}

/// What launches kernels.
#[derive(Clone, Copy, Debug)]
pub enum By {
    /// The emulator, with threads in this order.
    Emulator(Order),
    /// The driver, over a library that has its functions and the emulator.
    Driver,
}

impl From<Order> for By {
    fn from(order: Order) -> Self {
        Self::Emulator(order)
    }
}

/// Every order of threads and the driver, with every arithmetic; of a real card the driver. At the real degrees one order is enough.
pub fn runs() -> impl Iterator<Item = (By, Arithmetic)> {
    let orders = Order::ALL.into_iter().filter(|&order| cfg!(not(feature = "long")) || order == Order::Shuffled);
    let orders = orders.filter(|_| real().is_none());
    let all = orders.map(By::Emulator).chain((cfg!(not(feature = "long")) || real().is_some()).then_some(By::Driver));
    all.flat_map(|by| Arithmetic::ALL.map(|arithmetic| (by, arithmetic)))
}

/// A ring of primes with these numbers of bits, the last `special` of them special.
pub fn ring(log_n: u32, bits: &[u32], special: usize) -> Ring {
    let primes = bits.iter().fold(Vec::new(), |mut all: Vec<u64>, &bits| {
        let top = 1u64 << bits;
        let found = ntt_primes(top as f64, log_n, &all, top).next();
        all.push(found.expect("there is a prime of this size"));
        all
    });
    let (q, p) = primes.split_at(primes.len() - special);
    Ring::new(log_n, q, p).unwrap()
}

/// Primes that doubles serve, and primes of all sizes.
pub const CHAINS: [[u32; 19]; 2] = [
    [47, 36, 40, 40, 40, 49, 50, 50, 50, 50, 50, 50, 48, 47, 50, 50, 50, 50, 33],
    [52, 20, 40, 58, 24, 61, 50, 50, 58, 50, 48, 55, 47, 30, 60, 50, 60, 49, 61],
];

/// Words of a generator, the same in every run.
pub struct Words(u64);

impl Words {
    pub fn new() -> Self {
        Self(0x9e37_79b9_7f4a_7c15)
    }
    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }
    /// A polynomial whose words are random, at the ends of their range or next to its middle.
    pub fn poly<R: Representation>(&mut self, ring: &Ring, q_limbs: usize, p_limbs: usize) -> Poly<R> {
        let rows = (0..q_limbs + p_limbs).map(|i| {
            let q = ring.modulus(ring.prime_of(q_limbs, i)).value();
            let word = |w: u64| [w % q, q - 1, 0, q / 2, q / 2 + 1, w % q][(w >> 60) as usize % 6];
            (0..ring.n()).map(|_| word(self.next())).collect()
        });
        let rows: Vec<Vec<u64>> = rows.collect();
        of_rows(ring, q_limbs, &rows)
    }
    pub fn polys(&mut self, ring: &Ring, count: usize, (q_limbs, p_limbs): (usize, usize)) -> Vec<Poly<Eval>> {
        (0..count).map(|_| self.poly(ring, q_limbs, p_limbs)).collect()
    }
    pub fn key(&mut self, ring: &Ring, digits: usize, shape: (usize, usize)) -> KeyBlock {
        let [b, a] = [0, 1].map(|_| self.polys(ring, digits, shape));
        ring.key_block(&b, &a).unwrap()
    }
}

/// A polynomial of these rows, the first `q_limbs` of them modulo primes of the chain.
pub fn of_rows<R: Representation>(ring: &Ring, q_limbs: usize, rows: &[Vec<u64>]) -> Poly<R> {
    let mut x = ring.zero(q_limbs, rows.len() - q_limbs).unwrap();
    x.host_mut().par_iter().zip(rows).for_each(|(row, words)| row.copy_from_slice(words));
    x
}

/// As many numbers as a polynomial has coefficients: where a quotient in doubles is hard to round, and the first ones in steps of
/// 2^-56 Q around Q/2, where a fused sum of doubles comes to another quotient.
pub fn hard_numbers(n: usize, primes: &[u64]) -> Vec<BigInt> {
    let moduli = Moduli::new(primes);
    let whole = BigInt::from(moduli.product().clone());
    let (half, step): (BigInt, BigInt) = (&whole >> 1u8, &whole >> 56u8);
    let mut numbers: Vec<BigInt> = (-128..128).map(|j| &half + &step * j).collect();
    numbers.extend(moduli.hard());
    let far: BigInt = &whole / 17u8;
    while numbers.len() < n {
        numbers.push(numbers[numbers.len() - 1].clone() + &far);
    }
    numbers.truncate(n);
    numbers
}

/// Coefficients modulo primes of a ring, a polynomial of as many limbs.
pub fn of_numbers(ring: &Ring, primes: &[usize], numbers: &[BigInt]) -> Poly<Coeff> {
    let row = |&prime: &usize| numbers.iter().map(|x| residue(x, ring.modulus(prime).value())).collect();
    of_rows(ring, primes.len(), &primes.iter().map(row).collect::<Vec<_>>())
}

/// Compares words with those that they should be.
pub fn same<R: Representation>(what: &str, found: &Poly<R>, wanted: &Poly<R>) {
    assert_eq!((found.q_limbs(), found.p_limbs()), (wanted.q_limbs(), wanted.p_limbs()), "{what}: the shape");
    for (i, (found, wanted)) in found.host().unwrap().iter().zip(wanted.host().unwrap().iter()).enumerate() {
        let wrong = found.iter().zip(wanted).filter(|(x, y)| x != y).count();
        let first = found.iter().zip(wanted).position(|(x, y)| x != y);
        assert!(wrong == 0, "{what}: limb {i} has {wrong} wrong words, the first at {first:?}");
    }
}
