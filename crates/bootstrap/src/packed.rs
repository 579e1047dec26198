//! Keys that a bootstrap applies in a way of its own: on a chain of their own, packed in the order that it reads them in.

use aglet_ring::ops::KeyStream;
use aglet_ring::PackedPoly;
use aglet_ring::{Eval, Poly};
use aglet_rlwe::wire::primes;
use aglet_rlwe::{Context, Error, KeyId, KeySwitchSpec, Params, SwitchingKey};
use std::sync::Arc;

/// A key of this kind before it exists: its number, which its randomness and its place in files are named by, and its shape.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PackedNeed {
    /// Its number.
    pub number: u64,
    /// Its limbs and samples.
    pub spec: KeySwitchSpec,
}

/// Bytes of keys of this kind on the chain of `params`: in memory, and when stored.
///
/// # Errors
/// Limbs that the parameters lack.
pub fn packed_bytes(params: &Params, needs: &[PackedNeed]) -> Result<(usize, usize), Error> {
    let (mut memory, mut stored) = (0, 0);
    for PackedNeed { spec, .. } in needs {
        let primes = primes(params, spec.q_limbs, spec.p_limbs)?;
        memory += KeyStream::forecast(params.n(), primes.iter().map(|(_, m)| m), spec.digits.len(), 2);
        stored += spec.stored_bytes(params)?;
    }
    Ok((memory, stored))
}

/// A packed key.
pub struct PackedKey {
    id: KeyId,
    spec: KeySwitchSpec,
    seed: [u8; 32],
    stream: KeyStream,
}

impl PackedKey {
    /// Packs what was made or read as a switching key of this shape on the chain of `ctx`.
    ///
    /// # Errors
    /// Memory that cannot be had.
    pub fn new(ctx: &Context, key: SwitchingKey) -> Result<Self, Error> {
        let (id, spec, words, seed) = key.into_parts();
        let half = |half: &[PackedPoly]| half.iter().map(PackedPoly::unpacked).collect::<Result<Vec<_>, _>>();
        let [b, a] = words.halves();
        let stream = KeyStream::new(ctx.ring(), &[&half(b)?, &half(a)?])?;
        Ok(Self { id, spec, seed, stream })
    }

    /// The name of the secret key that results are under.
    pub fn id(&self) -> KeyId {
        self.id
    }
    /// Its limbs and samples.
    pub fn spec(&self) -> &KeySwitchSpec {
        &self.spec
    }
    /// Bytes in memory, and on a card that has it.
    pub fn byte_count(&self) -> usize {
        self.stream.byte_count()
    }
    /// Those that a card has already.
    pub fn card_bytes_there(&self) -> usize {
        match self.stream.card().is_there() {
            true => self.byte_count(),
            false => 0,
        }
    }
    /// The seed of its uniform halves.
    pub fn seed(&self) -> &[u8; 32] {
        &self.seed
    }
    /// What is packed.
    pub fn stream(&self) -> &KeyStream {
        &self.stream
    }
    /// The other half of a sample.
    ///
    /// # Errors
    /// Memory that cannot be had.
    pub fn body(&self, ctx: &Context, sample: usize) -> Result<Poly<Eval>, Error> {
        Ok(self.stream.unpacked(ctx.ring(), sample, 0)?)
    }
}

/// All packed keys of a bootstrap, in order.
pub struct PackedKeys {
    ctx: Arc<Context>,
    keys: Vec<PackedKey>,
}

impl PackedKeys {
    /// The keys made of these on the chain of `ctx`.
    ///
    /// # Errors
    /// [`Error::Stored`] unless they have the shapes that are needed.
    pub fn new(ctx: Arc<Context>, needs: &[PackedNeed], keys: Vec<PackedKey>) -> Result<Self, Error> {
        let made = Self { ctx, keys };
        if !made.serve(needs) {
            return Err(Error::Stored {
                what: "keys of a bootstrap have other shapes than their parameters give them",
            });
        }
        Ok(made)
    }

    /// Whether they have these shapes.
    pub fn serve(&self, needs: &[PackedNeed]) -> bool {
        self.keys.iter().map(|key| &key.spec).eq(needs.iter().map(|need| &need.spec))
    }
    /// The context of their chain.
    pub fn context(&self) -> &Arc<Context> {
        &self.ctx
    }
    /// All of them.
    pub fn list(&self) -> &[PackedKey] {
        &self.keys
    }
    /// The name of the secret key that results are under.
    pub fn id(&self) -> Option<KeyId> {
        self.keys.first().map(PackedKey::id)
    }
    /// Bytes in memory.
    pub fn byte_count(&self) -> usize {
        self.keys.iter().map(PackedKey::byte_count).sum()
    }
    /// Bytes when stored with seeds.
    pub fn stored_bytes(&self) -> usize {
        self.keys.iter().map(|key| key.spec.stored_bytes(self.ctx.params()).unwrap_or(0)).sum()
    }
}
