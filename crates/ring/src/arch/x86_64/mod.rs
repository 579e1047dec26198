//! Lanes of x86-64.

mod avx2;
pub(crate) mod avx512ifma;

use std::sync::OnceLock;

/// See [`crate::arch::reads_once`].
pub(super) fn reads_once() -> bool {
    static FOUND: OnceLock<bool> = OnceLock::new();
    // Leaf 0 names the maker. Asking takes microseconds in a virtual machine, so it is done once.
    *FOUND.get_or_init(|| core::arch::x86_64::__cpuid(0).ebx == u32::from_le_bytes(*b"Auth"))
}
