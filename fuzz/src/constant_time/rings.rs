//! Keys of rings: of slots, and those of SHIP.

use crate::trace::{constant, source};
use aglet::ckks::presets;
use aglet_bootstrap::ckks::ship::support::{SecretSupport, SignedSupport};
use aglet_bootstrap::ckks::ship::{encapsulation, generate, RotationShape};
use aglet_ring::arch;
use aglet_ring::primes::ntt_primes;
use aglet_rlwe::params::ParamsSpec;
use aglet_rlwe::security::{Secret, Security};
use aglet_rlwe::{Context, Error, KeyId, KeySwitchSpec, Params, PublicKey, SecretKey, SwitchingKey};
use std::hint::black_box;
use std::sync::Arc;

/// Packed coefficients of a secret: of zeros first, then random ones. Memory is asked for in the same way for all.
fn packed(ctx: &Context, secret: u64) -> Vec<u8> {
    let key = SecretKey::generate(ctx, &mut source(secret)).expect("a key");
    let mut bytes = key.packed().expect("a main secret").to_vec();
    bytes.iter_mut().for_each(|byte| *byte *= u8::from(secret != 0));
    bytes
}

/// The main secret of this number.
pub fn key(ctx: &Context, secret: u64) -> SecretKey {
    SecretKey::from_packed(ctx, KeyId(1), &packed(ctx, secret)).expect("the parameters draw it")
}

/// What is done with a secret key, on some kernels.
pub fn keys(kernels: &'static arch::Kernels) -> bool {
    let params = presets::load("toy", presets::Security::NotChecked).expect("the preset exists").rlwe().clone();
    let ctx: Arc<Context> = Context::with_kernels(params, kernels).expect("the kernels serve it");
    let (ctx, limbs) = (&*ctx, 8);
    let key = |secret| key(ctx, secret);
    let mut plain = ctx.ring().zero(limbs, 0).expect("there is memory");
    let ct = key(9).encrypt(ctx, &plain, &mut source(9)).expect("it can");
    ctx.ring().add_assign(&mut plain, &ct.polys[0]).expect("it can");
    let spec = || KeySwitchSpec::balanced(ctx.params(), limbs).expect("a shape of keys");
    let with_key = |name: &str, run: &dyn Fn(&SecretKey)| {
        run(&key(9)); // What depends on shapes alone is planned and kept.
        let work = |secret, traced: &mut dyn FnMut(&mut dyn FnMut())| {
            let key = key(secret);
            traced(&mut || run(&key));
        };
        constant(&format!("{name}, {}", kernels.name()), &work)
    };
    let reading = |secret, traced: &mut dyn FnMut(&mut dyn FnMut())| {
        let bytes = packed(ctx, secret);
        traced(&mut || drop(black_box(SecretKey::from_packed(ctx, KeyId(1), &bytes))));
    };
    let between = |secret, traced: &mut dyn FnMut(&mut dyn FnMut())| {
        let (main, other) = (key(secret), key(secret + 100));
        let sparse = SecretKey::generate_sparse(ctx, &mut source(secret)).expect("the preset has one");
        let lead = |spec, from: &SecretKey, to: &SecretKey| {
            drop(black_box(SwitchingKey::between(ctx, spec, from, to, &mut source(0)).expect("a key")));
        };
        traced(&mut || {
            lead(KeySwitchSpec::dense_to_sparse(), &main, &sparse);
            lead(KeySwitchSpec::sparse_to_dense(limbs), &sparse, &main);
            lead(spec(), &main, &other);
        });
    };
    between(9, &mut |traced| traced());
    let all = [
        constant(&format!("a secret key from its coefficients, {}", kernels.name()), &reading),
        with_key("its packed coefficients", &|sk| drop(black_box(sk.packed()))),
        with_key("encryption with it", &|sk| drop(black_box(sk.encrypt(ctx, &plain, &mut source(0))))),
        with_key("decryption", &|sk| drop(black_box(sk.decrypt(ctx, &ct)))),
        with_key("a relinearization key", &|sk| {
            drop(black_box(SwitchingKey::relinearization(ctx, spec(), sk, &mut source(0))));
        }),
        with_key("a rotation key", &|sk| drop(black_box(SwitchingKey::galois(ctx, spec(), 5, sk, &mut source(0))))),
        with_key("a public key", &|sk| drop(black_box(PublicKey::generate(ctx, sk, limbs, &mut source(0))))),
        constant(&format!("keys to a sparse secret, back, and to another key, {}", kernels.name()), &between),
    ];
    all.iter().all(|&constant| constant)
}

