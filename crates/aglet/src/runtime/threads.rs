//! The threads of an engine, and of work that has none.

use super::room;
use crate::{Error, ParameterError};
use aglet_ring::process::PerProcess;
use rayon::{ThreadPool, ThreadPoolBuilder};

/// The most threads that an engine has on a machine of few cores; on others, twice the cores.
const MOST: usize = 64;

/// A private pool. Its threads end with the process that they were started in, so a forked child starts its own when it
/// first has work for them.
pub(crate) struct Threads {
    count: usize,
    pool: PerProcess<ThreadPool>,
}

impl Threads {
    /// Starts this number of threads; 0 uses all cores.
    ///
    /// # Errors
    /// [`Error::Parameter`] for more than are of use, or than the system gives; [`aglet_ring::Error::OutOfMemory`].
    pub(crate) fn start(count: usize) -> Result<Self, Error> {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let most = MOST.max(2 * cores);
        if count > most {
            return Err(ParameterError::ThreadCount { count, most, cores }.into());
        }
        let pool = pool(count)?;
        Ok(Self { count: pool.current_num_threads(), pool: PerProcess::new(pool) })
    }

    /// How many there are.
    pub(crate) fn count(&self) -> usize {
        self.count
    }

    /// Runs work on them; what it does in parallel is done by them alone.
    ///
    /// # Errors
    /// Those of the work; [`Error::Parameter`] in a child to which the system gives no threads.
    pub(crate) fn run<T: Send>(&self, work: impl FnOnce() -> Result<T, Error> + Send) -> Result<T, Error> {
        self.pool.get(|_| pool(self.count))?.install(work)
    }
}

/// Runs work on its own threads, which end with it: this number, or one for each core for 0.
///
/// # Errors
/// Those of the work; [`Error::Parameter`] if the system gives no threads.
pub(crate) fn on_threads<T: Send>(count: usize, work: impl FnOnce() -> Result<T, Error> + Send) -> Result<T, Error> {
    pool(count)?.install(work)
}

fn pool(count: usize) -> Result<ThreadPool, Error> {
    let builder = ThreadPoolBuilder::new().num_threads(count).thread_name(|i| format!("aglet-{i}"));
    builder.build().or_else(|reason| {
        // The system gives one answer to too many threads and to no memory for their stacks.
        room::headroom(room::HEADROOM)?;
        Err(ParameterError::Threads { reason }.into())
    })
}
