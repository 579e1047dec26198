//! Tests of the parameter sets of CKKS. What holds for every preset is tested where all of them can be read: `crates/bootstrap/tests/presets.rs`.

use std::collections::HashSet;

use super::*;
use crate::fault::{CkksFault, TextFault};
use crate::ParameterFault;
use aglet_rlwe::fault::{ChainFault, SecretFault};
use aglet_rlwe::security::Secret;

fn preset(name: &str) -> CkksLiteral {
    let path = format!("{}/../aglet/presets/ckks/{name}.toml", env!("CARGO_MANIFEST_DIR"));
    CkksLiteral::from_toml(&std::fs::read_to_string(path).unwrap()).unwrap()
}

/// What the floor below found.
fn below(fault: impl Into<aglet_rlwe::ParameterFault>) -> Error {
    Error::Rlwe(aglet_rlwe::Error::BadParameters(fault.into()))
}

fn unchecked(name: &str) -> CkksParams {
    CkksParams::new(preset(name), Security::NotChecked).unwrap()
}

#[test]
fn design_a() {
    let params = CkksParams::new(preset("regular"), Security::Bits128).unwrap();
    assert_eq!((params.n(), params.slots(), params.q().len(), params.p().len()), (65536, 32768, 29, 12));
    assert_eq!((params.hidden_levels(), params.max_level(), params.chain_level(10)), (3, 13, 13));
    assert_eq!(params.role(Role::Base), 0..1);
    assert_eq!(params.role(Role::SlotsToCoeffs), 1..4);
    assert_eq!(params.role(Role::Message), 4..17);
    assert_eq!(params.role(Role::EvalMod), 17..26);
    assert_eq!(params.role(Role::CoeffsToSlots), 26..29);
    assert_eq!(params.role(Role::Special), 0..12);
    assert!((params.log_q() - 1260.0).abs() < 1e-3 && (params.log_p() - 597.0).abs() < 1e-3);
    let ephemeral = params.sparse_security().unwrap();
    assert!((ephemeral.log_q - 97.0).abs() < 1e-3 && ephemeral.bits > 145.0, "{ephemeral}");
    assert_eq!((params.ephemeral_weight(), params.message_ratio_log2()), (Some(28), Some(6.75)));
}

#[test]
fn digits_are_balanced_by_bits() {
    // Limbs of a chain, and special primes for them: slots_to_coeffs has 99 bits in "regular", 120 in "toy".
    let limbs = [1, 2, 4, 14, 17, 26, 29];
    for (name, special) in [("regular", [1, 2, 3, 11, 7, 12, 9]), ("toy", [1, 2, 4, 12, 8, 12, 9])] {
        let params = unchecked(name);
        assert_eq!(params.digits(26, 8).unwrap()[0], [0, 1, 2, 3, 4, 5, 6, 17, 18]);
        assert_eq!(params.digits(14, 8).unwrap()[1], [7, 8, 9, 10, 11, 12, 13]);
        assert_eq!(params.digits(4, 4).unwrap().len(), 1);
        assert_eq!(params.digits(1, 1).unwrap().len(), 1);
        assert_eq!(params.digits(2, 1).unwrap(), [[0], [1]]);
        assert_eq!(limbs.map(|count| params.special_limbs_for(count)), special, "{name}");
        assert!(params.digits(0, 1).is_err() && params.digits(30, 9).is_err());
        assert!(params.digits(1, 0).is_err() && params.digits(1, 13).is_err());
    }
    let counts = [(13, 3), (14, 4), (15, 6), (16, 7), (17, 10)];
    for (log_n, digits) in counts {
        let params = unchecked(&format!("levels-{log_n}"));
        assert_eq!(params.digits(params.q().len(), params.p().len()).unwrap().len(), digits);
        assert_eq!(params.hidden_levels(), 0);
    }
}

