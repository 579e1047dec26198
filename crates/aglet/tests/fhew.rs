//! FHEW through the engine at their real sizes: claims recomputed, circuits of gates, tables on sums, refusals.

use aglet::fhew::{presets, Engine, Gate};
use aglet::{Control, Error, ErrorKind};

#[test]
fn presets_keep_what_they_claim() {
    let (mut claimed, mut found) = (Vec::new(), Vec::new());
    for (name, _) in presets::ALL {
        let params = presets::load(name, presets::Security::NotChecked).unwrap();
        let claims = params.literal().claims.clone().unwrap();
        let (lwe, glwe) = (params.lwe().lwe_security(), params.lwe().glwe_security());
        let refused =
            presets::load(name, presets::Security::Bits128).err().map(|error| (error.kind(), error.to_string()));
        if name == "ntru" {
            let (kind, sentence) = refused.unwrap();
            assert!(kind == ErrorKind::Insecure && sentence.contains("that is 2^16.9, and Q is 2^19.9"), "{sentence}");
            assert_eq!(params.insecurity().unwrap().to_string(), sentence);
        } else if name.starts_with("toy") {
            let (_, sentence) = refused.unwrap();
            assert_eq!(params.insecurity().unwrap().to_string(), sentence);
            assert!(sentence.contains("dimension 196"), "{sentence}");
        } else {
            assert!(refused.is_none() && params.insecurity().is_none());
            assert!(lwe.is_secure() && glwe.is_secure(), "{name}: {lwe}; {glwe}");
        }
        let engine = Engine::new(params.clone(), 1).unwrap();
        let key = engine.create_bootstrap_key(&engine.create_secret_key().unwrap(), &Control::new()).unwrap();
        claimed.push((name, claims.security_bits, claims.log2_p_fail, claims.key_bytes));
        let failure = (params.log2_failure() * 10.0).ceil() / 10.0;
        found.push((name, lwe.bits.min(glwe.bits), failure, key.byte_count() as u64));
    }
    assert_eq!(claimed, found);
    assert!(found.iter().all(|f| f.2 <= -128.0), "a failure counts as a break: rarer than 2^-128");
    assert!(presets::load("lut5", presets::Security::Bits128).is_err_and(|e| e.kind() == ErrorKind::Parameter));
}

/// A ripple-carry adder: sums and carries of random numbers of 8 bits, side by side. With the feature `long` by every method, of which
/// the floor below has all truth tables.
#[test]
fn an_adder_of_gates_adds() {
    let methods = [("gate", 2), ("cggi", 1), ("ginx3", 2), ("lmkcdey", 2), ("dm", 1), ("ntru", 2)];
    for (preset, threads) in methods.into_iter().take(if cfg!(feature = "long") { 6 } else { 2 }) {
        let engine = Engine::new(presets::load(preset, presets::Security::NotChecked).unwrap(), threads).unwrap();
        let sk = engine.create_secret_key().unwrap();
        let key = engine.create_bootstrap_key(&sk, &Control::new()).unwrap();
        let control = Control::new();
        let numbers: Vec<(u32, u32)> = (0..6).map(|i| ((i * 89 + 37) % 256, (i * 151 + 211) % 256)).collect();
        let bits = |f: fn(&(u32, u32)) -> u32, j: u32| {
            let clear: Vec<bool> = numbers.iter().map(|n| f(n) >> j & 1 == 1).collect();
            engine.encrypt_bits(&clear, &sk).unwrap()
        };
        let gate = |g, inputs: &[&[_]]| engine.gate(g, inputs, &key, None, &control).unwrap();
        let mut carry = engine.encrypt_bits(&[false; 6], &sk).unwrap();
        let mut sums = [0u32; 6];
        for j in 0..8 {
            let (x, y) = (bits(|n| n.0, j), bits(|n| n.1, j));
            let sum = gate(Gate::Xor, &[&gate(Gate::Xor, &[&x, &y]), &carry]);
            carry = gate(Gate::Majority, &[&x, &y, &carry]);
            assert_eq!(control.latest(), (6, 6, "rotations".into()));
            let clear = engine.decrypt_bits(&sum, &sk).unwrap();
            sums.iter_mut().zip(clear).for_each(|(s, b)| *s |= u32::from(b) << j);
        }
        let overflow = engine.decrypt_bits(&carry, &sk).unwrap();
        for ((a, b), (sum, over)) in numbers.iter().zip(sums.iter().zip(overflow)) {
            assert_eq!(a + b, sum | u32::from(over) << 8, "{preset}: {a} + {b}");
        }
        let (zeros, ones) =
            (|| engine.encrypt_bits(&[false; 6], &sk).unwrap(), || engine.encrypt_bits(&[true; 6], &sk).unwrap());
        let chosen = engine.mux([&carry, &zeros(), &engine.not(&ones()).unwrap()], &key, None, &control).unwrap();
        assert_eq!(engine.decrypt_bits(&chosen, &sk).unwrap(), [false; 6]);
        let nand = gate(Gate::Nand, &[&chosen, &bits(|n| n.0, 0)]);
        assert_eq!(engine.decrypt_bits(&nand, &sk).unwrap(), [true; 6]);
        // Chosen bits have the noise of a gate, and one that meets itself decides alone.
        let again = gate(Gate::Majority, &[&chosen, &chosen, &chosen]);
        assert_eq!(engine.decrypt_bits(&again, &sk).unwrap(), [false; 6]);
    }
}

