//! An engine with the keys that every bootstrap needs.

use aglet::ckks::CkksParams;
use aglet::ckks::{
    BootstrapKey, BootstrapKeys, Ciphertext, Engine, GaloisKey, KeySize, Method, Number, RelinearisationKey, Request,
    RotationKey,
};
use aglet::{presets, Control, SecretKey};
use aglet_rlwe::security::Security;

/// A preset in a ring of degree `2^log_n`, without any security.
pub fn shrunk(preset: &str, log_n: u32) -> CkksParams {
    let mut literal = presets::load(preset, true).expect("the preset exists").literal().clone();
    literal.log_n = log_n;
    CkksParams::new(literal, Security::NotChecked).expect("the primes of the preset fit a smaller ring")
}

/// An engine and its keys.
pub struct Fixture {
    /// The engine.
    pub engine: Engine,
    /// The secret key of all others.
    pub sk: SecretKey,
    /// For products.
    pub relin: RelinearisationKey,
    /// For conjugation.
    pub conj: GaloisKey,
    /// For rotations, and small bootstrap keys.
    pub rotation: RotationKey,
}

impl Fixture {
    /// The keys of an engine.
    pub fn of(engine: Engine) -> Self {
        let sk = engine.create_secret_key().unwrap();
        let relin = engine.create_relinearisation_key(&sk).unwrap();
        let conj = engine.create_conjugation_key(&sk).unwrap();
        let rotation = engine.create_rotation_key(&sk, &Control::new()).unwrap();
        Self { engine, sk, relin, conj, rotation }
    }

    /// A bootstrap on the slots of the engine.
    pub fn request(&self, method: Method, stage_count: usize, size: KeySize) -> Request {
        Request::new(method, stage_count, size, self.engine.slots())
    }

    /// The bootstrap key of a request.
    pub fn key(&self, request: Request) -> BootstrapKey {
        self.engine.create_bootstrap_key(&self.sk, request, None, &Control::new()).unwrap()
    }

    /// All keys of a bootstrap with this one.
    pub fn keys<'a>(&'a self, bootstrap: &'a BootstrapKey) -> BootstrapKeys<'a> {
        let rotation = (bootstrap.size() == KeySize::Small).then_some(&self.rotation);
        BootstrapKeys { relinearisation: &self.relin, conjugation: &self.conj, bootstrap, rotation }
    }

    /// Encrypts with the secret key, real or complex by the type of the message.
    pub fn encrypt<T: Number>(&self, message: &[T], level: usize) -> Ciphertext {
        self.engine.encrypt_with_secret(&self.engine.encode(message, level).unwrap(), &self.sk).unwrap()
    }

    /// Bootstraps as requested.
    pub fn bootstrap(&self, cts: &[&Ciphertext], key: &BootstrapKey, request: Request) -> Vec<Ciphertext> {
        self.engine.bootstrap(cts, self.keys(key), request, &Control::new()).unwrap()
    }
}
