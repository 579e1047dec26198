// The functions of NVIDIA's driver over the emulated card, as far as Aglet calls them. They check what a real driver checks of a launch: the bytes of
// a kernel's parameters and its threads against the PTX or the cubin that was loaded, and shared memory against what was asked for. A test sets what the driver
// says of itself, and the call that fails.
//
// Launches and asynchronous copies are done as late as a card may do them: when somebody waits for their stream. So a copy there reads its source then;
// one that changed since it was asked for is an error. A copy back writes then, and until then has spoilt where it goes. What a kernel did wrong is
// known at the next wait. The default stream is taken for nothing: who asks for it is refused.
#include <dlfcn.h>
#include <pthread.h>

namespace fake {
struct Setting { const char *name; long value; };
static Setting settings[] = {
    {"version", 12080}, {"cards", 1}, {"major", 9}, {"ratio", 2}, {"memory", 8l << 30}, {"init", 0}, {"fail_at", 0}, {"fail_status", 0}, {"ptx", 0}, {"cubin", 0}, {"order", 2}, {"spoil", 0}, {"late", 1}, {"pin", 0}, {"retain", 0}, {"pool", 0}, {"from_pool", 0}, {"wait", 1}, {"pools", 1}, {"stream", 0},
};
static long &setting(const char *name) {
    static long nothing;
    for (Setting &s : settings)
        if (!strcmp(s.name, name)) return s.value;
    return nothing;
}
struct Kernel { char name[64]; u64 parameter_bytes; u32 threads; void (*function)(const void *); u32 shared; };
static Kernel list[256];
static u64 kernel_count, used, sizes[1 << 23];
// A pool: bytes that it has of the card, those in use as calls come and as they are done, those that it keeps, and how often it took more.
struct Pool { bool there; u64 reserved, live, settled, kept; };
static Pool pools[256];
// The pool of a block, counted from 1; blocks of none have 0.
static unsigned char pool_of[1 << 23];
static long calls, allocations, from_pools, grown, waits, ahead, copies_back, streams_there;
// What the card has not left, without what is said in parentheses.
static u64 taken(const Pool *but) {
    u64 all = used;
    for (Pool &p : pools)
        if (&p != but) all += p.reserved;
    return all;
}
static const u64 CHUNK = 2 << 20;
// How often the calling thread entered the context.
static thread_local int entered;
static int lost;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
// One call at a time, as the card keeps its state in variables.
struct Alone {
    Alone() { pthread_mutex_lock(&mutex); }
    ~Alone() { pthread_mutex_unlock(&mutex); }
};
// The status with which this call fails, or 0: what a lost card said it says for ever.
static int begin() {
    calls++;
    if (calls == setting("fail_at")) {
        int status = (int)setting("fail_status");
        return lost = status >= 700 ? status : 0, status;
    }
    return lost;
}
// What the card was asked for and has not done: a launch, a copy there with the words that its source had, a copy back, or the end of a block of a pool.
enum Kind { LAUNCH, THERE, BACK, END };
struct Task { Kind kind; Kernel *kernel; u32 grid[3], threads, shared; u64 *words, at, bytes; const u64 *from; u64 *to; };
struct Stream { bool there; Task *tasks; u64 asked, done, room; Kind last; };
static Stream streams[256];
static bool is_there(const Stream *s) { return s >= streams && s < streams + 256 && s->there; }
// Behind so many tasks of a stream, the last of which copies back or does not.
struct Event { Stream *of; u64 behind; bool back; };
// Memory of this machine that the card reads: each driver that was opened has a block.
static struct Pinned { char *at; u64 bytes; } pinned[256];
static Pinned *pinned_with(const void *at, u64 bytes) {
    for (Pinned &p : pinned)
        if (p.at && p.at <= (char *)at && (char *)at + bytes <= p.at + p.bytes) return &p;
    return nullptr;
}
// The arrays of a task go when it was done. Memory of this machine that does not suffice ends the test.
static u64 *copied(const u64 *words, u64 bytes) {
    u64 *own = (u64 *)malloc(bytes);
    return own ? (u64 *)memcpy(own, words, bytes) : (abort(), own);
}
static void perform(const Task &t) {
    if (t.kind == LAUNCH) {
        const char *what = lost ? nullptr : emulator_launch(t.kernel->function, t.words, t.grid, t.threads, t.shared, (u32)setting("order"));
        if (what) fprintf(stderr, "%s: %s\n", t.kernel->name, what), lost = 719;
    } else if (t.kind == END) {
        u64 page = (t.at - (u64)arena) / PAGE;
        pools[pool_of[page] - 1].settled -= t.bytes, pool_of[page] = 0;
        emulator_free(t.at, t.bytes / 8);
    } else if (t.kind == BACK && !lost) {
        // A card knows no word that nobody wrote: here it is an error of ours.
        if (!emulator_has(t.at, t.bytes / 8) || !emulator_download(t.at, t.to, t.bytes / 8)) fprintf(stderr, "a copy back finds words that nobody wrote\n"), lost = 719;
        // A card that computes wrong words.
        if (setting("spoil")) t.to[0] ^= 1;
    } else if (!lost) {
        if (memcmp(t.words, t.from, t.bytes)) fprintf(stderr, "a copy finds other words than when it was asked for\n"), lost = 719;
        else if (!emulator_has(t.at, t.bytes / 8)) fprintf(stderr, "a copy goes where nothing is\n"), lost = 719;
        else emulator_upload(t.at, t.from, t.bytes / 8);
    }
    free(t.words);
}
// Does the first so many of all tasks that a stream was asked for; the status of what went wrong. Whoever waits finds that pools gave back what they
// do not keep.
static int perform_until(Stream &s, u64 count) {
    while (s.done < count) perform(s.tasks[s.done++ % s.room]);
    for (Pool &p : pools)
        if (p.reserved > p.kept) p.reserved = p.kept > p.settled ? p.kept : p.settled;
    return lost;
}
static int ask(Stream &s, Task t) {
    if (s.asked - s.done == s.room) {
        // A ring: the tasks that are left stand at the same numbers of a larger one.
        u64 more = s.room ? 2 * s.room : 1024;
        Task *larger = (Task *)malloc(more * sizeof(Task));
        if (!larger) abort();
        for (u64 i = s.done; i < s.asked; i++) larger[i % more] = s.tasks[i % s.room];
        free(s.tasks), s.tasks = larger, s.room = more;
    }
    s.tasks[s.asked++ % s.room] = t, s.last = t.kind;
    return setting("late") ? 0 : perform_until(s, s.asked);
}
// Whether a stream has work that nobody waited for.
static bool is_busy() {
    for (Stream &s : streams)
        if (s.there && s.done < s.asked) return true;
    return false;
}
static u64 number_after(const char *text, const char *what) {
    const char *at = strstr(text, what);
    return at ? strtoull(at + strlen(what), nullptr, 10) : 0;
}
}
using namespace fake;
enum { INVALID_VALUE = 1, OUT_OF_MEMORY, NOT_INITIALIZED, NO_DEVICE = 100, INVALID_DEVICE, INVALID_CONTEXT = 201, NO_BINARY = 209, INVALID_PTX = 218, UNSUPPORTED_PTX = 222, INVALID_HANDLE = 400, NOT_FOUND = 500, LAUNCH_FAILED = 719 };
#define CALL Alone alone; if (int status = begin()) return status
#define ENTERED CALL; if (!entered) return INVALID_CONTEXT
#define IN_STREAM ENTERED; if (!is_there(stream)) return INVALID_HANDLE

