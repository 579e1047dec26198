//! What is stored of each type of CKKS. A new one takes a [`Kind`] in [`ALL`] and an implementation of [`Stored`]; one that is
//! switching keys and nothing else, a few lines of [`keys!`].

use super::CkksOrigin as Origin;
use crate::ckks::bootstrap::key::kind_of;
use crate::ckks::engine::{rotation, user_limbs};
use crate::ckks::matrix::steps as matrix_steps;
use crate::ckks::rotation_layout::rotation_layout;
use crate::ckks::{
    BootstrapCircuit, BootstrapKey, Ciphertext, FixedRotationKey, GaloisKey, KeySize, MatrixKey, Method, Plaintext,
    RelinearizationKey, Request, RotationKey,
};
use crate::wire::rlwe::{balanced, keys, limb_bytes, one, polys};
use crate::wire::{bootstrap, count, flag, unknown, Kind, Reader, Shape, Stored, Words, Writer};
use crate::{Error, PublicKey, SecretKey};
use aglet_bootstrap::ckks::circuit::arithmetic_limbs;
use aglet_ring::automorphism::{conjugation_exponent, rotation_exponent};
use aglet_rlwe::{Context, KeyId, KeyRole, KeySwitchSpec, Sample};
use aglet_schemes::ckks::{self, Known, Points, Size, Stated};
use std::collections::BTreeSet;
use std::sync::Arc;

/// Every type, in the order of the numbers.
pub const ALL: [Kind; 10] = [
    <SecretKey as Stored<Origin>>::KIND,
    <PublicKey as Stored<Origin>>::KIND,
    RelinearizationKey::KIND,
    GaloisKey::KIND,
    RotationKey::KIND,
    FixedRotationKey::KIND,
    BootstrapKey::KIND,
    Plaintext::KIND,
    Ciphertext::KIND,
    MatrixKey::KIND,
];

keys! { Origin:
    RelinearizationKey: 3 "relinearization key", slots: false {
        least: |_o| 0,
        words: |_x| vec![],
        shapes: |origin, _w| Ok(vec![balanced(&origin.params, KeyRole::Relinearization, arithmetic_limbs(&origin.params))?]),
        keys: |x| vec![&x.0],
        take: |_o, _w, _id, list| Ok(Self(one::<Origin, Self>(list)?)),
    }

    // The only automorphism that is stored alone is conjugation.
    GaloisKey: 4 "conjugation key", slots: false {
        least: |_o| 0,
        words: |_x| vec![],
        shapes: |origin, _w| {
            let params = &origin.params;
            let role = KeyRole::Galois(conjugation_exponent(params.n()));
            Ok(vec![balanced(params, role, arithmetic_limbs(params))?])
        },
        keys: |x| vec![&x.key],
        take: |origin, _w, _id, list| Ok(Self { galois: conjugation_exponent(origin.params.n()), key: one::<Origin, Self>(list)? }),
    }

    RotationKey: 5 "rotation key", slots: true {
        least: |origin| origin.slots.ilog2() as usize * user_limbs(&origin.params),
        words: |_x| vec![],
        shapes: |origin, _w| {
            let layout = rotation_layout(&origin.params, origin.slots)?;
            let shape = |galois, spec| Shape::Key { params: origin.params.rlwe().clone(), role: KeyRole::Galois(galois), spec };
            Ok(layout.iter().map(|(_, galois, spec)| shape(*galois, spec.clone())).collect())
        },
        keys: |x| x.steps.iter().map(|(_, key)| &*key.key).collect(),
        take: |origin, _w, id, list| {
            let layout = rotation_layout(&origin.params, origin.slots)?;
            let step = |&(delta, galois, _): &(i64, u64, KeySwitchSpec), key| (delta, GaloisKey { galois, key });
            Ok(Self { id, steps: layout.iter().zip(list).map(|(layout, (_, key))| step(layout, key)).collect() })
        },
    }

    FixedRotationKey: 6 "fixed rotation key", slots: true {
        least: |_o| 0,
        words: |x| vec![x.delta as u64, x.key.key.spec().q_limbs as u64],
        shapes: |origin, w| {
            let (params, limbs) = (&origin.params, limbs::<Self>(origin, w[1])?);
            let role = KeyRole::Galois(rotation(params, origin.slots, w[0] as i64));
            Ok(vec![balanced(params, role, limbs)?])
        },
        keys: |x| vec![&x.key.key],
        take: |origin, w, _id, list| {
            let galois = rotation(&origin.params, origin.slots, w[0] as i64);
            Ok(Self { delta: w[0] as i64, key: GaloisKey { galois, key: one::<Origin, Self>(list)? } })
        },
    }

    MatrixKey: 10 "matrix multiplication key", slots: true {
        least: |_o| 0,
        words: |x| x.stored_words().to_vec(),
        shapes: |origin, w| {
            let (baby, limbs) = matrix_words(origin, w)?;
            let steps = matrix_steps(baby, origin.slots).into_iter();
            let galois: BTreeSet<u64> = steps.map(|step| rotation_exponent(step as isize, origin.params.n())).collect();
            galois.into_iter().map(|galois| balanced(&origin.params, KeyRole::Galois(galois), limbs)).collect()
        },
        keys: |x| x.stored_keys(),
        take: |origin, w, id, list| {
            let (baby, limbs) = matrix_words(origin, w)?;
            Ok(Self::from_stored(id, baby, KeySwitchSpec::balanced(&origin.params, limbs)?, list.into_iter().collect()))
        },
    }
}

