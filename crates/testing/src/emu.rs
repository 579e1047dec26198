//! The emulated card: the kernels of `aglet-cuda` compiled by the C++ compiler of this machine, a fiber for each thread of a block. The words are
//! those of a card, the time is not. The same library has the functions of NVIDIA's driver, so that a driver can be loaded where none is.

use aglet_cuda::{kernels, Arithmetic, Device, Error, Launcher, Row};
use libloading::{Library, Symbol};
use std::ffi::{c_char, c_int, c_void, CStr};
use std::fmt;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

/// The order in which the blocks of a launch and the threads of a block take turns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// As they are numbered.
    Forward,
    /// Backwards.
    Reverse,
    /// Shuffled anew for each block, the same way in every run.
    Shuffled,
}

impl Order {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Forward, Self::Reverse, Self::Shuffled];
}

/// More options for the compiler: `make test-sanitizers` asks for checks of addresses and of undefined behaviour.
const OPTIONS_VARIABLE: &str = "AGLET_EMULATOR_OPTIONS";

/// Kernels compiled for the emulator.
pub struct Program(Vec<u8>);

impl Program {
    /// The kernels of `aglet-cuda`, which are compiled once in a process.
    pub fn kernels() -> &'static Self {
        static PROGRAM: OnceLock<Program> = OnceLock::new();
        PROGRAM.get_or_init(|| Self::of(&kernels::text()).unwrap_or_else(|e| panic!("{e}")))
    }

    /// Kernels of another text: tests change one to see that the emulator notices.
    ///
    /// # Errors
    /// What the compiler says.
    pub fn of(text: &str) -> Result<Self, String> {
        let file = temporary();
        let mut command = Command::new(std::env::var("CXX").unwrap_or_else(|_| "c++".into()));
        command.args(include_str!("../emulator/options.txt").split_whitespace()).arg("-o").arg(&file);
        // The compiler is none of what is checked.
        let more = std::env::var(OPTIONS_VARIABLE).unwrap_or_default();
        command.args(more.split_whitespace()).env_remove("LD_PRELOAD");
        command.args(["-x", "c++", "-"]).stdin(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().map_err(|e| format!("install g++, or name another compiler in CXX: {e}"))?;
        let parts = [
            ("before.cpp", include_str!("../emulator/before.cpp")),
            ("kernels.cu", text),
            ("after.cpp", include_str!("../emulator/after.cpp")),
            ("driver.cpp", include_str!("../emulator/driver.cpp")),
        ];
        let whole: String = parts.iter().map(|(name, text)| format!("#line 1 \"{name}\"\n{text}")).collect();
        // The compiler reads all of its input before it writes.
        let written = child.stdin.take().map_or(Ok(()), |mut input| input.write_all(whole.as_bytes()));
        let output = child.wait_with_output().map_err(|e| e.to_string())?;
        let program = std::fs::read(&file);
        let _ = std::fs::remove_file(&file);
        match (output.status.success(), written.and(program)) {
            (true, Ok(program)) => Ok(Self(program)),
            (_, found) => Err(format!("{}{:?}", String::from_utf8_lossy(&output.stderr), found.err())),
        }
    }

    /// A library of its own: those of one file would share their state.
    fn file(&self) -> PathBuf {
        let file = temporary();
        std::fs::write(&file, &self.0).expect("the folder of temporary files has room");
        file
    }
}

/// A file of temporary files that no other process or thread has.
fn temporary() -> PathBuf {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    std::env::temp_dir().join(format!("aglet-emulator-{}-{count}.so", std::process::id()))
}

/// The library in a file.
fn load(file: &Path) -> Library {
    // SAFETY: the library was compiled from the text of this crate and runs nothing when it is loaded.
    unsafe { Library::new(file) }.expect("programs in the folder of temporary files may run")
}

/// An emulated card with memory of its own. Launches run one after another on the thread that calls.
pub struct Emu {
    library: Library,
    order: Order,
    /// Bytes of its memory.
    memory: Arc<AtomicU64>,
    /// Blocks that are had until other programs take the rest of it.
    blocks: Arc<AtomicU64>,
    /// Those that are in use. The library keeps its state in variables: one call at a time.
    busy: Mutex<u64>,
}

/// The memory of an emulated card, for which `before.cpp` reserves more addresses.
const MEMORY: u64 = 8 << 30;

