//! The CKKS evaluator against the clear one, on the toy ring, on every backend of this CPU.

use aglet_ring::arch;
use aglet_ring::automorphism::{conjugation_exponent, rotation_exponent};
use aglet_ring::sample::ChaChaSource;

use aglet_rlwe::security::Security;
use aglet_rlwe::{Context, KeyRole, KeySet, KeySwitchSpec, SecretKey, SwitchingKey};
use aglet_schemes::ckks::clear::ClearEvaluator;
use aglet_schemes::ckks::{transform_shape, CkksCiphertext, CkksEvaluator, CkksParams, Encoder};
use aglet_schemes::linear_map::GiantStep;
use aglet_schemes::{Approximate, Error, Evaluator, LinearMap, Product, Quadratic};
use num_complex::Complex64;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;

struct World {
    ctx: Arc<Context>,
    sk: SecretKey,
    keys: KeySet,
    encoder: Encoder,
    random: ChaChaSource,
}

const SCALE: f64 = 1_099_511_627_776.0;

impl World {
    fn new(kernels: &'static arch::Kernels) -> Self {
        let text = include_str!("../../aglet/presets/ckks/toy.toml");
        let ctx =
            Context::with_kernels(CkksParams::from_toml(text, Security::NotChecked).unwrap().rlwe().clone(), kernels)
                .unwrap();
        let mut random = ChaChaSource::from_seed([9; 32]);
        let sk = SecretKey::generate(&ctx, &mut random).unwrap();
        let spec = KeySwitchSpec::balanced(ctx.params(), 23).unwrap();
        let relin = SwitchingKey::relinearization(&ctx, spec.clone(), &sk, &mut random).unwrap();
        let n = ctx.ring().n();
        let conj = SwitchingKey::galois(&ctx, spec, conjugation_exponent(n), &sk, &mut random).unwrap();
        let keys = KeySet::new()
            .with(KeyRole::Relinearization, relin.into())
            .with(KeyRole::Galois(conjugation_exponent(n)), conj.into());
        let encoder = Encoder::new(&ctx, n / 2).unwrap();
        Self { ctx, sk, keys, encoder, random }
    }
    fn add_rotation(&mut self, by: usize, limbs: usize) {
        let g = rotation_exponent(by as isize, self.ctx.ring().n());
        let spec = KeySwitchSpec::balanced(self.ctx.params(), limbs).unwrap();
        let key = SwitchingKey::galois(&self.ctx, spec, g, &self.sk, &mut self.random).unwrap();
        self.keys = std::mem::take(&mut self.keys).with(KeyRole::Galois(g), key.into());
    }
    fn encrypt(&mut self, z: &[Complex64], level: usize) -> CkksCiphertext {
        let pt = self.encoder.encode(&self.ctx, z, level, SCALE).unwrap();
        pt.encrypted(self.sk.encrypt(&self.ctx, &pt.poly, &mut self.random).unwrap(), 10.24).into()
    }
    fn decrypt(&self, ct: &CkksCiphertext) -> Vec<Complex64> {
        self.encoder.decode(&self.ctx, &ct.decrypted(self.sk.decrypt(&self.ctx, ct).unwrap())).unwrap()
    }
    fn assert_is(&self, ct: &CkksCiphertext, expected: &[Complex64], bits: f64, what: &str) {
        let found = self.decrypt(ct);
        let worst = found.iter().zip(expected).map(|(a, b)| (a - b).norm()).fold(0.0, f64::max);
        assert!(-worst.log2() > bits, "{what}: {:.1} bits, {bits} wanted", -worst.log2());
    }
}

fn points(n: usize, seed: f64) -> Vec<Complex64> {
    (0..n).map(|j| Complex64::from_polar(((j as f64 + 0.5) / n as f64).sqrt(), seed * j as f64)).collect()
}

