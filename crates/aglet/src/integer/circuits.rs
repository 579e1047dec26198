//! Circuits on integers: weighted sums, powers, polynomials, sums of slots, lookup tables, comparisons.

use super::card::Keys;
use super::{BootstrapKey, Ciphertext, Engine, Message, Plaintext, RelinearizationKey};
use crate::{Control, Error, ParameterError, RangeError};
use aglet_circuits::polynomial::{power, power_products, Basis, Series};
use aglet_circuits::table::Table;
use aglet_ring::Modulus;
use aglet_schemes::integer::{Packing, SlotEvaluator};
use aglet_schemes::Evaluator;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A comparison of two integers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Comparison {
    /// 1 where the first is smaller, else 0.
    Less,
    /// 1 where both are equal, else 0.
    Equal,
    /// The larger one.
    Maximum,
}

/// The largest number of bits for comparisons. The table has twice as many values as there are numbers.
pub const MOST_COMPARED_BITS: u32 = 12;

/// Ciphertexts of multiples of numbers, and the residue that makes each number of its multiple.
type Multiples = (Vec<Ciphertext>, Vec<u64>);

impl Engine {
    /// A circuit of at most so many relinearizations: each of them is progress, and it stops before the next.
    fn slotwise<T: Send>(
        &self,
        key: &RelinearizationKey,
        control: &Control,
        (what, total): (&str, usize),
        work: impl FnOnce(SlotEvaluator<'_>) -> Result<T, aglet_circuits::Error> + Send,
    ) -> Result<T, Error> {
        let so_far = AtomicUsize::new(0);
        let done = || control.report(so_far.fetch_add(1, Ordering::Relaxed) + 1, total, what);
        let found = self.run(|| {
            control.check()?;
            let evaluator = self.evaluator(key.keys()).stopped_by(control.flag());
            Ok(work(SlotEvaluator::new(evaluator, self.encoder()).watched_by(&done))?)
        })?;
        control.report(total, total, what);
        Ok(found)
    }

    /// `sum m a` for ciphertexts and numbers in the clear, at the lowest level. It takes no level, but adds noise.
    ///
    /// # Errors
    /// No ciphertext, those of two keys, a product that is not relinearized, a plaintext of another engine, a sum that would not decrypt,
    /// [`Error::Cancelled`].
    pub fn weighted_sum(&self, terms: &[(&Ciphertext, &Plaintext)], control: &Control) -> Result<Ciphertext, Error> {
        if terms.is_empty() {
            return Err(RangeError::EmptySum.into());
        }
        // Without keys it is done where the ciphertexts are.
        if terms.iter().any(|(a, _)| a.polys.iter().any(|x| x.card().is_some())) {
            let inputs: Vec<_> = terms.iter().map(|(a, _)| &***a).collect();
            let of: Vec<_> = terms.iter().map(|(a, _)| *a).collect();
            self.fits_work(("a weighted sum", Keys::default()), &of, |e| e.weighted_sum(&inputs))?;
        }
        self.run(|| {
            control.check()?;
            let mut found = Vec::with_capacity(terms.len());
            for &(a, message) in terms {
                let coefficients = message.coefficients(self.encoder(), self)?;
                let largest = message.largest_value(&coefficients, self.encoder());
                found.push((a, coefficients, largest));
            }
            let terms: Vec<_> = found.iter().map(|(a, m, largest)| (*a, (&**m, *largest))).collect();
            Ok(self.evaluator(&self.none).stopped_by(control.flag()).weighted_sum(&terms)?)
        })
    }

    /// `sum a b` of pairs of ciphertexts with one relinearization, a level below the lowest of them.
    ///
    /// # Errors
    /// No pair, a ciphertext at level 0 or with three polynomials, those of two keys, [`Error::Noise`], [`Error::Cancelled`].
    pub fn product_sum(
        &self,
        pairs: &[(&Ciphertext, &Ciphertext)],
        key: &RelinearizationKey,
        control: &Control,
    ) -> Result<Ciphertext, Error> {
        if pairs.is_empty() {
            return Err(RangeError::EmptyProducts.into());
        }
        let inputs: Vec<_> = pairs.iter().flat_map(|(a, b)| [*a, *b]).collect();
        self.fits_circuit(("a sum of products", key.keys()), &inputs, |e, of| {
            e.form(&of.chunks_exact(2).map(|pair| (&pair[0], &pair[1])).collect::<Vec<_>>(), &[], 0)
        })?;
        self.slotwise(key, control, ("sum of products", 1), |e| Ok(e.form(pairs, &[], 0)?))
    }

    /// `a^exponent` for an exponent of 1 or more; takes `ceil(log2(exponent))` levels.
    ///
    /// # Errors
    /// Exponent 0, too few levels, keys that do not belong together, [`Error::Cancelled`].
    pub fn power(
        &self,
        a: &Ciphertext,
        exponent: usize,
        key: &RelinearizationKey,
        control: &Control,
    ) -> Result<Ciphertext, Error> {
        self.fits_circuit(("a power", key.keys()), &[a], |e, of| power(e, &of[0], exponent))?;
        self.slotwise(key, control, ("power", power_products(exponent)), |e| power(&e, a, exponent))
    }

    /// `sum coefficients[k] a^k` for integers modulo t; takes `ceil(log2(degree + 1))` levels. With a bootstrap key there may be fewer, as
    /// in [`Engine::lookup_in_parts`].
    ///
    /// # Errors
    /// A polynomial that is constant modulo t, too few levels, with a bootstrap key more than 2^13 coefficients, keys that do not belong
    /// together, [`Error::Cancelled`].
    pub fn evaluate_polynomial(
        &self,
        a: &Ciphertext,
        coefficients: &[i64],
        (key, again): (&RelinearizationKey, Option<&BootstrapKey>),
        control: &Control,
    ) -> Result<Ciphertext, Error> {
        if again.is_some() {
            return self.lookup_one(a, &self.polynomial_table(coefficients)?, (key, again), control);
        }
        let t = self.params().plain();
        let multiples = self.run(|| self.multiples(std::slice::from_ref(a)))?;
        let (a, back) = multiples.as_ref().map_or((a, 1), |(of, back)| (&of[0], back[0]));
        let powers = std::iter::successors(Some(1), |&power| Some(t.mul(power, back)));
        let coefficients = coefficients.iter().zip(powers).map(|(&c, by)| t.centre(t.mul(t.reduce_i64(c), by)));
        let coefficients: Vec<i64> = coefficients.collect();
        let series = Series::new(Basis::Power, &coefficients)?;
        self.fits_circuit(("a polynomial", key.keys()), &[a], |e, of| series.evaluate(e, &of[0]))?;
        self.slotwise(key, control, ("polynomial", series.relinearizations()), |e| series.evaluate(&e, a))
    }

    /// A polynomial as a table of the values at 0, 1, ..., for [`Engine::table_in_parts`].
    ///
    /// # Errors
    /// Fewer than two coefficients or more than 2^13 or t.
    pub fn polynomial_table(&self, coefficients: &[i64]) -> Result<Table, Error> {
        Ok(Table::of_coefficients(self.params().plain(), coefficients)?)
    }

    /// The table of `values[d_0 + B d_1 + ...]` for numbers in several digits, for [`Engine::lookup`]. Each digit is an
    /// integer from 0 to B - 1 in a ciphertext of its own.
    ///
    /// # Errors
    /// Coefficient packing, t that is no prime, fewer than two values or more than 2^13 or t, values that are no power of the digits.
    pub fn table(&self, values: &[i64], digits: usize) -> Result<Table, Error> {
        self.check_slots()?;
        let make = || Ok::<_, Error>(Table::of_digits(self.params().plain(), values, digits)?);
        Ok((*self.tables.get((values.to_vec(), digits), make)?).clone())
    }

    /// Replaces the index in every slot by its table value. An index outside the table gives an arbitrary value. It
    /// takes [`Table::depth`] levels.
    ///
    /// # Errors
    /// Another number of digits, a table of one value everywhere, too few levels, keys that do not belong together,
    /// [`Error::Cancelled`].
    pub fn lookup(
        &self,
        digits: &[Ciphertext],
        table: &Table,
        key: &RelinearizationKey,
        control: &Control,
    ) -> Result<Ciphertext, Error> {
        Ok(self.lookup_many(digits, &[table], 0, key, control)?.remove(0))
    }

    /// [`Engine::lookup`] of several tables of one length, which share the powers of the digits. Of one digit they may take `spare` levels
    /// more than [`Table::depth`] if that saves relinearizations.
    ///
    /// # Errors
    /// As there, and tables of different lengths.
    pub fn lookup_many(
        &self,
        digits: &[Ciphertext],
        tables: &[&Table],
        spare: usize,
        key: &RelinearizationKey,
        control: &Control,
    ) -> Result<Vec<Ciphertext>, Error> {
        let multiples = self.run(|| self.multiples(digits))?;
        let absorbed: Vec<Table>;
        let (digits, tables): (&[Ciphertext], Vec<&Table>) = match &multiples {
            None => (digits, tables.to_vec()),
            Some((digits, back)) => {
                absorbed = tables.iter().map(|one| one.of_multiples(self.params().plain(), back)).collect();
                (digits, absorbed.iter().collect())
            }
        };
        let (inputs, tables): (Vec<_>, &[&Table]) = (digits.iter().collect(), &tables);
        self.fits_circuit(("a table", key.keys()), &inputs, |e, of| Table::evaluate_all(tables, e, of, spare))?;
        let total = Table::relinearizations_of(tables, spare);
        self.slotwise(key, control, ("table", total), |e| Table::evaluate_all(tables, &e, digits, spare))
    }

    /// Ciphertexts with another correction factor than that of their level, as a division leaves it and a bootstrap keeps it, as multiples
    /// with that of the level: powers that meet at one level would have different ones. None if there are none.
    fn multiples(&self, of: &[Ciphertext]) -> Result<Option<Multiples>, Error> {
        if of.iter().all(|x| x.correction_factor == self.params().correction_factor_at(x.level())) {
            return Ok(None);
        }
        let evaluator = self.evaluator(&self.none);
        let found = of.iter().map(|x| evaluator.as_multiple(x)).collect::<Result<Vec<_>, _>>()?;
        Ok(Some(found.into_iter().unzip()))
    }

    /// [`Engine::lookup`] of one variable, with a bootstrap key as [`Engine::lookup_in_parts`].
    fn lookup_one(
        &self,
        x: &Ciphertext,
        table: &Table,
        (key, again): (&RelinearizationKey, Option<&BootstrapKey>),
        control: &Control,
    ) -> Result<Ciphertext, Error> {
        let x = std::slice::from_ref(x);
        match again {
            Some(again) => Ok(self.lookup_in_parts(x, &[table], (key, again), control)?.remove(0).remove(0)),
            None => self.lookup(x, table, key, control),
        }
    }

    /// Compares integers from 0 to `2^bits - 1`, or others that differ by less than `2^bits`, with a table of their
    /// difference. It takes bits + 1 levels; with a bootstrap key there may be fewer, as in [`Engine::lookup_in_parts`].
    ///
    /// # Errors
    /// Bits that are 0, above [`MOST_COMPARED_BITS`] or too many for t; otherwise as [`Engine::lookup`].
    pub fn compare(
        &self,
        what: Comparison,
        [a, b]: [&Ciphertext; 2],
        bits: u32,
        keys: (&RelinearizationKey, Option<&BootstrapKey>),
        control: &Control,
    ) -> Result<Ciphertext, Error> {
        let table = self.comparison_table(what, bits)?;
        let found = self.lookup_one(&self.subtract(a, b)?, &table, keys, control)?;
        match what {
            Comparison::Maximum => self.add(b, &found),
            _ => Ok(found),
        }
    }

    /// The table of differences that [`Engine::compare`] uses; it tells the levels and the work.
    ///
    /// # Errors
    /// As there.
    pub fn comparison_table(&self, what: Comparison, bits: u32) -> Result<Table, Error> {
        self.check_slots()?;
        comparison_table(self.params().plain(), what, bits)
    }

    /// Refuses what works on slots where there are none.
    pub(super) fn check_slots(&self) -> Result<(), Error> {
        match self.packing() {
            Packing::Slots => Ok(()),
            Packing::Coefficients => Err(ParameterError::Coefficients.into()),
        }
    }
}

/// The table of [`Engine::comparison_table`] for numbers modulo t in slots.
pub(super) fn comparison_table(t: &Modulus, what: Comparison, bits: u32) -> Result<Table, Error> {
    if bits == 0 || bits > MOST_COMPARED_BITS || 2 << bits > t.value() {
        let most = (t.value().ilog2() - 1).min(MOST_COMPARED_BITS);
        return Err(RangeError::ComparedBits { bits, modulus: t.value(), most }.into());
    }
    let most = (1i64 << bits) - 1;
    let value = |d: i64| match what {
        Comparison::Less => i64::from(d < 0),
        Comparison::Equal => i64::from(d == 0),
        Comparison::Maximum => d.max(0),
    };
    Ok(Table::new(t, -most, &(-most..=most).map(value).collect::<Vec<_>>())?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::integer::presets;

    #[test]
    fn tables_and_polynomials_take_a_factor_that_division_left_without_noise() {
        let params = presets::load("toy-int16", presets::Security::NotChecked).unwrap();
        let engine = Engine::new(params, Packing::Slots, 2).unwrap();
        let (control, sk) = (Control::new(), engine.create_secret_key().unwrap());
        let relin = engine.create_relinearization_key(&sk).unwrap();
        let key = engine.create_bootstrap_key(&sk, None, &control).unwrap();
        let values: Vec<i64> = (0..16).map(|i| (i * i * 31 + 7) % 500).collect();
        let at: Vec<i64> = (0..1024).map(|slot| slot * 7 % 16).collect();
        let mask: Vec<i64> = (0..1024).map(|slot| slot % 2).collect();
        let masked = engine.encrypt_with_secret(&at, 2, &sk).unwrap();
        let masked = engine.multiply_plain(&masked, &engine.encode(&mask).unwrap()).unwrap();
        let divided = engine.rescale(&masked).unwrap();
        let found = engine.bootstrap_many(&[divided], &key, &control).unwrap().remove(0);
        let canonical = engine.params().correction_factor_at(found.level());
        assert_ne!(found.correction_factor, canonical, "this test is about another factor");
        let kept: Vec<i64> = at.iter().zip(&mask).map(|(x, m)| x * m).collect();
        let wanted = |of: &dyn Fn(i64) -> i64| kept.iter().map(|&x| of(x)).collect::<Vec<_>>();
        // One variable, two of which one has the factor of its level, and a polynomial: noise is that of a rounding.
        let one =
            engine.lookup(std::slice::from_ref(&found), &engine.table(&values, 1).unwrap(), &relin, &control).unwrap();
        let pairs: Vec<i64> = (0..256).map(|i| i % 16 * (i / 16 + 1)).collect();
        let other = engine.encrypt_with_secret(&vec![2; 1024], found.level(), &sk).unwrap();
        let two = [found.clone(), other];
        let two = engine.lookup(&two, &engine.table(&pairs, 2).unwrap(), &relin, &control).unwrap();
        let series = engine.evaluate_polynomial(&found, &[5, -1, 0, 2], (&relin, None), &control).unwrap();
        let long: Vec<i64> = (0..300).map(|i| i * i % 251).collect();
        let parts = engine
            .lookup_in_parts(
                std::slice::from_ref(&found),
                &[&engine.table(&long, 1).unwrap()],
                (&relin, &key),
                &control,
            )
            .unwrap();
        for (made, of) in [
            (&one, &(|x: i64| values[x as usize]) as &dyn Fn(i64) -> i64),
            (&two, &|x| 3 * x),
            (&series, &|x| 2 * x * x * x - x + 5),
            (&parts[0][0], &|x| long[x as usize]),
        ] {
            assert_eq!(engine.decrypt(made, &sk).unwrap(), wanted(of));
            assert!(engine.noise_excess(made) < 3.0, "{} bits", engine.noise_excess(made));
            assert_eq!(made.correction_factor, engine.params().correction_factor_at(made.level()));
        }
    }
}