impl Emu {
    /// A card whose threads take turns in this order.
    pub fn new(program: &Program, order: Order) -> Self {
        let file = program.file();
        let library = load(&file);
        let _ = std::fs::remove_file(&file);
        let [memory, blocks] = [MEMORY, u64::MAX].map(|number| Arc::new(AtomicU64::new(number)));
        let emu = Self { library, order, memory, blocks, busy: Mutex::default() };
        // SAFETY: `after.cpp` has the function, and it is the first call to this copy of the library.
        let started = unsafe { emu.find::<unsafe extern "C" fn() -> c_int>("emulator_start")() };
        assert_ne!(started, 0, "the emulator has memory");
        emu
    }
    /// The same card with less memory.
    #[must_use]
    pub fn with_memory(self, bytes: u64) -> Self {
        self.memory.store(bytes.min(MEMORY), Ordering::Relaxed);
        self
    }
    /// The bytes of its memory, at most as many as now: a test takes some away as other programs do.
    pub fn memory(&self) -> Arc<AtomicU64> {
        self.memory.clone()
    }
    /// Blocks that are had until other programs take all the rest of its memory, for ever unless a test says so.
    pub fn blocks(&self) -> Arc<AtomicU64> {
        self.blocks.clone()
    }
    fn left(&self, used: u64) -> u64 {
        self.memory.load(Ordering::Relaxed).saturating_sub(used)
    }
    /// The same for rings.
    pub fn device(program: &Program, order: Order) -> Device {
        Device::new(Self::new(program, order))
    }

    /// A function of `after.cpp`.
    ///
    /// # Safety
    /// The function has this type.
    unsafe fn find<T>(&self, name: &str) -> Symbol<'_, T> {
        // SAFETY: the caller knows the type.
        unsafe { self.library.get(name) }.expect("after.cpp has the function")
    }

    fn alone(&self) -> MutexGuard<'_, u64> {
        self.busy.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Emu {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Emu({:?})", self.order)
    }
}

// What follows calls functions of `after.cpp` by their types there, one at a time; addresses are those that it gave, and what kernels read and
// write is checked against the blocks there are.
impl Launcher for Emu {
    fn name(&self) -> String {
        "emulated card".into()
    }
    fn arithmetic(&self) -> Arithmetic {
        Arithmetic::F50
    }

    /// Few where threads take turns backwards, so that lists are cut.
    fn most_rows(&self) -> usize {
        if self.order == Order::Reverse {
            16
        } else {
            u16::MAX.into()
        }
    }

    fn free_bytes(&self) -> Result<u64, Error> {
        Ok(self.left(*self.alone()))
    }

    fn allocate(&self, words: usize) -> Result<u64, Error> {
        let (mut used, bytes) = (self.alone(), 8 * words);
        if self.blocks.fetch_sub(1, Ordering::Relaxed) == 0 {
            self.memory.store(*used, Ordering::Relaxed);
            self.blocks.store(u64::MAX, Ordering::Relaxed);
        }
        let none = Error::Memory { bytes, free: self.left(*used) as usize };
        if bytes as u64 > self.left(*used) {
            return Err(none);
        }
        // SAFETY: as said above.
        match unsafe { self.find::<unsafe extern "C" fn(u64) -> u64>("emulator_allocate")(words as u64) } {
            0 => Err(none),
            address => {
                *used += bytes as u64;
                Ok(address)
            }
        }
    }

    fn free(&self, address: u64, words: usize) {
        let mut used = self.alone();
        *used -= 8 * words as u64;
        // SAFETY: as said above.
        unsafe { self.find::<unsafe extern "C" fn(u64, u64)>("emulator_free")(address, words as u64) };
    }

    fn write(&self, address: u64, words: &[u64]) -> Result<(), Error> {
        let _alone = self.alone();
        // SAFETY: as said above.
        unsafe {
            let upload = self.find::<unsafe extern "C" fn(u64, *const u64, u64)>("emulator_upload");
            upload(address, words.as_ptr(), words.len() as u64);
        }
        Ok(())
    }

