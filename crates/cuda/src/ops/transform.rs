//! Between coefficients and values.

use crate::device::THREADS;
use crate::{Arithmetic, DevicePoly, DeviceRing, Error};
use aglet_ring::automorphism::Automorphism;
use aglet_ring::poly::{Coeff, Eval, Representation};

/// Stages of the transform on rows.
const ROW_STAGES: u32 = 8;
/// Bytes of shared memory that rows take, 16 of 256 words with gaps, and columns.
const ROW_BYTES: u32 = 16 * 272 * 8;
const COLUMN_BYTES: u32 = 4096 * 8;

/// One limb of a transform: which prime it is modulo, and addresses.
pub(super) struct Transform {
    pub(super) prime: usize,
    pub(super) from: u64,
    pub(super) to: u64,
    /// Multiplies the coefficients that an inverse transform has, or a quotient.
    pub(super) factor: u64,
    /// What a quotient is taken from, null for zero, and what that is multiplied by.
    pub(super) minuend: (u64, u64),
}

impl Transform {
    /// Without a factor.
    pub(super) fn new(prime: usize, from: u64, to: u64) -> Self {
        Self { prime, from, to, factor: 1, minuend: (0, 1) }
    }
}

/// The kernels of one direction: those of the rows, after those of the columns or before.
enum Kind {
    Forward,
    Quotient,
    Inverse,
}

impl DeviceRing<'_> {
    /// Coefficients to values.
    pub(super) fn forward(&self, limbs: &[Transform]) -> Result<(), Error> {
        self.transform(Kind::Forward, limbs)
    }
    /// Coefficients to `(gain minuend - value) factor`.
    pub(super) fn quotient(&self, limbs: &[Transform]) -> Result<(), Error> {
        self.transform(Kind::Quotient, limbs)
    }
    /// Values to coefficients times the factor.
    pub(super) fn inverse(&self, limbs: &[Transform]) -> Result<(), Error> {
        self.transform(Kind::Inverse, limbs)
    }

    fn transform(&self, kind: Kind, limbs: &[Transform]) -> Result<(), Error> {
        let n = self.ring().n();
        for (arithmetic, limbs) in self.by_arithmetic(limbs, |x| x.prime) {
            let row = |x: &&Transform| {
                let table = self.table(x.prime);
                let (powers, factor) = match kind {
                    Kind::Inverse => (&table.inverse, table.modulus.mul(x.factor, table.modulus.inv(n as u64))),
                    _ => (&table.forward, x.factor),
                };
                let multipliers = [table.multiplier(factor), table.multiplier(x.minuend.1)].concat();
                [&[x.from, x.minuend.0, x.to, powers.address(0)], &table.prime()[..], &multipliers].concat()
            };
            if limbs.is_empty() {
                continue;
            }
            // Both kernels read the list.
            let words: Vec<u64> = limbs.iter().flat_map(row).collect();
            let (list, each, name) = (self.card().upload(&words)?, words.len() / limbs.len(), arithmetic.name());
            let launch = |kernel: &str, side: u32, shape: (u32, u32)| {
                let kernel = format!("{kernel}_{name}");
                self.card().parts(limbs.len()).try_for_each(|(start, count)| {
                    self.card().launch(&kernel, [side, count, 1], shape, &[list.address(start * each)])
                })
            };
            let stages = self.ring().log_n() - ROW_STAGES;
            // A block takes 256 columns of up to four stages, fewer of more; and 16 rows if there are as many.
            let side_by_side = THREADS >> stages.saturating_sub(4);
            let columns = |direction: &str| {
                let side = 256 / side_by_side;
                launch(&format!("{direction}_columns_{stages}"), side, (THREADS, COLUMN_BYTES))
            };
            let all = n as u32 >> ROW_STAGES;
            let rows = |kind: &str| {
                let each = all.min(16);
                launch(&format!("{kind}_rows"), all / each, (16 * each, ROW_BYTES))
            };
            match kind {
                Kind::Forward => columns("forward").and_then(|()| rows("forward"))?,
                Kind::Quotient => columns("forward").and_then(|()| rows("quotient"))?,
                Kind::Inverse => rows("inverse").and_then(|()| columns("inverse"))?,
            }
        }
        Ok(())
    }

    /// Coefficients to values.
    ///
    /// # Errors
    /// [`Error::Memory`], [`Error::Kernel`].
    pub fn to_eval(&self, of: &[&DevicePoly<Coeff>]) -> Result<Vec<DevicePoly<Eval>>, Error> {
        self.transformed(of, |limbs| self.forward(limbs))
    }
    /// Values to coefficients.
    ///
    /// # Errors
    /// As for [`DeviceRing::to_eval`].
    pub fn to_coeff(&self, of: &[&DevicePoly<Eval>]) -> Result<Vec<DevicePoly<Coeff>>, Error> {
        self.transformed(of, |limbs| self.inverse(limbs))
    }
    /// All limbs in one direction.
    fn transformed<R: Representation, S: Representation>(
        &self,
        of: &[&DevicePoly<R>],
        run: impl FnOnce(&[Transform]) -> Result<(), Error>,
    ) -> Result<Vec<DevicePoly<S>>, Error> {
        let (mut out, mut limbs) = (Vec::new(), Vec::new());
        for x in of {
            let to = self.limbs(x.limbs())?;
            let prime = |i: usize| self.ring().prime_of(x.q_limbs(), i);
            limbs.extend(to.iter().enumerate().map(|(i, to)| Transform::new(prime(i), x.address(i), to.address())));
            out.push(DevicePoly::of(to, x.q_limbs()));
        }
        run(&limbs)?;
        Ok(out)
    }

    /// Signed words, N for each input, as residues at so many limbs.
    ///
    /// # Errors
    /// As for [`DeviceRing::to_eval`].
    ///
    /// # Panics
    /// If an input has not N words.
    pub fn lift(&self, of: &[&[i64]], q_limbs: usize, p_limbs: usize) -> Result<Vec<DevicePoly<Coeff>>, Error> {
        assert!(of.iter().all(|x| x.len() == self.ring().n()), "a polynomial has N coefficients");
        let (mut out, mut rows, mut blocks) = (Vec::new(), Vec::new(), Vec::new());
        for x in of {
            let words = self.card().upload(&x.iter().map(|&c| c as u64).collect::<Vec<_>>())?;
            let limbs = self.limbs(q_limbs + p_limbs)?;
            rows.extend(limbs.iter().enumerate().map(|(i, to)| {
                let modulus = self.ring().modulus(self.ring().prime_of(q_limbs, i));
                [&[words.address(0), to.address()], &Arithmetic::S64.prime(modulus)[..]].concat()
            }));
            blocks.push(words);
            out.push(DevicePoly::of(limbs, q_limbs));
        }
        self.launch_rows("lift", &rows, &[])?;
        Ok(out)
    }

    /// The images of polynomials under an automorphism.
    ///
    /// # Errors
    /// As for [`DeviceRing::to_eval`].
    pub fn permute(
        &self,
        of: &[&DevicePoly<Eval>],
        automorphism: &Automorphism,
    ) -> Result<Vec<DevicePoly<Eval>>, Error> {
        let mut out = Vec::new();
        let mut images = Vec::new();
        for x in of {
            let limbs = self.limbs(x.limbs())?;
            images.extend(limbs.iter().enumerate().map(|(i, to)| vec![x.address(i), to.address()]));
            out.push(DevicePoly::of(limbs, x.q_limbs()));
        }
        self.launch_rows("permute", &images, &[automorphism.galois(), u64::from(self.ring().log_n())])?;
        Ok(out)
    }
}
