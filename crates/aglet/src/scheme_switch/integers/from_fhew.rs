//! From FHEW to integers: messages of a FHEW engine become slots of a fresh ciphertext, exactly.
//!
//! Messages are packed as coefficients and switched to the modulus q0 and the main secret. A bootstrap goes on from there under its sparse
//! secret: rounded to whole parts of p of the torus they are `m p / torus + e` modulo p, and once in slots, a polynomial takes them to m. Of
//! what there is of noise it sees the sum: that of the lookups, of packing, and of rounding under the sparse secret.

use crate::fhew::{Form, MAX_LOG2_FAILURE};
use crate::integer::{self, cost::Raising, BootstrapKey, Ciphertext, Messages};
use crate::runtime::stages_json;
use crate::scheme_switch::{fits_values, packing_bytes, Bits};
use crate::scheme_switch::{IntegerSchemeSwitch, IntegerSchemeSwitchKey};
use crate::{Control, Error, LevelError, ParameterError, RangeError, Units};
use aglet_circuits::Rounding;
use aglet_rlwe::lwe::{log2_tail, LweCiphertext, PackingKey};
use aglet_rlwe::ring_switch::SmallToLargeKey;
use aglet_rlwe::Sample;
use serde_json::{json, Value};
use std::sync::Arc;

/// What is converted: messages below `count`, each `1 / torus` of the torus, of which 0 has the phase `zero`.
#[derive(Clone, Copy)]
struct Raised {
    count: u64,
    torus: u64,
    zero: u64,
}

impl IntegerSchemeSwitch {
    /// Messages of tables as the first slots of a fresh ciphertext, in the order given; all other slots are 0. `bits` says that messages are
    /// below `2^bits`: fewer take fewer levels and less time. Bits of gates are 0 and 1.
    ///
    /// # Errors
    /// [`Error::Parameter`] for integers, whose digits are messages; [`Error::Range`] for more messages than slots, more bits
    /// than messages have, or noise of which one in 2^128 would come back wrong; [`Error::Level`] where parameters have not the levels;
    /// [`Error::MissingKey`] for a switching key that leads to FHEW alone; keys that do not belong together, [`Error::Cancelled`].
    pub fn from_fhew(
        &self,
        (form, cells): Bits<'_>,
        bits: Option<u32>,
        (key, bootstrap): (&IntegerSchemeSwitchKey, &BootstrapKey),
        control: &Control,
    ) -> Result<Ciphertext, Error> {
        let (raised, (packing, small_to_large)) =
            (self.raised(form, bits)?, self.check_from_fhew(cells.len(), (key, bootstrap))?);
        fits_values(cells.len(), packing_bytes(&self.fhew.ctx, cells.len()))?;
        let worst = cells.iter().map(LweCiphertext::variance).fold(0.0, f64::max);
        let bound = self.bound(raised, self.variance_from_fhew(worst)?)?;
        let of = (raised.count, raised.torus, bound);
        self.slots.fits_raising(small_to_large.on_card(), of, bootstrap, control)?;
        let sample = self.slots.run(|| self.packed(cells, raised.zero, (packing, small_to_large), control))?;
        self.slots.raise(sample, of, bootstrap, control)
    }

    /// Messages as coefficients modulo q0 under the main secret, those of a phase `zero` as 0.
    fn packed(
        &self,
        cells: &[LweCiphertext],
        zero: u64,
        (packing, small_to_large): (&PackingKey, &SmallToLargeKey),
        control: &Control,
    ) -> Result<Sample, Error> {
        let (large, small) = (&*self.slots.ctx, &*self.fhew.ctx);
        let from_zero = |(slot, ct): (usize, &LweCiphertext)| {
            let shifted = LweCiphertext::combine(small, small.modulus().neg(zero), &[(ct, 1)])?;
            Ok((self.coefficient(slot), shifted))
        };
        let members = cells.iter().enumerate().map(from_zero).collect::<Result<Vec<_>, Error>>()?;
        let samples = SmallToLargeKey::pack(&self.between, small, packing, &members)?;
        control.check()?;
        Ok(small_to_large.apply(&self.between, (large, small), &samples)?)
    }

