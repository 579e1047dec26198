//! Lookup tables over slots: polynomials modulo t through given values, in one variable or in several digits.
//!
//! A table of n consecutive values is a polynomial of degree n - 1, in `ceil(log2 n)` levels. A number that is given in digits of base B
//! takes `ceil(log2(B - 1))` levels for the powers of digits and one for each digit: two digits of 4 bits take 6 levels and 29
//! relinearizations, three 7 and 59, where one variable of 8 bits takes 8 levels.
//!
//! A table of more levels than there are is one in x, `x^m`, `x^(m n)` and so on: these powers are variables as digits are, and
//! coefficients are those of the polynomial in x. Between two of them may stand a bootstrap: [`InParts`](crate::InParts).

use crate::error::Error;
use crate::polynomial::{depth, powers, Basis, Series};
use aglet_ring::Modulus;
use aglet_schemes::{Error as SchemeError, Evaluator, Sum};

/// The most values of a table: interpolation takes the square of them.
const MOST: usize = 1 << 13;

/// A table as the coefficients of a polynomial, `c[i + B j + ...]` for `x^i y^j ...`.
#[derive(Debug, Clone)]
pub struct Table {
    /// For each variable how many powers are used, from 0 on.
    bases: Vec<usize>,
    coefficients: Vec<i64>,
}

/// A value of an inner polynomial.
enum Value<C> {
    Constant(i64),
    Ciphertext(C),
}

impl Table {
    /// Values at `first, first + 1, ...` modulo a prime t.
    ///
    /// # Errors
    /// [`Error::Table`] for fewer than two values, more than 2^13, or more than t.
    pub fn new(t: &Modulus, first: i64, values: &[i64]) -> Result<Self, Error> {
        check(t, values.len(), values.len())?;
        Ok(Self { bases: vec![values.len()], coefficients: interpolated(t, first, values) })
    }

    /// The polynomial of these coefficients, the constant first, as a table of as many values.
    ///
    /// # Errors
    /// As [`Table::new`].
    pub fn of_coefficients(t: &Modulus, coefficients: &[i64]) -> Result<Self, Error> {
        check(t, coefficients.len(), coefficients.len())?;
        let centred: Vec<i64> = coefficients.iter().map(|&c| t.centre(t.reduce_i64(c))).collect();
        Ok(Self { bases: vec![centred.len()], coefficients: centred })
    }

    /// Values at numbers of so many digits, `values[d_0 + B d_1 + ...]` for digits from 0 to B - 1.
    ///
    /// # Errors
    /// As [`Table::new`], and for a number of values that is no power of that many digits.
    pub fn of_digits(t: &Modulus, values: &[i64], digits: usize) -> Result<Self, Error> {
        if digits == 1 {
            return Self::new(t, 0, values);
        }
        let power = |base: usize| base.checked_pow(digits as u32);
        let base = (2..=values.len()).take_while(|&base| power(base).is_some_and(|n| n <= values.len())).last();
        let Some(base) = base.filter(|&base| power(base) == Some(values.len())) else {
            return Err(Error::Table { values: values.len(), most: MOST.min(t.value() as usize) });
        };
        check(t, values.len(), base)?;
        let mut coefficients = values.to_vec();
        for stride in (0..digits as u32).map(|axis| base.pow(axis)) {
            for start in (0..values.len()).filter(|at| (at / stride).is_multiple_of(base)) {
                let line: Vec<i64> = (0..base).map(|i| coefficients[start + i * stride]).collect();
                let line = interpolated(t, 0, &line);
                line.into_iter().enumerate().for_each(|(i, c)| coefficients[start + i * stride] = c);
            }
        }
        Ok(Self { bases: vec![base; digits], coefficients })
    }

    /// The same table of one variable as one of several: x, x to the first of these bases, that to the second, and so on. Powers below
    /// the base of a variable are used.
    ///
    /// # Errors
    /// [`Error::Table`] for a table of several variables, bases below 2, and bases whose product is below the number of values.
    pub fn in_powers(&self, bases: &[usize]) -> Result<Self, Error> {
        let values = self.coefficients.len();
        let room = bases.iter().try_fold(1usize, |all, &base| all.checked_mul(base).filter(|_| base > 1));
        match room.filter(|&room| self.digits() == 1 && (values..=2 * MOST).contains(&room)) {
            Some(room) => {
                let mut coefficients = self.coefficients.clone();
                coefficients.resize(room, 0);
                Ok(Self { bases: bases.to_vec(), coefficients })
            }
            None => Err(Error::Table { values, most: MOST }),
        }
    }

