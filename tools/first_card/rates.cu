// What a card can do, for tools/first_card/rates.py: nothing, reading and copying memory, products of doubles and of words.
typedef unsigned long long u64;

extern "C" __global__ void nothing() {}

// Each thread reads words that lie a grid apart, `rounds` times all of them.
extern "C" __global__ void __launch_bounds__(256) read_words(const ulonglong2 *from, u64 pairs, u64 rounds, u64 *to) {
    u64 first = blockIdx.x * (u64)blockDim.x + threadIdx.x, step = gridDim.x * (u64)blockDim.x, sum = 0;
    for (u64 round = 0; round < rounds; round++)
        for (u64 i = first; i < pairs; i += 4 * step) {
            ulonglong2 x[4];
#pragma unroll
            for (int k = 0; k < 4; k++) x[k] = i + k * step < pairs ? from[i + k * step] : make_ulonglong2(0, 0);
#pragma unroll
            for (int k = 0; k < 4; k++) sum += x[k].x ^ x[k].y;
        }
    if (sum == 0x123456789abcdefull) *to = sum;
}
extern "C" __global__ void __launch_bounds__(256) copy_words(const ulonglong2 *from, u64 pairs, u64 rounds, ulonglong2 *to) {
    u64 step = gridDim.x * (u64)blockDim.x;
    for (u64 round = 0; round < rounds; round++)
        for (u64 i = blockIdx.x * (u64)blockDim.x + threadIdx.x; i < pairs; i += step) to[i] = from[i];
}

// Eight chains in a thread, `rounds` steps each.
#define CHAINS(name, T, STEP) \
    extern "C" __global__ void __launch_bounds__(256) name(T seed, u64 rounds, T *to) { \
        T x[8]; \
        _Pragma("unroll") for (int k = 0; k < 8; k++) x[k] = seed + (T)(k + threadIdx.x); \
        for (u64 i = 0; i < rounds; i++) _Pragma("unroll") for (int k = 0; k < 8; k++) x[k] = STEP; \
        T sum = 0; \
        _Pragma("unroll") for (int k = 0; k < 8; k++) sum += x[k]; \
        if (sum == (T)12345) *to = sum; \
    }
CHAINS(chains_fma, double, __fma_rn(x[k], seed, seed))
CHAINS(chains_add, double, __dadd_rn(x[k], seed))
CHAINS(chains_mul, u64, x[k] * seed + 1)
CHAINS(chains_mulhi, u64, __umul64hi(x[k], seed) + seed)
