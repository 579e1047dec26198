//! Sums of products of polynomials, value by value.

use super::lists::Lists;
use crate::device::Table;
use crate::{DevicePoly, DeviceRing, Error};
use aglet_ring::poly::Eval;
use aglet_ring::Multiplier;

/// `(sum times x y + sum multiplier z + constant) factor`, as [`aglet_ring::Form`] on the host.
#[derive(Clone, Default)]
pub struct Form<'a> {
    /// Products, each so many times.
    pub products: Vec<(u32, &'a DevicePoly<Eval>, &'a DevicePoly<Eval>)>,
    /// Multiples of single polynomials.
    pub terms: Vec<(Multiplier<'a>, &'a DevicePoly<Eval>)>,
    /// Added to the sum.
    pub constant: Multiplier<'a>,
    /// Multiplies the whole; `None` is 1.
    pub factor: Option<Multiplier<'a>>,
}

/// What a form is at one limb: the addresses of its operands, and its numbers on both halves.
struct FormRow {
    prime: usize,
    out: u64,
    products: Vec<u64>,
    terms: Vec<u64>,
    constants: Vec<u64>,
    constant: [u64; 2],
    factor: Option<[u64; 2]>,
}

impl FormRow {
    /// `FormRow` of the kernels, without the lists, whose addresses it takes.
    fn words(&self, table: &Table, [products, terms, constants]: [u64; 3]) -> Vec<u64> {
        let lengths = [self.products.len() / 2, self.terms.len(), usize::from(self.factor.is_some())];
        let mut words = vec![self.out, products, terms, constants];
        words.extend(lengths.map(|length| length as u64));
        words.extend(self.constant.map(|c| table.number(c)));
        words.extend(self.factor.unwrap_or_default().into_iter().flat_map(|w| table.multiplier(w)));
        words.extend(table.prime());
        words
    }
}

impl DeviceRing<'_> {
    /// Evaluates forms to polynomials of so many limbs. Operands have these limbs, or more of the chain and of the special ones.
    ///
    /// # Errors
    /// [`Error::Memory`], [`Error::Kernel`].
    pub fn forms(&self, forms: &[Form<'_>], q_limbs: usize, p_limbs: usize) -> Result<Vec<DevicePoly<Eval>>, Error> {
        let (mut out, mut rows) = (Vec::new(), Vec::new());
        for form in forms {
            let limbs = self.limbs(q_limbs + p_limbs)?;
            rows.extend(limbs.iter().enumerate().map(|(i, to)| self.form_row(form, (q_limbs, i), to.address())));
            out.push(DevicePoly::of(limbs, q_limbs));
        }
        let words = rows.iter().map(|row| row.products.len() + row.terms.len() + row.constants.len()).sum();
        let mut lists = Lists::new(self.card(), words, rows.len())?;
        let words = |row: FormRow| {
            let addresses = [&row.products, &row.terms, &row.constants].map(|list| lists.add(list.iter().copied()));
            (row.prime, row.words(self.table(row.prime), addresses))
        };
        let rows: Vec<_> = rows.into_iter().map(words).collect();
        self.launch_by_arithmetic("form", lists, &rows, &[])?;
        Ok(out)
    }

    fn form_row(&self, form: &Form<'_>, (q_limbs, i): (usize, usize), out: u64) -> FormRow {
        let prime = self.ring().prime_of(q_limbs, i);
        let table = self.table(prime);
        let unit = table.modulus.pow(self.ring().psi(prime), self.ring().n() as u64 / 2);
        let halves = |c: Multiplier<'_>| c.halves(i, &table.modulus, unit);
        let address = |x: &DevicePoly<Eval>| x.address_like(q_limbs, i);
        let repeated = |&(times, x, y): &(u32, _, _)| [address(x), address(y)].repeat(times as usize);
        FormRow {
            prime,
            out,
            products: form.products.iter().flat_map(repeated).collect(),
            terms: form.terms.iter().map(|(_, x)| address(x)).collect(),
            constants: form.terms.iter().flat_map(|&(c, _)| halves(c).map(|c| table.number(c))).collect(),
            constant: halves(form.constant),
            factor: form.factor.map(halves),
        }
    }
}
