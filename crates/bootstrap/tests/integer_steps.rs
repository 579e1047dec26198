//! The steps of a bootstrap of integers on ciphertexts in a small ring, each beside its value in the clear: messages and noise.

use aglet_bootstrap::integer::{BootstrapCircuit, Exact, Refresh};
use aglet_bootstrap::step::Encoded;
use aglet_bootstrap::{Bootstrapper, KeyNeed, Run, RunOn};
use aglet_ring::arch;
use aglet_ring::reversal::bit_reverse;
use aglet_ring::sample::ChaChaSource;
use aglet_ring::{Form, Multiplier};
use aglet_rlwe::security::Security;
use aglet_rlwe::{Context, KeyRole, KeySet, KeySwitchSpec, SecretKey, SwitchingKey};
use aglet_schemes::integer::prime_power::{
    coefficients, raising_key, slots, Pair, PrimePower, PrimePowerCiphertext, PrimePowerCiphertextEvaluator,
    PrimePowerClear, PrimePowerClearEvaluator, PrimePowerMap, Residue, P,
};
use aglet_schemes::integer::{IntegerLiteral, IntegerParams};
use std::sync::Arc;

const INT16: &str = include_str!("../../aglet/presets/integer/int16.toml");
const DEEP: &str = include_str!("../../aglet/presets/integer/int16-deep.toml");
const LOG_N: u32 = 10;

struct World {
    params: IntegerParams,
    circuit: BootstrapCircuit,
    ctx: Arc<Context>,
    all: Arc<Context>,
    sk: SecretKey,
    sparse: SecretKey,
    keys: KeySet,
    random: ChaChaSource,
}

impl World {
    fn new(kernels: &'static arch::Kernels) -> Self {
        Self::of(INT16, LOG_N, kernels)
    }

    /// With `2^log_slots` slots in the ring of degree `2^LOG_N`.
    fn of(text: &str, log_slots: u32, kernels: &'static arch::Kernels) -> Self {
        let params = IntegerParams::from_toml(text, Security::NotChecked).unwrap();
        let log_slots = Some(log_slots);
        let literal = IntegerLiteral { log_n: LOG_N, log_slots, claims: None, ..params.literal().clone() };
        let params = IntegerParams::new(literal, Security::NotChecked).unwrap();
        let circuit = BootstrapCircuit::new(&params).unwrap();
        let all = Context::with_kernels(params.rlwe().clone(), kernels).unwrap();
        let ctx = all.subset(circuit.params.prime_indices()).unwrap();
        let mut random = ChaChaSource::from_seed([8; 32]);
        let sk = SecretKey::generate(&all, &mut random).unwrap();
        let sparse = SecretKey::generate_sparse(&ctx, &mut random).unwrap();
        let main = sk.for_subset(&ctx).unwrap();
        let mut keys = KeySet::new();
        for KeyNeed { role, spec } in circuit.keys().unwrap().1 {
            let made = match role {
                KeyRole::Relinearization => SwitchingKey::relinearization(&ctx, spec, &main, &mut random),
                KeyRole::Galois(galois) => SwitchingKey::galois(&ctx, spec, galois, &main, &mut random),
                KeyRole::DenseToSparse => SwitchingKey::between(&ctx, spec, &main, &sparse, &mut random),
                KeyRole::SparseToDense => unreachable!(),
                KeyRole::SparseToDenseGalois(galois) => {
                    Ok(raising_key(&ctx, &spec, galois, (&sparse, &main), &mut random).unwrap())
                }
            };
            keys.insert(role, made.unwrap().into());
        }
        Self { params, circuit, ctx, all, sk, sparse, keys, random }
    }

    /// The phase `p^-k [f m]` of numbers in slots, at the limbs of a sample.
    fn phase(&self, ctx: &Context, values: &[Pair], at: Exact) -> aglet_ring::Poly<aglet_ring::Eval> {
        let (ring, limbs) = (ctx.ring(), at.level + 1);
        let small: Vec<i64> =
            coefficients(values).into_iter().map(|c| at.power.centred(c * at.correction_factor)).collect();
        let mut spread = vec![0; ring.n()];
        spread.iter_mut().step_by(ring.n() / small.len()).zip(small).for_each(|(place, c)| *place = c);
        let lifted = ring.to_eval(ring.lift(&spread, ring.scratch(limbs, 0).unwrap()));
        let moduli = (0..limbs).map(|i| ring.modulus(i));
        let inverse: Vec<u64> = moduli.map(|m| m.inv(m.reduce(at.power.modulus()))).collect();
        let by = Multiplier::Residues(&inverse);
        ring.forms(&[Form::multiple(by, &lifted)], limbs, 0).unwrap().remove(0)
    }

