//! A switch on numbers in the clear, against plain floating point: slots down to phases, and bits up to slots. What is left is the
//! error of the maps and of eval_mod.

use aglet_bootstrap::ckks::request::{KeySize, Method, Request};
use aglet_bootstrap::ckks::slots_first::{lowering, Layout};
use aglet_bootstrap::{BootstrapCircuit, Pipeline};
use aglet_rlwe::security::Security;
use aglet_schemes::ckks::clear::ClearEvaluator;
use aglet_schemes::ckks::CkksParams;
use num_complex::Complex64;
use std::f64::consts::PI;

const TOY: &str = include_str!("../../aglet/presets/ckks/toy.toml");
/// The modulus of FHEW.
const Q: f64 = 281_474_846_687_233.0;

struct Sides {
    circuit: BootstrapCircuit,
    e: ClearEvaluator,
    slots: usize,
    ring_slots: usize,
}

impl Sides {
    fn new(slots: usize, real: bool) -> Self {
        let params = CkksParams::from_toml(TOY, Security::NotChecked).unwrap();
        let stages = slots.ilog2().min(3) as usize;
        let request = Request { real, ..Request::new(Method::Bits, stages, KeySize::Medium, slots) };
        let (circuit, ring_slots) = (BootstrapCircuit::new(&params, request).unwrap(), params.slots());
        let e = ClearEvaluator::new(ring_slots, circuit.layout.as_ref().unwrap().moduli.clone(), 32, 7).unwrap();
        Self { circuit, e, slots, ring_slots }
    }

    fn layout(&self) -> &Layout {
        self.circuit.layout.as_ref().unwrap()
    }

    /// Where parts of a slot stand among the coefficients: bit-reversed, copies between them, imaginary parts behind.
    fn place(&self, slot: usize, imaginary: bool) -> usize {
        let reversed = slot.reverse_bits() >> (usize::BITS - self.slots.ilog2());
        reversed * (self.ring_slots / self.slots) + if imaginary { self.ring_slots } else { 0 }
    }

    /// The coefficients, as parts of the torus, after the way to FHEW; the value 1 is this part of one.
    fn down(&self, values: &[Complex64], torus: f64) -> Vec<f64> {
        let pipeline = Pipeline::new(&self.e, lowering(self.layout(), torus).unwrap()).unwrap();
        let all: Vec<_> = values.iter().copied().cycle().take(self.ring_slots).collect();
        let at = pipeline.plan().input();
        let input = self.e.encrypt(&all, at.level, at.scale).unwrap();
        let out = pipeline.run(&self.e, &[input], &mut ()).unwrap().remove(0);
        out.at_bottom().unwrap();
        let mut found = out.values().to_vec();
        self.e.fft().inverse(&mut found);
        let unit = pipeline.plan().output().scale / self.layout().moduli[0] / self.ring_slots as f64;
        found.iter().map(|c| c.re * unit).chain(found.iter().map(|c| c.im * unit)).collect()
    }

    /// The slots of coefficients, which are parts of the torus, after the way back.
    fn up(&self, phases: &[f64]) -> Vec<Complex64> {
        let pipeline = Pipeline::new(&self.e, self.circuit.plan.clone()).unwrap();
        let first = self.circuit.raises_from().unwrap();
        let at = self.circuit.plan.stages()[first].from;
        let unit = self.layout().moduli[0] / at.scale;
        let (real, imaginary) = phases.split_at(self.ring_slots);
        let mut values: Vec<_> = real.iter().zip(imaginary).map(|(&x, &y)| Complex64::new(x, y) * unit).collect();
        self.e.fft().forward(&mut values);
        let input = self.e.encrypt(&values, at.level, at.scale).unwrap();
        let out = pipeline.run_from(&self.e, first, &[input], &mut ()).unwrap().remove(0);
        let all = out.values();
        let repeats = all.chunks(self.slots).all(|copy| copy.iter().zip(all).all(|(a, b)| (a - b).norm() < 1e-9));
        assert!(repeats, "copies of few slots are the same");
        all[..self.slots].to_vec()
    }
}

fn bit(j: usize, seed: usize) -> bool {
    (j * j + seed * j) % 7 < 3
}

