//! The parts behind the header: seeds, secret coefficients, polynomials. Each limb is a section with a checksum of its own,
//! so that limbs are packed, checked and unpacked in parallel and nothing is read twice.

use crate::error::{Error, FormatError};
use crate::header::Header;
use crate::kind::Kind;
use crate::shape::{Shape, CHECK};
use crate::source::{check, Source};
use aglet_ring::pack::{pack, packed_len, unpack};
use aglet_ring::{Eval, Modulus, Poly};
use aglet_rlwe::wire::primes;
use aglet_rlwe::{Control, KeyId, KeyRole, KeySwitchSpec, Params, SwitchingKey};
use rayon::prelude::*;
use std::collections::VecDeque;
use zeroize::Zeroizing;

type Sink<'a> = &'a mut (dyn FnMut(&[u8]) -> Result<(), Error> + Send);

/// Takes the parts of a thing in the order of its shapes.
pub struct Writer<'a> {
    progress: Progress<'a>,
    shapes: VecDeque<Shape>,
    seal: [u8; 32],
    section: u64,
    sink: Sink<'a>,
}

impl<'a> Writer<'a> {
    pub(crate) fn new(kind: Kind, shapes: Vec<Shape>, seal: [u8; 32], control: &'a Control, sink: Sink<'a>) -> Self {
        let progress = Progress::new(control, "writing", kind, &shapes);
        Self { progress, shapes: shapes.into(), seal, section: 0, sink }
    }
    fn misfit<T>(&self) -> Result<T, Error> {
        Err(Error::Written { kind: self.progress.kind.name })
    }

    /// A part of so many bytes; they are wiped.
    pub fn bytes(&mut self, bytes: Zeroizing<Vec<u8>>) -> Result<(), Error> {
        match self.shapes.pop_front() {
            Some(Shape::Bytes(length)) if length == bytes.len() => self.plain(&bytes),
            _ => self.misfit(),
        }
    }
    /// A polynomial.
    pub fn poly(&mut self, poly: &Poly<Eval>) -> Result<(), Error> {
        match self.shapes.pop_front() {
            Some(Shape::Poly { params, q_limbs, p_limbs }) => self.limbs(&params, (q_limbs, p_limbs), poly),
            _ => self.misfit(),
        }
    }
    /// Polynomials, each a part; those that a card has come here together.
    pub fn polys(&mut self, polys: &[Poly<Eval>]) -> Result<(), Error> {
        Poly::fetch_all(polys)?;
        polys.iter().try_for_each(|poly| self.poly(poly))
    }
    /// A part of residues.
    pub fn residues(&mut self, values: &[u64]) -> Result<(), Error> {
        match self.shapes.pop_front() {
            Some(Shape::Residues { modulus, count }) if count == values.len() => {
                self.progress.step()?;
                let mut bytes = vec![0; packed_len(&modulus, count)];
                pack(&modulus, values, &mut bytes);
                self.plain(&bytes)
            }
            _ => self.misfit(),
        }
    }
    /// A switching key.
    pub fn key(&mut self, key: &SwitchingKey) -> Result<(), Error> {
        match self.shapes.pop_front() {
            Some(Shape::Key { params, spec, .. }) if spec == *key.spec() => {
                let (seed, halves) = key.stored();
                self.plain(seed)?;
                halves.iter().try_for_each(|b| {
                    let b = b.unpacked().map_err(aglet_rlwe::Error::from)?;
                    self.limbs(&params, (spec.q_limbs, spec.p_limbs), &b)
                })
            }
            _ => self.misfit(),
        }
    }

