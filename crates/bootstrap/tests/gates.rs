//! Gates at their real size: truth tables, noise against its formula, the same bits on every backend.

use super::keys::{keys, preset, Keys};
use aglet_bootstrap::fault::RotationFault;
use aglet_bootstrap::fhew::functional::{self, OneThread};
use aglet_bootstrap::FhewBootstrapKey;
use aglet_ring::arch;
use aglet_ring::sample::ChaChaSource;
use aglet_rlwe::lwe::{
    log2_tail, GlweSample, LweCiphertext, LweContext, LweParams, LweSecretKey, LweSpec, LweSwitchingKey, Noise,
    Switched,
};
use aglet_rlwe::security::Security;
use aglet_rlwe::Error;
use aglet_schemes::fhew::{from_bit, mux_end, mux_start, mux_table, not, to_bit, Gate};
use aglet_schemes::Error as SchemeError;

/// The presets by name.
const PRESETS: [(&str, &str); 11] = [
    ("gate", include_str!("../../aglet/presets/fhew/gate.toml")),
    ("cggi", include_str!("../../aglet/presets/fhew/cggi.toml")),
    ("ginx3", include_str!("../../aglet/presets/fhew/ginx3.toml")),
    ("lmkcdey", include_str!("../../aglet/presets/fhew/lmkcdey.toml")),
    ("dm", include_str!("../../aglet/presets/fhew/dm.toml")),
    ("ntru", include_str!("../../aglet/presets/fhew/ntru.toml")),
    ("lut2", include_str!("../../aglet/presets/fhew/lut2.toml")),
    ("lut3", include_str!("../../aglet/presets/fhew/lut3.toml")),
    ("lut4", include_str!("../../aglet/presets/fhew/lut4.toml")),
    ("wide", include_str!("../../aglet/presets/fhew/wide.toml")),
    ("toy-lut4", include_str!("../../aglet/presets/fhew/toy-lut4.toml")),
];

/// Parameters and tables of a set, on the best kernels.
fn context(spec: LweSpec) -> LweContext {
    LweContext::new(LweParams::new(spec, Security::NotChecked).unwrap(), arch::chosen().unwrap()).unwrap()
}

fn gate() -> LweSpec {
    preset(PRESETS[0].1)
}

/// What the feature `long` measures, of every preset; else of these two, by blocks and by NTRU.
fn measured() -> impl Iterator<Item = (&'static str, &'static str)> {
    PRESETS.into_iter().filter(|(name, _)| cfg!(feature = "long") || ["gate", "ntru"].contains(name))
}

/// Gates by every method.
fn methods() -> Vec<LweSpec> {
    PRESETS[..6].iter().map(|p| preset(p.1)).collect()
}

fn best(spec: LweSpec, seed: u8) -> Keys {
    keys(spec, seed, arch::chosen().unwrap())
}

#[test]
fn every_gate_has_its_truth_table() {
    for spec in methods() {
        let mut k = best(spec, 1);
        let bit = |k: &mut Keys, b: bool| k.sk.encrypt(&k.ctx, from_bit(&k.ctx, b), &mut k.source).unwrap();
        for gate in Gate::ALL {
            let inputs = gate.inputs();
            let (mut sums, mut expected) = (Vec::new(), Vec::new());
            for i in 0..1 << inputs {
                let clear: Vec<bool> = (0..inputs).map(|j| i >> j & 1 == 1).collect();
                let bits: Vec<_> = clear.iter().map(|&b| bit(&mut k, b)).collect();
                sums.push(gate.combine(&k.ctx, &bits.iter().collect::<Vec<_>>(), -128.0).unwrap());
                expected.push(gate.of(&clear));
            }
            let out = k.key.bootstrap(&k.ctx, &sums, &Gate::table(&k.ctx)).unwrap();
            let found: Vec<bool> = out.iter().map(|ct| to_bit(&k.ctx, k.sk.phase(&k.ctx, ct).unwrap())).collect();
            assert_eq!(found, expected, "{}", gate.name());
            // Several at once are what each is alone.
            let alone = k.key.bootstrap(&k.ctx, &sums[1..2], &Gate::table(&k.ctx)).unwrap();
            assert_eq!((alone[0].words(), alone[0].body()), (out[1].words(), out[1].body()));
            let negated = not(&k.ctx, &out[0]).unwrap();
            assert_eq!(to_bit(&k.ctx, k.sk.phase(&k.ctx, &negated).unwrap()), !expected[0]);
        }
        for i in 0..8 {
            let clear = [i & 1 == 1, i & 2 == 2, i & 4 == 4];
            let bits = clear.map(|b| bit(&mut k, b));
            let start = mux_start(&k.ctx, [&bits[0], &bits[1]], -128.0).unwrap();
            let both = k.key.bootstrap(&k.ctx, &[start], &mux_table(&k.ctx)).unwrap().remove(0);
            let end = mux_end(&k.ctx, &both, [&bits[0], &bits[1], &bits[2]]).unwrap().sum(&k.ctx, -128.0).unwrap();
            let chosen = k.key.bootstrap(&k.ctx, &[end], &Gate::table(&k.ctx)).unwrap().remove(0);
            assert_eq!(chosen.variance(), k.ctx.noise().blind_rotation, "a result of mux is one of a gate");
            let found = to_bit(&k.ctx, k.sk.phase(&k.ctx, &chosen).unwrap());
            assert_eq!(found, if clear[0] { clear[1] } else { clear[2] }, "{clear:?}");
        }
    }
}

