//! An engine with the keys that every bootstrap needs.

use crate::statistics::{self, Precision};
use aglet::ckks::presets;
use aglet::ckks::{
    BootstrapKey, BootstrapKeys, BootstrapKind, Ciphertext, CkksLiteral, CkksParams, Engine, GaloisKey, KeySize,
    Method, Number, RelinearizationKey, Request, RotationKey,
};
use aglet::integer::{self, IntegerLiteral, IntegerParams};
use aglet::{Control, Error, SecretKey};
use aglet_rlwe::security::Security;
use num_complex::Complex64;
use std::sync::OnceLock;

/// A preset in a ring of degree `2^log_n`, without any security.
pub fn shrunk(preset: &str, log_n: u32) -> CkksParams {
    let params = presets::load(preset, presets::Security::NotChecked).expect("the preset exists");
    // Windows of sparse secrets are shares of the ring.
    let smaller = |line: &str| match line.split_once(" = ") {
        Some(("log_n", _)) => format!("log_n = {log_n}\n"),
        Some(("window", half)) => {
            let half: usize = half.parse().expect("a number");
            format!("window = {}\n", half >> params.log_n().saturating_sub(log_n))
        }
        _ => format!("{line}\n"),
    };
    let text: String = params.literal().to_toml().expect("a text").lines().map(smaller).collect();
    let smaller = presets::from_text(&text, Security::NotChecked).expect("the primes of the preset fit a smaller ring");
    // Texts have no claims, and models read them.
    let literal = CkksLiteral { claims: params.literal().claims.clone(), ..smaller.literal().clone() };
    CkksParams::new(literal, Security::NotChecked).expect("as before")
}

/// The primes of a preset of integers in a ring of degree `2^log_n` with `2^log_slots` slots, without any security.
pub fn shrunk_integers(preset: &str, name: &str, (log_n, log_slots): (u32, u32)) -> IntegerParams {
    let literal = integer::presets::load(preset, integer::presets::Security::NotChecked)
        .expect("the preset exists")
        .literal()
        .clone();
    let literal = IntegerLiteral { name: name.into(), log_n, log_slots: Some(log_slots), claims: None, ..literal };
    IntegerParams::new(literal, Security::NotChecked).expect("the primes of the preset fit a smaller ring")
}

/// An engine and its keys.
pub struct Fixture {
    /// The engine.
    pub engine: Engine,
    /// The secret key of all others.
    pub sk: SecretKey,
    /// For products.
    pub relin: RelinearizationKey,
    /// For conjugation.
    pub conj: GaloisKey,
    rotation: OnceLock<RotationKey>,
}

impl Fixture {
    /// An engine on a preset, insecure or not, with its keys.
    pub fn new(preset: &str, slots: Option<usize>, threads: usize) -> Self {
        Self::of(Engine::new(presets::load(preset, presets::Security::NotChecked).unwrap(), slots, threads).unwrap())
    }

    /// The keys of an engine.
    pub fn of(engine: Engine) -> Self {
        let sk = engine.create_secret_key().unwrap();
        let relin = engine.create_relinearization_key(&sk).unwrap();
        let conj = engine.create_conjugation_key(&sk).unwrap();
        Self { engine, sk, relin, conj, rotation: OnceLock::new() }
    }

    /// For rotations, and small bootstrap keys; made when it is first asked for.
    pub fn rotation(&self) -> &RotationKey {
        self.rotation.get_or_init(|| self.engine.create_rotation_key(&self.sk, &Control::new()).unwrap())
    }

    /// A bootstrap on the slots of the engine.
    pub fn request(&self, method: Method, stage_count: usize, size: KeySize) -> Request {
        Request::new(method, stage_count, size, self.engine.slots())
    }

    /// The same with the default number of stages.
    pub fn default_request(&self, method: Method, size: KeySize) -> Request {
        let rules = BootstrapKind::of(self.engine.params()).rules();
        self.request(method, rules.default_stages(method, self.engine.slots()), size)
    }

    /// The bootstrap key of a request.
    pub fn key(&self, request: Request) -> BootstrapKey {
        self.engine.create_bootstrap_key(&self.sk, request, None, &Control::new()).unwrap()
    }

    /// All keys of a bootstrap with this one.
    pub fn keys<'a>(&'a self, bootstrap: &'a BootstrapKey) -> BootstrapKeys<'a> {
        let rotation = (bootstrap.size() == KeySize::Small).then(|| self.rotation());
        BootstrapKeys { relinearization: &self.relin, conjugation: &self.conj, bootstrap, rotation }
    }

    /// Encrypts with the secret key, real or complex by the type of the message.
    pub fn encrypt<T: Number>(&self, message: &[T], level: usize) -> Ciphertext {
        self.engine.encrypt_with_secret(&self.engine.encode(message, level).unwrap(), &self.sk).unwrap()
    }

    /// Bootstraps as requested.
    ///
    /// # Errors
    /// Those of [`Engine::bootstrap`].
    pub fn bootstrap(
        &self,
        cts: &[&Ciphertext],
        key: &BootstrapKey,
        request: Request,
    ) -> Result<Vec<Ciphertext>, Error> {
        self.engine.bootstrap(cts, self.keys(key), request, &Control::new())
    }

    /// How exactly a ciphertext holds a message.
    pub fn precision<T: Copy + Into<Complex64>>(&self, ct: &Ciphertext, expected: &[T]) -> Precision {
        precision(&self.engine, &self.sk, ct, expected)
    }
}

/// How exactly a ciphertext holds a message.
pub fn precision<T: Copy + Into<Complex64>>(
    engine: &Engine,
    sk: &SecretKey,
    ct: &Ciphertext,
    expected: &[T],
) -> Precision {
    let found = engine.decrypt(ct, sk).unwrap();
    assert_eq!(found.len(), expected.len(), "one value for each slot");
    let errors: Vec<f64> = found.iter().zip(expected).map(|(a, &b)| (a - b.into()).norm()).collect();
    statistics::precision(&errors)
}
