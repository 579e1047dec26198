//! Estimates of a call before it runs: blind rotations, seconds by a model, bytes, and the failure probability.

use super::card::Batch;
use super::workers::ON_CARD;
use super::Engine;
use crate::{Error, ParameterError};
use aglet_bootstrap::fhew::functional::Way;
use aglet_bootstrap::FhewBootstrapKey;
use aglet_rlwe::lwe::log2_tail;
use aglet_schemes::fhew::{
    either, Domain, Gate, Group, Integer, Nearest, Rows, Table, TreeTable, Unsigned, MAX_LOG2_FAILURE,
};

/// A call on fresh ciphertexts.
#[derive(Clone, Copy, Debug)]
pub enum Work<'a> {
    /// [`Engine::gate`].
    Gate(Gate),
    /// [`Engine::mux`].
    Mux,
    /// [`Engine::lookup`], or [`Engine::lookup_many`] for several tables.
    Lookup(&'a [Table]),
    /// [`Engine::lookup_tree`]. The flag says whether the message before the last is there as two digits.
    LookupTree(&'a [TreeTable], bool),
    /// [`Engine::sign`] or [`Engine::compare`].
    Sign(Integer),
    /// [`Engine::equal`].
    Equal(Integer),
    /// [`Engine::floor`], with the number of bits to remove.
    Floor(Unsigned, u32),
    /// [`Engine::digits`].
    Digits(Unsigned),
    /// [`Engine::nearest`], with the number of digits.
    Nearest(Unsigned, u32),
}

/// An estimate of one call.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// Blind rotations of the whole batch.
    pub rotations: usize,
    /// Seconds by the model of [`Engine::estimate`].
    pub seconds: f64,
    /// Bytes of the bootstrap key.
    pub key_bytes: u64,
    /// Approximate peak memory of the call in bytes, without its key and inputs.
    pub working_bytes: u64,
    /// Bytes on a card of the keys and of what it bootstraps at once; 0 where cards do not bootstrap by this set.
    pub card_bytes: u64,
    /// log2 of the probability that a result is wrong, for fresh inputs.
    pub log2_failure: f64,
}

/// Nanoseconds of one thread with AVX-512 IFMA (Sapphire Rapids): a butterfly of a forward and of an inverse transform, a coefficient
/// cut into digits, an operation on a vector of products. The time of all else is small.
const NANOSECONDS: [f64; 4] = [0.228, 0.264, 0.213, 0.277];
/// What a rotation takes with the kernels of these names over one with those of [`NANOSECONDS`]: measured with `AGLET_BACKEND` on one
/// machine, to a quarter (gates take 2.8 with AVX2, larger sets 1.9 to 2.3).
const KERNELS: [(&str, f64); 4] = [("avx512ifma", 1.0), ("avx2", 2.2), ("portable", 3.5), ("scalar", 10.0)];
/// What butterflies take more modulo a prime above 40 bits, whose sums must be reduced.
const SETTLING: f64 = 1.15;
/// The bytes of a key that a batch waits for, in nanoseconds: it comes at 15 GB/s, and most of the time work goes on meanwhile.
const WAIT: f64 = 0.3 / 15.0;
/// Accumulators and what goes with them, in samples.
const BUFFERS: usize = 3;

impl Engine {
    /// Estimates a call on `batch` fresh ciphertexts (or pairs of them) without running it. The seconds come from a
    /// model: counted operations at the times of one processor (Sapphire Rapids), with the kernels and threads of this
    /// engine.
    ///
    /// # Errors
    /// Work that is not possible: no tables, more low bits than the integer has, a floor that fails however it is
    /// split.
    pub fn estimate(&self, work: Work, batch: usize) -> Result<Estimate, Error> {
        self.estimate_on(work, batch, self.params().lwe().noise().fresh)
    }

    /// [`Engine::estimate`] for ciphertexts whose noise has this variance on the torus.
    ///
    /// # Errors
    /// As there.
    pub fn estimate_on(&self, work: Work, batch: usize, variance: f64) -> Result<Estimate, Error> {
        let (each, log2_failure) = self.rotations(work, variance)?;
        let (params, rotations) = (self.params().lwe(), each * batch);
        let sample = 8 * (params.coordinates() + params.n());
        let key_bytes = FhewBootstrapKey::forecast(&self.ctx);
        let rounds = rotations.div_ceil(self.threads()) as f64;
        let first = if rotations > 0 { key_bytes as f64 * WAIT * 1e-9 } else { 0.0 };
        let (own, chooses) = match work {
            Work::LookupTree(tables, split) => (true, self.tree_plan(tables, split, params.choice_gadget()).chooses()),
            _ => (false, false),
        };
        let card = self.card_memory_of(Batch { count: rotations.min(ON_CARD), own, places: 1, chooses });
        Ok(Estimate {
            rotations,
            seconds: rounds * self.seconds_of_rotation() + first,
            key_bytes: key_bytes as u64,
            working_bytes: (rotations * 8 * (params.coordinates() + 1) + rotations.min(64) * BUFFERS * sample) as u64,
            card_bytes: card.map_or(0, |memory| memory.bytes() as u64),
            log2_failure,
        })
    }

