//! Tests of the presets of CKKS in the crate `aglet`: their claims, their primes and scales, and their text.

use aglet_bootstrap::ckks;
use aglet_bootstrap::ckks::ship::ShipParams;
use aglet_bootstrap::fault::ShipFault;
use aglet_ring::primes::is_prime;
use aglet_rlwe::security::Security;
use aglet_schemes::ckks::params::Role;
use aglet_schemes::ckks::{CkksLiteral, CkksParams};
use aglet_schemes::{Error, ParameterFault};
use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::Arc;

fn preset_paths() -> Vec<PathBuf> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../aglet/presets/ckks");
    let mut paths: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|e| e.unwrap().path()).collect();
    paths.retain(|p| p.extension().is_some_and(|e| e == "toml"));
    paths.sort();
    assert!(paths.len() >= 6);
    paths
}

#[test]
fn every_preset_keeps_its_claims() {
    for path in preset_paths() {
        let literal = ckks::literal(&std::fs::read_to_string(&path).unwrap()).unwrap();
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
            assert!(matches!(gated, Err(Error::Rlwe(aglet_rlwe::Error::InsecureParameters { .. }))), "{name}");
            assert!(format!("{params:?}").contains("NOT CHECKED"));
        }
    }
}

#[test]
fn primes_are_what_the_kernels_need() {
    for path in preset_paths() {
        let text = std::fs::read_to_string(path).unwrap();
        let params = ckks::params(&text, Security::NotChecked).unwrap();
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
        let params = ckks::params(&text, Security::NotChecked).unwrap();
        // With [ship] the message prime itself is the scale.
        let own = ShipParams::of(&params).map(|_| params.q()[params.chain_level(1)] as f64);
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
fn literals_survive_as_text() {
    for path in preset_paths() {
        let literal = ckks::literal(&std::fs::read_to_string(path).unwrap()).unwrap();
        let text = literal.to_toml().unwrap();
        let back = ckks::literal(&text).unwrap();
        assert_eq!(back, CkksLiteral { claims: None, ..literal.clone() });
        assert_eq!((back.to_toml().unwrap(), text.len() < 4096), (text, true));
        let [one, two] = [literal, back].map(|l| CkksParams::new(l, Security::NotChecked).unwrap());
        assert_eq!(one, two);
    }
}

#[test]
fn what_does_not_fit_ship_is_named() {
    let text = include_str!("../../aglet/presets/ckks/ship13-bits.toml");
    let refused = |change: &dyn Fn(&mut CkksLiteral, &mut ShipParams)| {
        let mut literal = ckks::literal(text).unwrap();
        let mut own = literal.extension::<ShipParams>().unwrap().clone();
        change(&mut literal, &mut own);
        literal.extension = Some(Arc::new(own));
        let refused = CkksParams::new(literal, Security::NotChecked).unwrap_err();
        let Error::BadParameters(ParameterFault::Extension(fault)) = refused else { panic!("{refused}") };
        fault.of::<ShipFault>().unwrap().clone()
    };
    let heavy = ShipFault::Weight { weight: 31, found: Some(30), switch_bits: None };
    assert_eq!(refused(&|l, _| l.ephemeral_weight = Some(30)), heavy);
    assert_eq!(refused(&|l, _| l.message_ratio_log2 = None), ShipFault::MessageRatio { found: None });
    assert_eq!(refused(&|l, _| l.moduli[3].count = 4), ShipFault::Groups { eval_mod: 5 });
    assert_eq!(refused(&|_, own| own.digits[2][0] = 1), ShipFault::Digits { raised: 3 });
    let wide = ShipFault::Values { columns: 65, cmuxes: vec![4; 4] };
    assert_eq!(refused(&|_, own| own.masked = 65), wide);
    assert_eq!(refused(&|_, own| own.masked = 15), ShipFault::Reach { reach: 3840, wanted: 4096 });
    assert_eq!(refused(&|_, own| own.digit_bits = 9), ShipFault::Bits { digit: 9, prime: 50 });
    let windows = ShipFault::Windows { n: 8192, weight: 31, window: Some(530), most: 264 };
    assert_eq!(refused(&|_, own| own.window = Some(265)), windows);
    assert!(
        matches!(refused(&|l, _| l.moduli[4].bits = 48), ShipFault::RaisedPrimes { apart, most: 2.0 } if apart < -2.0)
    );
    assert!(matches!(refused(&|l, _| l.max_log_qp = Some(200.0)), ShipFault::LargeKey { found, .. } if found > 200.0));
    let long = refused(&|_, own| own.digits = vec![vec![0, 1], vec![2]]);
    assert!(matches!(long, ShipFault::LargeDigit { special } if (special - 56.0).abs() < 0.1));
}