// Whether there is such a setting. A call that is to fail, or none, is that of a card that works.
extern "C" int fake_set(const char *name, long value) {
    Alone alone;
    if (!strcmp(name, "fail_at")) lost = 0;
    for (Setting &s : settings)
        if (!strcmp(s.name, name)) return s.value = value, 1;
    return 0;
}
extern "C" long fake_calls() { return calls; }
extern "C" long fake_used() { return (long)taken(nullptr); }
// Blocks of the driver so far, blocks of pools, how often a pool took more of the card, whether the calling thread is in the context, waits for a stream or
// an event, those for copies back behind which more was asked for, copies back, streams and blocks of pinned memory that are there.
extern "C" long fake_count(const char *what) {
    long pinned_there = 0;
    for (Pinned &p : pinned) pinned_there += p.at != nullptr;
    return !strcmp(what, "allocations") ? allocations : !strcmp(what, "from_pools") ? from_pools : !strcmp(what, "entered") ? entered : !strcmp(what, "waits") ? waits : !strcmp(what, "ahead") ? ahead : !strcmp(what, "copies_back") ? copies_back : !strcmp(what, "streams") ? streams_there : !strcmp(what, "pinned") ? pinned_there : grown;
}

// Nobody stops a driver: its memory goes with the library.
__attribute__((destructor)) static void leave() { emulator_stop(); }

