//! A card by the driver of CUDA, a library that is found when the program runs: no part of CUDA is linked.

mod functions;
mod landing;
mod memory;
mod pinned;
mod sequence;
mod staging;

use crate::{kernels, Arithmetic, Error, Launcher, Row};
pub use functions::CardInfo;
use functions::{
    Cuda, Functions, Handle, DYNAMIC_SHARED, NOT_FOUND, OUT_OF_MEMORY, PARAMETERS, PARAMETER_BYTES, REFUSED,
};
use landing::Landings;
use memory::{bytes, Memory};
use pinned::Pinned;
use sequence::Sequence;
use staging::Staging;
use std::collections::HashMap;
use std::ffi::{c_int, c_void, CString, OsString};
use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Names the library of the driver where it is no other place's.
pub const LIBRARY_VARIABLE: &str = "AGLET_CUDA_DRIVER";
/// Has a card that is opened wait at the end of each stage of a bootstrap, so that its time is that of the card's work.
pub const WAIT_VARIABLE: &str = "AGLET_CUDA_WAIT";
/// Where the system has it.
const LIBRARY: &str = if cfg!(windows) { "nvcuda.dll" } else { "libcuda.so.1" };
/// The version of CUDA whose drivers know the instructions of our PTX, as drivers count.
const NEEDED: c_int = 12080;
/// Compute capability that kernels are compiled for.
const CAPABILITY: c_int = 8;
/// What the code of a kernel may take of the card: drivers take memory by such pieces.
const CODE: usize = 2 << 20;
/// Shared memory that a kernel has without asking.
const SHARED: u32 = 48 << 10;

/// A card, with the kernels of this crate on it. All work is one sequence.
pub struct Driver {
    /// The driver's functions, and the stream of all work.
    sequence: Sequence,
    info: CardInfo,
    device: c_int,
    context: Handle,
    module: Handle,
    /// Whether the kernels are those for its compute capability, or PTX that the driver compiled.
    compiled: bool,
    /// Whether it waits at the end of stages.
    waits: bool,
    /// The process that opened it: children of a fork have no part in it.
    process: u32,
    state: Mutex<State>,
}

/// What changes.
#[derive(Default)]
struct State {
    /// By name: the handle, and the shared memory that it may have.
    kernels: HashMap<String, (Handle, u32)>,
    /// Where blocks come from.
    memory: Memory,
    /// What copies there go through without waiting; none where no memory could be pinned.
    staging: Option<Staging>,
    /// What copies back go through.
    landings: Landings,
    /// The call that lost the card, and its status.
    lost: Option<(&'static str, String)>,
}

impl fmt::Debug for Driver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Driver({})", self.info)
    }
}

impl Driver {
    /// The cards of this machine. No memory is taken on them.
    ///
    /// # Errors
    /// [`Error::Driver`], [`Error::Symbol`], [`Error::Stub`], [`Error::OldDriver`], [`Error::NoCard`].
    pub fn cards() -> Result<Vec<CardInfo>, Error> {
        Ok(Cuda::start(None)?.cards)
    }