/// The support of a sparse secret that is small enough to trace the making of all its keys.
const SUPPORT: SecretSupport = SecretSupport { weight: 3, half_window: Some(19) };

/// Bits of the primes, the lowest among them, and of the digits of the key to the sparse secret, which appears under the lowest alone.
const LOW_BITS: u32 = 50;
const DIGIT_BITS: u32 = 10;

/// A small chain of four primes with such a secret, and the four raised ones alone: insecure.
fn supported(kernels: &'static arch::Kernels) -> (Arc<Context>, Arc<Context>) {
    let log_n = 8;
    let all: Vec<u64> = ntt_primes((1u64 << LOW_BITS) as f64, log_n, &[], 1 << LOW_BITS).take(10).collect();
    let spec = ParamsSpec {
        log_n,
        secret: Secret::Ternary,
        sparse_secret: Some(Secret::BlockSparse(SUPPORT.weight)),
        sparse_log_n: None,
        sparse_special: 0,
        q: all[..4].to_vec(),
        spare: all[4..8].to_vec(),
        p: all[8..].to_vec(),
        max_log_qp: Some(301.0),
        digits: None,
    };
    let params = Params::new(spec, Security::NotChecked).expect("they fit the ring");
    let ctx = Context::with_kernels(params, kernels).expect("the kernels serve it");
    let raised = ctx.subset(&[4, 5, 6, 7]).expect("the chain has them");
    (ctx, raised)
}

/// The secrets that keys of SHIP are made of.
struct Secrets {
    main: SecretKey,
    raised: SecretKey,
    sparse: SecretKey,
    drawn: SignedSupport,
}

impl Secrets {
    fn new(ctx: &Context, raised: &Context, secret: u64) -> Self {
        let mut random = source(secret);
        let main = SecretKey::generate(ctx, &mut random).expect("a key");
        let raised = main.for_subset(raised).expect("the chain has it");
        let (sparse, drawn) = SignedSupport::draw_key(ctx, SUPPORT, &mut random).expect("it is of the parameters");
        Self { main, raised, sparse, drawn }
    }
}

/// The making of the key that leads to such a secret, and of those that know its positions and signs: masks, selectors of CMuxes, and one-hot ones.
pub fn ship_keys(kernels: &'static arch::Kernels) -> bool {
    let (ctx, raised) = supported(kernels);
    let digits = vec![vec![0, 1], vec![2, 3]];
    let shape =
        RotationShape { support: SUPPORT, masked: 3, cmux: vec![4, 4], raised: 4, special: 2, digits, one_hot: None };
    let selecting = shape.selecting(ctx.params().n(), 4).expect("there is room for four numbers");
    let make = |shape: &RotationShape, s: &Secrets| {
        let random = |number: u64| Ok::<_, Error>(source(number));
        drop(black_box(generate(&raised, shape, &s.drawn, &s.raised, random).expect("keys")));
    };
    let digits = (LOW_BITS.div_ceil(DIGIT_BITS) as usize, DIGIT_BITS);
    let lead = |s: &Secrets| {
        let key = encapsulation::key(&ctx, digits, &s.main, &s.sparse, &mut source(0));
        drop(black_box(key.expect("a key")));
    };
    let made = |name: &str, make: &dyn Fn(&Secrets)| {
        make(&Secrets::new(&ctx, &raised, 9)); // What depends on shapes alone is planned and kept.
        let work = |secret, traced: &mut dyn FnMut(&mut dyn FnMut())| {
            let secrets = Secrets::new(&ctx, &raised, secret);
            traced(&mut || make(&secrets));
        };
        constant(&format!("{name}, {}", kernels.name()), &work)
    };
    let all = [
        made("a key to the sparse secret", &lead),
        made("keys of masks and CMuxes", &|s| make(&shape, s)),
        made("one-hot keys", &|s| make(&selecting, s)),
    ];
    all.iter().all(|&constant| constant)
}
