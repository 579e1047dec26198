//! Sums of products of polynomials, value by value.

use crate::arch::FormRow;
use crate::host_ring::HostRing;
use crate::modulus::Modulus;
use crate::poly::{Eval, Poly};
use crate::Error;
use rayon::prelude::*;

/// The polynomial `re + im X^(N/2)` with integer coefficients: at the first half of all positions it takes one value modulo
/// a prime, at the second half another.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Constant {
    /// The coefficient of 1.
    pub re: i128,
    /// The coefficient of X^(N/2).
    pub im: i128,
}

impl Constant {
    /// 0.
    pub const ZERO: Self = Self::integer(0);
    /// 1.
    pub const ONE: Self = Self::integer(1);

    /// An integer.
    pub const fn integer(re: i128) -> Self {
        Self { re, im: 0 }
    }
    /// The values on both halves; `imaginary_unit` is that of X^(N/2) on the first.
    fn halves(self, m: &Modulus, imaginary_unit: u64) -> [u64; 2] {
        let (re, im) = (m.reduce_i128(self.re), m.mul(m.reduce_i128(self.im), imaginary_unit));
        [m.add(re, im), m.sub(re, im)]
    }
}

/// What a polynomial is multiplied by, or a constant that is added.
#[derive(Debug, Clone, Copy)]
pub enum Multiplier<'a> {
    /// The same integers modulo every prime.
    Constant(Constant),
    /// A residue for each limb of the result. Terms whose residue is 0 cost nothing.
    Residues(&'a [u64]),
}

impl Default for Multiplier<'_> {
    fn default() -> Self {
        Self::integer(0)
    }
}

impl Multiplier<'_> {
    /// An integer.
    pub const fn integer(x: i128) -> Self {
        Self::Constant(Constant::integer(x))
    }
    /// The values at limb `limb` of the result, on both halves; `imaginary_unit` is that of X^(N/2) on the first.
    pub fn halves(self, limb: usize, m: &Modulus, imaginary_unit: u64) -> [u64; 2] {
        match self {
            Self::Constant(c) => c.halves(m, imaginary_unit),
            Self::Residues(residues) => [residues[limb]; 2],
        }
    }
    /// Whether the second half is multiplied by something else than the first.
    fn is_split(self) -> bool {
        matches!(self, Self::Constant(Constant { im, .. }) if im != 0)
    }
    /// Whether nothing is left of a term at this limb.
    fn leaves_out(self, limb: usize) -> bool {
        matches!(self, Self::Residues(residues) if residues[limb] == 0)
    }
}

/// `(sum times x y + sum multiplier z + constant) factor`. Operands have the limbs of the result, or more of the chain and
/// of the special ones.
#[derive(Debug, Clone, Default)]
pub struct Form<'a> {
    /// Products, each so many times.
    pub products: Vec<(u32, &'a Poly<Eval>, &'a Poly<Eval>)>,
    /// Multiples of single polynomials.
    pub terms: Vec<(Multiplier<'a>, &'a Poly<Eval>)>,
    /// Added to the sum.
    pub constant: Multiplier<'a>,
    /// Multiplies the whole; `None` is 1 and costs nothing.
    pub factor: Option<Multiplier<'a>>,
}

impl<'a> Form<'a> {
    /// `x y`.
    pub fn product(x: &'a Poly<Eval>, y: &'a Poly<Eval>) -> Self {
        Self { products: vec![(1, x, y)], ..Self::default() }
    }
    /// `multiplier x`.
    pub fn multiple(multiplier: Multiplier<'a>, x: &'a Poly<Eval>) -> Self {
        Self { terms: vec![(multiplier, x)], ..Self::default() }
    }
    fn is_split(&self) -> bool {
        self.constant.is_split()
            || self.terms.iter().any(|(c, _)| c.is_split())
            || self.factor.is_some_and(Multiplier::is_split)
    }
    /// All polynomials in it.
    pub fn operands(&self) -> impl Iterator<Item = &'a Poly<Eval>> + '_ {
        self.products.iter().flat_map(|&(_, x, y)| [x, y]).chain(self.terms.iter().map(|&(_, x)| x))
    }
}

