//! The ring switch: ring switch, classes and extraction against plain integers, noise against its formula, and back.

use super::*;
use crate::chain;
use crate::lwe::{GlweSample, LweCiphertext, LweParams, LweSpec, Method};
use crate::params::ParamsSpec;
use crate::sample::Sample;
use crate::secret::SecretKey;
use crate::security::{Secret, Security};
use crate::Context;
use aglet_ring::arch;
use aglet_ring::sample::ChaChaSource;
use std::sync::Arc;

/// N = 2^10 and N' = 2^7: eight classes.
struct Sides {
    large: Arc<Context>,
    ctx: LweContext,
    switch: RingSwitch,
    main: SecretKey,
    fhew_secret: LweSecretKey,
    source: ChaChaSource,
}

fn spec(glwe_error: f64) -> LweSpec {
    LweSpec {
        method: Method::Blocks,
        modulus: 1_099_469_684_737,
        log_n: 7,
        rank: 2,
        dimension: 200,
        secret: Secret::BlockBinary(4),
        gadget: Gadget { levels: 1, log_base: 16 },
        switch_digits: 11,
        lwe_error: -12.76,
        glwe_error,
    }
}

fn sides(glwe_error: f64, seed: u8) -> Sides {
    between(chain::spec(), spec(glwe_error), arch::chosen().unwrap(), seed)
}

/// N = 2^16 and N' = 2^11, the degrees of tables of four bits: 32 classes. The modulus is so small that nothing errs, and the main secret is
/// sparse, for sums term by term.
fn real_sides(seed: u8) -> Sides {
    let (q, p) = (chain::primes(16, 47, 1, &[]), chain::primes(16, 50, 1, &[]));
    let large = ParamsSpec {
        log_n: 16,
        secret: Secret::FixedWeight(192),
        sparse_secret: None,
        q,
        p,
        max_log_qp: None,
        ..chain::spec()
    };
    let gadget = Gadget { levels: 1, log_base: 16 };
    let small = LweSpec {
        modulus: chain::primes(16, 40, 1, &[])[0],
        log_n: 11,
        rank: 1,
        dimension: 844,
        gadget,
        switch_digits: 15,
        ..spec(-48.0)
    };
    between(large, small, arch::available().last().unwrap(), seed)
}

fn between(large: ParamsSpec, small: LweSpec, kernels: &'static Kernels, seed: u8) -> Sides {
    let log_n = large.log_n;
    let large = Context::with_kernels(chain::params(large), kernels).unwrap();
    let ctx = LweContext::new(LweParams::new(small, Security::NotChecked).unwrap(), kernels).unwrap();
    let mut source = ChaChaSource::from_seed([seed; 32]);
    let switch = RingSwitch::new(&ctx, log_n, kernels).unwrap();
    let main = SecretKey::generate(&large, &mut source).unwrap();
    let fhew_secret = LweSecretKey::generate(&ctx, &mut source);
    Sides { large, ctx, switch, main, fhew_secret, source }
}

impl Sides {
    /// A sample at the lowest modulus of these multiples of q0 / 1000.
    fn encrypt(&mut self, values: &[i64]) -> Sample {
        let ring = self.large.ring();
        let step = ring.modulus(0).value() as i64 / 1000;
        let wide: Vec<i64> = values.iter().map(|v| v * step).collect();
        let plain = ring.to_eval(ring.lift(&wide, ring.scratch(1, 0).unwrap()));
        self.main.encrypt(&self.large, &plain, &mut self.source).unwrap()
    }

    /// What a sample switched to Q has as coefficients: the body plus the mask times the secret, term by term.
    fn switched(&self, sample: &Sample) -> Vec<u64> {
        let (ring, n) = (&self.switch.ring, self.switch.ring.n());
        let row =
            |x| ring.to_coeff(ring.switch_from(self.large.ring(), x).unwrap()).unwrap().host().unwrap().row(0).to_vec();
        let (b, a, m) = (row(&sample.polys[0]), row(&sample.polys[1]), ring.modulus(0));
        let mut phase = b;
        for (i, &s) in self.main.coefficients().iter().enumerate().filter(|(_, &s)| s != 0) {
            for (j, &a) in a.iter().enumerate() {
                let negative = (s < 0) != (i + j >= n);
                let at = &mut phase[(i + j) % n];
                *at = if negative { m.sub(*at, a) } else { m.add(*at, a) };
            }
        }
        phase
    }

    fn lower(&mut self, sample: &Sample) -> SwitchedSample {
        let key = LargeToSmallKey::generate(&self.switch, &self.ctx, (&self.main, &self.fhew_secret), &mut self.source)
            .unwrap();
        key.apply(&self.switch, &self.ctx, (self.large.ring(), sample), 0.0).unwrap()
    }
}

