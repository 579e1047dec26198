//! What a unit of each kind of work takes on this machine: from it and the work of a plan follows its time.

use super::on_threads;
use crate::Error;
use aglet_ring::arch::{self, DiagonalRow, Form, Kernels, KeyRow, LinearMapInput, LinearMapRow, ProductRow};
use aglet_ring::automorphism::rotation_exponent;
use aglet_ring::{primes, Eval, Poly, Ring, Tally};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::time::Instant;

/// Microseconds that work on one limb takes on one thread.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Units {
    /// A forward transform.
    pub forward: f64,
    /// An inverse transform.
    pub inverse: f64,
    /// A product outside of keys and maps.
    pub pointwise: f64,
    /// A product with a key, which comes from memory.
    pub key: f64,
    /// A product with a diagonal.
    pub diagonal: f64,
    /// What a limb of encoded diagonals adds that comes from memory.
    pub matrix: f64,
    /// A product of a base conversion.
    pub conversion: f64,
}

impl Units {
    /// From a value for each of its fields.
    ///
    /// # Errors
    /// [`Error::Parameter`] if one is missing, unknown, negative or not finite.
    pub fn named(values: &BTreeMap<String, f64>) -> Result<Self, Error> {
        let names = "forward, inverse, pointwise, key, diagonal, matrix, conversion";
        let wrong =
            || Error::Parameter(format!("Units are microseconds from 0 for each of {names}; give all of them."));
        if values.values().any(|us| !us.is_finite() || *us < 0.0) {
            return Err(wrong());
        }
        serde_json::from_value(serde_json::json!(values)).map_err(|_| wrong())
    }

    /// Seconds of this work in a ring of degree `n`.
    pub fn seconds(&self, work: &Tally, n: usize) -> f64 {
        let kinds = [
            (work.forward, self.forward),
            (work.inverse, self.inverse),
            (work.pointwise, self.pointwise),
            (work.key, self.key),
            (work.diagonal, self.diagonal),
            (work.matrix_read, self.matrix),
            (work.conversion, self.conversion),
        ];
        kinds.iter().map(|(words, us)| *words as f64 * us).sum::<f64>() / n as f64 * 1e-6
    }
}

/// Limbs that are worked on in turn: neither they nor what belongs to them stays in the inner caches.
const LIMBS: usize = 16;
/// Special limbs, the sources of conversions.
const SOURCES: usize = 9;
/// Digits of a key.
const DIGITS: usize = 3;
/// Giant steps of the larger of two linear maps; the smaller one has one.
const GIANTS: usize = 4;
/// Words of a diagonal that stays in the cache.
const SHORT: usize = 64;
/// Runs of each kernel; the median counts.
const RUNS: usize = 5;

impl Units {
    /// Measures them on one thread, for a ring of degree `2^log_n` with primes of `bits` bits: some tenths of a second, 130 MB at
    /// N = 2^16. The kernels are those of the bootstrap on rows that lie in memory as its rows do.
    ///
    /// # Errors
    /// An unknown backend, sizes without enough primes, memory that cannot be had.
    pub fn measure(log_n: u32, bits: u32) -> Result<Self, Error> {
        let refused =
            || Error::Parameter(format!("There are no rings of degree 2^{log_n} with primes of {bits} bits."));
        if !(8..=17).contains(&log_n) || !(30..=61).contains(&bits) {
            return Err(refused());
        }
        let top = 1u64 << bits;
        let primes: Vec<u64> = primes::ntt_primes(top as f64, log_n, &[], top).take(LIMBS + SOURCES).collect();
        if primes.len() < LIMBS + SOURCES {
            return Err(refused());
        }
        on_threads(1, || {
            let ring = Ring::with_kernels(log_n, &primes[..LIMBS], &primes[LIMBS..], arch::chosen()?)?;
            Bench::new(&ring, bits)?.units()
        })
    }
}