    /// The same table of multiples of its variables, for each of which `back` says the residue that makes the variable of the multiple.
    /// Without a number for it a variable stays.
    #[must_use]
    pub fn of_multiples(&self, t: &Modulus, back: &[u64]) -> Self {
        let (mut coefficients, mut stride) = (self.coefficients.clone(), 1);
        for (&base, &back) in self.bases.iter().zip(back) {
            let by: Vec<u64> = powers_of(t, back, base);
            for (at, c) in coefficients.iter_mut().enumerate() {
                *c = t.centre(t.mul(t.reduce_i64(*c), by[at / stride % base]));
            }
            stride *= base;
        }
        Self { bases: self.bases.clone(), coefficients }
    }

    /// Ciphertexts that it takes.
    pub fn digits(&self) -> usize {
        self.bases.len()
    }

    /// Values that it has.
    pub(crate) fn values(&self) -> usize {
        self.coefficients.len()
    }

    /// Levels that an evaluation takes of variables at one level.
    pub fn depth(&self) -> usize {
        match self.bases[..] {
            [base] => depth(base - 1),
            _ => MOST - output_level(&self.bases, &vec![MOST; self.bases.len()]).unwrap_or_default(),
        }
    }

    /// Relinearizations that an evaluation takes at most.
    pub fn relinearizations(&self) -> usize {
        Self::relinearizations_of(&[self], 0)
    }

    /// Relinearizations that [`Table::evaluate_all`] takes at most.
    pub fn relinearizations_of(tables: &[&Self], spare: usize) -> usize {
        match tables {
            [] => 0,
            [first, ..] if first.bases.len() > 1 => products(&first.bases, tables.len()),
            _ => {
                let all = Self::series(tables, spare).unwrap_or_default();
                let elements = all.first().map_or(0, |one| one.relinearizations() - one.products());
                elements + all.iter().map(Series::products).sum::<usize>()
            }
        }
    }

    /// Levels that [`Table::evaluate_all`] takes of variables at one level.
    pub fn depth_of(tables: &[&Self], spare: usize) -> usize {
        let least = tables.first().map_or(0, |one| one.depth());
        match tables {
            [first, _, ..] if first.bases.len() == 1 => {
                let all = Self::series(tables, spare).unwrap_or_default();
                all.iter().map(Series::depth).max().unwrap_or_default().max(least)
            }
            _ => least,
        }
    }

    /// The polynomials of tables of one variable, in the same powers of it.
    fn series(tables: &[&Self], spare: usize) -> Result<Vec<Series<i64>>, Error> {
        match tables {
            [one] => Ok(vec![Series::new(Basis::Power, &one.coefficients)?]),
            _ => {
                let all: Vec<_> = tables.iter().map(|one| one.coefficients.clone()).collect();
                Series::together_within(&all, spare)
            }
        }
    }

    /// The value at encrypted digits, the lowest first.
    ///
    /// # Errors
    /// [`Error::ConstantPolynomial`] for a table of one value everywhere, `SlotMismatch` for another number of digits, `LevelTooLow`;
    /// otherwise what the evaluator refuses.
    pub fn evaluate<E: Evaluator<Scalar = i64>>(&self, e: &E, x: &[E::Ciphertext]) -> Result<E::Ciphertext, Error> {
        Ok(Self::evaluate_all(&[self], e, x, 0)?.remove(0))
    }

    /// [`Table::evaluate`] of several tables, which share the powers of digits. Of one digit they may take `spare` levels more than the
    /// least, if that saves relinearizations.
    ///
    /// # Errors
    /// As there, and `SlotMismatch` for tables of different lengths.
    pub fn evaluate_all<E: Evaluator<Scalar = i64>>(
        tables: &[&Self],
        e: &E,
        x: &[E::Ciphertext],
        spare: usize,
    ) -> Result<Vec<E::Ciphertext>, Error> {
        let Some(first) = tables.first() else { return Ok(Vec::new()) };
        let bases = &first.bases;
        for (expected, found) in tables.iter().flat_map(|one| [(bases.len(), x.len()), (first.values(), one.values())])
        {
            if expected != found {
                return Err(SchemeError::SlotMismatch { expected, found }.into());
            }
        }
        if let [x] = x {
            return Series::evaluate_all(&Self::series(tables, spare)?, e, x);
        }
        let levels: Vec<usize> = x.iter().map(|x| e.level(x)).collect();
        if output_level(bases, &levels).is_none() {
            let actual = levels.iter().min().copied().unwrap_or_default();
            return Err(SchemeError::LevelTooLow { required: first.depth(), actual }.into());
        }
        let (mut axes, mut level) = (Vec::with_capacity(x.len()), usize::MAX);
        for ((axis, x), base) in x.iter().enumerate().zip(bases) {
            let powers = powers(e, x, base - 1)?;
            level = level.min(e.level(x) - depth(base - 2));
            // Once for every product that they meet in.
            let down = |power: E::Ciphertext| match axis {
                0 => Ok(power),
                _ => e.level_down(&power, level),
            };
            axes.push(powers.into_iter().map(down).collect::<Result<Vec<_>, _>>()?);
            level -= 1;
        }
        let value = |table: &&Self| match table.inner(e, &axes, &table.coefficients)? {
            Value::Constant(_) => Err(Error::ConstantPolynomial),
            Value::Ciphertext(found) => Ok(found),
        };
        tables.iter().map(value).collect()
    }