fn values(seed: i64) -> Vec<i64> {
    (0..1024).map(|i| (i * i * 7 + i * 31 + seed * 13) % 1000 - 500).collect()
}

#[test]
fn without_errors_every_coefficient_comes_down_exactly() {
    let mut s = sides(-48.0, 1);
    let sample = s.encrypt(&values(0));
    let (expected, lowered) = (s.switched(&sample), s.lower(&sample));
    let order: Vec<usize> = (0..1024).map(|i| (i * 357 + 11) % 1024).collect();
    let found = lowered.extract(&s.switch, &s.ctx, &order).unwrap();
    for (ct, &at) in found.iter().zip(&order) {
        assert_eq!(s.fhew_secret.phase(&s.ctx, ct).unwrap(), expected[at], "coefficient {at}");
    }
    packed_to_the_rounding_of_weights(&mut s, Gadget { levels: 8, log_base: 5 }, &found[..100]);
    // A class is a sample of the same phases.
    let class = lowered.class(&s.switch, &s.ctx, 5).unwrap();
    for i in [0, 1, 77, 127] {
        assert_eq!(s.fhew_secret.phase(&s.ctx, &class.extract(&s.ctx, i)).unwrap(), expected[5 + 8 * i]);
    }
}

#[test]
fn at_the_real_degree_coefficients_come_down_exactly_and_are_packed() {
    let mut s = real_sides(9);
    let values: Vec<i64> = (0..1 << 16).map(|i| (i * i * 7 + i * 31) % 1000 - 500).collect();
    let sample = s.encrypt(&values);
    let (expected, lowered) = (s.switched(&sample), s.lower(&sample));
    // Every class, and the ends of each.
    let order: Vec<usize> = (0..1 << 16).step_by(61).chain([1, (1 << 16) - 1, (1 << 16) - 32, 31]).collect();
    let found = lowered.extract(&s.switch, &s.ctx, &order).unwrap();
    for (ct, &at) in found.iter().zip(&order) {
        assert_eq!(s.fhew_secret.phase(&s.ctx, ct).unwrap(), expected[at], "coefficient {at}");
    }
    packed_to_the_rounding_of_weights(&mut s, Gadget { levels: 10, log_base: 4 }, &found[..300]);
}

/// Packed by digits that cover the whole modulus, ciphertexts have their phases but for what rounds the weights of the digits, at its
/// worst; missing ones are zero.
fn packed_to_the_rounding_of_weights(s: &mut Sides, gadget: Gadget, cts: &[LweCiphertext]) {
    let key = PackingKey::generate(&s.ctx, &s.fhew_secret, gadget, &mut s.source, &mut |_, _| true).unwrap();
    let (m, count) = (s.ctx.modulus(), s.ctx.params().n());
    let given: Vec<Option<&LweCiphertext>> = (0..count).map(|i| (i % 3 != 1).then(|| cts.get(i)).flatten()).collect();
    let packed = key.pack_some(&s.ctx, &given).unwrap();
    // Half a unit for each digit, of half the base at most, and half of what is below the last; merges double it.
    let below = 1.0 + m.value() as f64 / f64::from(gadget.log_base * gadget.levels as u32).exp2();
    let each = gadget.levels as f64 * f64::from(gadget.log_base).exp2() / 4.0 + below / 2.0;
    let most = (s.ctx.params().coordinates() * count) as f64 * each;
    assert!(most < m.value() as f64 / 2048.0, "half a message is more than a bound of 2^{:.1}", most.log2());
    for (i, ct) in given.iter().enumerate().filter(|(i, ct)| ct.is_some() || i % 7 == 1) {
        let wanted = ct.map_or(0, |ct| s.fhew_secret.phase(&s.ctx, ct).unwrap());
        let off = m.centre(m.sub(s.fhew_secret.phase(&s.ctx, &packed.extract(&s.ctx, i)).unwrap(), wanted));
        assert!((off.abs() as f64) < most, "member {i} is off by {off} of {most:.0}");
    }
}

