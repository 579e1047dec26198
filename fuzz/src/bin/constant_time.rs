//! Whether samplers, decryption and what else touches secrets take the same path whatever the secrets are: `make constant-time`.
//!
//! All of Aglet and what it stands on is built with a call on every edge and at every load and store (LLVM's SanitizerCoverage).
//! The sequence of edges and addresses is hashed: it must be one and the same for a secret of zeros, where there is one, and for
//! random secrets. Each run is a forked child, so that all have the same memory at the same addresses; one secret taken twice
//! proves that nothing but the secret differs, and two leaks that are planted prove that leaks are seen.
//!
//! Loads and stores of 32 bytes and more are not called for: those of vector kernels show as edges only, but kernels are
//! written once for all instruction sets, and the scalar ones show everything. The time of a single instruction is not seen.
//! Rejected draws depend on randomness that is thrown away, so a recorded source without them stands in for `ternary`.

use aglet::presets;
use aglet_ring::arch;
use aglet_ring::primes::ntt_primes;
use aglet_ring::sample::{self, ChaChaSource, RandomSource};
use aglet_rlwe::params::ParamsSpec;
use aglet_rlwe::places::PlacedCoefficients;
use aglet_rlwe::security::{Secret, Security};
use aglet_rlwe::{
    Context, Error, KeyId, KeySwitchSpec, Params, Places, RotorKeys, RotorShape, SecretKey, SwitchingKey,
};
use std::hint::black_box;
use std::io::{Read, Write};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::Arc;

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
type Trace = (u64, u64);

/// What is done with the secret of this number: it prepares, and calls what it is given for the part that is traced.
type Work<'a> = &'a dyn Fn(u64, &mut dyn FnMut(&mut dyn FnMut()));

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
const RANDOM: u64 = 7;

/// Whether all secrets have one trace; a secret taken twice must.
fn constant(name: &str, work: Work<'_>) -> bool {
    let first = trace(work, 0);
    assert_eq!(trace(work, 0), first, "{name}: the same secret has two traces, so traces say nothing");
    assert!(first.1 > 0, "{name}: nothing was traced; use `make constant-time`");
    let others = (1..=RANDOM).filter(|&secret| trace(work, secret) != first).count();
    println!("{name}: {} events; {others} of {RANDOM} other secrets leave another trace", first.1);
    others == 0
}

fn source(secret: u64) -> ChaChaSource {
    ChaChaSource::from_seed([secret as u8 + 1; 32])
}

/// A source that is never rejected by `ternary`.
struct Accepted(ChaChaSource);

impl RandomSource for Accepted {
    fn fill_bytes(&mut self, out: &mut [u8]) {
        self.0.fill_bytes(out);
        out.iter_mut().for_each(|byte| *byte = (*byte).min(254));
    }
}

const COUNT: usize = 1 << 10;

fn samplers() -> bool {
    let small = |name: &str, draw: &dyn Fn(u64, &mut [i8])| {
        let work = |secret, traced: &mut dyn FnMut(&mut dyn FnMut())| {
            let mut out = vec![0; COUNT];
            traced(&mut || draw(secret, &mut out));
            black_box(&out);
        };
        constant(name, &work)
    };
    let gaussian = |secret, traced: &mut dyn FnMut(&mut dyn FnMut())| {
        let mut out = vec![0; COUNT];
        traced(&mut || sample::gaussian(&mut source(secret), &mut out));
        black_box(&out);
    };
    // Windows beside each other: places always increase, so none are drawn again.
    let windows: Vec<_> = (0..COUNT as u64).map(|k| (32 * k, 32)).collect();
    let places = |secret, traced: &mut dyn FnMut(&mut dyn FnMut())| {
        let mut out = vec![0; COUNT];
        traced(&mut || sample::increasing(&mut source(secret), &windows, &mut out));
        black_box(&out);
    };
    let all = [
        small("ternary", &|secret, out| sample::ternary(&mut Accepted(source(secret)), out)),
        small("fixed weight", &|secret, out| sample::fixed_weight(&mut source(secret), 32, out)),
        small("block sparse", &|secret, out| sample::block_sparse(&mut source(secret), 32, out)),
        small("binary", &|secret, out| sample::binary(&mut source(secret), out)),
        small("block binary", &|secret, out| sample::block_binary(&mut source(secret), 3, out)),
        small("signs", &|secret, out| sample::signs(&mut source(secret), out)),
        constant("places in windows", &places),
        constant("gaussian", &gaussian),
    ];
    all.iter().all(|&constant| constant)
}

