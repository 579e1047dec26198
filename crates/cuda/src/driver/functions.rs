//! The functions of NVIDIA's driver that are called, and the cards that it finds.

use super::memory::PoolShape;
use super::{LIBRARY, LIBRARY_VARIABLE, NEEDED};
use crate::{Arithmetic, Error};
use libloading::Library;
use std::error::Error as _;
use std::ffi::{c_char, c_int, c_uint, c_void, CStr, OsString};
use std::fmt;

/// What a function of the driver returns, 0 for success.
pub(super) type Status = c_int;
/// What the driver gives instead of a pointer that means something here.
pub(super) type Handle = usize;

pub(super) const OUT_OF_MEMORY: Status = 2;
const STUB_LIBRARY: Status = 34;
const NO_DEVICE: Status = 100;
const INVALID_IMAGE: Status = 200;
const NO_BINARY: Status = 209;
const INVALID_PTX: Status = 218;
const NO_COMPILER: Status = 221;
const UNSUPPORTED_PTX: Status = 222;
const NO_COMPILING: Status = 223;
/// What is said of code that is not for this card, or that the driver does not know or cannot compile.
pub(super) const REFUSED: [Status; 6] =
    [INVALID_IMAGE, NO_BINARY, INVALID_PTX, NO_COMPILER, UNSUPPORTED_PTX, NO_COMPILING];
const OPERATING_SYSTEM: Status = 304;
pub(super) const NOT_FOUND: Status = 500;
const NOT_PERMITTED: Status = 800;
const NOT_SUPPORTED: Status = 801;
/// What is said where a virtual machine lends a card without pools or pinned memory.
pub(super) const WITHHELD: [Status; 3] = [OPERATING_SYSTEM, NOT_PERMITTED, NOT_SUPPORTED];

// Attributes of devices and of functions, as `cuda.h` numbers them.
const MAJOR: c_int = 75;
const MINOR: c_int = 76;
const SINGLE_TO_DOUBLE: c_int = 87;
pub(super) const DYNAMIC_SHARED: c_int = 8;
// How the words of a kernel's structure are handed over.
pub(super) const PARAMETERS: usize = 1;
pub(super) const PARAMETER_BYTES: usize = 2;
// Events are waited for, not timed.
pub(super) const UNTIMED: c_uint = 2;
/// A stream that work of the default one neither waits for nor holds up.
pub(super) const NON_BLOCKING: c_uint = 1;

