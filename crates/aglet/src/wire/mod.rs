//! What is stored of each type, in which family, and where it is bound. The container itself is the crate `aglet-wire`.

mod bootstrap;
mod ckks;
mod fhew;
mod integer;
mod parameters;
mod rlwe;
mod scheme_switch;

pub use aglet_wire::{Bytes, Family, Kind, Origin, Reader, Shape, Stored, Summary, Words, Writer};
pub use ckks::CkksOrigin;
pub use integer::IntegerOrigin;
pub use rlwe::SlotOrigin;
pub use scheme_switch::{Ends, IntegerSchemeSwitchOrigin, SchemeSwitchOrigin, Side};

use crate::runtime::{self, machine};
use crate::{Control, Error};
use aglet_wire::{count, flag, shown, unknown, Format};
use std::path::Path;

/// The format of files, with the types of all families.
pub const FORMAT: Format = Format {
    families: &[ckks::FAMILY, fhew::FAMILY, integer::FAMILY, scheme_switch::FAMILY, scheme_switch::INTEGERS],
    memory_available: machine::memory_available,
};
/// Bytes of what is worth more than one thread.
const LARGE: usize = 64 << 20;

/// Runs work of an [`Origin`] without engine on threads of its own: one, or all cores for large things.
pub fn on_threads<T: Send>(bytes: usize, work: impl FnOnce() -> Result<T, Error> + Send) -> Result<T, Error> {
    runtime::on_threads(usize::from(bytes < LARGE), work)
}

/// Engines write and read what is bound with them, on their own threads.
macro_rules! engines {
    ($($engine:ty: $origin:ty = $of:ident),*) => {$(
        impl $engine {
            /// The bytes of a thing of this engine.
            ///
            /// # Errors
            /// [`Error::Format`] for what is not of this engine's parameters, [`Error::Cancelled`].
            pub fn serialize<T: Stored<$origin> + Sync>(&self, x: &T, control: &Control) -> Result<Bytes, Error> {
                self.run(|| FORMAT.serialize(&self.$of(), x, control))
            }
            /// The thing of which these are the bytes.
            ///
            /// # Errors
            /// [`Error::Format`] for anything but the bytes of such a thing, [`Error::Foreign`] for one of other parameters,
            /// [`Error::Memory`], [`Error::Cancelled`].
            pub fn deserialize<T: Stored<$origin>>(&self, bytes: &[u8], control: &Control) -> Result<T, Error> {
                self.run(|| FORMAT.deserialize(&self.$of(), bytes, control))
            }
            /// Writes a thing of this engine to a file: under another name in the same folder, which then takes the place of a
            /// file that is there. A write that ends early leaves that as it was.
            ///
            /// # Errors
            /// [`Error::File`] of the system, otherwise as [`Self::serialize`].
            pub fn write<T: Stored<$origin> + Sync>(&self, x: &T, path: &Path, control: &Control) -> Result<(), Error> {
                self.run(|| FORMAT.write(&self.$of(), x, path, control))
            }
            /// Reads a thing from a file, part by part.
            ///
            /// # Errors
            /// [`Error::File`] of the system, otherwise as [`Self::deserialize`].
            pub fn read<T: Stored<$origin>>(&self, path: &Path, control: &Control) -> Result<T, Error> {
                self.run(|| FORMAT.read(&self.$of(), path, control))
            }
        }
    )*};
}

engines! {
    crate::ckks::Engine: CkksOrigin = origin,
    crate::fhew::Engine: crate::fhew::FhewContext = context,
    crate::integer::Engine: IntegerOrigin = origin,
    crate::scheme_switch::SchemeSwitch: SchemeSwitchOrigin = origin,
    crate::scheme_switch::IntegerSchemeSwitch: IntegerSchemeSwitchOrigin = origin
}
