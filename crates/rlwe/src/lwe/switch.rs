//! Key switching from all coordinates to the first n, as a module of degree 64 (the embedding of eprint 2020/015): the coordinates
//! that leave meet the key in groups of 64, so it has 64 times fewer samples than one of plain LWE.

use super::secret::{draw_errors, LweSecretKey};
use super::seeded::SeededKey;
use super::{LweCiphertext, LweContext, SWITCH_LOG_N};
use crate::error::Error;
use crate::fault::OperandFault;
use crate::secret::KeyId;
use aglet_ring::blind::product_sum;
use aglet_ring::packed::KeyShape;
use aglet_ring::sample::ChaChaSource;
use aglet_ring::small::Words;
use aglet_ring::LweSwitch;
use zeroize::Zeroizing;

const DEGREE: usize = 1 << SWITCH_LOG_N;

/// Samples of the coordinates from n on under those before, for every digit.
pub struct LweSwitchingKey {
    samples: SeededKey,
    key: KeyId,
}

/// Secret coordinates as polynomials of degree 64, zeros at the end, as values.
fn groups(ctx: &LweContext, coordinates: &[i8]) -> Zeroizing<Vec<u64>> {
    let m = ctx.modulus();
    let mut words = Zeroizing::new(vec![0; coordinates.len().next_multiple_of(DEGREE)]);
    words.iter_mut().zip(coordinates).for_each(|(w, &s)| *w = m.reduce_i64(i64::from(s)));
    words.chunks_exact_mut(DEGREE).for_each(|s| ctx.switch_table().forward(s));
    words
}

impl LweSwitchingKey {
    /// The shape in memory.
    #[must_use]
    pub fn shape(ctx: &LweContext) -> KeyShape {
        let spec = ctx.params().spec();
        let leaving = (ctx.params().coordinates() - spec.dimension).div_ceil(DEGREE);
        let levels = leaving * spec.switch_digits as usize;
        KeyShape { blocks: 1, keys: 1, rows: 1, levels, columns: spec.dimension.div_ceil(DEGREE) + 1 }
    }

    /// Makes the key.
    ///
    /// # Errors
    /// Memory that cannot be had.
    pub fn generate(ctx: &LweContext, sk: &LweSecretKey, source: &mut ChaChaSource) -> Result<Self, Error> {
        let (spec, m, table) = (ctx.params().spec(), ctx.modulus(), ctx.switch_table());
        let seed = source.public_seed();
        let (staying, leaving) = sk.coordinates().split_at(spec.dimension);
        let (staying, leaving) = (groups(ctx, staying), groups(ctx, leaving));
        let mut errors = Zeroizing::new([0i64; DEGREE]);
        let write = |[.., level]: [usize; 4], masks: &[u64], body: &mut [u64]| {
            let (j, t) = (level / spec.switch_digits as usize, (level % spec.switch_digits as usize) as u32);
            draw_errors(ctx.params().lwe_error(), source, errors.as_mut());
            body.iter_mut().zip(errors.iter()).for_each(|(b, &e)| *b = m.reduce_i64(e));
            table.forward(body);
            let weight = nearest(m.value(), spec.switch_digits - t);
            let z = &leaving[j * DEGREE..(j + 1) * DEGREE];
            body.iter_mut().zip(z).for_each(|(b, &z)| *b = m.add(*b, m.mul(z, weight)));
            for (mask, s) in masks.chunks_exact(DEGREE).zip(staying.chunks_exact(DEGREE)) {
                for ((b, &a), &s) in body.iter_mut().zip(mask).zip(s) {
                    *b = m.add(*b, m.mul(a, s));
                }
            }
            Ok::<_, Error>(())
        };
        let samples = SeededKey::make(table, Self::shape(ctx), seed, write)?;
        Ok(Self { samples, key: sk.id() })
    }

    /// The key that is made of these samples.
    #[must_use]
    pub fn of(samples: SeededKey, key: KeyId) -> Self {
        Self { samples, key }
    }

    /// The samples with the seed of their masks.
    #[must_use]
    pub fn samples(&self) -> &SeededKey {
        &self.samples
    }