    fn encrypt(&mut self, values: &[Pair], at: Exact) -> Arc<PrimePowerCiphertext> {
        let phase = self.phase(&self.ctx, values, at);
        let main = self.sk.for_subset(&self.ctx).unwrap();
        let sample = main.encrypt(&self.ctx, &phase, &mut self.random).unwrap();
        Arc::new(PrimePowerCiphertext { sample, power: at.power, correction_factor: at.correction_factor })
    }

    /// The numbers of a ciphertext, and log2 of the deviation of its noise: all of the phase if it is no ciphertext.
    fn decrypt(&self, ct: &PrimePowerCiphertext) -> (Vec<Pair>, f64) {
        let (t, users) = (i128::from(ct.power.modulus()), ct.limbs() == self.params.max_level() + 1);
        let ctx = if users { &self.all } else { &self.ctx };
        let key = if ct.key == self.sparse.id() { &self.sparse } else { &self.sk };
        let ring = ctx.ring();
        let x = key.for_subset(ctx).unwrap().decrypt(ctx, &ct.sample).unwrap();
        let x = ring
            .to_coeff(ring.forms(&[Form::multiple(Multiplier::integer(t), &x)], ct.limbs(), 0).unwrap().remove(0))
            .unwrap();
        let rows = x.host().unwrap();
        // t times the phase is small: two primes tell it.
        let lifted = |j: usize| {
            let (m0, low) = (ring.modulus(0), rows.row(0)[j]);
            if ct.limbs() == 1 {
                return i128::from(m0.centre(low));
            }
            let m1 = ring.modulus(1);
            let step = m1.mul(m1.sub(rows.row(1)[j], m1.reduce(low)), m1.inv(m1.reduce(m0.value())));
            let (q0, q1) = (i128::from(m0.value()), i128::from(m1.value()));
            let x = i128::from(low) + q0 * i128::from(step);
            if x > q0 * q1 / 2 {
                x - q0 * q1
            } else {
                x
            }
        };
        let all: Vec<i128> = (0..ring.n()).map(lifted).collect();
        let inverse = ct.correction_factor.inverse();
        let message = |x: &i128| Residue::new(x.rem_euclid(t)) * inverse;
        let noise = all.iter().map(|x| (*x as f64 / t as f64).powi(2)).sum::<f64>() / all.len() as f64;
        let step = ring.n() >> self.params.log_slots();
        (slots(&all.iter().step_by(step).map(message).collect::<Vec<_>>()), noise.sqrt().log2())
    }
}

fn message(slots: usize, seed: u64) -> Vec<Pair> {
    let one = |j: usize| Residue::new(i128::from((j as u64 + seed).pow(3) * 77 % P));
    (0..slots).map(|j| Pair([one(j), one(j + slots)])).collect()
}

fn same(x: &PrimePowerCiphertext, found: &[Pair], wanted: &[Pair]) -> bool {
    found.iter().zip(wanted).all(|(a, b)| (0..2).all(|row| x.power.same(a.0[row], b.0[row])))
}

/// The stages from one on, on ciphertexts.
fn run(
    w: &World,
    from: usize,
    mut ct: Arc<PrimePowerCiphertext>,
    mut seen: impl FnMut(&str, &Refresh, &Arc<PrimePowerCiphertext>),
) -> Arc<PrimePowerCiphertext> {
    let e = PrimePowerCiphertextEvaluator::new(&w.ctx, &w.keys);
    for stage in &w.circuit.plan.stages()[from..] {
        let encoded = stage.step.encode(&e).unwrap();
        ct = stage.step.run_on(&e, Run { cts: &[ct], to: &stage.to, encoded: encoded.as_ref() }).unwrap().remove(0);
        seen(&stage.name, &stage.step, &ct);
    }
    ct
}

#[test]
fn every_step_does_what_it_does_in_the_clear_with_the_noise_of_its_formula() {
    every_step(World::new(arch::chosen().unwrap()));
    every_step(World::of(DEEP, LOG_N - 1, arch::chosen().unwrap()));
}

