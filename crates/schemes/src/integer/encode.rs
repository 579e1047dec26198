//! Encodes integers as polynomials modulo t: in the slots of the ring, if t is a prime with enough roots of unity, or
//! in its coefficients.

use crate::spread::spread;
use crate::Error;
use aglet_ring::arch::Kernels;
use aglet_ring::automorphism::rotation_exponent;
use aglet_ring::fft::SpecialFft;
use aglet_ring::ntt::NttTable;
use aglet_ring::primes::is_prime;
use aglet_ring::reversal::reversed;
use aglet_ring::Modulus;
use num_complex::Complex64;
use std::sync::OnceLock;

/// Where the numbers of a message are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Packing {
    /// Two rows of slots, N in all: number (r, j) is the value at `zeta^((-1)^r 5^j)` for a root zeta of order 2N
    /// modulo t. Products are slotwise. If t has no root of that order but one of 2M, messages are polynomials in
    /// `X^(N/M)` with M slots.
    Slots,
    /// The N coefficients: products are those of polynomials modulo `X^N + 1`.
    Coefficients,
}

/// The fewest slots, as log2.
const FEWEST: u32 = 6;

/// Encodes and decodes messages of numbers modulo t.
pub struct Encoder {
    t: Modulus,
    n: usize,
    /// Numbers of a message.
    count: usize,
    /// The transform modulo t, and for each slot its position there.
    slots: Option<(NttTable, Vec<usize>)>,
    /// The complex transform, made when a message is multiplied by.
    complex: OnceLock<SpecialFft>,
}

impl Encoder {
    /// For a ring of degree `2^log_n`, with `2^log_slots` slots ([`IntegerParams::log_slots`](super::IntegerParams::log_slots)).
    ///
    /// # Errors
    /// [`Error::NoSlots`] if slots are asked for and the ring has none modulo t.
    pub fn new(
        t: Modulus,
        (log_n, log_slots): (u32, u32),
        packing: Packing,
        kernels: &'static Kernels,
    ) -> Result<Self, Error> {
        let n = 1usize << log_n;
        if packing == Packing::Coefficients {
            return Ok(Self { t, n, count: n, slots: None, complex: OnceLock::new() });
        }
        if log_slots < FEWEST || !is_prime(t.value()) {
            return Err(Error::NoSlots { t: t.value(), n });
        }
        let count = 1usize << log_slots;
        let position = |exponent: u64| reversed((exponent >> 1) as usize, count);
        let row = |j: usize| rotation_exponent(j as isize, count);
        let mirrored = |j: usize| 2 * count as u64 - row(j);
        let positions = (0..count / 2).map(|j| position(row(j))).chain((0..count / 2).map(|j| position(mirrored(j))));
        let slots = Some((NttTable::new(t, log_slots, kernels)?, positions.collect()));
        Ok(Self { t, n, count, slots, complex: OnceLock::new() })
    }

    /// Numbers of a message: slots, or all coefficients.
    #[must_use]
    pub fn count(&self) -> usize {
        self.count
    }

    /// Where its numbers stand.
    #[must_use]
    pub fn packing(&self) -> Packing {
        match self.slots {
            Some(_) => Packing::Slots,
            None => Packing::Coefficients,
        }
    }

    /// The coefficients of a message, in `[-t/2, t/2]`. Missing numbers are 0.
    ///
    /// # Errors
    /// [`Error::SlotMismatch`] for more numbers than there are places, [`Error::Residue`] for one that is not between -t and t.
    pub fn encode(&self, values: &[i64]) -> Result<Vec<i64>, Error> {
        if values.len() > self.count {
            return Err(Error::SlotMismatch { expected: self.count, found: values.len() });
        }
        let t = self.t.value();
        if let Some((index, &value)) = values.iter().enumerate().find(|(_, v)| v.unsigned_abs() >= t) {
            return Err(Error::Residue { value, index, t });
        }
        let mut words = vec![0; self.count];
        match &self.slots {
            None => words.iter_mut().zip(values).for_each(|(word, &v)| *word = self.t.reduce_i64(v)),
            Some((table, positions)) => {
                positions.iter().zip(values).for_each(|(&at, &v)| words[at] = self.t.reduce_i64(v));
                table.inverse(&mut words);
            }
        }
        let small: Vec<i64> = words.iter().map(|&word| self.t.centre(word)).collect();
        Ok(spread(&small, self.n))
    }

    /// The largest absolute value of a polynomial at the complex roots of `X^N + 1`, given by its N coefficients: by as much noise grows at
    /// most that is multiplied by it. At least 1, so that a product with zeros keeps its noise.
    #[must_use]
    pub fn largest_value(&self, coefficients: &[i64]) -> f64 {
        let (low, high) = coefficients.split_at(self.n / 2);
        let number = |(&re, &im): (&i64, &i64)| Complex64::new(re as f64, im as f64);
        let mut values: Vec<Complex64> = low.iter().zip(high).map(number).collect();
        self.complex.get_or_init(|| SpecialFft::new(self.n / 2)).forward(&mut values);
        // What doubles round off is far below the last factor.
        1.000_001 * values.iter().map(|value| value.norm_sqr()).fold(1.0, f64::max).sqrt()
    }

    /// The numbers of a message, in `[-t/2, t/2]`, from its N canonical coefficients.
    #[must_use]
    pub fn decode(&self, words: &[u64]) -> Vec<i64> {
        match &self.slots {
            None => words.iter().map(|&word| self.t.centre(word)).collect(),
            Some((table, positions)) => {
                let mut words: Vec<u64> = words.iter().copied().step_by(self.n / self.count).collect();
                table.forward(&mut words);
                positions.iter().map(|&at| self.t.centre(words[at])).collect()
            }
        }
    }
}