/// Results that share their noise: of one bit, of one pair of bits, of one another. Where the third term is made of the other two, another
/// pair goes first; in `ntru` three results have no margin at all.
#[test]
fn majority_and_mux_take_every_three_results() {
    for (name, text) in
        PRESETS[..6].iter().filter(|(name, _)| cfg!(feature = "long") || ["gate", "ntru"].contains(name))
    {
        let mut k = best(preset(text), 30);
        let [zero, one] = [false, true].map(|b| from_bit(&k.ctx, b));
        let fresh = [[zero, zero, one, one], [zero, one, zero, one]].map(|bits| k.encrypt_phases(bits));
        let run = OneThread { ctx: &k.ctx, key: &k.key };
        let all =
            |gate, x: &[LweCiphertext], y: &[LweCiphertext]| functional::gate(&run, gate, &[x, y], -128.0).unwrap();
        let x = all(Gate::And, &fresh[0], &fresh[0]);
        let y = all(Gate::Or, &fresh[1], &fresh[1]);
        let pool = [all(Gate::And, &x, &y), all(Gate::Or, &x, &y), all(Gate::And, &x, &x), x, y];
        let read = |cts: &[LweCiphertext]| -> Vec<bool> {
            cts.iter().map(|ct| to_bit(&k.ctx, k.sk.phase(&k.ctx, ct).unwrap())).collect()
        };
        let clear = pool.each_ref().map(|cts| read(cts));
        for i in 0..125 {
            let (at, j) = ([i % 5, i / 5 % 5, i / 25], i % 4);
            let [x, y, z] = at.map(|at| &pool[at][j..=j]);
            let bits = at.map(|at| clear[at][j]);
            let most = read(&functional::gate(&run, Gate::Majority, &[x, y, z], -128.0).unwrap());
            let chosen = read(&functional::mux(&run, [x, y, z], -128.0).unwrap());
            let expected = (Gate::Majority.of(&bits), if bits[0] { bits[1] } else { bits[2] });
            assert_eq!((most[0], chosen[0]), expected, "{name}: majority and mux of {at:?}");
        }
    }
}

#[test]
fn a_chain_of_gates_stays_right() {
    let chains = methods().into_iter().zip([8, 2, 2, 2, 1, 2]);
    // The truth tables above are of every method, chains of gates by blocks only unless the feature `long` asks for all.
    for (spec, rounds) in chains.take(if cfg!(feature = "long") { 6 } else { 1 }) {
        let mut k = best(spec, 10);
        let mut clear: Vec<bool> = (0..32).map(|i| i % 3 == 0).collect();
        let encrypt = |k: &mut Keys, b: bool| k.sk.encrypt(&k.ctx, from_bit(&k.ctx, b), &mut k.source).unwrap();
        let mut bits: Vec<_> = clear.iter().map(|&b| encrypt(&mut k, b)).collect();
        for round in 0..rounds {
            let gate = Gate::ALL[round % 7];
            let pairs = |i: usize| (i, (i + 1 + 2 * round) % 32);
            let sum = |i: usize| gate.combine(&k.ctx, &[&bits[pairs(i).0], &bits[pairs(i).1]], -128.0).unwrap();
            let sums: Vec<_> = (0..32).map(sum).collect();
            clear = (0..32).map(|i| gate.of(&[clear[pairs(i).0], clear[pairs(i).1]])).collect();
            bits = k.key.bootstrap(&k.ctx, &sums, &Gate::table(&k.ctx)).unwrap();
            let found: Vec<_> = bits.iter().map(|ct| to_bit(&k.ctx, k.sk.phase(&k.ctx, ct).unwrap())).collect();
            assert_eq!(found, clear, "round {round}, {}", gate.name());
        }
    }
}

