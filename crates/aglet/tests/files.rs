//! Files and bytes: everything comes back, and nothing else is taken for it.

use super::stored::{forged, now, parts_at, Folder, Store};
use aglet::ckks::presets;
use aglet::ckks::{
    BootstrapKey, BootstrapKeys, Ciphertext, CkksLiteral, CkksParams, Engine, FixedRotationKey, GaloisKey, KeySize,
    Matrix, Method, Plaintext, RelinearizationKey, Request, RotationKey,
};
use aglet::wire;
use aglet::{Error, ErrorKind, PublicKey, SecretKey};
use aglet_ring::sample::{ChaChaSource, RandomSource};
use aglet_rlwe::security::Security;
use aglet_testing::fixture::Fixture;
use aglet_testing::messages;
use num_complex::Complex64;

fn fixture() -> Fixture {
    Fixture::new("toy", None, 2)
}

/// A bootstrap key of medium size.
fn bootstrap_key(engine: &Engine, sk: &SecretKey) -> BootstrapKey {
    let request = Request::new(Method::Regular, 3, KeySize::Medium, engine.slots());
    engine.create_bootstrap_key(sk, request, None, &now()).unwrap()
}

fn message(engine: &Engine) -> Vec<Complex64> {
    messages::complex(engine.slots(), 1)
}

fn near(found: &[Complex64], expected: &[Complex64]) -> bool {
    found.iter().zip(expected).all(|(a, b)| (a - b).norm() < 1e-4)
}

#[test]
fn everything_comes_back_and_works_with_what_stayed() {
    let f = fixture();
    let (engine, made) = (&f.engine, &f.sk);
    let z = message(engine);
    let ct = f.encrypt(&z, 3);
    let sk = engine.through(made);
    assert!(near(&engine.decrypt(&ct, &sk).unwrap(), &z));
    let pk = engine.through(&engine.create_public_key(made).unwrap());
    let relin = engine.through(&f.relin);
    let conj = engine.through(&f.conj);
    let rotation = engine.through(f.rotation());
    let fixed = engine.through(&engine.create_fixed_rotation_key(made, -5, Some(2)).unwrap());
    let key = bootstrap_key(engine, made);
    let in_memory = key.byte_count() as u64;
    let key = engine.through(&key);
    let in_file = engine.bytes(&key).len() as u64;
    assert!(2 * in_file < in_memory && key.byte_count() as u64 == in_memory, "{in_file} of {in_memory}");
    assert!(in_file.abs_diff(key.stored_bytes() as u64) * 30 < in_file, "{} forecast", key.stored_bytes());

    let matrix = engine.through(&engine.create_matrix_key(made, Some(3), Some(8), &now()).unwrap());
    let half = [Complex64::new(0.5, 0.0), Complex64::default()];
    let half = Matrix { entries: &half, columns: 2 };
    let halved = engine.decrypt(&engine.multiply_matrix(&half, &ct, &matrix, &now()).unwrap(), &sk).unwrap();
    assert!(near(&halved[..2], &[z[0] * 0.5, Complex64::default()]));

    let pt = engine.through(&engine.encode(&z, 4).unwrap());
    assert!(near(&engine.decode(&pt).unwrap(), &z) && pt.known.largest.is_some());
    let ct = engine.through(&engine.encrypt(&pt, &pk).unwrap());
    assert!(ct.known == Default::default() && ct.key == made.id() && near(&engine.decrypt(&ct, &sk).unwrap(), &z));
    let cubic = engine.through(&engine.multiply(&ct, &ct, None).unwrap());
    assert_eq!(cubic.degree(), 2);
    let square = engine.relinearize(&cubic, &relin).unwrap();
    let squares: Vec<Complex64> = z.iter().map(|v| v * v).collect();
    assert!(near(&engine.decrypt(&square, &sk).unwrap(), &squares));
    let conjugates: Vec<Complex64> = z.iter().map(Complex64::conj).collect();
    assert!(near(&engine.decrypt(&engine.conjugate(&ct, &conj).unwrap(), &sk).unwrap(), &conjugates));
    let rolled = |by: usize| (0..z.len()).map(|j| z[(j + z.len() - by) % z.len()]).collect::<Vec<_>>();
    assert!(near(&engine.decrypt(&engine.rotate(&ct, &rotation, 11).unwrap(), &sk).unwrap(), &rolled(11)));
    let low = engine.level_down(&ct, 2).unwrap();
    assert!(near(&engine.decrypt(&engine.rotate_fixed(&low, &fixed).unwrap(), &sk).unwrap(), &rolled(z.len() - 5)));
    let keys = BootstrapKeys { relinearization: &relin, conjugation: &conj, bootstrap: &key, rotation: None };
    let fresh =
        engine.bootstrap(&[&low], keys, f.request(Method::Regular, 3, KeySize::Medium), &now()).unwrap().remove(0);
    assert!(engine.level(&fresh).unwrap() == 10 && near(&engine.decrypt(&fresh, &sk).unwrap(), &z));
}