    /// Opens a card, by the driver that `library` names: by default that of [`LIBRARY_VARIABLE`] or of the system. Where there is no code of the
    /// kernels for it, the driver compiles them, and remembers them.
    ///
    /// # Errors
    /// Those of [`Driver::cards`]; [`Error::Index`], [`Error::Capability`], [`Error::Memory`], [`Error::Lost`].
    pub fn open(library: Option<OsString>, index: usize) -> Result<Self, Error> {
        let Cuda { functions, cards } = Cuda::start(library)?;
        let list = || cards.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ");
        let info = cards.get(index).cloned().ok_or_else(|| Error::Index { index, cards: list() })?;
        if info.capability.0 < CAPABILITY.unsigned_abs() {
            return Err(Error::Capability { card: info.to_string() });
        }
        let device = functions.ordinal(index as c_int)?;
        let mut context = 0;
        // SAFETY: `context` is where the handle goes; the device is one of the driver's.
        functions.started("cuDevicePrimaryCtxRetain", unsafe { (functions.retain)(&mut context, device) })?;
        // From here on what was taken is given back when it is dropped.
        let process = std::process::id();
        let state = Mutex::default();
        let waits = std::env::var_os(WAIT_VARIABLE).is_some_and(|value| !value.is_empty());
        let sequence = Sequence::new(functions);
        let mut driver = Self { sequence, info, device, context, module: 0, compiled: true, waits, process, state };
        driver.sequence.stream = driver.on_card(|_| driver.sequence.made())?;
        match driver.cubin()? {
            Some(module) => driver.module = module,
            None => (driver.module, driver.compiled) = (driver.load(&[kernels::ptx(), vec![0]].concat())?, false),
        }
        driver.on_card(|state| {
            state.staging = Staging::new(driver.functions())?;
            state.memory = Memory::new(&driver.sequence, driver.device, driver.info.memory)?;
            Ok(())
        })?;
        Ok(driver)
    }

    fn functions(&self) -> &Functions {
        &self.sequence.functions
    }

    /// The kernels as code of this card; none if there is none, or if the driver does not take it.
    fn cubin(&self) -> Result<Option<Handle>, Error> {
        let Some(image) = kernels::cubin(self.info.capability) else { return Ok(None) };
        match self.load(&image) {
            Err(Error::Ptx { .. }) => Ok(None),
            module => module.map(Some),
        }
    }

    /// Loads kernels: a cubin, or PTX that ends with a zero.
    fn load(&self, image: &[u8]) -> Result<Handle, Error> {
        self.on_card(|_| {
            let mut module = 0;
            // SAFETY: the driver reads as far as the header of a cubin says, or to a zero; `module` is where the handle goes.
            match unsafe { (self.functions().load)(&mut module, image.as_ptr().cast()) } {
                OUT_OF_MEMORY => Err(self.no_memory(image.len())),
                status if REFUSED.contains(&status) => Err(Error::Ptx { status: self.functions().named(status) }),
                status => self.functions().done("cuModuleLoadData", status).map(|()| module),
            }
        })
    }

    /// Whether its kernels came as code for its compute capability; if not, the driver compiled PTX.
    #[must_use]
    pub fn has_own_code(&self) -> bool {
        self.compiled
    }

    /// The same, waiting at the end of stages, as one that is opened with [`WAIT_VARIABLE`] in the environment does.
    #[must_use]
    pub fn that_waits(mut self) -> Self {
        self.waits = true;
        self
    }

    /// What was found about the card.
    #[must_use]
    pub fn info(&self) -> &CardInfo {
        &self.info
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs calls of the driver in the card's context, one after another; none after the card was lost, or in a child of a fork.
    fn on_card<T>(&self, work: impl FnOnce(&mut State) -> Result<T, Error>) -> Result<T, Error> {
        let mut state = self.usable()?;
        let done = self.in_context(|| work(&mut state));
        noted(&mut state, done)
    }

    /// The same of calls that wait, while other threads ask the card for more.
    fn beside_others<T>(&self, work: impl FnOnce() -> Result<T, Error>) -> Result<T, Error> {
        drop(self.usable()?);
        let done = self.in_context(work);
        noted(&mut self.state(), done)
    }

    /// The state of a card that is this process's and was not lost.
    fn usable(&self) -> Result<MutexGuard<'_, State>, Error> {
        if std::process::id() != self.process {
            return Err(Error::Forked);
        }
        let state = self.state();
        match state.lost.clone() {
            Some((call, status)) => Err(Error::Lost { call, status }),
            None => Ok(state),
        }
    }

