//! What is stored of a key gives the key back, and nothing else does.

use crate::encrypt::PublicKey;
use crate::keyswitch::{KeySwitchSpec, SwitchingKey};
use crate::secret::SecretKey;
use crate::security::Security;
use crate::{Context, Error, KeyId, Plaintext};
use aglet_ring::sample::ChaChaSource;
use aglet_ring::{Eval, Poly};
use std::sync::Arc;

fn context(name: &str) -> Arc<Context> {
    let text = match name {
        "toy" => include_str!("../../../aglet/presets/toy.toml").to_string(),
        // The same ring with a secret of fixed weight.
        _ => include_str!("../../../aglet/presets/toy.toml")
            .replace("secret = \"ternary\"", "secret = { fixed_weight = 192 }"),
    };
    Context::new(crate::params::Params::from_toml(&text, Security::NotChecked).unwrap()).unwrap()
}

fn copies(ctx: &Context, polys: &[Poly<Eval>]) -> Vec<Poly<Eval>> {
    polys.iter().map(|p| ctx.ring().copy(p, p.q_limbs()).unwrap()).collect()
}

fn same(x: &Poly<Eval>, y: &Poly<Eval>) -> bool {
    x.limbs() == y.limbs() && (0..x.limbs()).all(|i| x.limb(i) == y.limb(i))
}

#[test]
fn keys_come_back_with_their_uniform_halves() {
    let ctx = context("toy");
    let mut random = ChaChaSource::from_seed([5; 32]);
    let sk = SecretKey::generate(&ctx, &mut random).unwrap();
    let again = SecretKey::from_packed(&ctx, sk.id(), &sk.packed().unwrap()).unwrap();
    assert!(again.id() == sk.id() && same(again.eval(), sk.eval()) && again.eval().is_secret());
    let pk = PublicKey::generate(&ctx, &sk, 9, &mut random).unwrap();
    let (seed, b) = pk.stored();
    let b = copies(&ctx, std::slice::from_ref(b)).remove(0);
    let back = PublicKey::from_stored(ctx.params(), pk.id(), *seed, b).unwrap();
    let zero = ctx.ring().zero(9, 0).unwrap();
    let pt = Plaintext { poly: zero, scale: 1.0, slots: 1, bound: None, real: false };
    let [old, new] = [&pk, &back].map(|k| k.encrypt(&ctx, &pt, &mut ChaChaSource::from_seed([1; 32])).unwrap());
    assert!(old.key == new.key && old.polys.iter().zip(&new.polys).all(|(x, y)| same(x, y)));
    for limbs in [4, 14, 26] {
        let spec = KeySwitchSpec::balanced(ctx.params(), limbs).unwrap();
        let key = SwitchingKey::relinearisation(&ctx, spec.clone(), &sk, &mut random).unwrap();
        let (seed, b) = key.stored();
        let read =
            |b| SwitchingKey::from_stored(ctx.params(), key.id(), spec.clone(), *seed, b).map(|k| (k.byte_count(), k));
        let (bytes, back) = read(copies(&ctx, b)).unwrap();
        assert_eq!(bytes, key.byte_count());
        for digits in 1..=spec.digits.len() {
            for i in 0..spec.q_limbs + spec.p_limbs {
                let (old, new) = (key.row(spec.q_limbs, i, digits, None), back.row(spec.q_limbs, i, digits, None));
                assert!(old.a == new.a && old.b == new.b);
            }
        }
        let mut short = copies(&ctx, b);
        short.pop();
        assert!(matches!(read(short), Err(Error::Stored { .. })));
    }
}

#[test]
fn coefficients_that_are_never_drawn_are_refused() {
    let ctx = context("toy");
    let mut random = ChaChaSource::from_seed([6; 32]);
    let packed = SecretKey::generate(&ctx, &mut random).unwrap().packed().unwrap();
    let read = |bytes: &[u8]| SecretKey::from_packed(&ctx, KeyId(1), bytes).map(|k| k.weight());
    assert!(read(&packed).is_ok());
    for length in [0, packed.len() - 1] {
        assert!(matches!(read(&packed[..length]), Err(Error::Stored { .. })));
    }
    for place in [0, packed.len() - 1] {
        let mut bad = packed.to_vec();
        bad[place] = 0b1101_1001; // 1, 2, 1, 3: there is no 2
        assert!(matches!(read(&bad), Err(Error::Stored { .. })));
    }
    let sparse = SecretKey::generate_ephemeral(&ctx, &mut random).unwrap();
    assert!(matches!(sparse.packed(), Err(Error::Stored { .. })));
    // Another weight than the parameters draw.
    let ctx = context("fixed weight");
    let packed = SecretKey::generate(&ctx, &mut random).unwrap().packed().unwrap();
    assert_eq!(SecretKey::from_packed(&ctx, KeyId(1), &packed).unwrap().weight(), 192);
    let mut bad = packed.to_vec();
    bad[7] ^= if bad[7] & 3 == 0 { 1 } else { bad[7] & 3 };
    assert!(matches!(SecretKey::from_packed(&ctx, KeyId(1), &bad), Err(Error::Stored { .. })));
}
