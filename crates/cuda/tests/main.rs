//! The kernels on the emulated card.

mod case;
mod gates;
mod oracle;
mod suite;
