//! The trait that every kernel is written over, once: a vector of residues modulo one prime.
//!
//! Kernels never see which instruction set they run on. A `Lanes` value holds the constants of one modulus in
//! registers; `V` is its working form of `WIDTH` residues. Ranges are contracts:
//!
//! * *canonical*: in `[0, q)`, the only form that leaves a kernel;
//! * *lazy*: what `tame`, `mul`, `fwd_butterfly`, `inv_*` and `acc_reduce` give and take. Integer lanes keep
//!   `[0, 4q)`, the floating-point lanes keep `|x| <= 4q` as exact integers (q < 2^50, so 4q <= 2^52).

use crate::modulus::Modulus;

/// A vector of `WIDTH` residues modulo one prime, with the constants of that prime.
///
/// # Safety
/// Every method may be called only where the CPU has the instruction set of the implementation; pointers must be
/// valid for `WIDTH` words (8-byte aligned is enough).
pub(crate) trait Lanes: Copy {
    /// Residues per vector: 1, 4 or 8.
    const WIDTH: usize;
    /// Whether sums grow until `tame` is called (integer lanes reduce inside the butterflies).
    const GROWS: bool;
    /// Whether registers hold no more than four vectors and what they are multiplied by: transforms then go two stages at a time.
    const FEW_REGISTERS: bool = false;
    /// With as many bits or fewer, the sums of 13 stages can be multiplied without having been reduced (0: never).
    const ROOMY_BITS: u32 = 0;
    /// Whether operands of a base conversion are balanced; others stay as `load` reads them.
    const BALANCES: bool = false;
    /// Accumulators of a blind rotation that share each vector of the key while it is in the first cache: more than one where unpacking takes
    /// about as long as a product.
    const SHARE: usize = 1;
    /// Whether what digits are multiplied with before they meet a key has the 1/N of the inverse transform after it: lanes that multiply all
    /// digits.
    const SCALES: bool = false;
    /// Whether packed keys of words of five bytes hold balanced residues, on a lift of 2^39.
    const PACKS_BALANCED: bool = false;
    /// Products of two canonical residues that a wide accumulator takes.
    const CHUNK: usize;
    /// Products of a balanced residue (fresh from `tame` or `acc_reduce`) and a constant that a narrow accumulator takes.
    const CHUNK_NARROW: usize;
    /// Products of what a forward transform leaves and a constant that a narrow accumulator takes (0: it must be tamed before).
    const CHUNK_LAZY: usize = 0;
    /// Products of a canonical residue below 2^48 and a number below 16 that a wide accumulator takes.
    const CHUNK_SMALL: usize = Self::CHUNK;
    /// Working form of `WIDTH` residues.
    type V: Copy;
    /// A multiplier with its precomputed quotient.
    type T: Copy;
    /// An accumulator of exact double-width products.
    type A: Copy;
    /// A factor of products in a sum, as [`Lanes::sum_mac`] takes it.
    type M: Copy;
    /// A vector of `WIDTH` doubles.
    type F: Copy;

    unsafe fn new(m: &Modulus) -> Self;

    /// The stored word of a constant: what `load_raw` turns into the right operand of `mac`.
    fn prepare_constant(m: &Modulus, c: u64) -> u64;
    /// [`Lanes::prepare_constant`] of `WIDTH` canonical residues, in place.
    unsafe fn prepare_constants(self, p: *mut u64);
    /// The word of a constant as packed keys hold it: below q, for [`Lanes::load_packed`].
    fn pack_constant(m: &Modulus, c: u64) -> u64;
    /// Word pair of a multiplier `w` (canonical): the form tables store.
    fn prepare(m: &Modulus, w: u64) -> [u64; 2];
    /// One multiplier in all lanes.
    unsafe fn splat(self, w: [u64; 2]) -> Self::T;
    /// `WIDTH` multipliers from a table: main words at `w`, second words at `aux`.
    unsafe fn load_t(self, w: *const u64, aux: *const u64) -> Self::T;

    /// The multiplier that a constant is, from the form that `load_raw` reads, or a difference of two such.
    unsafe fn multiplier(self, constant: Self::V) -> Self::T;

