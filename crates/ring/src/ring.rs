//! What the floors above work on: a ring with what computes its macro-operations.

use crate::arch::{self, Kernels};
use crate::automorphism::Automorphism;
use crate::backend::{Backend, Host};
use crate::demand::buffer_words;
use crate::host_ring::{HostRing, Sign};
use crate::modulus::Modulus;
use crate::ops::{Diagonals, Digits, Division, Form, KeyBlock, KeyProduct, KeyStream, MapInput, Pair, Tensor};
use crate::poly::{Eval, Poly};
use crate::pool::Fit;
use crate::Error;
use std::ops::{Deref, Range};
use std::sync::Arc;

/// A [`HostRing`], which makes and reads polynomials, and the [`Backend`] that computes with them. Methods have here the names that they
/// have there.
///
/// # Errors
/// Macro-operations fail for memory that cannot be had, and with [`Error::Device`] where a card fails.
pub struct Ring {
    host: HostRing,
    /// Subsets have the same.
    backend: Arc<dyn Backend>,
}

impl Deref for Ring {
    type Target = HostRing;
    fn deref(&self) -> &HostRing {
        &self.host
    }
}

impl Ring {
    /// Makes the ring with the kernels that `AGLET_BACKEND` or the CPU chooses.
    ///
    /// # Errors
    /// Those of [`HostRing::with_kernels`]; a name of kernels that this CPU lacks.
    pub fn new(log_n: u32, q: &[u64], p: &[u64]) -> Result<Self, Error> {
        Self::with_kernels(log_n, q, p, arch::chosen()?)
    }

    /// Makes the ring with given kernels (scalar ones for primes that are too large for them).
    ///
    /// # Errors
    /// Those of [`HostRing::with_kernels`].
    pub fn with_kernels(log_n: u32, q: &[u64], p: &[u64], kernels: &'static Kernels) -> Result<Self, Error> {
        Self::with_backend(log_n, q, p, (kernels, Arc::new(Host)))
    }

