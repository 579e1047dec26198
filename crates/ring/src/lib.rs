//! Floor 0 of Aglet: integers modulo primes, the negacyclic transform, RNS polynomials, base conversion,
//! automorphisms and samplers. Nothing here knows of ciphertexts.
//!
//! `unsafe` stands in `arch/` only.
#![deny(unsafe_code)]

#[allow(unsafe_code)]
pub mod arch;
pub mod automorphism;
pub mod backend;
pub mod basis;
pub mod bench;
pub mod blind;
pub mod block_rotation;
mod constants;
pub mod demand;
mod error;
pub mod fft;
pub mod host;
pub mod host_ring;
pub mod modulus;
pub mod ntt;
pub mod ops;
pub mod pack;
pub mod packed;
pub mod packed_poly;
pub mod places;
mod plans;
pub mod poly;
pub mod pool;
pub mod primes;
pub mod process;
pub mod reversal;
pub mod ring;
pub mod sample;
pub mod small;
pub mod tally;
pub mod traffic;
mod words;

pub use backend::{Backend, Host};
pub use block_rotation::{BlockRotation, LweBatch, LweResults, LweSwitch};
pub use demand::Demand;
pub use error::Error;
pub use host_ring::{HostRing, Sign};
pub use modulus::Modulus;
pub use ops::{in_one_go, Constant, Digits, Form, KeyBlock, KeyProduct, Multiplier, Pair, Tensor};
pub use packed_poly::PackedPoly;
pub use poly::{Coeff, Eval, Poly};
pub use ring::Ring;
pub use tally::Tally;
