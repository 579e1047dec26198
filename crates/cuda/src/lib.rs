//! Floor 1 of Aglet: the macro-operations of the ring on a CUDA card, the same words as on the host.
//!
//! The kernels are CUDA C without headers (`kernels`). What runs them is a [`Launcher`]: the [`Driver`] of a card, or in tests an emulator that compiles
//! the same text for this machine and finds races, words that nobody wrote and addresses that are nobody's. [`Card`] makes a backend of rings of
//! it.
//!
//! `unsafe` stands in the folder `driver` only.
#![deny(unsafe_code)]

mod arithmetic;
mod backend;
mod blind;
mod device;
#[allow(unsafe_code)]
mod driver;
mod error;
pub mod kernels;
mod key_switch;
mod launcher;
mod lwe;
pub mod ops;
mod poly;
mod selftest;
mod uploads;

pub use arithmetic::Arithmetic;
pub use backend::Card;
pub use blind::BlindKey;
pub use device::DeviceRing;
pub use driver::{CardInfo, Driver, LIBRARY_VARIABLE, WAIT_VARIABLE};
pub use error::Error;
pub use launcher::{Device, Launcher, Row};
pub use poly::{DeviceKey, DevicePoly};