fn number(bit: bool) -> f64 {
    f64::from(u8::from(bit))
}

/// To the modulus of FHEW, with an error of this part of the torus at most.
fn switched(phases: f64, j: usize, error: f64) -> f64 {
    ((phases + error * (j as f64 * 1.7).sin()) * Q).round() / Q
}

#[test]
fn every_part_comes_down_to_its_coefficient_at_the_turn_asked_for() {
    // Bits, messages of four bits with a padding bit, signs of 20 bits (the ends included), bytes.
    for (torus, most) in [(0.25, 1.0), (1.0 / 32.0, 15.0), (15.0 / 64.0, 1.0), (1.0 / 256.0, 255.0)] {
        for slots in [512, 64, 2] {
            let s = Sides::new(slots, false);
            let end = |j: usize, k: usize| [1.0, -1.0, 0.0, 1.0 / 3.0, 2f64.powi(-19)][(j + k) % 5] * most;
            let values: Vec<_> = (0..slots).map(|j| Complex64::new(end(j, 0), end(j, 2))).collect();
            let mut expected = vec![0.0; 2 * s.ring_slots];
            for (j, value) in values.iter().enumerate() {
                expected[s.place(j, false)] = value.re * torus;
                expected[s.place(j, true)] = value.im * torus;
            }
            let worst = s.down(&values, torus).iter().zip(&expected).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            assert!(worst < 2f64.powi(-46), "{slots} slots, {torus} of the torus: 2^{:.1}", worst.log2());
        }
    }
}

#[test]
fn bits_go_down_through_a_gate_and_up_as_plain_floating_point_says() {
    for (slots, real) in [(512, true), (512, false), (64, true), (64, false), (4, false)] {
        let s = Sides::new(slots, real);
        let values: Vec<_> = (0..slots).map(|j| Complex64::new(number(bit(j, 1)), number(bit(j, 3)))).collect();
        let low = s.down(&values, 0.25);
        let read = |j: usize, imaginary: bool| switched(low[s.place(j, imaginary)], j, 2f64.powi(-32));
        // NAND of each slot and the next; what a rotation leaves is 2^-14 of the torus.
        let noise = 2f64.powi(-14);
        let mut phases = vec![0.0; 2 * s.ring_slots];
        let mut expected = vec![Complex64::default(); slots];
        for (j, expected) in expected.iter_mut().enumerate() {
            for imaginary in [false, true].into_iter().take(if real { 1 } else { 2 }) {
                let sum = read(j, imaginary) + read((j + 1) % slots, imaginary);
                let gate = (4.0 * sum).round() < 2.0;
                phases[s.place(j, imaginary)] = switched(0.5 * number(gate), j, noise);
                let plain = |j: usize| if imaginary { values[j % slots].im } else { values[j % slots].re };
                let wanted = 1.0 - plain(j) * plain(j + 1);
                *expected += if imaginary { Complex64::new(0.0, wanted) } else { Complex64::new(wanted, 0.0) };
            }
        }
        let errors = s.up(&phases).iter().zip(&expected).map(|(a, b)| (a - b).norm()).fold(0.0, f64::max);
        // An error e of half the torus becomes (pi e / 2)^2, in each part.
        let squared = (PI * noise).powi(2);
        assert!(errors < 1.6 * squared && errors > squared / 100.0, "{slots} slots: 2^{:.1}", errors.log2());
    }
}

#[test]
fn exact_bits_come_up_exactly_and_what_is_no_bit_does_not() {
    let s = Sides::new(64, true);
    let mut phases = vec![0.0; 2 * s.ring_slots];
    for j in 0..64 {
        phases[s.place(j, false)] = 0.5 * number(bit(j, 1)) + if j == 9 { 0.25 } else { 0.0 };
    }
    for (j, found) in s.up(&phases).iter().enumerate() {
        let error = (found - number(bit(j, 1))).norm();
        // A quarter of the torus is half a bit.
        assert!(if j == 9 { (error - 0.5).abs() < 1e-6 } else { error < 2f64.powi(-28) }, "slot {j}: {error:e}");
    }
}
