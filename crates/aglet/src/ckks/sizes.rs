//! Parameter sets for a number of levels: the presets without bootstrapping, cut to that number.

use crate::ckks::presets;
use crate::{Error, ParameterError};
use aglet_rlwe::security::{self, Security};
use aglet_schemes::ckks::params::{CkksLiteral, CkksParams, ModuliGroup, Role};

/// The most limbs of one digit, as [`Params::digits`](aglet_rlwe::Params::digits) has it.
const LONGEST_DIGIT: usize = 32;

/// The smallest secure parameter set with `levels` multiplications (at least one).
///
/// The ring is that of the smallest preset with that many levels. If there are fewer levels than in the preset, Q is
/// shorter, and the room up to the security limit goes to special primes if they make keys smaller: fewer digits, in
/// keys of fewer limbs.
///
/// # Errors
/// [`Error::Parameter`] for more levels than there are.
pub fn with_levels(levels: usize) -> Result<CkksParams, Error> {
    let wanted = levels.max(1);
    let mut most = 0;
    for (name, text) in presets::ALL.iter().filter(|(name, _)| name.starts_with("levels-")) {
        let mut literal = CkksLiteral::from_toml(text)?;
        let count = literal.groups(Role::Message).map(|g| g.count).sum();
        most = most.max(count);
        if count < wanted {
            continue;
        }
        if count > wanted {
            cut(&mut literal, wanted);
            literal.source = format!("{wanted} of the levels of {name}, special primes chosen for the smallest keys.");
            literal.claims = None;
        }
        return Ok(CkksParams::new(literal, Security::Bits128)?);
    }
    Err(ParameterError::Levels { levels, most }.into())
}

/// Leaves `levels` message primes and the special primes that make the smallest keys.
fn cut(literal: &mut CkksLiteral, levels: usize) {
    let bits = |role| literal.groups(role).next().map_or(0, |g| g.bits);
    let (base, message) = (bits(Role::Base), bits(Role::Message));
    let limit = security::limit(1 << literal.log_n, literal.secret).unwrap_or(0.0);
    // The primes below a power of two are smaller than it; message primes lie on both sides, by far less than this.
    let room = limit - 0.01 - f64::from(base) - f64::from(message) * levels as f64;
    let sizes = (message + 1..=50).flat_map(|bits| (1..LONGEST_DIGIT).map(move |count| (bits, count)));
    let fitting = sizes.filter(|&(bits, count)| f64::from(bits) * count as f64 <= room + 0.01);
    let best = fitting
        .filter_map(|(bits, count)| {
            let digits = digit_count(base, message, levels, bits as usize * count)?;
            Some((digits * (levels + 1 + count), bits as usize * count, bits, count))
        })
        .min();
    for group in &mut literal.moduli {
        match group.role {
            Role::Message => group.count = levels,
            Role::Special => {
                if let Some((_, _, bits, count)) = best {
                    *group = ModuliGroup { role: Role::Special, bits, count };
                }
            }
            _ => (),
        }
    }
}

/// Digits of consecutive limbs, each three bits below `special` unless it is one limb: two are what [`Params::digits`](aglet_rlwe::Params::digits) wants,
/// and the primes are not exactly powers of two.
fn digit_count(base: u32, message: u32, levels: usize, special: usize) -> Option<usize> {
    if base as usize > special {
        return None;
    }
    let (mut count, mut bits, mut limbs) = (1, base as usize, 1);
    for _ in 0..levels {
        if bits + message as usize > special.saturating_sub(3) || limbs == LONGEST_DIGIT {
            (count, bits, limbs) = (count + 1, 0, 0);
        }
        (bits, limbs) = (bits + message as usize, limbs + 1);
    }
    Some(count)
}

#[cfg(test)]
mod tests {
    use super::*;
    use aglet_rlwe::KeySwitchSpec;

    #[test]
    fn every_number_of_levels_is_served_by_the_smallest_ring_with_keys_as_small_as_it_allows() {
        let mut last = (0, 0);
        for levels in 1..=77 {
            let params = with_levels(levels).unwrap();
            assert_eq!(params.max_level(), levels);
            assert!(params.security().bits >= 128.0, "{levels} levels: {}", params.security());
            let log_n = match levels {
                0..=2 => 13,
                3..=7 => 14,
                8..=17 => 15,
                18..=36 => 16,
                _ => 17,
            };
            assert_eq!(params.log_n(), log_n);
            let bytes = KeySwitchSpec::balanced(&params, levels + 1).unwrap().byte_count(&params).unwrap();
            // A larger ring has room for so few digits that its smallest keys may be below those of the ring before it.
            assert!(log_n > last.0 || bytes > last.1, "{levels} levels: keys of {bytes} bytes after {}", last.1);
            last = (log_n, bytes);
        }
        assert_eq!(with_levels(0).unwrap(), with_levels(1).unwrap());
        assert!(matches!(with_levels(78), Err(Error::Parameter(_))));
    }

    #[test]
    fn full_sets_are_the_presets() {
        for levels in [2, 7, 17, 36, 77] {
            let params = with_levels(levels).unwrap();
            assert_eq!(params, presets::load(params.name(), presets::Security::Bits128).unwrap());
        }
    }
}
