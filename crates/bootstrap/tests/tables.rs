//! Noise of tables at their real size against the formulas: many tables of one rotation, interleaved and as multiples, and packing.

use super::keys::{keys, preset, Keys};
use aglet_bootstrap::fhew::functional::{OneThread, Way};
use aglet_ring::arch;
use aglet_rlwe::lwe::{GlweSample, LweCiphertext, Noise, PackingKey};
use aglet_schemes::fhew::{half_steps, Domain, Message, Table};
#[cfg(feature = "long")]
use {aglet_bootstrap::fhew::functional::lookup_pairs, aglet_schemes::fhew::PairTable};

const LUT4: &str = include_str!("../../aglet/presets/fhew/lut4.toml");
const WIDE: &str = include_str!("../../aglet/presets/fhew/wide.toml");

/// The keys of a preset, on the best kernels.
fn of(text: &str, seed: u8) -> Keys {
    keys(preset(text), seed, arch::chosen().unwrap())
}

fn encrypt(k: &mut Keys, message: Message, count: usize) -> Vec<LweCiphertext> {
    let phase = |i: usize| message.encode(&k.ctx, i as u64 % message.space()).unwrap();
    let phases: Vec<u64> = (0..count).map(phase).collect();
    k.encrypt_phases(phases)
}

/// The formulas for the secret's true weight.
fn noise(k: &Keys) -> Noise {
    Noise::of(k.ctx.params(), Some(k.sk.weights(&k.ctx)))
}

/// The square of an error, on the torus.
fn square(k: &Keys, ct: &LweCiphertext, expected: u64) -> f64 {
    let m = k.ctx.modulus();
    let error = m.centre(m.sub(k.sk.phase(&k.ctx, ct).unwrap(), expected));
    (error as f64 / m.value() as f64).powi(2)
}

fn near(measured: f64, formula: f64, what: &str) {
    let ratio = measured / formula;
    println!("{what}: measured over formula {ratio:.3}");
    assert!((ratio - 1.0).abs() < 0.1, "{what}: measured over formula {ratio:.3}");
}

#[test]
fn multiples_of_one_rotation_have_the_noise_of_their_jumps() {
    let message = Message::new(16, Domain::Padded).unwrap();
    let values = [3, 9, 9, 0, 15, 2, 7, 7, 8, 1, 1, 4, 13, 6, 0, 11];
    let table = Table::new(message, message, &values).unwrap();
    let (mut squares, mut count, mut formula) = (0.0, 0.0, 0.0);
    for seed in 0..3 {
        let mut k = of(WIDE, seed);
        let cts = encrypt(&mut k, message, 32);
        let start = GlweSample::trivial(&k.ctx, &half_steps(&k.ctx, message), k.key.id()).unwrap();
        let jumps = table.factors(k.ctx.params());
        let jumped = table.squared_factors(k.ctx.params());
        let carried = k.ctx.params().noise().blind_rotation * jumped;
        formula += noise(&k).blind_rotation * jumped / 3.0;
        for (i, turned) in k.key.rotate_tables(&k.ctx, &cts, &[start], 0).unwrap().iter().enumerate() {
            // The next coefficients read the same box, with noises of their own.
            for at in 0..16 {
                let product = turned.rotated_back(&k.ctx, at).product(&k.ctx, &jumps);
                // Neighbouring coefficients correlate a little.
                assert!((-1e-9..0.1).contains(&(product.variance() / carried - 1.0)));
                squares += square(&k, &product, message.encode(&k.ctx, values[i % 16]).unwrap());
                count += 1.0;
            }
        }
    }
    near(squares / count, formula, "multiples");
}

#[test]
fn interleaved_tables_have_the_noise_of_a_rotation() {
    let message = Message::new(4, Domain::Padded).unwrap();
    let all = [[0, 1, 2, 3], [3, 3, 0, 1], [2, 0, 1, 3], [1, 2, 3, 0]];
    let tables = all.map(|values| Table::new(message, message, &values).unwrap());
    let (mut squares, mut count, mut formula) = (0.0, 0.0, 0.0);
    for seed in 3..6 {
        let mut k = of(LUT4, seed);
        assert_eq!(Way::choose(k.ctx.params(), &tables, k.ctx.params().noise().fresh), Way::Interleaved(2));
        let cts = encrypt(&mut k, message, 96);
        let carried = k.ctx.params().noise().blind_rotation;
        formula += noise(&k).blind_rotation / 3.0;
        let run = OneThread { ctx: &k.ctx, key: &k.key };
        let out = aglet_bootstrap::fhew::functional::lookup(&run, &cts, &tables, -128.0).unwrap();
        for (found, values) in out.iter().zip(&all) {
            for (i, ct) in found.iter().enumerate() {
                assert!((ct.variance() / carried - 1.0).abs() < 1e-9);
                squares += square(&k, ct, message.encode(&k.ctx, values[i % 4]).unwrap());
                count += 1.0;
            }
        }
    }
    near(squares / count, formula, "interleaved");
}

