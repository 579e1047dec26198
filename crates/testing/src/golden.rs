//! Golden hashes: what seeded computations gave when they were recorded, which every later version gives too.
//!
//! A hash is over the words of polynomials and nothing else, so neither files nor types matter. The data are
//! `tests/vectors/golden.json`: a section for each test, in it a hash for each name. With `AGLET_GOLDEN=record` a test writes
//! its section instead of comparing: for results that change on purpose, which the commit then says.

use aglet::ckks::Ciphertext;
use aglet::ckks::Plaintext;
use aglet::fhew;
use serde_json::{Map, Value};
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Mutex;

/// Hashes by name, in the order found.
#[derive(Default)]
pub struct Hashes(Vec<(String, String)>);

impl Hashes {
    /// Adds what a computation gave.
    pub fn add(&mut self, name: impl Into<String>, results: &[Ciphertext]) {
        let polys = results.iter().flat_map(|ct| &ct.polys);
        self.push(name.into(), polys.flat_map(|poly| poly.host().expect("a result can be fetched").iter()));
    }
    /// Adds an encoded message.
    pub fn add_plaintext(&mut self, name: impl Into<String>, pt: &Plaintext) {
        self.push(name.into(), pt.poly.host().expect("a plaintext is on the host").iter());
    }
    /// Adds bits or messages of gates and tables.
    pub fn add_lwe(&mut self, name: impl Into<String>, results: &[fhew::Ciphertext]) {
        let mask = |ct: &fhew::Ciphertext| ct.words().expect("a result of a bootstrap is no seed").to_vec();
        let words: Vec<u64> = results.iter().flat_map(|ct| mask(ct).into_iter().chain([ct.body()])).collect();
        self.push(name.into(), std::iter::once(&words[..]));
    }
    /// Adds doubles that results rest on.
    pub fn add_doubles(&mut self, name: impl Into<String>, doubles: impl IntoIterator<Item = f64>) {
        let words: Vec<u64> = doubles.into_iter().map(f64::to_bits).collect();
        self.push(name.into(), std::iter::once(&words[..]));
    }

    fn push<'a>(&mut self, name: String, rows: impl Iterator<Item = &'a [u64]>) {
        let mut hasher = blake3::Hasher::new();
        for row in rows {
            let bytes: Vec<u8> = row.iter().flat_map(|word| word.to_le_bytes()).collect();
            hasher.update(&bytes);
        }
        assert!(self.0.iter().all(|(other, _)| *other != name), "{name} twice");
        self.0.push((name, hasher.finalize().to_hex()[..32].to_string()));
    }

    /// Compares with the section of the file, name by name; `run` says what computed these, in the message of a failure.
    /// Where new hashes are recorded, the first run of a section writes it, and the others are compared with that.
    ///
    /// # Panics
    /// If a hash differs, is missing or is too many.
    pub fn check(&self, section: &str, run: &str) {
        static RECORDED: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());
        if std::env::var("AGLET_GOLDEN").is_ok_and(|v| v == "record") {
            let mut recorded = RECORDED.lock().unwrap();
            if recorded.insert(section.to_string()) {
                self.record(section);
            }
        }
        let all = stored();
        let known = all[section].as_object().unwrap_or_else(|| panic!("there are no golden hashes of {section}"));
        let differs = |(name, hash): &&(String, String)| known.get(name) != Some(&hash[..].into());
        let wrong: Vec<&str> = self.0.iter().filter(differs).map(|entry| &entry.0[..]).collect();
        assert!(wrong.is_empty(), "{section}, {run}: these results changed: {}", wrong.join("; "));
        assert_eq!(known.len(), self.0.len(), "{section}, {run}: some golden hashes are of results that are no more");
    }

    fn record(&self, section: &str) {
        let mut all = stored();
        let own: Map<String, Value> = self.0.iter().map(|(k, v)| (k.clone(), v[..].into())).collect();
        all[section] = Value::Object(own);
        std::fs::write(path(), serde_json::to_string_pretty(&all).unwrap() + "\n").unwrap();
    }
}

fn path() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/vectors/golden.json"))
}

fn stored() -> Value {
    std::fs::read_to_string(path())
        .map_or_else(|_| Value::Object(Map::new()), |text| serde_json::from_str(&text).unwrap())
}
