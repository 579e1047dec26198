//! A card as the backend of rings: macro-operations of the ring, on polynomials that may be here or there.
//!
//! Work follows its operands: what touches a secret polynomial is done on the host; sums of products, divisions and copies are done where
//! one of their operands is on the card; what meets a key or a diagonal is done on the card. So encryption and decryption stay on the host,
//! and a ciphertext goes up with its first key switch. Keys and diagonals go up once, when they are first used.

use crate::device::{Table, DEGREES};
use crate::key_switch::KeySwitch;
use crate::ops;
use crate::{selftest, Arithmetic, BlindKey, Device, DevicePoly, DeviceRing, Driver, Error};
use aglet_ring::automorphism::Automorphism;
use aglet_ring::blind::Gadget;
use aglet_ring::ops::{Diagonals, Division, KeyStream, MapInput};
use aglet_ring::packed::PackedKey;
use aglet_ring::poly::Eval;
use aglet_ring::small::SmallTable;
use aglet_ring::traffic::Traffic;
use aglet_ring::{
    Backend, BlockRotation, Digits, Error as RingError, Form, Host, HostRing, KeyBlock, KeyProduct, LweSwitch,
    Multiplier, Pair, Poly, Sign,
};
use std::collections::{BTreeSet, HashMap};
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

/// A card whose kernels compute for rings.
pub struct Card {
    card: Device,
    wanted: Arithmetic,
    /// By prime, degree and root: rings and their subsets share them.
    tables: Mutex<HashMap<(u64, u32, u64), Arc<Table>>>,
}

impl Card {
    /// The card of this number, by the driver of the machine, after a self-test.
    ///
    /// # Errors
    /// Those of [`Driver::open`]; [`Error::Wrong`].
    pub fn open(index: usize) -> Result<Self, Error> {
        Self::tested(Device::new(Driver::open(None, index)?))
    }

    /// A backend over a card, after a self-test: with the arithmetic that is quicker there.
    ///
    /// # Errors
    /// [`Error::Wrong`], and those of the card.
    pub fn tested(card: Device) -> Result<Self, Error> {
        let wanted = card.arithmetic();
        selftest::run(&card, wanted)?;
        Ok(Self::new(card, wanted))
    }

    /// A backend over a card. Primes have the arithmetic that is wanted where it serves them.
    #[must_use]
    pub fn new(card: Device, wanted: Arithmetic) -> Self {
        Self { card, wanted, tables: Mutex::default() }
    }

    /// The card itself.
    #[must_use]
    pub fn device(&self) -> &Device {
        &self.card
    }

    /// The ring on this card, unless its operands or its degree keep the work on the host.
    fn on<'r>(&self, ring: &'r HostRing, at: Where) -> Result<Option<DeviceRing<'r>>, RingError> {
        if at == Where::Here || !DEGREES.contains(&ring.log_n()) {
            return Ok(None);
        }
        let tables = (0..ring.q_count() + ring.p_count()).map(|prime| self.table(ring, prime));
        Ok(Some(DeviceRing::of(self.card.clone(), ring, tables.collect::<Result<_, _>>()?)))
    }

    fn place(ring: &HostRing, prime: usize) -> (u64, u32, u64) {
        (ring.modulus(prime).value(), ring.log_n(), ring.psi(prime))
    }
    fn table(&self, ring: &HostRing, prime: usize) -> Result<Arc<Table>, Error> {
        let key = Self::place(ring, prime);
        let tables = || self.tables.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(table) = tables().get(&key) {
            return Ok(table.clone());
        }
        let made = Arc::new(Table::new(&self.card, ring, prime, self.wanted)?);
        Ok(tables().entry(key).or_insert(made).clone())
    }
}

/// Where an operation is done.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Where {
    Here,
    There,
}

/// Where keys are met: on the card, unless something is secret.
fn with_keys<'a>(mut polys: impl Iterator<Item = &'a Poly<Eval>>) -> Where {
    match polys.any(Poly::is_secret) {
        true => Where::Here,
        false => Where::There,
    }
}

/// Where an operation without keys is done: on the card, if it has one of the operands and none is secret.
fn with_operands<'a>(polys: impl Iterator<Item = &'a Poly<Eval>> + Clone) -> Where {
    match polys.clone().any(|x| x.card().is_some()) {
        true => with_keys(polys),
        false => Where::Here,
    }
}

