//! The kernels on the emulated card.

mod backend;
mod blind;
mod case;
mod driver;
mod gates;
mod oracle;
mod suite;