#[test]
fn the_ring_switch_has_the_noise_of_its_formula() {
    let (mut squares, mut count, mut formula) = (0.0, 0.0, 0.0);
    for seed in 0..12 {
        let mut s = sides(-34.91, seed);
        let sample = s.encrypt(&values(i64::from(seed)));
        let (expected, lowered) = (s.switched(&sample), s.lower(&sample));
        let (m, q) = (*s.ctx.modulus(), s.ctx.modulus().value() as f64);
        let all: Vec<usize> = (0..1024).collect();
        for (ct, &expected) in lowered.extract(&s.switch, &s.ctx, &all).unwrap().iter().zip(&expected) {
            let error = m.centre(m.sub(s.fhew_secret.phase(&s.ctx, ct).unwrap(), expected)) as f64 / q;
            squares += error * error;
            count += 1.0;
            assert!((ct.variance() / LargeToSmallKey::noise(&s.switch, &s.ctx) - 1.0).abs() < 1e-9);
        }
        formula = LargeToSmallKey::noise(&s.switch, &s.ctx);
    }
    let ratio = squares / count / formula;
    assert!((ratio - 1.0).abs() < 0.1, "measured over formula {ratio:.3}");
}

/// Slots that err by the same, as copies of one slot do, err by it in what goes to FHEW: sums have the sum of its deviations, within one
/// ciphertext and over several. Each of 1024 coefficients errs by the same normal number.
#[test]
fn sums_of_what_comes_down_state_the_noise_that_slots_share() {
    let (mut ratios, deviation) = (Vec::new(), 1e-5);
    let mut s = sides(-34.91, 20);
    let key = LargeToSmallKey::generate(&s.switch, &s.ctx, (&s.main, &s.fhew_secret), &mut s.source).unwrap();
    let (m, q) = (*s.ctx.modulus(), s.ctx.modulus().value() as f64);
    let mut state = 1u64;
    for _ in 0..240 {
        let uniform = (0..12).map(|_| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 11) as f64 / 2f64.powi(53)
        });
        let normal = uniform.sum::<f64>() - 6.0;
        let error = (normal * deviation * s.large.ring().modulus(0).value() as f64) as i64;
        let lowered = [0, 1].map(|_| {
            let ring = s.large.ring();
            let plain = ring.to_eval(ring.lift(&[error; 1024], ring.scratch(1, 0).unwrap()));
            let sample = s.main.encrypt(&s.large, &plain, &mut s.source).unwrap();
            key.apply(&s.switch, &s.ctx, (s.large.ring(), &sample), deviation * deviation).unwrap()
        });
        let down = lowered.map(|lowered| lowered.extract(&s.switch, &s.ctx, &[0, 8, 9, 700]).unwrap());
        let terms: Vec<_> = down.iter().flatten().map(|ct| (ct, 3)).collect();
        let sum = LweCiphertext::combine(&s.ctx, 0, &terms).unwrap();
        let found = m.centre(s.fhew_secret.phase(&s.ctx, &sum).unwrap()) as f64 / q;
        ratios.push(found * found / sum.variance());
        assert!((sum.variance() / down[0][0].variance() / 576.0 - 1.0).abs() < 1e-9, "eight deviations, three times");
        let difference = LweCiphertext::combine(&s.ctx, 0, &[(&down[0][0], 1), (&down[1][0], -1)]).unwrap();
        assert!(
            (difference.variance() / down[0][0].variance() / 4.0 - 1.0).abs() < 1e-9,
            "nothing is counted on to cancel"
        );
    }
    let mean = ratios.iter().sum::<f64>() / ratios.len() as f64;
    // A mean square of 240 has a deviation of one part in 11.
    assert!((0.5..1.5).contains(&mean), "measured over stated {mean:.3}");
    // The same coefficient of the same ciphertext is the same noise.
    let sample = s.encrypt(&values(3));
    let twice = [0, 1].map(|_| key.apply(&s.switch, &s.ctx, (s.large.ring(), &sample), 1.0).unwrap());
    let twice = twice.map(|lowered| lowered.extract(&s.switch, &s.ctx, &[77]).unwrap().remove(0));
    let none = LweCiphertext::combine(&s.ctx, 0, &[(&twice[0], 1), (&twice[1], -1)]).unwrap();
    assert_eq!((none.variance(), s.fhew_secret.phase(&s.ctx, &none).unwrap()), (0.0, 0));
}