/// Words of a tile: those of all operands of a tensor product stay in the L2 cache.
const TILE: usize = 8192;

/// Rows of one tile of a limb: kept from tile to tile, so that nothing is allocated for each.
#[derive(Default)]
pub(super) struct Rows<'a> {
    products: Vec<(&'a [u64], &'a [u64])>,
    terms: Vec<(&'a [u64], u64)>,
}

impl HostRing {
    /// Evaluates forms to polynomials of so many limbs.
    ///
    /// # Errors
    /// Memory that cannot be had.
    pub fn forms(&self, forms: &[Form<'_>], q_limbs: usize, p_limbs: usize) -> Result<Vec<Poly<Eval>>, Error> {
        let mut out = forms.iter().map(|_| self.scratch(q_limbs, p_limbs)).collect::<Result<Vec<_>, _>>()?;
        self.forms_to(forms, &mut out)?;
        Ok(out)
    }

    /// Evaluates forms to what is on this machine already, all of one shape: keys, which last, and secrets, which are wiped. A tile of a limb
    /// of what forms share stays in the cache for all of them.
    ///
    /// # Errors
    /// Operands that cannot be fetched.
    pub fn forms_to(&self, forms: &[Form<'_>], out: &mut [Poly<Eval>]) -> Result<(), Error> {
        let Some((q_limbs, p_limbs)) = out.first().map(|out| (out.q_limbs(), out.p_limbs())) else { return Ok(()) };
        assert!(out.len() == forms.len() && out.iter().all(|out| (out.q_limbs(), out.p_limbs()) == (q_limbs, p_limbs)));
        let mut operands = forms.iter().flat_map(Form::operands);
        assert!(operands.all(|x| x.q_limbs() >= q_limbs && x.p_limbs() >= p_limbs), "operands have all limbs");
        Poly::fetch_all(forms.iter().flat_map(Form::operands))?;
        // One form alone has nothing to share.
        let tile = match forms {
            [form] if !form.is_split() => self.n(),
            [_] => self.n() / 2,
            _ => TILE.min(self.n() / 2),
        };
        let mut limbs: Vec<Vec<&mut [u64]>> = (0..q_limbs + p_limbs).map(|_| Vec::new()).collect();
        for out in out.iter_mut() {
            out.limbs_mut().zip(&mut limbs).for_each(|(row, limb)| limb.push(row));
        }
        limbs.par_iter_mut().enumerate().for_each_init(Rows::default, |rows, (i, limb)| {
            for start in (0..self.n()).step_by(tile) {
                for (form, out) in forms.iter().zip(limb.iter_mut()) {
                    self.form_tile(form, (q_limbs, i), start, rows, &mut out[start..start + tile]);
                }
            }
        });
        Ok(())
    }

    /// One tile of a limb of a form, from word `start` on: it lies in one half of the limb.
    pub(super) fn form_tile<'a>(
        &self,
        form: &Form<'a>,
        (q_limbs, i): (usize, usize),
        start: usize,
        rows: &mut Rows<'a>,
        out: &mut [u64],
    ) {
        let table = self.table(self.prime_of(q_limbs, i));
        let (m, unit) = (table.modulus(), if form.is_split() { table.imaginary_unit() } else { 0 });
        let h = usize::from(start >= self.n() / 2);
        let words = |x: &'a Poly<Eval>| &x.limb_like(q_limbs, i)[start..][..out.len()];
        rows.products.clear();
        for &(times, x, y) in &form.products {
            rows.products.extend(std::iter::repeat_n((words(x), words(y)), times as usize));
        }
        rows.terms.clear();
        let terms = form.terms.iter().filter(|(c, _)| !c.leaves_out(i));
        rows.terms.extend(terms.map(|&(c, x)| (words(x), c.halves(i, m, unit)[h])));
        let row = FormRow {
            products: &rows.products,
            terms: &rows.terms,
            constant: form.constant.halves(i, m, unit)[h],
            factor: form.factor.map(|f| f.halves(i, m, unit)[h]),
        };
        table.kernels().form(m, &row, out);
    }
}
