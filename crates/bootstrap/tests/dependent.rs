//! Results of one input depend on one another: what sums of them state against the noise that they have.
//!
//! Each measured ratio is of 240 errors or more, whose mean square has a deviation of one part in 11; bounds are five of them away.

use super::keys::{keys, preset, Keys};
use aglet_bootstrap::fhew::functional::{lookup, lookup_tree, OneThread};
use aglet_ring::arch;
use aglet_rlwe::lwe::{LweCiphertext, PackingKey};
use aglet_schemes::fhew::{from_bit, Domain, Gate, Message, Table, TreeTable};

const GATE: &str = include_str!("../../aglet/presets/fhew/gate.toml");
const CGGI: &str = include_str!("../../aglet/presets/fhew/cggi.toml");
const LUT2: &str = include_str!("../../aglet/presets/fhew/lut2.toml");
const WIDE: &str = include_str!("../../aglet/presets/fhew/wide.toml");

/// The keys of a preset, on the first kernels that there are.
fn of(text: &str, seed: u8) -> Keys {
    keys(preset(text), seed, arch::available()[0])
}

fn encrypt(k: &mut Keys, message: Message, values: impl Iterator<Item = u64>) -> Vec<LweCiphertext> {
    let phases: Vec<u64> = values.map(|v| message.encode(&k.ctx, v).unwrap()).collect();
    k.encrypt_phases(phases)
}

/// The square of an error, on the torus, over what the ciphertext states. `torus` phases of messages are the torus.
fn ratio(k: &Keys, ct: &LweCiphertext, torus: u64) -> f64 {
    let q = k.ctx.modulus().value() as f64;
    let phase = k.sk.phase(&k.ctx, ct).unwrap() as f64 / q * torus as f64;
    ((phase - phase.round()) / torus as f64).powi(2) / ct.variance()
}

fn weighted(k: &Keys, terms: &[(&LweCiphertext, i64)]) -> LweCiphertext {
    LweCiphertext::combine(&k.ctx, 0, terms).unwrap()
}

fn mean(ratios: &[f64]) -> f64 {
    assert!(ratios.len() >= 240);
    ratios.iter().sum::<f64>() / ratios.len() as f64
}

/// In the full domain the tables of f and of -f begin with the same digits but for their sign: at worst, until one lies half way between
/// two, noises are the negatives of one another, and a difference has twice the deviation.
#[test]
fn a_table_and_its_negative_count_as_dependent() {
    let mut k = of(LUT2, 1);
    let message = Message::new(4, Domain::Full).unwrap();
    let f = [1, 2, 0, 3];
    let tables = [f, f.map(|v| (4 - v) % 4)].map(|values| Table::new(message, message, &values).unwrap());
    let cts = encrypt(&mut k, message, (0..240).map(|i| i % 4));
    let run = OneThread { ctx: &k.ctx, key: &k.key };
    let [plus, minus] = [0, 1].map(|t| lookup(&run, &cts, &tables[t..=t], -128.0).unwrap().remove(0));
    let ratios: Vec<f64> =
        plus.iter().zip(&minus).map(|(x, y)| ratio(&k, &weighted(&k, &[(x, 6), (y, -8)]), message.torus())).collect();
    let (found, one) = (mean(&ratios), k.ctx.noise().blind_rotation);
    println!("a table and its negative: measured over stated {found:.3}");
    assert!((0.25..1.5).contains(&found), "measured over stated {found:.3}");
    let sum = weighted(&k, &[(&plus[0], 1), (&minus[0], 1)]).variance() / one;
    assert!((sum / 4.0 - 1.0).abs() < 1e-9, "they are never counted on to cancel: {sum:.1}");
    let stated = weighted(&k, &[(&plus[0], 6), (&minus[0], -8)]).variance() / one;
    assert!((stated / 196.0 - 1.0).abs() < 1e-9, "14 deviations, not 10: {stated:.1}");
    // The same table again is the same noise, with its sign.
    let again = lookup(&run, &cts[..1], &tables[..1], -128.0).unwrap().remove(0);
    assert_eq!(weighted(&k, &[(&plus[0], 1), (&again[0], -1)]).variance(), 0.0);
}

/// Tables that are multiples of one rotation share its coefficients, call by call.
#[test]
fn sums_of_many_tables_of_one_input_state_their_noise() {
    let mut k = of(WIDE, 2);
    let message = Message::new(16, Domain::Padded).unwrap();
    let cts = encrypt(&mut k, message, (0..40).map(|i| i % 16));
    let run = OneThread { ctx: &k.ctx, key: &k.key };
    let mut ratios = Vec::new();
    for call in 0..6u64 {
        let table = |step: u64| {
            let values: Vec<u64> = (0..16).map(|m| (m * (call + step) + m / 3 * step) % 16).collect();
            Table::new(message, message, &values).unwrap()
        };
        let tables: Vec<Table> = (1..=12).map(table).collect();
        let found = lookup(&run, &cts, &tables, -128.0).unwrap();
        for i in 0..cts.len() {
            let terms: Vec<_> = found.iter().map(|column| (&column[i], 2)).collect();
            ratios.push(ratio(&k, &weighted(&k, &terms), message.torus()));
        }
    }
    let found = mean(&ratios);
    assert!((0.4..1.6).contains(&found), "measured over stated {found:.3}");
}

