//! Bootstraps of LWE ciphertexts on a backend: what it is given, and what it gives.

use crate::packed::PackedKey;
use crate::small::SmallTable;
use crate::Error;

/// The key switch before a blind rotation, and what the switch to the modulus 2N after it takes of the secret.
#[derive(Clone, Copy)]
pub struct LweSwitch<'a> {
    /// Of the degree in which coordinates meet the key.
    pub table: &'a SmallTable,
    /// A sample for each digit of each group of the coordinates that leave.
    pub key: &'a PackedKey,
    /// Coordinates of a ciphertext.
    pub coordinates: usize,
    /// Those that stay, the first.
    pub dimension: usize,
    /// Non-adjacent digits of a coordinate that leaves.
    pub digits: u32,
    /// The mean of a coordinate of the secret.
    pub mean: f64,
    /// Whether each exponent stands before its negative, for keys of both signs.
    pub signed: bool,
}

/// Ciphertexts, and what is rotated by their phases.
#[derive(Clone, Copy)]
pub struct LweBatch<'a> {
    /// Of each ciphertext its mask under all coordinates and its body: canonical words.
    pub inputs: &'a [Vec<u64>],
    /// Columns of canonical words: one start for all, or as many for each ciphertext, one after the other.
    pub starts: &'a [&'a [u64]],
    /// Exponents are multiples of 2 to this power.
    pub log_tables: u32,
    /// The coefficients of each result that are wanted as ciphertexts; `None` wants whole results.
    pub coefficients: Option<&'a [usize]>,
}

/// What became of a batch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LweResults {
    /// Of each ciphertext the exponents below 2N of its mask, one for each coordinate that stays, and that of its body.
    pub exponents: Vec<(Vec<u16>, u16)>,
    /// For each start of each ciphertext the columns of the result, or the words of each coefficient that is wanted.
    pub words: Vec<Vec<u64>>,
}

/// A key of a blind rotation on a backend, with the key of the switch before it.
pub trait BlockRotation: Send + Sync {
    /// Key switch, modulus switch, blind rotation by [`blind_block`](crate::blind::blind_block) for one block after the other, and sample
    /// extraction: with the words of this machine.
    ///
    /// # Errors
    /// [`Error::Device`].
    fn bootstrap(&self, batch: &LweBatch<'_>) -> Result<LweResults, Error>;
}
