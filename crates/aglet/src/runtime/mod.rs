//! What every family runs on: threads, kernels and randomness; stopping and watching of work; the machine, and what a unit of
//! work takes on it.

mod cache;
mod cgroup;
pub mod machine;
mod randomness;
mod room;
mod threads;
mod units;
mod watch;

pub use aglet_rlwe::Control;
pub(crate) use cache::Cache;
pub(crate) use threads::on_threads;
pub use units::Units;
pub(crate) use watch::{stages_json, timed, Counter, Pass, Watch};
pub use watch::{work_json, StageCost, StageRun};

use crate::{Error, ErrorKind};
use aglet_cuda::Card;
use aglet_ring::arch::{self, Kernels};
use aglet_ring::pool::Pool;
use aglet_ring::sample::ChaChaSource;
use aglet_ring::{Backend, Host};
use aglet_rlwe::{Context, Params};
pub(crate) use randomness::Randomness;
use room::Room;
use std::sync::Arc;
use threads::Threads;

/// Threads, kernels and a source of randomness, which engines of all families may share.
pub struct Runtime {
    threads: Threads,
    kernels: &'static Kernels,
    backend: Arc<dyn Backend>,
    randomness: Randomness,
    room: Room,
}

/// What engines have of the [`Runtime`] that they run on.
macro_rules! runs {
    ($engine:ty) => {
        impl $engine {
            /// Worker threads.
            #[must_use]
            pub fn threads(&self) -> usize {
                self.runtime.threads()
            }
            /// Name of the kernels in use.
            #[must_use]
            pub fn backend(&self) -> &'static str {
                self.runtime.kernels().name()
            }
            /// [`Runtime::device`].
            #[must_use]
            pub fn device(&self) -> String {
                self.runtime.device()
            }
            /// Runs work on the engine's own threads.
            pub(crate) fn run<T: Send>(
                &self,
                work: impl FnOnce() -> Result<T, $crate::Error> + Send,
            ) -> Result<T, $crate::Error> {
                self.runtime.run(work)
            }
        }
    };
}
pub(crate) use runs;

impl Runtime {
    /// So many threads (0: one for each core), the kernels that `AGLET_BACKEND` or the CPU chooses, and randomness from the
    /// operating system.
    ///
    /// # Errors
    /// [`Error::Parameter`] for more threads than are of use or than the system gives; a backend that this CPU lacks.
    pub fn new(threads: usize) -> Result<Self, Error> {
        Ok(Self {
            threads: Threads::start(threads)?,
            kernels: arch::chosen()?,
            backend: Arc::new(Host),
            randomness: Randomness::system(),
            room: Room::default(),
        })
    }

    /// For tests: kernels by name, and everything drawn from a seed, so that keys and ciphertexts are the same in every run: the
    /// n-th of its kind, whatever is drawn for others between them. **It keeps no secret**: whoever knows the seed knows every
    /// secret key and reads every ciphertext.
    ///
    /// # Errors
    /// As [`Runtime::new`].
    #[cfg(feature = "seeded")]
    pub fn seeded(threads: usize, backend: &str, seed: [u8; 32]) -> Result<Self, Error> {
        let (threads, kernels) = (Threads::start(threads)?, arch::by_name(backend)?);
        let randomness = Randomness::seeded(seed);
        Ok(Self { threads, kernels, backend: Arc::new(Host), randomness, room: Room::default() })
    }

    /// The same runtime, whose engines of CKKS and integers give their macro-operations to a backend: a card. Results have the same words.
    #[must_use]
    pub fn on_backend(self, backend: Arc<dyn Backend>) -> Self {
        Self { backend, ..self }
    }

    /// The same on the card of this number, by the driver of the machine ([`Card::open`]).
    ///
    /// # Errors
    /// [`Error::Device`].
    pub fn on_card(self, index: usize) -> Result<Self, Error> {
        Ok(self.on_backend(Arc::new(Card::open(index)?)))
    }

    /// Worker threads.
    pub fn threads(&self) -> usize {
        self.threads.count()
    }
    /// The kernels that serve primes below 2^50; larger ones have scalar kernels.
    pub fn kernels(&self) -> &'static Kernels {
        self.kernels
    }
    /// Who does the macro-operations: "host", or a card and its arithmetic.
    pub fn device(&self) -> String {
        self.backend.name()
    }
    /// What rings of its engines are made of.
    pub(crate) fn machine(&self) -> (&'static Kernels, Arc<dyn Backend>) {
        (self.kernels, self.backend.clone())
    }
    /// Makes the tables of a set, where there is room for them beside what work needs: tables cannot say that there is none.
    ///
    /// # Errors
    /// Those of the ring, and [`aglet_ring::Error::OutOfMemory`].
    pub(crate) fn context(&self, params: &Params) -> Result<Arc<Context>, Error> {
        let limbs = params.q().len() + params.spare().len() + params.p().len();
        self.room.check_beside(params.n() * limbs * size_of::<u64>())?;
        self.run(|| Ok(Context::with_backend(params.clone(), self.machine())?))
    }
    /// Runs work on the threads; what it does in parallel is done by them alone.
    ///
    /// # Errors
    /// Those of the work; [`aglet_ring::Error::OutOfMemory`] before it begins where hardly any memory is left and the pools have none to give.
    pub(crate) fn run<T: Send>(&self, work: impl FnOnce() -> Result<T, Error> + Send) -> Result<T, Error> {
        self.room.check()?;
        let done = self.threads.run(work);
        if done.as_ref().is_err_and(|error| error.kind() == ErrorKind::Memory) {
            self.room.make();
        }
        done
    }
    /// Gives up what lies in this pool where memory runs out.
    pub(crate) fn serves(&self, pool: &Arc<Pool>) {
        self.room.add(pool);
    }
    /// A source for one key, one encryption or whatever the purpose names, to be used once; `number` tells purposes of one name
    /// apart, such as keys by their automorphism.
    ///
    /// # Errors
    /// The system's error if it has no randomness to give.
    pub(crate) fn random(&self, purpose: &'static str, number: u64) -> Result<ChaChaSource, aglet_ring::Error> {
        self.randomness.source(purpose, number)
    }
}
