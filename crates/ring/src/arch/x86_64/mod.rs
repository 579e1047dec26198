//! Lanes of x86-64.

mod avx2;
pub(crate) mod avx512ifma;
