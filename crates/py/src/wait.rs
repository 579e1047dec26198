//! Long work runs on its own thread, while the calling thread handles Python's signals and progress.

use crate::errors;
use aglet::Control;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, Thread};
use std::time::Duration;

/// How often the calling thread checks for Ctrl-C and progress.
const LOOK: Duration = Duration::from_millis(50);

/// Ends a child process that was forked during this call, by a callback or a signal handler that returned instead of
/// exiting. The working thread exists only in the parent, so waiting for it would never end.
fn leave_if_forked(process: u32) {
    if std::process::id() != process {
        eprintln!("A process forked while Aglet called its progress callback must not come back from there; end it with os._exit.");
        std::process::abort();
    }
}

/// Wakes the caller when dropped, even if the work panics.
struct Ended<'a> {
    flag: &'a AtomicBool,
    caller: Thread,
}

impl Drop for Ended<'_> {
    fn drop(&mut self) {
        self.flag.store(true, Ordering::Release);
        self.caller.unpark();
    }
}

/// Runs `work` without the GIL. Calls `progress(done, total, what)` from this thread whenever there is news, at least
/// once. If it or a signal handler raises an exception, the work is cancelled and the exception comes out.
pub fn wait<T: Send>(
    py: Python<'_>,
    progress: Option<&Bound<'_, PyAny>>,
    work: impl FnOnce(&Control) -> Result<T, aglet::Error> + Send,
) -> PyResult<T> {
    if let Some(other) = progress.filter(|callback| !callback.is_callable()) {
        let kind = other.get_type().name()?;
        return Err(PyTypeError::new_err(format!(
            "progress is called as progress(done, total, what), and {kind} cannot be called."
        )));
    }
    let (control, flag, caller) = (Control::new(), AtomicBool::new(false), thread::current());
    let process = std::process::id();
    let mut shown = control.latest();
    let mut look = || {
        py.check_signals()?;
        let latest = control.latest();
        match progress {
            Some(callback) if latest != shown => {
                shown = latest.clone();
                callback.call1(latest).map(|_| ())
            }
            _ => Ok(()),
        }
    };
    thread::scope(|scope| {
        let started = thread::Builder::new().spawn_scoped(scope, || {
            let _ended = Ended { flag: &flag, caller };
            work(&control)
        });
        let job = started.map_err(|reason| {
            let fix = "end other work, or raise the limits of this process";
            errors::exception(
                py,
                "MemoryLimitError",
                format!("The system gives no thread for this call ({reason}); {fix}."),
            )
        })?;
        let mut watched = Ok(());
        while !flag.load(Ordering::Acquire) {
            py.detach(|| thread::park_timeout(LOOK));
            if watched.is_ok() {
                watched = look();
                leave_if_forked(process);
                if watched.is_err() {
                    control.cancel();
                }
            }
        }
        let done = job.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        watched?;
        let done = done.map_err(|error| errors::raise(py, error))?;
        look()?;
        Ok(done)
    })
}
