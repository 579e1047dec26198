//! Products, rotations and circuits that a card has no room for are refused before anything goes up.

use super::{Ciphertext, Engine, GaloisKey, RelinearizationKey, RotationKey, SumWeight};
use crate::card_memory::{self, CardMemory};
use crate::{Error, MemoryError};
use aglet_circuits::polynomial::{elements, Basis, Series};
use aglet_rlwe::{KeyRole, KeySet, SwitchingKey};
use aglet_schemes::ckks::cost::{CostCiphertext, CostEvaluator};
use aglet_schemes::{Approximate, Evaluator, Product, Quadratic};
use num_complex::Complex64;
use std::collections::BTreeMap;
use std::sync::Arc;

const ONE: Complex64 = Complex64::new(1.0, 0.0);

impl Engine {
    /// Refuses work on these ciphertexts, with these keys, that a card has no room for.
    fn fits_card<E>(
        &self,
        what: &'static str,
        keys: &KeySet,
        of: &[&Ciphertext],
        work: impl FnOnce(&CostEvaluator, &[CostCiphertext]) -> Result<(), E>,
    ) -> Result<(), Error> {
        self.fits_beside((what, 0), keys, of, work)
    }

    /// The same, where the card has so many bytes already of what work meets beside keys and ciphertexts. Work that cannot be done fails by
    /// itself.
    pub(super) fn fits_beside<E>(
        &self,
        (what, maps): (&'static str, usize),
        keys: &KeySet,
        of: &[&Ciphertext],
        work: impl FnOnce(&CostEvaluator, &[CostCiphertext]) -> Result<(), E>,
    ) -> Result<(), Error> {
        let (ring, n) = (self.ctx.ring(), self.params().n());
        let needed = || {
            let specs = keys.iter().map(|(role, key)| (role, key.spec().clone())).collect();
            let e = CostEvaluator::new(self.params().rlwe().clone(), specs);
            // A ciphertext that is there several times is held once.
            let mut held = BTreeMap::new();
            let inputs = of
                .iter()
                .map(|ct| held.entry(Arc::as_ptr(ct)).or_insert_with(|| e.encrypt(ct.level(), ct.scale)).clone());
            let inputs: Vec<CostCiphertext> = inputs.collect();
            let _squares: Vec<_> = of.iter().flat_map(|ct| &ct.polys[2..]).map(|x| e.hold(x.q_limbs())).collect();
            if work(&e, &inputs).is_err() {
                return Ok(None);
            }
            let tables = card_memory::tables([self.params().rlwe()])?;
            Ok(Some(CardMemory { keys: keys.card_bytes(), maps: 0, tables, working: e.card_bytes() }))
        };
        let refusal = |CardMemory { keys, .. }, needed, room| MemoryError::CardOperation {
            what,
            needed,
            keys: keys as u64,
            room,
        };
        let Some(memory) = self.fitted.checked(&**ring.backend(), needed, refusal)? else { return Ok(()) };
        // It may have too little left beside what others have there.
        let held: BTreeMap<_, _> = of.iter().map(|ct| (Arc::as_ptr(ct), *ct)).collect();
        let there = held.values().flat_map(|ct| &ct.polys).filter(|x| x.card().is_some()).map(|x| 8 * n * x.q_limbs());
        let there = there.sum::<usize>() + keys.card_bytes_there() + maps;
        memory.beside(&**ring.backend(), &[ring], (what, there))
    }

    /// [`Engine::adjust`] without values.
    fn adjusted(
        &self,
        e: &CostEvaluator,
        x: &CostCiphertext,
        level: usize,
    ) -> Result<CostCiphertext, aglet_schemes::Error> {
        let (chain, scale) = (self.params().chain_level(level), self.params().scale_at(level));
        match e.level(x) == chain {
            true => Ok(x.clone()),
            false => {
                let terms = vec![(ONE, x)];
                e.quadratic(&Quadratic { products: vec![], terms, constant: Complex64::ZERO, level: chain + 1, scale })
            }
        }
    }

    /// Refuses a sum of products at a user level.
    pub(super) fn fits_products(
        &self,
        what: &'static str,
        pairs: &[(&Ciphertext, &Ciphertext)],
        level: usize,
        key: &RelinearizationKey,
    ) -> Result<(), Error> {
        let keys = KeySet::new().with(KeyRole::Relinearization, key.0.clone());
        let operands: Vec<&Ciphertext> = pairs.iter().flat_map(|(left, right)| [*left, *right]).collect();
        self.fits_card(what, &keys, &operands, |e, of| {
            let aligned = of.iter().map(|x| self.adjusted(e, x, level)).collect::<Result<Vec<_>, _>>()?;
            let products = aligned.chunks_exact(2).map(|pair| Product { factor: 1, left: &pair[0], right: &pair[1] });
            let (chain, scale) = (self.params().chain_level(level), self.params().scale_at(level.saturating_sub(1)));
            let form = Quadratic {
                products: products.collect(),
                terms: vec![],
                constant: Complex64::ZERO,
                level: chain,
                scale,
            };
            e.quadratic(&form).map(drop)
        })
    }

    /// Refuses automorphisms by these keys: one after the other, or all of the ciphertext itself.
    pub(super) fn fits_automorphisms(
        &self,
        a: &Ciphertext,
        keys: impl IntoIterator<Item = (KeyRole, Arc<SwitchingKey>)>,
        together: bool,
    ) -> Result<(), Error> {
        let keys: Vec<_> = keys.into_iter().collect();
        let galois = keys.iter().filter_map(|(role, _)| match role {
            KeyRole::Galois(galois) => Some(*galois),
            _ => None,
        });
        let galois: Vec<u64> = galois.collect();
        self.fits_card("a rotation", &keys.into_iter().collect(), &[a], |e, of| match together {
            true => e.automorphisms_of(&of[0], &galois).map(drop),
            false => galois.iter().try_fold(of[0].clone(), |x, &galois| e.automorphism(&x, galois)).map(drop),
        })
    }

    /// Refuses a product that stays at degree 2. It needs no key: where the card has neither operand, nothing goes up.
    pub(super) fn fits_tensor(&self, of: [&Ciphertext; 2], level: usize) -> Result<(), Error> {
        if !of.iter().any(|ct| ct.polys.iter().any(|x| x.card().is_some())) {
            return Ok(());
        }
        self.fits_card("a product", &KeySet::new(), &of, |e, of| {
            let _aligned = of.iter().map(|x| self.adjusted(e, x, level)).collect::<Result<Vec<_>, _>>()?;
            let limbs = self.params().chain_level(level) + 1;
            let _square = e.tensor(limbs);
            let _rescaled: [_; 3] = e.divide_all(limbs, 0, 1);
            Ok::<_, aglet_schemes::Error>(())
        })
    }

    /// Refuses to bring a product that is at degree 2 to degree 1.
    pub(super) fn fits_relinearization(&self, a: &Ciphertext, key: &RelinearizationKey) -> Result<(), Error> {
        let keys = KeySet::new().with(KeyRole::Relinearization, key.0.clone());
        if a.degree() == 1 {
            return Ok(());
        }
        self.fits_card("a relinearization", &keys, &[a], |e, _| e.relinearize_one(a.limbs(), 0).map(drop))
    }

    /// Refuses a batch of rotations by the powers of two of a key: all lowest ones of one ciphertext, then on from each of the results.
    pub(super) fn fits_rotations(&self, a: &Ciphertext, key: &RotationKey, deltas: &[i64]) -> Result<(), Error> {
        let deltas: Vec<i64> = deltas.iter().map(|delta| delta.rem_euclid(self.slots() as i64)).collect();
        let met = |step: i64| deltas.iter().any(|delta| delta & step != 0);
        let keys = key.steps.iter().filter(|(step, _)| met(*step)).map(|(_, key)| key.with_role()).collect();
        self.fits_card("a rotation", &keys, &[a], |e, of| {
            let mut made = vec![of[0].clone(); deltas.len()];
            tree(e, &of[0], deltas.iter().copied().enumerate().collect(), &key.steps, &mut made)
        })
    }

    /// Refuses a polynomial whose result has a scale, of a ciphertext or of twice it.
    pub(super) fn fits_polynomial(
        &self,
        a: &Ciphertext,
        series: &Series,
        (twice, scale): (bool, f64),
        key: &RelinearizationKey,
    ) -> Result<(), Error> {
        let keys = KeySet::new().with(KeyRole::Relinearization, key.0.clone());
        self.fits_card("a polynomial", &keys, &[a], |e, of| {
            let x = if twice { e.add(&of[0], &of[0])? } else { of[0].clone() };
            series.evaluate_scaled(e, &x, scale).map(drop)
        })
    }

    /// Refuses all powers up to a degree, or all Chebyshev polynomials.
    pub(super) fn fits_basis(
        &self,
        a: &Ciphertext,
        (kind, degree): (Basis, usize),
        key: &RelinearizationKey,
    ) -> Result<(), Error> {
        let (keys, hidden) =
            (KeySet::new().with(KeyRole::Relinearization, key.0.clone()), self.params().hidden_levels());
        let scale_at = |chain: usize| self.params().scale_at(chain - hidden);
        self.fits_card("a basis", &keys, &[a], |e, of| elements(e, kind, &of[0], degree, &scale_at).map(drop))
    }

    /// Refuses a weighted sum at a chain level. It needs no key: where the card has none of the ciphertexts, nothing goes up.
    pub(super) fn fits_sum(&self, terms: &[(&Ciphertext, SumWeight<'_>)], chain: usize) -> Result<(), Error> {
        if !terms.iter().any(|(ct, _)| ct.polys.iter().any(|x| x.card().is_some())) {
            return Ok(());
        }
        let of: Vec<&Ciphertext> = terms.iter().map(|(ct, _)| *ct).collect();
        let slots = terms.iter().filter(|(_, weight)| !weight.is_number()).count();
        self.fits_card("a weighted sum", &KeySet::new(), &of, |e, _| {
            let _weights: Vec<_> = (0..slots).map(|_| e.hold(chain + 1)).collect();
            let _sums = [(); 2].map(|()| e.poly_of_form(chain + 1, slots, terms.len() - slots, false));
            let _divided = e.divide(chain + 1, 0, 1);
            Ok::<_, Error>(())
        })
    }
}

/// The batch of rotations of an engine, without values.
fn tree(
    e: &CostEvaluator,
    x: &CostCiphertext,
    wanted: Vec<(usize, i64)>,
    keys: &[(i64, GaloisKey)],
    out: &mut [CostCiphertext],
) -> Result<(), aglet_schemes::Error> {
    let mut groups: BTreeMap<i64, Vec<(usize, i64)>> = BTreeMap::new();
    for (place, left) in wanted {
        match left & left.wrapping_neg() {
            0 => out[place] = x.clone(),
            step => groups.entry(step).or_default().push((place, left - step)),
        }
    }
    let galois = groups.keys().filter_map(|step| keys.iter().find(|(own, _)| own == step)).map(|(_, key)| key.galois);
    let rotated = e.automorphisms_of(x, &galois.collect::<Vec<_>>())?;
    groups.into_values().zip(rotated).try_for_each(|(group, x)| tree(e, &x, group, keys, out))
}
