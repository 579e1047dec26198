//! Decomposition into RNS digits: the part of a key switch that comes before the key.

use super::convert::Conversion;
use crate::demand::stride;
use crate::host_ring::HostRing;
use crate::plans::{Decomposition, Digit};
use crate::poly::{Coeff, Eval, Poly};
use crate::Error;
use rayon::prelude::*;
use std::sync::Arc;

/// The digits of a polynomial, each raised to more limbs, as values.
pub struct Digits {
    /// Limbs of the chain and special limbs of each.
    shape: (usize, usize),
    /// For each digit, at least one, the rows that it does not share with the polynomial.
    raised: Vec<Poly<Eval>>,
    /// The polynomial, of whose limbs each is one of the digit that it belongs to, and which.
    own: Option<(Poly<Eval>, Arc<Decomposition>)>,
}

impl Digits {
    /// A polynomial that is one short digit already: its coefficients, centred, at all limbs of a key.
    pub fn single(poly: Poly<Eval>) -> Self {
        Self::of(vec![poly])
    }
    /// Digits of one shape, at least one, with all their limbs.
    pub fn of(polys: Vec<Poly<Eval>>) -> Self {
        Self { shape: (polys[0].q_limbs(), polys[0].p_limbs()), raised: polys, own: None }
    }
    /// How many there are.
    pub fn count(&self) -> usize {
        self.raised.len()
    }
    /// Limbs of the chain and special limbs of each.
    pub fn shape(&self) -> (usize, usize) {
        self.shape
    }
    /// The polynomials that have the words of all digits.
    pub fn polys(&self) -> impl Iterator<Item = &Poly<Eval>> {
        self.raised.iter().chain(self.own.iter().map(|(poly, _)| poly))
    }
    /// The digits as polynomials with all their limbs, if they are such; those that this machine cut share limbs.
    pub fn whole(&self) -> Option<&[Poly<Eval>]> {
        self.own.is_none().then_some(&self.raised)
    }
    /// Copies of the digits with all their limbs.
    ///
    /// # Errors
    /// Memory that cannot be had.
    pub fn copied(&self, ring: &HostRing) -> Result<Vec<Poly<Eval>>, Error> {
        Poly::fetch_all(self.polys())?;
        let (q_limbs, p_limbs) = self.shape;
        let mut out = self.raised.iter().map(|_| ring.scratch(q_limbs, p_limbs)).collect::<Result<Vec<_>, _>>()?;
        for i in 0..q_limbs + p_limbs {
            out.iter_mut().zip(self.limbs(i)).for_each(|(out, limb)| out.limb_mut(i).copy_from_slice(limb));
        }
        Ok(out)
    }
    /// Limb `i` of every digit.
    pub(super) fn limbs(&self, i: usize) -> impl Iterator<Item = &[u64]> {
        self.raised.iter().enumerate().map(move |(d, rows)| match &self.own {
            None => rows.limb(i),
            Some((poly, plan)) => match plan.digits[d].rows[i] {
                None => poly.limb(i),
                Some(row) => rows.limb(row),
            },
        })
    }
}

/// Limb `i` of every raised digit, and nothing for the digit whose own limb it is.
pub(super) fn raised<'a>(
    digits: &'a [Poly<Eval>],
    plan: &'a Decomposition,
    i: usize,
) -> impl Iterator<Item = Option<&'a [u64]>> {
    digits.iter().zip(&plan.digits).map(move |(rows, digit)| digit.rows[i].map(|row| rows.limb(row)))
}

impl Decomposition {
    fn new(ring: &HostRing, limbs: usize, (q_limbs, p_limbs): (usize, usize), digits: &[Vec<usize>]) -> Self {
        let mut places = vec![None; limbs];
        for (d, own) in digits.iter().enumerate() {
            own.iter().enumerate().for_each(|(k, &i)| places[i] = Some((d, k)));
        }
        let digit = |own: &Vec<usize>| {
            let others: Vec<usize> = (0..q_limbs + p_limbs).filter(|i| !own.contains(i)).collect();
            let rows = (0..q_limbs + p_limbs).map(|i| others.binary_search(&i).ok()).collect();
            let others: Vec<usize> = others.into_iter().map(|i| ring.prime_of(q_limbs, i)).collect();
            let converter = (!others.is_empty()).then(|| ring.converter(own, &others));
            Digit { rows, others, converter }
        };
        Self { places, digits: digits.iter().map(digit).collect() }
    }

    /// What limb `k` of digit `d` is multiplied by on its way to coefficients.
    pub(super) fn source_factor(&self, (d, k): (usize, usize)) -> u64 {
        self.digits[d].converter.as_ref().map_or(1, |c| c.source_factors()[k])
    }
}

impl HostRing {
    /// Cuts polynomials (of one number of limbs, no special ones) into digits of these limbs, ascending, and raises each
    /// digit to `q_limbs` and `p_limbs` limbs. The limbs of a digit are those of the polynomial itself; modulo the other
    /// primes it is the centred number.
    ///
    /// # Errors
    /// Memory that cannot be had.
    pub fn digits(
        &self,
        of: &[&Poly<Eval>],
        (q_limbs, p_limbs): (usize, usize),
        digits: &[Vec<usize>],
    ) -> Result<Vec<Digits>, Error> {
        let Some(limbs) = of.first().map(|c| c.q_limbs()) else { return Ok(Vec::new()) };
        assert!(of.iter().all(|c| (c.q_limbs(), c.p_limbs()) == (limbs, 0)) && limbs <= q_limbs);
        Poly::fetch_all(of.iter().copied())?;
        let plan = self.decomposition(limbs, (q_limbs, p_limbs), digits);
        let digits_of = |c: &&Poly<Eval>| {
            let raised = self.decompose(c, &plan)?;
            Ok(Digits { shape: (q_limbs, p_limbs), raised, own: Some((c.shared(), plan.clone())) })
        };
        of.iter().map(digits_of).collect()
    }