/// Every coefficient of what rotations give, for several keys.
#[test]
fn rotations_leave_the_noise_of_the_formula() {
    for (name, text) in measured() {
        let (keys, mut ratio) = (3, 0.0);
        for seed in 0..keys {
            let mut k = best(preset(text), 20 + seed);
            let (one, q) = (from_bit(&k.ctx, true), k.ctx.modulus().value() as f64);
            let inputs: Vec<_> = (0..16u64)
                .map(|i| k.sk.encrypt(&k.ctx, i * (k.ctx.modulus().value() / 16), &mut k.source).unwrap())
                .collect();
            let start = GlweSample::trivial(&k.ctx, &vec![one; k.ctx.params().n()], k.sk.id()).unwrap();
            let (mut squares, mut count) = (0.0, 0.0);
            for sample in k.key.rotate_tables(&k.ctx, &inputs, &[start], 0).unwrap() {
                for at in (0..k.ctx.params().n()).step_by(8) {
                    let phase = k.sk.phase(&k.ctx, &sample.extract(&k.ctx, at)).unwrap();
                    let error = k.ctx.modulus().centre(phase).abs() as f64 - one as f64;
                    squares += (error / q).powi(2);
                    count += 1.0;
                }
            }
            let formula = Noise::of(k.ctx.params(), Some(k.sk.weights(&k.ctx)));
            ratio += squares / count / formula.blind_rotation / f64::from(keys);
        }
        println!("{name}: measured over formula {ratio:.3}");
        assert!((ratio - 1.0).abs() < 0.1, "{name}: measured over formula {ratio:.3}");
    }
}

#[test]
fn no_preset_is_left_out() {
    let folder = std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../aglet/presets/fhew")).unwrap();
    let mut files: Vec<String> = folder.map(|f| f.unwrap().file_name().into_string().unwrap()).collect();
    let mut known: Vec<String> = PRESETS.iter().map(|p| format!("{}.toml", p.0)).collect();
    files.sort();
    known.sort();
    assert_eq!(files, known);
}

/// The first n coordinates of a secret: the phase of a unit vector is minus one of them.
fn coordinates(ctx: &LweContext, sk: &LweSecretKey) -> Vec<i64> {
    let unit = |i: usize| {
        let words = (0..=ctx.params().coordinates()).map(|j| u64::from(i == j)).collect();
        LweCiphertext::from_words(ctx, words, sk.id(), Vec::new()).unwrap()
    };
    let phases = (0..ctx.params().spec().dimension).map(|i| sk.phase(ctx, &unit(i)).unwrap());
    phases.map(|phase| -ctx.modulus().centre(phase)).collect()
}

/// Key switch and modulus switch of random samples: the mean of squares against the formulas with the true weight.
#[test]
fn switches_leave_the_noise_of_the_formulas() {
    for (name, text) in measured() {
        let ctx = context(preset(text));
        let mut source = ChaChaSource::from_seed([4; 32]);
        let sk = LweSecretKey::generate(&ctx, &mut source);
        let (s, expected) = (coordinates(&ctx, &sk), Noise::of(ctx.params(), Some(sk.weights(&ctx))));
        let (m, two_n) = (ctx.modulus(), 2 * ctx.params().n() as i64);
        let (mut by_key, mut by_modulus, mut count) = (0.0, 0.0, 0.0);
        // Errors of one key are the same for all samples, so several keys count.
        for _ in 0..24 {
            let key = LweSwitchingKey::generate(&ctx, &sk, &mut source).unwrap();
            for _ in 0..48 {
                let ct = sk.encrypt(&ctx, m.value() / 3, &mut source).unwrap();
                let short = key.apply(&ctx, &ct).unwrap();
                let (a, b) = short.split_at(s.len());
                let mut words = vec![0; ctx.params().coordinates() + 1];
                words[..s.len()].copy_from_slice(a);
                words[ctx.params().coordinates()] = b[0];
                let switched = LweCiphertext::from_words(&ctx, words, sk.id(), Vec::new()).unwrap();
                let [before, after] = [&ct, &switched].map(|ct| sk.phase(&ctx, ct).unwrap());
                by_key += (m.centre(m.sub(after, before)) as f64 / m.value() as f64).powi(2);
                let exponents = Switched::new(&ctx, &short, 0);
                let mask: i64 = exponents.mask.iter().zip(&s).map(|(&a, &s)| i64::from(a) * s).sum();
                let exponent = (i64::from(exponents.body) - mask).rem_euclid(two_n) as f64;
                // The body was rounded down: half an exponent less on average.
                let error = (exponent + 0.5) / two_n as f64 - after as f64 / m.value() as f64;
                by_modulus += (error - error.round()).powi(2);
                count += 1.0;
            }
        }
        let ratios = [by_key / count / expected.key_switch, by_modulus / count / expected.mod_switch];
        println!("{name}: measured over formula {ratios:.3?}");
        assert!(ratios.iter().all(|r| (r - 1.0).abs() < 0.1), "{name}: measured over formula {ratios:.3?}");
    }
}