    /// What a backend takes to switch in place of this machine; `signed` says that each exponent is followed by its negative.
    #[must_use]
    pub fn there<'a>(&'a self, ctx: &'a LweContext, signed: bool) -> LweSwitch<'a> {
        let (params, spec) = (ctx.params(), ctx.params().spec());
        LweSwitch {
            table: ctx.switch_table(),
            key: self.samples.packed(),
            coordinates: params.coordinates(),
            dimension: spec.dimension,
            digits: spec.switch_digits,
            mean: params.mean(),
            signed,
        }
    }

    /// Refuses what it cannot switch.
    ///
    /// # Errors
    /// Those of [`LweSwitchingKey::apply`].
    pub fn check(&self, ctx: &LweContext, ct: &LweCiphertext) -> Result<(), Error> {
        if ct.key() != self.key {
            return Err(Error::KeyMismatch { what: "key switching key", found: self.key, expected: ct.key() });
        }
        let (found, expected) = (ct.dimension(), ctx.params().coordinates());
        if found != expected {
            return Err(OperandFault::Size { what: "ciphertext", measure: "dimension", found, expected }.into());
        }
        Ok(())
    }

    /// The same phase under the first n coordinates: n words and the body.
    ///
    /// # Errors
    /// [`Error::KeyMismatch`] for a ciphertext of another key.
    pub fn apply(&self, ctx: &LweContext, ct: &LweCiphertext) -> Result<Vec<u64>, Error> {
        self.check(ctx, ct)?;
        let (spec, m, table) = (ctx.params().spec(), ctx.modulus(), ctx.switch_table());
        let mask = ct.mask(ctx);
        let (staying, leaving) = mask.split_at(spec.dimension);
        let shape = self.samples.packed().shape();
        let mut digits = Words::zeros(shape.levels * DEGREE);
        let rows = spec.switch_digits as usize * DEGREE;
        for (group, rows) in leaving.chunks(DEGREE).zip(digits.chunks_exact_mut(rows)) {
            naf_rows(m.value(), spec.switch_digits, group, rows);
            rows.chunks_exact_mut(DEGREE).for_each(|row| table.forward(row));
        }
        let mut values = Words::zeros(shape.columns * DEGREE);
        product_sum(table, self.samples.packed(), &digits, &mut values);
        let mut sums = Words::zeros(shape.columns * DEGREE);
        let columns = values.chunks_exact_mut(DEGREE).zip(sums.chunks_exact_mut(DEGREE));
        columns.for_each(|(values, sum)| table.inverse_add(values, sum));
        let mut out: Vec<u64> = staying.to_vec();
        for (a, sum) in out.chunks_mut(DEGREE).zip(sums.chunks_exact(DEGREE)) {
            a[0] = m.sub(a[0], sum[0]);
            (1..a.len()).for_each(|i| a[i] = m.add(a[i], sum[DEGREE - i]));
        }
        out.push(m.sub(ct.body(), sums[(shape.columns - 1) * DEGREE]));
        Ok(out)
    }
}

/// `round(q / 2^shift)`.
fn nearest(q: u64, shift: u32) -> u64 {
    (q + (1 << (shift - 1))) >> shift
}

/// The non-adjacent digits of `round(a 2^l / q)`, -1, 0 or 1, of every coefficient of `a_0 - sum a_i X^(64-i)`: a row of residues for
/// each digit, the lowest first. A carry out of the top digit is a multiple of q.
fn naf_rows(q: u64, l: u32, group: &[u64], rows: &mut [u64]) {
    for (i, &a) in group.iter().enumerate() {
        let y = ((u128::from(a) << (l + 1)) / u128::from(q)) as u64;
        let y = (y + 1) >> 1;
        let (at, sign) = if i == 0 { (0, 0) } else { (DEGREE - i, 1) };
        for t in 0..l {
            let (plus, minus) = ((3 * y) >> (t + 1) & 1, y >> (t + 1) & 1);
            // One is q - 1 if the signs differ, 0 where both bits are the same.
            let negative = (plus < minus) != (sign == 1);
            rows[t as usize * DEGREE + at] = (plus ^ minus) * if negative { q - 1 } else { 1 };
        }
    }
}
