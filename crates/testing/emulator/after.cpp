// The emulated card, what the host sees of it: memory, and launches with the threads of a block in one of three orders.
#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(at, bytes) (void)0
#define ASAN_UNPOISON_MEMORY_REGION(at, bytes) (void)0
#endif
namespace emulator {
#ifdef __SANITIZE_ADDRESS__
// Frames have room between variables. A jump by the library would take what marks it in the frames that stay.
enum { THREADS = 1024, STACK = 1 << 20, PAGE = 4096 };
#define SWITCHES __attribute__((noinline, no_sanitize("address")))
#define _setjmp(at) __builtin_setjmp((void **)(at))
#define _longjmp(at, value) __builtin_longjmp((void **)(at), value)
#else
enum { THREADS = 1024, STACK = 64 << 10, PAGE = 4096 };
#define SWITCHES
#endif
// A fiber lives as long as the library: it runs the kernel, says that it is done, and waits for the next block.
struct Fiber { jmp_buf at; ucontext_t birth; bool born, done; };
static Fiber fibers[THREADS];
static jmp_buf scheduler;
static char *stacks;
static u32 current, launches;
#ifdef TRACED
void add_traces(u32 threads);
#endif
static u64 end, random_state;
static void (*kernel)(const void *);
static const void *parameters;

// _setjmp and _longjmp leave the signal mask alone: a switch is no system call.
SWITCHES static void suspend() {
    if (!_setjmp(fibers[current].at)) _longjmp(scheduler, 1);
}
void barrier() { suspend(); }
SWITCHES void leave_block() { _longjmp(scheduler, 1); }
static void life() {
    for (;;) kernel(parameters), fibers[current].done = true, suspend();
}
SWITCHES static void resume(u32 thread) {
    Fiber &f = fibers[thread];
    current = thread, threadIdx.x = thread, now.thread = (uint16_t)thread;
    if (_setjmp(scheduler)) return;
    if (f.born) _longjmp(f.at, 1);
    // Who began anew left frames behind.
    ASAN_UNPOISON_MEMORY_REGION(stacks + (u64)thread * STACK, STACK), ASAN_POISON_MEMORY_REGION(stacks + (u64)thread * STACK, PAGE);
    getcontext(&f.birth);
    f.birth.uc_stack.ss_sp = stacks + (u64)thread * STACK, f.birth.uc_stack.ss_size = STACK, f.birth.uc_link = nullptr;
    makecontext(&f.birth, life, 0), f.born = true;
    setcontext(&f.birth);
}

// The first `count` numbers as they come, backwards or shuffled.
static void arrange(u32 *list, u32 count, u32 order) {
    for (u32 i = 0; i < count; i++) list[i] = order == 1 ? count - 1 - i : i;
    for (u32 i = count; order == 2 && i > 1; i--) {
        random_state = random_state * 6364136223846793005ull + 1442695040888963407ull;
        u32 j = (u32)(random_state >> 33) % i, x = list[i - 1];
        list[i - 1] = list[j], list[j] = x;
    }
}
static void run_block(u32 threads, u32 shared_bytes, u32 order) {
    static u32 list[THREADS], used;
    memset((void *)shared_words, 0xa5, used), memset((void *)shared_marks, 0, used / 8 * sizeof(Word));
    for (u32 i = 0; i < shared_bytes / 8; i++) shared_marks[i].write.launch = UNWRITTEN;
    used = shared_bytes;
    arrange(list, threads, order);
    for (u32 i = 0; i < threads; i++) fibers[i].done = false;
    u32 done = 0;
    for (now.epoch = 0; done < threads && !message[0]; now.epoch++) {
        for (u32 i = 0; i < threads && !message[0]; i++) resume(list[i]);
        done = 0;
        for (u32 i = 0; i < threads; i++) done += fibers[i].done;
        if (done && done < threads) fault("or another one leaves while others wait at a barrier");
    }
#ifdef TRACED
    if (!now.block) add_traces(threads);
#endif
    // Who has not come to the end begins anew.
    for (u32 i = 0; i < threads; i++) fibers[i].born = fibers[i].done;
}
static u64 pages(u64 bytes) { return (bytes + PAGE - 1) / PAGE * PAGE; }
static void *reserve(u64 bytes) {
    void *at = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return at == MAP_FAILED ? nullptr : at;
}
}
using namespace emulator;

