//! Files of every version of the format, kept under `tests/vectors/wire-VERSION`: today's code reads each, and each still works.
//!
//! `AGLET_WIRE=record cargo test -p aglet --test all wire_corpus::` writes the folder of the version that today's code writes, if it
//! is not there: what users may have is never written again.

use super::stored::{now, Corpus, Store};
use aglet::ckks::{
    BootstrapKey, BootstrapKeys, Ciphertext, CkksParams, Engine, FixedRotationKey, GaloisKey, KeySize, Matrix,
    MatrixKey, Method, Plaintext, RelinearizationKey, Request, RotationKey,
};
use aglet::wire::CkksOrigin;
use aglet::{PublicKey, Runtime, SecretKey};
use aglet_ring::arch;
use aglet_rlwe::security::Security;
use aglet_testing::messages;
use num_complex::Complex64;

/// The smallest ring, and a chain that a bootstrap needs. The files say it themselves; only recording takes it from here.
const PARAMETERS: &str = r#"
family = "ckks"
name = "wire-corpus"
source = "As few and small primes as a bootstrap takes, in the smallest ring: no security at all."
log_n = 6
ephemeral_weight = 32
sparse_switch_bits = 50
message_ratio_log2 = 6.75
regular_level = 3
moduli = [
    { role = "base", bits = 47, count = 1 },
    { role = "slots_to_coeffs", bits = 40, count = 3 },
    { role = "message", bits = 40, count = 3 },
    { role = "eval_mod", bits = 50, count = 9 },
    { role = "coeffs_to_slots", bits = 48, count = 3 },
    { role = "special", bits = 50, count = 8 },
]
"#;
/// Fewer than the ring has.
const SLOTS: usize = 8;
/// The steps of the fixed rotation.
const DELTA: i64 = -3;

fn request(engine: &Engine) -> Request {
    Request::new(Method::Regular, 3, KeySize::Medium, engine.slots())
}

fn message(engine: &Engine) -> Vec<Complex64> {
    messages::complex(engine.slots(), 1)
}

/// One file of everything, of one secret key.
fn record() {
    let params = CkksParams::from_toml(PARAMETERS, Security::NotChecked).unwrap();
    let runtime = Runtime::seeded(1, arch::chosen().unwrap().name(), *b"files that later versions read: ").unwrap();
    let engine = &Engine::on(runtime, params, Some(SLOTS)).unwrap();
    let sk = &engine.create_secret_key().unwrap();
    let folder = &Corpus::of_today("wire-", &engine.bytes(sk), "");
    std::fs::create_dir(folder).expect("files of this version are not there yet");
    let corpus = Corpus { folder };
    corpus.write(engine, "secret_key", sk);
    corpus.write(engine, "public_key", &engine.create_public_key(sk).unwrap());
    corpus.write(engine, "relinearization_key", &engine.create_relinearization_key(sk).unwrap());
    corpus.write(engine, "conjugation_key", &engine.create_conjugation_key(sk).unwrap());
    corpus.write(engine, "rotation_key", &engine.create_rotation_key(sk, &now()).unwrap());
    corpus.write(engine, "fixed_rotation_key", &engine.create_fixed_rotation_key(sk, DELTA, Some(1)).unwrap());
    corpus.write(engine, "matrix_key", &engine.create_matrix_key(sk, Some(1), Some(2), &now()).unwrap());
    corpus.write(engine, "bootstrap_key", &engine.create_bootstrap_key(sk, request(engine), None, &now()).unwrap());
    let pt = engine.encode(&message(engine), 2).unwrap();
    let ct = engine.encrypt_with_secret(&pt, sk).unwrap();
    corpus.write(engine, "plaintext", &pt);
    corpus.write(engine, "ciphertext", &ct);
    corpus.write(engine, "product", &engine.multiply(&ct, &ct, None).unwrap());
}

/// Reads everything and uses it once.
fn check(corpus: &Corpus<'_>) {
    let (origin, folder) = (CkksOrigin::find(&corpus.said("ciphertext"), true).unwrap(), corpus.folder);
    let engine = &Engine::new(origin.params, Some(origin.slots), 1).unwrap();
    let z = message(engine);
    let sk: SecretKey = corpus.read(engine, "secret_key");
    let same = |what: &str, found: Vec<Complex64>, expected: Vec<Complex64>, bound: f64| {
        let worst = found.iter().zip(&expected).map(|(a, b)| (a - b).norm()).fold(0.0, f64::max);
        assert!(found.len() == expected.len() && worst < bound, "{folder:?}: {what} is off by {worst:e}");
    };
    let decrypted = |what: &str, ct: &Ciphertext, expected: Vec<Complex64>| {
        same(what, engine.decrypt(ct, &sk).unwrap(), expected, 1e-6);
    };
    let rolled = |by: i64| -> Vec<Complex64> {
        let n = z.len() as i64;
        (0..n).map(|j| z[(j - by).rem_euclid(n) as usize]).collect()
    };
    let ct: Ciphertext = corpus.read(engine, "ciphertext");
    decrypted("the ciphertext", &ct, z.clone());
    let pt: Plaintext = corpus.read(engine, "plaintext");
    same("the plaintext", engine.decode(&pt).unwrap(), z.clone(), 1e-6);
    let pk: PublicKey = corpus.read(engine, "public_key");
    decrypted("what the public key encrypts", &engine.encrypt(&pt, &pk).unwrap(), z.clone());
    let (product, relin): (Ciphertext, RelinearizationKey) =
        (corpus.read(engine, "product"), corpus.read(engine, "relinearization_key"));
    let squares: Vec<Complex64> = z.iter().map(|v| v * v).collect();
    decrypted("the product", &product, squares.clone());
    decrypted("the product, relinearized", &engine.relinearize(&product, &relin).unwrap(), squares);
    let conj: GaloisKey = corpus.read(engine, "conjugation_key");
    decrypted("the conjugate", &engine.conjugate(&ct, &conj).unwrap(), z.iter().map(Complex64::conj).collect());
    let rotation: RotationKey = corpus.read(engine, "rotation_key");
    decrypted("a rotation", &engine.rotate(&ct, &rotation, 3).unwrap(), rolled(3));
    let fixed: FixedRotationKey = corpus.read(engine, "fixed_rotation_key");
    let low = engine.level_down(&ct, 1).unwrap();
    decrypted("the fixed rotation", &engine.rotate_fixed(&low, &fixed).unwrap(), rolled(DELTA));
    let key: MatrixKey = corpus.read(engine, "matrix_key");
    let diagonal = [Complex64::new(0.5, 0.0), Complex64::default(), Complex64::default(), Complex64::new(0.0, 1.0)];
    let matrix = Matrix { entries: &diagonal, columns: 2 };
    let turned = engine.decrypt(&engine.multiply_matrix(&matrix, &low, &key, &now()).unwrap(), &sk).unwrap();
    same("a product with a matrix", turned[..2].to_vec(), vec![z[0] * 0.5, z[1] * Complex64::I], 1e-6);
    let key: BootstrapKey = corpus.read(engine, "bootstrap_key");
    let keys = BootstrapKeys { relinearization: &relin, conjugation: &conj, bootstrap: &key, rotation: None };
    let fresh = engine.bootstrap(&[&low], keys, request(engine), &now()).unwrap().remove(0);
    assert_eq!(engine.level(&fresh).unwrap(), 3);
    same("the bootstrap", engine.decrypt(&fresh, &sk).unwrap(), z, 1e-4);
}

#[test]
fn files_of_every_version_are_read() {
    Corpus::each("wire-", record, check);
}
