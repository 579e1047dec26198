//! Tests of parameters as this floor knows them.

use super::*;
use crate::chain;
use crate::fault::ParameterFault;

/// A spec without spare primes or a bound, at N = 2^13.
fn small(q_bits: &[u32], p_bits: &[u32]) -> ParamsSpec {
    let mut used = Vec::new();
    let mut take = |bits: &[u32]| -> Vec<u64> {
        let one = |&bits: &u32| {
            used.extend(chain::primes(13, bits, 1, &used));
            used[used.len() - 1]
        };
        bits.iter().map(one).collect()
    };
    let (q, p) = (take(q_bits), take(p_bits));
    ParamsSpec { log_n: 13, sparse_secret: None, q, p, max_log_qp: None, ..chain::spec() }
}

#[test]
fn the_gate_stands_at_the_limit() {
    // N = 2^13 allows 214 bits. The primes are just below their powers of two, so 214 passes and 215 does not.
    let at = Params::new(small(&[44, 40, 40], &[60, 30]), Security::Bits128).unwrap();
    assert!((at.log_qp() - 214.0).abs() < 1e-3 && at.security().bits >= 128.0);
    let above = small(&[45, 40, 40], &[60, 30]);
    let error = Params::new(above.clone(), Security::Bits128).unwrap_err();
    assert!(matches!(error, Error::InsecureParameters { dimension: 8192, limit: 214.0, .. }), "{error}");
    assert!(error.to_string().contains("use fewer or smaller primes"));
    let params = Params::new(above, Security::NotChecked).unwrap();
    assert!(params.security().bits < 128.0 && format!("{params:?}").contains("NOT CHECKED"));
    // A key may have as much as max_log_qp, so that is what counts.
    let wide = ParamsSpec { max_log_qp: Some(214.1), ..small(&[44, 40, 40], &[60, 30]) };
    assert!(matches!(Params::new(wide, Security::Bits128), Err(Error::InsecureParameters { .. })));
}

#[test]
fn the_sparse_secret_is_gated_at_the_lowest_modulus() {
    // 74 bits at N = 2^13: h = 64 has them, 48 (as 32) has not, and h = 16 is in no row.
    let with = |secret| {
        Params::new(ParamsSpec { sparse_secret: Some(secret), ..small(&[44, 40], &[30, 60]) }, Security::Bits128)
    };
    let report = *with(Secret::FixedWeight(64)).unwrap().sparse_security().unwrap();
    assert!((report.log_q - 74.0).abs() < 1e-3 && report.limit == Some(112.0));
    assert!(matches!(with(Secret::FixedWeight(48)), Err(Error::InsecureParameters { .. })));
    assert!(matches!(with(Secret::BlockSparse(31)), Err(Error::InsecureParameters { limit: 34.0, .. })));
    assert!(matches!(with(Secret::FixedWeight(16)), Err(Error::UnknownSecurity { .. })));
}

#[test]
fn contradictions_are_named() {
    type Change = fn(&mut ParamsSpec);
    let good = chain::spec();
    let range = |what, found, least| SecretFault::Range { n: 1024, what, found, least }.into();
    let changes: [(Change, ParameterFault); 16] = [
        (|s| s.log_n = 5, ChainFault::Degree { log_n: 5 }.into()),
        (|s| s.log_n = 18, ChainFault::Degree { log_n: 18 }.into()),
        (|s| s.log_n = 17, ChainFault::NotPrime { modulus: good.q[0], log_2n: 18 }.into()),
        (|s| s.q[3] += 2, ChainFault::NotPrime { modulus: good.q[3] + 2, log_2n: 11 }.into()),
        (|s| s.q[3] = s.q[2], ChainFault::Twice { prime: good.q[2] }.into()),
        (|s| s.spare = vec![s.p[0]], ChainFault::Twice { prime: good.p[0] }.into()),
        (|s| s.q.clear(), ChainFault::Empty { q: 0, p: 12 }.into()),
        (|s| s.p.clear(), ChainFault::Empty { q: 29, p: 0 }.into()),
        (|s| s.p = chain::primes(10, 45, 32, &[]), ChainFault::Special { found: 32, limit: 32 }.into()),
        (|s| (s.spare, s.max_log_qp) = (chain::primes(10, 45, 1, &[]), None), ChainFault::Spare { found: 1 }.into()),
        (|s| s.max_log_qp = Some(1300.0), ChainFault::NoSpecial { max_log_qp: 1300.0 }.into()),
        (|s| s.secret = Secret::FixedWeight(1025), range("weight", 1025, 1)),
        (|s| s.sparse_secret = Some(Secret::BlockSparse(0)), range("number of blocks", 0, 1)),
        (|s| s.secret = Secret::BlockBinary(1), range("block length", 1, 2)),
        (|s| s.digits = Some(vec![vec![0, 1]]), ChainFault::Digits { limbs: 29 }.into()),
        (
            |s| s.digits = Some((0..29).map(|i| vec![i]).chain([vec![]]).collect()),
            ChainFault::Digits { limbs: 29 }.into(),
        ),
    ];
    for (change, fault) in changes {
        let mut spec = good.clone();
        change(&mut spec);
        assert_eq!(Params::new(spec, Security::NotChecked).unwrap_err(), Error::BadParameters(fault));
    }
    let endless = ParamsSpec { max_log_qp: Some(f64::NAN), ..good };
    let error = Params::new(endless, Security::NotChecked).unwrap_err();
    assert!(
        matches!(error, Error::BadParameters(ParameterFault::Chain(ChainFault::MaxLogQp { found })) if found.is_nan())
    );
}

