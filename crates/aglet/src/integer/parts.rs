//! Tables of more levels than there are: powers of their variable are bootstrapped on the way.

use super::bootstrap::INPUT_NOISE;
use super::{BootstrapKey, Ciphertext, Engine, RelinearizationKey, Table};
use crate::{Control, Error};
use aglet_circuits::InParts;
use aglet_schemes::integer::{Division, Noise};

impl Engine {
    /// How tables of one variable and one length are looked up at a level with the fewest bootstraps; None if they take more levels than
    /// these leave.
    ///
    /// # Errors
    /// Parameters without a bootstrap.
    pub fn table_in_parts(&self, tables: &[&Table], level: usize) -> Result<Option<InParts>, Error> {
        let after = self.bootstrap_output_level()?;
        Ok(InParts::new(tables, (level, after), |bases| self.least_level(bases)))
    }

    /// The level that a table in parts ends at least, so that a bootstrap takes it: at level 1 nothing divides the noise of its sums.
    fn least_level(&self, bases: &[usize]) -> usize {
        let noise = self.noise_of(bases);
        1 + usize::from(noise.log2() > Noise::rounding(self.params()).times(INPUT_NOISE).log2())
    }

    /// The noise at most of a table with these bases, of quiet powers.
    fn noise_of(&self, bases: &[usize]) -> Noise {
        let (params, t) = (self.params(), self.params().plain().value());
        let rounding = Noise::rounding(params);
        let Some(&q) = params.q().get(1..).and_then(|levels| levels.iter().min()) else { return rounding };
        let sum = |noise: Noise, &base: &usize| {
            noise.product(rounding, t).times(base as f64 - 1.0).divided(params, q, Division::Product)
        };
        bases[1..].iter().fold(rounding, sum)
    }

    /// What [`Engine::noise_excess`] is at most of a table that is looked up in this way, of a variable as a bootstrap or a product leaves it.
    #[must_use]
    pub fn excess_in_parts(&self, parts: &InParts) -> f64 {
        self.noise_of(&parts.bases).log2() - Noise::rounding(self.params()).log2()
    }

    /// Bits by which the bound on the noise is above that of a rounding, which products and switches of the modulus leave.
    #[must_use]
    pub fn noise_excess(&self, ct: &Ciphertext) -> f64 {
        ct.noise.log2() - Noise::rounding(self.params()).log2()
    }

    /// [`Engine::lookup_many`] of one variable with the bootstraps of [`Engine::table_in_parts`]: of the variable, where it is too low, and
    /// of powers of it. Several variables are bootstrapped side by side, as the lowest of them has to be. Results end at level 1 or above,
    /// for each variable those of all tables.
    ///
    /// # Errors
    /// As [`Engine::lookup_many`] where no bootstraps suffice; [`Error::Noise`] if a power has more noise than a bootstrap takes,
    /// parameters without a bootstrap, [`Error::Cancelled`].
    pub fn lookup_in_parts(
        &self,
        x: &[Ciphertext],
        tables: &[&Table],
        (key, bootstrap_key): (&RelinearizationKey, &BootstrapKey),
        control: &Control,
    ) -> Result<Vec<Vec<Ciphertext>>, Error> {
        let lowest = x.iter().map(|x| x.level()).min().unwrap_or_default();
        let Some(parts) = self.table_in_parts(tables, lowest)? else {
            return x.iter().map(|x| self.lookup_many(std::slice::from_ref(x), tables, 0, key, control)).collect();
        };
        let mut variables = vec![match parts.first {
            true => self.bootstrap_many(x, bootstrap_key, control)?,
            false => x.to_vec(),
        }];
        let before = parts.bases.len().saturating_sub(1);
        for &base in &parts.bases[..before] {
            let powers = variables[variables.len() - 1].iter().map(|x| self.power(x, base, key, control));
            variables.push(self.bootstrap_many(&powers.collect::<Result<Vec<_>, _>>()?, bootstrap_key, control)?);
        }
        let of_powers = |table: &&Table| match before {
            0 => Ok((*table).clone()),
            _ => table.in_powers(&parts.bases),
        };
        let tables = tables.iter().map(of_powers).collect::<Result<Vec<_>, _>>()?;
        let tables: Vec<&Table> = tables.iter().collect();
        let found = (0..x.len()).map(|at| {
            let digits: Vec<_> = variables.iter().map(|power| power[at].clone()).collect();
            self.lookup_many(&digits, &tables, 0, key, control)
        });
        found.collect()
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
            let other: Vec<i64> = values.iter().rev().copied().collect();
            let tables = [&values, &other].map(|values| engine.table(values, 1).unwrap());
            let tables = [&tables[0], &tables[1]];
            let turned: Vec<i64> = at.iter().map(|i| count - 1 - i).collect();
            let x = [&at, &turned].map(|at| engine.encrypt_with_secret(at, level, &sk).unwrap());
            let parts = engine.table_in_parts(&tables, level).unwrap().unwrap();
            assert_eq!(parts.bootstraps(), bootstraps, "{count} at {level}");
            let found = engine.lookup_in_parts(&x, &tables, (&relin, &key), &control).unwrap();
            for (found, reversed) in found.iter().zip([false, true]) {
                for (found, reversed) in found.iter().zip([reversed, !reversed]) {
                    assert!(found.level() >= parts.output_level && found.level() >= 1, "{parts:?}, {}", found.level());
                    assert!(engine.noise_excess(found) <= engine.excess_in_parts(&parts) + 0.01, "{parts:?}");
                    let values = if reversed { &other } else { &values };
                    let wanted: Vec<i64> = at.iter().map(|&i| values[i as usize]).collect();
                    assert_eq!(engine.decrypt(found, &sk).unwrap(), wanted, "{count} at {level}");
                }
            }
        }
        let table = engine.table(&[1, 2, 4, 9], 1).unwrap();
        let empty = engine.encrypt_with_secret(&[1, 2, 3], 0, &sk).unwrap();
        let refused = engine.lookup_in_parts(&[empty], &[&table], (&relin, &key), &control).unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::Level, "{refused:?}");
        assert!(engine.lookup_in_parts(&[], &[&table], (&relin, &key), &control).unwrap().is_empty());
    }
}
