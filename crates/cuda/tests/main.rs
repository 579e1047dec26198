//! The kernels on the emulated card.

mod backend;
mod blind;
mod case;
#[cfg(feature = "checks")]
mod checks;
mod copies;
mod driver;
mod gates;
mod memory;
mod oracle;
mod suite;
