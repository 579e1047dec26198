//! Keys of FHEW: the LWE secret, GGSW samples of every blind rotation, key switches, packing, and ring switches to rings.

use crate::rings;
use crate::trace::{constant, source};
use aglet::ckks::presets;
use aglet_bootstrap::FhewBootstrapKey;
use aglet_ring::arch;
use aglet_ring::blind::Gadget;
use aglet_rlwe::lwe::{LweContext, LweParams, LwePublicKey, LweSecretKey, LweSpec, Method, PackingKey};
use aglet_rlwe::ring_switch::{LargeToSmallKey, RingSwitch, SmallToLargeKey};
use aglet_rlwe::security::{Secret, Security};
use aglet_rlwe::{Context, KeyId};
use std::hint::black_box;

/// A small set for each blind rotation, with errors of both kinds: insecure.
fn sets() -> [(&'static str, LweSpec); 5] {
    let blocks = LweSpec {
        method: Method::Blocks,
        modulus: 1_099_469_684_737,
        log_n: 7,
        rank: 2,
        dimension: 200,
        secret: Secret::BlockBinary(4),
        gadget: Gadget { levels: 1, log_base: 16 },
        switch_digits: 11,
        lwe_error: -12.76,
        glwe_error: -34.91,
    };
    let ternary = LweSpec { secret: Secret::Ternary, glwe_error: -38.32, ..blocks.clone() };
    let of = |method| LweSpec { method, ..ternary.clone() };
    [
        ("binary blocks", LweSpec { secret: Secret::Binary, ..blocks.clone() }),
        ("blocks of four", blocks),
        ("ginx", of(Method::Ginx)),
        ("dm", of(Method::Dm(2))),
        ("lmkcdey", of(Method::Lmkcdey(4))),
    ]
}

/// One polynomial of NTRU, whose secret must have an inverse: the one of zeros has none.
fn ntru() -> LweSpec {
    let [.., (_, ternary)] = sets();
    LweSpec { method: Method::Ntru, log_n: 8, rank: 1, ..ternary }
}

fn context(spec: LweSpec, kernels: &'static arch::Kernels) -> LweContext {
    let params = LweParams::new(spec, Security::NotChecked).expect("a set");
    LweContext::new(params, kernels).expect("the kernels serve it")
}

/// Packed coordinates of a secret: of zeros first, then random ones.
fn packed(ctx: &LweContext, secret: u64) -> Vec<u8> {
    let mut bytes = LweSecretKey::generate(ctx, &mut source(secret)).packed(ctx.params()).to_vec();
    bytes.iter_mut().for_each(|byte| *byte *= u8::from(secret != 0));
    bytes
}

/// What is done with the secret of a set, for secrets that `key` gives.
fn with_key(set: &str, key: &dyn Fn(u64) -> LweSecretKey, runs: &[(&str, &dyn Fn(&LweSecretKey))]) -> bool {
    let each = runs.iter().map(|(name, run)| {
        run(&key(9)); // What depends on shapes alone is planned and kept.
        let work = |secret, traced: &mut dyn FnMut(&mut dyn FnMut())| {
            let key = key(secret);
            traced(&mut || run(&key));
        };
        constant(&format!("{name}, {set}"), &work)
    });
    each.fold(true, |fine, constant| constant & fine)
}

/// The secrets of one set and all keys of its bootstraps.
fn keys(name: &str, ctx: &LweContext) -> bool {
    let id = KeyId(1);
    let key = |secret| LweSecretKey::from_packed(ctx.params(), id, &packed(ctx, secret)).expect("the set draws it");
    let ct = key(9).encrypt(ctx, 77, &mut source(9)).expect("it can");
    let reading = |secret, traced: &mut dyn FnMut(&mut dyn FnMut())| {
        let bytes = packed(ctx, secret);
        traced(&mut || drop(black_box(LweSecretKey::from_packed(ctx.params(), id, &bytes))));
    };
    let read = constant(&format!("an LWE secret from its coordinates, {name}"), &reading);
    let same = with_key(
        name,
        &key,
        &[
            ("its packed coordinates", &|sk| drop(black_box(sk.packed(ctx.params())))),
            ("LWE encryption", &|sk| drop(black_box(sk.encrypt(ctx, 77, &mut source(0))))),
            ("a compact public key", &|sk| drop(black_box(LwePublicKey::generate(ctx, sk, &mut source(0))))),
            ("LWE decryption", &|sk| drop(black_box(sk.phase(ctx, &ct)))),
            ("GGSW samples and the key switch", &|sk| bootstrap_key(ctx, sk)),
            ("a packing key", &|sk| {
                let key = PackingKey::generate(ctx, sk, ctx.params().spec().gadget, &mut source(0), &mut |_, _| true);
                drop(black_box(key.expect("a key")));
            }),
        ],
    );
    let public = LwePublicKey::generate(ctx, &key(9), &mut source(9)).expect("a key");
    drop(black_box(public.encrypt(ctx, &[5; 3], &mut source(0)))); // What depends on shapes alone is planned and kept.
    let sending = |secret: u64, traced: &mut dyn FnMut(&mut dyn FnMut())| {
        let phases = [secret * 0x1234_5678, secret, 0];
        traced(&mut || drop(black_box(public.encrypt(ctx, &phases, &mut source(0)))));
    };
    read & same & constant(&format!("encryption by a public key, {name}"), &sending)
}

fn bootstrap_key(ctx: &LweContext, sk: &LweSecretKey) {
    drop(black_box(FhewBootstrapKey::generate(ctx, sk, &mut source(0), &mut |_, _| true).expect("a key")));
}

/// The key of NTRU samples, for secrets that have an inverse.
fn ntru_keys(name: &str, ctx: &LweContext) -> bool {
    let key = |secret| LweSecretKey::generate(ctx, &mut source(secret));
    with_key(name, &key, &[("NTRU samples and the key switch", &|sk| bootstrap_key(ctx, sk))])
}

/// Keys between a ring and the secret of a set, in both directions; the secrets of both differ.
fn ring_switches(ctx: &LweContext, kernels: &'static arch::Kernels) -> bool {
    let large = presets::load("toy", presets::Security::NotChecked).expect("the preset exists").rlwe().clone();
    let large = Context::with_kernels(large, kernels).expect("the kernels serve it");
    let switch = RingSwitch::new(ctx, large.params().log_n(), kernels).expect("the degrees go together");
    let both = |secret| {
        let id = KeyId(1);
        let small = LweSecretKey::from_packed(ctx.params(), id, &packed(ctx, secret)).expect("the set draws it");
        (rings::key(&large, secret), small)
    };
    let made = |name: &str, make: &dyn Fn(u64, &mut dyn FnMut(&mut dyn FnMut()))| {
        make(9, &mut |made| made()); // What depends on shapes alone is planned and kept.
        constant(&format!("{name}, {}", kernels.name()), make)
    };
    let down = made("a ring switch key down", &|secret, traced| {
        let (main, small) = both(secret);
        traced(&mut || {
            drop(black_box(LargeToSmallKey::generate(&switch, ctx, (&main, &small), &mut source(0)).expect("a key")))
        });
    });
    let up = made("a ring switch key up", &|secret, traced| {
        let (main, small) = both(secret);
        let make = || SmallToLargeKey::generate(&switch, (&large, ctx), (&small, &main), &mut source(0));
        traced(&mut || drop(black_box(make().expect("a key"))));
    });
    down & up
}

/// All sets on some kernels.
pub fn all(kernels: &'static arch::Kernels) -> bool {
    let named = |name: &str| format!("{name}, {}", kernels.name());
    let sets = sets().map(|(name, spec)| (named(name), context(spec, kernels)));
    let keys = sets.iter().fold(true, |fine, (name, ctx)| keys(name, ctx) & fine);
    keys & ntru_keys(&named("ntru"), &context(ntru(), kernels)) & ring_switches(&sets[1].1, kernels)
}
