//! What the instrumented code calls: counters of edges, operands of comparisons, and a limit of memory.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicPtr, AtomicU64, AtomicUsize, Ordering::Relaxed};

/// No input may make the process hold more bytes.
pub const MEMORY: usize = 2 << 30;

static START: AtomicPtr<u8> = AtomicPtr::new(std::ptr::null_mut());
static LENGTH: AtomicUsize = AtomicUsize::new(0);

/// Called before `main` by every instrumented module, with the counters of all.
///
/// # Safety
/// The compiler's runtime calls it, with a range of static memory.
#[no_mangle]
pub unsafe extern "C" fn __sanitizer_cov_8bit_counters_init(start: *mut u8, end: *mut u8) {
    START.store(start, Relaxed);
    LENGTH.store(end as usize - start as usize, Relaxed);
}

/// How many edges have a counter.
pub fn edges() -> usize {
    LENGTH.load(Relaxed)
}

fn counters() -> &'static mut [u8] {
    // SAFETY: the range is static; other threads only add to bytes of it, and a lost count does no harm.
    unsafe { std::slice::from_raw_parts_mut(START.load(Relaxed), edges()) }
}

/// All counters to zero, no comparisons.
pub fn clear() {
    counters().fill(0);
    COMPARED.iter().for_each(|slot| slot[0].store(0, Relaxed));
}

/// Which edges were reached, how often by powers of two.
pub struct Map(Vec<u8>);

impl Map {
    /// None.
    pub fn new() -> Self {
        Self(vec![0; edges()])
    }
    /// Adds the counters as they are; whether there is anything new.
    pub fn learn(&mut self) -> bool {
        let mut new = false;
        for (known, &count) in self.0.iter_mut().zip(&*counters()) {
            if count != 0 {
                let bucket = 1 << (7 - count.leading_zeros());
                new |= *known & bucket == 0;
                *known |= bucket;
            }
        }
        new
    }
    /// How many edges.
    pub fn reached(&self) -> usize {
        self.0.iter().filter(|&&known| known != 0).count()
    }
}

const SLOTS: usize = 1 << 9;
/// Of comparisons with constants in the last run: bytes (zero: none), constant, the other operand. The slot follows from the
/// constant and the low bits of the operand: no loop drives another comparison out, and some operands of each have their place.
static COMPARED: [[AtomicU64; 3]; SLOTS] = [const { [const { AtomicU64::new(0) }; 3] }; SLOTS];
static OPERANDS: [AtomicU64; SLOTS] = [const { AtomicU64::new(0) }; SLOTS];
static NEXT: AtomicUsize = AtomicUsize::new(0);

/// A comparison of a value with a constant.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Compared {
    pub bytes: usize,
    pub constant: u64,
    pub value: u64,
}

/// The comparisons of the last run with constants above 255; smaller ones are found without.
pub fn compared() -> impl Iterator<Item = Compared> {
    let slots = COMPARED.iter().map(|slot| [0, 1, 2].map(|i| slot[i].load(Relaxed)));
    slots.filter(|slot| slot[0] != 0).map(|[bytes, constant, value]| Compared {
        bytes: bytes as usize,
        constant,
        value,
    })
}

/// One of the values that were compared with each other lately.
pub fn operand(at: usize) -> u64 {
    OPERANDS[at % SLOTS].load(Relaxed)
}

macro_rules! comparisons {
    ($($type:ty: $constant:ident $variable:ident),*) => {$(
        /// Called at a comparison with a constant, the first operand.
        #[no_mangle]
        pub extern "C" fn $constant(a: $type, b: $type) {
            let (a, b) = (u64::from(a), u64::from(b));
            if a > 255 && a != b {
                let at = (a.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 55) ^ b % 4;
                let slot = &COMPARED[at as usize];
                slot.iter().zip([size_of::<$type>() as u64, a, b]).for_each(|(word, x)| word.store(x, Relaxed));
            }
        }
        /// Called at a comparison. Functions of this name are not instrumented themselves.
        #[no_mangle]
        pub extern "C" fn $variable(a: $type, b: $type) {
            let at = NEXT.fetch_add(2, Relaxed);
            OPERANDS[at % SLOTS].store(u64::from(a), Relaxed);
            OPERANDS[(at + 1) % SLOTS].store(u64::from(b), Relaxed);
        }
    )*};
}
comparisons!(
    u8: __sanitizer_cov_trace_const_cmp1 __sanitizer_cov_trace_cmp1,
    u16: __sanitizer_cov_trace_const_cmp2 __sanitizer_cov_trace_cmp2,
    u32: __sanitizer_cov_trace_const_cmp4 __sanitizer_cov_trace_cmp4,
    u64: __sanitizer_cov_trace_const_cmp8 __sanitizer_cov_trace_cmp8
);

/// Called at a `switch`: the counters see its cases.
#[no_mangle]
pub extern "C" fn __sanitizer_cov_trace_switch(_: u64, _: *const u64) {}

/// The system's allocator, which refuses beyond [`MEMORY`].
struct Limited;

static HELD: AtomicUsize = AtomicUsize::new(0);

// SAFETY: it hands on what the system gives.
unsafe impl GlobalAlloc for Limited {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if HELD.fetch_add(layout.size(), Relaxed) + layout.size() > MEMORY {
            HELD.fetch_sub(layout.size(), Relaxed);
            return std::ptr::null_mut();
        }
        // SAFETY: the caller's contract.
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        HELD.fetch_sub(layout.size(), Relaxed);
        // SAFETY: the caller's contract.
        unsafe { System.dealloc(at, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Limited = Limited;