    /// What [`IntegerSchemeSwitch::from_fhew`] would do with messages that have this variance on the torus, as JSON: the polynomial, how
    /// rarely a message comes back wrong, by the formulas, and its stages; with units also the seconds of one thread, without packing.
    ///
    /// # Errors
    /// As there.
    pub fn plan_from_fhew(
        &self,
        form: Form,
        bits: Option<u32>,
        variance: f64,
        units: Option<&Units>,
    ) -> Result<Value, Error> {
        let (raised, variance) = (self.raised(form, bits)?, self.variance_from_fhew(variance)?);
        let (bound, params) = (self.bound(raised, variance)?, self.slots.params());
        let plan = self.raising((raised.count, raised.torus, bound))?;
        Ok(json!({
            "messages": raised.count, "bound": bound, "deviation": variance.sqrt() / self.distance(1),
            "log2_failure": log2_tail(self.distance(bound), variance), "polynomial_levels": plan.levels,
            "output_level": plan.level, "stages": stages_json(&plan.stages, params.n(), units),
        }))
    }

    /// The work of a conversion from FHEW; what was found once is kept.
    fn raising(&self, of: Messages) -> Result<Arc<Raising>, Error> {
        self.kept.0.get(of, || self.slots.run(|| integer::cost::raising(self.slots.params(), of)))
    }

    /// The variance, on the torus, of what the polynomial sees of a message that has this one.
    ///
    /// # Errors
    /// None for parameters that a switch takes.
    pub fn variance_from_fhew(&self, variance: f64) -> Result<f64, Error> {
        let weight = self.slots.params().bootstrap()?.sparse_weight as f64;
        let rounding = (1.0 + weight) / 12.0 * self.distance(1).powi(2);
        Ok(variance + self.added_noise()? + rounding)
    }

    /// The part of the torus that so many units are.
    fn distance(&self, units: u64) -> f64 {
        units as f64 / self.slots.params().plain().value() as f64
    }

    fn raised(&self, form: Form, bits: Option<u32>) -> Result<Raised, Error> {
        let message = self.fhew.params().message();
        let (most, torus, zero) = match form {
            Form::Bits => (2, 4, self.fhew.ctx.modulus().neg(self.fhew.ctx.modulus().value() / 8)),
            Form::Messages(domain) => (message.space(), message.within(domain).torus(), 0),
            Form::Integers(_) | Form::Unsigned(_) => return Err(ParameterError::NoIntegersBack.into()),
        };
        let count = bits.map_or(Some(most), |bits| 1u64.checked_shl(bits)).filter(|count| (2..=most).contains(count));
        let count = count.ok_or(RangeError::MessageBits { most: most.ilog2() })?;
        Ok(Raised { count, torus, zero })
    }

    /// The bound of the polynomial of fewest levels that makes results wrong once in 2^128 at most.
    fn bound(&self, Raised { count, torus, .. }: Raised, variance: f64) -> Result<u64, Error> {
        let fails = |bound: u64| log2_tail(self.distance(bound), variance);
        let levels = (1..=16).find(|&levels| {
            Rounding::bound_for(count, torus, levels).is_some_and(|bound| fails(bound) <= MAX_LOG2_FAILURE)
        });
        let Some(levels) = levels else {
            return Err(RangeError::NoisyMessages.into());
        };
        let room = self.slots.rounding_levels()?;
        if levels > room {
            return Err(LevelError::MessagesBack { count, levels, room }.into());
        }
        Ok(Rounding::bound_for(count, torus, levels).unwrap_or(1))
    }

    fn check_from_fhew<'a>(
        &self,
        count: usize,
        (key, bootstrap): (&'a IntegerSchemeSwitchKey, &BootstrapKey),
    ) -> Result<&'a (PackingKey, SmallToLargeKey), Error> {
        let slots = self.slots.count();
        if count > slots {
            return Err(RangeError::MessagesBack { count, slots }.into());
        }
        if bootstrap.id() != key.id() {
            let (found, expected) = (bootstrap.id(), key.id());
            return Err(aglet_rlwe::Error::KeyMismatch { what: "bootstrap key", found, expected }.into());
        }
        key.back()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fhew::{self, Domain};
    use crate::integer::{presets, IntegerLiteral, IntegerParams, Packing};
    use aglet_rlwe::security::Security;

