//! Encoding round trips, full and sparse.

use super::*;
use aglet_rlwe::params::Params;
use aglet_rlwe::security::Security;

#[test]
fn round_trips_at_every_slot_count() {
    let text = include_str!("../../../aglet/presets/toy.toml");
    let ctx = Context::new(Params::from_toml(text, Security::NotChecked).unwrap()).unwrap();
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