/// The rows that the kernels are measured on.
struct Bench<'a> {
    ring: &'a Ring,
    kernels: &'static Kernels,
    /// Digits, and what they are written to.
    digits: Vec<Poly<Eval>>,
    out: Vec<Poly<Eval>>,
    /// Both halves of keys, `LIMBS` rows each.
    keys: Vec<Poly<Eval>>,
}

impl<'a> Bench<'a> {
    fn new(ring: &'a Ring, bits: u32) -> Result<Self, Error> {
        let mut seed = 1u64;
        let mut filled = |special: usize| -> Result<Poly<Eval>, Error> {
            let mut x = ring.zero::<Eval>(LIMBS, special)?;
            // Below every prime, so that any row is canonical anywhere.
            for limb in x.limbs_mut() {
                for word in limb {
                    seed = seed.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
                    *word = seed >> (65 - bits);
                }
            }
            Ok(x)
        };
        let digits = (0..DIGITS).map(|_| filled(SOURCES)).collect::<Result<_, _>>()?;
        let out = (0..2).map(|_| filled(0)).collect::<Result<_, _>>()?;
        let keys = (0..2 * DIGITS).map(|_| filled(0)).collect::<Result<_, _>>()?;
        Ok(Self { ring, kernels: ring.kernels(), digits, out, keys })
    }

    /// Transforms and conversions come last: they write rows that are canonical for one prime only.
    fn units(&mut self) -> Result<Units, Error> {
        let (one, all) = (self.linear_map(1, SHORT), self.linear_map(GIANTS, SHORT));
        let whole = self.linear_map(GIANTS, self.ring.n());
        let diagonals = (LIMBS + 1) as f64;
        Ok(Units {
            diagonal: (all - one).max(0.0) / (2.0 * diagonals * (GIANTS - 1) as f64),
            matrix: (whole - all).max(0.0) / (diagonals * GIANTS as f64),
            key: self.key_product(),
            pointwise: self.form(),
            inverse: self.inverse(),
            forward: self.forward(),
            conversion: self.conversion()?,
        })
    }

    /// Transforms follow the conversion that wrote the row, so it is in a cache.
    fn forward(&mut self) -> f64 {
        let Self { ring, digits, .. } = self;
        let all = median(|_| timed(|| (0..LIMBS).for_each(|i| ring.table(i).forward(digits[0].limb_mut(i)))));
        all / LIMBS as f64
    }

    /// From rows that were written long ago to others.
    fn inverse(&mut self) -> f64 {
        let Self { ring, digits, keys, .. } = self;
        let all = median(|run| {
            let (from, to) = (&digits[run % DIGITS], &mut keys[run % (2 * DIGITS)]);
            timed(|| (0..LIMBS).for_each(|i| ring.table(i).inverse_scaled_to(from.limb(i), to.limb_mut(i), 3)))
        });
        all / LIMBS as f64
    }

    /// Two products, a term and a factor, as in a relinearised product.
    fn form(&mut self) -> f64 {
        let Self { ring, kernels, digits, out, keys } = self;
        let all = median(|run| {
            let [x, y, z] = [0, 1, 2].map(|i| &digits[(run + i) % DIGITS]);
            let [u, v] = [0, 1].map(|i| &keys[(2 * run + i) % (2 * DIGITS)]);
            timed(|| {
                for i in 0..LIMBS {
                    let products = vec![(x.limb(i), u.limb(i)), (y.limb(i), v.limb(i))];
                    let form = Form { products, terms: vec![(z.limb(i), 3)], constant: 1, factor: Some(5) };
                    kernels.form(ring.modulus(i), &form, out[run % 2].limb_mut(i));
                }
            })
        });
        all / (4 * LIMBS) as f64
    }