    /// Canonical residues from memory; of another modulus too, for `f_mul_add`, `balance` and `mul`.
    unsafe fn load(self, p: *const u64) -> Self::V;
    /// Lazy to canonical, to memory.
    unsafe fn store(self, p: *mut u64, x: Self::V);
    /// [`Lanes::store`] of a value fresh from `mul`, `tame` or `acc_reduce`.
    #[inline(always)]
    unsafe fn store_tame(self, p: *mut u64, x: Self::V) {
        // SAFETY: as for `store`.
        unsafe { self.store(p, x) }
    }
    /// [`Lanes::store`] past the caches where that can be done, for what is read again much later: the line at `p` is not
    /// fetched first. Other threads may read it after [`Lanes::fence`].
    #[inline(always)]
    unsafe fn stream(self, p: *mut u64, x: Self::V) {
        // SAFETY: as for `store`.
        unsafe { self.store(p, x) }
    }
    /// Orders what this thread has streamed before all that it does next.
    #[inline(always)]
    unsafe fn fence() {}
    /// Tells the cache that the line at `p` will be wanted; any address will do.
    #[inline(always)]
    unsafe fn prefetch(_: *const u64) {}
    /// [`Lanes::prefetch`] of a line that will be read once, past the outer caches where that can be told.
    #[inline(always)]
    unsafe fn prefetch_once(_: *const u64) {}
    /// Working form from memory, as `store_raw` left it.
    unsafe fn load_raw(p: *const u64) -> Self::V;
    /// One stored word of working form in all lanes.
    unsafe fn splat_raw(x: u64) -> Self::V;
    /// Working form to memory.
    unsafe fn store_raw(p: *mut u64, x: Self::V);
    /// `WIDTH` words of `bits` bits each out of eight in a little-endian bit string, from number `first` on, a multiple of
    /// `WIDTH`: the right operand of `mac`. `bits` is even, 50 at most, and known when this is compiled; up to 64 bytes from the first
    /// word on are read.
    unsafe fn load_packed(self, p: *const u8, first: usize, bits: usize) -> Self::V;
    /// Transposes the leading `WIDTH` x `WIDTH` block.
    unsafe fn transpose(x: &mut [Self::V; 8]);

    /// Any lazy value (the floating-point lanes: `|x| < 2^53`) to the smallest lazy range.
    unsafe fn tame(self, x: Self::V) -> Self::V;
    /// `x * w`, `x` lazy.
    unsafe fn mul(self, x: Self::V, w: Self::T) -> Self::V;
    /// `(x + w y, x - w y)`; grows the range by at most q, see `generic/ntt.rs`.
    unsafe fn fwd_butterfly(self, x: Self::V, y: Self::V, w: Self::T) -> (Self::V, Self::V);
    /// `x + times q`, where lanes need room below (`x` small enough).
    #[inline(always)]
    unsafe fn lift(self, x: Self::V, _times: u64) -> Self::V {
        x
    }
    /// `x` before a butterfly whose results must be lazy, for lanes that leave it to the transform when to reduce.
    #[inline(always)]
    unsafe fn lazy_reduce(self, x: Self::V) -> Self::V {
        x
    }
    /// The same before the last butterfly: from a lazy value.
    #[inline(always)]
    unsafe fn lazy_reduce_last(self, x: Self::V) -> Self::V {
        x
    }
    /// `x` below `16 q < 2^52`, to below `(times + 4) q` and from `times q` on, where lanes need room below.
    #[inline(always)]
    unsafe fn lift_anew(self, x: Self::V, _times: u64) -> Self::V {
        x
    }
    /// A sum that has grown: integer lanes take `x` below twice a [`Lanes::multiple`] to below that, floating-point lanes tame it.
    #[inline(always)]
    unsafe fn subside(self, x: Self::V, _multiple: Self::V) -> Self::V {
        x
    }
    /// `x + y` for the inverse transform.
    unsafe fn inv_sum(self, x: Self::V, y: Self::V) -> Self::V;
    /// `(x - y) w` for the inverse transform.
    unsafe fn inv_diff_mul(self, x: Self::V, y: Self::V, w: Self::T) -> Self::V;
    /// `times q`, where lanes need room below a difference.
    unsafe fn multiple(self, times: u64) -> Self::V;
    /// `(x + y, (x - y) w)` whose sum grows: integer lanes need `y <= offset` and `x - y + offset < 2^52`, an offset of
    /// [`Lanes::multiple`]; floating-point lanes `|x - y| <= 2^52`; scalar ones lazy values below 2q.
    unsafe fn inv_lazy(self, x: Self::V, y: Self::V, w: Self::T, offset: Self::V) -> (Self::V, Self::V);
    /// `x + y` of two values fresh from `acc_reduce`, `tame`, `mul` or `load`; the result may go to `store`.
    unsafe fn add(self, x: Self::V, y: Self::V) -> Self::V;
    /// `x - y` of two canonical values; the result may go to `mul`.
    unsafe fn sub(self, x: Self::V, y: Self::V) -> Self::V;

