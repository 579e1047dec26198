//! Both sides of a switch from integers, with all keys.

use crate::fixture::shrunk_integers;
use aglet::fhew::{self, Domain, Form};
use aglet::integer::{BootstrapKey, Ciphertext, Engine, Packing};
use aglet::scheme_switch::{IntegerSchemeSwitch, IntegerSchemeSwitchKey, Reading};
use aglet::{Control, Error, SecretKey};

/// A switch in a ring without security, and its keys.
pub struct Sides {
    /// The switch.
    pub switch: IntegerSchemeSwitch,
    /// The secret key of integers.
    pub main: SecretKey,
    /// That of FHEW.
    pub fhew_secret: fhew::SecretKey,
    /// What leads from one to the other and back; it was a file.
    pub key: IntegerSchemeSwitchKey,
    /// For integers.
    pub bootstrap: BootstrapKey,
}

impl Sides {
    /// The primes of a preset of integers in a ring of this degree and slots, and a set of FHEW as it is.
    pub fn new(preset: &str, ring: (u32, u32), set: &str) -> Self {
        let control = Control::new();
        let engine = Engine::new(shrunk_integers(preset, "small", ring), Packing::Slots, 2).unwrap();
        let fhew = fhew::Engine::new(fhew::presets::load(set, fhew::presets::Security::Bits128).unwrap(), 2).unwrap();
        let (main, fhew_secret) = (engine.create_secret_key().unwrap(), fhew.create_secret_key().unwrap());
        let bootstrap = engine.create_bootstrap_key(&main, None, &control).unwrap();
        let switch = IntegerSchemeSwitch::new(engine, fhew).unwrap();
        let made = switch.create_key(&main, &fhew_secret, None, &control).unwrap();
        let key: IntegerSchemeSwitchKey =
            switch.deserialize(&switch.serialize(&made, &control).unwrap(), &control).unwrap();
        assert_eq!((key.id(), key.fhew_key_id()), (main.id(), fhew_secret.id()));
        let bytes = switch.key_bytes().unwrap() as usize;
        assert!(key.both_ways() && key.byte_count() == bytes && made.byte_count() == bytes);
        Self { switch, main, fhew_secret, key, bootstrap }
    }

    /// Numbers in slots.
    pub fn encrypt(&self, values: &[i64], level: usize) -> Ciphertext {
        self.switch.slots().encrypt_with_secret(values, level, &self.main).unwrap()
    }
    /// All slots of a result, whose noise is no more than it states.
    pub fn decrypt(&self, ct: &Ciphertext) -> Vec<i64> {
        let numbers = self.switch.slots();
        let exact = numbers.noise_budget(ct, &self.main).unwrap();
        assert!(exact >= numbers.budget(ct), "{exact:.1} bits are left");
        numbers.decrypt(ct, &self.main).unwrap()
    }
    /// Messages for tables.
    pub fn encrypt_messages(&self, messages: &[u64], domain: Domain) -> Vec<fhew::Ciphertext> {
        let message = self.switch.fhew().params().message().within(domain);
        self.switch.fhew().encrypt(messages, message, &self.fhew_secret).unwrap()
    }

    /// Slots for lookups.
    ///
    /// # Errors
    /// Those of [`IntegerSchemeSwitch::to_fhew`].
    pub fn to_fhew(&self, ct: &Ciphertext, slots: &[usize], reading: Reading) -> Result<Vec<fhew::Ciphertext>, Error> {
        self.switch.to_fhew(ct, slots, reading, (&self.key, &self.bootstrap), &Control::new())
    }
    /// What lookups gave as slots.
    ///
    /// # Errors
    /// Those of [`IntegerSchemeSwitch::from_fhew`].
    pub fn from_fhew(&self, form: Form, cells: &[fhew::Ciphertext], bits: Option<u32>) -> Result<Ciphertext, Error> {
        self.switch.from_fhew((form, cells), bits, (&self.key, &self.bootstrap), &Control::new())
    }
}