impl Backend for Card {
    fn name(&self) -> String {
        format!("{}, {:?}", self.card.name(), self.wanted)
    }
    fn room(&self) -> Result<Option<u64>, RingError> {
        Ok(Some(self.card.room()?))
    }
    fn lacks(&self, bytes: u64, tables: &[&HostRing]) -> Result<Option<(u64, u64)>, RingError> {
        let there = self.tables.lock().unwrap_or_else(PoisonError::into_inner);
        let primes = tables.iter().flat_map(|ring| (0..ring.q_count() + ring.p_count()).map(|i| Self::place(ring, i)));
        // Rings share primes.
        let primes: BTreeSet<_> = primes.collect();
        let more = bytes.saturating_sub(primes.iter().filter_map(|at| there.get(at)).map(|table| table.bytes()).sum());
        drop(there);
        Ok(self.card.lacks(more)?.map(|free| (more, free)))
    }
    fn traffic(&self) -> Traffic {
        self.card.traffic()
    }

    fn forms(&self, ring: &HostRing, forms: &[Form<'_>], shape: (usize, usize)) -> Result<Vec<Poly<Eval>>, RingError> {
        let operands: Vec<&Poly<Eval>> = forms.iter().flat_map(Form::operands).collect();
        let at = with_operands(operands.iter().copied());
        let Some(device) = self.on(ring, at)? else { return Host.forms(ring, forms, shape) };
        // A polynomial that several forms share is there once.
        let mut there: HashMap<*const Poly<Eval>, DevicePoly<Eval>> = HashMap::new();
        for x in operands {
            if !there.contains_key(&std::ptr::from_ref(x)) {
                there.insert(x, self.up(&device, x)?);
            }
        }
        let of = |x: &Poly<Eval>| &there[&std::ptr::from_ref(x)];
        let forms = forms.iter().map(|form| ops::Form {
            products: form.products.iter().map(|&(times, x, y)| (times, of(x), of(y))).collect(),
            terms: form.terms.iter().map(|&(c, x)| (c, of(x))).collect(),
            constant: form.constant,
            factor: form.factor,
        });
        let made = device.forms(&forms.collect::<Vec<_>>(), shape.0, shape.1)?;
        Ok(self.all_made(ring, made))
    }

    fn copy(&self, ring: &HostRing, x: &Poly<Eval>, q_limbs: usize) -> Result<Poly<Eval>, RingError> {
        let Some(device) = self.on(ring, with_operands([x].into_iter()))? else {
            return Host.copy(ring, x, q_limbs);
        };
        let (there, one) = (self.up(&device, x)?, Multiplier::integer(1));
        let form = ops::Form { terms: vec![(one, &there)], ..ops::Form::default() };
        Ok(self.made(ring, device.forms(&[form], q_limbs, x.p_limbs())?.remove(0)))
    }

    fn add_assign(&self, ring: &HostRing, x: &mut Poly<Eval>, sign: Sign, y: &Poly<Eval>) -> Result<(), RingError> {
        let Some(device) = self.on(ring, with_operands([&*x, y].into_iter()))? else {
            return Host.add_assign(ring, x, sign, y);
        };
        let [one, signed] = [1, if sign == Sign::Plus { 1 } else { -1 }].map(Multiplier::integer);
        let (left, right) = (self.up(&device, x)?, self.up(&device, y)?);
        let form = ops::Form { terms: vec![(one, &left), (signed, &right)], ..ops::Form::default() };
        *x = self.made(ring, device.forms(&[form], x.q_limbs(), x.p_limbs())?.remove(0));
        Ok(())
    }

    fn digits(
        &self,
        ring: &HostRing,
        of: &[&Poly<Eval>],
        shape: (usize, usize),
        digits: &[Vec<usize>],
    ) -> Result<Vec<Digits>, RingError> {
        let Some(device) = self.on(ring, with_keys(of.iter().copied()))? else {
            return Host.digits(ring, of, shape, digits);
        };
        let there = self.all_up(&device, of.iter().copied())?;
        let made = device.digits(&there.iter().collect::<Vec<_>>(), shape, digits)?;
        Ok(made.into_iter().map(|digits| Digits::of(self.all_made(ring, digits))).collect())
    }

    fn extend(
        &self,
        ring: &HostRing,
        of: &[&Poly<Eval>],
        (from, to): (&[usize], &[usize]),
        (q_limbs, p_limbs): (usize, usize),
    ) -> Result<Vec<Poly<Eval>>, RingError> {
        let Some(device) = self.on(ring, with_operands(of.iter().copied()))? else {
            return Host.extend(ring, of, (from, to), (q_limbs, p_limbs));
        };
        let low = |x: &&Poly<Eval>| Ok(self.up(&device, x)?.into_limbs()[..from.len()].to_vec());
        let low = of.iter().map(low).collect::<Result<Vec<_>, Error>>()?;
        let made = device.extended(&low, from, to)?;
        Ok(made.into_iter().map(|limbs| self.made(ring, DevicePoly::of(limbs, q_limbs))).collect())
    }

    fn divide(&self, ring: &HostRing, of: &[&Poly<Eval>], plan: &Division) -> Result<Vec<Poly<Eval>>, RingError> {
        let Some(device) = self.on(ring, with_operands(of.iter().copied()))? else {
            return Host.divide(ring, of, plan);
        };
        let there = self.all_up(&device, of.iter().copied())?;
        Ok(self.all_made(ring, device.divide(&there.iter().collect::<Vec<_>>(), plan)?))
    }

    fn divide_extended(
        &self,
        ring: &HostRing,
        of: &[[&Poly<Eval>; 2]],
        plan: &Division,
        to: &[usize],
    ) -> Result<Vec<Poly<Eval>>, RingError> {
        let Some(device) = self.on(ring, with_operands(of.iter().flatten().copied()))? else {
            return Host.divide_extended(ring, of, plan, to);
        };
        let whole = |of: &[&Poly<Eval>; 2]| {
            let limbs = of.iter().map(|x| Ok(self.up(&device, x)?.into_limbs())).collect::<Result<Vec<_>, Error>>()?;
            Ok(DevicePoly::of(limbs.concat(), plan.limbs()))
        };
        let dividends = of.iter().map(whole).collect::<Result<Vec<_>, Error>>()?;
        let quotients = device.divide(&dividends.iter().collect::<Vec<_>>(), plan)?;
        let stays: Vec<usize> = (0..plan.rows().len()).collect();
        Ok(self.all_made(ring, device.extend(&quotients.iter().collect::<Vec<_>>(), &stays, to)?))
    }

    fn key_products(
        &self,
        ring: &HostRing,
        of: &[KeyProduct<'_>],
        key: &KeyBlock,
        automorphism: Option<&Automorphism>,
    ) -> Result<Vec<Pair>, RingError> {
        let Some(device) = self.on(ring, with_keys(of.iter().flat_map(KeyProduct::polys)))? else {
            return Host.key_products(ring, of, key, automorphism);
        };
        let up = |x: &Poly<Eval>| self.up(&device, x);
        let input = |x: &KeyProduct<'_>| {
            let after = x.added_after.map(|(b, a)| Ok::<_, Error>((up(b)?, up(a)?))).transpose()?;
            Ok((self.digits_up(&device, x.digits)?, x.added_before.map(up).transpose()?, after))
        };
        let there = of.iter().map(input).collect::<Result<Vec<_>, Error>>()?;
        let inputs = there.iter().map(|(digits, before, after)| ops::KeyProduct {
            digits,
            added_before: before.as_ref(),
            added_after: after.as_ref().map(|(b, a)| (b, a)),
        });
        let key = self.key_up(&device, key)?;
        Ok(self.pairs_made(ring, device.key_products(&inputs.collect::<Vec<_>>(), &key, automorphism)?))
    }

    fn key_sum(&self, ring: &HostRing, of: &[Poly<Eval>], keys: &[&KeyBlock]) -> Result<Pair, RingError> {
        let Some(device) = self.on(ring, with_keys(of.iter()))? else { return Host.key_sum(ring, of, keys) };
        let (there, keys) = (self.all_up(&device, of)?, self.keys_up(&device, keys.iter().copied())?);
        let sum = device.key_sum(&there, &keys.iter().collect::<Vec<_>>())?;
        Ok(self.pairs_made(ring, vec![sum]).remove(0))
    }

    fn rotated_sums(
        &self,
        ring: &HostRing,
        of: &[KeyProduct<'_>],
        keys: &[(&KeyBlock, &Automorphism)],
    ) -> Result<Vec<Pair>, RingError> {
        let Some(device) = self.on(ring, with_keys(of.iter().flat_map(KeyProduct::polys)))? else {
            return Host.rotated_sums(ring, of, keys);
        };
        let up = |x: &KeyProduct<'_>| {
            let before = x.added_before.map(|x| self.up(&device, x)).transpose()?;
            Ok((self.digits_up(&device, x.digits)?, before))
        };
        let there = of.iter().map(up).collect::<Result<Vec<_>, Error>>()?;
        let inputs = there.iter().map(|(digits, before)| ops::KeyProduct {
            digits,
            added_before: before.as_ref(),
            added_after: None,
        });
        let words = self.keys_up(&device, keys.iter().map(|(key, _)| *key))?;
        let keys: Vec<_> = words.iter().zip(keys).map(|(words, (_, phi))| (words, *phi)).collect();
        Ok(self.pairs_made(ring, device.rotated_sums(&inputs.collect::<Vec<_>>(), &keys)?))
    }

    fn encoded(&self, ring: &HostRing, diagonals: Diagonals) -> Result<Diagonals, RingError> {
        let Some(device) = self.on(ring, Where::There)? else { return Host.encoded(ring, diagonals) };
        self.diagonals_up(&device, &diagonals)?;
        Ok(diagonals)
    }

    fn linear_map(
        &self,
        ring: &HostRing,
        of: &[MapInput<'_>],
        keys: &[Option<(&KeyBlock, &Automorphism)>],
        diagonals: &Diagonals,
        steps: Range<usize>,
    ) -> Result<Vec<Vec<Pair>>, RingError> {
        let host = |steps| Host.linear_map(ring, of, keys, diagonals, steps);
        let Some(device) = self.on(ring, with_keys(of.iter().flat_map(MapInput::polys)))? else {
            return host(steps);
        };
        let Some(diagonals) = self.diagonals_up(&device, diagonals)? else { return host(steps) };
        let input = |x: &MapInput<'_>| {
            let lifted = (self.up(&device, x.lifted.0)?, self.up(&device, x.lifted.1)?);
            Ok((self.digits_up(&device, x.digits)?, lifted))
        };
        let there = of.iter().map(input).collect::<Result<Vec<_>, Error>>()?;
        let inputs = there.iter().map(|(digits, (c0, c1))| ops::MapInput { digits, lifted: (c0, c1) });
        let words = keys.iter().map(|key| key.map(|(key, _)| self.key_up(&device, key)).transpose());
        let words = words.collect::<Result<Vec<_>, _>>()?;
        let keys: Vec<_> =
            words.iter().zip(keys).map(|(words, key)| words.as_ref().zip(key.map(|(_, phi)| phi))).collect();
        let made = device.linear_map(&inputs.collect::<Vec<_>>(), &keys, &diagonals.there, steps)?;
        Ok(made.into_iter().map(|pairs| self.pairs_made(ring, pairs)).collect())
    }

    fn stream_sums(
        &self,
        ring: &HostRing,
        of: &[Vec<&Digits>],
        key: &KeyStream,
        rotations: &[&Automorphism],
    ) -> Result<Vec<Pair>, RingError> {
        let Some(device) = self.on(ring, with_keys(of.iter().flatten().flat_map(|x| x.polys())))? else {
            return Host.stream_sums(ring, of, key, rotations);
        };
        let list = |x: &Vec<&Digits>| {
            Ok(x.iter().map(|x| self.digits_up(&device, x)).collect::<Result<Vec<_>, Error>>()?.concat())
        };
        let there = of.iter().map(list).collect::<Result<Vec<_>, Error>>()?;
        let inputs: Vec<Vec<&DevicePoly<Eval>>> = there.iter().map(|list| list.iter().collect()).collect();
        let key = self.stream_up(&device, key)?;
        Ok(self.pairs_made(ring, device.stream_sums(&inputs, &key.there, rotations)?))
    }

    fn stream_products(
        &self,
        ring: &HostRing,
        of: &[[Vec<Poly<Eval>>; 2]],
        streams: &[KeyStream],
    ) -> Result<Vec<Vec<[Poly<Eval>; 2]>>, RingError> {
        let Some(device) = self.on(ring, with_keys(of.iter().flatten().flatten()))? else {
            return Host.stream_products(ring, of, streams);
        };
        let lists = |[x, y]: &[Vec<Poly<Eval>>; 2]| Ok([self.all_up(&device, x)?, self.all_up(&device, y)?]);
        let there = of.iter().map(lists).collect::<Result<Vec<_>, Error>>()?;
        let kept = streams.iter().map(|s| self.stream_up(&device, s)).collect::<Result<Vec<_>, Error>>()?;
        let made = device.stream_products(&there, &kept.iter().map(|kept| &kept.there).collect::<Vec<_>>())?;
        let halves = |(b, a)| [self.made(ring, b), self.made(ring, a)];
        Ok(made.into_iter().map(|pairs| pairs.into_iter().map(halves).collect()).collect())
    }

    fn block_rotation(
        &self,
        table: &SmallTable,
        key: &PackedKey,
        gadget: Gadget,
        switch: &LweSwitch<'_>,
    ) -> Result<Option<Arc<dyn BlockRotation>>, RingError> {
        if !BlindKey::serves(table, key, gadget) || !KeySwitch::serves(switch) {
            return Ok(None);
        }
        Ok(Some(Arc::new(BlindKey::new(&self.card, table, key, gadget, self.wanted)?.with_switch(switch)?)))
    }
}
