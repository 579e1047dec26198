//! FHEW engines whose blind rotations run on an emulated card: results have the words of the host.

use aglet::fhew::{
    presets, BootstrapKey, Ciphertext, Engine, FhewParams, Gate, Integer, SecretKey, Table, TreeTable, Work,
};
use aglet::{Control, Error, ErrorKind, Runtime};
use aglet_bootstrap::FhewBootstrapKey;
use aglet_ring::sample::ChaChaSource;
use aglet_ring::{arch, Backend, Host};
use aglet_rlwe::lwe::{GlweSample, LweCiphertext, LweContext, LweSecretKey, NoiseSource};
use aglet_testing::card::{emulated, failing, small, Arithmetic, Card, Order};
use std::sync::Arc;

/// Of the secret that rotations are of: about the least that a set may have, as an emulated card takes its time.
const SHORT: [(&str, &str); 2] = [("dimension", "dimension = 196"), ("lwe_error", "lwe_error = -20.0")];

struct Side {
    engine: Engine,
    sk: SecretKey,
    key: BootstrapKey,
}

/// A set with a short secret.
fn short(preset: &str) -> FhewParams {
    let path = format!("{}/presets/fhew/{preset}.toml", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(path).unwrap();
    let lines = text
        .split("[claims]")
        .next()
        .unwrap()
        .lines()
        .map(|line| SHORT.iter().find(|(name, _)| line.starts_with(name)).map_or(line, |(_, other)| other));
    let text = lines.collect::<Vec<_>>().join("\n");
    presets::from_text(&text, presets::Security::NotChecked).unwrap()
}

/// An engine of a set with a short secret. The same keys and ciphertexts on every backend.
fn side(preset: &str, backend: Arc<dyn Backend>) -> Side {
    let params = short(preset);
    let runtime = Runtime::seeded(2, arch::chosen().unwrap().name(), [7; 32]).unwrap().on_backend(backend);
    let engine = Engine::on(runtime, params).unwrap();
    let sk = engine.create_secret_key().unwrap();
    let key = engine.create_bootstrap_key(&sk, &Control::new()).unwrap();
    Side { engine, sk, key }
}

fn words(of: &[Ciphertext]) -> Vec<u64> {
    of.iter().flat_map(|ct| [ct.words().unwrap(), &[ct.body()]].concat()).collect()
}

/// What both sides compute, after a comparison of the words.
fn same(sides: &[Side; 2], compute: impl Fn(&Side) -> Vec<Ciphertext>) -> Vec<Ciphertext> {
    let [wanted, found] = sides.each_ref().map(compute);
    assert!(words(&wanted) == words(&found), "{} has the words of the host", sides[1].engine.params().literal().name);
    found
}

#[test]
fn gates_on_a_card_have_the_words_of_the_host() {
    for (preset, order, arithmetic) in [
        ("gate", Order::Forward, Arithmetic::F50),
        ("cggi", Order::Reverse, Arithmetic::S64),
        ("ginx3", Order::Forward, Arithmetic::F50),
        // Rotations of another kind stay on the host.
        ("lmkcdey", Order::Forward, Arithmetic::F50),
    ] {
        let sides = [Arc::new(Host) as Arc<dyn Backend>, emulated(order, arithmetic)].map(|on| side(preset, on));
        let [x, y] = [[true, true, false, false, true], [true, false, true, false, true]];
        let found = same(&sides, |side| {
            let [x, y] = [x, y].map(|bits| side.engine.encrypt_bits(&bits, &side.sk).unwrap());
            side.engine.gate(Gate::Nand, &[&x, &y], &side.key, None, &Control::new()).unwrap()
        });
        assert_eq!(sides[1].engine.decrypt_bits(&found, &sides[1].sk).unwrap(), [false, true, true, true, false]);
    }
}

#[test]
fn tables_on_a_card_have_the_words_of_the_host() {
    for preset in ["lut2", "lut4", "wide", "toy-lut4"] {
        let on = emulated(Order::Reverse, Arithmetic::F50);
        let sides = [Arc::new(Host) as Arc<dyn Backend>, on].map(|on| side(preset, on));
        let message = sides[0].engine.params().message();
        let (space, control) = (message.space(), Control::new());
        let tables = [3, 5].map(|times| (0..space).map(|m| times * m * m % space).collect::<Vec<_>>());
        let tables = tables.map(|values| Table::new(message, message, &values).unwrap());
        let values: Vec<u64> = (0..space).collect();
        let found = same(&sides, |side| {
            let x = side.engine.encrypt(&values, message, &side.sk).unwrap();
            side.engine.lookup_many(&x, &tables, &side.key, None, &control).unwrap().concat()
        });
        let wanted = [3, 5].map(|times| values.iter().map(|m| times * m * m % space).collect::<Vec<_>>()).concat();
        assert_eq!(sides[1].engine.decrypt(&found, message, &sides[1].sk).unwrap(), wanted);
    }
}

/// A table of two messages rotates encrypted rows, several for each input.
#[test]
fn a_table_of_two_messages_on_a_card_has_the_words_of_the_host() {
    let sides =
        [Arc::new(Host) as Arc<dyn Backend>, emulated(Order::Forward, Arithmetic::F50)].map(|on| side("wide", on));
    let message = sides[0].engine.params().message();
    let control = Control::new();
    // Of steep rows, and of flat ones, which are chosen by keys of one digit.
    for (flat, high, low) in [(false, &[0, 3, 15][..], &[9, 15, 1][..]), (true, &[7], &[12])] {
        let values: Vec<u64> = (0..256).map(|i| if flat { i / 16 } else { (i * i / 7 + 3 * i) % 16 }).collect();
        let table = TreeTable::new(message, message, &values).unwrap();
        let found = same(&sides, |side| {
            let packing = side.engine.create_packing_key(&side.sk, &control).unwrap();
            let [high, low] = [high, low].map(|part| side.engine.encrypt(part, message, &side.sk).unwrap());
            let keys = (&side.key, &packing);
            let table = std::slice::from_ref(&table);
            side.engine.lookup_tree(&[&high, &low], table, keys, None, &control).unwrap().concat()
        });
        let wanted: Vec<u64> = high.iter().zip(low).map(|(h, l)| values[(16 * h + l) as usize]).collect();
        assert_eq!(sides[1].engine.decrypt(&found, message, &sides[1].sk).unwrap(), wanted);
    }
}

/// Ciphertexts of words that are hard to round: at the ends of their range, beside halves of steps, and drawn.
fn hard(ctx: &LweContext, sk: &LweSecretKey, source: &mut ChaChaSource) -> Vec<LweCiphertext> {
    let (q, steps, count) = (ctx.modulus().value(), 4 * ctx.params().n() as u64, ctx.params().coordinates() + 1);
    let half = |i: u64| ((u128::from(q) * u128::from(2 * i + 1)) / u128::from(2 * steps)) as u64;
    let word = |kind: usize, i: usize| match kind {
        0 => q - 1,
        1 => [0, q - 1, q / 2, q / 2 + 1, 1][i % 5],
        _ => half(i as u64 % steps) + (i % 3) as u64 - u64::from(i > 2 && i % 3 == 1),
    };
    let of = |words| LweCiphertext::from_words(ctx, words, sk.id(), Vec::<NoiseSource>::new()).unwrap();
    let mut cts: Vec<_> = (0..3).map(|kind| of((0..count).map(|i| word(kind, i).min(q - 1)).collect())).collect();
    cts.extend([0, q / 3].map(|phase| sk.encrypt(ctx, phase, source).unwrap()));
    cts
}

/// Key switch, modulus switch, start, rotation and extraction: every word, and the name of every noise.
#[test]
fn bootstraps_on_a_card_have_the_words_and_noises_of_the_host() {
    for (preset, order, arithmetic) in [
        ("gate", Order::Shuffled, Arithmetic::F50),
        ("ginx3", Order::Reverse, Arithmetic::S64),
        ("toy-lut4", Order::Shuffled, Arithmetic::S64),
    ] {
        let ctx = LweContext::new(short(preset).lwe().clone(), arch::chosen().unwrap()).unwrap();
        let mut source = ChaChaSource::from_seed([3; 32]);
        let sk = LweSecretKey::generate(&ctx, &mut source);
        let key = FhewBootstrapKey::generate(&ctx, &sk, &mut source, &mut |_, _| true).unwrap();
        let there = key.on(&ctx, &*emulated(order, arithmetic)).unwrap().expect("a card rotates by this set");
        let (cts, n, q) = (hard(&ctx, &sk, &mut source), ctx.params().n(), ctx.modulus().value());
        let table = |step: u64| (0..n as u64).map(|i| (i * i * step + i) % q).collect::<Vec<_>>();
        let start = |step| GlweSample::trivial(&ctx, &table(step), sk.id()).unwrap();
        let own: Vec<_> = (0..2 * cts.len()).map(|i| start(q / 7 + i as u64)).collect();
        for (starts, log_tables, at) in [
            (&[start(q / 5)][..], 0, vec![0]),
            (&own[..], 1, vec![1, n - 1]),
            (&own[..cts.len()], 3, vec![n / 2, 0, 7]),
        ] {
            let samples = key.rotate_tables(&ctx, &cts, starts, log_tables).unwrap();
            let found = key.rotate_tables_by(&ctx, &*there, &cts, starts, log_tables).unwrap();
            assert!(
                samples.iter().map(GlweSample::words).eq(found.iter().map(GlweSample::words)),
                "{preset} {log_tables}"
            );
            let found = key.extract_by(&ctx, &*there, (&cts, starts, log_tables), &at).unwrap();
            assert_eq!(found.len(), samples.len());
            for (sample, found) in samples.iter().zip(&found) {
                let wanted: Vec<_> = at.iter().map(|&at| sample.extract(&ctx, at)).collect();
                assert!(words(&wanted) == words(found), "{preset} {log_tables} {at:?}");
                assert_eq!(format!("{:?}", wanted[0].sources()), format!("{:?}", found[0].sources()));
            }
        }
        assert!(key.extract_by(&ctx, &*there, (&[], &own[..1], 0), &[0]).unwrap().is_empty());
        let other = LweSecretKey::generate(&ctx, &mut source).encrypt(&ctx, 0, &mut source).unwrap();
        assert!(key.extract_by(&ctx, &*there, (&[other], &own[..1], 0), &[0]).is_err());
    }
}

/// A NAND of so many bits: what the card of the engine had at its fullest, and what it keeps.
fn memory_of_gates(card: &Arc<Card>, preset: &str, count: usize) -> Result<[u64; 2], Error> {
    let side = side(preset, card.clone());
    let engine = &side.engine;
    let message = engine.params().message();
    let x = engine.encrypt(&vec![1; count], message, &side.sk).unwrap();
    let table = Table::new(message, message, &(0..message.space()).rev().collect::<Vec<_>>()).unwrap();
    let found = engine.lookup(&x, &table, &side.key, None, &Control::new())?;
    let found = engine.decrypt(&found, message, &side.sk).unwrap();
    assert_eq!(found, vec![message.space() - 2; count]);
    Ok([card.device().take_most_bytes(), card.device().held_bytes()])
}

#[test]
fn the_memory_of_bootstraps_on_a_card_is_forecast_and_batches_fit_it() {
    for (preset, count) in [("lut2", 5), ("toy-lut4", 3), ("toy-lut4", 12)] {
        let on = emulated(Order::Forward, Arithmetic::F50);
        let forecast = side(preset, Arc::new(Host)).engine.card_memory(count, false).unwrap();
        let [most, held] = memory_of_gates(&on, preset, count).unwrap();
        assert_eq!((held, most - held), (forecast.key as u64, forecast.working as u64), "{preset} {count}");
    }
    let [one, two, twelve] =
        [1, 2, 12].map(|count| side("toy-lut4", Arc::new(Host)).engine.card_memory(count, false).unwrap());
    assert!(twelve.working > 6 * one.working, "{one:?} {twelve:?}");
    // As many at a time as there is room for, at least one.
    let room = (two.key + 4 * two.working) as u64;
    let [most, _] = memory_of_gates(&small(room), "toy-lut4", 12).unwrap();
    assert!(most <= room && most < (twelve.key + twelve.working) as u64, "{most} {room}");
    let card = small((one.key + one.working - 8) as u64);
    let error = memory_of_gates(&card, "toy-lut4", 1).unwrap_err();
    assert!(error.kind() == ErrorKind::Memory && error.to_string().contains("toy-lut4 take"), "{error}");
    assert_eq!(card.device().take_most_bytes(), 0, "nothing went up");
    assert_eq!(side("dm", Arc::new(Host)).engine.card_memory(1, false), None);
}

/// A table of two messages: its rotations that choose have a key of their own, which the forecast has to the word.
#[test]
fn the_memory_of_keys_that_choose_is_forecast() {
    let control = Control::new();
    let read = |card: &Arc<Card>| {
        let side = side("wide", card.clone());
        let (engine, message) = (&side.engine, side.engine.params().message());
        let packing = engine.create_packing_key(&side.sk, &control).unwrap();
        let x = engine.encrypt(&[3], message, &side.sk).unwrap();
        let table = TreeTable::new(message, message, &(0..256).map(|i| i / 16).collect::<Vec<_>>()).unwrap();
        let keys = (&side.key, &packing);
        let lookup = || engine.lookup_tree(&[&x, &x], std::slice::from_ref(&table), keys, None, &control);
        let found = lookup();
        let [most, held] = [card.device().take_most_bytes(), card.device().held_bytes()];
        let before = card.device().traffic();
        let traffic = lookup().map(|_| card.device().traffic() - before);
        // A table of one message needs none of them.
        let one = Table::new(message, message, &(0..16).collect::<Vec<_>>()).unwrap();
        let alone = engine.lookup(&x, &one, &side.key, None, &control).map(|_| card.device().held_bytes());
        (found.map(|_| [most, held]), most, alone, traffic)
    };
    let engine = side("wide", Arc::new(Host)).engine;
    let [plain, tree] = [false, true].map(|tree| engine.card_memory(1, tree).unwrap());
    assert_eq!((plain.key, plain.choices), (tree.key, 0));
    assert!(tree.choices > tree.key / 3 && tree.choices < tree.key, "{tree:?}");
    let (found, _, alone, traffic) = read(&emulated(Order::Forward, Arithmetic::F50));
    let ([most, held], alone) = (found.unwrap(), alone.unwrap());
    assert_eq!((held, alone), (tree.keys() as u64, tree.keys() as u64));
    assert!(most > held && most <= tree.bytes() as u64, "{most} {tree:?}");
    // Rows come back whole, what is chosen as ciphertexts.
    let (params, traffic) = (engine.params().lwe(), traffic.unwrap());
    let (n, switched) = (params.n(), params.spec().dimension + 1);
    println!("a table of two messages: {traffic:?}");
    assert_eq!(traffic.bytes_down, 8 * (2 * n + n + 1 + 2 * switched) as u64);
    // Where there is no room for them, tables of one message are all there is.
    let (refused, most, alone, _) = read(&small(tree.bytes() as u64 - 8));
    let error = refused.unwrap_err();
    assert!(error.kind() == ErrorKind::Memory && error.to_string().contains("wide take"), "{error}");
    assert_eq!((most, alone.unwrap()), (0, plain.key as u64));
}

/// Signs of integers of several digits: of each rotation a ciphertext comes back, not a sample.
#[test]
fn signs_on_a_card_bring_back_ciphertexts_alone() {
    let card = emulated(Order::Forward, Arithmetic::F50);
    let sides = [Arc::new(Host) as Arc<dyn Backend>, card.clone()].map(|on| side("lut2", on));
    let (integer, numbers, control) = (Integer::new(8).unwrap(), [5, -3, 0], Control::new());
    let found = same(&sides, |side| {
        let x = side.engine.encrypt_integers(&numbers, integer, &side.sk).unwrap();
        side.engine.sign(&x, integer, &side.key, Some(-20.0), &control).unwrap()
    });
    let message = sides[1].engine.params().message();
    assert_eq!(sides[1].engine.decrypt(&found, message, &sides[1].sk).unwrap(), [1, 0, 1]);
    // Each with the exponents that name its noise.
    let (params, rotations) = (sides[1].engine.params().lwe(), numbers.len() * integer.rotations() as usize);
    let (coordinates, exponents) = (params.coordinates() + 1, params.spec().dimension + 1);
    let down = card.device().traffic().bytes_down;
    println!("{rotations} rotations of signs: {down} bytes back");
    assert_eq!(down, 8 * (rotations * (coordinates + exponents)) as u64);
}

/// Where products make all choices, tables take no room for the key of rotations that choose.
#[test]
fn tables_whose_choices_are_products_need_no_key_that_chooses() {
    let engine = side("wide", Arc::new(Host)).engine;
    let message = engine.params().message();
    let table = |times: u64| {
        let values: Vec<u64> = (0..4096).map(|i| (i * i * times + i / 16 * 5 + 3) >> 2 & 15).collect();
        TreeTable::new(message, message, &values).unwrap()
    };
    let tables: Vec<TreeTable> = (0..32).map(|i| table(2 * i + 11)).collect();
    let [few, many] = [1, 32].map(|count| {
        let found = engine.estimate(Work::LookupTree(&tables[..count], true), 1).unwrap();
        (found.rotations, found.card_bytes as usize)
    });
    let [plain, tree] =
        [(many.0, false), (few.0, true)].map(|(count, chooses)| engine.card_memory(count, chooses).unwrap());
    assert_eq!(few.1, tree.bytes());
    assert!(many.1 >= plain.bytes() && many.1 < plain.key + tree.choices, "{many:?} {plain:?} {tree:?}");
}

/// A card fails in the middle of a gate: that is an error of devices, and its inputs can still be decrypted.
#[test]
fn a_card_that_fails_gives_an_error_and_loses_no_input() {
    let broken = failing("#define ROTATIONS(A) BLIND(A, 9, 4, 1)", "#define ROTATIONS(A)", Arithmetic::F50);
    let side = side("gate", broken);
    let bits = [true, false];
    let [x, y] = [bits; 2].map(|bits| side.engine.encrypt_bits(&bits, &side.sk).unwrap());
    let error = side.engine.gate(Gate::Nand, &[&x, &y], &side.key, None, &Control::new()).err().unwrap();
    assert!(error.kind() == ErrorKind::Device && error.to_string().contains("run on the CPU"), "{error}");
    assert_eq!(side.engine.decrypt_bits(&x, &side.sk).unwrap(), bits);
}
