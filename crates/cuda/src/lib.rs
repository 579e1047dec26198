//! Floor 1 of Aglet: the macro-operations of the ring on a CUDA card, the same words as on the host.
//!
//! The kernels are CUDA C without headers (`kernels`). What runs them today is [`Emu`], which compiles the same text for this machine and
//! finds races, words that nobody wrote and addresses that are nobody's. A driver of cards takes its place behind the same calls. [`Card`]
//! makes a backend of rings of it.
//!
//! `unsafe` stands in `emu.rs` only.
#![deny(unsafe_code)]

mod arithmetic;
mod backend;
mod blind;
mod device;
#[allow(unsafe_code)]
mod emu;
mod error;
pub mod kernels;
pub mod ops;
mod poly;

pub use arithmetic::Arithmetic;
pub use backend::Card;
pub use blind::BlindKey;
pub use device::DeviceRing;
pub use emu::{Emu, Order, Program};
pub use error::Error;
pub use poly::{DeviceKey, DevicePoly};
