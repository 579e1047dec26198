//! Circuits of Aglet, written once against [`aglet_schemes::Evaluator`]: linear transforms, polynomials, matrices, tables.
//!
//! They run on ciphertexts and, in tests, on numbers in the clear. Levels are chain levels throughout (number of `Q` limbs
//! minus one). No bootstrapping method is known here; methods are made of these.
#![forbid(unsafe_code)]

pub mod dft;
pub mod digits;
pub mod error;
pub mod matrix;
pub mod parts;
pub mod polynomial;
pub mod rounding;
pub mod table;
pub mod trigonometric;

pub use dft::{BabySteps, DftScalar};
pub use digits::DigitExtraction;
pub use error::Error;
pub use parts::InParts;
pub use rounding::Rounding;
pub use trigonometric::Trigonometric;