fn every_step(mut w: World) {
    let count = 1 << (w.params.log_slots() - 1);
    let (values, at) = (message(count, 11), w.circuit.plan.input());
    let ct = w.encrypt(&values, at);
    let e = PrimePowerClearEvaluator::new(count, w.circuit.params.q().to_vec(), vec![0]);
    let mut clear =
        PrimePowerClear { values, level: at.level, power: at.power, correction_factor: at.correction_factor };
    // The rounding of a division is all that is left after it; at the lowest modulus there is that of the switch as well.
    let rounding = (1.0 + w.params.secret().squared_norm(w.params.n())) / 12.0;
    let switch = KeySwitchSpec::dense_to_sparse().noise(&w.params, 1) + 32.0 / 12.0;
    let mut stages = w.circuit.plan.stages().iter();
    let mut checked = 0;
    run(&w, 0, ct, |name, step, ct| {
        let to = stages.next().unwrap().to;
        let encoded = step.encode(&e).unwrap();
        clear = step.run_on(&e, Run { cts: &[clear.clone()], to: &to, encoded: encoded.as_ref() }).unwrap().remove(0);
        let (found, noise) = w.decrypt(ct);
        if let Refresh::Raise(raise) = step {
            // The low digits are what the rounding of this ciphertext made them: found again by the other maps.
            assert!(raise.map.slots() == count);
            clear.values.clone_from(&found);
        }
        assert!(same(ct, &found, &clear.values), "{name}");
        let variance = match step {
            Refresh::Encapsulate(_) => rounding + switch,
            Refresh::Apply(apply) if apply.how.drop == 0 => return,
            Refresh::ExtractDigits(_) => return,
            _ => rounding,
        };
        assert!(
            (noise - variance.log2() / 2.0).abs() < 1.0,
            "{name}: 2^{noise:.2}, by the formula 2^{:.2}",
            variance.log2() / 2.0
        );
        checked += 1;
    });
    assert_eq!(checked, 6);
}

/// Messages with low digits of our choice, which no rounding would give.
#[test]
fn low_digits_up_to_fifteen_are_removed_and_sixteen_is_not() {
    let w = World::new(arch::chosen().unwrap());
    let e = PrimePowerCiphertextEvaluator::new(&w.ctx, &w.keys);
    let at = w.circuit.plan.stages().iter().position(|s| matches!(s.step, Refresh::Raise(_))).unwrap();
    let Some(Encoded::Map(PrimePowerMap::Raise(map))) = w.circuit.plan.stages()[at].step.encode(&e).unwrap() else {
        panic!("no map")
    };
    let values = message(w.params.n() / 2, 5);
    for (low, right) in [(15, true), (-15, true), (16, false)] {
        let plain = map.plain();
        // Both rows as coefficients, in the order that coeffs_to_slots takes them back from.
        let mut rows = [0, 1].map(|row| values.iter().map(|v| v.0[row]).collect::<Vec<_>>());
        rows.iter_mut().for_each(|row| bit_reverse(row));
        let square = |m: &Residue| PrimePower::Two.centred(*m * Residue::new(P.into()) + Residue::new(low));
        let word = |x: &[i64]| plain.to_eval(plain.lift(x, plain.scratch(1, 0).unwrap()));
        let shifted = word(&rows.concat().iter().map(square).collect::<Vec<_>>());
        let none = word(&vec![0; 2 * values.len()]);
        let raised = map.raise_switched(&e, [shifted, none]).unwrap();
        let out = run(&w, at + 1, raised, |_, _, _| {});
        assert_eq!(same(&out, &w.decrypt(&out).0, &values), right, "{low}");
    }
}

#[test]
fn every_backend_gives_the_same_bits() {
    let bits = |kernels| {
        let mut w = World::new(kernels);
        let (values, at) = (message(w.params.n() / 2, 3), w.circuit.plan.input());
        let ct = w.encrypt(&values, at);
        let out = run(&w, 0, ct, |_, _, _| {});
        assert!(same(&out, &w.decrypt(&out).0, &values));
        out.polys
            .iter()
            .flat_map(|p| p.host().unwrap().iter().map(<[u64]>::to_vec).collect::<Vec<_>>())
            .collect::<Vec<_>>()
    };
    let first = bits(arch::chosen().unwrap());
    assert!(arch::available().iter().all(|kernels| bits(kernels) == first));
}
