//! Tables where messages meet: phases as far from a border as the noise of a bootstrap reaches, under a key without errors.

use aglet_bootstrap::fhew::functional::{lookup, OneThread};
use aglet_bootstrap::FhewBootstrapKey;
use aglet_ring::arch;
use aglet_ring::blind::Gadget;
use aglet_ring::sample::ChaChaSource;
use aglet_rlwe::lwe::{LweContext, LweParams, LweSecretKey, LweSpec, Method, Noise};
use aglet_rlwe::security::{Secret, Security};
use aglet_schemes::fhew::{Domain, Message, Table};

/// Errors below half a unit, so none: what is left is what rounding leaves, most of it of the modulus switch.
fn without_errors() -> LweContext {
    let spec = LweSpec {
        method: Method::Blocks,
        modulus: 1_099_469_684_737,
        log_n: 11,
        rank: 1,
        dimension: 200,
        secret: Secret::BlockBinary(4),
        gadget: Gadget { levels: 2, log_base: 10 },
        switch_digits: 20,
        lwe_error: -48.0,
        glwe_error: -48.0,
    };
    LweContext::new(LweParams::new(spec, Security::NotChecked).unwrap(), arch::chosen().unwrap()).unwrap()
}

/// Deviations that a phase is from a border: a normal number passes seven once in 2^38.
const DEVIATIONS: f64 = 7.0;

/// Values that differ from message to message, so that each border shows; in the negacyclic domain the second half follows.
fn values(message: Message) -> Vec<u64> {
    let p = message.space();
    let mut values: Vec<u64> = (0..p).map(|m| (5 * m + 1) % p).collect();
    if message.domain() == Domain::Negacyclic {
        let half = p as usize / 2;
        (0..half).for_each(|i| values[half + i] = (p - values[i]) % p);
    }
    values
}

#[test]
fn tables_turn_from_value_to_value_at_the_border() {
    let ctx = without_errors();
    let mut source = ChaChaSource::from_seed([3; 32]);
    let sk = LweSecretKey::generate(&ctx, &mut source);
    let key = FhewBootstrapKey::generate(&ctx, &sk, &mut source, &mut |_, _| true).unwrap();
    let run = OneThread { ctx: &ctx, key: &key };
    let noise = Noise::of(ctx.params(), Some(sk.weights(&ctx)));
    assert_eq!(noise.fresh, 0.0);
    let q = ctx.modulus().value() as f64;
    for (p, domain) in [2, 4, 8, 16].into_iter().flat_map(|p| Domain::ALL.map(|domain| (p, domain))) {
        let message = Message::new(p, domain).unwrap();
        let (values, torus) = (values(message), message.torus());
        // A rotation of the full domain reads half the phase, the second with the noise of the first.
        let full = f64::from(u8::from(domain == Domain::Full));
        let eta = (1.0 + full) * DEVIATIONS * noise.decision(full * noise.blind_rotation).sqrt();
        assert!(2.0 * eta < 1.0 / torus as f64, "{p}, {}: boxes are wider than the noise", domain.name());
        let (mut cts, mut expected) = (Vec::new(), Vec::new());
        // Padded messages end where the padding begins; on the whole torus the last one meets the first.
        for m in 0..if domain == Domain::Padded { p - 1 } else { p } {
            for (side, nearest) in [(-eta, m), (eta, (m + 1) % p)] {
                let phase = ((m as f64 + 0.5) / torus as f64 + side).rem_euclid(1.0) * q;
                cts.push(sk.encrypt(&ctx, phase as u64, &mut source).unwrap());
                expected.push(values[nearest as usize]);
            }
        }
        let table = Table::new(message, message, &values).unwrap();
        let out = lookup(&run, &cts, &[table], -64.0).unwrap().remove(0);
        let found: Vec<u64> = out.iter().map(|ct| message.decode(&ctx, sk.phase(&ctx, ct).unwrap())).collect();
        assert_eq!(found, expected, "{p}, {}", domain.name());
    }
}
