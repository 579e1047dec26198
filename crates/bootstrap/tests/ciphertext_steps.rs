//! The steps of a slots-first bootstrap on ciphertexts, on the toy ring, on every backend of this CPU.

use aglet_bootstrap::ckks::ship::steps::pack::{Pack, PackShape, Packing};
use aglet_bootstrap::ckks::slots_first::steps::encapsulate::Encapsulation;
use aglet_bootstrap::ckks::slots_first::steps::mod_raise::ModRaise;
use aglet_bootstrap::ckks::slots_first::steps::raise_map::{RaiseMap, RaiseTransform};
use aglet_ring::arch;
use aglet_ring::automorphism::rotation_exponent;
use aglet_ring::sample::ChaChaSource;
use aglet_rlwe::security::Security;
use aglet_rlwe::{Context, KeyRole, KeySet, KeySwitchSpec, SecretKey, SwitchingKey};
use aglet_schemes::ckks::{transform_shape, CkksCiphertext, CkksEvaluator, CkksParams, Encoder};
use aglet_schemes::{Approximate, Error, Evaluator, LinearMap};
use num_complex::Complex64;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;

const SCALE: f64 = 1_099_511_627_776.0;

/// The toy ring with keys to an ephemeral sparse secret and back.
struct World {
    ctx: Arc<Context>,
    sk: SecretKey,
    sparse: SecretKey,
    keys: KeySet,
    encoder: Encoder,
    random: ChaChaSource,
}

impl World {
    fn new(kernels: &'static arch::Kernels) -> Self {
        let params =
            CkksParams::from_toml(include_str!("../../aglet/presets/ckks/toy.toml"), Security::NotChecked).unwrap();
        let ctx = Context::with_kernels(params.rlwe().clone(), kernels).unwrap();
        let mut random = ChaChaSource::from_seed([9; 32]);
        let sk = SecretKey::generate(&ctx, &mut random).unwrap();
        let sparse = SecretKey::generate_sparse(&ctx, &mut random).unwrap();
        let mut between = |spec, from, to| SwitchingKey::between(&ctx, spec, from, to, &mut random).unwrap().into();
        let to = between(KeySwitchSpec::dense_to_sparse(), &sk, &sparse);
        let from = between(KeySwitchSpec::sparse_to_dense(26), &sparse, &sk);
        let keys = KeySet::new().with(KeyRole::DenseToSparse, to).with(KeyRole::SparseToDense, from);
        let encoder = Encoder::new(&ctx, ctx.ring().n() / 2).unwrap();
        Self { ctx, sk, sparse, keys, encoder, random }
    }
    fn encrypt(&mut self, z: &[Complex64], level: usize) -> CkksCiphertext {
        let pt = self.encoder.encode(&self.ctx, z, level, SCALE).unwrap();
        pt.encrypted(self.sk.encrypt(&self.ctx, &pt.poly, &mut self.random).unwrap(), 10.24).into()
    }
    fn decrypt(&self, ct: &CkksCiphertext) -> Vec<Complex64> {
        self.encoder.decode(&self.ctx, &ct.decrypted(self.sk.decrypt(&self.ctx, ct).unwrap())).unwrap()
    }
}

fn points(n: usize, seed: f64) -> Vec<Complex64> {
    (0..n).map(|j| Complex64::from_polar(((j as f64 + 0.5) / n as f64).sqrt(), seed * j as f64)).collect()
}