extern "C" int cuInit(u32) {
    CALL;
    if (!arena && !emulator_start()) return OUT_OF_MEMORY;
    return (int)setting("init");
}
extern "C" int cuDriverGetVersion(int *version) { CALL; return *version = (int)setting("version"), 0; }
extern "C" int cuDeviceGetCount(int *count) { CALL; return *count = (int)setting("cards"), 0; }
extern "C" int cuDeviceGet(int *device, int index) { CALL; return *device = index, index < setting("cards") ? 0 : INVALID_DEVICE; }
extern "C" int cuDeviceGetName(char *name, int length, int device) { CALL; return snprintf(name, length, "fake card %d", device), 0; }
extern "C" int cuDeviceTotalMem_v2(size_t *bytes, int) { CALL; return *bytes = setting("memory"), 0; }
extern "C" int cuDeviceGetAttribute(int *value, int attribute, int) {
    CALL;
    return *value = attribute == 75 ? (int)setting("major") : attribute == 87 ? (int)setting("ratio") : attribute == 115 ? (int)setting("pools") : 0, 0;
}
extern "C" int cuDevicePrimaryCtxRetain(u64 *context, int) { CALL; return *context = 1, (int)setting("retain"); }
extern "C" int cuDevicePrimaryCtxRelease_v2(int) { CALL; return 0; }
extern "C" int cuCtxPushCurrent_v2(u64 context) { CALL; return context == 1 ? entered++, 0 : INVALID_CONTEXT; }
extern "C" int cuCtxPopCurrent_v2(u64 *context) { ENTERED; return *context = 1, entered--, 0; }
template <class T> static T read_at(const char *at) {
    T x;
    return memcpy(&x, at, sizeof x), x;
}
// What a cubin says of its kernels. A section `.nv.info.NAME` lists attributes: the bytes of parameters are number 0x19, the most threads number 5.
static int load_cubin(const char *image) {
    u32 flags = read_at<u32>(image + 48), target = image[8] < 8 ? flags & 255 : flags >> 8 & 255;
    if (setting("cubin")) return (int)setting("cubin");
    if (setting("ptx") || target / 10 != setting("major")) return NO_BINARY;
    u64 size = read_at<uint16_t>(image + 58), count = read_at<uint16_t>(image + 60), last = read_at<uint16_t>(image + 62);
    const char *sections = image + read_at<u64>(image + 40), *names = image + read_at<u64>(sections + last * size + 24);
    for (u64 i = 0; i < count && kernel_count < 256; i++) {
        const char *section = sections + i * size, *name = names + read_at<u32>(section), prefix[] = ".nv.info.";
        if (strncmp(name, prefix, sizeof prefix - 1)) continue;
        Kernel &k = list[kernel_count++];
        snprintf(k.name, sizeof k.name, "%s", name + sizeof prefix - 1), k.shared = 48 << 10;
        const char *at = image + read_at<u64>(section + 24), *end = at + read_at<u64>(section + 32);
        while (at < end) {
            unsigned char format = at[0], attribute = at[1];
            u64 value = read_at<uint16_t>(at + 2);
            at += 4;
            if (attribute == 0x19) k.parameter_bytes = value;
            if (attribute == 5) k.threads = read_at<u32>(at);
            if (format == 4) at += value;
        }
    }
    return kernel_count ? 0 : NO_BINARY;
}
extern "C" int cuModuleLoadData(u64 *module, const char *ptx) {
    ENTERED;
    kernel_count = 0;
    if (!memcmp(ptx, "\177ELF", 4)) return *module = 2, load_cubin(ptx);
    if (setting("ptx")) return (int)setting("ptx");
    if (!strstr(ptx, ".target sm_80")) return INVALID_PTX;
    for (const char *at = ptx; (at = strstr(at, ".entry ")) && kernel_count < 256;) {
        Kernel &k = list[kernel_count++];
        at += strlen(".entry ");
        size_t length = strcspn(at, "(");
        if (length >= sizeof k.name) return INVALID_PTX;
        memcpy(k.name, at, length), k.name[length] = 0;
        k.parameter_bytes = number_after(at, "_param_0["), k.threads = (u32)number_after(at, ".maxntid "), k.shared = 48 << 10;
    }
    return *module = 2, kernel_count ? 0 : INVALID_PTX;
}
// Kernels that run are part of what goes.
extern "C" int cuModuleUnload(u64) { ENTERED; return is_busy() ? INVALID_VALUE : 0; }
// What a module gives is the function of this library, which has all of them.
extern "C" int cuModuleGetFunction(u64 *function, u64, const char *name) {
    ENTERED;
    Dl_info own;
    if (!dladdr((void *)cuInit, &own)) return NOT_FOUND;
    void *library = dlopen(own.dli_fname, RTLD_NOW | RTLD_NOLOAD);
    if (!library) return NOT_FOUND;
    void *found = dlsym(library, name);
    dlclose(library);
    for (u64 i = 0; found && i < kernel_count; i++)
        if (!strcmp(list[i].name, name)) return list[i].function = (void (*)(const void *))found, *function = (u64)&list[i], 0;
    return NOT_FOUND;
}
extern "C" int cuFuncSetAttribute(Kernel *k, int attribute, int value) {
    ENTERED;
    if (attribute != 8 || value > (int)sizeof shared_words) return INVALID_VALUE;
    return k->shared = value, 0;
}
extern "C" int cuMemGetInfo_v2(size_t *free, size_t *whole) { ENTERED; return *free = setting("memory") > (long)taken(nullptr) ? setting("memory") - taken(nullptr) : 0, *whole = setting("memory"), 0; }
extern "C" int cuMemAlloc_v2(u64 *address, size_t bytes) {
    ENTERED;
    allocations++;
    if (taken(nullptr) + bytes > (u64)setting("memory")) return OUT_OF_MEMORY;
    *address = emulator_allocate(bytes / 8);
    if (!*address) return OUT_OF_MEMORY;
    used += bytes, sizes[(*address - (u64)arena) / PAGE] = bytes;
    return 0;
}
// Pinned memory on device 0, without handles.
extern "C" int cuMemPoolCreate(Pool **pool, const u32 *shape) {
    ENTERED;
    for (u32 i = 4; i < 22; i++)
        if (shape[i]) return INVALID_VALUE;
    if (setting("pool")) return (int)setting("pool");
    if (shape[0] != 1 || shape[1] || shape[2] != 1 || (int)shape[3] >= setting("cards")) return INVALID_VALUE;
    for (Pool &p : pools)
        if (!p.there) return p = Pool{true, 0, 0, 0, 0}, *pool = &p, 0;
    return OUT_OF_MEMORY;
}
// A block that is left to a pool that goes is an error of ours.
extern "C" int cuMemPoolDestroy(Pool *p) {
    ENTERED;
    if (!p->there || p->live || p->settled) return INVALID_VALUE;
    return *p = Pool{}, 0;
}
extern "C" int cuMemPoolSetAttribute(Pool *p, int attribute, const u64 *value) { ENTERED; return attribute == 4 ? p->kept = *value, 0 : INVALID_VALUE; }
extern "C" int cuMemPoolGetAttribute(Pool *p, int attribute, u64 *value) {
    ENTERED;
    return *value = attribute == 5 ? p->reserved : p->live, attribute == 5 || attribute == 7 ? 0 : INVALID_VALUE;
}
// What work that is not done may still use stays.
extern "C" int cuMemPoolTrimTo(Pool *p, size_t bytes) { ENTERED; return p->reserved = p->settled > bytes ? p->settled : bytes < p->reserved ? bytes : p->reserved, 0; }
// A stream that shares nothing with the default one.
extern "C" int cuStreamCreate(Stream **stream, u32 flags) {
    ENTERED;
    if (flags != 1) return INVALID_VALUE;
    if (setting("stream")) return (int)setting("stream");
    for (Stream &s : streams)
        if (!s.there) return s.there = true, streams_there++, *stream = &s, 0;
    return OUT_OF_MEMORY;
}
// A driver does the work that is left; here it is an error of ours.
extern "C" int cuStreamDestroy_v2(Stream *stream) {
    IN_STREAM;
    if (stream->done < stream->asked) return INVALID_VALUE;
    return free(stream->tasks), *stream = Stream{}, streams_there--, 0;
}
extern "C" int cuStreamSynchronize(Stream *stream) { IN_STREAM; return waits++, perform_until(*stream, stream->asked); }
// A pool takes more of the card by chunks. An address is nobody's ever after it was left, so that who uses it then is seen.
extern "C" int cuMemAllocFromPoolAsync(u64 *address, size_t bytes, Pool *p, Stream *stream) {
    IN_STREAM;
    if (!p->there) return INVALID_VALUE;
    if (setting("from_pool")) return (int)setting("from_pool");
    from_pools++;
    u64 others = taken(p), whole = setting("memory"), room = others < whole ? whole - others : 0, wanted = p->live + bytes;
    if (wanted > room && wanted > p->reserved) return OUT_OF_MEMORY;
    if (wanted > p->reserved) {
        u64 more = (wanted + CHUNK - 1) / CHUNK * CHUNK;
        p->reserved = more < room ? more : room, grown++;
    }
    *address = emulator_allocate(bytes / 8);
    if (!*address) return OUT_OF_MEMORY;
    u64 page = (*address - (u64)arena) / PAGE;
    p->live += bytes, p->settled += bytes, sizes[page] = bytes, pool_of[page] = (unsigned char)(p - pools + 1);
    return 0;
}
extern "C" int cuMemFreeAsync(u64 address, Stream *stream) {
    IN_STREAM;
    u64 page = (address - (u64)arena) / PAGE, bytes = page < sizeof sizes / 8 ? sizes[page] : 0;
    if (!bytes || !pool_of[page]) return INVALID_VALUE;
    pools[pool_of[page] - 1].live -= bytes, sizes[page] = 0;
    return ask(*stream, Task{END, nullptr, {}, 0, 0, nullptr, address, bytes, nullptr, nullptr});
}
// It may wait for work that uses the block, and it may not.
extern "C" int cuMemFree_v2(u64 address) {
    ENTERED;
    u64 &bytes = sizes[(address - (u64)arena) / PAGE];
    if (!bytes || pool_of[(address - (u64)arena) / PAGE]) return INVALID_VALUE;
    emulator_free(address, bytes / 8);
    return used -= bytes, bytes = 0, 0;
}
// From and to memory that is not pinned a driver may wait, and it may not.
extern "C" int cuMemcpyHtoDAsync_v2(u64 address, const u64 *words, size_t bytes, Stream *stream) {
    IN_STREAM;
    return ask(*stream, Task{THERE, nullptr, {}, 0, 0, copied(words, bytes), address, bytes, words, nullptr});
}
extern "C" int cuMemcpyDtoHAsync_v2(u64 *words, u64 address, size_t bytes, Stream *stream) {
    IN_STREAM;
    memset(words, 0xa5, bytes), copies_back++;
    return ask(*stream, Task{BACK, nullptr, {}, 0, 0, nullptr, address, bytes, nullptr, words});
}
extern "C" int cuMemHostAlloc(char **at, size_t bytes, u32 flags) {
    ENTERED;
    if (flags) return INVALID_VALUE;
    if (setting("pin")) return (int)setting("pin");
    for (Pinned &p : pinned)
        if (!p.at) return p.bytes = bytes, p.at = *at = (char *)malloc(bytes), p.at ? 0 : OUT_OF_MEMORY;
    return OUT_OF_MEMORY;
}
extern "C" int cuMemFreeHost(char *at) {
    ENTERED;
    Pinned *p = pinned_with(at, 0);
    if (!p || p->at != at) return INVALID_VALUE;
    // Copies that are left would meet what is nobody's.
    for (Stream &s : streams)
        for (u64 i = s.done; i < s.asked; i++) {
            const Task &t = s.tasks[i % s.room];
            if (t.kind == THERE || t.kind == BACK)
                if (pinned_with(t.kind == THERE ? t.from : t.to, 0) == p) return INVALID_VALUE;
        }
    return free(at), p->at = nullptr, 0;
}
extern "C" int cuEventCreate(Event **event, u32) { ENTERED; return *event = (Event *)calloc(1, sizeof(Event)), *event ? 0 : OUT_OF_MEMORY; }
extern "C" int cuEventDestroy_v2(Event *event) { ENTERED; return free(event), 0; }
extern "C" int cuEventRecord(Event *event, Stream *stream) {
    IN_STREAM;
    return *event = Event{stream, stream->asked, stream->last == BACK}, 0;
}
// One that was never recorded is waited for by nobody. A test may have those return too early that copies there (0) or copies back (2) are behind.
extern "C" int cuEventSynchronize(Event *event) {
    ENTERED;
    waits++;
    if (event->of && event->back && event->of->asked > event->behind) ahead++;
    if (!event->of || (event->back ? setting("wait") == 2 : setting("wait") == 0)) return lost;
    return is_there(event->of) ? perform_until(*event->of, event->behind) : INVALID_HANDLE;
}
extern "C" int cuLaunchKernel(Kernel *k, u32 x, u32 y, u32 z, u32 threads, u32 t1, u32 t2, u32 shared, Stream *stream, void **none, void **extra) {
    IN_STREAM;
    if (none || extra[0] != (void *)1 || extra[2] != (void *)2 || extra[4] || t1 != 1 || t2 != 1) return INVALID_VALUE;
    if (*(size_t *)extra[3] != k->parameter_bytes || !x || !y || !z || y > 65535 || z > 65535) return INVALID_VALUE;
    if (threads > k->threads || shared > k->shared) return INVALID_VALUE;
    // A driver has read the parameters when it returns.
    return ask(*stream, Task{LAUNCH, k, {x, y, z}, threads, shared, copied((const u64 *)extra[1], k->parameter_bytes), 0, 0, nullptr, nullptr});
}
extern "C" int cuGetErrorName(int status, const char **name) {
    *name = status == OUT_OF_MEMORY ? "CUDA_ERROR_OUT_OF_MEMORY" : status == LAUNCH_FAILED ? "CUDA_ERROR_LAUNCH_FAILED" : nullptr;
    return *name ? 0 : INVALID_VALUE;
}
