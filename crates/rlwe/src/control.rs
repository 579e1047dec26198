//! Stopping and watching work that takes longer than a second.

use crate::Error;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Mutex;

/// Shared between the thread that works and the one that watches.
#[derive(Debug, Default)]
pub struct Control {
    cancelled: AtomicBool,
    latest: Mutex<(usize, usize, String)>,
}

impl Control {
    /// Nothing done, not cancelled.
    pub fn new() -> Self {
        Self::default()
    }
    /// Asks the work to stop; it ends with [`Error::Cancelled`] within a fraction of a second.
    pub fn cancel(&self) {
        self.cancelled.store(true, Ordering::Relaxed);
    }
    /// Whether somebody asked.
    pub fn cancelled(&self) -> bool {
        self.cancelled.load(Ordering::Relaxed)
    }
    /// The flag itself, for the floors below.
    pub fn flag(&self) -> &AtomicBool {
        &self.cancelled
    }
    /// Says how far the work is.
    pub fn report(&self, done: usize, total: usize, what: &str) {
        if let Ok(mut latest) = self.latest.lock() {
            *latest = (done, total, what.to_string());
        }
    }
    /// The latest report: done, total, what.
    pub fn latest(&self) -> (usize, usize, String) {
        self.latest.lock().map(|l| l.clone()).unwrap_or_default()
    }
    /// Ends work that somebody stopped.
    ///
    /// # Errors
    /// [`Error::Cancelled`], then.
    pub fn check(&self) -> Result<(), Error> {
        match self.cancelled() {
            true => Err(Error::Cancelled),
            false => Ok(()),
        }
    }
}