/// The report of progress itself says stop, at the first sample and midway; then the same context makes a key that works.
#[test]
fn a_key_that_was_stopped_midway_leaves_nothing_behind() {
    for spec in methods() {
        let ctx = context(spec);
        let mut source = ChaChaSource::from_seed([9; 32]);
        let sk = LweSecretKey::generate(&ctx, &mut source);
        let samples = FhewBootstrapKey::shapes(&ctx).0[0];
        let samples = samples.blocks * samples.keys;
        for stop in [0, samples / 9] {
            let mut reports = Vec::new();
            let mut progress = |done, total| {
                reports.push((done, total));
                done < stop
            };
            let stopped = FhewBootstrapKey::generate(&ctx, &sk, &mut source, &mut progress);
            assert!(matches!(stopped.map(|_| ()), Err(Error::Cancelled)));
            assert_eq!(reports, (0..=stop).map(|done| (done, samples)).collect::<Vec<_>>());
        }
        let key = FhewBootstrapKey::generate(&ctx, &sk, &mut source, &mut |_, _| true).unwrap();
        let bits = [true, false].map(|b| sk.encrypt(&ctx, from_bit(&ctx, b), &mut source).unwrap());
        let out = key.bootstrap(&ctx, &bits, &Gate::table(&ctx)).unwrap();
        assert_eq!([0, 1].map(|i| to_bit(&ctx, sk.phase(&ctx, &out[i]).unwrap())), [true, false]);
    }
}

#[test]
fn gates_that_would_fail_too_often_are_refused_with_the_figure() {
    let mut k = best(gate(), 2);
    let fresh = k.sk.encrypt(&k.ctx, from_bit(&k.ctx, true), &mut k.source).unwrap();
    let refreshed =
        |k: &Keys| k.key.bootstrap(&k.ctx, std::slice::from_ref(&fresh), &Gate::table(&k.ctx)).unwrap().remove(0);
    let mut noisy = refreshed(&k);
    for _ in 0..3 {
        noisy = LweCiphertext::combine(&k.ctx, 0, &[(&noisy, 1), (&refreshed(&k), 1)]).unwrap();
    }
    let error = Gate::Nand.combine(&k.ctx, &[&noisy, &fresh], -128.0).unwrap_err().to_string();
    let figure = log2_tail(0.125, k.ctx.params().noise().decision(noisy.variance() + fresh.variance()));
    assert!(error.contains(&format!("2^{figure:.1}")) && figure > -128.0, "{error}");
    assert!(Gate::Nand.combine(&k.ctx, &[&noisy, &fresh], -64.0).is_ok());
    assert!(Gate::Majority.combine(&k.ctx, &[&fresh, &fresh], -128.0).is_err());
    let other = best(gate(), 3);
    assert!(other.key.bootstrap(&k.ctx, std::slice::from_ref(&fresh), &Gate::table(&k.ctx)).is_err());
    assert!(k.key.bootstrap(&k.ctx, &[fresh], &[0; 8]).is_err());
}

