//! What the kernels of this machine take: the one place outside of tests that meets them alone.

use crate::arch::{DiagonalRow, FormRow, Kernels, KeyRow, LinearMapInput, LinearMapRow, ProductRow};
use crate::automorphism::rotation_exponent;
use crate::ops::KeyBlock;
use crate::packed_poly::PackedPoly;
use crate::poly::{Eval, Poly};
use crate::ring::Ring;
use crate::Error;
use std::time::Instant;

/// Primes that [`kernel_times`] wants.
pub const PRIMES: usize = LIMBS + SOURCES;
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

/// One number for each kind of work, and their names.
macro_rules! kernel_times {
    ($($(#[$doc:meta])* $name:ident),* $(,)?) => {
        /// Microseconds of each kind of work on one limb and one thread.
        #[derive(Debug, Clone, Copy)]
        pub struct KernelTimes {
            $($(#[$doc])* pub $name: f64),*
        }

        impl KernelTimes {
            /// The kinds of work.
            pub const NAMES: &[&str] = &[$(stringify!($name)),*];

            /// With what a function gives for each name, if it gives all.
            pub fn try_from_fn(value: impl Fn(&str) -> Option<f64>) -> Option<Self> {
                Some(Self { $($name: value(stringify!($name))?),* })
            }
            /// Names and values.
            pub fn iter(&self) -> impl Iterator<Item = (&'static str, f64)> {
                [$((stringify!($name), self.$name)),*].into_iter()
            }
        }
    };
}
kernel_times! {
    /// A forward transform.
    forward,
    /// An inverse transform.
    inverse,
    /// A product outside of keys and maps.
    pointwise,
    /// A product with a key, which comes from memory.
    key,
    /// A product with a diagonal.
    diagonal,
    /// What a limb of encoded diagonals adds that comes from memory.
    matrix,
    /// A product of a base conversion.
    conversion,
}

/// Measures the kernels of a bootstrap on the rayon pool that the caller stands in, for [`PRIMES`] primes of one size: on rows that lie
/// in memory as its rows do, some tenths of a second, 130 MB at N = 2^16.
///
/// # Errors
/// Primes or a degree that are not served, memory that cannot be had.
pub fn kernel_times(log_n: u32, primes: &[u64], kernels: &'static Kernels) -> Result<KernelTimes, Error> {
    let ring = Ring::with_kernels(log_n, &primes[..LIMBS], &primes[LIMBS..PRIMES], kernels)?;
    let bits = (0..PRIMES).map(|i| ring.modulus(i).bits()).min().unwrap_or(0);
    Bench::new(&ring, bits)?.times()
}

/// Median microseconds of one transform.
#[derive(Debug, Clone, Copy)]
pub struct TransformTimes {
    /// Coefficients to values.
    pub forward: f64,
    /// Values to coefficients.
    pub inverse: f64,
}

/// Times the transforms modulo some primes in turn, so often each; `None` if the kernels do not serve all of them.
///
/// # Errors
/// Primes or a degree that are not served, memory that cannot be had.
pub fn transform_times(
    log_n: u32,
    primes: &[u64],
    kernels: &'static Kernels,
    repeat: usize,
) -> Result<Option<TransformTimes>, Error> {
    let ring = Ring::with_kernels(log_n, primes, &[], kernels)?;
    if !(0..primes.len()).all(|i| kernels.serves(ring.modulus(i))) {
        return Ok(None);
    }
    let mut x = ring.zero::<Eval>(primes.len(), 0)?;
    ring.for_limbs(&mut x, |p, _, limb| {
        let words = limb.iter_mut().zip(1u64..);
        words.for_each(|(w, i)| *w = ring.modulus(p).reduce(i.wrapping_mul(0x9e37_79b9_7f4a_7c15)));
    });
    let (mut forward, mut inverse) = (Vec::new(), Vec::new());
    for round in 0..=repeat.max(1) {
        for i in 0..primes.len() {
            let there = timed(|| ring.table(i).forward(x.limb_mut(i)));
            let back = timed(|| ring.table(i).inverse(x.limb_mut(i)));
            if round > 0 {
                forward.push(there);
                inverse.push(back);
            }
        }
    }
    Ok(Some(TransformTimes { forward: middle(&mut forward), inverse: middle(&mut inverse) }))
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
    /// The same, packed.
    block: KeyBlock,
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
        let keys = (0..2 * DIGITS).map(|_| filled(0)).collect::<Result<Vec<_>, _>>()?;
        let block = ring.key_block(&keys[..DIGITS], &keys[DIGITS..])?;
        Ok(Self { ring, kernels: ring.table(0).kernels(), digits, out, keys, block })
    }

    /// Transforms and conversions come last: they write rows that are canonical for one prime only.
    fn times(&mut self) -> Result<KernelTimes, Error> {
        let (one, all) = (self.linear_map(1, SHORT), self.linear_map(GIANTS, SHORT));
        let whole = self.linear_map(GIANTS, self.ring.n());
        let diagonals = (LIMBS + 1) as f64;
        Ok(KernelTimes {
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

    /// Two products, a term and a factor, as in a relinearized product.
    fn form(&mut self) -> f64 {
        let Self { ring, kernels, digits, out, keys, .. } = self;
        let all = median(|run| {
            let [x, y, z] = [0, 1, 2].map(|i| &digits[(run + i) % DIGITS]);
            let [u, v] = [0, 1].map(|i| &keys[(2 * run + i) % (2 * DIGITS)]);
            timed(|| {
                for i in 0..LIMBS {
                    let (products, terms) = ([(x.limb(i), u.limb(i)), (y.limb(i), v.limb(i))], [(z.limb(i), 3)]);
                    let form = FormRow { products: &products, terms: &terms, constant: 1, factor: Some(5) };
                    kernels.form(ring.modulus(i), &form, out[run % 2].limb_mut(i));
                }
            })
        });
        all / (4 * LIMBS) as f64
    }

    fn key_product(&mut self) -> f64 {
        let Self { ring, kernels, digits, out, block, .. } = self;
        let [first, second] = &mut out[..] else { return 0.0 };
        let all = median(|_| {
            timed(|| {
                for i in 0..LIMBS {
                    let ([b, a], bits) = key_words(block, i);
                    let key = KeyRow { permutation: None, bits, b: &b, a: &a };
                    let out = (first.limb_mut(i), second.limb_mut(i));
                    let row = ProductRow { digits: &limbs(digits, i), added_before: None, added_after: None };
                    kernels.key_product(ring.modulus(i), &[row], &key, &mut [out]);
                }
            })
        });
        all / (2 * DIGITS * LIMBS) as f64
    }

    /// One limb of a linear map of a rotation for each limb of the keys, with diagonals of so many words.
    fn linear_map(&mut self, giants: usize, words: usize) -> f64 {
        let Self { ring, kernels, digits, block, .. } = self;
        let (m, n) = (ring.modulus(0), ring.n());
        let turned = ring.automorphism(rotation_exponent(1, n));
        let mut constants: Vec<u64> =
            digits[1].limb(0).iter().copied().cycle().take(giants * (LIMBS + 1) * words).collect();
        kernels.prepare_constants(m, &mut constants);
        let lifted = &digits[0];
        let keys: Vec<_> = (0..LIMBS).map(|i| key_words(block, i)).collect();
        let permutation = Some(turned.permutation(kernels.width()));
        let keys = keys.iter().map(|([b, a], bits)| Some(KeyRow { permutation, bits: *bits, b, a }));
        let digits = limbs(digits, 0);
        let row = LinearMapRow {
            inputs: &[LinearMapInput { digits: &digits, lifted: Some((lifted.limb(1), lifted.limb(2))) }],
            babies: &std::iter::once(None).chain(keys).collect::<Vec<_>>(),
            diagonals: &constants.chunks(words).map(|constants| Some(DiagonalRow { constants })).collect::<Vec<_>>(),
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
        failed.map_or(Ok(all / ((SOURCES + 1) * LIMBS) as f64), Err)
    }
}

/// Limb `i` of both halves of a key, and the bits of its words.
fn key_words(block: &KeyBlock, i: usize) -> ([Vec<&[u8]>; 2], usize) {
    fn half(polys: &[PackedPoly], i: usize) -> Vec<&[u8]> {
        polys.iter().map(|p| p.limb(i).0).collect()
    }
    let [b, a] = block.halves();
    ([half(b, i), half(a, i)], b[0].limb(i).1)
}

/// Limb `i` of each.
fn limbs(polys: &[Poly<Eval>], i: usize) -> Vec<&[u64]> {
    polys.iter().map(|p| p.limb(i)).collect()
}

/// Median of a few runs, which are told their number and tell their microseconds, after one that does not count.
fn median(mut run: impl FnMut(usize) -> f64) -> f64 {
    run(0);
    middle(&mut (1..=RUNS).map(&mut run).collect::<Vec<_>>())
}

/// The median.
fn middle(times: &mut [f64]) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

/// Microseconds that this takes.
fn timed(f: impl FnOnce()) -> f64 {
    let start = Instant::now();
    f();
    start.elapsed().as_secs_f64() * 1e6
}