/// Declares the functions of the driver, and finds them.
macro_rules! functions {
    ($($name:ident = $symbol:literal ($($argument:ty),*);)*) => {
        pub(super) struct Functions {
            $(pub(super) $name: unsafe extern "C" fn($($argument),*) -> Status,)*
            /// The functions are in it.
            _library: Library,
        }
        impl Functions {
            fn of(library: Library, place: &str) -> Result<Self, Error> {
                $(
                    // SAFETY: the driver has the function of this name with these arguments in every version; the library outlives it.
                    let $name = unsafe { library.get::<unsafe extern "C" fn($($argument),*) -> Status>($symbol) };
                    let $name = *$name.map_err(|_| Error::Symbol {
                        library: place.into(),
                        symbol: String::from_utf8_lossy($symbol).into_owned(),
                    })?;
                )*
                Ok(Self { $($name,)* _library: library })
            }
        }
    };
}
functions! {
    init = b"cuInit" (c_uint);
    version = b"cuDriverGetVersion" (*mut c_int);
    device_count = b"cuDeviceGetCount" (*mut c_int);
    device = b"cuDeviceGet" (*mut c_int, c_int);
    device_name = b"cuDeviceGetName" (*mut c_char, c_int, c_int);
    device_memory = b"cuDeviceTotalMem_v2" (*mut usize, c_int);
    attribute = b"cuDeviceGetAttribute" (*mut c_int, c_int, c_int);
    retain = b"cuDevicePrimaryCtxRetain" (*mut Handle, c_int);
    release = b"cuDevicePrimaryCtxRelease_v2" (c_int);
    enter = b"cuCtxPushCurrent_v2" (Handle);
    leave_context = b"cuCtxPopCurrent_v2" (*mut Handle);
    load = b"cuModuleLoadData" (*mut Handle, *const c_void);
    unload = b"cuModuleUnload" (Handle);
    function = b"cuModuleGetFunction" (*mut Handle, Handle, *const c_char);
    set_attribute = b"cuFuncSetAttribute" (Handle, c_int, c_int);
    memory = b"cuMemGetInfo_v2" (*mut usize, *mut usize);
    allocate = b"cuMemAlloc_v2" (*mut u64, usize);
    free = b"cuMemFree_v2" (u64);
    pool = b"cuMemPoolCreate" (*mut Handle, *const PoolShape);
    drop_pool = b"cuMemPoolDestroy" (Handle);
    set_pool = b"cuMemPoolSetAttribute" (Handle, c_int, *mut c_void);
    pool_attribute = b"cuMemPoolGetAttribute" (Handle, c_int, *mut c_void);
    trim = b"cuMemPoolTrimTo" (Handle, usize);
    take = b"cuMemAllocFromPoolAsync" (*mut u64, usize, Handle, Handle);
    leave = b"cuMemFreeAsync" (u64, Handle);
    stream = b"cuStreamCreate" (*mut Handle, c_uint);
    wait_for_stream = b"cuStreamSynchronize" (Handle);
    drop_stream = b"cuStreamDestroy_v2" (Handle);
    write = b"cuMemcpyHtoDAsync_v2" (u64, *const c_void, usize, Handle);
    read = b"cuMemcpyDtoHAsync_v2" (*mut c_void, u64, usize, Handle);
    pin = b"cuMemHostAlloc" (*mut Handle, usize, c_uint);
    unpin = b"cuMemFreeHost" (*mut c_void);
    event = b"cuEventCreate" (*mut Handle, c_uint);
    drop_event = b"cuEventDestroy_v2" (Handle);
    record = b"cuEventRecord" (Handle, Handle);
    wait = b"cuEventSynchronize" (Handle);
    launch = b"cuLaunchKernel" (
        Handle, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, Handle, *mut *mut c_void, *mut *mut c_void
    );
    error_name = b"cuGetErrorName" (Status, *mut *const c_char);
}

/// A card that the driver finds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CardInfo {
    /// Its number for the driver, from 0.
    pub index: usize,
    /// Its name.
    pub name: String,
    /// Its compute capability.
    pub capability: (u32, u32),
    /// Bytes of its memory.
    pub memory: u64,
    /// The arithmetic that is quicker there.
    pub arithmetic: Arithmetic,
}

impl fmt::Display for CardInfo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { index, name, capability: (major, minor), memory, .. } = self;
        write!(f, "{index}: {name}, compute capability {major}.{minor}, {} GB", memory / 1_000_000_000)
    }
}

/// The driver, before a card is chosen.
pub(super) struct Cuda {
    pub(super) functions: Functions,
    pub(super) cards: Vec<CardInfo>,
}

impl Cuda {
    /// Loads the driver and lists its cards.
    pub(super) fn start(library: Option<OsString>) -> Result<Self, Error> {
        // One that a caller names goes with it: tests load hundreds of them.
        let kept = library.is_none();
        let named = library.or_else(|| std::env::var_os(LIBRARY_VARIABLE)).unwrap_or_else(|| LIBRARY.into());
        let place = named.to_string_lossy().into_owned();
        // SAFETY: the user names the library, or the system has it: its constructors are those of a driver, and are trusted as it is.
        let library = unsafe { Library::new(&named) };
        // The system's sentence begins with the library, which ours names already.
        let why = |e: libloading::Error| {
            let said = e.source().map_or_else(|| e.to_string(), ToString::to_string);
            said.strip_prefix(&format!("{place}: ")).map_or_else(|| said.clone(), ToString::to_string)
        };
        let library = library.map_err(|e| Error::Driver { library: place.clone(), why: why(e) })?;
        if kept {
            // A driver has threads of its own, and things to do when the process ends: it is never unloaded.
            // SAFETY: as above; it is loaded already, and counts one more user for ever.
            std::mem::forget(unsafe { Library::new(&named) });
        }
        let functions = Functions::of(library, &place)?;
        let mut cuda = Self { functions, cards: Vec::new() };
        // SAFETY: it is the first call, and its only flag is 0.
        match unsafe { (cuda.functions.init)(0) } {
            STUB_LIBRARY => return Err(Error::Stub { library: place }),
            NO_DEVICE => return Err(Error::NoCard),
            status => cuda.functions.started("cuInit", status)?,
        }
        let version = cuda.functions.number("cuDriverGetVersion", |found| {
            // SAFETY: `found` is where the number goes.
            unsafe { (cuda.functions.version)(found) }
        })?;
        if version < NEEDED {
            return Err(Error::OldDriver { found: versions(version), needed: versions(NEEDED) });
        }
        let count = cuda.functions.number("cuDeviceGetCount", |found| {
            // SAFETY: as above.
            unsafe { (cuda.functions.device_count)(found) }
        })?;
        if count == 0 {
            return Err(Error::NoCard);
        }
        cuda.cards = (0..count).map(|index| cuda.functions.card(index)).collect::<Result<_, _>>()?;
        Ok(cuda)
    }
}