/// Keys of every method, size and number of slots: on the whole chain, or on a part of it. Two stages are for few slots.
#[test]
fn every_bootstrap_key_comes_back() {
    for (slots, few_stages) in [(None, 3), (Some(16), 2)] {
        let f = Fixture::new("toy", slots, 2);
        let rotation = f.engine.through(f.rotation());
        let signs = messages::signs(f.engine.slots(), 1);
        for (method, size, stages) in [
            (Method::Regular, KeySize::Large, 3),
            (Method::Regular, KeySize::Small, 3),
            (Method::Sign, KeySize::Medium, few_stages),
            (Method::Lossy, KeySize::Small, 4),
        ] {
            let request = f.request(method, stages, size);
            let bootstrap = &f.engine.through(&f.key(request));
            assert!((bootstrap.method(), bootstrap.size(), bootstrap.stage_count()) == (method.keys(), size, stages));
            let rotation = (size == KeySize::Small).then_some(&rotation);
            let keys = BootstrapKeys { rotation, ..f.keys(bootstrap) };
            let found = f.engine.bootstrap(&[&f.encrypt(&signs, 5)], keys, request, &now()).unwrap().remove(0);
            assert!(f.precision(&found, &signs).worst > 13.0, "{method:?} {size:?} {stages}");
        }
    }
}

#[test]
fn every_flipped_bit_and_every_cut_is_seen() {
    let Fixture { engine, sk, .. } = fixture();
    engine.damage_is_seen(&sk, (1, 1));
    let pt = engine.encode(&message(&engine), 0).unwrap();
    engine.damage_is_seen(&pt, (17, 997));
    let ct = engine.encrypt_with_secret(&pt, &sk).unwrap();
    engine.damage_is_seen(&ct, (61, 997));
    engine.damage_is_seen(&engine.create_public_key(&sk).unwrap(), (997, 997));
    engine.damage_is_seen(&engine.create_fixed_rotation_key(&sk, 1, Some(0)).unwrap(), (997, 997));
    let bytes = engine.bytes(&bootstrap_key(&engine, &sk));
    for length in (0..bytes.len()).step_by(bytes.len() / 50) {
        assert_eq!(engine.refused::<BootstrapKey>(&bytes[..length]).0, ErrorKind::Serialization);
    }
}

/// A header with this change and a checksum that fits, the parameters, and a payload of so many zeros.
fn alone(bytes: &[u8], payload: usize, change: impl Fn(&mut [u8])) -> Vec<u8> {
    let mut alone = forged(&bytes[..parts_at(bytes)], change);
    alone.resize(alone.len() + payload, 0);
    alone
}

/// The same bytes with another text of parameters, under checksums that fit, and a fingerprint that no engine has.
fn with_literal(bytes: &[u8], text: &[u8]) -> Vec<u8> {
    let mut header = bytes[..256].to_vec();
    header[12..16].copy_from_slice(&(text.len() as u32).to_le_bytes());
    header[40] ^= 1;
    header[120..152].copy_from_slice(blake3::hash(text).as_bytes());
    let check = *blake3::hash(&header[..224]).as_bytes();
    header[224..256].copy_from_slice(&check);
    [&header, text, &bytes[parts_at(bytes)..]].concat()
}

