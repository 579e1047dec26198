// Integers modulo primes, twice: F50 for primes below 2^50, in balanced doubles with exact products by FMA; S64 for all primes below 2^61,
// in words with Shoup's products. Every operation is exact, so both leave the same canonical residues, those of the host.
//
// This text is CUDA C without headers. The emulator compiles it for the host: there Global and Shared note who reads and writes.
#ifndef EMULATED
typedef unsigned int u32;
typedef unsigned long long u64;
template <class T> using Global = T *;
template <class T> using Shared = T *;
// An entry of a list that the host wrote and all threads of a block read.
template <class T> static __device__ __forceinline__ const T &entry(const T *list, u64 i) { return list[i]; }
// A kernel of 256 threads or fewer; so many blocks of it, or more, fit a multiprocessor at a time.
#define KERNEL(name, Parameters, blocks) extern "C" __global__ void __launch_bounds__(256, blocks) name(const __grid_constant__ Parameters p)
#define SHARED(T, name) extern __shared__ double shared_words[]; Shared<T> name = (T *)shared_words
#endif
#define INLINE static __device__ __forceinline__

// 1.5 2^52: adding and subtracting it rounds doubles up to 2^51 to integers.
#define ROUND 6755399441055744.0
// 1.5 2^102: a sum that begins there keeps multiples of 2^50, as long as what is added stays below 2^101.
#define START 7605903601369376408980219232256.0
// 2^52, and its bits: below them an integer stands as it is.
#define UNIT 4503599627370496.0
#define UNIT_BITS 0x4330000000000000ull

INLINE u64 least(u64 x, u64 y) { return x < y ? x : y; }
INLINE double plain_sum(double x, double y) { return __dadd_rn(x, y); }
INLINE double plain_product(double x, double y) { return __dmul_rn(x, y); }

struct F50 {
    typedef double T;                           // an integer
    typedef double W;                           // a multiplier: an integer of magnitude q/2 or less
    struct Q { double q, inverse; };            // the prime, and 1/q rounded
    struct Sum { double high, low; };           // START and multiples of 2^50; what they leave
    enum { CHUNK = 8 };                         // products of balanced numbers that a Sum takes

    INLINE double nearest(double x, double y) { return plain_sum(__fma_rn(x, y, ROUND), -ROUND); }
    // |x| <= 2^53 to |x| <= q/2 + 1.
    INLINE T reduce(T x, Q q) { return __fma_rn(-nearest(x, q.inverse), q.q, x); }
    // |x| <= B q with B <= 4 to |x w mod q| <= (1/2 + B/8) q: high is a multiple of its last place, so the difference is exact.
    INLINE T times(T x, W w, Q q) {
        double high = plain_product(x, w), low = __fma_rn(x, w, -high);
        return plain_sum(__fma_rn(-nearest(high, q.inverse), q.q, high), low);
    }
    INLINE T load(u64 x) { return plain_sum(__longlong_as_double((long long)(x | UNIT_BITS)), -UNIT); }
    INLINE u64 word(T x, Q q) {
        double r = reduce(x, q);
        return (u64)__double_as_longlong(plain_sum(r < 0 ? plain_sum(r, q.q) : r, UNIT)) ^ UNIT_BITS;
    }
    // A canonical residue balanced; counts those that were above half.
    INLINE T balanced(u64 x, Q q, int &above) {
        double y = load(x);
        bool over = y > 0.5 * q.q;
        above += over;
        return over ? plain_sum(y, -q.q) : y;
    }
    INLINE T small(long long x) { return (double)x; }
    // An integer in a double, of magnitude below q.
    INLINE T integer(double x, Q) { return x; }
    // What `times` leaves, as `plus` takes it; what a forward transform leaves, as `product` takes it.
    INLINE T settled(T x, Q) { return x; }
    INLINE T factor(T x, Q) { return x; }

    // Bounds in multiples of q: 1, 1.63, 2.33, 3.12, 4.01 from stage to stage, and 1/2 after settle.
    INLINE void forward(T &x, T &y, W w, Q q) {
        double t = times(y, w, q), u = x;
        x = plain_sum(u, t), y = plain_sum(u, -t);
    }
    INLINE void settle(T &x, Q q) { x = reduce(x, q); }
    // Sums of every second stage are reduced: 1, 2, 1, 2, 1 times q. `even` is whether the stages that are left are even in number.
    INLINE void inverse(T &x, T &y, W w, bool even, Q q) {
        double sum = plain_sum(x, y);
        y = times(plain_sum(x, -y), w, q), x = even ? reduce(sum, q) : sum;
    }
    // Of what `times` and `settle` leave.
    INLINE T minus(T x, T y, Q) { return plain_sum(x, -y); }
    INLINE T plus(T x, T y, Q q) { return reduce(plain_sum(x, y), q); }