    /// A packed key, whose halves are unpacked one by one.
    pub fn packed_key<E: From<Error>>(
        &mut self,
        (seed, own): (&[u8; 32], &KeySwitchSpec),
        body: impl Fn(usize) -> Result<Poly<Eval>, E>,
    ) -> Result<(), E> {
        match self.shapes.pop_front() {
            Some(Shape::Packed { params, spec, .. }) if spec == *own => {
                self.plain(seed)?;
                let body = |sample| Ok(self.limbs(&params, (spec.q_limbs, spec.p_limbs), &body(sample)?)?);
                (0..spec.digits.len()).try_for_each(body)
            }
            _ => Ok(self.misfit()?),
        }
    }

    fn plain(&mut self, bytes: &[u8]) -> Result<(), Error> {
        let check = check(&self.seal, self.section, bytes);
        self.section += 1;
        (self.sink)(bytes)?;
        (self.sink)(&check)
    }
    fn limbs(&mut self, params: &Params, shape: (usize, usize), poly: &Poly<Eval>) -> Result<(), Error> {
        self.progress.step()?;
        if (poly.n(), poly.q_limbs(), poly.p_limbs()) != (params.n(), shape.0, shape.1) {
            return self.misfit();
        }
        let (seal, first) = (&self.seal, self.section);
        let (primes, rows) = (primes(params, shape.0, shape.1)?, poly.host()?);
        let section = |(i, (_, m)): (usize, &(usize, Modulus))| {
            let mut bytes = vec![0; packed_len(m, poly.n())];
            pack(m, rows.row(i), &mut bytes);
            let check = check(seal, first + i as u64, &bytes);
            bytes.extend(check);
            bytes
        };
        let sections: Vec<Vec<u8>> = primes.par_iter().enumerate().map(section).collect();
        self.section += sections.len() as u64;
        sections.iter().try_for_each(|bytes| (self.sink)(bytes))
    }

    /// All parts must have come.
    pub(crate) fn finish(self) -> Result<(), Error> {
        if self.shapes.is_empty() {
            self.progress.done();
            return Ok(());
        }
        self.misfit()
    }
}

/// Hands out the parts of a thing in the order of its shapes.
pub struct Reader<'a> {
    progress: Progress<'a>,
    shapes: VecDeque<Shape>,
    seal: [u8; 32],
    section: u64,
    at: usize,
    source: &'a Source<'a>,
}

impl<'a> Reader<'a> {
    pub(crate) fn new(
        kind: Kind,
        shapes: Vec<Shape>,
        header: &Header,
        control: &'a Control,
        source: &'a Source<'a>,
    ) -> Self {
        let progress = Progress::new(control, "reading", kind, &shapes);
        Self { progress, shapes: shapes.into(), seal: header.seal(), section: 0, at: header.parts_at(), source }
    }
    /// Whether parts are left.
    pub fn more(&self) -> bool {
        !self.shapes.is_empty()
    }
    fn damaged<T>(&self) -> Result<T, Error> {
        Err(damaged(self.progress.kind))
    }