    /// The centred coefficients of polynomials whose first limbs have the primes `from` of the ring, at limbs of this shape with the primes
    /// `to`: those that are in both stay as they are (full base extension, eprint 2018/117).
    ///
    /// # Errors
    /// Memory that cannot be had.
    pub fn extend(
        &self,
        of: &[&Poly<Eval>],
        (from, to): (&[usize], &[usize]),
        (q_limbs, p_limbs): (usize, usize),
    ) -> Result<Vec<Poly<Eval>>, Error> {
        let out = || Ok(Poly::from_buffer(self.words(to.len() * stride(self.n()))?, self.n(), q_limbs, p_limbs));
        of.iter().map(|x| self.extend_to(x, from, to, out()?)).collect()
    }

    fn extend_to(
        &self,
        x: &Poly<Eval>,
        from: &[usize],
        to: &[usize],
        mut out: Poly<Coeff>,
    ) -> Result<Poly<Eval>, Error> {
        assert!(x.q_limbs() >= from.len(), "a limb for each prime");
        x.fetch()?;
        let (mut others, mut rows) = (Vec::new(), Vec::new());
        for (limb, &prime) in out.limbs_mut().zip(to) {
            match from.iter().position(|&own| own == prime) {
                Some(i) => limb.copy_from_slice(x.limb(i)),
                None => {
                    others.push(prime);
                    rows.push(limb);
                }
            }
        }
        if !others.is_empty() {
            let converter = self.converter(from, &others);
            let mut y: Poly<Coeff> = self.rows(from.len())?;
            y.par_limbs_mut()
                .zip(from)
                .zip(converter.source_factors())
                .enumerate()
                .for_each(|(i, ((row, &prime), &factor))| self.table(prime).inverse_scaled_to(x.limb(i), row, factor));
            let then = |t: usize, row: &mut [u64]| self.table(others[t]).forward(row);
            self.convert(&converter, y.limbs_mut().collect(), rows, then)?;
        }
        Ok(out.transformed())
    }

    /// How so many limbs are cut into these digits, made once.
    pub(super) fn decomposition(
        &self,
        limbs: usize,
        (q_limbs, p_limbs): (usize, usize),
        digits: &[Vec<usize>],
    ) -> Arc<Decomposition> {
        self.plans.decompositions.get((limbs, q_limbs, p_limbs, digits.to_vec()), |_| {
            Decomposition::new(self, limbs, (q_limbs, p_limbs), digits)
        })
    }

    /// For each digit its values modulo the primes that are not its own.
    fn decompose(&self, c: &Poly<Eval>, plan: &Decomposition) -> Result<Vec<Poly<Eval>>, Error> {
        // Coefficients, times what the conversion of their digit wants.
        let mut y: Poly<Coeff> = self.scratch(c.q_limbs(), 0)?;
        y.par_limbs_mut().zip(&plan.places).enumerate().for_each(|(i, (limb, place))| {
            if let Some(place) = place {
                self.table(i).inverse_scaled_to(c.limb(i), limb, plan.source_factor(*place));
            }
        });
        Ok(self.raise(std::slice::from_mut(&mut y), plan)?.remove(0))
    }

    /// [`HostRing::decompose`] of several from coefficients, times what the conversion of their digit wants; they are used up.
    pub(super) fn raise(&self, of: &mut [Poly<Coeff>], plan: &Decomposition) -> Result<Vec<Vec<Poly<Eval>>>, Error> {
        let count = plan.digits.len();
        let rows = |k: usize| self.rows(plan.digits[k % count].others.len());
        let mut raised: Vec<Poly<Coeff>> = (0..of.len() * count).map(rows).collect::<Result<_, _>>()?;
        let mut conversions = Vec::with_capacity(raised.len());
        for (y, raised) in of.iter_mut().zip(raised.chunks_mut(count)) {
            let mut sources: Vec<Vec<&mut [u64]>> = plan.digits.iter().map(|_| Vec::new()).collect();
            let limbs = y.limbs_mut().zip(&plan.places).filter_map(|(row, place)| Some((place.as_ref()?.0, row)));
            limbs.for_each(|(digit, row)| sources[digit].push(row));
            for ((digit, src), rows) in plan.digits.iter().zip(sources).zip(raised) {
                // A digit that has all limbs is the only one.
                let Some(converter) = &digit.converter else { continue };
                conversions.push(Conversion { converter, src, dst: rows.limbs_mut().collect() });
            }
        }
        let then = |k: usize, t: usize, row: &mut [u64]| self.table(plan.digits[k % count].others[t]).forward(row);
        self.convert_all(conversions, then)?;
        let mut raised = raised.into_iter().map(Poly::transformed);
        Ok(of.iter().map(|_| raised.by_ref().take(count).collect()).collect())
    }
}
