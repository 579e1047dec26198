// The emulated card, what kernels see of it. A thread of the card is a fiber, a barrier a switch to the next one. Every word of the
// card's memory has marks of its last write and reads: whoever meets a word that another thread changes at the same time, that nobody
// wrote or that is not there is reported.
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

typedef unsigned int u32;
typedef unsigned long long u64;
#define EMULATED
#define __device__
#define __forceinline__ inline __attribute__((always_inline))

static struct { u32 x, y, z; } threadIdx, blockIdx, blockDim, gridDim;

namespace emulator {
// Who met a word last: the launch, the block in it, the thread in that and how many barriers it had passed.
struct Mark { u32 launch, block; uint16_t thread, epoch; };
struct Word { Mark write, read; };
// Launches that no kernel is: there is no word; it was allocated; the host wrote it.
enum { NOWHERE, UNWRITTEN, HOST, FIRST };
enum : uint16_t { SEVERAL = 0xffff };

// Addresses, of which none is given twice: more than a card has memory.
static const u64 ARENA = 32ull << 30, SHARED_WORDS = 228 * 128;
static char *arena;
static Word *marks, shared_marks[SHARED_WORDS];
alignas(64) static double shared_words[SHARED_WORDS];
static Mark now;
static char message[256];

static void fault(const char *what) {
    if (!message[0]) snprintf(message, sizeof message, "thread %u of block (%u, %u, %u) %s", threadIdx.x, blockIdx.x, blockIdx.y, blockIdx.z, what);
}
static Word *word(u64 address) {
    u64 shared = address - (u64)shared_words, global = address - (u64)arena;
    return shared < sizeof shared_words ? shared_marks + shared / 8 : global < ARENA ? marks + global / 8 : nullptr;
}
// Whether it happened before what happens now, whatever the order of threads.
static bool before(const Mark &m) {
    return m.launch != now.launch || (m.block == now.block && (m.epoch != now.epoch || m.thread == now.thread));
}
// Whether the words may be read now; notes it.
static bool reads(const void *at, u64 bytes) {
    for (u64 a = (u64)at & ~7ull; a < (u64)at + bytes; a += 8) {
        Word *w = word(a);
        if (!w || w->write.launch == NOWHERE) return fault("reads where nothing is"), false;
        if (w->write.launch == UNWRITTEN) return fault("reads what nobody wrote"), false;
        if (!before(w->write)) return fault("reads what another thread writes"), false;
        Mark &m = w->read;
        if (m.launch == now.launch && m.block != now.block) m.block = ~0u, m.thread = SEVERAL;
        else if (m.launch == now.launch && m.epoch == now.epoch && m.thread != now.thread) m.thread = SEVERAL;
        else m = now;
    }
    return true;
}
static bool writes(const void *at, u64 bytes) {
    for (u64 a = (u64)at & ~7ull; a < (u64)at + bytes; a += 8) {
        Word *w = word(a);
        if (!w || w->write.launch == NOWHERE) return fault("writes where nothing is"), false;
        if (!before(w->write)) return fault("writes what another thread writes"), false;
        if (!before(w->read)) return fault("writes what another thread reads"), false;
        w->write = now;
    }
    return true;
}

// Notes what a thread asks of memory, for `tools/card_traces.py`.
#ifdef TRACED
void noted(const void *at, u64 bytes);
#else
static inline void noted(const void *, u64) {}
#endif
// Ends the block of a thread that met a fault: what it would do next is nothing that a card does.
void leave_block();

template <class T> struct Plain { typedef T Type; };
template <class T> struct Plain<const T> { typedef T Type; };
// A word or more in the card's memory.
template <class T> struct Ref {
    T *at;
    operator typename Plain<T>::Type() const {
        typename Plain<T>::Type x;
        if (!reads(at, sizeof x)) leave_block();
        noted(at, sizeof x);
        return memcpy((void *)&x, (const void *)at, sizeof x), x;
    }
    const Ref &operator=(T x) const {
        if (!writes(at, sizeof x)) leave_block();
        noted(at, sizeof x);
        return *at = x, *this;
    }
    const Ref &operator=(const Ref &other) const { return *this = (T)other; }
};
// An address on the card, as long as a pointer.
template <class T> struct Pointer {
    T *at;
    Pointer() = default;
    explicit Pointer(void *address) : at((T *)address) {}
    template <class U> explicit Pointer(Pointer<U> other) : at((T *)other.at) {}
    Ref<T> operator[](u64 i) const { return Ref<T>{at + i}; }
    Pointer operator+(u64 i) const { return Pointer((void *)(at + i)); }
    explicit operator bool() const { return at; }
};
void barrier();
}

template <class T> using Global = emulator::Pointer<T>;
template <class T> using Shared = emulator::Pointer<T>;
// The first thread of a block looks whether the entry is there; all do under sanitizers, as who comes before it would be ended by them.
#ifdef __SANITIZE_ADDRESS__
#define LOOKS true
#else
#define LOOKS (threadIdx.x == 0)
#endif
template <class T> static const T &entry(Global<const T> list, u64 i) {
    if (LOOKS && !emulator::reads(list.at + i, sizeof(T))) emulator::leave_block();
    return list.at[i];
}
#define SHARED(T, name) Shared<T> name((void *)emulator::shared_words)
#define KERNEL(name, Parameters, blocks) \
    static void run_##name(const Parameters &p); \
    extern "C" void name(const void *p) { run_##name(*(const Parameters *)p); } \
    static void run_##name(const Parameters &p)

static void __syncthreads() { emulator::barrier(); }
static inline u64 __umul64hi(u64 x, u64 y) { return (u64)((unsigned __int128)x * y >> 64); }
static inline double __fma_rn(double x, double y, double z) { return __builtin_fma(x, y, z); }
static inline double __dadd_rn(double x, double y) { return x + y; }
static inline double __dmul_rn(double x, double y) { return x * y; }
static inline double __ddiv_rn(double x, double y) { return x / y; }
static inline double __longlong_as_double(long long x) {
    double y;
    memcpy(&y, &x, 8);
    return y;
}
static inline long long __double_as_longlong(double x) {
    long long y;
    memcpy(&y, &x, 8);
    return y;
}
static inline u32 __brev(u32 x) {
    x = (x >> 1 & 0x55555555) | (x & 0x55555555) << 1, x = (x >> 2 & 0x33333333) | (x & 0x33333333) << 2;
    x = (x >> 4 & 0x0f0f0f0f) | (x & 0x0f0f0f0f) << 4;
    return __builtin_bswap32(x);
}