    /// Runs calls in the context of the card. What the thread had before is its own again afterwards: other libraries of the process rely on theirs.
    fn in_context<T>(&self, work: impl FnOnce() -> Result<T, Error>) -> Result<T, Error> {
        // SAFETY: the context is there until the driver is dropped.
        self.functions().done("cuCtxPushCurrent", unsafe { (self.functions().enter)(self.context) })?;
        let done = work();
        // SAFETY: `left` is where the handle goes, of the context that was entered.
        let popped = self
            .functions()
            .number("cuCtxPopCurrent", |left: *mut Handle| unsafe { (self.functions().leave_context)(left) });
        done.and_then(|made| popped.map(|_| made))
    }

    /// Copies to rows of this machine as they are, where there is no pinned memory: a wait behind all of them.
    fn read_rows(&self, rows: Vec<Row<'_>>) -> Result<(), Error> {
        for Row { block, at, words } in rows {
            // SAFETY: a block of the card has the words: callers see to it. There is room for them until the copies were waited for.
            unsafe { self.sequence.copy_back(words.as_mut_ptr(), block + 8 * at as u64, words.len())? };
        }
        self.sequence.wait()
    }

    /// Waits for what was asked for, and copies it to its rows.
    fn landed(&self, (block, rows): (Pinned, Vec<Row<'_>>)) -> Result<(), Error> {
        self.beside_others(|| block.wait(&self.sequence))?;
        // Without the lock, as threads that copy may come back for more.
        landing::spread(&block, rows);
        self.state().landings.leave(block);
        Ok(())
    }

    /// Bytes that the driver has left.
    fn left(&self) -> Result<usize, Error> {
        let (mut free, mut whole) = (0, 0);
        // SAFETY: the two numbers go to these places.
        let status = unsafe { (self.functions().memory)(&mut free, &mut whole) };
        self.functions().done("cuMemGetInfo", status).map(|()| free)
    }

    /// That so many bytes could not be had.
    fn no_memory(&self, bytes: usize) -> Error {
        Error::Memory { bytes, free: self.left().unwrap_or_default() }
    }

    /// The handle of a kernel that may have so much shared memory.
    fn kernel(&self, state: &mut State, name: &str, shared: u32) -> Result<Handle, Error> {
        let failed = |what: &str| Error::Kernel { kernel: name.into(), what: what.into() };
        let (handle, allowed) = match state.kernels.get(name) {
            Some(&known) => known,
            None => {
                let text = CString::new(name).map_err(|_| failed("its name has a zero"))?;
                let mut handle = 0;
                // SAFETY: the name ends with a zero, the module is loaded, and `handle` is where the handle goes.
                match unsafe { (self.functions().function)(&mut handle, self.module, text.as_ptr()) } {
                    NOT_FOUND => return Err(failed("there is no such kernel")),
                    status => self.functions().done("cuModuleGetFunction", status)?,
                }
                (handle, SHARED)
            }
        };
        if shared > allowed {
            // SAFETY: the handle is that of a kernel of the module.
            let status = unsafe { (self.functions().set_attribute)(handle, DYNAMIC_SHARED, shared as c_int) };
            self.functions().done("cuFuncSetAttribute", status)?;
        }
        state.kernels.insert(name.into(), (handle, allowed.max(shared)));
        Ok(handle)
    }
}

/// Keeps that the card was lost.
fn noted<T>(state: &mut State, done: Result<T, Error>) -> Result<T, Error> {
    if let Err(Error::Lost { call, status }) = &done {
        state.lost = Some((call, status.clone()));
    }
    done
}

impl Launcher for Driver {
    fn name(&self) -> String {
        self.info.name.clone()
    }
    fn arithmetic(&self) -> Arithmetic {
        self.info.arithmetic
    }

    fn free_bytes(&self) -> Result<u64, Error> {
        self.on_card(|state| Ok(self.left()? as u64 + state.memory.idle_bytes(&self.sequence)?))
    }

    fn allocate(&self, words: usize) -> Result<u64, Error> {
        let bytes = bytes(words);
        self.on_card(|state| state.memory.take(&self.sequence, bytes)?.ok_or_else(|| self.no_memory(bytes)))
    }