    /// An empty accumulator. A narrow one takes more but smaller products.
    unsafe fn acc_zero<const NARROW: bool>(self) -> Self::A;
    /// `a + x y`: both canonical in a wide accumulator, `x` balanced and `y` a constant in a narrow one.
    unsafe fn mac(self, a: Self::A, x: Self::V, y: Self::V) -> Self::A;
    /// `a + x w` in a wide accumulator: `x` canonical and below 2^48, `w` a constant below 16.
    #[inline(always)]
    unsafe fn mac_small(self, a: Self::A, x: Self::V, w: Self::V) -> Self::A {
        // SAFETY: as for `mac`.
        unsafe { self.mac(a, x, w) }
    }
    /// `a + x` for a canonical `x`, which counts as a product.
    unsafe fn acc_add(self, a: Self::A, x: Self::V) -> Self::A;
    /// Two vectors of memory hold an accumulator.
    unsafe fn acc_store(p: *mut u64, a: Self::A);
    unsafe fn acc_load(p: *const u64) -> Self::A;
    /// The sum, balanced or canonical, of an accumulator that began as `acc_zero::<NARROW>`.
    unsafe fn acc_reduce<const NARROW: bool>(self, a: Self::A) -> Self::V;
    /// The sum, balanced or canonical, of up to sixteen products in a narrow accumulator: of a multiplied residue and a constant of a
    /// modulus below 2^48.
    #[inline(always)]
    unsafe fn acc_reduce_sixteen(self, a: Self::A) -> Self::V {
        // SAFETY: as for `acc_reduce`.
        unsafe { self.acc_reduce::<true>(a) }
    }
    /// [`Lanes::acc_reduce`], but only as far as `store` needs it, also of the sum with a value that is canonical or tame.
    #[inline(always)]
    unsafe fn acc_sum<const NARROW: bool>(self, a: Self::A) -> Self::V {
        // SAFETY: as for `acc_reduce`.
        unsafe { self.acc_reduce::<NARROW>(a) }
    }
    /// What `store` makes of `acc_reduce`.
    #[inline(always)]
    unsafe fn acc_finish<const NARROW: bool>(self, p: *mut u64, a: Self::A) {
        // SAFETY: as for `store`.
        unsafe { self.store(p, self.acc_sum::<NARROW>(a)) }
    }
    /// A canonical constant in all lanes, balanced where that helps.
    unsafe fn constant(self, c: u64) -> Self::V;

