//! What is stored of a key gives the key back, and nothing else does.

use crate::chain;
use crate::encrypt::PublicKey;
use crate::params::ParamsSpec;
use crate::secret::SecretKey;
use crate::security::Secret;
use crate::{Context, Error, KeyId};
use crate::{KeySwitchSpec, SwitchingKey};
use aglet_ring::sample::ChaChaSource;
use aglet_ring::{Eval, Poly};
use std::sync::Arc;

fn context(secret: Secret) -> Arc<Context> {
    Context::new(chain::params(ParamsSpec { secret, ..chain::spec() })).unwrap()
}

fn copies(ctx: &Context, polys: &[Poly<Eval>]) -> Vec<Poly<Eval>> {
    polys.iter().map(|p| ctx.ring().copy(p, p.q_limbs()).unwrap()).collect()
}

fn same(x: &Poly<Eval>, y: &Poly<Eval>) -> bool {
    x.limbs() == y.limbs() && x.host().unwrap().iter().eq(y.host().unwrap().iter())
}

#[test]
fn keys_come_back_with_their_uniform_halves() {
    let ctx = context(Secret::Ternary);
    let mut random = ChaChaSource::from_seed([5; 32]);
    let sk = SecretKey::generate(&ctx, &mut random).unwrap();
    let again = SecretKey::from_packed(&ctx, sk.id(), &sk.packed().unwrap()).unwrap();
    assert!(again.id() == sk.id() && same(again.eval(), sk.eval()) && again.eval().is_secret());
    let pk = PublicKey::generate(&ctx, &sk, 9, &mut random).unwrap();
    let (seed, b) = pk.stored();
    let b = copies(&ctx, std::slice::from_ref(b)).remove(0);
    let back = PublicKey::from_stored(ctx.params(), pk.id(), *seed, b).unwrap();
    let zero = ctx.ring().zero(9, 0).unwrap();
    let [old, new] = [&pk, &back].map(|k| k.encrypt(&ctx, &zero, &mut ChaChaSource::from_seed([1; 32])).unwrap());
    assert!(old.key == new.key && old.polys.iter().zip(&new.polys).all(|(x, y)| same(x, y)));
    for limbs in [4, 14, 26] {
        let spec = KeySwitchSpec::balanced(ctx.params(), limbs).unwrap();
        let key = SwitchingKey::relinearization(&ctx, spec.clone(), &sk, &mut random).unwrap();
        let (seed, b) = key.stored();
        let copies = || b.iter().map(|b| b.unpacked().map_err(Error::from)).collect::<Vec<_>>();
        let read =
            |b| SwitchingKey::from_stored(ctx.params(), key.id(), spec.clone(), *seed, b).map(|k| (k.byte_count(), k));
        let (bytes, back) = read(copies()).unwrap();
        assert_eq!(bytes, key.byte_count());
        for (old, new) in key.words().halves().into_iter().zip(back.words().halves()) {
            assert!(
                old.len() == spec.digits.len()
                    && old.iter().zip(new).all(|(x, y)| same(&x.unpacked().unwrap(), &y.unpacked().unwrap()))
            );
        }
        let mut short = copies();
        short.pop();
        assert!(matches!(read(short), Err(Error::Stored { .. })));
    }
}

#[test]
fn coefficients_that_are_never_drawn_are_refused() {
    // For each secret, what a first byte may not be; none where every coefficient is drawn for every byte.
    let secrets = [
        // 1, 2, 1, 3: there is no 2.
        (Secret::Ternary, vec![0b1101_1001]),
        (Secret::FixedWeight(192), vec![0b1101_1001, 0b0101_0101]),
        (Secret::BlockSparse(256), vec![0, 0b0000_0101, 0b0010_0000]),
        (Secret::Binary, vec![0b0000_0011, 0b0000_0010]),
        (Secret::BlockBinary(4), vec![0b0001_0001, 0b0000_0011]),
        (Secret::Gaussian, vec![30, 226, 128]),
    ];
    for (secret, wrong) in secrets {
        let ctx = context(secret);
        let mut random = ChaChaSource::from_seed([6; 32]);
        let sk = SecretKey::generate(&ctx, &mut random).unwrap();
        let packed = sk.packed().unwrap();
        let read = |bytes: &[u8]| SecretKey::from_packed(&ctx, KeyId(1), bytes);
        let back = read(&packed).unwrap();
        assert!(same(back.eval(), sk.eval()) && back.packed().unwrap() == packed, "{secret}");
        for length in [0, packed.len() - 1] {
            assert!(matches!(read(&packed[..length]), Err(Error::Stored { .. })));
        }
        for byte in wrong {
            let mut bad = packed.to_vec();
            bad[0] = byte;
            assert!(matches!(read(&bad), Err(Error::Stored { .. })), "{secret}: {byte:#b}");
        }
        let sparse = SecretKey::generate_sparse(&ctx, &mut random).unwrap();
        assert!(matches!(sparse.packed(), Err(Error::Stored { .. })));
    }
}

#[test]
fn secrets_have_their_weights() {
    let weight = |secret| {
        let ctx = context(secret);
        SecretKey::generate(&ctx, &mut ChaChaSource::from_seed([7; 32])).unwrap().weight()
    };
    assert_eq!((weight(Secret::FixedWeight(192)), weight(Secret::BlockSparse(31))), (192, 31));
    // Five standard deviations of the binomial distribution in N = 1024, or in its 256 blocks.
    for (secret, mean, count) in [
        (Secret::Ternary, 2.0 / 3.0, 1024.0),
        (Secret::Binary, 0.5, 1024.0),
        (Secret::BlockBinary(4), 0.8, 256.0),
        (Secret::Gaussian, 1.0 - 0.12467, 1024.0),
    ] {
        let off = (weight(secret) as f64 - count * mean).abs();
        assert!(off < 5.0 * (count * mean * (1.0f64 - mean)).sqrt(), "{secret}: off by {off}");
    }
}
