//! Tests of the parameter sets of CKKS, the presets of the crate `aglet` included.

use std::collections::HashSet;
use std::path::PathBuf;

use super::*;
use aglet_ring::primes::is_prime;
use aglet_rlwe::security::Secret;

fn preset_paths() -> Vec<PathBuf> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../aglet/presets");
    let mut paths: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|e| e.unwrap().path()).collect();
    paths.retain(|p| p.extension().is_some_and(|e| e == "toml"));
    paths.sort();
    assert!(paths.len() >= 6);
    paths
}

fn preset(name: &str) -> CkksLiteral {
    let path = format!("{}/../aglet/presets/{name}.toml", env!("CARGO_MANIFEST_DIR"));
    CkksLiteral::from_toml(&std::fs::read_to_string(path).unwrap()).unwrap()
}

fn unchecked(name: &str) -> CkksParams {
    CkksParams::new(preset(name), Security::NotChecked).unwrap()
}

#[test]
fn every_preset_keeps_its_claims() {
    for path in preset_paths() {
        let literal = CkksLiteral::from_toml(&std::fs::read_to_string(&path).unwrap()).unwrap();
        let name = literal.name.clone();
        assert_eq!(path.file_stem().unwrap().to_str().unwrap(), name);
        assert!(!literal.source.trim().is_empty(), "{name} names no source");
        let claims = literal.claims.clone().unwrap_or_else(|| panic!("{name} claims nothing"));
        let params = CkksParams::new(literal.clone(), Security::NotChecked).unwrap();
        assert!((params.log_qp() - claims.log_qp).abs() <= 0.01, "{name}: log QP = {}", params.log_qp());
        let bits = (params.security().bits * 10.0).floor() / 10.0;
        assert!((bits - claims.security_bits).abs() < 1e-9, "{name}: {bits} bits");
        let gated = CkksParams::new(literal, Security::Bits128);
        if claims.security_bits >= 128.0 {
            assert!(gated.is_ok(), "{name}: {gated:?}");
        } else {
            assert!(matches!(gated, Err(Error::InsecureParameters { .. })), "{name}");
            assert!(format!("{params:?}").contains("NOT CHECKED"));
        }
    }
}

#[test]
fn primes_are_what_the_kernels_need() {
    for path in preset_paths() {
        let text = std::fs::read_to_string(path).unwrap();
        let params = CkksParams::from_toml(&text, Security::NotChecked).unwrap();
        let all: Vec<u64> = params.q().iter().chain(params.p()).copied().collect();
        assert_eq!(all.iter().collect::<HashSet<_>>().len(), all.len());
        assert!(all.iter().all(|&p| p % (2 * params.n() as u64) == 1 && is_prime(p)));
        // Some sets trade the fast kernels for precision, or are as others published them.
        let large = ["precise-", "seal-"].iter().any(|family| params.name().starts_with(family));
        assert!(large || all.iter().all(|&p| p < 1 << 50));
        for role in [Role::Base, Role::SlotsToCoeffs, Role::EvalMod, Role::CoeffsToSlots, Role::Special] {
            let primes = if role == Role::Special { params.p() } else { params.q() };
            let bits = params.literal().groups(role).flat_map(|g| std::iter::repeat_n(g.bits, g.count));
            assert!(primes[params.role(role)].iter().zip(bits).all(|(&p, bits)| p < 1 << bits && p > 1 << (bits - 1)));
        }
    }
}

#[test]
fn scales_follow_the_recursion_and_stay_near_the_wanted_size() {
    for path in preset_paths() {
        let text = std::fs::read_to_string(path).unwrap();
        let params = CkksParams::from_toml(&text, Security::NotChecked).unwrap();
        // With [ship] the message prime itself is the scale.
        let own = params.rotor_shape().map(|_| params.q()[params.chain_level(1)] as f64);
        let wanted = own.unwrap_or(f64::from(params.scale_bits()).exp2());
        assert_eq!(params.scale_at(params.max_level()), wanted);
        assert_eq!(params.scale_at(usize::MAX), wanted);
        // Many primes = 1 mod 2N do not fit closer around 2^40: 77 at N = 2^17, 21 at N = 2^16; and no two around 2^31.
        let tolerance = match params.scale_bits() {
            ..=31 => 2f64.powi(-9),
            _ if params.log_n() <= 16 && params.max_level() < 37 => 2f64.powi(-15),
            _ => 2f64.powi(-13),
        };
        for level in 0..=params.max_level() {
            let scale = params.scale_at(level);
            assert!((scale / wanted - 1.0).abs() <= tolerance, "{} level {level}: {scale}", params.name());
            if level > 0 {
                let q = params.q()[params.chain_level(level)] as f64;
                assert_eq!(params.scale_at(level - 1), scale * scale / q);
            }
        }
    }
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
    assert!((params.log_q() - 1281.0).abs() < 1e-3 && (params.log_p() - 600.0).abs() < 1e-3);
    let ephemeral = params.sparse_security().unwrap();
    assert!((ephemeral.log_q - 97.0).abs() < 1e-3 && ephemeral.bits > 150.0, "{ephemeral}");
    assert_eq!((params.ephemeral_weight(), params.message_ratio_log2()), (Some(32), Some(6.75)));
}

