//! The switch to a sparse secret by short digits: the noise is that of the formula.

use super::*;
use crate::ckks::ship::support::{SecretSupport, SignedSupport};
use aglet_ring::primes::ntt_primes;
use aglet_rlwe::params::{Params, ParamsSpec};
use aglet_rlwe::security::{Secret, Security};
use aglet_rlwe::Sample;

const LOG_N: u32 = 10;
const BITS: u32 = 2;
const KEYS: u8 = 24;
const SUPPORT: SecretSupport = SecretSupport { weight: 31, half_window: Some(16) };

fn context() -> std::sync::Arc<Context> {
    let mut all: Vec<u64> = ntt_primes((1u64 << 43) as f64, LOG_N, &[], 1 << 43).take(3).collect();
    all.sort_unstable();
    let spec = ParamsSpec {
        log_n: LOG_N,
        secret: Secret::Ternary,
        sparse_secret: Some(Secret::BlockSparse(SUPPORT.weight)),
        sparse_log_n: None,
        sparse_special: 0,
        q: all[..1].to_vec(),
        spare: all[1..2].to_vec(),
        p: all[2..].to_vec(),
        max_log_qp: Some(130.0),
        digits: None,
    };
    Context::new(Params::new(spec, Security::NotChecked).unwrap()).unwrap()
}

#[test]
fn the_noise_is_within_a_sixteenth_of_its_formula() {
    let ctx = context();
    let (ring, count) = (ctx.ring(), digit_count(43, BITS));
    let mut random = ChaChaSource::from_seed([7; 32]);
    let sk = SecretKey::generate(&ctx, &mut random).unwrap();
    let zero = ring.zero(1, 0).unwrap();
    // Every key has errors of its own: a digit's mean of -1/2 makes neighbours agree.
    let mut sum = 0.0;
    for _ in 0..KEYS {
        let (sparse, _) = SignedSupport::draw_key(&ctx, SUPPORT, &mut random).unwrap();
        let key = key(&ctx, (count, BITS), &sk, &sparse, &mut random).unwrap();
        let ct = sk.encrypt(&ctx, &zero, &mut random).unwrap();
        let polys = encapsulate(&ctx, [&ct.polys[0], &ct.polys[1]], &key, BITS).unwrap();
        let phases = [sk.decrypt(&ctx, &ct), sparse.decrypt(&ctx, &Sample { polys, key: sparse.id() })];
        let [before, after] = phases.map(|x| ring.centred(&x.unwrap()).unwrap());
        sum += before.iter().zip(&after).map(|(x, y)| ((y - x) as f64).powi(2)).sum::<f64>();
    }
    let ratio = sum / (f64::from(KEYS) * ring.n() as f64) / noise(ring.n(), count, BITS);
    assert!((ratio - 1.0).abs() < 1.0 / 16.0, "{ratio}");
}
