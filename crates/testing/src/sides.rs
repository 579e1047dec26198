//! Both sides of a bridge from integers, with all keys.

use crate::fixture::shrunk_integers;
use aglet::bridge::{IntegerBridge, IntegerBridgeKey, Reading};
use aglet::fhew::{self, Domain, Form};
use aglet::integer::{BootstrapKey, Ciphertext, Engine, Packing};
use aglet::{Control, Error, SecretKey};

/// A bridge in a ring without security, and its keys.
pub struct Sides {
    /// The bridge.
    pub bridge: IntegerBridge,
    /// The secret key of integers.
    pub main: SecretKey,
    /// That of look-ups.
    pub lookup: fhew::SecretKey,
    /// What leads from one to the other and back; it was a file.
    pub key: IntegerBridgeKey,
    /// For integers.
    pub bootstrap: BootstrapKey,
}

impl Sides {
    /// The primes of a preset of integers in a ring of this degree and slots, and a set of look-ups as it is.
    pub fn new(preset: &str, ring: (u32, u32), set: &str) -> Self {
        let control = Control::new();
        let engine = Engine::new(shrunk_integers(preset, "small", ring), Packing::Slots, 2).unwrap();
        let lookups = fhew::Engine::new(fhew::presets::load(set, false).unwrap(), 2).unwrap();
        let (main, lookup) = (engine.create_secret_key().unwrap(), lookups.create_secret_key().unwrap());
        let bootstrap = engine.create_bootstrap_key(&main, None, &control).unwrap();
        let bridge = IntegerBridge::new(engine, lookups).unwrap();
        let made = bridge.create_key(&main, &lookup, None, &control).unwrap();
        let key: IntegerBridgeKey = bridge.deserialize(&bridge.serialize(&made, &control).unwrap(), &control).unwrap();
        assert_eq!((key.id(), key.lookup_id()), (main.id(), lookup.id()));
        let bytes = bridge.key_bytes().unwrap() as usize;
        assert!(key.leads_up() && key.byte_count() == bytes && made.byte_count() == bytes);
        Self { bridge, main, lookup, key, bootstrap }
    }

    /// Numbers in slots.
    pub fn encrypt(&self, values: &[i64], level: usize) -> Ciphertext {
        self.bridge.numbers().encrypt_with_secret(values, level, &self.main).unwrap()
    }
    /// All slots of a result, whose noise is no more than it states.
    pub fn decrypt(&self, ct: &Ciphertext) -> Vec<i64> {
        let numbers = self.bridge.numbers();
        let exact = numbers.noise_budget(ct, &self.main).unwrap();
        assert!(exact >= numbers.budget(ct), "{exact:.1} bits are left");
        numbers.decrypt(ct, &self.main).unwrap()
    }
    /// Messages for tables.
    pub fn encrypt_messages(&self, messages: &[u64], domain: Domain) -> Vec<fhew::Ciphertext> {
        let message = self.bridge.lookups().params().message().within(domain);
        self.bridge.lookups().encrypt(messages, message, &self.lookup).unwrap()
    }

    /// Slots for look-ups.
    ///
    /// # Errors
    /// Those of [`IntegerBridge::to_lookup`].
    pub fn down(&self, ct: &Ciphertext, slots: &[usize], reading: Reading) -> Result<Vec<fhew::Ciphertext>, Error> {
        self.bridge.to_lookup(ct, slots, reading, (&self.key, &self.bootstrap), &Control::new())
    }
    /// What look-ups gave as slots.
    ///
    /// # Errors
    /// Those of [`IntegerBridge::from_lookup`].
    pub fn up(&self, form: Form, cells: &[fhew::Ciphertext], bits: Option<u32>) -> Result<Ciphertext, Error> {
        self.bridge.from_lookup((form, cells), bits, (&self.key, &self.bootstrap), &Control::new())
    }
}