/// A leak by a branch and one by an address, which must be seen.
fn leaks_are_seen() -> bool {
    static TABLE: [u8; 256] = [7; 256];
    let planted = |name: &str, leak: &dyn Fn(u8) -> u8| {
        let work = |secret, traced: &mut dyn FnMut(&mut dyn FnMut())| {
            let mut bytes = [0; 64];
            source(secret).fill_bytes(&mut bytes);
            traced(&mut || bytes.iter_mut().for_each(|byte| *byte = leak(*byte)));
            black_box(&bytes);
        };
        !constant(name, &work)
    };
    let branch = planted("a planted branch", &|byte| if byte & 1 == 1 { black_box(byte) / 3 } else { byte });
    branch & planted("a planted address", &|byte| black_box(&TABLE)[usize::from(byte)])
}

/// Packed coefficients of a secret: of zeros first, then random ones. Memory is asked for in the same way for all.
fn packed(ctx: &Context, secret: u64) -> Vec<u8> {
    let key = SecretKey::generate(ctx, &mut source(secret)).expect("a key");
    let mut bytes = key.packed().expect("a main secret").to_vec();
    bytes.iter_mut().for_each(|byte| *byte *= u8::from(secret != 0));
    bytes
}

/// What is done with a secret key, on some kernels.
fn keys(kernels: &'static arch::Kernels) -> bool {
    let params = presets::load("toy", true).expect("the preset exists").rlwe().clone();
    let ctx: Arc<Context> = Context::with_kernels(params, kernels).expect("the kernels serve it");
    let (ctx, id, limbs) = (&*ctx, KeyId(1), 8);
    let key = |secret| SecretKey::from_packed(ctx, id, &packed(ctx, secret)).expect("the parameters draw it");
    let mut plain = ctx.ring().zero(limbs, 0).expect("there is memory");
    let ct = key(9).encrypt(ctx, &plain, &mut source(9)).expect("it can");
    ctx.ring().add_assign(&mut plain, &ct.polys[0]);
    let spec = || KeySwitchSpec::balanced(ctx.params(), limbs).expect("a shape of keys");
    let with_key = |name: &str, run: &dyn Fn(&SecretKey)| {
        run(&key(9)); // What depends on shapes alone is planned and kept.
        let work = |secret, traced: &mut dyn FnMut(&mut dyn FnMut())| {
            let key = key(secret);
            traced(&mut || run(&key));
        };
        constant(&format!("{name}, {}", kernels.name()), &work)
    };
    let reading = |secret, traced: &mut dyn FnMut(&mut dyn FnMut())| {
        let bytes = packed(ctx, secret);
        traced(&mut || drop(black_box(SecretKey::from_packed(ctx, id, &bytes))));
    };
    let all = [
        constant(&format!("a secret key from its coefficients, {}", kernels.name()), &reading),
        with_key("its packed coefficients", &|sk| drop(black_box(sk.packed()))),
        with_key("encryption with it", &|sk| drop(black_box(sk.encrypt(ctx, &plain, &mut source(0))))),
        with_key("decryption", &|sk| drop(black_box(sk.decrypt(ctx, &ct)))),
        with_key("a relinearization key", &|sk| {
            drop(black_box(SwitchingKey::relinearization(ctx, spec(), sk, &mut source(0))));
        }),
        with_key("a rotation key", &|sk| drop(black_box(SwitchingKey::galois(ctx, spec(), 5, sk, &mut source(0))))),
    ];
    all.iter().all(|&constant| constant)
}

/// The places of a sparse secret that is small enough to trace the making of all its keys.
const PLACES: Places = Places { weight: 3, half_window: Some(19) };