/// Packing of samples whose noise is far smaller: what its automorphisms leave in every place.
#[test]
fn packing_has_the_noise_of_its_automorphisms() {
    let message = Message::new(16, Domain::Padded).unwrap();
    let (mut squares, mut count, mut formula) = (0.0, 0.0, 0.0);
    for seed in 6..9 {
        let mut k = of(WIDE, seed);
        let half = half_steps(&k.ctx, message);
        let start = GlweSample::trivial(&k.ctx, &half, k.key.id()).unwrap();
        // Message 0 lies at the border between the halves of the torus.
        let cts = encrypt(&mut k, message, 17).split_off(1);
        let values = k.key.rotate_tables(&k.ctx, &cts[..15], &[start], 0).unwrap();
        let values: Vec<_> = (0..16).map(|i| values[i % 15].clone()).collect();
        let levels = k.ctx.params().spec().log_n as i32;
        formula += noise(&k).automorphism * (4f64.powi(levels) - 1.0) / 3.0 / 3.0;
        for round in 1..=48 {
            let packing =
                PackingKey::generate(&k.ctx, &k.sk, k.ctx.params().spec().gadget, &mut k.source, &mut |_, _| true)
                    .unwrap();
            // Other coefficients have the same phase and are rounded on their own.
            let turned: Vec<_> = values.iter().map(|v| v.rotated_back(&k.ctx, round).extract(&k.ctx, 0)).collect();
            let packed = packing.pack(&k.ctx, &turned).unwrap();
            for h in 0..16 {
                squares += square(&k, &packed.extract(&k.ctx, h * k.ctx.params().n() / 16), half[0]);
                count += 1.0;
            }
        }
        let packing =
            PackingKey::generate(&k.ctx, &k.sk, k.ctx.params().spec().gadget, &mut k.source, &mut |_, _| true).unwrap();
        assert!(packing.pack(&k.ctx, &cts[..3]).is_err());
    }
    near(squares / count, formula, "packing");
}

/// Squares of errors over the formula for the row that was read, and how many, of one key.
#[cfg(feature = "long")]
fn two_messages(seed: u8) -> (f64, f64) {
    let message = Message::new(16, Domain::Padded).unwrap();
    let values: Vec<u64> = (0..256u64).map(|i| (i * i * 11 + i / 16 * 5 + 3) >> 2 & 15).collect();
    let table = PairTable::new(message, message, &values).unwrap();
    let mut k = of(WIDE, seed);
    let packing =
        PackingKey::generate(&k.ctx, &k.sk, k.ctx.params().spec().gadget, &mut k.source, &mut |_, _| true).unwrap();
    let (high, low) = (encrypt(&mut k, message, 480), encrypt(&mut k, message, 480));
    let partner = |i: usize| (i * 7 + i / 16) % 480;
    let low: Vec<_> = (0..480).map(|i| low[partner(i)].clone()).collect();
    let run = OneThread { ctx: &k.ctx, key: &k.key };
    let out = lookup_pairs(&run, &packing, [&high, &low], std::slice::from_ref(&table), -128.0).unwrap().remove(0);
    let merges = (4f64.powi(k.ctx.params().spec().log_n as i32) - 1.0) / 3.0;
    let variance = |noise: &Noise, factors: f64| noise.blind_rotation * (factors + 1.0) + noise.automorphism * merges;
    let factors: Vec<f64> = table.rows().iter().map(|row| row.squared_factors(k.ctx.params())).collect();
    // The ciphertext says the noise of the steepest row.
    let claimed = variance(&k.ctx.params().noise(), factors.iter().copied().fold(0.0, f64::max));
    let own = noise(&k);
    let squares = out.iter().enumerate().map(|(i, ct)| {
        assert!((-1e-9..0.1).contains(&(ct.variance() / claimed - 1.0)));
        let (h, l) = (i % 16, partner(i) % 16);
        square(&k, ct, message.encode(&k.ctx, values[16 * h + l]).unwrap()) / variance(&own, factors[h])
    });
    (squares.sum(), out.len() as f64)
}

#[test]
#[cfg(feature = "long")]
fn tables_of_two_messages_have_the_noise_of_all_their_steps() {
    // 1920 squares have a deviation of one part in 31.
    let found: Vec<(f64, f64)> = std::thread::scope(|scope| {
        let keys: Vec<_> = (10..14).map(|seed| scope.spawn(move || two_messages(seed))).collect();
        keys.into_iter().map(|key| key.join().unwrap()).collect()
    });
    let (squares, count) = found.iter().fold((0.0, 0.0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
    near(squares / count, 1.0, "two messages");
}