    fn free(&self, address: u64, words: usize) {
        // Where the card is lost, or is another process's, there is nothing to give back.
        let _ = self.on_card(|state| state.memory.leave(&self.sequence, address, bytes(words)));
    }

    fn write(&self, address: u64, words: &[u64]) -> Result<(), Error> {
        self.on_card(|state| {
            if words.is_empty() {
                return Ok(());
            }
            if let Some(staging) = state.staging.as_mut() {
                return staging.write(&self.sequence, address, words);
            }
            // SAFETY: a block of the card has room for the words: callers see to it. They are there until the copy was waited for.
            unsafe { self.sequence.copy_there(address, words.as_ptr(), words.len())? };
            self.sequence.wait()
        })
    }

    fn read(&self, parts: Vec<Vec<Row<'_>>>) -> Result<(), Error> {
        let mut before = None;
        for rows in parts {
            let rows: Vec<Row<'_>> = rows.into_iter().filter(|row| !row.words.is_empty()).collect();
            if rows.is_empty() {
                continue;
            }
            // A block that waits for copies when the card is lost goes with the card.
            let asked = self.on_card(|state| match state.landings.take(self.functions())? {
                Some(block) => landing::ask(&self.sequence, &block, &rows).map(|()| Some(block)),
                None => Ok(None),
            })?;
            // While the words before these go to their places, the card copies these.
            before.take().map_or(Ok(()), |part| self.landed(part))?;
            match asked {
                Some(block) => before = Some((block, rows)),
                None => self.on_card(|_| self.read_rows(rows))?,
            }
        }
        before.map_or(Ok(()), |part| self.landed(part))
    }

    fn wait_for_all(&self) -> Result<(), Error> {
        if !self.waits {
            return Ok(());
        }
        self.on_card(|_| self.sequence.wait())
    }

    fn launch(
        &self,
        kernel: &str,
        [x, y, z]: [u32; 3],
        (threads, shared): (u32, u32),
        parameters: &[u64],
    ) -> Result<(), Error> {
        self.on_card(|state| {
            let handle = self.kernel(state, kernel, shared)?;
            let mut size = size_of_val(parameters);
            let size = std::ptr::from_mut(&mut size).cast::<c_void>();
            let parameters = parameters.as_ptr().cast_mut().cast::<c_void>();
            let none = std::ptr::null_mut();
            // The list of names and values that the driver takes; the names are small numbers.
            let name = std::ptr::without_provenance_mut;
            let mut extra = [name(PARAMETERS), parameters, name(PARAMETER_BYTES), size, none];
            let (launch, stream) = (self.functions().launch, self.sequence.stream);
            // SAFETY: the kernel is one of the module, and takes a structure of these words (tests compare its size); the list and what it
            // points to are only read, before the call returns. Kernels touch the blocks that the words name: callers see to it.
            let mut launched =
                || unsafe { launch(handle, x, y, z, threads, 1, 1, shared, stream, none.cast(), extra.as_mut_ptr()) };
            // A driver may put the code of a kernel there when it first runs.
            let status = match launched() {
                OUT_OF_MEMORY => state.memory.give_back(&self.sequence).map(|()| launched())?,
                status => status,
            };
            match status {
                OUT_OF_MEMORY => Err(self.no_memory(CODE)),
                status => self.functions().done("cuLaunchKernel", status),
            }
        })
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        let _ = self.on_card(|state| {
            if self.sequence.stream == 0 {
                return Ok(());
            }
            self.sequence.wait()?;
            if let Some(staging) = state.staging.take() {
                staging.unpin(self.functions())?;
            }
            std::mem::take(&mut state.landings).unpin(self.functions())?;
            std::mem::take(&mut state.memory).close(&self.sequence)?;
            self.sequence.close()?;
            // SAFETY: nothing is launched any more, and nothing has a handle of the module.
            self.functions().done("cuModuleUnload", unsafe { (self.functions().unload)(self.module) })
        });
        if std::process::id() == self.process {
            // SAFETY: it was retained once.
            unsafe { (self.functions().release)(self.device) };
        }
    }
}
