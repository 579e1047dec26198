//! Lanes of x86-64.

pub(crate) mod avx2;
pub(crate) mod avx512ifma;
