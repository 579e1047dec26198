//! Blind rotation by blocks of a block-binary secret (eprint 2023/958); blocks of length 1, a binary secret, are the rotation of CGGI
//! (eprint 2018/421).
//!
//! A ciphertext under all coordinates is switched to the first n, then to the modulus 2N; the accumulator starts as `X^(-b)` times the
//! table, and each block adds `sum_j (X^(a_j) - 1) acc x key_j`. Since at most one coordinate of a block is 1, that is one external
//! product's noise and one pair of transforms for a whole block.

use aglet_ring::blind::{blind_block, scratch_words};
use aglet_ring::sample::ChaChaSource;
use aglet_ring::small::Words;
use aglet_ring::Modulus;
use aglet_rlwe::lwe::{BlindRotationKey, LweCiphertext, LweContext, LweSecretKey, LweSwitchingKey, Switched};
use aglet_rlwe::{Error, KeyId};

/// The keys of a bootstrap.
pub struct BlindRotation {
    rotation: BlindRotationKey,
    switch: LweSwitchingKey,
}

impl BlindRotation {
    /// Makes the keys.
    ///
    /// # Errors
    /// Memory that cannot be had.
    pub fn generate(ctx: &LweContext, sk: &LweSecretKey, source: &mut ChaChaSource) -> Result<Self, Error> {
        let rotation = BlindRotationKey::generate(ctx, sk, source)?;
        Ok(Self { rotation, switch: LweSwitchingKey::generate(ctx, sk, source)? })
    }

    /// Bytes in memory.
    #[must_use]
    pub fn byte_count(&self) -> usize {
        self.rotation.packed().byte_count() + self.switch.byte_count()
    }

    /// The secret key that they are of.
    #[must_use]
    pub fn id(&self) -> KeyId {
        self.rotation.key()
    }

    /// What a table says of each phase, as fresh ciphertexts: for a phase in `[i, i + 1) / 2N` of a turn that is `table[i]`, and its
    /// negative half a turn further. Several ciphertexts share each block of the key while it is in the cache.
    ///
    /// # Errors
    /// [`Error::KeyMismatch`] for a ciphertext of another key; a table that has not N entries.
    pub fn bootstrap(
        &self,
        ctx: &LweContext,
        cts: &[LweCiphertext],
        table: &[u64],
    ) -> Result<Vec<LweCiphertext>, Error> {
        let (n, columns) = (ctx.params().n(), ctx.params().spec().rank + 1);
        if table.len() != n {
            let reason = format!("a table of this set has {n} entries, not {}", table.len());
            return Err(Error::BadParameters { reason });
        }
        let switched = cts.iter().map(|ct| Ok(Switched::new(ctx, &self.switch.apply(ctx, ct)?)));
        let switched = switched.collect::<Result<Vec<_>, Error>>()?;
        let mut accs: Vec<Words> = switched.iter().map(|s| start(ctx.modulus(), table, s.body, columns)).collect();
        self.rotate(ctx, &switched, &mut accs);
        let variance = ctx.params().noise().blind_rotation;
        Ok(accs.iter().map(|acc| LweCiphertext::extract(ctx, acc, self.id(), variance)).collect())
    }

    fn rotate(&self, ctx: &LweContext, inputs: &[Switched], accs: &mut [Words]) {
        let (spec, block) = (ctx.params().spec(), ctx.params().block());
        let mut scratch = Words::zeros(scratch_words(ctx.table(), spec.rank + 1, spec.gadget));
        for at in 0..spec.dimension / block {
            for (input, acc) in inputs.iter().zip(accs.iter_mut()) {
                let exponents = &input.mask[at * block..(at + 1) * block];
                blind_block(ctx.table(), self.rotation.packed(), at, spec.gadget, exponents, acc, &mut scratch);
            }
        }
    }
}

/// The accumulator that a rotation starts from: no mask, `X^(-b)` times the table.
fn start(m: &Modulus, table: &[u64], body: u16, columns: usize) -> Words {
    let n = table.len();
    let mut acc = Words::zeros(columns * n);
    for (i, word) in acc[(columns - 1) * n..].iter_mut().enumerate() {
        let from = (i + usize::from(body)) % (2 * n);
        *word = if from < n { table[from] } else { m.neg(table[from - n]) };
    }
    acc
}
