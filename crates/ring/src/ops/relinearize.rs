//! Products of ciphertexts that are relinearized and divided: what [`HostRing::forms`], [`HostRing::digits`], [`HostRing::key_products`] and
//! [`HostRing::divide`] give one after the other, with the same words, of which far fewer go through memory.
//!
//! What leaves with the division is finished first. Of a limb that stays, the tensor product and the product with the key are made a
//! tile at a time, where they are subtracted from: neither is ever stored.

use super::convert::Conversion;
use super::digits::raised;
use super::forms::Rows;
use super::keys::{KeyBlock, KeyWords};
use super::Form;
use crate::arch::{Halves, KeyRow, ProductRow};
use crate::host_ring::HostRing;
use crate::plans::{Decomposition, Division};
use crate::poly::{Coeff, Eval, Poly};
use crate::Error;
use rayon::prelude::*;
use std::sync::Arc;

/// Words of a tile: the tiles of all rows of two products stay in an L2 cache of 1 MB.
const TILE: usize = 1024;

/// As many forms are divided one by one: the halves of a ciphertext share nothing.
const FEW: usize = 2;

/// Whether this machine relinearizes so many products that meet one key in one go: one alone is no quicker so.
pub const fn in_one_go(products: usize) -> bool {
    products > 1
}

/// A product before its relinearization.
#[derive(Debug, Clone)]
pub struct Tensor<'a> {
    /// `c0` and `c1`, times the special primes.
    pub lifted: [Form<'a>; 2],
    /// `c2`.
    pub square: Form<'a>,
}

impl<'a> Tensor<'a> {
    /// Its three forms.
    pub fn forms(&self) -> [Form<'a>; 3] {
        let [c0, c1] = &self.lifted;
        [c0.clone(), c1.clone(), self.square.clone()]
    }
    /// All polynomials in it.
    pub fn operands(&self) -> impl Iterator<Item = &'a Poly<Eval>> + '_ {
        self.lifted.iter().chain([&self.square]).flat_map(Form::operands)
    }
}

/// The last third of each product, and for each digit of it the rows at other limbs.
type RaisedSquares = (Vec<Poly<Eval>>, Vec<Vec<Poly<Eval>>>);

/// Products at work, which meet one key.
struct Work<'a, 'b> {
    of: &'a [Tensor<'b>],
    /// Each `c2`, whose limbs are those of the digits that they belong to.
    squares: Vec<Poly<Eval>>,
    /// For each product and digit its rows at limbs that are not its own.
    raised: Vec<Vec<Poly<Eval>>>,
    cut: Arc<Decomposition>,
    q_limbs: usize,
}