#[test]
fn what_does_not_belong_together_is_refused_and_the_engine_stays_usable() {
    let engine = Engine::new(presets::load("gate", presets::Security::Bits128).unwrap(), 1).unwrap();
    let (sk, other, control) =
        (engine.create_secret_key().unwrap(), engine.create_secret_key().unwrap(), Control::new());
    let key = engine.create_bootstrap_key(&sk, &Control::new()).unwrap();
    let (x, y) = (engine.encrypt_bits(&[true, false], &sk).unwrap(), engine.encrypt_bits(&[true; 2], &other).unwrap());
    let gate = |inputs: &[&[_]], control: &Control| engine.gate(Gate::Or, inputs, &key, None, control);
    let kind = |r: Result<Vec<_>, Error>| r.unwrap_err().kind();
    assert_eq!(kind(gate(&[&x, &y], &control)), ErrorKind::KeyMismatch);
    assert_eq!(kind(gate(&[&y, &y], &control)), ErrorKind::KeyMismatch);
    assert_eq!(kind(gate(&[&x, &x[..1]], &control)), ErrorKind::Parameter);
    assert_eq!(kind(gate(&[&x], &control)), ErrorKind::Parameter);
    assert_eq!(engine.decrypt_bits(&x, &other).unwrap_err().kind(), ErrorKind::KeyMismatch);
    let tables = Engine::new(presets::load("lut2", presets::Security::Bits128).unwrap(), 1).unwrap();
    let message = tables.params().message();
    assert_eq!(tables.decrypt(&x, message, &sk).unwrap_err().kind(), ErrorKind::Parameter);
    let stopped = Control::new();
    stopped.cancel();
    assert_eq!(engine.create_bootstrap_key(&sk, &stopped).map(|_| ()).unwrap_err().kind(), ErrorKind::Cancelled);
    let samples = engine.params().lwe().spec().dimension;
    assert_eq!(stopped.latest(), (0, samples, "FHEW bootstrap key".into()), "stopped before the first sample");
    assert_eq!(kind(gate(&[&x, &x], &stopped)), ErrorKind::Cancelled);
    assert_eq!(gate(&[&[], &[]], &control).unwrap().len(), 0);
    assert_eq!(engine.decrypt_bits(&gate(&[&x, &x], &control).unwrap(), &sk).unwrap(), [true, false]);
}

/// Somebody who watches the reports says stop as soon as they see work done; `dm` has the most samples, seconds of them.
#[test]
fn a_key_that_is_stopped_midway_leaves_the_engine_usable() {
    let engine = Engine::new(presets::load("dm", presets::Security::Bits128).unwrap(), 1).unwrap();
    let (sk, control) = (engine.create_secret_key().unwrap(), Control::new());
    let stopped = std::thread::scope(|scope| {
        scope.spawn(|| {
            while control.latest().0 == 0 {
                std::thread::yield_now();
            }
            control.cancel();
        });
        engine.create_bootstrap_key(&sk, &control).map(|_| ())
    });
    assert_eq!(stopped.unwrap_err().kind(), ErrorKind::Cancelled);
    let (done, total, what) = control.latest();
    assert!(0 < done && done < total && what == "FHEW bootstrap key", "{done} of {total}");
    let (key, control) = (engine.create_bootstrap_key(&sk, &Control::new()).unwrap(), Control::new());
    let bits = engine.encrypt_bits(&[true, false], &sk).unwrap();
    let out = engine.gate(Gate::Nand, &[&bits, &bits], &key, None, &control).unwrap();
    assert_eq!(engine.decrypt_bits(&out, &sk).unwrap(), [false, true]);
}

/// Random gates on 512 random bits, results fed back.
#[cfg(feature = "long")]
fn random_gates(rounds: usize) {
    let engine = Engine::new(presets::load("gate", presets::Security::Bits128).unwrap(), 0).unwrap();
    let (sk, control) = (engine.create_secret_key().unwrap(), Control::new());
    let key = engine.create_bootstrap_key(&sk, &Control::new()).unwrap();
    let mut clear: Vec<bool> = (0..512u32).map(|i| i.wrapping_mul(2_654_435_761) >> 31 == 1).collect();
    let mut bits = engine.encrypt_bits(&clear, &sk).unwrap();
    for round in 0..rounds {
        let gate = Gate::ALL[round % 7];
        let step = 2 * round + 1;
        let other: Vec<_> = (0..512).map(|i| bits[(i * step + 7) % 512].clone()).collect();
        clear = (0..512).map(|i| gate.of(&[clear[i], clear[(i * step + 7) % 512]])).collect();
        bits = engine.gate(gate, &[&bits, &other], &key, None, &control).unwrap();
        assert_eq!(engine.decrypt_bits(&bits, &sk).unwrap(), clear, "round {round}");
    }
}

#[test]
#[cfg(feature = "long")]
fn many_random_gates_make_no_error() {
    random_gates(16);
}

#[cfg(feature = "by-hand")]
mod by_hand {
    #[test]
    fn sixty_four_thousand_random_gates_make_no_error() {
        super::random_gates(128);
    }
}
