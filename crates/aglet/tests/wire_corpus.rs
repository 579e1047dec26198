//! Files of every version of the format, kept under `tests/vectors/wire-VERSION`: today's code reads each, and each still works.
//!
//! `AGLET_WIRE=record cargo test -p aglet --test all wire_corpus::` writes the folder of the version that today's code writes, if it
//! is not there: what users may have is never written again.

use aglet::ckks::{
    BootstrapKey, BootstrapKeys, Ciphertext, CkksParams, Engine, FixedRotationKey, GaloisKey, KeySize, Matrix,
    MatrixKey, Method, Plaintext, RelinearizationKey, Request, RotationKey,
};
use aglet::wire::{self, CkksOrigin, Stored};
use aglet::{Control, PublicKey, Runtime, SecretKey};
use aglet_ring::arch;
use aglet_rlwe::security::Security;
use aglet_testing::messages;
use num_complex::Complex64;
use std::path::{Path, PathBuf};

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

fn now() -> Control {
    Control::new()
}

fn request(engine: &Engine) -> Request {
    Request::new(Method::Regular, 3, KeySize::Medium, engine.slots())
}

fn message(engine: &Engine) -> Vec<Complex64> {
    messages::complex(engine.slots(), 1)
}

fn vectors() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/vectors"))
}

/// The folder of files of such a version.
fn folder_of(bytes: &[u8]) -> PathBuf {
    vectors().join(format!("wire-{}", u16::from_le_bytes([bytes[8], bytes[9]])))
}

fn write<T: Stored<CkksOrigin> + Sync>(folder: &Path, engine: &Engine, name: &str, x: &T) {
    engine.write(x, &folder.join(name), &now()).unwrap();
}

/// One file of everything, of one secret key.
fn record() {
    let params = CkksParams::from_toml(PARAMETERS, Security::NotChecked).unwrap();
    let runtime = Runtime::seeded(1, arch::chosen().unwrap().name(), *b"files that later versions read: ").unwrap();
    let engine = &Engine::on(runtime, params, Some(SLOTS)).unwrap();
    let sk = &engine.create_secret_key().unwrap();
    let folder = &folder_of(&engine.serialize(sk, &now()).unwrap());
    std::fs::create_dir(folder).expect("files of this version are not there yet");
    write(folder, engine, "secret_key", sk);
    write(folder, engine, "public_key", &engine.create_public_key(sk).unwrap());
    write(folder, engine, "relinearization_key", &engine.create_relinearization_key(sk).unwrap());
    write(folder, engine, "conjugation_key", &engine.create_conjugation_key(sk).unwrap());
    write(folder, engine, "rotation_key", &engine.create_rotation_key(sk, &now()).unwrap());
    write(folder, engine, "fixed_rotation_key", &engine.create_fixed_rotation_key(sk, DELTA, Some(1)).unwrap());
    write(folder, engine, "matrix_key", &engine.create_matrix_key(sk, Some(1), Some(2), &now()).unwrap());
    write(folder, engine, "bootstrap_key", &engine.create_bootstrap_key(sk, request(engine), None, &now()).unwrap());
    let pt = engine.encode(&message(engine), 2).unwrap();
    let ct = engine.encrypt_with_secret(&pt, sk).unwrap();
    write(folder, engine, "plaintext", &pt);
    write(folder, engine, "ciphertext", &ct);
    write(folder, engine, "product", &engine.multiply(&ct, &ct, None).unwrap());
}

/// The files of one version, and the engine that they ask for.
struct Corpus<'a> {
    folder: &'a Path,
    engine: Engine,
}

impl<'a> Corpus<'a> {
    fn of(folder: &'a Path) -> Self {
        let bytes = std::fs::read(folder.join("ciphertext")).unwrap();
        assert_eq!(folder, folder_of(&bytes), "the folder is named after the version");
        let said = wire::FORMAT.summary(&bytes).unwrap();
        let origin = CkksOrigin::find(&said, true).unwrap();
        Self { folder, engine: Engine::new(origin.params, Some(origin.slots), 1).unwrap() }
    }
    fn read<T: Stored<CkksOrigin>>(&self, name: &str) -> T {
        self.engine.read(&self.folder.join(name), &now()).unwrap_or_else(|e| panic!("{:?}, {name}: {e}", self.folder))
    }
}

/// Reads everything and uses it once.
fn check(folder: &Path) {
    let corpus = Corpus::of(folder);
    let (engine, z) = (&corpus.engine, message(&corpus.engine));
    let sk: SecretKey = corpus.read("secret_key");
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
    let ct: Ciphertext = corpus.read("ciphertext");
    decrypted("the ciphertext", &ct, z.clone());
    let pt: Plaintext = corpus.read("plaintext");
    same("the plaintext", engine.decode(&pt).unwrap(), z.clone(), 1e-6);
    let pk: PublicKey = corpus.read("public_key");
    decrypted("what the public key encrypts", &engine.encrypt(&pt, &pk).unwrap(), z.clone());
    let (product, relin): (Ciphertext, RelinearizationKey) =
        (corpus.read("product"), corpus.read("relinearization_key"));
    let squares: Vec<Complex64> = z.iter().map(|v| v * v).collect();
    decrypted("the product", &product, squares.clone());
    decrypted("the product, relinearized", &engine.relinearize(&product, &relin).unwrap(), squares);
    let conj: GaloisKey = corpus.read("conjugation_key");
    decrypted("the conjugate", &engine.conjugate(&ct, &conj).unwrap(), z.iter().map(Complex64::conj).collect());
    let rotation: RotationKey = corpus.read("rotation_key");
    decrypted("a rotation", &engine.rotate(&ct, &rotation, 3).unwrap(), rolled(3));
    let fixed: FixedRotationKey = corpus.read("fixed_rotation_key");
    let low = engine.level_down(&ct, 1).unwrap();
    decrypted("the fixed rotation", &engine.rotate_fixed(&low, &fixed).unwrap(), rolled(DELTA));
    let key: MatrixKey = corpus.read("matrix_key");
    let diagonal = [Complex64::new(0.5, 0.0), Complex64::default(), Complex64::default(), Complex64::new(0.0, 1.0)];
    let matrix = Matrix { entries: &diagonal, columns: 2 };
    let turned = engine.decrypt(&engine.multiply_matrix(&matrix, &low, &key, &now()).unwrap(), &sk).unwrap();
    same("a product with a matrix", turned[..2].to_vec(), vec![z[0] * 0.5, z[1] * Complex64::I], 1e-6);
    let key: BootstrapKey = corpus.read("bootstrap_key");
    let keys = BootstrapKeys { relinearization: &relin, conjugation: &conj, bootstrap: &key, rotation: None };
    let fresh = engine.bootstrap(&[&low], keys, request(engine), &now()).unwrap().remove(0);
    assert_eq!(engine.level(&fresh).unwrap(), 3);
    same("the bootstrap", engine.decrypt(&fresh, &sk).unwrap(), z, 1e-4);
}

#[test]
fn files_of_every_version_are_read() {
    if std::env::var("AGLET_WIRE").is_ok_and(|wish| wish == "record") {
        record();
    }
    let paths = std::fs::read_dir(vectors()).unwrap().map(|entry| entry.unwrap().path());
    let ours = |path: &PathBuf| path.file_name().is_some_and(|n| n.to_string_lossy().starts_with("wire-"));
    let folders: Vec<PathBuf> = paths.filter(ours).collect();
    assert!(!folders.is_empty(), "the files are gone");
    folders.iter().for_each(|folder| check(folder));
}