#[test]
fn digits_cover_and_fit_at_every_level() {
    let params = unchecked("regular");
    for q_limbs in 1..=29 {
        for p_limbs in 1..=9 {
            let digits = params.digits(q_limbs, p_limbs).unwrap();
            let room: f64 = params.p()[..p_limbs].iter().map(|&p| (p as f64).log2()).sum();
            let mut limbs = digits.concat();
            limbs.sort_unstable();
            assert_eq!(limbs, (0..q_limbs).collect::<Vec<_>>());
            for digit in digits {
                let bits: f64 = digit.iter().map(|&i| (params.q()[i] as f64).log2()).sum();
                assert!(bits <= if digit.len() == 1 { room + 2e-9 } else { room - 2.0 });
            }
        }
    }
}

#[test]
fn keys_have_as_many_special_primes_as_their_limbs_leave_room_for() {
    let params = unchecked("regular");
    // log QP = 1720 up to eval_mod and on the whole chain.
    assert_eq!((params.special_limbs_within(26), params.special_limbs_within(29)), (12, 9));
    assert_eq!((params.digits(26, 12).unwrap().len(), params.log_qp()), (2, 1744.5));
    assert!(params.digits(29, 10).is_err());
    for q_limbs in 1..=29 {
        let log2 = |primes: &[u64]| primes.iter().map(|&p| (p as f64).log2()).sum::<f64>();
        let p_limbs = params.special_limbs_within(q_limbs);
        assert!(p_limbs >= params.special_limbs_for(q_limbs));
        assert!(log2(&params.q()[..q_limbs]) + log2(&params.p()[..p_limbs]) <= 1744.5);
    }
    let with = |bits| CkksParams::new(CkksLiteral { max_log_qp: Some(bits), ..preset("regular") }, Security::Bits128);
    assert!(matches!(with(1747.0), Err(Error::Rlwe(aglet_rlwe::Error::InsecureParameters { limit: 1746.0, .. }))));
    assert_eq!(with(1300.0).unwrap_err(), below(ChainFault::NoSpecial { max_log_qp: 1300.0 }));
    assert_ne!(with(1740.0).unwrap(), params);
}

#[test]
fn fingerprints_see_numbers_only() {
    let base = unchecked("regular");
    let mut renamed = preset("regular");
    (renamed.name, renamed.source, renamed.claims) = ("other".into(), "elsewhere".into(), None);
    assert_eq!(base, CkksParams::new(renamed, Security::Bits128).unwrap());
    let mut seen = HashSet::from([base.fingerprint()]);
    let changes: [fn(&mut CkksLiteral); 5] = [
        |l| l.log_n = 15,
        |l| l.secret = Secret::FixedWeight(1 << 14),
        |l| l.ephemeral_weight = Some(31),
        |l| l.message_ratio_log2 = Some(8.0),
        |l| (l.moduli[2].count, l.digits) = (12, None),
    ];
    for change in changes {
        let mut literal = preset("regular");
        change(&mut literal);
        assert!(seen.insert(CkksParams::new(literal, Security::NotChecked).unwrap().fingerprint()));
    }
}

