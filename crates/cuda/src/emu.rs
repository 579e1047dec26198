//! The emulated card: the kernels compiled by the C++ compiler of this machine, a fiber for each thread of a block. It is for tests,
//! where no card is: the words are those of a card, the time is not.

use crate::{kernels, Error};
use std::ffi::{c_char, c_int, c_void, CStr, CString};
use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

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

/// Options of the compiler: nothing is fused unless the text says so, and longjmp between stacks is what fibers do.
const OPTIONS: &str = "-std=c++17 -O2 -march=native -ffp-contract=off -fno-strict-aliasing -fno-exceptions -fno-rtti \
                       -U_FORTIFY_SOURCE -fPIC -shared -w -x c++ -";

/// Kernels compiled for the emulator.
pub struct Program(Vec<u8>);

impl Program {
    /// The kernels of this crate.
    ///
    /// # Errors
    /// [`Error::Compiler`].
    pub fn new() -> Result<Self, Error> {
        Self::of(&kernels::text())
    }

    /// Kernels of another text: tests change one to see that the emulator notices.
    ///
    /// # Errors
    /// [`Error::Compiler`].
    pub fn of(text: &str) -> Result<Self, Error> {
        let (before, after) = (include_str!("../emulator/before.cpp"), include_str!("../emulator/after.cpp"));
        let whole = format!("#line 1 \"before.cpp\"\n{before}{text}#line 1 \"after.cpp\"\n{after}");
        let failed = |why: String| Error::Compiler { why };
        let file = temporary();
        let compiler = std::env::var("CXX").unwrap_or_else(|_| "c++".into());
        let mut command = Command::new(&compiler);
        command.args(OPTIONS.split_whitespace()).arg("-o").arg(&file).stdin(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().map_err(|e| failed(format!("{compiler}: {e}")))?;
        // The compiler reads all of its input before it writes.
        let written = child.stdin.take().map_or(Ok(()), |mut input| input.write_all(whole.as_bytes()));
        let output = child.wait_with_output().map_err(|e| failed(e.to_string()))?;
        let program = std::fs::read(&file);
        let _ = std::fs::remove_file(&file);
        match (output.status.success(), written.and(program)) {
            (true, Ok(program)) => Ok(Self(program)),
            (_, found) => Err(failed(format!("{}{:?}", String::from_utf8_lossy(&output.stderr), found.err()))),
        }
    }
}

/// A file of temporary files that no other process or thread has.
fn temporary() -> PathBuf {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    std::env::temp_dir().join(format!("aglet-emulator-{}-{count}.so", std::process::id()))
}

/// An emulated card with memory of its own. Launches run one after another on the thread that calls; clones are the same card.
#[derive(Clone)]
pub struct Emu {
    library: Arc<Library>,
    order: Order,
}

// The functions of `after.cpp`.
type Start = unsafe extern "C" fn() -> c_int;
type Stop = unsafe extern "C" fn();
type Allocate = unsafe extern "C" fn(u64) -> u64;
type Free = unsafe extern "C" fn(u64, u64);
type Upload = unsafe extern "C" fn(u64, *const u64, u64);
type Download = unsafe extern "C" fn(u64, *mut u64, u64) -> c_int;
type Launch = unsafe extern "C" fn(*const c_void, *const u64, *const u32, u32, u32, u32) -> *const c_char;

struct Library {
    handle: Handle,
    stop: Stop,
    allocate: Allocate,
    free: Free,
    upload: Upload,
    download: Download,
    launch: Launch,
    /// The library keeps its state in variables: one call at a time.
    busy: Mutex<()>,
}

/// What dlopen returned.
struct Handle(*mut c_void);

// SAFETY: handles of libraries may be used from any thread.
unsafe impl Send for Handle {}
// SAFETY: dlsym is the only use of a shared handle, and the C library allows it from several threads.
unsafe impl Sync for Handle {}

impl Drop for Handle {
    fn drop(&mut self) {
        // SAFETY: the handle is open, and nothing of the library is used after its owner.
        unsafe { libc::dlclose(self.0) };
    }
}

impl Handle {
    /// The address of a function of the library.
    fn find(&self, name: &str) -> Option<*mut c_void> {
        let name = CString::new(name).ok()?;
        // SAFETY: the handle is open, the name ends with a zero.
        let found = unsafe { libc::dlsym(self.0, name.as_ptr()) };
        (!found.is_null()).then_some(found)
    }
}

impl Library {
    /// A copy of the program, loaded from a file of its own: libraries of one file would share their state.
    fn new(program: &Program) -> Result<Self, Error> {
        let file = temporary();
        let folder = std::env::temp_dir().display().to_string();
        let failed = |why: String| Error::Load { folder: folder.clone(), why };
        std::fs::write(&file, &program.0).map_err(|e| failed(e.to_string()))?;
        let name = CString::new(file.as_os_str().as_encoded_bytes()).map_err(|e| failed(e.to_string()))?;
        // SAFETY: the name ends with a zero; the library was compiled from the text of this crate and runs nothing when it is loaded.
        let handle = Handle(unsafe { libc::dlopen(name.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL) });
        let _ = std::fs::remove_file(&file);
        if handle.0.is_null() {
            // The handle is none: dlclose must not see it.
            std::mem::forget(handle);
            return Err(failed("dlopen".into()));
        }
        let find = |name: &str| handle.find(name).ok_or_else(|| failed(format!("it has no {name}")));
        // SAFETY: `after.cpp`, which the library was compiled from, defines these functions with these types.
        let (start, library) = unsafe {
            let start = std::mem::transmute::<*mut c_void, Start>(find("emulator_start")?);
            let stop = std::mem::transmute::<*mut c_void, Stop>(find("emulator_stop")?);
            let allocate = std::mem::transmute::<*mut c_void, Allocate>(find("emulator_allocate")?);
            let free = std::mem::transmute::<*mut c_void, Free>(find("emulator_free")?);
            let upload = std::mem::transmute::<*mut c_void, Upload>(find("emulator_upload")?);
            let download = std::mem::transmute::<*mut c_void, Download>(find("emulator_download")?);
            let launch = std::mem::transmute::<*mut c_void, Launch>(find("emulator_launch")?);
            (start, Self { handle, stop, allocate, free, upload, download, launch, busy: Mutex::default() })
        };
        // SAFETY: it is the first call to this copy of the library.
        match unsafe { start() } {
            0 => Err(Error::Memory { bytes: 8 << 30 }),
            _ => Ok(library),
        }
    }

