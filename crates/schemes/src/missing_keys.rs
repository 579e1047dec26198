//! The users' names for keys that an evaluator misses.

use crate::Error;
use aglet_ring::automorphism::conjugation_exponent;
use aglet_rlwe::KeyRole;

/// The error for a key that is not there, in a ring of degree `n`: rotations by their step to the left.
pub fn missing(role: KeyRole, limbs: usize, n: usize) -> Error {
    // Rotations are powers of 5.
    let step =
        |galois| std::iter::successors(Some(1), |e| Some(e * 5 % (2 * n as u64))).take(n / 2).position(|e| e == galois);
    let name = match role {
        KeyRole::Relinearization => "relinearization key".to_string(),
        KeyRole::Galois(galois) if galois == conjugation_exponent(n) => "conjugation key".to_string(),
        KeyRole::Galois(galois) => match step(galois) {
            Some(by) => format!("key that rotates by {by}"),
            None => format!("key of the automorphism X^{galois}"),
        },
        KeyRole::SparseToDenseGalois(galois) => {
            format!("key from the sparse secret for the diagonal {}", step(galois).unwrap_or_default())
        }
        KeyRole::DenseToSparse => "key to the sparse secret".to_string(),
        KeyRole::SparseToDense => "key from the sparse secret".to_string(),
    };
    let part = match role {
        KeyRole::Relinearization | KeyRole::Galois(_) => "",
        _ => " (part of the bootstrap key)",
    };
    Error::MissingKey { what: format!("{name} at {limbs} limbs{part}") }
}