    /// The polynomial of these coefficients in the powers of as many digits.
    fn inner<E: Evaluator<Scalar = i64>>(
        &self,
        e: &E,
        axes: &[Vec<E::Ciphertext>],
        coefficients: &[i64],
    ) -> Result<Value<E::Ciphertext>, Error> {
        let Some((powers, lower)) = axes.split_last() else { return Ok(Value::Constant(coefficients[0])) };
        let parts = coefficients.chunks(coefficients.len() / self.bases[lower.len()]);
        let parts = match lower {
            [powers] => rows(e, powers, parts)?,
            _ => parts.map(|part| self.inner(e, lower, part)).collect::<Result<Vec<_>, _>>()?,
        };
        let (mut products, mut terms, mut constant) = (vec![], vec![], 0);
        for (k, part) in parts.iter().enumerate() {
            match (k, part) {
                (0, Value::Constant(c)) => constant = *c,
                (0, Value::Ciphertext(x)) => terms.push((1, x)),
                (_, Value::Constant(0)) => {}
                (_, Value::Constant(c)) => terms.push((*c, &powers[k - 1])),
                (_, Value::Ciphertext(x)) => products.push((&powers[k - 1], x)),
            }
        }
        match products.is_empty() && terms.is_empty() {
            true => Ok(Value::Constant(constant)),
            false => Ok(Value::Ciphertext(e.form(&products, &terms, constant)?)),
        }
    }
}

/// Polynomials of the first digit, which share its powers.
fn rows<'c, E: Evaluator<Scalar = i64>>(
    e: &E,
    powers: &[E::Ciphertext],
    parts: impl Iterator<Item = &'c [i64]>,
) -> Result<Vec<Value<E::Ciphertext>>, Error> {
    let (mut sums, mut constants) = (Vec::new(), Vec::new());
    for part in parts {
        let terms: Vec<_> = part[1..].iter().copied().zip(powers).filter(|(c, _)| *c != 0).collect();
        constants.push(terms.is_empty().then_some(part[0]));
        sums.extend((!terms.is_empty()).then_some(Sum { terms, constant: part[0] }));
    }
    let mut found = e.sums(&sums)?.into_iter();
    let value = |constant: Option<i64>| match constant {
        Some(constant) => Some(Value::Constant(constant)),
        None => found.next().map(Value::Ciphertext),
    };
    Ok(constants.into_iter().filter_map(value).collect())
}

/// The level of a value in variables at these levels, of which powers below these bases are used; None if they are too low.
pub(crate) fn output_level(bases: &[usize], levels: &[usize]) -> Option<usize> {
    if let ([base], [level]) = (bases, levels) {
        return level.checked_sub(depth(base - 1));
    }
    let mut found = usize::MAX;
    for (&base, level) in bases.iter().zip(levels) {
        found = found.min(level.checked_sub(depth(base - 2))?).checked_sub(1)?;
    }
    Some(found)
}

/// The relinearizations of so many tables of several variables: their powers, and sums of products.
pub(crate) fn products(bases: &[usize], tables: usize) -> usize {
    let powers: usize = bases.iter().map(|base| base - 2).sum();
    let (mut sums, mut each) = (0, 1);
    for base in bases[1..].iter().rev() {
        sums += each;
        each *= base;
    }
    powers + tables * sums
}

/// So many powers of a residue, from 0 on.
fn powers_of(t: &Modulus, x: u64, count: usize) -> Vec<u64> {
    std::iter::successors(Some(1), |&power| Some(t.mul(power, x))).take(count).collect()
}

/// Refuses tables that no polynomial modulo t goes through, or that take too long.
fn check(t: &Modulus, values: usize, base: usize) -> Result<(), Error> {
    let most = MOST.min(t.value() as usize);
    match (2..=most).contains(&base) && values <= MOST {
        true => Ok(()),
        false => Err(Error::Table { values, most }),
    }
}