#[test]
fn absurd_claims_are_refused_before_anything_is_allocated() {
    let Fixture { engine, sk, .. } = fixture();
    let ct = engine.encrypt_with_secret(&engine.encode(&message(&engine), 1).unwrap(), &sk).unwrap();
    let bytes = engine.bytes(&ct);
    let word = |at: usize, value: u64| move |h: &mut [u8]| h[at..at + 8].copy_from_slice(&value.to_le_bytes());
    let huge = [1 << 20, 1 << 40, u64::MAX / 2, u64::MAX];
    // Limbs, scale, degree, mark of real ones; the length of the payload; a scale of zero, of infinity, of no number.
    let cases = [152, 160, 168, 176, 16].into_iter().flat_map(|at| huge.map(|value| (at, value)));
    let scales = [0.0, -1.0, f64::INFINITY, f64::NAN, 1e-300, 1e300].map(|s: f64| (160, s.to_bits()));
    for (at, value) in cases.chain(scales).chain([(152, 0), (168, 0), (168, 1), (168, 4), (176, 2)]) {
        let (kind, said) = engine.refused::<Ciphertext>(&alone(&bytes, 1000, word(at, value)));
        assert_eq!(kind, ErrorKind::Serialization, "{at}: {value}: {said}");
    }
    // All zero behind a header that is right: sections without checksums.
    assert!(engine
        .refused::<Ciphertext>(&alone(&bytes, bytes.len() - parts_at(&bytes), |_| ()))
        .1
        .contains("checksum"));
    let key = engine.create_fixed_rotation_key(&sk, 1, None).unwrap();
    let bytes = engine.bytes(&key);
    for value in huge.into_iter().chain([0, 3]) {
        assert_eq!(engine.refused::<FixedRotationKey>(&alone(&bytes, 0, word(160, value))).0, ErrorKind::Serialization);
    }
    let key = bootstrap_key(&engine, &sk);
    let bytes = engine.bytes(&key);
    for (at, value) in [152, 160, 168].into_iter().flat_map(|at| huge.map(|value| (at, value))) {
        assert_eq!(engine.refused::<BootstrapKey>(&alone(&bytes, 0, word(at, value))).0, ErrorKind::Serialization);
    }
    // A step that no rotation key is made for is as good as its remainder.
    let far = engine.create_fixed_rotation_key(&sk, i64::MIN, None).unwrap();
    assert_eq!(
        engine.deserialize::<FixedRotationKey>(&engine.serialize(&far, &now()).unwrap(), &now()).unwrap().delta,
        i64::MIN
    );
}

/// Laying out every small bootstrap takes a second at this size; 256 bytes are not worth it. Twenty times, so that what lays out takes far
/// longer than the limit, and a machine that is busy with something else does not reach it.
#[test]
fn a_header_alone_makes_nobody_lay_out_keys() {
    let engine = Engine::new(presets::load("regular", presets::Security::Bits128).unwrap(), None, 2).unwrap();
    let sk = engine.serialize(&engine.create_secret_key().unwrap(), &now()).unwrap();
    let claiming = |tag: u8, payload: u64| {
        alone(&sk, 0, |h| {
            h[10] = tag;
            h[16..24].copy_from_slice(&payload.to_le_bytes());
        })
    };
    let start = std::time::Instant::now();
    for payload in [0, 1 << 30].repeat(20) {
        let (kind, said) = engine.refused::<RotationKey>(&claiming(5, payload));
        let reason = if payload == 0 { "other parts" } else { "cut short" };
        assert!(kind == ErrorKind::Serialization && said.contains(reason), "{said}");
        assert_eq!(engine.refused::<BootstrapKey>(&claiming(7, payload)).0, ErrorKind::Serialization);
    }
    assert!(start.elapsed().as_secs_f64() < 5.0, "{:?}", start.elapsed());
}

