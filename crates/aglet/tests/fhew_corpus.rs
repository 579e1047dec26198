//! Files of FHEW of every version of the format, kept under `tests/vectors/fhew-wire-VERSION`: today's code reads each,
//! and each still works.
//!
//! `AGLET_WIRE=record cargo test -p aglet --test all fhew_corpus::` writes those of the version that today's code writes that are not there
//! yet: what users may have is never written again.

use super::stored::Corpus;
use aglet::fhew::{
    Array, BootstrapKey, Engine, FhewContext, FhewParams, Form, Gate, PackingKey, PublicKey, SecretKey, TreeTable,
};
use aglet::{Control, Runtime};
use aglet_ring::arch;
use aglet_rlwe::security::Security;

const CLEAR: [bool; 4] = [true, false, false, true];

fn record() {
    let params = FhewParams::from_toml(aglet_testing::fhew::FEWEST, Security::NotChecked).unwrap();
    let runtime = Runtime::seeded(1, arch::chosen().unwrap().name(), *b"gates that later versions read: ").unwrap();
    let (engine, now) = (&Engine::on(runtime, params).unwrap(), Control::new());
    let sk = &engine.create_secret_key().unwrap();
    let bytes = engine.serialize(sk, &now).unwrap();
    let folder = &Corpus::of_today("fhew-wire-", &bytes, "");
    std::fs::create_dir_all(folder).unwrap();
    let corpus = Corpus { folder };
    corpus.write(engine, "lwe_secret_key", sk);
    let sk: &SecretKey = &corpus.read(engine, "lwe_secret_key");
    let array = |cells| Array::new(&engine.context(), Form::Bits, vec![2, 2], sk.id(), cells).unwrap();
    let fresh = engine.encrypt_bits(&CLEAR, sk).unwrap();
    let key = engine.create_bootstrap_key(sk, &now).unwrap();
    let made = engine.gate(Gate::Nand, &[&fresh, &fresh], &key, Some(0.0), &now).unwrap();
    let packing = engine.create_packing_key(sk, &now).unwrap();
    corpus.write(engine, "lookup_key", &key);
    corpus.write(engine, "fresh", &array(fresh));
    corpus.write(engine, "nand", &array(made));
    corpus.write(engine, "packing_key", &packing);
    let public = engine.create_public_key(sk).unwrap();
    let bits: Vec<bool> = CLEAR.iter().copied().cycle().take(512).collect();
    let sent = engine.encrypt_bits(&bits, &public).unwrap();
    let fine = engine.create_packing_key(sk, &now).unwrap();
    let few = engine.compress(&array(engine.encrypt_bits(&CLEAR, sk).unwrap()), &fine, Some(-20.0), &now).unwrap();
    corpus.write(engine, "fine_packing_key", &fine);
    corpus.write(engine, "compressed", &few);
    corpus.write(engine, "public_key", &public);
    corpus.write(engine, "sent", &Array::new(&engine.context(), Form::Bits, vec![512], sk.id(), sent).unwrap());
}

/// Reads everything and uses it once.
fn check(corpus: &Corpus<'_>) {
    let (said, now, folder) = (corpus.said("fresh"), Control::new(), corpus.folder);
    let engine = Engine::new(FhewContext::find(&said, true).unwrap().params().clone(), 1).unwrap();
    let sk: SecretKey = corpus.read(&engine, "lwe_secret_key");
    let key: BootstrapKey = corpus.read(&engine, "lookup_key");
    let (fresh, made): (Array, Array) = (corpus.read(&engine, "fresh"), corpus.read(&engine, "nand"));
    assert_eq!((fresh.shape(), fresh.form()), (&[2, 2][..], Form::Bits));
    assert_eq!(engine.decrypt_bits(fresh.cells(), &sk).unwrap(), CLEAR);
    assert_eq!(engine.decrypt_bits(made.cells(), &sk).unwrap(), CLEAR.map(|bit| !bit));
    let or = engine.gate(Gate::Or, &[fresh.cells(), made.cells()], &key, Some(0.0), &now).unwrap();
    assert_eq!(engine.decrypt_bits(&or, &sk).unwrap(), [true; 4], "{folder:?}");
    let (public, sent): (PublicKey, Array) = (corpus.read(&engine, "public_key"), corpus.read(&engine, "sent"));
    assert_eq!(engine.decrypt_bits(&sent.cells()[508..], &sk).unwrap(), CLEAR);
    let (fine, few): (PackingKey, Array) =
        (corpus.read(&engine, "fine_packing_key"), corpus.read(&engine, "compressed"));
    assert_eq!(engine.decrypt_array(&few, &sk, Some(-20.0)).unwrap(), CLEAR.map(i64::from));
    let few = engine.compress(&fresh, &fine, Some(-20.0), &now).unwrap();
    assert_eq!(engine.decrypt_array(&few, &sk, Some(-20.0)).unwrap(), CLEAR.map(i64::from), "{folder:?}");
    let again = engine.encrypt_bits(&CLEAR, &public).unwrap();
    let nand = engine.gate(Gate::Nand, &[&again, &sent.cells()[..4]], &key, Some(0.0), &now).unwrap();
    assert_eq!(engine.decrypt_bits(&nand, &sk).unwrap(), CLEAR.map(|bit| !bit), "{folder:?}");
    let (packing, message): (PackingKey, _) = (corpus.read(&engine, "packing_key"), engine.params().message());
    let [x, y] = [[0, 0, 1, 1], [0, 1, 0, 1]].map(|m| engine.encrypt(&m, message, &sk).unwrap());
    let less = TreeTable::new(message, message, &[0, 1, 0, 0]).unwrap();
    let less = engine.lookup_tree(&[&x, &y], &[less], (&key, &packing), Some(0.0), &now).unwrap();
    assert_eq!(engine.decrypt(&less[0], message, &sk).unwrap(), [0, 1, 0, 0], "{folder:?}");
}

#[test]
fn files_of_every_version_are_read() {
    Corpus::each("fhew-wire-", record, check);
}