#[test]
fn contradictions_are_named() {
    type Change = fn(&mut CkksLiteral);
    let group = |count, bits| CkksFault::Group { role: "Message".into(), count, bits, most: 512, least_bits: 19 };
    let weight = |found| below(SecretFault::Range { n: 65536, what: "weight", found, least: 1 });
    let changes: [(Change, Error); 24] = [
        (|l| l.name.clear(), CkksFault::Name { bytes: 0, most: 64 }.into()),
        (|l| l.name = "x".repeat(65), CkksFault::Name { bytes: 65, most: 64 }.into()),
        (|l| l.message_ratio_log2 = Some(60.5), CkksFault::MessageRatio { found: 60.5 }.into()),
        (|l| l.moduli.iter_mut().for_each(|g| g.count = 100), CkksFault::Primes { found: 900, most: 512 }.into()),
        (|l| l.log_n = 5, CkksFault::Degree { log_n: 5 }.into()),
        (|l| l.log_n = 18, CkksFault::Degree { log_n: 18 }.into()),
        (|l| l.moduli[2].bits = 62, group(13, 62).into()),
        (|l| l.moduli[2].count = 0, group(0, 40).into()),
        (|l| l.moduli.swap(2, 3), CkksFault::Order.into()),
        (|l| l.moduli[0].count = 2, CkksFault::Base { found: 2 }.into()),
        (|l| l.moduli.retain(|g| g.role != Role::Message), CkksFault::Message { groups: 0 }.into()),
        (|l| l.moduli.retain(|g| g.role != Role::Special), CkksFault::NoSpecial.into()),
        (|l| l.moduli.last_mut().unwrap().count = 32, below(ChainFault::Special { found: 41, limit: 32 })),
        (|l| l.max_log_qp = None, below(ChainFault::Spare { found: 13 })),
        (
            |l| (l.moduli[2].count, l.digits) = (33, Some(vec![(0..49).collect()])),
            below(ChainFault::LongDigit { found: 49, most: 32 }),
        ),
        (|l| l.moduli[0].bits = 40, CkksFault::SmallBase { base: 40, message: 40 }.into()),
        (|l| l.secret = Secret::FixedWeight(65537), weight(65537)),
        (|l| l.ephemeral_weight = Some(0), weight(0)),
        (|l| l.ephemeral_weight = Some(33), CkksFault::Weight { weight: 33, most: 32 }.into()),
        (|l| l.ephemeral_weight = None, CkksFault::BootstrapFields.into()),
        (|l| l.regular_level = None, CkksFault::RegularLevel { found: None, most: 13 }.into()),
        (|l| l.regular_level = Some(14), CkksFault::RegularLevel { found: Some(14), most: 13 }.into()),
        (|l| l.sparse_switch_bits = Some(60), CkksFault::SwitchBits { found: 60, special: 50 }.into()),
        (
            |l| l.moduli[1] = ModuliGroup { bits: 19, count: 40, ..l.moduli[1] },
            CkksFault::FewPrimes { log_2n: 17, bits: 19, role: "SlotsToCoeffs".into() }.into(),
        ),
    ];
    for (change, fault) in changes {
        let mut literal = preset("regular");
        change(&mut literal);
        assert_eq!(CkksParams::new(literal, Security::NotChecked).unwrap_err(), fault);
    }
    let none = CkksLiteral { message_ratio_log2: Some(f64::NAN), ..preset("regular") };
    assert!(matches!(
        CkksParams::new(none, Security::NotChecked),
        Err(Error::BadParameters(ParameterFault::Ckks(CkksFault::MessageRatio { .. })))
    ));
}

#[test]
fn the_family_is_read_first() {
    let refused = |text: &str| CkksParams::from_toml(text, Security::NotChecked).unwrap_err();
    for (text, at) in [("family = \"ckks\"\nname = 1", 2), ("no text", 1)] {
        let Error::BadParameters(ParameterFault::Text(TextFault::Line { line, .. })) = refused(text) else {
            panic!("{text} is a literal");
        };
        assert_eq!(line, at);
    }
    assert_eq!(refused("name = \"nobody\""), CkksFault::NoFamily.into());
    // What else stands there is not looked at.
    let other = |found: &str| Error::from(CkksFault::Family { found: found.into() });
    assert_eq!(refused("family = \"bfv\"\nplaintext_modulus = 65537"), other("bfv"));
    let long = refused(&format!("family = \"\\u0007{}\"", "x".repeat(1000)));
    assert_eq!(long, other(&format!("\u{7}{}", "x".repeat(63))));
}

#[test]
fn primes_up_to_61_bits_work_outside_the_fast_path() {
    let mut literal = preset("levels-13");
    literal.moduli = vec![
        ModuliGroup { role: Role::Base, bits: 61, count: 1 },
        ModuliGroup { role: Role::Message, bits: 55, count: 3 },
        ModuliGroup { role: Role::Special, bits: 61, count: 1 },
    ];
    let params = CkksParams::new(literal, Security::NotChecked).unwrap();
    assert!(params.q().iter().chain(params.p()).all(|&p| p > 1 << 54 && p < 1 << 61));
    assert!((params.scale_at(0) / 55f64.exp2() - 1.0).abs() < 1e-6);
}