#[test]
fn names_out_of_files_are_escaped_in_messages() {
    let Fixture { engine, sk, .. } = fixture();
    let sk = engine.serialize(&sk, &now()).unwrap();
    let mut literal = engine.params().literal().clone();
    literal.name = "\u{1b}[2J\r\n\"\u{202e}".into();
    let other = with_literal(&sk, literal.to_toml().unwrap().as_bytes());
    let found = wire::CkksOrigin::find(&wire::FORMAT.summary(&other).unwrap(), true);
    for said in [engine.refused::<SecretKey>(&other).1, found.err().unwrap().to_string()] {
        assert!(said.contains(r#""\u{1b}[2J\r\n\"\u{202e}"#) && !said.contains(char::is_control), "{said}");
    }
}

/// A set that comes with nobody: what is written with it is read by whoever the text gives the same parameters.
#[test]
fn data_carries_the_parameters_it_was_made_with() {
    let own = |log_n, base| {
        let text = format!(
            r#"
            family = "ckks"
            name = "mine"
            source = "a test"
            log_n = {log_n}
            moduli = [
                {{ role = "base", bits = {base}, count = 1 }},
                {{ role = "message", bits = 40, count = 2 }},
                {{ role = "special", bits = 50, count = 1 }},
            ]
            "#
        );
        CkksLiteral::from_toml(&text).unwrap()
    };
    let engine_of = |literal| Engine::new(CkksParams::new(literal, Security::NotChecked).unwrap(), None, 1).unwrap();
    let engine = engine_of(own(13, 50));
    let sk = engine.create_secret_key().unwrap();
    let z = message(&engine);
    let ct = engine.encrypt_with_secret(&engine.encode(&z, 1).unwrap(), &sk).unwrap();
    let bytes = engine.bytes(&ct);
    let summary = wire::FORMAT.summary(&bytes).unwrap();
    assert_eq!(CkksLiteral::from_toml(&summary.literal).unwrap(), *engine.params().literal());
    let origin = wire::CkksOrigin::find(&summary, false).unwrap();
    assert!(origin.params == *engine.params() && origin.params.name() == "mine");
    let again: Ciphertext = wire::FORMAT.deserialize(&origin, &bytes, &now()).unwrap();
    assert!(near(&engine.decrypt(&again, &sk).unwrap(), &z));
    assert!(near(&engine.decrypt(&engine_of(own(13, 50)).deserialize(&bytes, &now()).unwrap(), &sk).unwrap(), &z));
    // Another set of the same name is another set, and engines say whose data it is.
    let (kind, said) = engine_of(own(13, 49)).refused::<Ciphertext>(&bytes);
    assert!(kind == ErrorKind::KeyMismatch && said.contains("(preset \"mine\")"), "{said}");
    // Below 128 bits only where the caller lets it pass.
    let weak = engine_of(own(10, 50));
    let sk = weak.create_secret_key().unwrap();
    let ct = weak.encrypt_with_secret(&weak.encode(&message(&weak), 1).unwrap(), &sk).unwrap();
    let bytes = weak.bytes(&ct);
    let summary = wire::FORMAT.summary(&bytes).unwrap();
    assert_eq!(wire::CkksOrigin::find(&summary, false).err().unwrap().kind(), ErrorKind::Insecure);
    assert!(wire::CkksOrigin::find(&summary, true).is_ok() && weak.deserialize::<Ciphertext>(&bytes, &now()).is_ok());
}

#[test]
fn parameters_that_no_engine_could_have_are_refused() {
    let Fixture { engine, sk, .. } = fixture();
    let sk = engine.serialize(&sk, &now()).unwrap();
    let text = engine.params().literal().to_toml().unwrap();
    let is_refused = |bytes: &[u8], words: &str| {
        let (kind, said) = engine.refused::<SecretKey>(bytes);
        assert!(kind == ErrorKind::Serialization && said.contains(words) && said.len() < 1000, "{said}");
        assert!(!said.contains(char::is_control), "{said:?}");
    };
    is_refused(&with_literal(&sk, &[0xFF; 40]), "no text");
    is_refused(&with_literal(&sk, b""), "family");
    is_refused(&with_literal(&sk, "x".repeat(20_000).as_bytes()), "16384");
    is_refused(&with_literal(&sk, format!("{text}\n{} = 1", "y".repeat(10_000)).as_bytes()), "do not work");
    is_refused(&with_literal(&sk, b"family = \"\\u0007bfv\""), "\\u{7}bfv");
    is_refused(&alone(&sk, 64, |h| h[104..108].copy_from_slice(b"bgv\0")), "family \"bgv\"");
    is_refused(&alone(&sk, 64, |h| h[12..16].copy_from_slice(&u32::MAX.to_le_bytes())), "16384");
    is_refused(&alone(&sk, 64, |h| h[12..16].copy_from_slice(&9000u32.to_le_bytes())), "within its parameters");
    is_refused(&alone(&sk, 64, |h| h[120] ^= 1), "parameters of this data are damaged");
    // Found without an engine, the literal goes the way of every other, and must have the fingerprint of the header.
    let find = |text: &str| {
        let summary = wire::FORMAT.summary(&with_literal(&sk, text.as_bytes())).unwrap();
        wire::CkksOrigin::find(&summary, true).err().unwrap()
    };
    assert!(find(&text).to_string().contains("other ones"));
    let absurd = [
        text.replace("count = 13", "count = 4000000000"),
        text.replace("message_ratio_log2 = 6.75", "message_ratio_log2 = nan"),
        text.replace("max_log_qp = 1738.0", "max_log_qp = inf"),
        text.replace("log_n = 10", "log_n = 64"),
        text.replace("ephemeral_weight = 32", "ephemeral_weight = 1000000"),
    ];
    for text in absurd {
        let error = find(&text);
        assert!(error.kind() == ErrorKind::Serialization && error.to_string().contains("do not work"), "{error}");
    }
}

/// A word that the type gives no meaning is none of this version's.
#[test]
fn unknown_words_are_refused() {
    let Fixture { engine, sk, .. } = fixture();
    let unknown = |bytes: &[u8], at: usize| {
        let mut bytes = forged(bytes, |h| h[at] = 1);
        // Sections are keyed with the header's checksum: those of the forger fit.
        reseal(&mut bytes);
        bytes
    };
    let bytes = engine.serialize(&sk, &now()).unwrap();
    assert!(engine.refused::<SecretKey>(&unknown(&bytes, 152)).1.contains("other parts"));
    assert!(engine.refused::<SecretKey>(&unknown(&bytes, 216)).1.contains("other parts"));
}

/// A plaintext belongs to no key, whatever its checksums say.
#[test]
fn a_plaintext_of_a_key_is_refused() {
    let Fixture { engine, .. } = fixture();
    let pt = engine.encode(&message(&engine), 0).unwrap();
    let mut bytes = engine.bytes(&pt);
    bytes[24] = 1;
    let head = *blake3::hash(&bytes[..224]).as_bytes();
    bytes[224..256].copy_from_slice(&head);
    let mut at = parts_at(&bytes);
    for (i, q) in engine.params().q().iter().take(pt.poly.q_limbs()).enumerate() {
        let end = at + engine.params().n() / 8 * (64 - q.leading_zeros()) as usize;
        let section =
            blake3::Hasher::new_keyed(&head).update(&(i as u64).to_le_bytes()).update(&bytes[at..end]).finalize();
        bytes[end..end + 32].copy_from_slice(section.as_bytes());
        at = end + 32;
    }
    assert!(engine.refused::<Plaintext>(&bytes).1.contains("other parts"));
}

/// Makes the checksum of the only section fit the header.
fn reseal(bytes: &mut [u8]) {
    let (start, end) = (parts_at(bytes), bytes.len() - 32);
    let seal = <[u8; 32]>::try_from(&bytes[224..256]).unwrap();
    let check = *blake3::Hasher::new_keyed(&seal).update(&[0; 8]).update(&bytes[start..end]).finalize().as_bytes();
    bytes[end..].copy_from_slice(&check);
}

/// Residues that are not below their prime, with checksums that fit: what a forger may send.
#[test]
fn residues_that_no_prime_has_are_refused() {
    let Fixture { engine, .. } = fixture();
    let pt = engine.encode(&message(&engine), 0).unwrap();
    let mut bytes = engine.bytes(&pt);
    let bits = (64 - engine.params().q()[0].leading_zeros()) as usize;
    let length = engine.params().n() / 8 * bits;
    let start = parts_at(&bytes);
    bytes[start..start + bits].fill(0xFF);
    let seal = <[u8; 32]>::try_from(&bytes[224..256]).unwrap();
    let section = &bytes[start..start + length];
    let check = *blake3::Hasher::new_keyed(&seal).update(&[0; 8]).update(section).finalize().as_bytes();
    bytes[start + length..][..32].copy_from_slice(&check);
    assert_eq!(engine.refused::<Plaintext>(&bytes).0, ErrorKind::Serialization);
}

/// Anything at all, and random changes of what is right: an error each time, or the thing itself.
#[test]
fn random_bytes_and_random_changes_never_panic() {
    let Fixture { engine, sk, .. } = fixture();
    let ct = engine.encrypt_with_secret(&engine.encode(&message(&engine), 0).unwrap(), &sk).unwrap();
    let good = engine.bytes(&ct);
    let mut random = ChaChaSource::from_seed([9; 32]);
    for round in 0..3000 {
        let mut bytes = good.clone();
        for _ in 0..1 + random.next_u64() % 8 {
            let (at, word) = ((random.next_u64() % bytes.len() as u64) as usize, random.next_u64());
            // Half of the changes hit the header.
            let at = if round % 2 == 0 { at % parts_at(&good) } else { at };
            match word % 4 {
                0 => bytes[at] = (word >> 8) as u8,
                1 => bytes.truncate(at.max(1)),
                2 => drop(bytes.splice(at..at, word.to_le_bytes())),
                _ => {
                    let by = at % bytes.len();
                    bytes.rotate_left(by);
                }
            }
        }
        if round % 3 == 0 && bytes.len() >= 256 {
            bytes[..10].copy_from_slice(&good[..10]);
            let check = *blake3::hash(&bytes[..224]).as_bytes();
            bytes[224..256].copy_from_slice(&check);
        }
        if bytes != good {
            assert!(engine.deserialize::<Ciphertext>(&bytes, &now()).is_err(), "round {round}");
            assert!(engine.deserialize::<RotationKey>(&bytes, &now()).is_err());
            let _ = wire::FORMAT.summary(&bytes);
        }
    }
    for length in [0, 1, 8, 255, 256, 257, 5000] {
        let mut noise = vec![0; length];
        random.fill_bytes(&mut noise);
        assert_eq!(engine.refused::<PublicKey>(&noise).0, ErrorKind::Serialization);
        assert!(wire::FORMAT.summary(&noise).is_err());
    }
}

#[test]
fn what_belongs_elsewhere_is_refused_with_the_reason() {
    let Fixture { engine, sk, relin, .. } = fixture();
    let other_engine = Engine::new(presets::load("levels-13", presets::Security::Bits128).unwrap(), None, 1).unwrap();
    let bytes = engine.bytes(&relin);
    let (kind, said) = other_engine.refused::<RelinearizationKey>(&bytes);
    assert!(kind == ErrorKind::KeyMismatch && said.contains("preset=\"toy\""), "{said}");
    let (kind, said) = engine.refused::<GaloisKey>(&bytes);
    assert!(
        kind == ErrorKind::Serialization && said.contains("a relinearization key, not a conjugation key"),
        "{said}"
    );
    let mut newer = bytes.clone();
    newer[8] = 2;
    let (kind, said) = engine.refused::<RelinearizationKey>(&newer);
    assert!(kind == ErrorKind::Serialization && said.contains("version 2"), "{said}");
    let stranger = alone(&bytes, bytes.len() - parts_at(&bytes), |h| h[10] = 77);
    assert!(engine.refused::<RelinearizationKey>(&stranger).1.contains("update Aglet"));
    // A section of another file of the same shape does not fit.
    let mut mixed = bytes.clone();
    let other = engine.bytes(&engine.create_relinearization_key(&sk).unwrap());
    let at = bytes.len() - 32 - 1000;
    mixed[at..].copy_from_slice(&other[at..]);
    assert_eq!(engine.refused::<RelinearizationKey>(&mixed).0, ErrorKind::Serialization);
    // What this engine did not make is not written either.
    let (kind, said) = match other_engine.serialize(&relin, &now()) {
        Ok(_) => panic!("written with other parameters"),
        Err(e) => (e.kind(), e.to_string()),
    };
    assert!(kind == ErrorKind::KeyMismatch && said.contains("engine that made it"), "{said}");
}

#[test]
fn slots_matter_where_they_should() {
    let load = || presets::load("levels-13", presets::Security::Bits128).unwrap();
    let (full, sparse) = (Engine::new(load(), None, 1).unwrap(), Engine::new(load(), Some(64), 1).unwrap());
    let sk = full.create_secret_key().unwrap();
    let same: SecretKey = sparse.deserialize(&full.serialize(&sk, &now()).unwrap(), &now()).unwrap();
    let ct = sparse.encrypt_with_secret(&sparse.encode(&message(&sparse), 1).unwrap(), &same).unwrap();
    let bytes = sparse.bytes(&ct);
    let (kind, said) = full.refused::<Ciphertext>(&bytes);
    assert!(kind == ErrorKind::KeyMismatch && said.contains("slot_count=64"), "{said}");
    let origin = wire::CkksOrigin { params: load(), slots: 64, ctx: None };
    let found: Ciphertext = wire::FORMAT.deserialize(&origin, &bytes, &now()).unwrap();
    assert!(near(&sparse.decrypt(&found, &same).unwrap(), &message(&sparse)));
    let secret = full.bytes(&sk);
    assert!(wire::FORMAT
        .deserialize::<_, SecretKey>(&origin, &secret, &now())
        .unwrap_err()
        .to_string()
        .contains("engine"));
}

#[test]
fn a_file_appears_whole_or_not_at_all() {
    let (Fixture { engine, sk: old, .. }, folder) = (fixture(), Folder::new("whole"));
    let new = engine.create_secret_key().unwrap();
    let path = folder.0.join("key");
    engine.write(&old, &path, &now()).unwrap();
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    }
    // Stopped in the middle: the old file is as it was, and nothing lies beside it.
    let relin = engine.create_relinearization_key(&new).unwrap();
    let stopped = now();
    stopped.cancel();
    assert!(matches!(engine.write(&relin, &path, &stopped), Err(Error::Cancelled)));
    assert!(matches!(engine.serialize(&relin, &stopped), Err(Error::Cancelled)));
    assert_eq!(folder.names(), ["key"]);
    assert_eq!(engine.read::<SecretKey>(&path, &now()).unwrap().id(), old.id());
    engine.write(&new, &path, &now()).unwrap();
    assert_eq!(engine.read::<SecretKey>(&path, &now()).unwrap().id(), new.id());
    let large = folder.0.join("large");
    engine.write(&bootstrap_key(&engine, &new), &large, &now()).unwrap();
    assert!(std::fs::metadata(&large).unwrap().len() > 1 << 20, "large enough for parts and progress");
    assert!(matches!(engine.read::<BootstrapKey>(&large, &stopped), Err(Error::Cancelled)));
    let control = now();
    engine.read::<BootstrapKey>(&large, &control).unwrap();
    let (done, total, what) = control.latest();
    assert!(done == total && total > 10 && what == "reading the bootstrap key");
    #[cfg(unix)]
    {
        let link = folder.0.join("link");
        std::os::unix::fs::symlink(&path, &link).unwrap();
        engine.write(&old, &link, &now()).unwrap();
        assert!(std::fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(engine.read::<SecretKey>(&path, &now()).unwrap().id(), old.id());
    }
    for wrong in [folder.0.clone(), folder.0.join("no").join("such")] {
        let errors = [engine.write(&old, &wrong, &now()).err(), engine.read::<SecretKey>(&wrong, &now()).err()];
        assert!(errors.into_iter().all(|e| e.is_some_and(|e| e.kind() == ErrorKind::File)));
    }
}