#[test]
fn operations_agree_with_the_clear() {
    for kernels in arch::available() {
        let mut w = World::new(kernels);
        w.add_rotation(5, 20);
        let n = w.encoder.slots();
        let (x, y) = (points(n, 2.4), points(n, 1.1));
        let (cx, cy) = (w.encrypt(&x, 19), w.encrypt(&y, 19));
        let e = CkksEvaluator::new(&w.ctx, &w.keys, n);
        let zip =
            |f: fn(Complex64, Complex64) -> Complex64| x.iter().zip(&y).map(|(a, b)| f(*a, *b)).collect::<Vec<_>>();
        w.assert_is(&e.add(&cx, &cy).unwrap(), &zip(|a, b| a + b), 29.0, "add");
        w.assert_is(&e.sub(&cx, &cy).unwrap(), &zip(|a, b| a - b), 29.0, "sub");
        w.assert_is(&e.mul_i(&cx).unwrap(), &zip(|a, _| a * Complex64::i()), 29.0, "mul_i");
        w.assert_is(&e.negate(&cx).unwrap(), &zip(|a, _| -a), 29.0, "negate");
        w.assert_is(&e.conjugate(&cx).unwrap(), &zip(|a, _| a.conj()), 26.0, "conjugate");
        w.assert_is(
            &e.add_constant(&cx, Complex64::new(0.25, -0.5)).unwrap(),
            &zip(|a, _| a + Complex64::new(0.25, -0.5)),
            29.0,
            "constant",
        );
        let rotated: Vec<_> = (0..n).map(|j| x[(j + 5) % n]).collect();
        w.assert_is(&e.rotate(&cx, 5).unwrap(), &rotated, 26.0, "rotate");
        assert!(e.rotate(&cx, 6).is_err());
        for level in [19usize, 14, 5] {
            let scale = SCALE * SCALE / e.modulus(level);
            let c = Complex64::new(0.3, 0.7);
            let form = Quadratic {
                products: vec![
                    Product { factor: 2, left: &cx, right: &cy },
                    Product { factor: 1, left: &cy, right: &cy },
                ],
                terms: vec![(c, &cx)],
                constant: Complex64::new(-1.0, 0.5),
                level,
                scale,
            };
            let out = e.quadratic(&form).unwrap();
            assert_eq!((e.level(&out), e.scale(&out)), (level - 1, scale));
            let bits = scale.log2() - 14.0;
            let expected = zip(|a, b| 2.0 * a * b + b * b + Complex64::new(0.3, 0.7) * a + Complex64::new(-1.0, 0.5));
            w.assert_is(&out, &expected, bits, "quadratic");
            let form =
                Quadratic { products: vec![], terms: vec![(c, &cx), (c * 2.0, &cy)], constant: c, level, scale: SCALE };
            w.assert_is(
                &e.quadratic(&form).unwrap(),
                &zip(|a, b| Complex64::new(0.3, 0.7) * (a + 2.0 * b + 1.0)),
                26.0,
                "linear",
            );
        }
        let square = e.tensor(&cx, &cx).unwrap();
        let back = e.rescale(&e.relinearize(&square).unwrap()).unwrap();
        assert!(e.conjugate(&square).is_err());
        let bits = back.scale.log2() - 14.0;
        w.assert_is(&back, &zip(|a, _| a * a), bits, "square");
        let constant = e.mul_constant(&cx, Complex64::new(-3.0, 0.0), 1.0).unwrap();
        w.assert_is(&constant, &zip(|a, _| -3.0 * a), 27.0, "integer");
    }
}

/// What a circuit that knows no scales may ask of any scheme: the mean of products and multiples of all slots.
fn without_scales<E: Evaluator<Scalar = Complex64>>(e: &E, x: &E::Ciphertext, y: &E::Ciphertext) -> E::Ciphertext {
    let low = e.level_down(y, e.level(x) - 2).unwrap();
    let product = e.mul(x, &low).unwrap();
    let multiple = e.mul_scalar(&product, Complex64::new(0.5, -0.25)).unwrap();
    let shifted = e.add_scalar(&multiple, Complex64::new(0.0, 1.0)).unwrap();
    let twice = LinearMap::new(e.slots(), BTreeMap::from([(0, vec![Complex64::new(2.0, 0.0)])]), 1, 1).unwrap();
    e.transform(&shifted, &e.encode_map(&twice, e.level(&shifted)).unwrap()).unwrap()
}

#[test]
fn a_circuit_without_scales_runs_on_ciphertexts_and_in_the_clear() {
    let mut w = World::new(arch::chosen().unwrap());
    let n = w.encoder.slots();
    let (x, y) = (points(n, 2.4), points(n, 1.1));
    let (cx, cy) = (w.encrypt(&x, 9), w.encrypt(&y, 8));
    let e = CkksEvaluator::new(&w.ctx, &w.keys, n);
    let found = without_scales(&e, &cx, &cy);
    let moduli = w.ctx.params().q().iter().map(|&q| q as f64).collect();
    let clear = ClearEvaluator::new(n, moduli, 32, 1).unwrap();
    let (cx, cy) = (clear.encrypt(&x, 9, SCALE).unwrap(), clear.encrypt(&y, 8, SCALE).unwrap());
    let wanted = without_scales(&clear, &cx, &cy);
    assert_eq!((e.level(&found), e.scale(&found)), (clear.level(&wanted), clear.scale(&wanted)));
    let definition = x.iter().zip(&y).map(|(x, y)| 2.0 * (x * y * Complex64::new(0.5, -0.25) + Complex64::i()));
    let definition: Vec<_> = definition.collect();
    assert!(wanted.values().iter().zip(&definition).all(|(a, b)| (a - b).norm() < 1e-12));
    w.assert_is(&found, &definition, 24.0, "without scales");
}