/// The coefficients of the polynomial through these values, centred: by Newton's differences.
fn interpolated(t: &Modulus, first: i64, values: &[i64]) -> Vec<i64> {
    let mut newton: Vec<u64> = values.iter().map(|&value| t.reduce_i64(value)).collect();
    for k in 1..newton.len() {
        let over = t.inv(k as u64);
        (k..newton.len()).rev().for_each(|i| newton[i] = t.mul(t.sub(newton[i], newton[i - 1]), over));
    }
    let mut coefficients: Vec<u64> = Vec::with_capacity(newton.len());
    for (k, &difference) in newton.iter().enumerate().rev() {
        // Times X - (first + k), plus the difference.
        let at = t.reduce_i64(first.saturating_add(k as i64));
        coefficients.insert(0, 0);
        for i in 1..coefficients.len() {
            coefficients[i - 1] = t.sub(coefficients[i - 1], t.mul(at, coefficients[i]));
        }
        coefficients[0] = t.add(coefficients[0], difference);
    }
    coefficients.iter().map(|&c| t.centre(c)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn coefficients_go_through_the_values() {
        let t = Modulus::new(65537).unwrap();
        let at = |c: &[i64], x: i64| c.iter().rev().fold(0, |sum, &c| (sum * x + c).rem_euclid(65537));
        for (first, count) in [(0, 16), (-15, 31), (-100, 2), (7, 256)] {
            let values: Vec<i64> = (0..count).map(|i| (i * i * 977 + 13 * i) % 65537).collect();
            let table = Table::new(&t, first, &values).unwrap();
            assert!(values.iter().enumerate().all(|(i, &v)| at(&table.coefficients, first + i as i64) == v));
        }
        let values: Vec<i64> = (0..343).map(|i| (i * i * 31 + 5) % 1000).collect();
        let table = Table::of_digits(&t, &values, 3).unwrap();
        assert_eq!((table.bases[0], table.depth()), (7, 6));
        for (i, &value) in values.iter().enumerate() {
            let digits = [i % 7, i / 7 % 7, i / 49];
            let lines: Vec<i64> = table.coefficients.chunks(7).map(|c| at(c, digits[0] as i64)).collect();
            let rows: Vec<i64> = lines.chunks(7).map(|c| at(c, digits[1] as i64)).collect();
            assert_eq!(at(&rows, digits[2] as i64), value);
        }
        // One variable as its powers: the value in x, `x^5` and `x^35`.
        let table = Table::new(&t, 0, &values[..100]).unwrap().in_powers(&[5, 7, 3]).unwrap();
        for (i, &value) in (0..).zip(&values[..100]) {
            let (y, z) = (i64::pow(i, 5) % 65537, i64::pow(i, 5) % 65537);
            let z = (0..7).fold(1, |all, _| all * z % 65537);
            let lines: Vec<i64> = table.coefficients.chunks(5).map(|c| at(c, i)).collect();
            let rows: Vec<i64> = lines.chunks(7).map(|c| at(c, y)).collect();
            assert_eq!(at(&rows, z), value);
        }
        assert!(table.in_powers(&[50, 3]).is_err());
        // Of multiples: a table of `3 x`, `5 y` and `7 z` is that of x, y and z.
        let over = |by: u64| t.inv(by);
        let multiples = table.of_multiples(&t, &[over(3), over(5), over(7)]);
        assert_eq!(multiples.of_multiples(&t, &[3, 5, 7]).coefficients, table.coefficients);
        let (c, of) = (&table.coefficients, &multiples.coefficients);
        for (k, weight) in [(0, 1), (1, 3), (2, 9), (5, 5), (6, 15), (10, 25), (35, 7), (41, 105)] {
            assert_eq!((of[k] * weight - c[k]).rem_euclid(65537), 0, "{k}");
        }
        let figures = |values: usize, digits| {
            let values: Vec<i64> = (0..values as i64).map(|i| i * i % 251).collect();
            let table = Table::of_digits(&t, &values, digits).unwrap();
            (table.depth(), table.relinearizations())
        };
        assert_eq!([figures(16, 1).0, figures(256, 2).0, figures(4096, 3).0], [4, 6, 7]);
        assert_eq!([figures(256, 2).1, figures(4096, 3).1], [29, 59]);
        // Four bits of a nibble share powers, with fewer products where there is a level more.
        let bits =
            [0, 1, 2, 3].map(|bit| Table::new(&t, 0, &(0..16).map(|i| i >> bit & 1).collect::<Vec<_>>()).unwrap());
        let bits: Vec<&Table> = bits.iter().collect();
        let counts = |spare| (Table::depth_of(&bits, spare), Table::relinearizations_of(&bits, spare));
        assert_eq!([counts(0), counts(1), counts(2)], [(4, 16), (5, 11), (5, 11)]);
        let refused = |values: usize, digits| Table::of_digits(&t, &vec![1; values], digits).is_err();
        assert!(refused(1, 1) && refused(17, 2) && refused(1 << 14, 2) && refused(0, 2) && !refused(16, 2));
        assert!(Table::new(&Modulus::new(17).unwrap(), 0, &[0; 18]).is_err());
    }
}