    /// A factor of a sum of up to sixteen products of a multiplied residue and a constant, modulo a prime below 2^48, or below 2^40 where the sum
    /// is `SHORT`.
    unsafe fn factor<const SHORT: bool>(self, x: Self::V) -> Self::M;
    /// A factor from a packed key of words of `BYTES`, five of them if the sum is short.
    unsafe fn key_factor<const BYTES: usize>(self, p: *const u8) -> Self::M;
    /// A vector of a packed key of words of `BYTES`.
    #[inline(always)]
    unsafe fn load_key<const BYTES: usize>(self, p: *const u8) -> Self::V {
        // SAFETY: as for `load_packed`.
        unsafe { self.load_packed(p, 0, 8 * BYTES) }
    }
    /// Two vectors of memory hold a factor.
    unsafe fn factor_store(p: *mut u64, x: Self::M);
    unsafe fn factor_load(p: *const u64) -> Self::M;
    /// An empty sum.
    unsafe fn sum_zero<const SHORT: bool>(self) -> Self::A;
    /// `a + x y`.
    unsafe fn sum_mac<const SHORT: bool>(self, a: Self::A, x: Self::M, y: Self::M) -> Self::A;
    /// What has to be done after every eight products that others follow.
    #[inline(always)]
    unsafe fn sum_fold<const SHORT: bool>(self, a: Self::A) -> Self::A {
        a
    }
    /// The sum, balanced within a hundredth of q or canonical.
    unsafe fn sum_reduce<const SHORT: bool>(self, a: Self::A) -> Self::V;

    unsafe fn f_zero() -> Self::F;
    /// `f + x as f64 * inv`: two rounded operations, never fused, so that all lanes agree.
    unsafe fn f_mul_add(f: Self::F, x: Self::V, inv: f64) -> Self::F;
    /// `floor(f + 1/2)` as small non-negative integers in working form.
    unsafe fn f_round(f: Self::F) -> Self::V;

    /// Canonical residues at `p`, centred, times `scale`, rounded to the nearest integer with ties to even: two roundings, never
    /// fused, so that all lanes agree. Results stay within 2^50.
    unsafe fn f_scaled(self, p: *const u64, scale: f64) -> Self::F;
    /// `(r, f - r base)` with `r = f / base` rounded to the nearest integer; `base` is a power of two, `inverse` its inverse.
    unsafe fn f_split(f: Self::F, base: f64, inverse: f64) -> (Self::F, Self::F);
    /// Integers as residues: `f + times q` where lanes need room below, else lazy.
    unsafe fn f_integer(self, f: Self::F, times: u64) -> Self::V;

    /// `(y, v)` to `(y - q, v - 1)` where `y > q / 2`: the same number, if `v` counts multiples of q. `q` is any modulus, as a double.
    /// Only for lanes that want small operands.
    #[inline(always)]
    unsafe fn balance(y: Self::V, v: Self::V, _q: f64) -> (Self::V, Self::V) {
        (y, v)
    }
    /// `WIDTH` canonical residues of `src` through a permutation table with blocks of `WIDTH`
    /// (see `automorphism.rs`): `entry` is the table entry of this block.
    unsafe fn load_permuted(self, src: *const u64, entry: u32, inner: *const [u32; 16]) -> Self::V;
}

/// Factors of sums for lanes whose factors are vectors, and whose sums are narrow accumulators.
macro_rules! plain_factors {
    ($v:ty) => {
        #[inline(always)]
        unsafe fn factor<const SHORT: bool>(self, x: $v) -> $v {
            x
        }
        #[inline(always)]
        unsafe fn key_factor<const BYTES: usize>(self, p: *const u8) -> $v {
            // SAFETY (here and below): as for the other method.
            unsafe { self.load_packed(p, 0, 8 * BYTES) }
        }
        #[inline(always)]
        unsafe fn factor_store(p: *mut u64, x: $v) {
            // SAFETY: see above.
            unsafe { Self::store_raw(p, x) }
        }
        #[inline(always)]
        unsafe fn factor_load(p: *const u64) -> $v {
            // SAFETY: see above.
            unsafe { Self::load_raw(p) }
        }
        #[inline(always)]
        unsafe fn sum_zero<const SHORT: bool>(self) -> Self::A {
            // SAFETY: see above.
            unsafe { self.acc_zero::<true>() }
        }
        #[inline(always)]
        unsafe fn sum_mac<const SHORT: bool>(self, a: Self::A, x: $v, y: $v) -> Self::A {
            // SAFETY: see above.
            unsafe { self.mac(a, x, y) }
        }
        #[inline(always)]
        unsafe fn sum_reduce<const SHORT: bool>(self, a: Self::A) -> $v {
            // SAFETY: see above.
            unsafe { self.acc_reduce_sixteen(a) }
        }
    };
}
pub(crate) use plain_factors;