#[test]
fn linear_maps_agree_with_the_clear() {
    for kernels in arch::available() {
        let mut w = World::new(kernels);
        let n = w.encoder.slots();
        let diagonals: BTreeMap<usize, Vec<Complex64>> =
            [(0usize, 512usize), (4, 1), (8, 16), (20, 512), (36, 2), (100, 64)]
                .into_iter()
                .map(|(k, period)| (k, points(period, 0.7 + k as f64)))
                .collect();
        let map = LinearMap::new(n, diagonals, 4, 4).unwrap();
        let x = points(n, 3.3);
        let expected = map.apply(&x).unwrap();
        for level in [25usize, 13, 3] {
            let shape = transform_shape(w.ctx.params(), &map, level, None).unwrap();
            for by in shape.rotations() {
                w.add_rotation(by, level + 1);
            }
            let ct = w.encrypt(&x, level);
            let e = CkksEvaluator::new(&w.ctx, &w.keys, n);
            let t = e.encode_transform(&map, level, 1.0).unwrap();
            assert_eq!(t.byte_count(), shape.matrix_bytes);
            let out = e.transform(&ct, &t).unwrap();
            assert_eq!((e.level(&out), e.scale(&out)), (level - 1, SCALE));
            w.assert_is(&out, &expected, 24.0, "transform");
        }
    }
}

#[test]
fn giant_steps_of_any_rotations_agree_with_the_clear() {
    let mut w = World::new(arch::chosen().unwrap());
    let n = w.encoder.slots();
    let (babies, turns, x) = ([0, 1, n - 7], [0, 5, 40], points(n, 3.3));
    let (mut steps, mut expected, mut at) = (Vec::new(), vec![Complex64::default(); n], 0);
    for (g, rotation) in turns.into_iter().enumerate() {
        at += rotation;
        let term = |(i, by): (usize, usize)| {
            let mut diagonal = points(n >> i, 0.3 + (3 * g + i) as f64);
            for j in 0..n {
                expected[j] += diagonal[j % diagonal.len()] * x[(j + at + by) % n];
            }
            let back = at % diagonal.len();
            diagonal.rotate_right(back);
            (by, diagonal)
        };
        steps.push(GiantStep { rotation, terms: babies.into_iter().enumerate().map(term).collect() });
    }
    for by in babies.into_iter().chain(turns).filter(|&by| by != 0) {
        w.add_rotation(by, 4);
    }
    let ct = w.encrypt(&x, 3);
    let e = CkksEvaluator::new(&w.ctx, &w.keys, n);
    let spec = KeySwitchSpec::balanced(w.ctx.params(), 4).unwrap();
    let out = e.transform(&ct, &e.transform_for(&spec, &steps, 3, 1.0).unwrap()).unwrap();
    w.assert_is(&out, &expected, 22.0, "giant steps");
}

#[test]
fn every_long_operation_can_be_stopped() {
    let mut w = World::new(arch::chosen().unwrap());
    let n = w.encoder.slots();
    let x = points(n, 3.3);
    let ct = w.encrypt(&x, 3);
    let flag = AtomicBool::new(false);
    let e = CkksEvaluator::new(&w.ctx, &w.keys, n).stopped_by(&flag);
    let map = LinearMap::new(n, BTreeMap::from([(0, x.clone())]), 1, 1).unwrap();
    let t = e.encode_transform(&map, 3, 1.0).unwrap();
    let square = e.tensor(&ct, &ct).unwrap();
    let scale = SCALE * SCALE / e.modulus(3);
    let products = vec![Product { factor: 1, left: &ct, right: &ct }];
    let form = Quadratic { products, terms: vec![], constant: Complex64::default(), level: 3, scale };
    let all = || {
        [
            e.quadratic(&form).err(),
            e.conjugate(&ct).err(),
            e.relinearize(&square).err(),
            e.rescale(&square).err(),
            e.transform(&ct, &t).err(),
            e.encode_transform(&map, 3, 1.0).err(),
        ]
    };
    assert_eq!(all(), [const { None }; 6]);
    flag.store(true, Ordering::Relaxed);
    assert_eq!(all(), [const { Some(Error::Cancelled) }; 6]);
}
