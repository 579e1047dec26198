//! What is fuzzed: parameters as text, headers, and everything that files hold, in a ring so small that thousands are read in a
//! second.

use aglet::ckks::presets;
use aglet::ckks::{
    BootstrapKey, Ciphertext, CkksParams, Engine, FixedRotationKey, GaloisKey, MatrixKey, Plaintext,
    RelinearizationKey, RotationKey,
};
use aglet::scheme_switch::{IntegerSchemeSwitchKey, SchemeSwitchKey};
use aglet::wire::{self, CkksOrigin, IntegerOrigin, IntegerSchemeSwitchOrigin, Origin, SchemeSwitchOrigin, Stored};
use aglet::{fhew, integer, Control, PublicKey, SecretKey};
use aglet_rlwe::security::Security;
use std::ops::Range;
use std::rc::Rc;

/// Bytes of the header, and those that its own checksum covers.
const HEADER: (usize, usize) = (256, 224);
/// Where the header has the length of the parameters' text, and its checksum.
const TEXT: (usize, usize) = (12, 120);
/// Where it has the slots.
const SLOTS: Range<usize> = 32..40;

/// Bytes, and the lengths of the sections in the file that they come from, without checksums.
#[derive(Clone)]
pub struct Input {
    pub bytes: Vec<u8>,
    sections: Rc<[usize]>,
}

impl Input {
    fn new(bytes: &[u8]) -> Self {
        Self { bytes: bytes.to_vec(), sections: Rc::new([]) }
    }

    /// A file, of which the sections are found by their checksums.
    fn file(bytes: Vec<u8>) -> Self {
        let (mut at, mut sections) = (HEADER.0 + text_length(&bytes), Vec::new());
        let seal: [u8; 32] = bytes[HEADER.1..HEADER.0].try_into().expect("a header has a checksum");
        while at < bytes.len() {
            let fits = |length: &usize| {
                let end = at + length;
                check(&seal, sections.len(), &bytes[at..end]) == bytes[end..end + 32]
            };
            let length = (0..bytes.len() - at - 31).find(fits).expect("a file is sections with their checksums");
            sections.push(length);
            at += length + 32;
        }
        for stretch in [false, true] {
            let mut input = Self { bytes: bytes.clone(), sections: sections.clone().into() };
            input.seal(stretch);
            assert!(input.bytes == bytes, "the checksums of files are others than this fuzzer knows");
        }
        Self { bytes, sections: sections.into() }
    }

    /// Puts checksums that fit where those of a file stand: what a forger does. With `stretch`, the text of the parameters is
    /// all that stands between the header and so many bytes at the end as a file's sections take.
    pub fn seal(&mut self, stretch: bool) {
        if self.bytes.len() < HEADER.0 || self.sections.is_empty() {
            return;
        }
        let behind: usize = self.sections.iter().map(|length| length + 32).sum();
        if let (true, Some(length)) = (stretch, self.bytes.len().checked_sub(HEADER.0 + behind)) {
            self.bytes[TEXT.0..TEXT.0 + 4].copy_from_slice(&(length as u32).to_le_bytes());
        }
        let mut at = HEADER.0.saturating_add(text_length(&self.bytes)).min(self.bytes.len());
        let text = *blake3::hash(&self.bytes[HEADER.0..at]).as_bytes();
        self.bytes[TEXT.1..TEXT.1 + 32].copy_from_slice(&text);
        let seal = *blake3::hash(&self.bytes[..HEADER.1]).as_bytes();
        self.bytes[HEADER.1..HEADER.0].copy_from_slice(&seal);
        for (i, length) in self.sections.iter().enumerate() {
            let end = at + length;
            if end + 32 > self.bytes.len() {
                return;
            }
            let sum = check(&seal, i, &self.bytes[at..end]);
            self.bytes[end..end + 32].copy_from_slice(&sum);
            at = end + 32;
        }
    }
}

/// What a header says of the length of the text behind it.
fn text_length(bytes: &[u8]) -> usize {
    let length = bytes[TEXT.0..TEXT.0 + 4].try_into().expect("a header has a length");
    u32::from_le_bytes(length) as usize
}

fn check(seal: &[u8; 32], section: usize, bytes: &[u8]) -> [u8; 32] {
    *blake3::Hasher::new_keyed(seal).update(&(section as u64).to_le_bytes()).update(bytes).finalize().as_bytes()
}

/// A reader with inputs to begin with.
pub struct Target {
    pub name: &'static str,
    pub seeds: Vec<Input>,
    /// Words of its language.
    pub words: &'static [&'static str],
    pub run: Box<dyn Fn(&[u8])>,
}

/// All of them.
pub fn all() -> Vec<Target> {
    vec![parameters(), header(), things(), fhew(), integers(), switches()]
}