/// AND and OR of the same bits read coefficients of one noise that are half the degree apart: nearly independent.
#[test]
fn gates_on_the_same_bits_have_the_noise_that_they_state() {
    for (text, seed) in [(GATE, 3), (CGGI, 4)] {
        let mut k = of(text, seed);
        let mut ratios = Vec::new();
        for i in 0..240 {
            let bits =
                [i & 1 > 0, i & 2 > 0].map(|b| k.sk.encrypt(&k.ctx, from_bit(&k.ctx, b), &mut k.source).unwrap());
            let sums = [Gate::And, Gate::Or].map(|gate| gate.combine(&k.ctx, &[&bits[0], &bits[1]], -128.0).unwrap());
            let out = k.key.bootstrap(&k.ctx, &sums, &Gate::table(&k.ctx)).unwrap();
            let both = weighted(&k, &[(&out[0], 1), (&out[1], 1)]);
            assert!((both.variance() / k.ctx.noise().blind_rotation - 2.0).abs() < 1e-2);
            ratios.push(ratio(&k, &both, 4));
        }
        let found = mean(&ratios);
        println!("gates on the same bits: measured over stated {found:.3}");
        assert!((0.4..1.5).contains(&found), "measured over stated {found:.3}");
    }
}

/// Neighbouring coefficients of a rotation correlate where rounding meets a secret that has a mean.
#[test]
fn neighbouring_coefficients_state_their_correlation() {
    let mut k = of(CGGI, 5);
    let (message, n) = (Message::new(2, Domain::Padded).unwrap(), k.ctx.params().n());
    let cts = encrypt(&mut k, message, (0..40).map(|i| i % 2));
    let start = aglet_rlwe::lwe::GlweSample::trivial(&k.ctx, &Gate::table(&k.ctx), k.sk.id()).unwrap();
    let turned = k.key.rotate_tables(&k.ctx, &cts, &[start], 0).unwrap();
    let mut ratios = Vec::new();
    for sample in &turned {
        for block in 0..8 {
            let near: Vec<_> = (0..8).map(|i| sample.extract(&k.ctx, n / 64 + 2 * block + i)).collect();
            let terms: Vec<_> = near.iter().map(|ct| (ct, 1)).collect();
            ratios.push(ratio(&k, &weighted(&k, &terms), 8));
        }
    }
    let found = mean(&ratios);
    let one = k.ctx.noise().neighbours;
    println!("neighbours {one:.3}, measured over stated {found:.3}");
    assert!((0.05..0.5).contains(&one) && (0.4..1.6).contains(&found), "{one:.3}, measured over stated {found:.3}");
}

/// Tables of two messages with one low message share what its rotation left.
#[test]
fn pairs_with_one_low_message_count_as_dependent() {
    let mut k = of(WIDE, 6);
    let message = Message::new(16, Domain::Padded).unwrap();
    let values: Vec<u64> = (0..256u64).map(|i| (i * i * 11 + i / 16 * 5 + 3) >> 2 & 15).collect();
    let table = TreeTable::new(message, message, &values).unwrap();
    let gadget = k.ctx.params().spec().gadget;
    let packing = PackingKey::generate(&k.ctx, &k.sk, gadget, &mut k.source, &mut |_, _| true).unwrap();
    let (high, low) = (encrypt(&mut k, message, 0..4), encrypt(&mut k, message, std::iter::once(5)));
    let low: Vec<_> = (0..4).map(|_| low[0].clone()).collect();
    let run = OneThread { ctx: &k.ctx, key: &k.key };
    let out = lookup_tree(&run, &packing, &[&high, &low], std::slice::from_ref(&table), -128.0).unwrap().remove(0);
    let (one, rotation) = (out[0].variance(), k.ctx.noise().blind_rotation);
    let terms: Vec<_> = out.iter().map(|ct| (ct, 1)).collect();
    // The start of each is dependent, the rotation by a high message of its own is not.
    let stated = 16.0 * (one - rotation) + 4.0 * rotation;
    assert!((weighted(&k, &terms).variance() / stated - 1.0).abs() < 1e-9);
    let again = lookup_tree(&run, &packing, &[&high[..1], &low[..1]], &[table], -128.0).unwrap().remove(0);
    assert_eq!(weighted(&k, &[(&out[0], 1), (&again[0], -1)]).variance(), 0.0);
    // So is a choice by a message that they share.
    let values: Vec<u64> = (0..4096u64).map(|i| (i * i * 11 + i / 16 * 5 + 3) >> 2 & 15).collect();
    let table = TreeTable::new(message, message, &values).unwrap();
    let middle: Vec<_> = (0..2).map(|_| low[0].clone()).collect();
    let out = lookup_tree(&run, &packing, &[&high[..2], &middle, &low[..2]], &[table], -128.0).unwrap().remove(0);
    let (one, both) = (out[0].variance(), weighted(&k, &[(&out[0], 1), (&out[1], 1)]).variance());
    assert!((both / (4.0 * (one - rotation) + 2.0 * rotation) - 1.0).abs() < 1e-9);
}
