//! Traces of work on secrets, and their comparison.

use aglet_ring::sample::{ChaChaSource, RandomSource};
use std::io::{Read, Write};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

static ON: AtomicBool = AtomicBool::new(false);
static HASH: AtomicU64 = AtomicU64::new(0);
static EVENTS: AtomicU64 = AtomicU64::new(0);

/// Adds an edge or an address to the trace.
macro_rules! seen {
    ($event:expr) => {
        if ON.load(Relaxed) {
            EVENTS.store(EVENTS.load(Relaxed) + 1, Relaxed);
            let mixed = (HASH.load(Relaxed).rotate_left(5) ^ $event as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            HASH.store(mixed ^ mixed >> 29, Relaxed);
        }
    };
}

/// Called before `main` with the guards of each module, whose addresses name the edges.
#[no_mangle]
pub extern "C" fn __sanitizer_cov_trace_pc_guard_init(_: *mut u32, _: *mut u32) {}

/// Called on every edge.
#[no_mangle]
pub extern "C" fn __sanitizer_cov_trace_pc_guard(guard: *mut u32) {
    seen!(guard);
}

macro_rules! accesses {
    ($($name:ident)*) => {$(
        /// Called at a load or a store of so many bytes.
        #[no_mangle]
        pub extern "C" fn $name(address: *const u8) {
            seen!(address);
        }
    )*};
}
accesses!(
    __sanitizer_cov_load1 __sanitizer_cov_load2 __sanitizer_cov_load4 __sanitizer_cov_load8 __sanitizer_cov_load16
    __sanitizer_cov_store1 __sanitizer_cov_store2 __sanitizer_cov_store4 __sanitizer_cov_store8 __sanitizer_cov_store16
);

extern "C" {
    fn fork() -> i32;
    fn waitpid(child: i32, status: *mut i32, options: i32) -> i32;
}

/// Hash and length of a trace.
pub type Trace = (u64, u64);

/// What is done with the secret of this number: it prepares, and calls what it is given for the part that is traced.
pub type Work<'a> = &'a dyn Fn(u64, &mut dyn FnMut(&mut dyn FnMut()));

/// The trace of work on a secret, in a child. This process allocates nothing meanwhile, so that the next child finds the heap as
/// this one did.
fn trace(work: Work<'_>, secret: u64) -> Trace {
    let (mut reader, mut writer) = std::io::pipe().expect("a pipe");
    // SAFETY: this process has one thread.
    let child = unsafe { fork() };
    assert!(child >= 0, "a child can be forked");
    if child == 0 {
        work(secret, &mut |traced| {
            ON.store(true, Relaxed);
            traced();
            ON.store(false, Relaxed);
        });
        let mut said = [0; 16];
        said[..8].copy_from_slice(&HASH.load(Relaxed).to_le_bytes());
        said[8..].copy_from_slice(&EVENTS.load(Relaxed).to_le_bytes());
        std::process::exit(i32::from(writer.write_all(&said).is_err()));
    }
    drop(writer);
    let (mut hash, mut events, mut status) = ([0; 8], [0; 8], 0);
    reader.read_exact(&mut hash).and_then(|()| reader.read_exact(&mut events)).expect("the child says its trace");
    // SAFETY: the child is ours, and the status lies on the stack.
    assert!(unsafe { waitpid(child, &raw mut status, 0) } == child && status == 0, "the child ended well");
    (u64::from_le_bytes(hash), u64::from_le_bytes(events))
}

/// Random secrets beside the first.
pub const RANDOM: u64 = 7;

/// Whether all secrets have one trace; a secret taken twice must.
pub fn constant(name: &str, work: Work<'_>) -> bool {
    let first = trace(work, 0);
    assert_eq!(trace(work, 0), first, "{name}: the same secret has two traces, so traces say nothing");
    assert!(first.1 > 0, "{name}: nothing was traced; use `make constant-time`");
    let others = (1..=RANDOM).filter(|&secret| trace(work, secret) != first).count();
    println!("{name}: {} events; {others} of {RANDOM} other secrets leave another trace", first.1);
    others == 0
}

pub fn source(secret: u64) -> ChaChaSource {
    ChaChaSource::from_seed([secret as u8 + 1; 32])
}

/// A source that is never rejected by `ternary`.
pub struct Accepted(pub ChaChaSource);

impl RandomSource for Accepted {
    fn fill_bytes(&mut self, out: &mut [u8]) {
        self.0.fill_bytes(out);
        out.iter_mut().for_each(|byte| *byte = (*byte).min(254));
    }
}