/// Readers with a fault that only one word of 64 bits meets, behind all checksums: in the header, where files have zeros, and in
/// a section, where they have what nobody knows before. A fuzzer that does not find them is blind.
pub fn planted() -> [Target; 2] {
    let small = small();
    let seed = file(&small, &small.create_secret_key().expect("a key"));
    let behind = HEADER.0 + text_length(&seed.bytes);
    [("planted in the header", 200), ("planted in a section", behind + 3)].map(|(name, at)| {
        let sections = seed.sections.clone();
        let run = move |bytes: &[u8]| {
            let mut sealed = Input { bytes: bytes.to_vec(), sections: sections.clone() };
            sealed.seal(false);
            if bytes.len() >= at + 8 && sealed.bytes == bytes {
                let word = u64::from_le_bytes(bytes[at..at + 8].try_into().expect("eight bytes"));
                assert!(word != 0x5eed_c0de_1234_9876, "this one is planted");
            }
        };
        Target { name, seeds: vec![seed.clone()], words: &[], run: Box::new(run) }
    })
}

/// Words of parameters.
#[rustfmt::skip]
const WORDS: &[&str] = &[
    "family", "name", "source", "log_n", "secret", "ternary", "fixed_weight", "ephemeral_weight", "sparse_switch_bits",
    "moduli", "message_ratio_log2", "regular_level", "max_log_qp", "digits", "claims", "role", "bits", "count", "base",
    "message", "slots_to_coeffs", "eval_mod", "coeffs_to_slots", "spare", "special", " = ", "[", "]", "{ ", " }", ", ",
    "\"", "-", "inf", "nan", "1e308", "0", "1", "6", "17", "50", "61", "1000", "\n",
];

fn parameters() -> Target {
    let text = |name: &str| presets::ALL.iter().find(|(n, _)| *n == name).map_or("", |(_, text)| text);
    let seeds = ["toy", "toy14", "levels-13", "seal-3"].map(|name| Input::new(text(name).as_bytes()));
    let run = |bytes: &[u8]| {
        let Ok(text) = std::str::from_utf8(bytes) else { return };
        for security in [Security::NotChecked, Security::Bits128] {
            if let Ok(params) = presets::from_text(text, security) {
                // What is accepted can be used.
                let _ = (params.max_level(), params.log_q(), params.fingerprint(), params.scale_at(0));
            }
        }
    };
    Target { name: "parameters", seeds: seeds.into(), words: WORDS, run: Box::new(run) }
}

/// The smallest ring, and next to no primes: what its files hold is read fast.
const SMALL: &str = r#"
    family = "ckks"
    name = "fuzzed"
    source = "a ring that is as small as can be"
    log_n = 6
    moduli = [
        { role = "base", bits = 50, count = 1 },
        { role = "message", bits = 40, count = 2 },
        { role = "special", bits = 50, count = 1 },
    ]
"#;

/// Files that stand in the repository, of the version that is written now, with bootstrap keys.
fn kept() -> Vec<Vec<u8>> {
    files_of("wire-1")
}

fn files_of(folder: &str) -> Vec<Vec<u8>> {
    let folder = format!("{}/../tests/vectors/{folder}", env!("CARGO_MANIFEST_DIR"));
    let paths =
        std::fs::read_dir(folder).expect("the files are there").map(|entry| entry.expect("it can be listed").path());
    let mut paths: Vec<_> = paths.collect();
    paths.sort();
    paths.iter().map(|path| std::fs::read(path).expect("a file can be read")).collect()
}

fn engine(params: CkksParams, slots: Option<usize>) -> Engine {
    Engine::new(params, slots, 1).expect("an engine of one thread can be had")
}

fn small() -> Engine {
    engine(CkksParams::from_toml(SMALL, Security::NotChecked).expect("the ring exists"), None)
}

/// Files of FHEW that stand in the repository, each read as everything.
fn fhew() -> Target {
    let kept = files_of("fhew-wire-1");
    let said = wire::FORMAT.summary(&kept[0]).expect("a file of this version is read");
    let context = fhew::FhewContext::find(&said, true).expect("it says its parameters");
    let engine = fhew::Engine::new(context.params().clone(), 1).expect("an engine of one thread can be had");
    let run = move |bytes: &[u8]| {
        if let Ok(said) = wire::FORMAT.summary(bytes) {
            let _ = fhew::FhewContext::find(&said, true).map(|context| context.params().log2_failure());
        }
        let context = engine.context();
        read::<_, fhew::SecretKey>(&context, bytes);
        read::<_, fhew::BootstrapKey>(&context, bytes);
        read::<_, fhew::PackingKey>(&context, bytes);
        read::<_, fhew::PublicKey>(&context, bytes);
        read::<_, fhew::Array>(&context, bytes);
    };
    let seeds = kept.into_iter().map(Input::file).collect();
    Target { name: "fhew", seeds, words: FHEW_WORDS, run: Box::new(run) }
}