    INLINE Sum nothing() { return Sum{START, 0}; }
    INLINE void product(Sum &s, T x, T y) {
        double high = __fma_rn(x, y, s.high);
        s.low = plain_sum(s.low, __fma_rn(x, y, -plain_sum(high, -s.high))), s.high = high;
    }
    // |x| <= q/2 + 1. The quotient of the high part is below 2^51: CHUNK products of q/2 and 2^49.
    INLINE T total(Sum s, Q q) {
        double high = plain_sum(s.high, -START);
        return reduce(plain_sum(__fma_rn(-nearest(high, q.inverse), q.q, high), s.low), q);
    }
};

struct S64 {
    typedef u64 T;                              // below 4q in a forward transform, below 2q in an inverse one, else below q
    struct W { u64 w, quotient; };              // a canonical multiplier, and floor(2^64 w / q)
    struct Q { u64 q, high, low; };             // the prime, and floor(2^128 / q)
    struct Sum { u64 low, high; };
    enum { CHUNK = 32 };                        // products of residues that a Sum takes: 2^122 each

    INLINE T halve(T x, Q q) { return least(x, x - 2 * q.q); }
    // Any x to [0, 2q).
    INLINE T times(T x, W w, Q q) { return x * w.w - __umul64hi(x, w.quotient) * q.q; }
    INLINE T load(u64 x) { return x; }
    INLINE u64 word(T x, Q q) {
        u64 r = halve(x, q);
        return least(r, r - q.q);
    }
    INLINE T balanced(u64 x, Q, int &) { return x; }
    INLINE T small(long long x) { return (u64)x; }
    INLINE T integer(double x, Q q) { return (u64)(long long)x + (x < 0 ? q.q : 0); }
    INLINE T settled(T x, Q q) { return least(x, x - q.q); }
    INLINE T factor(T x, Q q) { return word(x, q); }

    INLINE void forward(T &x, T &y, W w, Q q) {
        u64 t = times(y, w, q), u = halve(x, q);
        x = u + t, y = u + 2 * q.q - t;
    }
    INLINE void settle(T &, Q) {}
    INLINE void inverse(T &x, T &y, W w, bool, Q q) {
        u64 sum = x + y;
        y = times(x + 2 * q.q - y, w, q), x = halve(sum, q);
    }
    INLINE T minus(T x, T y, Q q) { return x + 2 * q.q - halve(y, q); }
    INLINE T plus(T x, T y, Q q) {
        u64 sum = x + y;
        return least(sum, sum - q.q);
    }

    INLINE Sum nothing() { return Sum{0, 0}; }
    INLINE void product(Sum &s, T x, T y) {
        u64 low = x * y;
        s.low += low, s.high += __umul64hi(x, y) + (s.low < low);
    }
    // Barrett reduction: the quotient is at most 2 too small.
    INLINE T total(Sum s, Q q) {
        u64 carry = __umul64hi(s.low, q.low), middle = s.low * q.high + carry;
        u64 upper = __umul64hi(s.low, q.high) + (middle < carry), last = s.high * q.low + middle;
        upper += __umul64hi(s.high, q.low) + (last < middle);
        u64 r = s.low - (s.high * q.high + upper) * q.q;
        r = halve(r, q);
        return least(r, r - q.q);
    }
};

// A sum of any number of products: Sums of CHUNK products each.
template <class A> struct Products {
    typename A::Sum sum;
    typename A::T before;
    int count;
    __device__ __forceinline__ Products() : sum(A::nothing()), before(A::small(0)), count(0) {}
    __device__ __forceinline__ void add(typename A::T x, typename A::T y, typename A::Q q) {
        if (count == A::CHUNK) before = A::plus(before, A::total(sum, q), q), sum = A::nothing(), count = 0;
        A::product(sum, x, y), count++;
    }
    __device__ __forceinline__ typename A::T total(typename A::Q q) { return A::plus(before, A::total(sum, q), q); }
};

// Where the image under X -> X^galois takes the value at position i from: position i has the value at psi^(2 brv(i) + 1).
INLINE u32 source(u32 i, u64 galois, u32 log_n) {
    u32 exponent = (2 * (__brev(i) >> (32 - log_n)) + 1) * (u32)galois & ((2u << log_n) - 1);
    return __brev(exponent >> 1) >> (32 - log_n);
}
// The position of this thread in a limb.
INLINE u32 position() { return blockIdx.x * blockDim.x + threadIdx.x; }
