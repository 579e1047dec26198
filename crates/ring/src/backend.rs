//! What computes the macro-operations of a ring: this machine, or a card through `aglet-cuda`. All have the same words as results.
//!
//! A call is virtual, which costs a nanosecond; the smallest operation takes microseconds. What is not here (samplers, encoding,
//! encryption, decryption, files, transforms of coefficients) is done on this machine, whatever the backend; so is whatever touches a
//! secret polynomial.

use crate::automorphism::Automorphism;
use crate::blind::Gadget;
use crate::block_rotation::{BlockRotation, LweSwitch};
use crate::host_ring::{HostRing, Sign};
use crate::ops::{
    in_one_go, Diagonals, Digits, Division, Form, KeyBlock, KeyProduct, KeyStream, MapInput, Pair, Tensor,
};
use crate::packed::PackedKey;
use crate::poly::{Eval, Poly};
use crate::small::SmallTable;
use crate::traffic::Traffic;
use crate::Error;
use std::ops::Range;
use std::sync::Arc;

/// Macro-operations on lists of whole polynomials, as the methods of [`HostRing`] of the same names say.
///
/// # Errors
/// All have those of the ring's methods: memory that cannot be had, and [`Error::Device`] if a card fails.
pub trait Backend: Send + Sync {
    /// A name for people: `host`, or that of the card.
    fn name(&self) -> String;
    /// Bytes that this process may have there in all, with those that it has already. None for this machine, whose memory is asked for
    /// elsewhere.
    fn room(&self) -> Result<Option<u64>, Error> {
        Ok(None)
    }
    /// Where less is free there than so many bytes: how many are needed, and free. With the tables of rings among them, those that are
    /// there already are not needed. None where all can be had, and for this machine.
    fn lacks(&self, _bytes: u64, _tables: &[&HostRing]) -> Result<Option<(u64, u64)>, Error> {
        Ok(None)
    }
    /// What went there and came from there so far; nothing for this machine.
    fn traffic(&self) -> Traffic {
        Traffic::default()
    }

