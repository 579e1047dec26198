//! The kernels on the emulated card.

mod blind;
mod case;
mod gates;
mod oracle;
mod suite;