/// Files of integers that stand in the repository, each read as everything.
fn integers() -> Target {
    let kept = ["integer-wire-1", "integer-bootstrap-wire-1"].map(files_of);
    let engines = kept.each_ref().map(|files| {
        let said = wire::FORMAT.summary(&files[0]).expect("a file of this version is read");
        let origin = IntegerOrigin::find(&said, true).expect("it says its parameters");
        integer::Engine::new(origin.params.clone(), origin.packing(), 1).expect("an engine of one thread")
    });
    let run = move |bytes: &[u8]| {
        if let Ok(said) = wire::FORMAT.summary(bytes) {
            let _ = IntegerOrigin::find(&said, true).map(|origin| (origin.params.max_level(), origin.packing()));
        }
        for origin in engines.iter().map(integer::Engine::origin) {
            read::<_, SecretKey>(&origin, bytes);
            read::<_, PublicKey>(&origin, bytes);
            read::<_, integer::RelinearizationKey>(&origin, bytes);
            read::<_, integer::RotationKey>(&origin, bytes);
            read::<_, integer::BootstrapKey>(&origin, bytes);
            read::<_, integer::Plaintext>(&origin, bytes);
            read::<_, integer::Ciphertext>(&origin, bytes);
        }
    };
    let seeds = kept.into_iter().flatten().map(Input::file).collect();
    Target { name: "integers", seeds, words: INTEGER_WORDS, run: Box::new(run) }
}

/// The keys of switches that stand in the repository, from slots and from integers, each read as both.
fn switches() -> Target {
    let kept = ["bridge-wire-1", "integer-bridge-wire-1"].map(files_of);
    let said = |files: &[Vec<u8>], family: &str| {
        let all = files.iter().map(|bytes| wire::FORMAT.summary(bytes).expect("a file of this version is read"));
        all.into_iter().find(|said| said.family == family).expect("the key is there")
    };
    let slots =
        SchemeSwitchOrigin::find(&said(&kept[0], SchemeSwitchOrigin::FAMILY), true).expect("it says its parameters");
    let numbers = said(&kept[1], IntegerSchemeSwitchOrigin::FAMILY);
    let numbers = IntegerSchemeSwitchOrigin::find(&numbers, true).expect("it says its parameters");
    let run = move |bytes: &[u8]| {
        if let Ok(said) = wire::FORMAT.summary(bytes) {
            let _ = SchemeSwitchOrigin::find(&said, true).map(|origin| origin.params.max_level());
            let _ = IntegerSchemeSwitchOrigin::find(&said, true).map(|origin| origin.params.max_level());
        }
        read::<_, SchemeSwitchKey>(&slots, bytes);
        read::<_, IntegerSchemeSwitchKey>(&numbers, bytes);
    };
    let seeds = kept.into_iter().flatten().map(Input::file).collect();
    Target { name: "switches", seeds, words: SCHEME_SWITCH_WORDS, run: Box::new(run) }
}

/// Reads bytes as a type; what is read comes back as it was, but for another text of the same parameters, and for the slots of what
/// fits any number of them.
fn read<O: Origin, T: Stored<O> + Sync>(origin: &O, bytes: &[u8]) {
    if let Ok(x) = wire::FORMAT.deserialize::<O, T>(origin, bytes, &Control::new()) {
        let again = wire::FORMAT.serialize(origin, &x, &Control::new()).expect("what was read can be written");
        let free = |bytes: &[u8]| [SLOTS, HEADER.0..HEADER.0 + text_length(bytes)].map(|part| bytes[part].to_vec());
        let changed = free(&again)[usize::from(T::SLOTS)..] != free(bytes)[usize::from(T::SLOTS)..];
        assert!(again[..] == *bytes || changed, "a {} came back as another", T::KIND.name);
    }
}

/// Words of parameters of integers.
#[rustfmt::skip]
const INTEGER_WORDS: &[&str] = &[
    "family", "integer", "name", "source", "log_n", "secret", "plaintext_modulus", "base_bits", "levels", "special", "bits", "count",
    "ternary", "[bootstrap]", "sparse_weight", "slots_to_coeffs_bits", "last_bits", "digits", "coeffs_to_slots_bits", "raised",
    "max_log_qp", " = ", "{ ", " }", "[", "]", "\"", "-", "inf", "0", "1", "7", "30", "50", "257", "65537", "2147483649", "\n",
];