/// Tables for each ciphertext, tables that lie interleaved, entries beside the first, and a start that is encrypted.
#[test]
fn rotations_take_many_tables_and_encrypted_starts() {
    let mut k = best(gate(), 5);
    let (one, n) = (from_bit(&k.ctx, true), k.ctx.params().n());
    let clear = [true, false, false, true];
    let bits = clear.map(|b| k.sk.encrypt(&k.ctx, from_bit(&k.ctx, b), &mut k.source).unwrap());
    let read = |k: &Keys, ct: &LweCiphertext| to_bit(&k.ctx, k.sk.phase(&k.ctx, ct).unwrap());
    let (yes, no) = (vec![one; n], vec![k.ctx.modulus().neg(one); n]);
    let starts = [&yes, &no, &yes, &no].map(|table| GlweSample::trivial(&k.ctx, table, k.sk.id()).unwrap());
    let each = k.key.rotate_tables(&k.ctx, &bits, &starts, 0).unwrap();
    assert_eq!(each.iter().map(|s| read(&k, &s.extract(&k.ctx, 0))).collect::<Vec<_>>(), [true, true, false, false]);
    let refused = |starts: &[GlweSample], log_tables| k.key.rotate_tables(&k.ctx, &bits, starts, log_tables).err();
    let wrong = |starts| Some(RotationFault::Starts { starts, ciphertexts: 4 }.into());
    assert_eq!(refused(&starts[..2], 0), wrong(2));
    // As many starts for each: one key for each block of exponents, and the same words.
    let many: Vec<_> = (0..24).map(|i| starts[i * 5 / 3 % 4].clone()).collect();
    let found = k.key.rotate_tables(&k.ctx, &bits, &many, 0).unwrap();
    for (i, (found, start)) in found.iter().zip(&many).enumerate() {
        let alone = k.key.rotate_tables(&k.ctx, &bits[i / 6..=i / 6], std::slice::from_ref(start), 0).unwrap();
        assert!(found.words() == alone[0].words(), "start {i}");
    }
    let interleaved: Vec<u64> = (0..n).map(|i| [yes[0], no[0]][i % 2]).collect();
    let start = GlweSample::trivial(&k.ctx, &interleaved, k.sk.id()).unwrap();
    let both = k.key.rotate_tables(&k.ctx, &bits, &[start], 1).unwrap();
    for (sample, b) in both.iter().zip(clear) {
        assert_eq!([0, 1].map(|at| read(&k, &sample.extract(&k.ctx, at))), [b, !b]);
    }
    // A rotation of what a rotation gave: bits of an eighth of the torus forth and back, so a quarter, N/2 entries, in both rotations.
    let start = GlweSample::trivial(&k.ctx, &yes, k.sk.id()).unwrap();
    let first = k.key.rotate_tables(&k.ctx, &bits[..2], &[start], 0).unwrap();
    let second = k.key.rotate_tables(&k.ctx, &bits[..2], &first, 0).unwrap();
    let variance = k.ctx.params().noise().blind_rotation;
    for (at, expected) in [(0, [true, false]), (3 * n / 4, [false, true])] {
        let found = [0, 1].map(|i| read(&k, &second[i].extract(&k.ctx, at)));
        assert_eq!(found, expected, "entry {at}");
        assert!((second[0].variance() / variance - 2.0).abs() < 1e-9);
    }
    let stranger = GlweSample::trivial(&k.ctx, &yes, best(gate(), 6).sk.id()).unwrap();
    let other = refused(&[stranger], 0);
    assert!(matches!(other, Some(aglet_bootstrap::Error::Scheme(SchemeError::Rlwe(Error::KeyMismatch { .. })))));
    assert_eq!(refused(&first, 0), wrong(2));
    assert_eq!(refused(&first[..1], 9), Some(RotationFault::Tables { log_tables: 9, entries: n }.into()));
}

#[test]
fn every_backend_gives_the_same_bits() {
    let spec = LweSpec { log_n: 8, rank: 3, dimension: 200, ..gate() };
    let results = arch::available().iter().map(|kernels| {
        let ctx = LweContext::new(LweParams::new(spec.clone(), Security::NotChecked).unwrap(), kernels).unwrap();
        let mut source = ChaChaSource::from_seed([7; 32]);
        let sk = LweSecretKey::generate(&ctx, &mut source);
        let key = FhewBootstrapKey::generate(&ctx, &sk, &mut source, &mut |_, _| true).unwrap();
        let ct = sk.encrypt(&ctx, from_bit(&ctx, true), &mut source).unwrap();
        let out = key.bootstrap(&ctx, &[ct], &Gate::table(&ctx)).unwrap();
        (out[0].mask(&ctx).to_vec(), out[0].body())
    });
    let results: Vec<_> = results.collect();
    assert!(results.iter().all(|r| *r == results[0]));
}