    /// The same with what computes its macro-operations; the kernels are for the rest.
    ///
    /// # Errors
    /// Those of [`HostRing::with_kernels`].
    pub fn with_backend(
        log_n: u32,
        q: &[u64],
        p: &[u64],
        (kernels, backend): (&'static Kernels, Arc<dyn Backend>),
    ) -> Result<Self, Error> {
        Ok(Self { host: HostRing::with_kernels(log_n, q, p, kernels)?, backend })
    }

    /// [`HostRing::modulo`]. This machine computes in it.
    ///
    /// # Errors
    /// Those of [`HostRing::modulo`].
    pub fn modulo(&self, modulus: Modulus, log_n: u32, root: u64) -> Result<Self, Error> {
        Ok(Self { host: self.host.modulo(modulus, log_n, root)?, backend: Arc::new(Host) })
    }
    /// [`HostRing::subset`], with the same backend.
    #[must_use]
    pub fn subset(&self, q: &[usize], fit: Fit) -> Self {
        Self { host: self.host.subset(q, fit), backend: self.backend.clone() }
    }
    /// What computes its macro-operations.
    pub fn backend(&self) -> &Arc<dyn Backend> {
        &self.backend
    }

    /// Evaluates forms to polynomials of so many limbs.
    pub fn forms(&self, forms: &[Form<'_>], q_limbs: usize, p_limbs: usize) -> Result<Vec<Poly<Eval>>, Error> {
        self.backend.forms(self, forms, (q_limbs, p_limbs))
    }
    /// A copy of the first `q_limbs` limbs of the chain and all special limbs of `x`; secret if `x` is.
    pub fn copy(&self, x: &Poly<Eval>, q_limbs: usize) -> Result<Poly<Eval>, Error> {
        self.backend.copy(self, x, q_limbs)
    }
    /// The first limbs of the chain of `x` for as long as a user may want: on its words, or copied if these are of a larger buffer or on a
    /// card alone.
    pub fn kept(&self, x: &Poly<Eval>, q_limbs: usize) -> Result<Poly<Eval>, Error> {
        match x.buffer_words() {
            Some(words) if words <= buffer_words(self.n(), q_limbs) => Ok(x.prefix(q_limbs)),
            _ => self.copy(x, q_limbs),
        }
    }
    /// `x += y` on the limbs of `x`; `y` may have more limbs of the chain.
    pub fn add_assign(&self, x: &mut Poly<Eval>, y: &Poly<Eval>) -> Result<(), Error> {
        self.backend.add_assign(self, x, Sign::Plus, y)
    }
    /// `x -= y` on the limbs of `x`; `y` may have more limbs of the chain.
    pub fn sub_assign(&self, x: &mut Poly<Eval>, y: &Poly<Eval>) -> Result<(), Error> {
        self.backend.add_assign(self, x, Sign::Minus, y)
    }

    /// Cuts polynomials into digits of these limbs and raises each to `q_limbs` and `p_limbs` limbs ([`HostRing::digits`]).
    pub fn digits(
        &self,
        of: &[&Poly<Eval>],
        (q_limbs, p_limbs): (usize, usize),
        digits: &[Vec<usize>],
    ) -> Result<Vec<Digits>, Error> {
        self.backend.digits(self, of, (q_limbs, p_limbs), digits)
    }
    /// The centred coefficients of polynomials modulo the lowest prime, at more limbs.
    pub fn raise(&self, of: &[&Poly<Eval>], q_limbs: usize, p_limbs: usize) -> Result<Vec<Poly<Eval>>, Error> {
        let to: Vec<usize> = (0..q_limbs + p_limbs).map(|i| self.prime_of(q_limbs, i)).collect();
        self.backend.extend(self, of, (&[0], &to), (q_limbs, p_limbs))
    }
    /// The centred coefficients of a polynomial whose limbs have the primes `from` of the ring, at limbs with the primes `to`: those that
    /// are in both stay as they are (full base extension, eprint 2018/117).
    pub fn extend(&self, x: &Poly<Eval>, from: &[usize], to: &[usize]) -> Result<Poly<Eval>, Error> {
        assert_eq!((x.q_limbs(), x.p_limbs()), (from.len(), 0), "a limb for each prime");
        Ok(self.backend.extend(self, &[x], (from, to), (to.len(), 0))?.remove(0))
    }
    /// Divides polynomials, each as its plan says, rounding to the nearest integers ([`HostRing::divide`]).
    pub fn divide(&self, of: &[&Poly<Eval>], plan: &Division) -> Result<Vec<Poly<Eval>>, Error> {
        self.backend.divide(self, of, plan)
    }
    /// The quotients of [`Ring::divide`], centred, at limbs with other primes of the ring ([`HostRing::divide_extended`]).
    pub fn divide_extended(
        &self,
        of: &[[&Poly<Eval>; 2]],
        plan: &Division,
        to: &[usize],
    ) -> Result<Vec<Poly<Eval>>, Error> {
        self.backend.divide_extended(self, of, plan, to)
    }

    /// For every input `sum_d phi(digit_d) (b_d, a_d) + (phi(added_before), 0) + added_after`, modulo QP
    /// ([`HostRing::key_products`]).
    pub fn key_products(
        &self,
        of: &[KeyProduct<'_>],
        key: &KeyBlock,
        automorphism: Option<&Automorphism>,
    ) -> Result<Vec<Pair>, Error> {
        self.backend.key_products(self, of, key, automorphism)
    }
    /// Forms of so many limbs over the primes that leave ([`HostRing::divide_forms`]).
    pub fn divide_forms(&self, forms: &[Form<'_>], q_limbs: usize, plan: &Division) -> Result<Vec<Poly<Eval>>, Error> {
        self.backend.divide_forms(self, forms, q_limbs, plan)
    }
    /// `(c0, c1, c2)` of every product, with `c2` relinearized by the key, over the primes that leave ([`HostRing::relinearize`]).
    pub fn relinearize(
        &self,
        of: &[Tensor<'_>],
        shape: (usize, usize),
        digits: &[Vec<usize>],
        key: &KeyBlock,
        plan: &Division,
    ) -> Result<Vec<[Poly<Eval>; 2]>, Error> {
        self.backend.relinearize(self, of, shape, digits, key, plan)
    }
    /// `sum_i x_i (b_i, a_i)` modulo QP: polynomials with all limbs, at least one, each with a key of one digit of its own.
    pub fn key_sum(&self, of: &[Poly<Eval>], keys: &[&KeyBlock]) -> Result<Pair, Error> {
        self.backend.key_sum(self, of, keys)
    }
    /// For every input `sum_i phi_i(c) (b_i, a_i)` modulo QP: each `c` is one digit already, keys have one digit.
    pub fn rotated_sums(&self, of: &[KeyProduct<'_>], keys: &[(&KeyBlock, &Automorphism)]) -> Result<Vec<Pair>, Error> {
        self.backend.rotated_sums(self, of, keys)
    }

    /// The same diagonals encoded for what computes, for maps that are applied again and again ([`HostRing::encoded`]).
    pub fn encoded(&self, diagonals: Diagonals) -> Result<Diagonals, Error> {
        self.backend.encoded(self, diagonals)
    }
    /// The inner sums of a linear map for some of its giant steps and every input ([`HostRing::linear_map`]).
    pub fn linear_map(
        &self,
        of: &[MapInput<'_>],
        keys: &[Option<(&KeyBlock, &Automorphism)>],
        diagonals: &Diagonals,
        steps: Range<usize>,
    ) -> Result<Vec<Vec<Pair>>, Error> {
        self.backend.linear_map(self, of, keys, diagonals, steps)
    }

    /// For every list of digits `sum_i sum_d phi_i(x_d) (b_(i, d), a_(i, d))`, modulo QP ([`HostRing::stream_sums`]).
    pub fn stream_sums(
        &self,
        of: &[Vec<&Digits>],
        key: &KeyStream,
        rotations: &[&Automorphism],
    ) -> Result<Vec<Pair>, Error> {
        self.backend.stream_sums(self, of, key, rotations)
    }
    /// For every stream of one half and every pair of lists of polynomials `sum_i x_i m_i` ([`HostRing::stream_products`]).
    pub fn stream_products(
        &self,
        of: &[[Vec<Poly<Eval>>; 2]],
        streams: &[KeyStream],
    ) -> Result<Vec<Vec<[Poly<Eval>; 2]>>, Error> {
        self.backend.stream_products(self, of, streams)
    }
}