#[test]
fn a_subset_has_its_own_primes_and_spreads_its_digits() {
    let whole = chain::params(chain::spec());
    let primes: Vec<usize> = (0..14).chain(17..29).collect();
    let part = whole.subset(&primes).unwrap();
    assert_eq!((part.prime_indices(), part.q().len()), (&primes[..], 26));
    assert_eq!((part.q()[14], part.p()), (whole.q()[17], whole.p()));
    let room: f64 = log2(&part.p()[..8]).iter().sum::<f64>() - 2.0;
    for q_limbs in [26, 23, 17] {
        let digits = part.digits(q_limbs, 8).unwrap();
        assert!(digits.windows(2).all(|pair| pair[0][0] < pair[1][0]));
        let bits = |d: &Vec<usize>| d.iter().map(|&i| (part.q()[i] as f64).log2()).sum::<f64>();
        assert!(digits.iter().all(|d| bits(d) <= room));
        assert_eq!(digits.len(), (log2(&part.q()[..q_limbs]).iter().sum::<f64>() / room).ceil() as usize);
    }
    let again = part.subset(&[0, 14, 25]).unwrap();
    assert_eq!((again.prime_indices(), again.q()[1]), (&[0, 17, 28][..], whole.q()[17]));
    for wrong in [&[][..], &[0, 0], &[29]] {
        assert!(whole.subset(wrong).is_err());
    }
}

#[test]
fn two_digits_of_any_limbs_where_a_greedy_choice_needs_three() {
    // 1161 bits under 583: 580 and 581 is the one way, and the slack of two bits allows it.
    let mut used = Vec::new();
    let mut primes = |bits: u32, count: usize| {
        let found = chain::primes(10, bits, count, &used);
        used.extend(found.clone());
        found
    };
    let p = [primes(50, 1), primes(49, 5), primes(48, 6)].concat();
    let q = [primes(47, 1), primes(40, 3), primes(50, 17), primes(48, 3)].concat();
    let params = chain::params(ParamsSpec { q, p, max_log_qp: None, spare: vec![], ..chain::spec() });
    let digits = params.digits(24, 12).unwrap();
    let sums: Vec<f64> =
        digits.iter().map(|d| log2(&d.iter().map(|&i| params.q()[i]).collect::<Vec<_>>()).iter().sum()).collect();
    assert_eq!(sums.iter().map(|bits| bits.round()).collect::<Vec<_>>(), [581.0, 580.0]);
    assert!(digits[0].contains(&0), "the first digit begins with the lowest limb: {digits:?}");
    // One special prime less: three.
    assert_eq!(params.digits(24, 11).unwrap().len(), 3);
}

#[test]
fn digits_are_no_longer_than_a_base_conversion() {
    let q = chain::primes(10, 40, 71, &[]);
    let p = chain::primes(10, 60, 31, &[]);
    let params = chain::params(ParamsSpec { q, p, max_log_qp: None, ..chain::spec() });
    let lengths: Vec<usize> = params.digits(71, 31).unwrap().iter().map(Vec::len).collect();
    assert_eq!(lengths, [32, 32, 7]);
}

#[test]
fn primes_up_to_61_bits_work() {
    let params = Params::new(small(&[61, 55, 55], &[61]), Security::NotChecked).unwrap();
    assert!(params.q().iter().chain(params.p()).all(|&p| p > 1 << 54 && p < 1 << 61));
}
