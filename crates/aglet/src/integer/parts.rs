//! Tables of more levels than there are: powers of their variable are bootstrapped on the way.

use super::bootstrap::INPUT_NOISE;
use super::{BootstrapKey, Ciphertext, Engine, RelinearizationKey, Table};
use crate::{Control, Error};
use aglet_circuits::InParts;
use aglet_schemes::integer::{Division, Noise};

impl Engine {
    /// How a table of one variable is looked up at a level with the fewest bootstraps; None if it takes more levels than these leave.
    ///
    /// # Errors
    /// Parameters without a bootstrap.
    pub fn table_in_parts(&self, table: &Table, level: usize) -> Result<Option<InParts>, Error> {
        Ok(InParts::new(table, (level, self.bootstrap_output_level()?), |bases| self.least_level(bases)))
    }

    /// The level that a table in parts ends at least, so that a bootstrap takes it: at level 1 nothing divides the noise of its sums.
    fn least_level(&self, bases: &[usize]) -> usize {
        let (params, t) = (self.params(), self.params().plain().value());
        let rounding = Noise::rounding(params);
        let Some(&q) = params.q().get(1..).and_then(|levels| levels.iter().min()) else { return 1 };
        let sum = |noise: Noise, &base: &usize| {
            noise.product(rounding, t).times(base as f64 - 1.0).divided(params, q, Division::Product)
        };
        let noise = bases[1..].iter().fold(rounding, sum);
        1 + usize::from(noise.log2() > rounding.log2() + INPUT_NOISE.log2())
    }

    /// Bits by which the bound on the noise is above that of a rounding, which products and switches of the modulus leave.
    #[must_use]
    pub fn noise_excess(&self, ct: &Ciphertext) -> f64 {
        ct.noise.log2() - Noise::rounding(self.params()).log2()
    }

    /// [`Engine::lookup`] of one variable with the bootstraps of [`Engine::table_in_parts`]: of the variable, where it is too low, and of
    /// powers of it. It ends at level 1 or above.
    ///
    /// # Errors
    /// As [`Engine::lookup`] where no bootstraps suffice; [`Error::Noise`] if a power has more noise than a bootstrap takes,
    /// parameters without a bootstrap, [`Error::Cancelled`].
    pub fn lookup_in_parts(
        &self,
        x: &Ciphertext,
        table: &Table,
        (key, bootstrap_key): (&RelinearizationKey, &BootstrapKey),
        control: &Control,
    ) -> Result<Ciphertext, Error> {
        let Some(parts) = self.table_in_parts(table, x.level())? else {
            return self.lookup(std::slice::from_ref(x), table, key, control);
        };
        let mut variables = vec![match parts.first {
            true => self.bootstrap(x, bootstrap_key, control)?,
            false => x.clone(),
        }];
        let before = parts.bases.len().saturating_sub(1);
        for &base in &parts.bases[..before] {
            let power = self.power(&variables[variables.len() - 1], base, key, control)?;
            variables.push(self.bootstrap(&power, bootstrap_key, control)?);
        }
        match before {
            0 => self.lookup(&variables, table, key, control),
            _ => self.lookup(&variables, &table.in_powers(&parts.bases)?, key, control),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::integer::{presets, Packing};
    use crate::ErrorKind;

    #[test]
    fn long_tables_of_few_levels_are_exact() {
        let params = presets::load("toy-int16", presets::Security::NotChecked).unwrap();
        let engine = Engine::new(params, Packing::Slots, 2).unwrap();
        let (control, sk) = (Control::new(), engine.create_secret_key().unwrap());
        let relin = engine.create_relinearization_key(&sk).unwrap();
        let key = engine.create_bootstrap_key(&sk, None, &control).unwrap();
        for (count, level, bootstraps) in [(100, 8, 0), (300, 8, 1), (511, 5, 2), (300, 1, 2), (8192, 7, 2)] {
            let values: Vec<i64> = (0..count).map(|i| (i * i * 31 + 7) % 60_000 - 30_000).collect();
            let at: Vec<i64> = (0..1024).map(|slot| slot * 8191 % count).collect();
            let table = engine.table(&values, 1).unwrap();
            let x = engine.encrypt_with_secret(&at, level, &sk).unwrap();
            let parts = engine.table_in_parts(&table, level).unwrap().unwrap();
            assert_eq!(parts.bootstraps(), bootstraps, "{count} at {level}");
            let found = engine.lookup_in_parts(&x, &table, (&relin, &key), &control).unwrap();
            assert!(found.level() >= parts.output_level && found.level() >= 1, "{parts:?}, {}", found.level());
            let wanted: Vec<i64> = at.iter().map(|&i| values[i as usize]).collect();
            assert_eq!(engine.decrypt(&found, &sk).unwrap(), wanted, "{count} at {level}");
        }
        let table = engine.table(&[1, 2, 4, 9], 1).unwrap();
        let empty = engine.encrypt_with_secret(&[1, 2, 3], 0, &sk).unwrap();
        let refused = engine.lookup_in_parts(&empty, &table, (&relin, &key), &control).unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::Level, "{refused:?}");
    }
}
