//! Noise of tables at their real size against the formulas: many tables of one rotation, interleaved and as multiples, and packing.

use super::keys::{keys, preset, Keys};
use aglet_bootstrap::fhew::functional::{OneThread, TreePlan, Way};
use aglet_bootstrap::fhew::Blocks;
use aglet_ring::arch;
use aglet_ring::blind::Gadget;
use aglet_ring::sample::{self, ChaChaSource};
use aglet_ring::small::Words;
use aglet_rlwe::lwe::{
    log2_tail, GlweSample, LweCiphertext, LweContext, LweParams, LweSecretKey, Noise, PackingKey, Powers, Selectors,
};
use aglet_rlwe::security::Security;
use aglet_schemes::fhew::{entry_factors, half_steps, Domain, Message, Rows, Table, TreeTable};
use std::collections::BTreeSet;
#[cfg(feature = "long")]
use {aglet_bootstrap::fhew::functional::lookup_tree, aglet_schemes::fhew::Row};

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

/// Choices by one digit: sums of one coefficient and of two, which correlate where rounding meets a secret that has a mean.
#[test]
fn rotations_that_choose_have_the_noise_of_their_digit() {
    let message = Message::new(16, Domain::Padded).unwrap();
    let (mut found, mut formula, mut both) = (0.0, 0.0, 0.0);
    let mut count = 0.0;
    for seed in 20..23 {
        let mut k = of(WIDE, seed);
        let digit = k.ctx.params().choice_gadget().unwrap();
        assert_eq!(digit, Gadget { levels: 1, log_base: 22 });
        let choices = Blocks::choices(&k.ctx, &k.sk, &mut k.source, &mut |_, _| true).unwrap().unwrap();
        let half = half_steps(&k.ctx, message);
        let start = GlweSample::trivial(&k.ctx, &half, k.key.id()).unwrap();
        // Neither 0 nor what is near 15 lies at the border between the halves of the torus.
        let cts = encrypt(&mut k, message, 14).split_off(1);
        let own = Noise::rotation_with(k.ctx.params(), digit, Some(k.sk.weights(&k.ctx)));
        formula += own.0 / 3.0;
        let stated = k.ctx.params().choice_noise(digit);
        assert!(own.0 * (1.0 + own.1) < stated && stated < 2.5e-9, "{stated:e}");
        let far = k.ctx.params().n() / 16;
        for sample in k.key.choose(&k.ctx, (&choices, None), &cts, &[start]).unwrap() {
            for at in 0..128 {
                let [x, y] = [at, at + far].map(|at| sample.extract(&k.ctx, at));
                assert!((x.variance() / stated - 1.0).abs() < 1e-9);
                found += square(&k, &x, half[0]);
                let sum = LweCiphertext::combine(&k.ctx, 0, &[(&x, 1), (&y, 1)]).unwrap();
                both += square(&k, &sum, k.ctx.modulus().add(half[0], half[0])) / sum.variance();
                count += 1.0;
            }
        }
    }
    near(found / count, formula, "choices");
    assert!(both / count < 1.05, "two coefficients of a choice: measured over stated {}", both / count);
    assert!(preset(LUT4).gadget.levels == 1 && of(LUT4, 2).ctx.params().choice_gadget().is_none());
}

/// What tables with choices by one digit state: below 2^-128, and the digits of the set where that would not hold.
#[test]
fn tables_choose_by_one_digit_where_they_may() {
    let ctx =
        LweContext::new(LweParams::new(preset(WIDE), Security::Bits128).unwrap(), arch::chosen().unwrap()).unwrap();
    let message = Message::new(16, Domain::Padded).unwrap();
    let table = |messages: u32, limit: u64| {
        let values: Vec<u64> = (0..16u64.pow(messages)).map(|i| (i * i * 11 + i / 16 * 5 + 3) >> 2 & limit).collect();
        TreeTable::new(message, message, &values).unwrap()
    };
    let (digit, noise) = (ctx.params().choice_gadget().unwrap(), ctx.noise());
    for (messages, split, limit, choices) in
        [(2, true, 3, 1.0), (2, false, 15, 1.0), (3, true, 15, 1.0), (4, true, 15, 2.0)]
    {
        let tables = [table(messages, limit)];
        let plan = |choices| TreePlan::of(&ctx, &tables, split, choices);
        let (coarse, fine) = (plan(Some(digit)), plan(None));
        let more = choices * (ctx.params().choice_noise(digit) - noise.blind_rotation);
        assert!((coarse.variance() / (fine.variance() + more) - 1.0).abs() < 1e-9);
        let inputs = vec![noise.fresh; 17];
        assert!(coarse.log2_failure(&ctx, &inputs) < -128.0 && coarse.rotations() == fine.rotations());
        // Of a byte, what comes out is read again: as a nibble of two digits of one choice, and as what turns the next table.
        if messages == 2 && split {
            for weights in [25.0, 68.0] {
                let log2 = log2_tail(1.0 / 64.0, noise.decision(weights * coarse.variance()));
                assert!(log2 < -128.0, "2^{log2}");
            }
        }
        // One digit of ten bits would be wrong too often.
        assert_eq!(plan(Some(Gadget { levels: 1, log_base: 10 })).variance(), fine.variance());
    }
}

