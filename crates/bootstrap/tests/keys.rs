//! Keys of FHEW for these tests, drawn from a seed.

use aglet_bootstrap::FhewBootstrapKey;
use aglet_ring::arch::Kernels;
use aglet_ring::sample::ChaChaSource;
use aglet_rlwe::lwe::{LweCiphertext, LweContext, LweParams, LweSecretKey, LweSpec};
use aglet_rlwe::security::Security;
use aglet_schemes::fhew::FhewParams;

/// Parameters, the secret and the key of bootstraps, and what is drawn after them.
pub struct Keys {
    pub ctx: LweContext,
    pub sk: LweSecretKey,
    pub key: FhewBootstrapKey,
    pub source: ChaChaSource,
}

/// Those of a set.
pub fn keys(spec: LweSpec, seed: u8, kernels: &'static Kernels) -> Keys {
    let ctx = LweContext::new(LweParams::new(spec, Security::NotChecked).unwrap(), kernels).unwrap();
    let mut source = ChaChaSource::from_seed([seed; 32]);
    let sk = LweSecretKey::generate(&ctx, &mut source);
    let key = FhewBootstrapKey::generate(&ctx, &sk, &mut source, &mut |_, _| true).unwrap();
    Keys { ctx, sk, key, source }
}

/// The numbers of a preset.
pub fn preset(text: &str) -> LweSpec {
    FhewParams::from_toml(text, Security::NotChecked).unwrap().lwe().spec().clone()
}

impl Keys {
    pub fn encrypt_phases(&mut self, phases: impl IntoIterator<Item = u64>) -> Vec<LweCiphertext> {
        phases.into_iter().map(|phase| self.sk.encrypt(&self.ctx, phase, &mut self.source).unwrap()).collect()
    }
}