/// A version as people write it.
fn versions(number: c_int) -> String {
    format!("{}.{}", number / 1000, number % 1000 / 10)
}

impl Functions {
    /// Success, or the failure of a call.
    pub(super) fn done(&self, call: &'static str, status: Status) -> Result<(), Error> {
        if status == 0 {
            return Ok(());
        }
        Err(Error::Lost { call, status: self.named(status) })
    }

    /// Success, or that a driver does not start.
    pub(super) fn started(&self, call: &'static str, status: Status) -> Result<(), Error> {
        match status {
            0 => Ok(()),
            status => Err(Error::Start { call, status: self.named(status) }),
        }
    }

    /// What the driver calls a status.
    pub(super) fn named(&self, status: Status) -> String {
        let mut name: *const c_char = std::ptr::null();
        // SAFETY: `name` is where the address of a text goes, which the library has for ever; null for numbers that it does not know.
        let known = unsafe { (self.error_name)(status, &mut name) } == 0 && !name.is_null();
        // SAFETY: it is no null, and a text of the library.
        let name = known.then(|| unsafe { CStr::from_ptr(name) }.to_string_lossy().into_owned());
        name.unwrap_or_else(|| format!("status {status}"))
    }

    /// The number that a call writes.
    pub(super) fn number<T: Default>(&self, call: &'static str, of: impl FnOnce(*mut T) -> Status) -> Result<T, Error> {
        let mut found = T::default();
        self.done(call, of(&mut found))?;
        Ok(found)
    }

    /// The number of a device that the driver counts by.
    pub(super) fn ordinal(&self, index: c_int) -> Result<c_int, Error> {
        // SAFETY: `found` is where the number goes, in this call and the following.
        self.number("cuDeviceGet", |found| unsafe { (self.device)(found, index) })
    }

    fn card(&self, index: c_int) -> Result<CardInfo, Error> {
        let device = self.ordinal(index)?;
        let attribute = |which| {
            // SAFETY: as above.
            self.number("cuDeviceGetAttribute", |found| unsafe { (self.attribute)(found, which, device) })
        };
        // SAFETY: as above.
        let memory: usize = self.number("cuDeviceTotalMem", |found| unsafe { (self.device_memory)(found, device) })?;
        let (major, minor, ratio) = (attribute(MAJOR)?, attribute(MINOR)?, attribute(SINGLE_TO_DOUBLE)?);
        let mut name = [0u8; 256];
        // SAFETY: the name goes to these bytes, of which there are as many as is said; it ends with a zero.
        let status = unsafe { (self.device_name)(name.as_mut_ptr().cast(), name.len() as c_int, device) };
        self.done("cuDeviceGetName", status)?;
        let name = CStr::from_bytes_until_nul(&name).unwrap_or_default().to_string_lossy().into_owned();
        // Doubles at half the rate of floats: the cards of data centers. Older ones multiply words as quickly.
        let arithmetic = if ratio == 2 && major >= 9 { Arithmetic::F50 } else { Arithmetic::S64 };
        let capability = (major.unsigned_abs(), minor.unsigned_abs());
        Ok(CardInfo { index: index as usize, name, capability, memory: memory as u64, arithmetic })
    }
}