/// Rows of two messages as sums of their single entries have the words and the noise of their sums of powers.
#[test]
fn rows_of_single_entries_have_the_words_of_sums_of_powers() {
    let ctx =
        LweContext::new(LweParams::new(preset(WIDE), Security::Bits128).unwrap(), arch::chosen().unwrap()).unwrap();
    let mut source = ChaChaSource::from_seed([8; 32]);
    let id = LweSecretKey::generate(&ctx, &mut source).id();
    let message = Message::new(16, Domain::Padded).unwrap();
    let mut sample = || {
        let mut words = Words::zeros(ctx.params().coordinates() + ctx.params().n());
        sample::uniform(&mut source, ctx.modulus().value(), &mut words);
        GlweSample::new(&ctx, words, id, ctx.noise().blind_rotation).unwrap()
    };
    let samples: Vec<GlweSample> = (0..16).map(|_| sample()).collect();
    let values: Vec<u64> =
        (0..4096u64).map(|i| if i < 256 { 15 } else { (i * i * 11 + i / 16 * 5 + 3) >> 2 & 15 }).collect();
    let table = TreeTable::new(message, message, &values).unwrap();
    let rows: Vec<_> = table.choices(Rows::Turns).iter().map(|row| row.factors(ctx.params())).collect();
    let entries = entry_factors(ctx.params(), message, message).unwrap();
    let used: BTreeSet<_> = rows.iter().chain(&entries).flatten().map(|&(i, at, _)| (i, at)).collect();
    let powers = || Powers::of(&ctx, &samples, used.iter().copied());
    let rows: Vec<&[_]> = rows.iter().map(|row| &row[..]).collect();
    let expected = powers().sums(&ctx, &rows);
    let selectors = Selectors::of(&ctx, powers(), &entries.iter().map(|one| &one[..]).collect::<Vec<_>>());
    let weights: Vec<Vec<u8>> = values.chunks(256).map(|row| row.iter().map(|&v| v as u8).collect()).collect();
    let all: Vec<_> = weights.iter().zip(&rows).map(|(own, terms)| (&own[..], *terms)).collect();
    // Also where they are no multiple of what is summed together.
    for (found, expected) in selectors.sums(&ctx, &all[..13]).iter().zip(&expected) {
        assert!(found.words().unwrap() == expected.words().unwrap() && found.body() == expected.body());
        assert_eq!(found.variance(), expected.variance());
    }
}

