//! Watching the stages of bootstraps: progress, and what each of them took.

use super::{Control, Units};
use aglet_bootstrap::Probe;
use aglet_ring::traffic::Traffic;
use aglet_ring::{Backend, Tally};
use serde_json::{json, Value};
use std::time::{Duration, Instant};

/// The time and work of one stage of a bootstrap.
#[derive(Debug, Clone, PartialEq)]
pub struct StageRun {
    /// Its name in the plan; in a later pass of an iterated bootstrap "pass 2: coeffs_to_slots 1/3".
    pub name: String,
    /// Wall-clock time, on a card until the last launch: it computes on.
    pub seconds: f64,
    /// Work of the engine's threads: that of the stage, if they did nothing else meanwhile.
    pub work: Tally,
    /// What went to a card and came from it meanwhile.
    pub traffic: Traffic,
}

/// Which pass over the stages this is, of how many: iterations, and groups of a batch.
#[derive(Clone, Copy)]
pub(crate) struct Pass {
    pub(crate) number: usize,
    pub(crate) count: usize,
}

/// Tells a [`Control`] of the stages of a bootstrap, and keeps what they took.
pub(crate) struct Watch<'a> {
    pub(crate) control: &'a Control,
    pub(crate) pass: Pass,
    pub(crate) ran: Vec<StageRun>,
    backend: &'a dyn Backend,
    /// At the beginning of the stage.
    before: Traffic,
}

impl<'a> Watch<'a> {
    /// Of stages that a backend computes.
    pub(crate) fn new(control: &'a Control, pass: Pass, backend: &'a dyn Backend) -> Self {
        Self { control, pass, ran: Vec::new(), backend, before: Traffic::default() }
    }
    pub(crate) fn report(&self, done: usize, total: usize, what: &str) {
        self.control.report(self.pass.number * total + done, self.pass.count * total, what);
    }
}

impl Probe for Watch<'_> {
    fn stage(&mut self, name: &str, done: usize, total: usize, time: Option<Duration>) -> bool {
        self.report(done, total, name);
        // At the beginning of a stage this forgets what was done before it.
        let (work, asked) = (Tally::take(), Instant::now());
        let so_far = self.backend.traffic();
        // A card that is measured answers when its work is done.
        if let Some(time) = time.map(|time| time + asked.elapsed()) {
            let traffic = so_far - self.before;
            self.ran.push(StageRun { name: name.to_string(), seconds: time.as_secs_f64(), work, traffic });
        }
        self.before = so_far;
        !self.control.cancelled()
    }
}

/// The work of one stage, counted before a key exists.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StageCost {
    /// As in the plan.
    pub name: String,
    /// In words.
    pub work: Tally,
}

/// Stages as JSON: what each does and, with units, in how many seconds of one thread.
pub fn stages_json(stages: &[StageCost], n: usize, units: Option<&Units>) -> Value {
    let row = |stage: &StageCost| {
        let [work, seconds] = timed(&stage.work, n, units);
        json!({ "name": stage.name, "work": work, "seconds": seconds })
    };
    stages.iter().map(row).collect()
}

/// Work as JSON, and with units the seconds of one thread.
pub fn timed(work: &Tally, n: usize, units: Option<&Units>) -> [Value; 2] {
    [work_json(work, n), json!(units.map(|units| units.seconds(work, n)))]
}

/// Work as JSON: transforms and products of limbs, bytes of words of 64 bits. A card reads so many of keys; on this machine they are packed,
/// and it reads a fifth to a quarter less.
pub fn work_json(work: &Tally, n: usize) -> Value {
    let limbs = |words: u64| words as f64 / n as f64;
    json!({
        "forward_transforms": limbs(work.forward), "inverse_transforms": limbs(work.inverse), "pointwise_products": limbs(work.pointwise),
        "key_products": limbs(work.key), "diagonal_products": limbs(work.diagonal),
        "conversion_products": limbs(work.conversion), "key_bytes_read": 8 * work.key_read,
        "matrix_bytes_read": 8 * work.matrix_read, "ciphertext_bytes_read": 8 * work.ciphertext_read,
    })
}

/// Keeps what the stages of a run count on an evaluator that gives its work away.
pub(crate) struct Counter<F> {
    take: F,
    pub(crate) stages: Vec<StageCost>,
}

impl<F: FnMut() -> Tally> Counter<F> {
    pub(crate) fn of(take: F) -> Self {
        Self { take, stages: Vec::new() }
    }
}

impl<F: FnMut() -> Tally> Probe for Counter<F> {
    fn stage(&mut self, name: &str, _: usize, _: usize, time: Option<Duration>) -> bool {
        let work = (self.take)();
        if time.is_some() {
            self.stages.push(StageCost { name: name.to_string(), work });
        }
        true
    }
}
