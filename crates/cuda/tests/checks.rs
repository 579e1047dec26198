//! That the checks of `make test-sanitizers` see what they are for: kernels with an error each, which end the process of a test.

use aglet_cuda::{kernels, Launcher};
use aglet_testing::emu::{Emu, Order, Program};
use std::process::Command;

/// Which of the kernels below a process runs.
const CHOICE: &str = "AGLET_PLANTED";
const THREADS: u32 = 16;

/// Kernels that read `x[i]` and write `y[i]`, and go wrong from `k` = 4 on.
const KERNELS: &str = r"
struct Planted { Global<const u64> x; Global<u64> y; u64 k; };
INLINE u64 of_frame(const volatile u64 *at, u64 i) { return at[i]; }
KERNEL(wrong_bounds, Planted, 1) { u64 t[4] = {1, 2, 3, 4}; __syncthreads(); p.y[threadIdx.x] = t[p.k]; }
KERNEL(wrong_frame, Planted, 1) { u64 t[4] = {1, 2, 3, 4}; __syncthreads(); p.y[threadIdx.x] = of_frame(t, p.k); }
KERNEL(wrong_list, Planted, 1) { u64 i = threadIdx.x; p.y[i] = entry(p.x, i ? i + 4 * p.k - 4 : 0); }
KERNEL(wrong_shift, Planted, 1) { p.y[threadIdx.x] = 1ull << (60 + p.k); }
KERNEL(wrong_cast, Planted, 1) { p.y[threadIdx.x] = (u64)(5e18 * (double)p.k); }
KERNEL(wrong_sum, Planted, 1) { p.y[threadIdx.x] = (u64)((long long)(p.k << 60) + 0x4000000000000000); }
KERNEL(wrong_stack, Planted, 1) { volatile char t[2 << 20]; for (u64 i = 0; i < sizeof t; i += 4096) t[i] = 1; p.y[threadIdx.x] = t[0]; }
";

/// Each kernel, and what is said of it.
const SAID: [(&str, &str); 8] = [
    ("bounds", "index 4 out of bounds"),
    ("frame", "insufficient space for an object"),
    ("list", "reads where nothing is"),
    ("shift", "shift exponent 64 is too large"),
    ("cast", "outside the range of representable values"),
    ("sum", "signed integer overflow"),
    ("stack", "AddressSanitizer"),
    ("upload", "AddressSanitizer"),
];

/// Runs the kernel that the environment names, or all as long as nothing is wrong with them; a copy to words that no block has.
#[test]
fn planted() {
    let arithmetic = kernels::FILES.iter().find(|(name, _)| *name == "arithmetic.cu").unwrap().1;
    let card = Emu::new(&Program::of(&format!("{arithmetic}{KERNELS}")).unwrap(), Order::Forward);
    let words = THREADS as usize;
    let [x, y] = [(); 2].map(|()| card.allocate(words).unwrap());
    card.write(x, &vec![1; words]).unwrap();
    let run = |name: &str, k| card.launch(&format!("wrong_{name}"), [1, 1, 1], (THREADS, 0), &[x, y, k]).unwrap();
    match std::env::var(CHOICE) {
        Ok(what) if what == "upload" => card.write(y, &vec![1; words + 1]).unwrap(),
        Ok(name) => run(&name, 4),
        Err(_) => SAID[..6].iter().for_each(|(name, _)| run(name, 1)),
    }
    card.free(x, words);
    card.free(y, words);
}

#[test]
fn errors_that_are_planted_are_seen() {
    for (what, said) in SAID {
        let mut child = Command::new(std::env::current_exe().unwrap());
        let child = child.args(["--exact", "checks::planted", "--nocapture"]).env(CHOICE, what).output().unwrap();
        let text = String::from_utf8_lossy(&child.stderr);
        assert!(!child.status.success() && text.contains(said), "{what}: {text}");
    }
}
