//! The deterministic choice of the primes.
//!
//! Order of choice, every prime distinct and `= 1 mod 2N`:
//! 1. `message`, from the top level down: the prime nearest to `scale^2 / 2^bits`, where `scale` is the canonical scale of the
//!    level (`2^bits` at the top). The recursion `scale(l-1) = scale(l)^2 / q_l` then steers itself back to `2^bits` at every
//!    level; with primes taken in plain order its deviation would double with each level.
//! 2. `special`, `base`, `slots_to_coeffs`, `eval_mod`, `coeffs_to_slots`, `spare`, `raised`, in this order: the largest unused primes
//!    below `2^bits`. The special primes come first so that P is as large as its bits allow, which the digits need.
//!
//! With an [`Extension`](super::Extension) primes may be small and few. Where there is one message prime, the nearest to `2^bits` by its
//! logarithm, *it* is the scale; and of the `eval_mod` primes the larger stand above.
//!
//! A set without larger primes stays strictly below 2^50, the bound of the fast kernels.

use aglet_ring::primes::ntt_primes;

use super::literal::{CkksLiteral, Role};
use crate::fault::CkksFault;
use crate::primes::{claim, largest_below};
use aglet_rlwe::params::ParamsSpec;
use aglet_rlwe::security::Secret;

/// How far a canonical scale may be from `2^bits`, relative. Scales are tracked exactly, so this only guards against runs of
/// primes so sparse (small bits in a large ring) that the scales wander off.
const SCALE_DRIFT: f64 = 1.0 / 256.0;

/// The bound that keeps the primes of a set on the kernels of their size.
fn bound(literal: &CkksLiteral) -> u64 {
    1 << if literal.moduli.iter().all(|g| g.bits <= 50) { 50 } else { 61 }
}

/// What a literal that passed its own check is on floor 1, and the canonical scale of each user level, level 0 first.
pub(super) fn choose(literal: &CkksLiteral) -> Result<(ParamsSpec, Vec<f64>), CkksFault> {
    let mut used = Vec::new();
    let (message, scales) = message_primes(literal, &mut used)?;
    let p = primes_below(literal, Role::Special, &mut used)?;
    let mut q = primes_below(literal, Role::Base, &mut used)?;
    q.extend(primes_below(literal, Role::SlotsToCoeffs, &mut used)?);
    q.extend(message);
    q.extend(eval_mod_primes(literal, &mut used)?);
    q.extend(primes_below(literal, Role::CoeffsToSlots, &mut used)?);
    let mut spare = primes_below(literal, Role::Spare, &mut used)?;
    spare.extend(primes_below(literal, Role::Raised, &mut used)?);
    let sparse =
        |weight| literal.extension.as_ref().map_or(Secret::FixedWeight(weight), |own| own.sparse_secret(weight));
    let spec = ParamsSpec {
        log_n: literal.log_n,
        secret: literal.secret,
        sparse_secret: literal.ephemeral_weight.map(sparse),
        // A bootstrap with an extension has no key to its secret with a special prime.
        sparse_special: usize::from(literal.extension.is_none()),
        sparse_log_n: None,
        q,
        spare,
        p,
        max_log_qp: literal.max_log_qp,
        digits: literal.digits.clone(),
    };
    Ok((spec, scales))
}

fn too_few(literal: &CkksLiteral, role: Role, bits: u32) -> CkksFault {
    CkksFault::FewPrimes { log_2n: literal.log_n + 1, bits, role: format!("{role:?}") }
}

/// The message primes and the canonical scales, both with user level 0 (its prime: that of level 1) first.
fn message_primes(literal: &CkksLiteral, used: &mut Vec<u64>) -> Result<(Vec<u64>, Vec<f64>), CkksFault> {
    let (mut primes, mut scales) = (Vec::new(), Vec::new());
    for group in literal.groups(Role::Message) {
        let mut wanted = f64::from(group.bits).exp2();
        if literal.extension.is_some() && group.count == 1 {
            let near = ntt_primes(wanted, literal.log_n, used, bound(literal)).take(2).map(|prime| prime as f64);
            let off = |prime: &f64| (prime / wanted).log2().abs();
            let nearest = near.min_by(|a, b| off(a).total_cmp(&off(b)));
            wanted = nearest.ok_or_else(|| too_few(literal, Role::Message, group.bits))?;
        }
        let mut scale = wanted;
        scales.push(scale);
        for _ in 0..group.count {
            let target = scale * scale / wanted;
            let prime = ntt_primes(target, literal.log_n, used, bound(literal)).next();
            let prime = prime.ok_or_else(|| too_few(literal, Role::Message, group.bits))?;
            scale = scale * scale / prime as f64;
            if (scale / wanted - 1.0).abs() > SCALE_DRIFT {
                return Err(too_few(literal, Role::Message, group.bits));
            }
            used.push(prime);
            primes.push(prime);
            scales.push(scale);
        }
    }
    primes.reverse();
    scales.reverse();
    Ok((primes, scales))
}

/// The primes of eval_mod, whose choice begins at the top in sets with an extension.
fn eval_mod_primes(literal: &CkksLiteral, used: &mut Vec<u64>) -> Result<Vec<u64>, CkksFault> {
    if literal.extension.is_none() {
        return primes_below(literal, Role::EvalMod, used);
    }
    let moduli = literal.groups(Role::EvalMod).rev().copied().collect();
    let mut primes = primes_below(&CkksLiteral { moduli, ..literal.clone() }, Role::EvalMod, used)?;
    primes.reverse();
    Ok(primes)
}

/// The primes of every group of a role: the largest unused ones below `2^bits`.
fn primes_below(literal: &CkksLiteral, role: Role, used: &mut Vec<u64>) -> Result<Vec<u64>, CkksFault> {
    let mut primes = Vec::new();
    for group in literal.groups(role) {
        let found = largest_below(literal.log_n, group.bits, group.count, used);
        primes.extend(claim(found.ok_or_else(|| too_few(literal, role, group.bits))?, used));
    }
    Ok(primes)
}
