//! Encoding round trips, full and sparse.

use super::*;
use crate::ckks::CkksParams;

use aglet_rlwe::security::Security;

#[test]
fn round_trips_at_every_slot_count() {
    let text = include_str!("../../../aglet/presets/ckks/toy.toml");
    let ctx = Context::new(CkksParams::from_toml(text, Security::NotChecked).unwrap().rlwe().clone()).unwrap();
    for log_slots in 0..=9 {
        let encoder = Encoder::new(&ctx, 1 << log_slots).unwrap();
        let z: Vec<Complex64> = (0..1 << log_slots)
            .map(|j| Complex64::from_polar(1.0, 2.4 * j as f64) * if j % 2 == 0 { 1.0 } else { 40.0 })
            .collect();
        for level in [0, 3, 13] {
            let pt = encoder.encode(&ctx, &z, level, 2f64.powi(38)).unwrap();
            let back = encoder.decode(&ctx, &pt).unwrap();
            let worst = z.iter().zip(&back).map(|(a, b)| (a - b).norm()).fold(0.0, f64::max);
            assert!(worst < 2f64.powi(-31), "2^{log_slots} slots at level {level}: {worst:e}");
        }
    }
    assert!(Encoder::new(&ctx, 1024).is_err() && Encoder::new(&ctx, 3).is_err());
    let encoder = Encoder::new(&ctx, 4).unwrap();
    assert!(encoder.encode(&ctx, &[Complex64::new(1.0, 0.0); 3], 0, 1.0).is_err());
    assert!(encoder.encode(&ctx, &[Complex64::new(f64::NAN, 0.0); 4], 0, 1.0).is_err());
    assert!(encoder.encode(&ctx, &[Complex64::new(1e30, 0.0); 4], 0, 2f64.powi(40)).is_err());
}

/// At 2^56, the largest scale of a preset, and in the largest ring that bootstraps, doubles are no limit: what a round trip
/// leaves is the rounding of its coefficients to integers, `sqrt(N / 12)` in a slot, and that is far below a fresh error.
#[test]
fn doubles_are_no_limit_at_the_largest_scale() {
    let text = include_str!("../../../aglet/presets/ckks/precise-45.toml");
    let ctx = Context::new(CkksParams::from_toml(text, Security::Bits128).unwrap().rlwe().clone()).unwrap();
    let encoder = Encoder::new(&ctx, 1 << 15).unwrap();
    let z: Vec<_> = (0..1 << 15).map(|j| Complex64::from_polar(1.0, 2.4 * f64::from(j))).collect();
    let back = encoder.decode(&ctx, &encoder.encode(&ctx, &z, 6, 2f64.powi(56)).unwrap()).unwrap();
    let mean = z.iter().zip(&back).map(|(a, b)| (a - b).norm()).sum::<f64>() / z.len() as f64;
    // The mean of a complex Gaussian is sqrt(pi)/2 of its deviation.
    let rounding = (std::f64::consts::PI.sqrt() / 2.0 * (65536.0f64 / 12.0).sqrt()).log2() - 56.0;
    assert!(mean.log2() < rounding + 0.2, "{} for {rounding}", mean.log2());
}