/// Squares of errors over the formula for the row that was read, and how many, of one key and tables of so many messages, the last
/// but one of which may be there as two digits.
#[cfg(feature = "long")]
fn several_messages(seed: u8, (messages, split, coarse): (u32, bool, bool), count: usize) -> (f64, f64) {
    let message = Message::new(16, Domain::Padded).unwrap();
    let values: Vec<u64> = (0..16u64.pow(messages)).map(|i| (i * i * 11 + i / 16 * 5 + 3) >> 2 & 15).collect();
    let table = TreeTable::new(message, message, &values).unwrap();
    let mut k = of(WIDE, seed);
    let mut packing =
        PackingKey::generate(&k.ctx, &k.sk, k.ctx.params().spec().gadget, &mut k.source, &mut |_, _| true).unwrap();
    let digit = k.ctx.params().choice_gadget().filter(|_| coarse);
    if coarse {
        let choices = Blocks::choices(&k.ctx, &k.sk, &mut k.source, &mut |_, _| true).unwrap().unwrap();
        packing = packing.with_choices(choices);
    }
    // Message `at` of result i is that of this encryption.
    let partner = |at: u32, i: usize| (i * [1, 7, 11][at as usize] + at as usize * i / 16) % count;
    let mut lists: Vec<Vec<_>> = (0..messages)
        .map(|at| {
            let all = encrypt(&mut k, message, count);
            (0..count).map(|i| all[partner(at, i)].clone()).collect()
        })
        .collect();
    if split {
        let at = messages as usize - 2;
        let digits = [4, 1].map(|unit| {
            let digit = |i: usize| message.encode(&k.ctx, (partner(at as u32, i) % 16 / unit % 4) as u64).unwrap();
            let phases: Vec<u64> = (0..count).map(digit).collect();
            k.encrypt_phases(phases)
        });
        lists.splice(at..=at, digits);
    }
    let run = OneThread { ctx: &k.ctx, key: &k.key };
    let lists: Vec<&[LweCiphertext]> = lists.iter().map(|list| &list[..]).collect();
    let out = lookup_tree(&run, &packing, &lists, std::slice::from_ref(&table), -128.0).unwrap().remove(0);
    let merges = (4f64.powi(k.ctx.params().spec().log_n as i32) - 1.0) / 3.0;
    let kind = Rows::of(messages as usize, split);
    let choices = kind.choices(messages as usize) as f64;
    let variance = |noise: &Noise, choice: f64, factors: f64| {
        noise.blind_rotation * factors + (choice + noise.automorphism * merges) * choices
    };
    let stated = digit.map_or(k.ctx.noise().blind_rotation, |digit| k.ctx.params().choice_noise(digit));
    let squares = |row: &Row| row.factors(k.ctx.params()).iter().map(|f| (f.2 * f.2) as f64).sum::<f64>();
    let factors: Vec<f64> = table.choices(kind).iter().map(squares).collect();
    // The ciphertext says the noise of the steepest row, of each rotation on its own.
    let mut largest = [0f64; 16];
    for row in table.choices(kind) {
        for one in row.factors(k.ctx.params()).chunk_by(|x, y| x.0 == y.0) {
            let squares = one.iter().map(|f| (f.2 * f.2) as f64).sum();
            largest[one[0].0] = largest[one[0].0].max(squares);
        }
    }
    let claimed = variance(&k.ctx.params().noise(), stated, largest.iter().sum());
    // Which row is read of a number, of two messages by a sign.
    let row = |at: usize| match kind {
        Rows::One => at / 16,
        Rows::Signs => at / 16 % 8,
        Rows::Turns => at / 256,
    };
    let own = noise(&k);
    let weights = Some(k.sk.weights(&k.ctx));
    let choice = digit.map_or(own.blind_rotation, |digit| Noise::rotation_with(k.ctx.params(), digit, weights).0);
    let squares = out.iter().enumerate().map(|(i, ct)| {
        assert!((-1e-9..0.1).contains(&(ct.variance() / claimed - 1.0)));
        let at = (0..messages).fold(0, |all, at| 16 * all + partner(at, i) % 16);
        square(&k, ct, message.encode(&k.ctx, values[at]).unwrap()) / variance(&own, choice, factors[row(at)])
    });
    (squares.sum(), out.len() as f64)
}

#[test]
#[cfg(feature = "long")]
fn tables_of_several_messages_have_the_noise_of_all_their_steps() {
    // 1920 squares have a deviation of one part in 31, 960 of one in 22.
    for (messages, count) in [
        ((3, true, true), 240),
        ((2, true, true), 480),
        ((2, true, false), 480),
        ((2, false, true), 480),
        ((3, false, true), 240),
    ] {
        let found: Vec<(f64, f64)> = std::thread::scope(|scope| {
            let keys: Vec<_> =
                (10..14).map(|seed| scope.spawn(move || several_messages(seed, messages, count))).collect();
            keys.into_iter().map(|key| key.join().unwrap()).collect()
        });
        let (squares, count) = found.iter().fold((0.0, 0.0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
        near(squares / count, 1.0, &format!("{messages:?} messages"));
    }
}