#[test]
fn digits_are_balanced_by_bits() {
    for name in ["regular", "toy"] {
        let params = unchecked(name);
        assert_eq!(params.digits(26, 8).unwrap()[0], [0, 1, 2, 3, 4, 5, 6, 17, 18]);
        assert_eq!(params.digits(14, 8).unwrap()[1], [7, 8, 9, 10, 11, 12, 13]);
        assert_eq!(params.digits(4, 4).unwrap().len(), 1);
        assert_eq!(params.digits(1, 1).unwrap().len(), 1);
        assert_eq!(params.digits(2, 1).unwrap(), [[0], [1]]);
        for (q_limbs, p_limbs) in [(1, 1), (2, 2), (4, 4), (14, 12), (17, 8), (26, 12), (29, 9)] {
            assert_eq!(params.special_limbs_for(q_limbs), p_limbs, "{name} at {q_limbs} limbs");
        }
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
    // log QP = 1737 up to eval_mod and 1731 on the whole chain.
    assert_eq!((params.special_limbs_within(26), params.special_limbs_within(29)), (12, 9));
    assert_eq!((params.digits(26, 12).unwrap().len(), params.log_qp()), (2, 1738.0));
    assert!(params.digits(29, 10).is_err());
    for q_limbs in 1..=29 {
        let log2 = |primes: &[u64]| primes.iter().map(|&p| (p as f64).log2()).sum::<f64>();
        let p_limbs = params.special_limbs_within(q_limbs);
        assert!(p_limbs >= params.special_limbs_for(q_limbs));
        assert!(log2(&params.q()[..q_limbs]) + log2(&params.p()[..p_limbs]) <= 1738.0);
    }
    let with = |bits| CkksParams::new(CkksLiteral { max_log_qp: Some(bits), ..preset("regular") }, Security::Bits128);
    assert!(matches!(with(1747.0), Err(Error::InsecureParameters { limit: 1746.0, .. })));
    assert!(with(1300.0).unwrap_err().to_string().contains("max_log_qp"));
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
    let changes: [(Change, &str); 24] = [
        (|l| l.name.clear(), "name"),
        (|l| l.name = "x".repeat(65), "name"),
        (|l| l.message_ratio_log2 = Some(f64::NAN), "message_ratio_log2"),
        (|l| l.moduli.iter_mut().for_each(|g| g.count = 100), "more than 512"),
        (|l| l.log_n = 5, "log_n"),
        (|l| l.log_n = 18, "log_n"),
        (|l| l.moduli[2].bits = 62, "bits"),
        (|l| l.moduli[2].count = 0, "primes"),
        (|l| l.moduli.swap(2, 3), "out of order"),
        (|l| l.moduli[0].count = 2, "one base prime"),
        (|l| l.moduli.retain(|g| g.role != Role::Message), "message primes"),
        (|l| l.moduli.retain(|g| g.role != Role::Special), "special prime"),
        (|l| l.moduli.last_mut().unwrap().count = 32, "special primes"),
        (|l| l.max_log_qp = None, "max_log_qp"),
        (|l| (l.moduli[2].count, l.digits) = (33, Some(vec![(0..49).collect()])), "at most 32"),
        (|l| l.moduli[0].bits = 40, "base prime"),
        (|l| l.secret = Secret::FixedWeight(65537), "weight"),
        (|l| l.ephemeral_weight = Some(0), "weight"),
        (|l| l.ephemeral_weight = Some(33), "up to 32"),
        (|l| l.ephemeral_weight = None, "all of them or none"),
        (|l| l.regular_level = None, "regular_level"),
        (|l| l.regular_level = Some(14), "regular_level"),
        (|l| l.sparse_switch_bits = Some(60), "make them equal"),
        (|l| l.moduli[1] = ModuliGroup { bits: 19, count: 40, ..l.moduli[1] }, "not enough primes"),
    ];
    for (change, word) in changes {
        let mut literal = preset("regular");
        change(&mut literal);
        let error = CkksParams::new(literal, Security::NotChecked).unwrap_err();
        assert!(error.to_string().contains(word), "{error}");
    }
}

#[test]
fn the_family_is_read_first() {
    let refused = |text: &str, words: &str| {
        let error = CkksParams::from_toml(text, Security::NotChecked).unwrap_err();
        assert!(error.to_string().contains(words), "{error}");
    };
    refused("family = \"ckks\"\nname = 1", "no parameter literal");
    refused("no text", "no parameter literal");
    refused("name = \"nobody\"", "family = \"ckks\"");
    // What else stands there is not looked at.
    refused("family = \"bfv\"\nplaintext_modulus = 65537", "family \"bfv\"");
    refused(&format!("family = \"\\u0007{}\"", "x".repeat(1000)), "\\u{7}xxx");
}

#[test]
fn literals_survive_as_text() {
    for path in preset_paths() {
        let literal = CkksLiteral::from_toml(&std::fs::read_to_string(path).unwrap()).unwrap();
        let text = literal.to_toml().unwrap();
        let back = CkksLiteral::from_toml(&text).unwrap();
        assert_eq!(back, CkksLiteral { claims: None, ..literal.clone() });
        assert_eq!((back.to_toml().unwrap(), text.len() < 4096), (text, true));
        let [one, two] = [literal, back].map(|l| CkksParams::new(l, Security::NotChecked).unwrap());
        assert_eq!(one, two);
    }
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