impl Stored<Origin> for BootstrapKey {
    const KIND: Kind = Kind { tag: 7, name: "bootstrap key" };
    const SLOTS: bool = true;

    fn least(origin: &Origin) -> u64 {
        limb_bytes(&origin.params, origin.params.chain_level(0) + 1)
    }
    fn id(&self) -> KeyId {
        self.id()
    }
    fn words(&self) -> Vec<u64> {
        vec![self.stage_count() as u64, self.size() as u64, self.method() as u64]
    }
    fn shapes(origin: &Origin, w: &Words) -> Result<Vec<Shape>, Error> {
        bootstrap::shapes(&BootstrapCircuit::new(&origin.params, bootstrap_words(origin, w)?)?)
    }
    fn put(&self, _: &Origin, out: &mut Writer<'_>) -> Result<(), Error> {
        bootstrap::put(self, out)
    }
    fn take(origin: &Origin, id: KeyId, w: &Words, parts: &mut Reader<'_>) -> Result<Self, Error> {
        let request = bootstrap_words(origin, w)?;
        let whole = || match &origin.ctx {
            Some(ctx) => Ok(ctx.clone()),
            None => Ok(Context::new(origin.params.rlwe().clone())?),
        };
        bootstrap::take(&BootstrapCircuit::new(&origin.params, request)?, whole, (id, request), parts)
    }
}

/// The bootstrap that a key is made for.
fn bootstrap_words(origin: &Origin, w: &Words) -> Result<Request, Error> {
    let stages = count::<Origin, BootstrapKey>(w[0], 1, 64, "a number of stages")?;
    let size = KeySize::ALL.iter().find(|&&size| size as u64 == w[1]);
    let method = Method::ALL.iter().find(|&&method| method as u64 == w[2] && method.keys() == method);
    match (method, size) {
        (Some(&method), Some(&size)) => Ok(Request::new(method, stages, size, origin.slots)),
        _ => unknown::<Origin, BootstrapKey, _>("a size or method"),
    }
}

/// Which kind of bootstrap key the words of a header speak of, if they speak of one.
pub fn bootstrap_kind(kind: Kind, w: &Words) -> Option<&'static str> {
    if kind != BootstrapKey::KIND {
        return None;
    }
    let size = KeySize::ALL.iter().find(|&&size| size as u64 == w[1])?;
    let method = Method::ALL.iter().find(|&&method| method as u64 == w[2])?;
    Some(kind_of(*size, *method))
}

/// Baby steps and limbs of a matrix multiplication key.
fn matrix_words(origin: &Origin, w: &Words) -> Result<(usize, usize), Error> {
    let baby = count::<Origin, MatrixKey>(w[0], 1, origin.slots, "a number of baby steps")?;
    if !baby.is_power_of_two() {
        return unknown::<Origin, MatrixKey, _>("a number of baby steps");
    }
    Ok((baby, limbs::<MatrixKey>(origin, w[1])?))
}

/// Limbs of what users hold: at level 0 or above.
fn limbs<T: Stored<Origin>>(origin: &Origin, word: u64) -> Result<usize, Error> {
    count::<Origin, T>(word, origin.params.chain_level(0) + 1, user_limbs(&origin.params), "a level")
}

/// A size that is stated, as a word; 0 for none, as files have it that were written before ciphertexts stated any.
fn stated_word(x: f64) -> u64 {
    if x.is_finite() {
        x.max(f64::MIN_POSITIVE).to_bits()
    } else {
        0
    }
}

/// The size that a word states.
fn stated<T: Stored<Origin>>(word: u64) -> Result<f64, Error> {
    let x = f64::from_bits(word);
    match word {
        0 => Ok(f64::INFINITY),
        _ if x >= f64::MIN_POSITIVE && x.is_finite() => Ok(x),
        _ => unknown::<Origin, T, _>("a bound"),
    }
}

