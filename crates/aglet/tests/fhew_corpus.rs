//! Files of FHEW of every version of the format, kept under `tests/vectors/fhew-wire-VERSION`: today's code reads each,
//! and each still works.
//!
//! `AGLET_WIRE=record cargo test -p aglet --test all fhew_corpus::` writes those of the version that today's code writes that are not there
//! yet: what users may have is never written again.

use aglet::fhew::{
    Array, BootstrapKey, Engine, FhewContext, FhewParams, Form, Gate, PackingKey, PublicKey, SecretKey, TreeTable,
};
use aglet::wire::{self, Stored};
use aglet::{Control, Runtime};
use aglet_ring::arch;
use aglet_rlwe::security::Security;
use std::path::{Path, PathBuf};

const CLEAR: [bool; 4] = [true, false, false, true];

fn vectors() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/vectors"))
}

fn record() {
    let params = FhewParams::from_toml(aglet_testing::fhew::FEWEST, Security::NotChecked).unwrap();
    let runtime = Runtime::seeded(1, arch::chosen().unwrap().name(), *b"gates that later versions read: ").unwrap();
    let (engine, now) = (&Engine::on(runtime, params).unwrap(), Control::new());
    let sk = &engine.create_secret_key().unwrap();
    let bytes = engine.serialize(sk, &now).unwrap();
    let folder = vectors().join(format!("fhew-wire-{}", u16::from_le_bytes([bytes[8], bytes[9]])));
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join("lwe_secret_key");
    let sk = if path.exists() { &engine.read(&path, &now).unwrap() } else { sk };
    let array = |cells| Array::new(&engine.context(), Form::Bits, vec![2, 2], sk.id(), cells).unwrap();
    let fresh = engine.encrypt_bits(&CLEAR, sk).unwrap();
    let key = engine.create_bootstrap_key(sk, &now).unwrap();
    let made = engine.gate(Gate::Nand, &[&fresh, &fresh], &key, Some(0.0), &now).unwrap();
    let packing = engine.create_packing_key(sk, &now).unwrap();
    fn write<T: Stored<FhewContext> + Sync>(engine: &Engine, folder: &Path, name: &str, x: &T) {
        let path = folder.join(name);
        if !path.exists() {
            engine.write(x, &path, &Control::new()).unwrap();
        }
    }
    write(engine, &folder, "lwe_secret_key", sk);
    write(engine, &folder, "lookup_key", &key);
    write(engine, &folder, "fresh", &array(fresh));
    write(engine, &folder, "nand", &array(made));
    write(engine, &folder, "packing_key", &packing);
    let public = engine.create_public_key(sk).unwrap();
    let bits: Vec<bool> = CLEAR.iter().copied().cycle().take(512).collect();
    let sent = engine.encrypt_bits(&bits, &public).unwrap();
    let fine = engine.create_packing_key(sk, &now).unwrap();
    let few = engine.compress(&array(engine.encrypt_bits(&CLEAR, sk).unwrap()), &fine, Some(-20.0), &now).unwrap();
    write(engine, &folder, "fine_packing_key", &fine);
    write(engine, &folder, "compressed", &few);
    write(engine, &folder, "public_key", &public);
    write(engine, &folder, "sent", &Array::new(&engine.context(), Form::Bits, vec![512], sk.id(), sent).unwrap());
}

/// Reads everything and uses it once.
fn check(folder: &Path) {
    let (said, now) = (wire::FORMAT.summary(&std::fs::read(folder.join("fresh")).unwrap()).unwrap(), Control::new());
    let engine = Engine::new(FhewContext::find(&said, true).unwrap().params().clone(), 1).unwrap();
    fn read<T: Stored<FhewContext>>(engine: &Engine, folder: &Path, name: &str) -> T {
        engine.read(&folder.join(name), &Control::new()).unwrap_or_else(|e| panic!("{folder:?}, {name}: {e}"))
    }
    let sk: SecretKey = read(&engine, folder, "lwe_secret_key");
    let key: BootstrapKey = read(&engine, folder, "lookup_key");
    let (fresh, made): (Array, Array) = (read(&engine, folder, "fresh"), read(&engine, folder, "nand"));
    assert_eq!((fresh.shape(), fresh.form()), (&[2, 2][..], Form::Bits));
    assert_eq!(engine.decrypt_bits(fresh.cells(), &sk).unwrap(), CLEAR);
    assert_eq!(engine.decrypt_bits(made.cells(), &sk).unwrap(), CLEAR.map(|bit| !bit));
    let or = engine.gate(Gate::Or, &[fresh.cells(), made.cells()], &key, Some(0.0), &now).unwrap();
    assert_eq!(engine.decrypt_bits(&or, &sk).unwrap(), [true; 4], "{folder:?}");
    let (public, sent): (PublicKey, Array) = (read(&engine, folder, "public_key"), read(&engine, folder, "sent"));
    assert_eq!(engine.decrypt_bits(&sent.cells()[508..], &sk).unwrap(), CLEAR);
    let (fine, few): (PackingKey, Array) =
        (read(&engine, folder, "fine_packing_key"), read(&engine, folder, "compressed"));
    assert_eq!(engine.decrypt_array(&few, &sk, Some(-20.0)).unwrap(), CLEAR.map(i64::from));
    let few = engine.compress(&fresh, &fine, Some(-20.0), &now).unwrap();
    assert_eq!(engine.decrypt_array(&few, &sk, Some(-20.0)).unwrap(), CLEAR.map(i64::from), "{folder:?}");
    let again = engine.encrypt_bits(&CLEAR, &public).unwrap();
    let nand = engine.gate(Gate::Nand, &[&again, &sent.cells()[..4]], &key, Some(0.0), &now).unwrap();
    assert_eq!(engine.decrypt_bits(&nand, &sk).unwrap(), CLEAR.map(|bit| !bit), "{folder:?}");
    let (packing, message): (PackingKey, _) = (read(&engine, folder, "packing_key"), engine.params().message());
    let [x, y] = [[0, 0, 1, 1], [0, 1, 0, 1]].map(|m| engine.encrypt(&m, message, &sk).unwrap());
    let less = TreeTable::new(message, message, &[0, 1, 0, 0]).unwrap();
    let less = engine.lookup_tree(&[&x, &y], &[less], (&key, &packing), Some(0.0), &now).unwrap();
    assert_eq!(engine.decrypt(&less[0], message, &sk).unwrap(), [0, 1, 0, 0], "{folder:?}");
}

#[test]
fn files_of_every_version_are_read() {
    if std::env::var("AGLET_WIRE").is_ok_and(|wish| wish == "record") {
        record();
    }
    let paths = std::fs::read_dir(vectors()).unwrap().map(|entry| entry.unwrap().path());
    let ours = |path: &PathBuf| path.file_name().is_some_and(|n| n.to_string_lossy().starts_with("fhew-wire-"));
    let folders: Vec<PathBuf> = paths.filter(ours).collect();
    assert!(!folders.is_empty(), "the files are gone");
    folders.iter().for_each(|folder| check(folder));
}
