//! The only rooms of this crate where `unsafe` stands: vector lanes, the kernels written over them, the table of kernels
//! that fits this CPU.
//!
//! A [`Kernels`] value is the proof that the CPU has what its functions need: values exist only in [`available`],
//! which asks the CPU first. The safe methods check lengths, then call.

mod checked;
mod doubles;
mod exact;
mod generic;
mod lanes;
mod portable;
mod quad;
#[cfg(test)]
mod ranges;
mod scalar;
mod short;
mod table;
#[cfg(target_arch = "x86_64")]
mod x86_64;

pub(crate) use generic::blind::{BlindInput, BlindRow, MOST_SHARED, SHORT_BITS};
pub(crate) use generic::keyswitch::{key_row_bytes, key_width, KeyRow, ProductRow, KEY_WIDTHS};
pub(crate) use generic::linear_map::{DiagonalRow, LinearMapInput, LinearMapRow};
pub(crate) use generic::pointwise::FormRow;
pub(crate) use generic::stream::{with_width, PairRow, StreamRow, BLOCK, WIDTHS};
pub(crate) use generic::sums::{ProductSum, SmallSums, SIDE, SUMS, WEIGHTS};

use crate::constants::basis::ConverterConstants;
use crate::constants::ntt::NttConstants;
use crate::constants::small::SmallConstants;
use crate::constants::Shaper;
use crate::modulus::Modulus;
use crate::tally::Tally;
use crate::Error;
use std::sync::OnceLock;

/// Bytes that kernels may read past the end of what is packed.
pub(crate) const SPARE_BYTES: usize = 64;

/// The two halves of a limb of a result.
pub(crate) type Halves<'a> = (&'a mut [u64], &'a mut [u64]);
type Convert = unsafe fn(&ConverterConstants, usize, &[&[u64]], &mut [&mut [u64]]);
type RotatedSum = unsafe fn(&Modulus, &[ProductRow<'_>], &[KeyRow<'_>], &mut [Halves<'_>]);
type KeyProduct = unsafe fn(&Modulus, &[ProductRow<'_>], &KeyRow<'_>, &mut [Halves<'_>]);

/// The kernels of one instruction set.
pub struct Kernels {
    name: &'static str,
    shaper: Shaper,
    ntt_forward: unsafe fn(&NttConstants, &mut [u64]),
    ntt_inverse: unsafe fn(&NttConstants, *const u64, &mut [u64], u64),
    form: unsafe fn(&Modulus, &FormRow<'_>, &mut [u64]),
    rsub_mul: unsafe fn(&Modulus, &mut [u64], &[u64], u64),
    sum_difference: unsafe fn(&Modulus, &mut [u64], &mut [u64]),
    prepare_constants: unsafe fn(&Modulus, &mut [u64]),
    balance: unsafe fn(&ConverterConstants, &mut [&mut [u64]], &mut [u64]),
    convert: Convert,
    key_product: KeyProduct,
    linear_map: unsafe fn(&Modulus, &LinearMapRow<'_>, &mut [Halves<'_>]),
    rotated_sum: RotatedSum,
    stream_sum: unsafe fn(&Modulus, &StreamRow<'_>, &mut [&mut [u64]]),
    stream_pairs: unsafe fn(&Modulus, &PairRow<'_>, &mut [&mut [u64]]),
    small_forward: unsafe fn(&SmallConstants, &mut [u64]),
    small_inverse_add: unsafe fn(&SmallConstants, &mut [u64], &mut [u64]),
    blind_block: unsafe fn(&SmallConstants, &BlindRow<'_>, &mut [BlindInput<'_>], &mut [u64]),
    merge_keys: unsafe fn(&SmallConstants, &BlindRow<'_>, &[u16], &mut [u64]),
    share: usize,
    packs_balanced: bool,
    product_sum: unsafe fn(&SmallConstants, &ProductSum<'_>, &mut [u64]),
    small_sums: unsafe fn(&Modulus, &SmallSums<'_>, &mut [u64]),
}

/// The kernels that this CPU can run, best first; the last is scalar.
pub fn available() -> &'static [&'static Kernels] {
    static LIST: OnceLock<Vec<&'static Kernels>> = OnceLock::new();
    LIST.get_or_init(|| {
        let mut list = Vec::new();
        #[cfg(target_arch = "x86_64")]
        {
            if is_x86_feature_detected!("avx512f")
                && is_x86_feature_detected!("avx512dq")
                && is_x86_feature_detected!("avx512vl")
                && is_x86_feature_detected!("avx512ifma")
                && is_x86_feature_detected!("avx512vbmi")
            {
                list.push(&table::avx512ifma::KERNELS);
            }
            if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
                list.push(&table::avx2::KERNELS);
            }
        }
        if fused() {
            list.push(&table::portable::KERNELS);
        }
        list.push(&table::scalar::KERNELS);
        list
    })
}

/// Whether this CPU multiplies and adds doubles in one instruction.
fn fused() -> bool {
    #[cfg(target_arch = "x86_64")]
    return is_x86_feature_detected!("fma");
    #[cfg(not(target_arch = "x86_64"))]
    cfg!(target_arch = "aarch64")
}

/// Whether streams of keys are best asked for past the outer caches, where inputs then stay: on CPUs of AMD, which read up to a quarter
/// faster so. An Intel one read a third as fast (repro/notebook/2026-11.md).
pub(crate) fn reads_once() -> bool {
    #[cfg(target_arch = "x86_64")]
    return x86_64::reads_once();
    #[cfg(not(target_arch = "x86_64"))]
    false
}

/// The kernels of this name. Errors: [`Error::Backend`] if there are none of that name, or the CPU lacks them.
pub fn by_name(name: &str) -> Result<&'static Kernels, Error> {
    available().iter().copied().find(|k| k.name == name).ok_or_else(|| Error::Backend {
        name: name.to_string(),
        reason: match name {
            "portable" | "avx2" | "avx512ifma" => "this CPU lacks the instructions".to_string(),
            _ => "there is no backend of that name (scalar, portable, avx2, avx512ifma)".to_string(),
        },
        available: available().iter().map(|k| k.name).collect::<Vec<_>>().join(", "),
    })
}

/// The kernels that `AGLET_BACKEND` names, or else the best that this CPU has.
pub fn chosen() -> Result<&'static Kernels, Error> {
    match std::env::var("AGLET_BACKEND") {
        Ok(name) if !name.is_empty() => by_name(&name),
        _ => Ok(available()[0]),
    }
}

impl Kernels {
    /// "scalar", "portable", "avx2" or "avx512ifma".
    pub fn name(&self) -> &'static str {
        self.name
    }
    /// Residues per vector; permutations are shaped by it.
    pub(crate) fn width(&self) -> usize {
        self.shaper.width
    }
    /// What shapes the constants that they read.
    pub(crate) fn shaper(&'static self) -> &'static Shaper {
        &self.shaper
    }
    /// Whether the kernels serve this modulus.
    pub fn serves(&self, m: &Modulus) -> bool {
        self.shaper.serves(m)
    }
    /// The kernels themselves if they serve the modulus, the scalar ones otherwise.
    pub(crate) fn for_modulus(&'static self, m: &Modulus) -> &'static Kernels {
        if self.serves(m) {
            self
        } else {
            &table::scalar::KERNELS
        }
    }
}

#[cfg(test)]
#[path = "../tests/kernels.rs"]
mod tests;