#[test]
fn what_comes_down_goes_up_again() {
    let mut s = sides(-48.0, 3);
    let (m, values) = (*s.large.ring().modulus(0), values(5));
    let sample = s.encrypt(&values);
    let lowered = s.lower(&sample);
    let key =
        SmallToLargeKey::generate(&s.switch, (&s.large, &s.ctx), (&s.fhew_secret, &s.main), &mut s.source).unwrap();
    let class = |j| (j != 3).then(|| lowered.class(&s.switch, &s.ctx, j).unwrap());
    let classes: Vec<Option<GlweSample>> = (0..7).map(class).collect();
    let raised = key.apply(&s.switch, (&s.large, &s.ctx), &classes).unwrap();
    assert_eq!((raised.key, raised.limbs()), (s.main.id(), 1));
    let phase = s.large.ring().to_coeff(s.main.decrypt(&s.large, &raised).unwrap()).unwrap();
    let step = m.value() as i64 / 1000;
    let mut squares = 0.0;
    for (c, &x) in phase.host().unwrap().row(0).iter().enumerate() {
        let expected = if ![3, 7].contains(&(c % 8)) { values[c] * step } else { 0 };
        let error = m.centre(m.sub(x, m.reduce_i64(expected))) as f64 / m.value() as f64;
        squares += error * error / 1024.0;
    }
    // Rounding to Q = 2^40 on the way to FHEW under a ternary secret weighs most: 2^-39.
    assert!(squares.sqrt() < 2f64.powi(-36), "{:.1} bits", squares.sqrt().log2());
    assert!(SmallToLargeKey::noise(&s.large, &s.ctx).unwrap().sqrt() < 2f64.powi(-40));
}

#[test]
fn keys_come_back_from_their_seed() {
    let mut s = sides(-34.91, 4);
    let sample = s.encrypt(&values(1));
    let key = LargeToSmallKey::generate(&s.switch, &s.ctx, (&s.main, &s.fhew_secret), &mut s.source).unwrap();
    let (seed, bodies) = key.stored().unwrap();
    let copies = || bodies.iter().map(|b| b.to_vec()).collect::<Vec<_>>();
    let ids = (key.from(), key.to());
    let again = LargeToSmallKey::from_stored(&s.switch, &s.ctx, ids, *seed, copies()).unwrap();
    let down = |key: &LargeToSmallKey| {
        let lowered = key.apply(&s.switch, &s.ctx, (s.large.ring(), &sample), 0.0).unwrap();
        let ct = lowered.extract(&s.switch, &s.ctx, &[700]).unwrap().remove(0);
        (ct.mask(&s.ctx).to_vec(), ct.body())
    };
    assert_eq!(down(&key), down(&again));
    assert_eq!(key.byte_count(), LargeToSmallKey::forecast(&s.switch, &s.ctx));
    let short = copies().split_off(1);
    assert!(LargeToSmallKey::from_stored(&s.switch, &s.ctx, ids, *seed, short).is_err());
}

#[test]
fn what_does_not_belong_together_is_refused() {
    let mut s = sides(-34.91, 6);
    let mut sample = s.encrypt(&values(2));
    let down = LargeToSmallKey::generate(&s.switch, &s.ctx, (&s.main, &s.fhew_secret), &mut s.source).unwrap();
    let up =
        SmallToLargeKey::generate(&s.switch, (&s.large, &s.ctx), (&s.fhew_secret, &s.main), &mut s.source).unwrap();
    let lowered = down.apply(&s.switch, &s.ctx, (s.large.ring(), &sample), 0.0).unwrap();
    let refused = |fault: RingSwitchFault| Some(Error::from(fault));
    let outside = RingSwitchFault::Coefficient { index: 1024, count: 1024 };
    assert_eq!(lowered.extract(&s.switch, &s.ctx, &[3, 1024]).err(), refused(outside));
    let outside = RingSwitchFault::Class { class: 8, classes: 8 };
    assert_eq!(lowered.class(&s.switch, &s.ctx, 8).err(), refused(outside));
    let class = lowered.class(&s.switch, &s.ctx, 0).unwrap();
    let many = vec![Some(class.clone()); 9];
    let samples = RingSwitchFault::Samples { found: 9, classes: 8 };
    assert_eq!(up.apply(&s.switch, (&s.large, &s.ctx), &many).err(), refused(samples));
    let foreign = GlweSample::new(&s.ctx, class.into_words(), s.main.id(), 0.0).unwrap();
    assert!(matches!(up.apply(&s.switch, (&s.large, &s.ctx), &[Some(foreign)]), Err(Error::KeyMismatch { .. })));
    let plain = s.large.ring().zero(2, 0).unwrap();
    let high = s.main.encrypt(&s.large, &plain, &mut s.source).unwrap();
    let apply = |sample: &Sample| down.apply(&s.switch, &s.ctx, (s.large.ring(), sample), 0.0).map(|_| ());
    assert!(matches!(apply(&high), Err(Error::Level { .. })));
    sample.key = s.fhew_secret.id();
    assert!(matches!(apply(&sample), Err(Error::KeyMismatch { .. })));
    assert!(RingSwitch::new(&s.ctx, 6, arch::chosen().unwrap()).is_err());
}