/// Words of parameters of FHEW.
#[rustfmt::skip]
const FHEW_WORDS: &[&str] = &[
    "family", "name", "source", "method", "messages", "squared_weights", "modulus", "log_n", "rank", "dimension", "secret",
    "binary", "block_binary", "ternary", "levels", "log_base", "switch_digits", "lwe_error", "glwe_error", "blocks", "ginx", "dm",
    "lmkcdey", " = ", "{ ", " }", "\"", "-", "inf", "nan", "1e308", "0", "1", "4", "7", "196", "1_099_469_684_737", "\n",
];

/// Words of a pair of parameters: of slots or integers, then of FHEW.
#[rustfmt::skip]
const SCHEME_SWITCH_WORDS: &[&str] = &[
    "\n# The parameters of look-ups.\n", "family", "ckks", "integer", "name", "source", "log_n", "log_slots", "secret", "ternary",
    "block_binary", "ephemeral_weight", "message_ratio_log2", "moduli", "role", "bits", "count", "base_bits", "levels", "special",
    "[bootstrap]", "plaintext_modulus", "method", "messages", "modulus", "rank", "dimension", "log_base", "glwe_error", "blocks",
    " = ", "{ ", " }", "[", "]", "\"", "-", "inf", "nan", "0", "1", "7", "47", "65537", "1_099_469_684_737", "\n",
];

fn file<T: Stored<CkksOrigin> + Sync>(engine: &Engine, x: &T) -> Input {
    Input::file(engine.serialize(x, &Control::new()).expect("what an engine made it can write").to_vec())
}

/// One of everything but a bootstrap key.
fn files(engine: &Engine) -> Vec<Input> {
    let now = Control::new();
    let sk = engine.create_secret_key().expect("a key");
    let pt = engine.encode(&vec![0.5; engine.slots()], 1).expect("a plaintext");
    let ct = engine.encrypt_with_secret(&pt, &sk).expect("a ciphertext");
    vec![
        file(engine, &engine.create_public_key(&sk).expect("a key")),
        file(engine, &engine.create_relinearization_key(&sk).expect("a key")),
        file(engine, &engine.create_conjugation_key(&sk).expect("a key")),
        file(engine, &engine.create_rotation_key(&sk, &now).expect("a key")),
        file(engine, &engine.create_fixed_rotation_key(&sk, 3, Some(1)).expect("a key")),
        file(engine, &engine.create_matrix_key(&sk, Some(1), Some(2), &now).expect("a key")),
        file(engine, &engine.multiply(&ct, &ct, None).expect("a product")),
        file(engine, &pt),
        file(engine, &ct),
        file(engine, &sk),
    ]
}

fn header() -> Target {
    let run = |bytes: &[u8]| {
        if let Ok(said) = wire::FORMAT.summary(bytes) {
            for allow_insecure in [false, true] {
                if let Ok(origin) = CkksOrigin::find(&said, allow_insecure) {
                    let _ = (origin.params.max_level(), origin.params.scale_at(0), origin.slots);
                }
            }
        }
    };
    let small = small();
    let seed = file(&small, &small.encode(&vec![0.5; small.slots()], 0).expect("a plaintext"));
    let toy = engine(presets::load("toy", presets::Security::NotChecked).expect("the preset exists"), None);
    let preset = file(&toy, &toy.create_secret_key().expect("a key"));
    Target { name: "header", seeds: vec![preset, seed], words: WORDS, run: Box::new(run) }
}

fn things() -> Target {
    let kept = kept();
    let said = wire::FORMAT.summary(&kept[0]).expect("a file of this version is read");
    let origin = CkksOrigin::find(&said, true).expect("it says its parameters");
    let engines = [small(), engine(origin.params, Some(origin.slots))];
    let mut seeds: Vec<Input> = kept.into_iter().map(Input::file).collect();
    seeds.extend(files(&engines[0]));
    let run = move |bytes: &[u8]| {
        for engine in &engines {
            read_all(engine, bytes);
        }
    };
    Target { name: "things", seeds, words: &[], run: Box::new(run) }
}

/// Reads bytes as everything.
fn read_all(engine: &Engine, bytes: &[u8]) {
    let origin = engine.origin();
    read::<_, SecretKey>(&origin, bytes);
    read::<_, PublicKey>(&origin, bytes);
    read::<_, RelinearizationKey>(&origin, bytes);
    read::<_, GaloisKey>(&origin, bytes);
    read::<_, RotationKey>(&origin, bytes);
    read::<_, FixedRotationKey>(&origin, bytes);
    read::<_, BootstrapKey>(&origin, bytes);
    read::<_, Plaintext>(&origin, bytes);
    read::<_, Ciphertext>(&origin, bytes);
    read::<_, MatrixKey>(&origin, bytes);
}