    fn alone(&self) -> MutexGuard<'_, ()> {
        self.busy.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Library {
    fn drop(&mut self) {
        // SAFETY: all blocks, which hold the library, are gone.
        unsafe { (self.stop)() };
    }
}

impl Emu {
    /// A card whose threads take turns in this order.
    ///
    /// # Errors
    /// [`Error::Load`], [`Error::Memory`].
    pub fn new(program: &Program, order: Order) -> Result<Self, Error> {
        Ok(Self { library: Arc::new(Library::new(program)?), order })
    }

    /// Whether it is the same card.
    pub(crate) fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.library, &other.library)
    }

    /// Words that nobody has written.
    pub(crate) fn allocate(&self, words: usize) -> Result<Block, Error> {
        let _alone = self.library.alone();
        // SAFETY: nobody else calls the library meanwhile.
        match unsafe { (self.library.allocate)(words as u64) } {
            0 => Err(Error::Memory { bytes: 8 * words }),
            address => Ok(Block { address, words, library: self.library.clone() }),
        }
    }

    /// A block with these words.
    pub(crate) fn upload(&self, words: &[u64]) -> Result<Block, Error> {
        let block = self.allocate(words.len())?;
        block.write(0, words);
        Ok(block)
    }

    /// Runs a kernel on `grid` blocks of so many threads: parameters are the words of its structure.
    pub(crate) fn launch(
        &self,
        kernel: &str,
        grid: [u32; 3],
        (threads, shared_bytes): (u32, u32),
        parameters: &[u64],
    ) -> Result<(), Error> {
        let failed = |what: String| Error::Kernel { kernel: kernel.into(), what };
        let library = &self.library;
        let function = library.handle.find(kernel).ok_or_else(|| failed("there is no such kernel".into()))?;
        let _alone = library.alone();
        // SAFETY: nobody else calls the library meanwhile; what kernels read and write is checked against the blocks there are, and
        // the text of the fault stays until the next launch.
        unsafe {
            let order = self.order as u32;
            let fault = (library.launch)(function, parameters.as_ptr(), grid.as_ptr(), threads, shared_bytes, order);
            match fault.is_null() {
                true => Ok(()),
                false => Err(failed(CStr::from_ptr(fault).to_string_lossy().into_owned())),
            }
        }
    }
}

/// Words in the memory of a card.
pub(crate) struct Block {
    address: u64,
    words: usize,
    library: Arc<Library>,
}

impl Block {
    /// The address of word `at`, one of the block.
    pub(crate) fn address(&self, at: usize) -> u64 {
        assert!(at < self.words, "a block has the word");
        self.address + 8 * at as u64
    }

    /// Writes words from `at` on.
    pub(crate) fn write(&self, at: usize, words: &[u64]) {
        assert!(at + words.len() <= self.words, "a block has room for what is written");
        let _alone = self.library.alone();
        // SAFETY: nobody else calls the library meanwhile; the words are in the block.
        unsafe { (self.library.upload)(self.address + 8 * at as u64, words.as_ptr(), words.len() as u64) };
    }

    /// Reads words from `at` on.
    pub(crate) fn read(&self, at: usize, words: &mut [u64]) -> Result<(), Error> {
        assert!(at + words.len() <= self.words, "a block has what is read");
        let _alone = self.library.alone();
        // SAFETY: nobody else calls the library meanwhile; the words are in the block.
        let written =
            unsafe { (self.library.download)(self.address + 8 * at as u64, words.as_mut_ptr(), words.len() as u64) };
        let failed = || Error::Kernel { kernel: "before a download".into(), what: "a word was left unwritten".into() };
        (written != 0).then_some(()).ok_or_else(failed)
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        let _alone = self.library.alone();
        // SAFETY: nobody else calls the library meanwhile; the block was allocated there, and nothing has its address any more.
        unsafe { (self.library.free)(self.address, self.words as u64) };
    }
}
