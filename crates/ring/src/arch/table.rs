//! The table of kernels: every generic kernel, compiled for every instruction set.

use super::lanes::Lanes;
use super::*;

/// Wraps every generic kernel in a function with the target features of `$lanes`, and makes the table of them.
macro_rules! kernels {
    ($(#[$feature:meta])* $lanes:ty, $name:literal, $max_bits:literal) => {
        $(#[$feature])*
        unsafe fn ntt_forward(t: &NttConstants, data: &mut [u64]) {
            // SAFETY (here and below): the caller vouches for the CPU and the lengths.
            unsafe { generic::ntt::forward::<$lanes>(t, data) }
        }
        $(#[$feature])*
        unsafe fn ntt_inverse(t: &NttConstants, src: *const u64, dst: &mut [u64], scale: u64) {
            // SAFETY: see above.
            unsafe { generic::ntt::inverse::<$lanes>(t, src, dst, scale) }
        }
        $(#[$feature])*
        unsafe fn form(m: &Modulus, form: &FormRow<'_>, out: &mut [u64]) {
            // SAFETY: see above.
            unsafe { generic::pointwise::form::<$lanes>(m, form, out) }
        }
        $(#[$feature])*
        unsafe fn rsub_mul(m: &Modulus, x: &mut [u64], y: &[u64], w: u64) {
            // SAFETY: see above.
            unsafe { generic::pointwise::rsub_mul::<$lanes>(m, x, y, w) }
        }
        $(#[$feature])*
        unsafe fn sum_difference(m: &Modulus, x: &mut [u64], y: &mut [u64]) {
            // SAFETY: see above.
            unsafe { generic::pointwise::sum_difference::<$lanes>(m, x, y) }
        }
        $(#[$feature])*
        unsafe fn prepare_constants(m: &Modulus, constants: &mut [u64]) {
            // SAFETY: see above.
            unsafe { generic::pointwise::prepare_constants::<$lanes>(m, constants) }
        }
        $(#[$feature])*
        unsafe fn balance(c: &ConverterConstants, rows: &mut [&mut [u64]], v: &mut [u64]) {
            // SAFETY: see above.
            unsafe { generic::basis::balance::<$lanes>(c, rows, v) }
        }
        $(#[$feature])*
        unsafe fn convert(c: &ConverterConstants, first: usize, src: &[&[u64]], dst: &mut [&mut [u64]]) {
            // SAFETY: see above.
            unsafe { generic::basis::convert::<$lanes>(c, first, src, dst) }
        }
        $(#[$feature])*
        unsafe fn key_product(
            m: &Modulus,
            inputs: &[ProductRow<'_>],
            key: &KeyRow<'_>,
            out: &mut [Halves<'_>],
        ) {
            // SAFETY: see above.
            unsafe { generic::keyswitch::key_product::<$lanes>(m, inputs, key, out) }
        }
        $(#[$feature])*
        unsafe fn linear_map(m: &Modulus, row: &LinearMapRow<'_>, out: &mut [Halves<'_>]) {
            // SAFETY: see above.
            unsafe { generic::linear_map::linear_map::<$lanes>(m, row, out) }
        }
        $(#[$feature])*
        unsafe fn rotated_sum(
            m: &Modulus,
            inputs: &[ProductRow<'_>],
            keys: &[KeyRow<'_>],
            out: &mut [Halves<'_>],
        ) {
            // SAFETY: see above.
            unsafe { generic::rotations::rotated_sum::<$lanes>(m, inputs, keys, out) }
        }
        $(#[$feature])*
        unsafe fn stream_sum(m: &Modulus, row: &StreamRow<'_>, out: &mut [&mut [u64]]) {
            // SAFETY: see above.
            unsafe { generic::stream::stream_sum::<$lanes>(m, row, out) }
        }
        $(#[$feature])*
        unsafe fn stream_pairs(m: &Modulus, row: &PairRow<'_>, out: &mut [&mut [u64]]) {
            // SAFETY: see above.
            unsafe { generic::stream::stream_pairs::<$lanes>(m, row, out) }
        }
        $(#[$feature])*
        unsafe fn small_forward(t: &SmallConstants, data: &mut [u64]) {
            // SAFETY: see above.
            unsafe { generic::small::forward::<$lanes>(t, data) }
        }
        $(#[$feature])*
        unsafe fn small_inverse_add(t: &SmallConstants, values: &mut [u64], sum: &mut [u64]) {
            // SAFETY: see above.
            unsafe { generic::small::inverse_add::<$lanes>(t, values, sum) }
        }
        $(#[$feature])*
        unsafe fn blind_block(
            t: &SmallConstants,
            row: &BlindRow<'_>,
            inputs: &mut [BlindInput<'_>],
            scratch: &mut [u64],
        ) {
            // SAFETY: see above.
            unsafe { generic::blind::blind_block::<$lanes>(t, row, inputs, scratch) }
        }
        $(#[$feature])*
        unsafe fn merge_keys(t: &SmallConstants, row: &BlindRow<'_>, exponents: &[u16], out: &mut [u64]) {
            // SAFETY: see above.
            unsafe { generic::blind::merge_keys::<$lanes>(t, row, exponents, out) }
        }
        $(#[$feature])*
        unsafe fn product_sum(t: &SmallConstants, row: &ProductSum<'_>, out: &mut [u64]) {
            // SAFETY: see above.
            unsafe { generic::sums::product_sum::<$lanes>(t, row, out) }
        }
        $(#[$feature])*
        unsafe fn small_sums(m: &Modulus, row: &SmallSums<'_>, out: &mut [u64]) {
            // SAFETY: see above.
            unsafe { generic::sums::small_sums::<$lanes>(m, row, out) }
        }
        pub(in crate::arch) static KERNELS: Kernels = Kernels {
            name: $name,
            shaper: Shaper {
                width: <$lanes as Lanes>::WIDTH,
                max_bits: $max_bits,
                prepare: <$lanes as Lanes>::prepare,
                prepare_constant: <$lanes as Lanes>::prepare_constant,
                pack_constant: <$lanes as Lanes>::pack_constant,
                scales: <$lanes as Lanes>::SCALES,
            },
            ntt_forward,
            ntt_inverse,
            form,
            rsub_mul,
            sum_difference,
            prepare_constants,
            balance,
            convert,
            key_product,
            linear_map,
            rotated_sum,
            stream_sum,
            stream_pairs,
            small_forward,
            small_inverse_add,
            blind_block,
            merge_keys,
            share: <$lanes as Lanes>::SHARE,
            packs_balanced: <$lanes as Lanes>::PACKS_BALANCED,
            product_sum,
            small_sums,
        };
    };
}

pub(super) mod scalar {
    use super::*;
    kernels!(crate::arch::scalar::Scalar, "scalar", 61);
}
pub(super) mod portable {
    use super::*;
    kernels!(
        #[cfg_attr(target_arch = "x86_64", target_feature(enable = "fma"))]
        crate::arch::doubles::Doubles<crate::arch::portable::Four>,
        "portable",
        50
    );
}
#[cfg(target_arch = "x86_64")]
pub(super) mod avx2 {
    use super::*;
    kernels!(
        #[target_feature(enable = "avx2,fma")]
        crate::arch::doubles::Doubles<core::arch::x86_64::__m256d>,
        "avx2",
        50
    );
}
#[cfg(target_arch = "x86_64")]
pub(super) mod avx512ifma {
    use super::*;
    kernels!(
        #[target_feature(enable = "avx512f,avx512dq,avx512vl,avx512ifma,avx512vbmi")]
        crate::arch::x86_64::avx512ifma::Avx512Ifma,
        "avx512ifma",
        50
    );
}
