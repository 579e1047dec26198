//! What the tests of Aglet share. A development dependency only: it panics where a library would return an error, and its
//! engines keep no secret.
#![deny(unsafe_code)]

#[cfg(feature = "ckks")]
pub mod card;
pub mod documents;
#[cfg(feature = "cards")]
#[allow(unsafe_code)]
pub mod emu;
pub mod exact;
pub mod fhew;
#[cfg(feature = "ckks")]
pub mod fixture;
#[cfg(feature = "ckks")]
pub mod golden;
pub mod integer;
#[cfg(feature = "ckks")]
pub mod messages;
pub mod scheme_switch;
#[cfg(feature = "ckks")]
pub mod sides;
pub mod statistics;
