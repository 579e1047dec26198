//! The work of arithmetic on samples that schemes share ([`crate::samples`]): an evaluator without numbers, which counts.
//!
//! Each operation adds its work limb by limb, from the shapes of the keys that it would use. It also holds memory for each polynomial as long as the
//! polynomial would live. Sums, copies and permutations are not counted; they are a few per cent.

mod counted;

pub use counted::CountedMemory;

use crate::error::Error;
use crate::missing_keys::missing;
use aglet_ring::automorphism::rotation_exponent;
use aglet_ring::{in_one_go, Demand, Tally};
use aglet_rlwe::params::Params;
use aglet_rlwe::{KeyRole, KeySet, KeySwitchSpec};
use counted::Ledger;
use std::sync::{Mutex, PoisonError};

/// The evaluator that counts.
pub struct SampleCost {
    params: Params,
    keys: KeySet<KeySwitchSpec>,
    tally: Mutex<Tally>,
    ledger: Ledger,
}

impl SampleCost {
    /// Makes an evaluator with keys of these shapes.
    pub fn new(params: Params, keys: KeySet<KeySwitchSpec>) -> Self {
        Self { params, keys, tally: Mutex::default(), ledger: Ledger::default() }
    }
    /// Work on several ciphertexts that use the same keys and diagonals side by side: these are read once.
    pub fn sharing<A, T>(&self, of: &[A], one: impl Fn(&A) -> Result<T, Error>) -> Result<Vec<T>, Error> {
        let before = self.take();
        let mut all = Tally::NONE;
        let mut out = Vec::with_capacity(of.len());
        for a in of {
            out.push(one(a)?);
            let work = self.take();
            // Of one kind, so that the largest reading of keys is that of all.
            let (key_read, matrix_read) = (work.key_read.max(all.key_read), work.matrix_read.max(all.matrix_read));
            all = Tally { key_read, matrix_read, ..all + work };
        }
        self.count(before + all);
        Ok(out)
    }
    /// The memory of a polynomial of so many limbs.
    pub fn hold(&self, limbs: usize) -> CountedMemory {
        self.ledger.lend(self.params.n(), [limbs, limbs])
    }
    /// What this machine alone takes for an operation.
    pub fn hold_here(&self, limbs: usize) -> CountedMemory {
        self.ledger.lend(self.params.n(), [limbs, 0])
    }
    /// What a card alone takes for one.
    fn hold_there(&self, limbs: usize) -> CountedMemory {
        self.ledger.lend(self.params.n(), [0, limbs])
    }
    /// The same of diagonals: so many words at each limb.
    pub(crate) fn hold_words_there(&self, words: usize, limbs: usize) -> CountedMemory {
        self.ledger.lend(words, [0, limbs])
    }
    /// The memory of two.
    pub fn pair(&self, limbs: usize) -> [CountedMemory; 2] {
        [self.hold(limbs), self.hold(limbs)]
    }
    /// The largest memory in use at one time.
    pub fn demand(&self) -> Demand {
        self.ledger.so_far()
    }
    /// The most bytes that polynomials take on a card at one time.
    pub fn card_bytes(&self) -> usize {
        self.ledger.most_there()
    }
    /// The work since the last call.
    pub fn take(&self) -> Tally {
        std::mem::take(&mut *self.tally.lock().unwrap_or_else(PoisonError::into_inner))
    }
    /// Its parameters.
    pub fn params(&self) -> &Params {
        &self.params
    }
    /// The primes of its chain, as all chains of these parameters count them.
    pub fn prime_indices(&self) -> &[usize] {
        self.params.prime_indices()
    }
    /// The degree of the ring.
    pub fn n(&self) -> u64 {
        self.params.n() as u64
    }
    /// The smallest shape of this role that has enough limbs.
    pub fn key(&self, role: KeyRole, limbs: usize) -> Result<&KeySwitchSpec, Error> {
        self.keys.find(role, limbs).ok_or_else(|| missing(role, limbs, self.params.n()))
    }
    /// Adds work.
    pub fn count(&self, work: Tally) {
        *self.tally.lock().unwrap_or_else(PoisonError::into_inner) += work;
    }
    /// Forward transforms of so many limbs.
    pub fn forward(&self, limbs: usize) {
        self.count(Tally::forward(self.n()).times(limbs as u64));
    }
    /// Inverse transforms of so many limbs.
    pub fn inverse(&self, limbs: usize) {
        self.count(Tally::inverse(self.n()).times(limbs as u64));
    }
    /// A base conversion with the transforms before and after it.
    pub fn convert(&self, sources: usize, targets: usize) {
        self.convert_all([(sources, targets)]);
    }
    /// The same of several, side by side; those without targets are none.
    fn convert_all(&self, all: impl IntoIterator<Item = (usize, usize)>) {
        let all: Vec<_> = all.into_iter().filter(|&(_, targets)| targets > 0).collect();
        let _quotients = self.hold_here(all.len());
        for (sources, targets) in all {
            self.count(Tally::conversion(self.n(), sources as u64, targets as u64));
            self.forward(targets);
        }
    }
    /// [`digits`](aglet_rlwe::keyswitch::digits), which share the limbs of the polynomial itself.
    pub fn digits(&self, spec: &KeySwitchSpec, limbs: usize) -> Vec<CountedMemory> {
        let (digits, all) = (spec.cut(limbs).digits, limbs + spec.p_limbs);
        let _coefficients = self.hold_here(limbs);
        self.inverse(limbs);
        let raised = digits.iter().map(|own| {
            // A card has the coefficients of one digit at a time.
            let _coefficients = self.hold_there(own.len());
            self.hold(all - own.len())
        });
        let raised = raised.collect();
        self.convert_all(digits.iter().map(|own| (own.len(), all - own.len())));
        raised
    }
    /// [`key_products`](aglet_ring::Ring::key_products) of one input over so many limbs, onto so many limbs of addends in all.
    pub fn product(&self, digits: usize, limbs: usize, addends: usize) -> [CountedMemory; 2] {
        self.count(Tally::key_product(self.n(), digits as u64, 0).times(limbs as u64));
        self.count(Tally { ciphertext_read: self.n() * addends as u64, ..Tally::NONE });
        self.pair(limbs)
    }
    /// [`relinearize`](aglet_rlwe::keyswitch::relinearize) of so many products and terms each.
    ///
    /// # Errors
    /// None of its own.
    pub fn relinearize(
        &self,
        spec: &KeySwitchSpec,
        of: &[(u64, u64)],
        (limbs, drop): (usize, usize),
    ) -> Result<Vec<[CountedMemory; 2]>, Error> {
        if !in_one_go(of.len()) {
            return self.relinearized_by_parts(spec, of, (limbs, drop));
        }
        let there = self.there_alone(|| self.relinearized_by_parts(spec, of, (limbs, drop)))?;
        let (digits, all) = (spec.cut(limbs).digits, limbs + spec.p_limbs);
        let form = |limbs: usize, (products, terms): (u64, u64), factor| {
            self.count(Tally::form(self.n(), products, terms, factor).times(limbs as u64));
        };
        let (leave, kept) = (drop + spec.p_limbs, limbs - drop);
        let squares: Vec<_> = of.iter().map(|_| [self.hold_here(limbs), self.hold_here(limbs)]).collect();
        for &(products, _) in of {
            form(limbs, (products, 0), false);
            self.inverse(limbs);
        }
        let others = || of.iter().flat_map(|_| digits.iter().map(|own| (own.len(), all - own.len())));
        let raised: Vec<_> = others().map(|(_, others)| self.hold_here(others)).collect();
        self.convert_all(others());
        let squares: Vec<_> = squares.into_iter().map(|[square, _coefficients]| square).collect();
        let tails: Vec<_> = (0..2 * of.len()).map(|_| self.hold_here(leave)).collect();
        self.sharing(of, |&(products, terms)| {
            form(limbs, (products, terms), true);
            form(limbs, (2 * products, terms), true);
            self.count(Tally::key_product(self.n(), digits.len() as u64, 0).times(all as u64));
            self.count(Tally { ciphertext_read: self.n() * 2 * limbs as u64, ..Tally::NONE });
            self.inverse(2 * leave);
            self.count(Tally::rsub_mul(self.n()).times(2 * kept as u64));
            Ok(())
        })?;
        let mut halves = tails.iter().map(|_| self.hold_here(kept)).collect::<Vec<_>>().into_iter();
        self.convert_all(tails.iter().map(|_| (leave, kept)));
        std::mem::drop((squares, raised, tails));
        let both = there.into_iter().map(|[b, a]| Some([halves.next()?.beside(b), halves.next()?.beside(a)]));
        Ok(both.flatten().collect())
    }
    /// The product of two samples as one of degree 2, neither relinearized nor divided.
    pub fn tensor(&self, limbs: usize) -> [CountedMemory; 3] {
        [1, 2, 1].map(|products| self.poly_of_form(limbs, products, 0, false))
    }
    /// A sample of degree 2 brought back to degree 1, divided by the `dropped` highest primes of the chain on the way.
    ///
    /// # Errors
    /// [`Error::MissingKey`].
    pub fn relinearize_one(&self, limbs: usize, dropped: usize) -> Result<[CountedMemory; 2], Error> {
        let spec = self.key(KeyRole::Relinearization, limbs)?;
        let inputs = (self.digits(spec, limbs), [(); 2].map(|()| self.lift(limbs)));
        let _product = self.product(inputs.0.len(), limbs + spec.p_limbs, 2 * limbs);
        drop(inputs);
        Ok(self.divide(limbs, spec.p_limbs, dropped))
    }
    /// [`divide_forms`](aglet_rlwe::keyswitch::divide_forms) of a pair of so many terms each.
    pub fn divide_forms(&self, terms: u64, (limbs, dropped): (usize, usize)) -> [CountedMemory; 2] {
        let there = self.there_alone(|| {
            let _forms = [(); 2].map(|()| self.poly_of_form(limbs, 0, terms as usize, false));
            self.divide(limbs, 0, dropped)
        });
        let kept = limbs - dropped;
        let _leaving = [(); 2].map(|()| self.hold_here(dropped));
        let quotients = there.map(|there| self.hold_here(kept).beside(there));
        self.count((Tally::form(self.n(), 0, terms, false).times(limbs as u64)).times(2));
        self.inverse(2 * dropped);
        self.convert_all([(dropped, kept); 2]);
        self.count(Tally::rsub_mul(self.n()).times(2 * kept as u64));
        quotients
    }
    /// The same where one operation follows another.
    fn relinearized_by_parts(
        &self,
        spec: &KeySwitchSpec,
        of: &[(u64, u64)],
        (limbs, drop): (usize, usize),
    ) -> Result<Vec<[CountedMemory; 2]>, Error> {
        let mut tensors: Vec<_> = of
            .iter()
            .map(|&(products, terms)| {
                let form =
                    |times: u64, terms, factor| self.poly_of_form(limbs, (times * products) as usize, terms, factor);
                let lifted = [form(1, terms as usize, true), form(2, terms as usize, true)];
                let square = form(1, 0, false);
                (lifted, Some((self.digits(spec, limbs), square)))
            })
            .collect();
        let digits = spec.cut(limbs).digits.len();
        let switched = self.sharing(&tensors, |_| Ok(self.product(digits, limbs + spec.p_limbs, 2 * limbs)))?;
        tensors.iter_mut().for_each(|(_, digits)| *digits = None);
        Ok(switched.iter().map(|_| self.divide(limbs, spec.p_limbs, drop)).collect())
    }
    /// What a card holds where it goes another way than this machine, whose memory and work are counted apart.
    fn there_alone<T>(&self, way: impl FnOnce() -> T) -> T {
        let before = self.take();
        self.ledger.there_alone(true);
        let found = way();
        self.ledger.there_alone(false);
        self.take();
        self.count(before);
        found
    }
    /// An automorphism with the way back to the secret, by a key of this shape: the second polynomial of a sample is cut, the first one lifted.
    pub fn automorphism(&self, spec: &KeySwitchSpec, limbs: usize) -> [CountedMemory; 2] {
        let inputs = (self.lift(limbs), self.digits(spec, limbs));
        let _product = self.product(inputs.1.len(), limbs + spec.p_limbs, limbs);
        drop(inputs);
        self.divide(limbs, spec.p_limbs, 0)
    }
    /// [`divide`](aglet_rlwe::keyswitch::divide) of a pair.
    pub fn divide(&self, limbs: usize, p_limbs: usize, drop: usize) -> [CountedMemory; 2] {
        self.divide_all(limbs, p_limbs, drop)
    }
    /// The same of several polynomials.
    pub fn divide_all<const COUNT: usize>(&self, limbs: usize, p_limbs: usize, drop: usize) -> [CountedMemory; COUNT] {
        // A card has what leaves all of them at once.
        let _leaving = self.hold_there((COUNT - 1) * (drop + p_limbs));
        [(); COUNT].map(|()| self.divide_one(limbs, p_limbs, drop))
    }
    /// The same of one polynomial.
    pub fn divide_one(&self, limbs: usize, p_limbs: usize, drop: usize) -> CountedMemory {
        let kept = limbs - drop;
        let (_leaving, quotient) = (self.hold(drop + p_limbs), self.hold(kept));
        self.inverse(drop + p_limbs);
        self.convert(drop + p_limbs, kept);
        self.count(Tally::rsub_mul(self.n()).times(kept as u64));
        quotient
    }
    /// [`mod_switch`](aglet_rlwe::mod_switch::mod_switch) of a pair.
    pub fn mod_switch(&self, from: usize, limbs: usize) -> [CountedMemory; 2] {
        self.switched(self.prime_indices()[..from].iter().filter(|&&l| l >= limbs).count(), from, limbs)
    }
    /// [`mod_switch_in`](aglet_rlwe::mod_switch::mod_switch_in) of a pair.
    pub fn mod_switch_in(&self, limbs: usize) -> [CountedMemory; 2] {
        self.switched(self.prime_indices()[..limbs].iter().filter(|&&l| l >= limbs).count(), limbs, limbs)
    }
    /// A pair with another modulus: so many of its limbs leave.
    fn switched(&self, leaving: usize, from: usize, limbs: usize) -> [CountedMemory; 2] {
        [(); 2].map(|()| {
            let (_leaving, _coming) = (self.hold(leaving), self.hold(limbs));
            self.inverse(leaving);
            self.count(Tally::form(self.n(), 0, 1, false).times((from - leaving) as u64));
            let quotient = self.hold(limbs);
            self.convert(leaving, limbs);
            self.count(Tally::rsub_mul(self.n()).times(limbs as u64));
            quotient
        })
    }
    /// A switch at the lowest modulus to the sparse secret.
    ///
    /// # Errors
    /// [`Error::MissingKey`].
    pub fn dense_to_sparse(&self) -> Result<[CountedMemory; 2], Error> {
        let spec = self.key(KeyRole::DenseToSparse, 1)?;
        let (_lifted, digits) = (self.lift(1), self.digits(spec, 1));
        let _product = self.product(digits.len(), 1 + spec.p_limbs, 1);
        Ok(self.divide(1, spec.p_limbs, 0))
    }
    /// One polynomial of a form.
    pub fn poly_of_form(&self, limbs: usize, products: usize, terms: usize, factor: bool) -> CountedMemory {
        self.count(Tally::form(self.n(), products as u64, terms as u64, factor).times(limbs as u64));
        self.hold(limbs)
    }
    /// [`lift_by_special`](aglet_rlwe::keyswitch::lift_by_special).
    pub fn lift(&self, limbs: usize) -> CountedMemory {
        self.poly_of_form(limbs, 0, 1, false)
    }
    /// A giant step onto these inner sums.
    pub(crate) fn giant_step(
        &self,
        spec: &KeySwitchSpec,
        limbs: usize,
        inner: Vec<[CountedMemory; 2]>,
    ) -> Result<Vec<[CountedMemory; 2]>, Error> {
        let all = limbs + spec.p_limbs;
        let c1: Vec<CountedMemory> = inner.iter().map(|_| self.divide_one(limbs, spec.p_limbs, 0)).collect();
        let digits: Vec<_> = c1.into_iter().map(|c1| (self.digits(spec, limbs), c1)).collect();
        self.sharing(&digits, |(digits, _)| Ok(self.product(digits.len(), all, 3 * all)))
    }
    /// The Galois element of a rotation to the left.
    pub fn rotation(&self, by: usize) -> u64 {
        rotation_exponent(by as isize, self.params.n())
    }
}