/// The points that a word states.
fn points<T: Stored<Origin>>(word: u64) -> Result<Option<Points>, Error> {
    let all = [None, Some(Points::Signs), Some(Points::Bits)];
    Ok(all[count::<Origin, T>(word, 0, 2, "points")?])
}

/// A scale that arithmetic can work with.
fn scale<T: Stored<Origin>>(word: u64) -> Result<f64, Error> {
    let scale = f64::from_bits(word);
    if (1.0..2f64.powi(128)).contains(&scale) {
        return Ok(scale);
    }
    unknown::<Origin, T, _>("a scale")
}

impl Stored<Origin> for Plaintext {
    const KIND: Kind = Kind { tag: 8, name: "plaintext" };
    const SLOTS: bool = true;

    fn id(&self) -> KeyId {
        KeyId(0)
    }
    /// With the largest absolute value of the message, which the polynomial tells anyway, -1 if it is not known; and the declared bound.
    fn words(&self) -> Vec<u64> {
        vec![
            self.poly.q_limbs() as u64,
            self.scale.to_bits(),
            self.known.largest.unwrap_or(-1.0).to_bits(),
            self.real.into(),
            stated_word(self.stated.bound),
        ]
    }
    fn shapes(origin: &Origin, w: &Words) -> Result<Vec<Shape>, Error> {
        let bound = f64::from_bits(w[2]);
        if !(bound == -1.0 || bound.is_finite() && bound >= 0.0) {
            return unknown::<Origin, Self, _>("a bound");
        }
        scale::<Self>(w[1])?;
        flag::<Origin, Self>(w[3])?;
        stated::<Self>(w[4])?;
        Ok(polys(&origin.params, 1, limbs::<Self>(origin, w[0])?))
    }
    fn put(&self, _: &Origin, out: &mut Writer<'_>) -> Result<(), Error> {
        Ok(out.poly(&self.poly)?)
    }
    fn take(origin: &Origin, _: KeyId, w: &Words, parts: &mut Reader<'_>) -> Result<Self, Error> {
        let largest = Some(f64::from_bits(w[2])).filter(|&b| b >= 0.0);
        let known = Known { largest, size: largest.map(Size::up_to).unwrap_or_default(), ..Known::default() };
        let (scale, slots, real) = (scale::<Self>(w[1])?, origin.slots, flag::<Origin, Self>(w[3])?);
        let stated = Stated::new(stated::<Self>(w[4])?, Plaintext::encoding_error(slots, scale));
        Ok(Self { poly: parts.poly()?, scale, slots, known, stated, real })
    }
}

impl Stored<Origin> for Ciphertext {
    const KIND: Kind = Kind { tag: 9, name: "ciphertext" };
    const SLOTS: bool = true;

    fn id(&self) -> KeyId {
        self.key
    }
    /// Not with what is known of the message, which is no part of the encryption.
    fn words(&self) -> Vec<u64> {
        let stated = [self.stated.bound, self.stated.noise].map(stated_word);
        let points = self.points.map_or(0, |points| points as u64);
        let first = [self.limbs() as u64, self.scale.to_bits(), self.polys.len() as u64, self.real.into()];
        first.into_iter().chain(stated).chain([points]).collect()
    }
    fn shapes(origin: &Origin, w: &Words) -> Result<Vec<Shape>, Error> {
        scale::<Self>(w[1])?;
        flag::<Origin, Self>(w[3])?;
        [w[4], w[5]].into_iter().try_for_each(|word| stated::<Self>(word).map(drop))?;
        points::<Self>(w[6])?;
        Ok(polys(&origin.params, count::<Origin, Self>(w[2], 2, 3, "a degree")?, limbs::<Self>(origin, w[0])?))
    }
    fn put(&self, _: &Origin, out: &mut Writer<'_>) -> Result<(), Error> {
        Ok(out.polys(&self.polys)?)
    }
    fn take(origin: &Origin, id: KeyId, w: &Words, parts: &mut Reader<'_>) -> Result<Self, Error> {
        let polys = (0..w[2]).map(|_| parts.poly()).collect::<Result<_, _>>()?;
        let (scale, slots, real) = (scale::<Self>(w[1])?, origin.slots, flag::<Origin, Self>(w[3])?);
        let stated = Stated { bound: stated::<Self>(w[4])?, noise: stated::<Self>(w[5])? };
        let (sample, known, points) = (Sample { polys, key: id }, Known::default(), points::<Self>(w[6])?);
        Ok(Arc::new(ckks::Ciphertext { sample, scale, slots, known, stated, points, real }))
    }
}