    /// The variance of fresh zeros times a weight, in units of which p are the torus, as slots have it, and what is said of it.
    fn units(
        switch: &IntegerSchemeSwitch,
        secrets: (&crate::SecretKey, &fhew::SecretKey),
        weight: i64,
    ) -> (Vec<i64>, f64) {
        let (numbers, control) = (switch.slots(), Control::new());
        let key = switch.create_key(secrets.0, secrets.1, None, &control).unwrap();
        let bootstrap = numbers.create_bootstrap_key(secrets.0, None, &control).unwrap();
        let message = switch.fhew.params().message();
        let zeros = switch.fhew().encrypt(&vec![0; numbers.count()], message, secrets.1).unwrap();
        let zeros = switch.fhew().sum(&[(&zeros[..], weight)]).unwrap();
        let (packing, small_to_large) = key.small_to_large.as_ref().unwrap();
        let packed = || numbers.run(|| switch.packed(&zeros, 0, (packing, small_to_large), &control)).unwrap();
        let found = numbers.raise_units(packed(), &bootstrap).unwrap();
        // Once before, as maps are encoded the first time; what it does is what it is forecast to do.
        let of = (2, 4, 63);
        for _ in 0..2 {
            numbers.raise(packed(), of, &bootstrap, &control).unwrap();
        }
        let counted = numbers.stage_runs().into_iter().map(|run| (run.name, run.work));
        let predicted = integer::cost::raising(numbers.params(), of).unwrap().stages;
        assert_eq!(counted.len(), predicted.len());
        counted.zip(predicted).for_each(|(run, said)| assert_eq!(run, (said.name, said.work)));
        let said = switch.variance_from_fhew(zeros[0].variance()).unwrap() / switch.distance(1).powi(2);
        (numbers.decrypt(&found, secrets.0).unwrap(), said)
    }

    #[test]
    fn the_noise_of_a_way_up_is_as_the_formulas_say() {
        let literal = presets::load("int16", presets::Security::Bits128).unwrap().literal().clone();
        let literal = IntegerLiteral { name: "small".into(), log_n: 11, claims: None, ..literal };
        let params = IntegerParams::new(literal, Security::NotChecked).unwrap();
        let engine = integer::Engine::new(params, Packing::Slots, 2).unwrap();
        let fhew =
            fhew::Engine::new(fhew::presets::load("lut4", fhew::presets::Security::Bits128).unwrap(), 2).unwrap();
        let (main, fhew_secret) = (engine.create_secret_key().unwrap(), fhew.create_secret_key().unwrap());
        let switch = IntegerSchemeSwitch::new(engine, fhew).unwrap();
        // What the conversion itself adds, and what ciphertexts have that are as noisy as those of a table: 2,048 values each.
        for weight in [1, 1 << 32] {
            let (found, said) = units(&switch, (&main, &fhew_secret), weight);
            let variance = found.iter().map(|&e| (e * e) as f64).sum::<f64>() / found.len() as f64;
            assert!((variance.sqrt() / said.sqrt() - 1.0).abs() < 0.1, "{variance:.3} of {said:.3}");
            // How often a small bound fails is how often a normal number of the variance that is said does.
            let near = (1.6 * said.sqrt()) as i64;
            for bound in [near, near + 1] {
                let wrong = found.iter().filter(|e| e.abs() > bound).count() as f64 / found.len() as f64;
                let tail = log2_tail(bound as f64 + 0.5, said).exp2();
                assert!((wrong - tail).abs() < 0.25 * tail + 0.006, "{wrong:.4} of {tail:.4} beyond {bound}");
            }
        }
        let form = Form::Messages(Domain::Padded);
        let planned = |bits, units: f64| switch.plan_from_fhew(form, bits, (units / 65537.0).powi(2), None);
        for (bits, units, levels, level) in [(None, 0.0, 10, 2), (Some(1), 0.0, 7, 6), (Some(1), 3.4, 8, 5)] {
            let found = planned(bits, units).unwrap();
            assert!(found["log2_failure"].as_f64().unwrap() <= MAX_LOG2_FAILURE);
            assert_eq!((&found["polynomial_levels"], &found["output_level"]), (&json!(levels), &json!(level)));
            assert!(found["bound"].as_f64().unwrap() > 10.0 * found["deviation"].as_f64().unwrap());
        }
        // What was found is not found again, and plans of it are the same.
        let known = switch.kept.0.all().len();
        assert_eq!((planned(Some(1), 3.4).unwrap(), known), (planned(Some(1), 3.4).unwrap(), 3));
        assert_eq!(switch.kept.0.all().len(), known);
        assert!(planned(None, 100.0).is_err() && planned(Some(5), 0.0).is_err());
    }
}