    fn key_product(&mut self) -> f64 {
        let Self { ring, kernels, digits, out, keys } = self;
        let (b, a) = keys.split_at(DIGITS);
        let [first, second] = &mut out[..] else { return 0.0 };
        let all = median(|_| {
            timed(|| {
                for i in 0..LIMBS {
                    let key = KeyRow {
                        automorphism: None,
                        b: b.iter().map(|p| p.limb(i)).collect(),
                        a: a.iter().map(|p| p.limb(i)).collect(),
                    };
                    let digits = digits.iter().map(|p| p.limb(i)).collect();
                    let out = (first.limb_mut(i), second.limb_mut(i));
                    let row = ProductRow { digits, ..ProductRow::default() };
                    kernels.key_product(ring.modulus(i), &[row], &key, &mut [out]);
                }
            })
        });
        all / (2 * DIGITS * LIMBS) as f64
    }

    /// One limb of a linear map of a rotation for each limb of the keys, with diagonals of so many words.
    fn linear_map(&mut self, giants: usize, words: usize) -> f64 {
        let Self { ring, kernels, digits, keys, .. } = self;
        let (m, n) = (ring.modulus(0), ring.n());
        let turned = ring.automorphism(rotation_exponent(1, n));
        let (b, a) = keys.split_at(DIGITS);
        let mut constants: Vec<u64> =
            digits[1].limb(0).iter().copied().cycle().take(giants * (LIMBS + 1) * words).collect();
        kernels.prepare_constants(m, &mut constants);
        let mut constants = constants.chunks(words);
        let key = |i: usize| KeyRow {
            automorphism: Some(&turned),
            b: b.iter().map(|p| p.limb(i)).collect(),
            a: a.iter().map(|p| p.limb(i)).collect(),
        };
        let input = LinearMapInput {
            digits: digits.iter().map(|p| p.limb(0)).collect(),
            lifted: Some((digits[0].limb(1), digits[0].limb(2))),
        };
        let row = LinearMapRow {
            inputs: vec![input],
            babies: std::iter::once(None).chain((0..LIMBS).map(|i| Some(key(i)))).collect(),
            diagonals: (0..giants)
                .map(|_| constants.by_ref().take(LIMBS + 1).map(|constants| Some(DiagonalRow { constants })).collect())
                .collect(),
        };
        let mut sums = vec![0u64; 2 * giants * n];
        median(|_| {
            let mut halves: Vec<_> = sums.chunks_mut(2 * n).map(|pair| pair.split_at_mut(n)).collect();
            timed(|| kernels.linear_map(m, &row, &mut halves))
        })
    }

    fn conversion(&mut self) -> Result<f64, Error> {
        let sources: Vec<usize> = (LIMBS..LIMBS + SOURCES).collect();
        let targets: Vec<usize> = (0..LIMBS).collect();
        let converter = self.ring.converter(&sources, &targets);
        let mut failed = None;
        let Self { ring, digits, keys, .. } = self;
        let [used, fresh, ..] = &mut digits[..] else { return Ok(0.0) };
        let all = median(|run| {
            // A conversion uses its sources up, and writes where nobody has been for long.
            (LIMBS..LIMBS + SOURCES).for_each(|i| used.limb_mut(i).copy_from_slice(fresh.limb(i)));
            let rows: Vec<&mut [u64]> = used.limbs_mut().skip(LIMBS).collect();
            let to = &mut keys[run % (2 * DIGITS)];
            timed(|| failed = ring.convert(&converter, rows, to.limbs_mut().collect(), |_, _| ()).err())
        });
        failed.map_or(Ok(all / ((SOURCES + 1) * LIMBS) as f64), |e| Err(e.into()))
    }
}

/// Median of a few runs, which are told their number and tell their microseconds, after one that does not count.
fn median(mut run: impl FnMut(usize) -> f64) -> f64 {
    run(0);
    let mut times: Vec<f64> = (1..=RUNS).map(&mut run).collect();
    times.sort_by(f64::total_cmp);
    times[RUNS / 2]
}

/// Microseconds that this takes.
fn timed(f: impl FnOnce()) -> f64 {
    let start = Instant::now();
    f();
    start.elapsed().as_secs_f64() * 1e6
}