    /// [`HostRing::forms`], of these limbs of the chain and special limbs.
    fn forms(&self, ring: &HostRing, forms: &[Form<'_>], shape: (usize, usize)) -> Result<Vec<Poly<Eval>>, Error>;
    /// [`HostRing::copy`].
    fn copy(&self, ring: &HostRing, x: &Poly<Eval>, q_limbs: usize) -> Result<Poly<Eval>, Error>;
    /// [`HostRing::add_assign`].
    fn add_assign(&self, ring: &HostRing, x: &mut Poly<Eval>, sign: Sign, y: &Poly<Eval>) -> Result<(), Error>;

    /// [`HostRing::digits`].
    fn digits(
        &self,
        ring: &HostRing,
        of: &[&Poly<Eval>],
        shape: (usize, usize),
        digits: &[Vec<usize>],
    ) -> Result<Vec<Digits>, Error>;
    /// [`HostRing::extend`].
    fn extend(
        &self,
        ring: &HostRing,
        of: &[&Poly<Eval>],
        primes: (&[usize], &[usize]),
        shape: (usize, usize),
    ) -> Result<Vec<Poly<Eval>>, Error>;
    /// [`HostRing::divide`].
    fn divide(&self, ring: &HostRing, of: &[&Poly<Eval>], plan: &Division) -> Result<Vec<Poly<Eval>>, Error>;

    /// [`HostRing::divide_extended`].
    fn divide_extended(
        &self,
        ring: &HostRing,
        of: &[[&Poly<Eval>; 2]],
        plan: &Division,
        to: &[usize],
    ) -> Result<Vec<Poly<Eval>>, Error>;

    /// [`HostRing::key_products`].
    fn key_products(
        &self,
        ring: &HostRing,
        of: &[KeyProduct<'_>],
        key: &KeyBlock,
        automorphism: Option<&Automorphism>,
    ) -> Result<Vec<Pair>, Error>;
    /// [`HostRing::divide_forms`], here by the operations that it stands for.
    fn divide_forms(
        &self,
        ring: &HostRing,
        forms: &[Form<'_>],
        q_limbs: usize,
        plan: &Division,
    ) -> Result<Vec<Poly<Eval>>, Error> {
        // Two at a time, those of a ciphertext: the forms of many would stand side by side.
        let mut out = Vec::with_capacity(forms.len());
        for pair in forms.chunks(2) {
            let polys = self.forms(ring, pair, (q_limbs, 0))?;
            out.extend(self.divide(ring, &polys.iter().collect::<Vec<_>>(), plan)?);
        }
        Ok(out)
    }
    /// [`HostRing::relinearize`], here by the operations that it stands for.
    fn relinearize(
        &self,
        ring: &HostRing,
        of: &[Tensor<'_>],
        (q_limbs, p_limbs): (usize, usize),
        digits: &[Vec<usize>],
        key: &KeyBlock,
        plan: &Division,
    ) -> Result<Vec<[Poly<Eval>; 2]>, Error> {
        relinearize_by_parts(self, ring, of, (q_limbs, p_limbs), (digits, key, plan))
    }
    /// [`HostRing::key_sum`].
    fn key_sum(&self, ring: &HostRing, of: &[Poly<Eval>], keys: &[&KeyBlock]) -> Result<Pair, Error>;
    /// [`HostRing::rotated_sums`].
    fn rotated_sums(
        &self,
        ring: &HostRing,
        of: &[KeyProduct<'_>],
        keys: &[(&KeyBlock, &Automorphism)],
    ) -> Result<Vec<Pair>, Error>;

    /// [`HostRing::encoded`].
    fn encoded(&self, ring: &HostRing, diagonals: Diagonals) -> Result<Diagonals, Error>;
    /// [`HostRing::linear_map`].
    fn linear_map(
        &self,
        ring: &HostRing,
        of: &[MapInput<'_>],
        keys: &[Option<(&KeyBlock, &Automorphism)>],
        diagonals: &Diagonals,
        steps: Range<usize>,
    ) -> Result<Vec<Vec<Pair>>, Error>;

    /// [`HostRing::stream_sums`].
    fn stream_sums(
        &self,
        ring: &HostRing,
        of: &[Vec<&Digits>],
        key: &KeyStream,
        rotations: &[&Automorphism],
    ) -> Result<Vec<Pair>, Error>;
    /// [`HostRing::stream_products`].
    fn stream_products(
        &self,
        ring: &HostRing,
        of: &[[Vec<Poly<Eval>>; 2]],
        streams: &[KeyStream],
    ) -> Result<Vec<Vec<[Poly<Eval>; 2]>>, Error>;

    /// A key of a blind rotation by blocks and that of the key switch before it, put where this backend rotates by them. None where the host
    /// does, which has [`blind_block`](crate::blind::blind_block).
    fn block_rotation(
        &self,
        table: &SmallTable,
        key: &PackedKey,
        gadget: Gadget,
        switch: &LweSwitch<'_>,
    ) -> Result<Option<Arc<dyn BlockRotation>>, Error>;
}

fn relinearize_by_parts<B: Backend + ?Sized>(
    backend: &B,
    ring: &HostRing,
    of: &[Tensor<'_>],
    (q_limbs, p_limbs): (usize, usize),
    (digits, key, plan): (&[Vec<usize>], &KeyBlock, &Division),
) -> Result<Vec<[Poly<Eval>; 2]>, Error> {
    let mut tensors = Vec::with_capacity(of.len());
    for tensor in of {
        let mut polys = backend.forms(ring, &tensor.forms(), (q_limbs, 0))?;
        let square = polys.split_off(2);
        let cut = backend.digits(ring, &[&square[0]], (q_limbs, p_limbs), digits)?;
        tensors.push((polys, cut));
    }
    let products = tensors.iter().flat_map(|(polys, cut)| {
        let added_after = Some((&polys[0], &polys[1]));
        cut.iter().map(move |digits| KeyProduct { added_after, ..KeyProduct::of(digits) })
    });
    let pairs = backend.key_products(ring, &products.collect::<Vec<_>>(), key, None)?;
    tensors.iter_mut().for_each(|(_, cut)| cut.clear());
    let mut out = Vec::with_capacity(pairs.len());
    for (b, a) in &pairs {
        let mut halves = backend.divide(ring, &[b, a], plan)?.into_iter();
        out.extend(halves.next().zip(halves.next()).map(|(b, a)| [b, a]));
    }
    Ok(out)
}

/// This machine: the threads of the rayon pool that the caller stands in, and the kernels of the ring. It fetches what it reads.
pub struct Host;

impl Backend for Host {
    fn name(&self) -> String {
        "host".into()
    }

    fn forms(&self, ring: &HostRing, forms: &[Form<'_>], shape: (usize, usize)) -> Result<Vec<Poly<Eval>>, Error> {
        ring.forms(forms, shape.0, shape.1)
    }
    fn copy(&self, ring: &HostRing, x: &Poly<Eval>, q_limbs: usize) -> Result<Poly<Eval>, Error> {
        ring.copy(x, q_limbs)
    }
    fn add_assign(&self, ring: &HostRing, x: &mut Poly<Eval>, sign: Sign, y: &Poly<Eval>) -> Result<(), Error> {
        ring.add_assign(x, sign, y)
    }

    fn digits(
        &self,
        ring: &HostRing,
        of: &[&Poly<Eval>],
        shape: (usize, usize),
        digits: &[Vec<usize>],
    ) -> Result<Vec<Digits>, Error> {
        ring.digits(of, shape, digits)
    }
    fn extend(
        &self,
        ring: &HostRing,
        of: &[&Poly<Eval>],
        primes: (&[usize], &[usize]),
        shape: (usize, usize),
    ) -> Result<Vec<Poly<Eval>>, Error> {
        ring.extend(of, primes, shape)
    }
    fn divide(&self, ring: &HostRing, of: &[&Poly<Eval>], plan: &Division) -> Result<Vec<Poly<Eval>>, Error> {
        ring.divide(of, plan)
    }
    fn divide_extended(
        &self,
        ring: &HostRing,
        of: &[[&Poly<Eval>; 2]],
        plan: &Division,
        to: &[usize],
    ) -> Result<Vec<Poly<Eval>>, Error> {
        ring.divide_extended(of, plan, to)
    }

    fn key_products(
        &self,
        ring: &HostRing,
        of: &[KeyProduct<'_>],
        key: &KeyBlock,
        automorphism: Option<&Automorphism>,
    ) -> Result<Vec<Pair>, Error> {
        ring.key_products(of, key, automorphism)
    }
    fn divide_forms(
        &self,
        ring: &HostRing,
        forms: &[Form<'_>],
        q_limbs: usize,
        plan: &Division,
    ) -> Result<Vec<Poly<Eval>>, Error> {
        ring.divide_forms(forms, q_limbs, plan)
    }
    fn relinearize(
        &self,
        ring: &HostRing,
        of: &[Tensor<'_>],
        shape: (usize, usize),
        digits: &[Vec<usize>],
        key: &KeyBlock,
        plan: &Division,
    ) -> Result<Vec<[Poly<Eval>; 2]>, Error> {
        match in_one_go(of.len()) {
            true => ring.relinearize(of, shape, digits, key, plan),
            false => relinearize_by_parts(self, ring, of, shape, (digits, key, plan)),
        }
    }
    fn key_sum(&self, ring: &HostRing, of: &[Poly<Eval>], keys: &[&KeyBlock]) -> Result<Pair, Error> {
        ring.key_sum(of, keys)
    }
    fn rotated_sums(
        &self,
        ring: &HostRing,
        of: &[KeyProduct<'_>],
        keys: &[(&KeyBlock, &Automorphism)],
    ) -> Result<Vec<Pair>, Error> {
        ring.rotated_sums(of, keys)
    }

    fn encoded(&self, ring: &HostRing, diagonals: Diagonals) -> Result<Diagonals, Error> {
        ring.encoded(diagonals)
    }
    fn linear_map(
        &self,
        ring: &HostRing,
        of: &[MapInput<'_>],
        keys: &[Option<(&KeyBlock, &Automorphism)>],
        diagonals: &Diagonals,
        steps: Range<usize>,
    ) -> Result<Vec<Vec<Pair>>, Error> {
        ring.linear_map(of, keys, diagonals, steps)
    }

    fn stream_sums(
        &self,
        ring: &HostRing,
        of: &[Vec<&Digits>],
        key: &KeyStream,
        rotations: &[&Automorphism],
    ) -> Result<Vec<Pair>, Error> {
        ring.stream_sums(of, key, rotations)
    }
    fn stream_products(
        &self,
        ring: &HostRing,
        of: &[[Vec<Poly<Eval>>; 2]],
        streams: &[KeyStream],
    ) -> Result<Vec<Vec<[Poly<Eval>; 2]>>, Error> {
        ring.stream_products(of, streams)
    }

    fn block_rotation(
        &self,
        _: &SmallTable,
        _: &PackedKey,
        _: Gadget,
        _: &LweSwitch<'_>,
    ) -> Result<Option<Arc<dyn BlockRotation>>, Error> {
        Ok(None)
    }
}