/// Bits of the primes, the lowest among them, and of the digits of the key to the sparse secret, which appears under the lowest alone.
const LOW_BITS: u32 = 50;
const DIGIT_BITS: u32 = 10;

/// A small chain of four primes with such a secret, and the four raised ones alone: insecure.
fn placed(kernels: &'static arch::Kernels) -> (Arc<Context>, Arc<Context>) {
    let log_n = 8;
    let all: Vec<u64> = ntt_primes((1u64 << LOW_BITS) as f64, log_n, &[], 1 << LOW_BITS).take(10).collect();
    let spec = ParamsSpec {
        log_n,
        secret: Secret::Ternary,
        sparse_secret: Some(Secret::BlockSparse(PLACES.weight)),
        sparse_log_n: None,
        places: Some(PLACES),
        q: all[..4].to_vec(),
        spare: all[4..8].to_vec(),
        p: all[8..].to_vec(),
        max_log_qp: Some(301.0),
        digits: None,
    };
    let params = Params::new(spec, Security::NotChecked).expect("they fit the ring");
    let ctx = Context::with_kernels(params, kernels).expect("the kernels serve it");
    let raised = ctx.subset(&[4, 5, 6, 7]).expect("the chain has them");
    (ctx, raised)
}

/// The secrets that keys of a bootstrap by roots of unity are made of.
struct Placed {
    main: SecretKey,
    raised: SecretKey,
    sparse: SecretKey,
    places: PlacedCoefficients,
}

impl Placed {
    fn new(ctx: &Context, raised: &Context, secret: u64) -> Self {
        let mut random = source(secret);
        let main = SecretKey::generate(ctx, &mut random).expect("a key");
        let raised = main.for_subset(raised).expect("the chain has it");
        let (sparse, places) = SecretKey::generate_placed(ctx, &mut random).expect("the parameters have places");
        Self { main, raised, sparse, places }
    }
}

/// The making of the key that leads to such a secret, and of those that know its places and signs: of columns and muxes, and of choices.
fn rotor_keys(kernels: &'static arch::Kernels) -> bool {
    let (ctx, raised) = placed(kernels);
    let digits = vec![vec![0, 1], vec![2, 3]];
    let shape = RotorShape { places: PLACES, columns: 3, mux: vec![4, 4], raised: 4, special: 2, digits, choice: None };
    let choosing = shape.choosing(ctx.params().n(), 4).expect("there is room for four numbers");
    let make = |shape: &RotorShape, s: &Placed| {
        let random = |k: usize, t: usize| Ok::<_, Error>(source((16 * k + t) as u64));
        drop(black_box(RotorKeys::generate(&raised, shape, &s.places, &s.raised, random).expect("keys")));
    };
    let digits = (LOW_BITS.div_ceil(DIGIT_BITS) as usize, DIGIT_BITS);
    let lead = |s: &Placed| {
        let key = SwitchingKey::by_short_digits(&ctx, digits, &s.main, &s.sparse, &mut source(0));
        drop(black_box(key.expect("a key")));
    };
    let made = |name: &str, make: &dyn Fn(&Placed)| {
        make(&Placed::new(&ctx, &raised, 9)); // What depends on shapes alone is planned and kept.
        let work = |secret, traced: &mut dyn FnMut(&mut dyn FnMut())| {
            let secrets = Placed::new(&ctx, &raised, secret);
            traced(&mut || make(&secrets));
        };
        constant(&format!("{name}, {}", kernels.name()), &work)
    };
    let all = [
        made("a key to the sparse secret", &lead),
        made("keys of columns and muxes", &|s| make(&shape, s)),
        made("keys of choices", &|s| make(&choosing, s)),
    ];
    all.iter().all(|&constant| constant)
}

/// Whether nothing leaks but what is planted.
fn check() -> bool {
    assert!(leaks_are_seen(), "a planted leak was not seen");
    samplers() & arch::available().iter().fold(true, |fine, kernels| keys(kernels) & rotor_keys(kernels) & fine)
}

fn main() {
    // This thread is the pool: nothing runs beside it.
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).use_current_thread().build().expect("a pool");
    assert!(pool.install(check), "a path depends on secrets");
    println!("No edge and no address depends on a secret.");
}
