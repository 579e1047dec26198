//! What tests of scheme switching look at within a bootstrap of integers.

use super::*;
use aglet_bootstrap::integer::Refresh;
use aglet_bootstrap::Pipeline;
use aglet_schemes::integer::prime_power::{PrimePowerEvaluator, Residue};
use aglet_schemes::Scale;

impl Engine {
    /// What is rounded in [`Engine::raise`], as it is: units of which p are the torus.
    pub(crate) fn raise_units(&self, sample: Sample, key: &BootstrapKey) -> Result<Ciphertext, Error> {
        let circuit = self.raising((2, 4, 63), &Control::new())?;
        let (ctx, input) = (self.bootstrap.parts.context(&self.ctx, &circuit.params)?, circuit.input());
        let before =
            circuit.plan.stages().iter().take_while(|s| !matches!(s.step, Refresh::Round(_))).cloned().collect();
        let (primes, users) = (circuit.params.q(), self.params().q());
        let plan = aglet_bootstrap::Plan::new(before, &primes.iter().map(|&q| q as f64).collect::<Vec<_>>())?;
        let product = |primes: &[u64]| primes.iter().fold(Residue::ONE, |sum, &q| sum * Residue::from(q));
        let (from, to) = (plan.output().level, self.params().max_level());
        self.run(|| {
            let e = PrimePowerCiphertextEvaluator::new(&ctx, &key.keys);
            let pipeline = Pipeline::new(&e, plan)?;
            let input = Arc::new(PrimePowerCiphertext {
                sample,
                power: input.power,
                correction_factor: input.correction_factor,
            });
            let units = e.over_p(&pipeline.run(&e, &[input], &mut ())?[0]);
            let gain = product(&users[..=to]).over(product(&primes[..=from]));
            Ok(self.numbers(&*e.mod_switch(&units, to, gain).map_err(aglet_bootstrap::Error::from)?, RAISED_NOISE, 1))
        })
    }
}