impl HostRing {
    /// `round((c0, c1, c2) / R)` of every product, with `c2` relinearized by the key, modulo the primes that stay; `R` are those that leave
    /// by the plan, the special ones among them. Digits are ascending limbs, raised to `p_limbs` special ones. The key is read once.
    ///
    /// # Errors
    /// Memory that cannot be had.
    pub fn relinearize(
        &self,
        of: &[Tensor<'_>],
        (q_limbs, p_limbs): (usize, usize),
        digits: &[Vec<usize>],
        key: &KeyBlock,
        plan: &Division,
    ) -> Result<Vec<[Poly<Eval>; 2]>, Error> {
        assert!(plan.limbs == q_limbs + p_limbs && !plan.gained, "the special primes leave");
        Poly::fetch_all(of.iter().flat_map(Tensor::operands))?;
        let cut = self.decomposition(q_limbs, (q_limbs, p_limbs), digits);
        let (squares, raised) = self.raised_squares(of, q_limbs, &cut)?;
        let work = Work { of, squares, raised, cut, q_limbs };
        let words = KeyWords::new(std::iter::once(key), digits.len(), (q_limbs, p_limbs));
        let keys = words.rows(self, q_limbs, &[None]);
        let mut tails = self.leaving(&work, &keys, plan)?;
        let mut out = self.remainders(&mut tails, plan)?;
        drop(tails);
        let tile = TILE.min(self.n() / 2);
        let room = || (Aligned::new(4 * of.len() * tile), Rows::default());
        side_by_side(&mut out).par_iter_mut().enumerate().for_each_init(room, |(words, rows), (i, limb)| {
            let (room, products) = words.words().split_at_mut(2 * of.len() * tile);
            let mut products: Vec<Halves<'_>> =
                products.chunks_exact_mut(2 * tile).map(|x| x.split_at_mut(tile)).collect();
            let table = self.table(i);
            for start in (0..self.n()).step_by(tile) {
                self.switched(&work, (i, start), &keys[i], (room, rows), &mut products);
                for (row, minuend) in limb.iter_mut().zip(products.iter().flat_map(|(b, a)| [&**b, &**a])) {
                    let row = &mut row[start..start + tile];
                    table.kernels().rsub_mul(table.modulus(), row, minuend, plan.rows[i].inverse);
                }
            }
        });
        let mut halves = out.into_iter();
        Ok(std::iter::from_fn(|| Some([halves.next()?, halves.next()?])).collect())
    }

    /// `round(form / R)` for every form of `q_limbs` limbs, with `R` the primes that leave by the plan: what [`HostRing::forms`] and
    /// [`HostRing::divide`] give, with the same words. No form is stored. Of many forms, a tile of what they share stays in the cache for all.
    ///
    /// # Errors
    /// Memory that cannot be had.
    pub fn divide_forms(&self, forms: &[Form<'_>], q_limbs: usize, plan: &Division) -> Result<Vec<Poly<Eval>>, Error> {
        assert!(plan.limbs == q_limbs && !plan.gained, "a dividend has the limbs of the plan");
        Poly::fetch_all(forms.iter().flat_map(Form::operands))?;
        match forms.len() > FEW {
            true => self.divide_many(forms, q_limbs, plan),
            false => self.divide_few(forms, q_limbs, plan),
        }
    }

    fn divide_many(&self, forms: &[Form<'_>], q_limbs: usize, plan: &Division) -> Result<Vec<Poly<Eval>>, Error> {
        let tile = TILE.min(self.n() / 2);
        let tails = forms.iter().map(|_| self.rows(plan.leaving.len()));
        let mut tails: Vec<Poly<Coeff>> = tails.collect::<Result<_, _>>()?;
        // Mostly one limb leaves: threads take forms.
        let some = forms.len().div_ceil(rayon::current_num_threads());
        tails.par_chunks_mut(some).zip(forms.par_chunks(some)).for_each_init(Rows::default, |rows, (tails, forms)| {
            for (mut limb, leaving) in side_by_side(tails).into_iter().zip(&plan.leaving) {
                for start in (0..self.n()).step_by(tile) {
                    for (form, row) in forms.iter().zip(&mut limb) {
                        self.form_tile(form, (q_limbs, leaving.limb), start, rows, &mut row[start..start + tile]);
                    }
                }
                limb.into_iter().for_each(|row| self.table(leaving.prime).inverse_scaled(row, leaving.factor));
            }
        });
        let mut out = Vec::with_capacity(forms.len());
        for tail in tails.chunks_mut(1) {
            out.append(&mut self.remainders(tail, plan)?);
        }
        drop(tails);
        let room = || (Aligned::new(tile), Rows::default());
        side_by_side(&mut out).par_iter_mut().enumerate().for_each_init(room, |(minuend, rows), (i, limb)| {
            let table = self.table(i);
            for start in (0..self.n()).step_by(tile) {
                for (form, row) in forms.iter().zip(limb.iter_mut()) {
                    self.form_tile(form, (q_limbs, i), start, rows, minuend.words());
                    let row = &mut row[start..start + tile];
                    table.kernels().rsub_mul(table.modulus(), row, minuend.words(), plan.rows[i].inverse);
                }
            }
        });
        Ok(out)
    }

    /// What each dividend is modulo the primes that leave, at those that stay.
    fn remainders(&self, tails: &mut [Poly<Coeff>], plan: &Division) -> Result<Vec<Poly<Eval>>, Error> {
        let mut out: Vec<Poly<Coeff>> = tails.iter().map(|_| self.rows(plan.rows.len())).collect::<Result<_, _>>()?;
        let both = tails.iter_mut().zip(&mut out);
        let all = both.map(|(tail, rows)| conversion(tail, rows, plan)).collect();
        self.convert_all(all, |_, i, limb| self.table(i).forward(limb))?;
        Ok(out.into_iter().map(Poly::transformed).collect())
    }

    fn divide_few(&self, forms: &[Form<'_>], q_limbs: usize, plan: &Division) -> Result<Vec<Poly<Eval>>, Error> {
        let rows = |count: usize| forms.iter().map(|_| self.rows(count)).collect::<Result<Vec<Poly<Coeff>>, _>>();
        let (mut tails, mut out) = (rows(plan.leaving.len())?, rows(plan.rows.len())?);
        tails.par_iter_mut().zip(forms).for_each(|(tail, form)| {
            tail.par_limbs_mut().zip(&plan.leaving).for_each_init(Rows::default, |rows, (limb, leaving)| {
                self.form_limb(form, (q_limbs, leaving.limb), rows, limb);
                self.table(leaving.prime).inverse_scaled(limb, leaving.factor);
            });
        });
        let tile = TILE.min(self.n() / 2);
        let both = tails.iter_mut().zip(&mut out);
        let all = both.map(|(tail, rows)| conversion(tail, rows, plan)).collect();
        self.convert_all(all, |k, i, limb| {
            let (table, mut minuend, mut rows) = (self.table(i), Aligned::new(tile), Rows::default());
            table.forward(limb);
            for (part, start) in limb.chunks_exact_mut(tile).zip((0..).step_by(tile)) {
                self.form_tile(&forms[k], (q_limbs, i), start, &mut rows, minuend.words());
                table.kernels().rsub_mul(table.modulus(), part, minuend.words(), plan.rows[i].inverse);
            }
        })?;
        Ok(out.into_iter().map(Poly::transformed).collect())
    }

    /// One limb of a form, in its two halves.
    fn form_limb<'b>(&self, form: &Form<'b>, at: (usize, usize), rows: &mut Rows<'b>, out: &mut [u64]) {
        let (start, rest) = out.split_at_mut(self.n() / 2);
        self.form_tile(form, at, 0, rows, start);
        self.form_tile(form, at, self.n() / 2, rows, rest);
    }

    /// Each `c2`, and the rows of its digits.
    fn raised_squares(&self, of: &[Tensor<'_>], q_limbs: usize, cut: &Decomposition) -> Result<RaisedSquares, Error> {
        let mut squares = of.iter().map(|_| self.scratch(q_limbs, 0)).collect::<Result<Vec<Poly<Eval>>, _>>()?;
        let mut coefficients = of.iter().map(|_| self.scratch(q_limbs, 0)).collect::<Result<Vec<Poly<Coeff>>, _>>()?;
        squares.par_iter_mut().zip(&mut coefficients).zip(of).for_each(|((c2, y), tensor)| {
            let limbs = c2.par_limbs_mut().zip(y.par_limbs_mut()).enumerate();
            limbs.for_each_init(Rows::default, |rows, (i, (limb, y))| {
                self.form_limb(&tensor.square, (q_limbs, i), rows, limb);
                if let Some(place) = cut.places[i] {
                    self.table(i).inverse_scaled_to(limb, y, cut.source_factor(place));
                }
            });
        });
        let raised = self.raise(&mut coefficients, cut)?;
        Ok((squares, raised))
    }

    /// Both halves of all products at the limbs that leave, as coefficients times what the conversion wants.
    fn leaving(&self, work: &Work<'_, '_>, keys: &[KeyRow<'_>], plan: &Division) -> Result<Vec<Poly<Coeff>>, Error> {
        let mut tails: Vec<Poly<Coeff>> =
            (0..2 * work.of.len()).map(|_| self.rows(plan.leaving.len())).collect::<Result<_, _>>()?;
        let tile = TILE.min(self.n() / 2);
        let room = || (Aligned::new(2 * work.of.len() * tile), Rows::default());
        let leaving = side_by_side(&mut tails);
        leaving.into_par_iter().zip(&plan.leaving).for_each_init(room, |(room, rows), (mut limb, leaving)| {
            let (i, table) = (leaving.limb, self.table(leaving.prime));
            if i < work.q_limbs {
                for start in (0..self.n()).step_by(tile) {
                    let mut part = halves(limb.iter_mut().map(|row| &mut row[start..start + tile]));
                    self.switched(work, (i, start), &keys[i], (room.words(), rows), &mut part);
                }
            } else {
                let digits: Vec<Vec<&[u64]>> =
                    work.raised.iter().map(|x| raised(x, &work.cut, i).flatten().collect()).collect();
                let of = digits.iter().map(|digits| ProductRow { digits, added_before: None, added_after: None });
                let mut part = halves(limb.iter_mut().map(|row| &mut **row));
                table.kernels().key_product(table.modulus(), &of.collect::<Vec<_>>(), &keys[i], &mut part);
            }
            limb.iter_mut().for_each(|row| table.inverse_scaled(row, leaving.factor));
        });
        Ok(tails)
    }

    /// One tile of limb `i` of the chain: `(c0, c1)` and the digits of `c2` times the key, for every product.
    fn switched<'b, 'c>(
        &self,
        work: &Work<'_, 'b>,
        (i, start): (usize, usize),
        key: &KeyRow<'c>,
        (room, rows): (&mut [u64], &mut Rows<'b>),
        out: &mut [Halves<'_>],
    ) {
        let tile = room.len() / (2 * work.of.len());
        for (tensor, room) in work.of.iter().zip(room.chunks_exact_mut(2 * tile)) {
            for (form, out) in tensor.lifted.iter().zip(room.chunks_exact_mut(tile)) {
                self.form_tile(form, (work.q_limbs, i), start, rows, out);
            }
        }
        let part = start..start + tile;
        let digits: Vec<Vec<&[u64]>> = work
            .raised
            .iter()
            .zip(&work.squares)
            .map(|(rows, own)| {
                raised(rows, &work.cut, i).map(|row| &row.unwrap_or_else(|| own.limb(i))[part.clone()]).collect()
            })
            .collect();
        let added = room.chunks_exact(2 * tile).map(|room| room.split_at(tile));
        let of = digits.iter().zip(added).map(|(digits, added)| ProductRow {
            digits,
            added_before: None,
            added_after: Some(added),
        });
        let bits = key.bits;
        let words = |half: &[&'c [u8]]| half.iter().map(|row| &row[start / 8 * bits..]).collect::<Vec<_>>();
        let [b, a] = [key.b, key.a].map(words);
        let table = self.table(i);
        let key = KeyRow { permutation: None, bits, b: &b, a: &a };
        table.kernels().key_product(table.modulus(), &of.collect::<Vec<_>>(), &key, out);
    }
}

/// From the limbs that leave to those that stay.
fn conversion<'a>(tail: &'a mut Poly<Coeff>, rows: &'a mut Poly<Coeff>, plan: &'a Division) -> Conversion<'a> {
    Conversion { converter: &plan.converter, src: tail.limbs_mut().collect(), dst: rows.limbs_mut().collect() }
}

/// Words that begin with a cache line, as vectors that cross two of them are read twice.
struct Aligned(Vec<u64>, usize);

impl Aligned {
    fn new(len: usize) -> Self {
        let words = vec![0; len + 7];
        let first = words.as_ptr().align_offset(64).min(7);
        Self(words, first)
    }
    fn words(&mut self) -> &mut [u64] {
        let len = self.0.len() - 7;
        &mut self.0[self.1..][..len]
    }
}

/// The limbs of polynomials of one shape, limb after limb.
fn side_by_side<R: crate::poly::Representation>(polys: &mut [Poly<R>]) -> Vec<Vec<&mut [u64]>> {
    let limbs = polys.first().map_or(0, Poly::limbs);
    let mut rows: Vec<Vec<&mut [u64]>> = (0..limbs).map(|_| Vec::with_capacity(polys.len())).collect();
    polys.iter_mut().for_each(|poly| poly.limbs_mut().zip(&mut rows).for_each(|(row, limb)| limb.push(row)));
    rows
}

/// Rows two by two.
fn halves<'a>(mut rows: impl Iterator<Item = &'a mut [u64]>) -> Vec<Halves<'a>> {
    std::iter::from_fn(|| Some((rows.next()?, rows.next()?))).collect()
}