    /// The noise variance, on the torus, of results of [`Engine::lookup_tree`] with these tables: the largest of all
    /// tables, given by the steepest row; with a [`PackingKey::precise`](super::PackingKey::precise) key if so. Later steps start from it.
    #[must_use]
    pub fn tree_variance(&self, tables: &[TreeTable], split: bool, precise: bool) -> f64 {
        let choices = self.ctx.params().choice_gadget().filter(|_| !precise);
        self.tree_plan(tables, split, choices).variance()
    }

    /// A rotation of a batch, whose key is in the cache.
    fn seconds_of_rotation(&self) -> f64 {
        let (spec, (transforms, keys)) = (self.params().lwe().spec(), self.params().lwe().products());
        let (n, columns, levels) = (self.params().lwe().n() as f64, spec.columns() as f64, spec.gadget.levels as f64);
        let [forward, inverse, digit, vector] = NANOSECONDS;
        let settling = if spec.modulus >> 40 > 0 { SETTLING } else { 1.0 };
        let butterflies = n / 2.0 * f64::from(spec.log_n);
        let product = columns * butterflies * (levels * forward * settling + inverse) + columns * levels * n * digit;
        let key = n / 8.0 * (6.0 + 4.0 * columns * levels + 3.0 * columns * columns * levels) * vector;
        let kernels = KERNELS.iter().find(|(name, _)| *name == self.backend()).map_or(1.0, |(_, factor)| *factor);
        (transforms * product + keys * key) * kernels * 1e-9
    }

    /// Rotations of a call on so many fresh ciphertexts, for reports of progress; 0 for what is refused.
    pub(super) fn planned(&self, work: Work, count: usize) -> usize {
        self.rotations(work, self.params().lwe().noise().fresh).map_or(0, |found| found.0 * count)
    }

    /// Rotations of one ciphertext with noise of this variance, and the chance of a wrong result.
    fn rotations(&self, work: Work, variance: f64) -> Result<(usize, f64), Error> {
        let params = self.params().lwe();
        let noise = params.noise();
        Ok(match work {
            Work::Gate(gate) => {
                let log2 = |variance: f64| log2_tail(gate.distance(), noise.decision(variance));
                let sum = log2(gate.squared_weights() * variance);
                let pair = || either(&[log2(2.0 * variance), log2(variance + noise.blind_rotation)]);
                // Three bits without a margin are read in two rotations.
                if gate == Gate::Majority && sum > MAX_LOG2_FAILURE {
                    (2, pair())
                } else {
                    (1, sum)
                }
            }
            Work::Mux => {
                let log2 = |variance: f64| log2_tail(Gate::And.distance(), noise.decision(variance));
                let [start, end] = [0.0, noise.blind_rotation].map(|both| log2(2.0 * variance + both));
                let pair = || either(&[start, start, log2(2.0 * noise.blind_rotation)]);
                if end > MAX_LOG2_FAILURE {
                    (3, pair())
                } else {
                    (2, either(&[start, end]))
                }
            }
            Work::Lookup(tables) => {
                let from = tables.first().ok_or(ParameterError::NoTable)?.from();
                let way = Way::choose(params, tables, variance);
                (way.rotations(from.domain(), tables.len()), way.log2_failure(params, from, variance))
            }
            Work::LookupTree(tables, split) => {
                let first = tables.first().ok_or(ParameterError::NoTable)?;
                let (kind, quarter) = (Rows::of(first.messages(), split), (first.from().space() as f64 / 2.0).powi(2));
                let mut variances = vec![variance; kind.choices(first.messages())];
                match kind {
                    Rows::One => variances.push(variance),
                    // One digit twice and the other a quarter of the torus, the last message, and that with such a quarter.
                    Rows::Signs => variances = [4.0 + quarter, 1.0, 1.0 + quarter].map(|w| w * variance).to_vec(),
                    // The last message and both digits, half a torus each at the most.
                    Rows::Turns => {
                        let turned = variance * (1.0 + 8.0 * quarter);
                        variances.extend((0..kind.rotations()).map(|_| turned));
                    }
                }
                let plan = self.tree_plan(tables, split, params.choice_gadget());
                (plan.rotations() + full_rotations(first), plan.log2_failure(&self.ctx, &variances))
            }
            Work::Sign(integer) => (integer.rotations() as usize, integer.log2_failure(params, variance)),
            Work::Equal(integer) => {
                (2 * integer.rotations() as usize, integer.log2_failure(params, 2.0 * variance) + 1.0)
            }
            Work::Floor(unsigned, bits) => {
                let groups = unsigned.groups(&noise, bits, variance, MAX_LOG2_FAILURE)?;
                let rotations: u32 = groups.iter().map(|g| g.rotations()).sum();
                (rotations as usize, Group::log2_failure(&groups, &noise, variance))
            }
            Work::Digits(unsigned) => {
                let groups = unsigned.digits(&noise, self.params().message(), variance);
                let rotations = groups.iter().map(|g| g.digit_rotations()).sum::<u32>();
                (rotations as usize, Group::log2_failure(&groups, &noise, variance))
            }
            Work::Nearest(unsigned, digits) => {
                let plan = Nearest::new(unsigned, digits, &noise, variance)?;
                (plan.rotations(), plan.log2_failure(&noise, variance))
            }
        })
    }
}

/// What the messages of a table take before it, a rotation each in the full domain.
pub(super) fn full_rotations(table: &TreeTable) -> usize {
    table.messages() * usize::from(table.from().domain() == Domain::Full)
}