    /// A part of bytes; wiped when dropped.
    pub fn bytes(&mut self) -> Result<Zeroizing<Vec<u8>>, Error> {
        match self.shapes.pop_front() {
            Some(Shape::Bytes(length)) => self.plain(length),
            _ => self.damaged(),
        }
    }
    /// A part of 32 bytes.
    pub fn seed(&mut self) -> Result<[u8; 32], Error> {
        let bytes = self.bytes()?;
        <[u8; 32]>::try_from(&bytes[..]).or_else(|_| self.damaged())
    }
    /// A polynomial.
    pub fn poly(&mut self) -> Result<Poly<Eval>, Error> {
        match self.shapes.pop_front() {
            Some(Shape::Poly { params, q_limbs, p_limbs }) => self.limbs(&params, q_limbs, p_limbs),
            _ => self.damaged(),
        }
    }
    /// A part of residues.
    pub fn residues(&mut self) -> Result<Vec<u64>, Error> {
        let Some(Shape::Residues { modulus, count }) = self.shapes.pop_front() else { return self.damaged() };
        self.progress.step()?;
        let (bytes, mut values) = (self.plain(packed_len(&modulus, count))?, vec![0; count]);
        if unpack(&modulus, &bytes, &mut values) {
            return Ok(values);
        }
        self.damaged()
    }
    /// A switching key, expanded, and its role.
    pub fn key(&mut self, id: KeyId) -> Result<(KeyRole, SwitchingKey), Error> {
        let Some(Shape::Key { params, role, spec }) = self.shapes.pop_front() else { return self.damaged() };
        Ok((role, self.expanded(&params, id, spec)?))
    }
    /// A packed key, expanded.
    pub fn packed_key(&mut self, id: KeyId) -> Result<SwitchingKey, Error> {
        let Some(Shape::Packed { params, spec, .. }) = self.shapes.pop_front() else { return self.damaged() };
        self.expanded(&params, id, spec)
    }
    fn expanded(&mut self, params: &Params, id: KeyId, spec: KeySwitchSpec) -> Result<SwitchingKey, Error> {
        let seed = self.plain(32)?;
        let Ok(seed) = <[u8; 32]>::try_from(&seed[..]) else { return self.damaged() };
        let halves = spec.digits.iter().map(|_| self.limbs(params, spec.q_limbs, spec.p_limbs));
        SwitchingKey::from_stored(params, id, spec.clone(), seed, halves)
    }

    fn plain(&mut self, length: usize) -> Result<Zeroizing<Vec<u8>>, Error> {
        let mut bytes = Zeroizing::new(vec![0; length + CHECK]);
        let (at, section) = (self.at, self.section);
        (self.at, self.section) = (at + bytes.len(), section + 1);
        if !self.source.section(&self.seal, (section, at), &mut bytes)? {
            return self.damaged();
        }
        bytes.truncate(length);
        Ok(bytes)
    }
    fn limbs(&mut self, params: &Params, q_limbs: usize, p_limbs: usize) -> Result<Poly<Eval>, Error> {
        self.progress.step()?;
        let (kind, seal, source, n) = (self.progress.kind, self.seal, self.source, params.n());
        let mut places = Vec::with_capacity(q_limbs + p_limbs);
        for (_, m) in primes(params, q_limbs, p_limbs)? {
            places.push((self.section, self.at, m));
            self.section += 1;
            self.at += packed_len(&m, n) + CHECK;
        }
        let mut out: Poly<Eval> = Poly::lasting(n, q_limbs, p_limbs)?;
        out.host_mut().par_iter().zip(places).try_for_each_init(Vec::new, |bytes, (limb, (section, at, m))| {
            let length = packed_len(&m, n);
            bytes.resize(length + CHECK, 0);
            if source.section(&seal, (section, at), bytes)? && unpack(&m, &bytes[..length], limb) {
                Ok(())
            } else {
                Err(damaged(kind))
            }
        })?;
        Ok(out)
    }

    /// All parts must have been taken.
    pub(crate) fn finish(self) -> Result<(), Error> {
        if self.shapes.is_empty() {
            self.progress.done();
            return Ok(());
        }
        self.damaged()
    }
}

fn damaged(kind: Kind) -> Error {
    FormatError::Damaged { kind: kind.name }.into()
}

/// Counts polynomials, and stops where the caller wants.
struct Progress<'a> {
    control: &'a Control,
    what: String,
    kind: Kind,
    done: usize,
    total: usize,
}

impl<'a> Progress<'a> {
    fn new(control: &'a Control, verb: &str, kind: Kind, shapes: &[Shape]) -> Self {
        let total = shapes.iter().map(Shape::polys).sum::<usize>().max(1);
        Self { control, what: format!("{verb} the {}", kind.name), kind, done: 0, total }
    }
    fn step(&mut self) -> Result<(), Error> {
        self.control.check()?;
        self.control.report(self.done, self.total, &self.what);
        self.done += 1;
        Ok(())
    }
    fn done(&self) {
        self.control.report(self.total, self.total, &self.what);
    }
}