#[test]
fn keys_that_carry_a_map_raise_and_transform_at_once() {
    for kernels in arch::available() {
        let mut w = World::new(kernels);
        let (n, scale_ratio) = (w.encoder.slots(), 2.5);
        let diagonals = [(0usize, 512usize), (1, 2), (5, 64), (256, 512), (511, 1)];
        let diagonals = diagonals.into_iter().map(|(k, period)| (k, points(period, 0.7 + k as f64))).collect();
        let step = RaiseMap { map: LinearMap::new(n, diagonals, 2, 1).unwrap(), scale_ratio };
        let back = KeySwitchSpec::sparse_to_dense(26);
        let galois = |by: usize| rotation_exponent(by as isize, 2 * n);
        let carried = |by| {
            step.key(&w.ctx, &back, galois(by), (&w.sparse, &w.sk), &mut ChaChaSource::from_seed([7; 32])).unwrap()
        };
        assert!(carried(7).is_none());
        for &by in step.map.diagonals().keys() {
            w.keys.insert(KeyRole::SparseToDenseGalois(galois(by)), carried(by).unwrap().into());
        }
        for by in transform_shape(w.ctx.params(), &step.map, 25, None).unwrap().rotations() {
            let spec = KeySwitchSpec::balanced(w.ctx.params(), 26).unwrap();
            let key = SwitchingKey::galois(&w.ctx, spec, galois(by), &w.sk, &mut w.random).unwrap();
            w.keys.insert(KeyRole::Galois(galois(by)), key.into());
        }
        let ct = w.encrypt(&points(n, 3.3), 0);
        let e = CkksEvaluator::new(&w.ctx, &w.keys, n);
        let low = e.encapsulate(&ct).unwrap();
        let raised = e.mod_raise(&low, 25).unwrap();
        let apart = e.transform(&raised, &e.encode_transform(&step.map, 25, scale_ratio).unwrap()).unwrap();
        let raise = |ct: &CkksCiphertext, level, map: &LinearMap| {
            e.raise_transforms(std::slice::from_ref(ct), level, map, scale_ratio)
        };
        let at_once = raise(&low, 25, &step.map).unwrap().remove(0);
        assert_eq!((e.level(&at_once), e.scale(&at_once), at_once.key), (25, SCALE * scale_ratio, w.sk.id()));
        // Multiples of q0 are left in both: they are 2^11 times the message.
        let (found, expected) = (w.decrypt(&e.level_down(&at_once, 24).unwrap()), w.decrypt(&apart));
        let worst = found.iter().zip(&expected).map(|(a, b)| (a - b).norm()).fold(0.0, f64::max);
        assert!(-worst.log2() > 16.0, "{:.1} bits", -worst.log2());
        assert!(matches!(raise(&raised, 25, &step.map), Err(Error::LevelMismatch { .. })));
        assert!(matches!(raise(&low, 99, &step.map), Err(Error::NoSuchLevel { .. })));
        let other = LinearMap::new(n, BTreeMap::from([(7, points(n, 1.0))]), 1, 1).unwrap();
        assert!(matches!(raise(&low, 25, &other), Err(Error::MissingKey { .. })));
    }
}

#[test]
fn steps_can_be_stopped() {
    let mut w = World::new(arch::chosen().unwrap());
    let ct = w.encrypt(&points(w.encoder.slots(), 3.3), 0);
    let flag = AtomicBool::new(false);
    let e = CkksEvaluator::new(&w.ctx, &w.keys, w.encoder.slots()).stopped_by(&flag);
    let low = e.encapsulate(&ct).unwrap();
    let all = || [e.encapsulate(&ct).err(), e.mod_raise(&low, 25).err()];
    assert_eq!(all(), [None, None]);
    flag.store(true, Ordering::Relaxed);
    assert_eq!(all(), [const { Some(Error::Cancelled) }; 2]);
}

#[test]
fn packing_is_the_discrete_fourier_transform_of_its_definition() {
    let mut w = World::new(arch::chosen().unwrap());
    let (n, slots) = (w.ctx.ring().n(), w.encoder.slots());
    for by in PackShape::of(w.ctx.params()).unwrap().rotations() {
        let role = rotation_exponent(by as isize, n);
        let spec = KeySwitchSpec::balanced(w.ctx.params(), 2).unwrap();
        let key = SwitchingKey::galois(&w.ctx, spec, role, &w.sk, &mut w.random).unwrap();
        w.keys = std::mem::take(&mut w.keys).with(KeyRole::Galois(role), key.into());
    }
    let z = points(slots, 2.4);
    let input = w.encrypt(&z, 1);
    let e = CkksEvaluator::new(&w.ctx, &w.keys, slots);
    let pack = Pack { factor: 0.5, scale_ratio: 1.0 };
    let out = e.pack(&[input], &e.encode_pack(&pack).unwrap()).unwrap().remove(0);
    assert_eq!((e.level(&out), e.scale(&out)), (0, SCALE));
    // Slot k is the polynomial with the coefficients z_i at zeta^(5^k), zeta of order 2N.
    let mut power = 1;
    let slot = |power: usize| {
        let root = |i: usize| Complex64::cis(std::f64::consts::PI * (power * i % (2 * n)) as f64 / n as f64);
        z.iter().enumerate().map(|(i, z)| 0.5 * z * root(i)).sum::<Complex64>()
    };
    let wanted: Vec<Complex64> = (0..slots)
        .map(|_| {
            let value = slot(power);
            power = power * 5 % (2 * n);
            value
        })
        .collect();
    let worst = w.decrypt(&out).iter().zip(&wanted).map(|(a, b)| (a - b).norm()).fold(0.0, f64::max);
    assert!(-worst.log2() > 14.0, "{:.1} bits, 14 wanted", -worst.log2());
}
