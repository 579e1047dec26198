//! Keys of exact integers, and what decryption does with a phase, which holds noise beside the message.

use crate::rings;
use crate::trace::{constant, source};
use aglet_ring::arch;
use aglet_rlwe::security::Security;
use aglet_rlwe::{Context, KeySwitchSpec, PublicKey, SecretKey, SwitchingKey};
use aglet_schemes::integer::{decrypt, encrypt, Encryptor, IntegerParams, Noise};
use std::hint::black_box;

/// The primes of "int-levels-13" in a small ring: insecure.
const SET: &str = r#"
family = "integer"
name = "traced"
source = "int-levels-13"
log_n = 10
secret = "ternary"
plaintext_modulus = 65537
base_bits = 36
levels = { bits = 34, count = 3 }
special = { bits = 38, count = 1 }
"#;

/// What is done with a secret key of integers, on some kernels.
pub fn all(kernels: &'static arch::Kernels) -> bool {
    let params = IntegerParams::from_toml(SET, Security::NotChecked).expect("a set");
    let ctx = Context::with_kernels((*params).clone(), kernels).expect("the kernels serve it");
    let (ctx, level) = (&*ctx, params.max_level());
    let message: Vec<i64> = (0..1 << 10).map(|i| i % 321 - 160).collect();
    let encrypted = |sk: &SecretKey, random| {
        encrypt(ctx, &params, &message, level, (Encryptor::Secret(sk), &mut source(random))).expect("it can")
    };
    let spec = || KeySwitchSpec::balanced(ctx.params(), level + 1).expect("a shape of keys");
    let with_key = |name: &str, run: &dyn Fn(&SecretKey)| {
        run(&rings::key(ctx, 9)); // What depends on shapes alone is planned and kept.
        let work = |secret, traced: &mut dyn FnMut(&mut dyn FnMut())| {
            let key = rings::key(ctx, secret);
            traced(&mut || run(&key));
        };
        constant(&format!("{name}, {}", kernels.name()), &work)
    };
    // One message, with a noise of its own under each secret.
    let decryption = |secret, traced: &mut dyn FnMut(&mut dyn FnMut())| {
        let key = rings::key(ctx, secret);
        let ct = encrypted(&key, secret);
        traced(&mut || drop(black_box(decrypt(ctx, &params, &ct, &key).expect("it can"))));
    };
    decryption(9, &mut |traced| traced());
    let all = [
        with_key("whether a secret of integers is drawn again", &|sk| {
            black_box(Noise::suits(&params, sk));
        }),
        with_key("encryption of integers", &|sk| drop(black_box(encrypted(sk, 0)))),
        with_key("a public key of integers", &|sk| {
            drop(black_box(PublicKey::generate(ctx, sk, level + 1, &mut source(0))));
        }),
        with_key("a relinearization key of integers", &|sk| {
            drop(black_box(SwitchingKey::relinearization(ctx, spec(), sk, &mut source(0))));
        }),
        with_key("a rotation key of integers", &|sk| {
            drop(black_box(SwitchingKey::galois(ctx, spec(), 5, sk, &mut source(0))));
        }),
        constant(&format!("decryption of integers, {}", kernels.name()), &decryption),
    ];
    all.iter().all(|&constant| constant)
}
