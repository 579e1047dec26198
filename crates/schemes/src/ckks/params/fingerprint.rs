//! The fingerprint of a parameter set: 32 bytes that determine which keys and ciphertexts fit it.

use super::literal::{CkksLiteral, Role};
use aglet_rlwe::params::ParamsSpec;
use aglet_rlwe::security::Secret;

/// A word for each distribution; weights stay below 2^17.
fn secret(secret: Secret) -> u64 {
    let (kind, number) = match secret {
        Secret::Ternary => (0, 0),
        Secret::FixedWeight(h) => (0, h),
        Secret::BlockSparse(blocks) => (1, blocks),
        Secret::Binary => (2, 0),
        Secret::BlockBinary(length) => (3, length),
        Secret::Gaussian => (4, 0),
    };
    (kind << 32) | number as u64
}

/// A word for each role: that of special primes is older than that of raised ones.
fn role(role: Role) -> u64 {
    match role {
        Role::Special => 6,
        Role::Raised => 7,
        other => other as u64,
    }
}

/// BLAKE3 over little-endian words, each list preceded by its length, so that no two sets share an encoding.
pub(super) fn of(literal: &CkksLiteral, spec: &ParamsSpec) -> [u8; 32] {
    let mut words = vec![
        u64::from(literal.log_n),
        secret(literal.secret),
        literal.ephemeral_weight.map_or(0, |h| h as u64),
        literal.sparse_switch_bits.map_or(0, u64::from),
        literal.message_ratio_log2.map_or(u64::MAX, f64::to_bits),
        literal.moduli.len() as u64,
    ];
    for g in &literal.moduli {
        words.extend([role(g.role), u64::from(g.bits), g.count as u64]);
    }
    words.extend(literal.max_log_qp.map(f64::to_bits));
    for digit in literal.digits.iter().flatten() {
        words.push(digit.len() as u64);
        words.extend(digit.iter().map(|&i| i as u64));
    }
    if let Some(extension) = &literal.extension {
        words.extend(extension.words());
    }
    for primes in [&spec.q, &spec.spare, &spec.p] {
        words.push(primes.len() as u64);
        words.extend(primes);
    }
    let mut hasher = blake3::Hasher::new_derive_key("aglet 2026-11 parameter fingerprint v1");
    for word in words {
        hasher.update(&word.to_le_bytes());
    }
    *hasher.finalize().as_bytes()
}