// Reserves the arena; whether that could be done.
extern "C" int emulator_start() {
    arena = (char *)reserve(ARENA), marks = (Word *)reserve(ARENA / 8 * sizeof(Word)), stacks = (char *)reserve((u64)THREADS * STACK);
    launches = FIRST;
    return arena && marks && stacks;
}
extern "C" void emulator_stop() {
    // The next one who has these addresses finds no marks of ours.
    ASAN_UNPOISON_MEMORY_REGION(arena, end), ASAN_UNPOISON_MEMORY_REGION(stacks, (u64)THREADS * STACK);
    if (arena) munmap(arena, ARENA);
    if (marks) munmap(marks, ARENA / 8 * sizeof(Word));
    if (stacks) munmap(stacks, (u64)THREADS * STACK);
    arena = stacks = nullptr, marks = nullptr;
}
// Poisoned words at an address that was none before; 0 if the arena is full. A page that is nowhere follows.
extern "C" u64 emulator_allocate(u64 words) {
    u64 at = end, bytes = pages(8 * words) + PAGE;
    if (words > ARENA / 8 || end + bytes > ARENA) return 0;
    end += bytes;
    ASAN_POISON_MEMORY_REGION(arena + at + 8 * words, bytes - 8 * words);
    memset(arena + at, 0xa5, 8 * words);
    for (u64 i = 0; i < words; i++) marks[at / 8 + i].write.launch = UNWRITTEN;
    return (u64)arena + at;
}
extern "C" void emulator_free(u64 address, u64 words) {
    u64 at = address - (u64)arena, bytes = pages(8 * words);
    ASAN_POISON_MEMORY_REGION(arena + at, bytes);
    madvise(arena + at, bytes, MADV_DONTNEED), madvise(marks + at / 8, bytes / 8 * sizeof(Word), MADV_DONTNEED);
}
extern "C" void emulator_upload(u64 address, const u64 *words, u64 count) {
    memcpy((void *)address, words, 8 * count);
    for (u64 i = 0; i < count; i++) word(address + 8 * i)->write = Mark{HOST, 0, 0, 0};
}
// Whether a block has all of the words.
extern "C" int emulator_has(u64 address, u64 count) {
    for (u64 i = 0; i < count; i++) {
        Word *w = word(address + 8 * i);
        if (!w || w->write.launch == NOWHERE) return 0;
    }
    return 1;
}
// Whether all of the words had been written.
extern "C" int emulator_download(u64 address, u64 *words, u64 count) {
    memcpy(words, (const void *)address, 8 * count);
    for (u64 i = 0; i < count; i++)
        if (word(address + 8 * i)->write.launch < HOST) return 0;
    return 1;
}
// What went wrong, or null. `grid` has three numbers.
extern "C" const char *emulator_launch(void (*function)(const void *), const u64 *words, const u32 *grid, u32 threads, u32 shared_bytes, u32 order) {
    u32 blocks = grid[0] * grid[1] * grid[2], *list = (u32 *)malloc(4 * blocks);
    message[0] = 0;
    if (threads > THREADS || shared_bytes > sizeof shared_words || !list) return free(list), "asks for more than a card has";
    kernel = function, parameters = words, random_state = ++launches, now.launch = launches;
    gridDim.x = grid[0], gridDim.y = grid[1], gridDim.z = grid[2], blockDim.x = threads, blockDim.y = blockDim.z = 1;
    arrange(list, blocks, order);
    for (u32 i = 0; i < blocks && !message[0]; i++) {
        now.block = list[i], blockIdx.x = list[i] % grid[0], blockIdx.y = list[i] / grid[0] % grid[1], blockIdx.z = list[i] / grid[0] / grid[1];
        run_block(threads, shared_bytes, order);
    }
    free(list);
    return message[0] ? message : nullptr;
}