    fn read(&self, parts: Vec<Vec<Row<'_>>>) -> Result<(), Error> {
        let _alone = self.alone();
        // SAFETY: as said above.
        let download = unsafe { self.find::<unsafe extern "C" fn(u64, *mut u64, u64) -> c_int>("emulator_download") };
        let failed = || Error::Kernel { kernel: "before a download".into(), what: "a word was left unwritten".into() };
        parts.into_iter().flatten().try_for_each(|Row { block, at, words }| {
            // SAFETY: as said above.
            let written = unsafe { download(block + 8 * at as u64, words.as_mut_ptr(), words.len() as u64) };
            (written != 0).then_some(()).ok_or_else(failed)
        })
    }

    fn launch(
        &self,
        kernel: &str,
        grid: [u32; 3],
        (threads, shared_bytes): (u32, u32),
        parameters: &[u64],
    ) -> Result<(), Error> {
        type Launch = unsafe extern "C" fn(*const c_void, *const u64, *const u32, u32, u32, u32) -> *const c_char;
        let failed = |what: String| Error::Kernel { kernel: kernel.into(), what };
        if grid[1..].iter().any(|&rows| rows as usize > self.most_rows()) {
            return Err(failed(format!("a grid of {grid:?}")));
        }
        // SAFETY: kernels are functions of the library; this one is only named to the next call.
        let function = unsafe { self.library.get::<unsafe extern "C" fn(*const c_void)>(kernel) };
        let function = *function.map_err(|_| failed("there is no such kernel".into()))? as *const c_void;
        let _alone = self.alone();
        // SAFETY: as said above; the text of the fault stays until the next launch.
        unsafe {
            let (launch, order) = (self.find::<Launch>("emulator_launch"), self.order as u32);
            let fault = launch(function, parameters.as_ptr(), grid.as_ptr(), threads, shared_bytes, order);
            match fault.is_null() {
                true => Ok(()),
                false => Err(failed(CStr::from_ptr(fault).to_string_lossy().into_owned())),
            }
        }
    }
}

impl Drop for Emu {
    fn drop(&mut self) {
        // SAFETY: all blocks, which hold the card, are gone.
        unsafe { self.find::<unsafe extern "C" fn()>("emulator_stop")() };
    }
}

/// A library with the functions of NVIDIA's driver and an emulated card, in a file of its own. What it says and when it fails can be set.
pub struct FakeDriver {
    file: PathBuf,
    library: Library,
}

impl FakeDriver {
    /// Of a program.
    pub fn new(program: &Program) -> Self {
        let file = program.file();
        Self { library: load(&file), file }
    }

    /// Its file.
    pub fn file(&self) -> &Path {
        &self.file
    }

    /// Sets what it says: see `driver.cpp`.
    pub fn set(&self, what: &str, value: i64) {
        let what = std::ffi::CString::new(what).expect("a name has no zero");
        // SAFETY: `driver.cpp` has the function with this type.
        let known = unsafe {
            let set: Symbol<'_, unsafe extern "C" fn(*const c_char, i64) -> c_int> =
                self.library.get("fake_set").expect("driver.cpp has the function");
            set(what.as_ptr(), value)
        };
        assert_ne!(known, 0, "driver.cpp knows {what:?}");
    }

    /// How many blocks the driver gave (`allocations`) and its pools (`from_pools`), how often a pool took more of the card (`grown`), somebody
    /// waited for a stream or an event (`waits`), or for copies back while the card had been asked for more (`ahead`), copies came back (`copies_back`), how often this thread is in the context of a card (`entered`),
    /// how many streams (`streams`) and blocks of pinned memory (`pinned`) are there.
    pub fn count(&self, what: &str) -> i64 {
        let what = std::ffi::CString::new(what).expect("a name has no zero");
        // SAFETY: `driver.cpp` has the function with this type.
        unsafe {
            let count: Symbol<'_, unsafe extern "C" fn(*const c_char) -> i64> =
                self.library.get("fake_count").expect("driver.cpp has the function");
            count(what.as_ptr())
        }
    }

    /// Bytes of the card that are taken.
    pub fn used(&self) -> i64 {
        // SAFETY: `driver.cpp` has the function with this type.
        unsafe {
            self.library.get::<unsafe extern "C" fn() -> i64>("fake_used").expect("driver.cpp has the function")()
        }
    }

    /// How often its functions were called, all but the names of errors.
    pub fn calls(&self) -> i64 {
        // SAFETY: `driver.cpp` has the function with this type.
        unsafe {
            self.library.get::<unsafe extern "C" fn() -> i64>("fake_calls").expect("driver.cpp has the function")()
        }
    }
}

impl Drop for FakeDriver {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.file);
    }
}
