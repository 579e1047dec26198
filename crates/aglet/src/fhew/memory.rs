//! Checks the memory of calls on ciphertexts before they allocate it: a failed allocation would end the process.

use super::array::FhewContext;
use crate::runtime::machine;
use crate::{Error, MemoryError};

/// What is allocated without a question, and what is left free for all else.
const SMALL: u64 = 32 << 20;
/// Bytes of a ciphertext beside its words: its seed, noises, pointers.
const BESIDE: u64 = 256;

/// Refuses `count` ciphertexts of full length if they would not fit in memory.
///
/// # Errors
/// [`Error::Memory`] with both figures.
pub(crate) fn room(context: &FhewContext, count: usize) -> Result<(), Error> {
    needs(count, 8 * (context.params().lwe().coordinates() as u64 + 1) + BESIDE)
}

/// The same, for ciphertexts that are seeds or share their words with others.
///
/// # Errors
/// As [`room`].
pub(crate) fn room_of_seeds(count: usize) -> Result<(), Error> {
    needs(count, BESIDE)
}

fn needs(count: usize, each: u64) -> Result<(), Error> {
    let needed = (count as u64).saturating_mul(each);
    if needed <= SMALL {
        return Ok(());
    }
    let Some(free) = machine::memory_available().filter(|&free| needed + needed / 8 + SMALL > free) else {
        return Ok(());
    };
    Err(MemoryError::Array { count, needed, available: free }.into())
}
