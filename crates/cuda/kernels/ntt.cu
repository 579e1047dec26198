// Negacyclic transforms of 2^9 to 2^17 words: the first stages on columns of words that lie 256 apart, the last eight on rows of 256
// words. A thread holds up to 16 words in registers for up to four stages, then threads exchange words in shared memory.

// What a transform reads: powers of its root or of the inverse, in bit-reversed order but for those of its last step (`power`), and the prime.
template <class A> struct Root { Global<const typename A::W> powers; typename A::Q q; };
// One limb of a launch: block y of the grid.
template <class A> struct Limb {
    Global<const u64> from, minuend;            // words; for quotients what the result is taken from, null for zero
    Global<u64> to;
    Root<A> root;
    typename A::W scale, gain;                  // of the result; of the minuend
};
template <class A> struct Limbs { Global<const Limb<A>> limbs; };

// S stages on 2^S words, in steps of four or fewer.
template <int S> struct Pass {
    enum { STEPS = (S + 3) / 4, EACH = S < 4 ? 1 << S : 16, THREADS = (1 << S) / EACH };
};
// Step I of a pass: LEFT stages at its end, K of its own.
template <int S, int I> struct Step {
    enum { DONE = S * I / Pass<S>::STEPS, K = S * (I + 1) / Pass<S>::STEPS - DONE, LEFT = S - DONE - K };
    // Groups of 2^K words that lie 2^LEFT apart, thread after thread.
    INLINE u32 group(u32 thread, int i) { return thread + Pass<S>::THREADS * (i >> K); }
    // Which word of the 2^S is number i of a thread.
    INLINE u32 word(u32 thread, int i) {
        u32 g = group(thread, i);
        return ((g >> LEFT) << (LEFT + K)) + (g & ((1u << LEFT) - 1)) + ((u32)(i & ((1 << K) - 1)) << LEFT);
    }
};

// Where power number 2^stage + block 2^s + part is. In the last step of a transform each thread has blocks of its own: there the same part of sixteen
// blocks lies together, so that threads side by side read words side by side.
template <bool LAST> INLINE u32 power(u32 block, int s, int part) {
    return LAST ? ((block & ~15u) << s) + (u32)(part << 4) + (block & 15) : (block << s) + (u32)part;
}
// The stages of one step: block `block` of 2^done meets power number 2^done + block.
template <class A, int S, int I, bool LAST> INLINE void forward_step(typename A::T *v, Global<const typename A::W> powers, u32 root, u32 thread, typename A::Q q) {
    typedef Step<S, I> Own;
#pragma unroll
    for (int g = 0; g < Pass<S>::EACH; g += 1 << Own::K) {
        u32 block = (root << Own::DONE) + (Own::group(thread, g) >> Own::LEFT);
#pragma unroll
        for (int s = 0; s < Own::K; s++)
#pragma unroll
            for (int b = 0; b < 1 << (Own::K - 1); b++) {
                int half = 1 << (Own::K - 1 - s), part = b / half, x = g + 2 * half * part + b % half;
                A::forward(v[x], v[x + half], powers[power<LAST>(block, s, part)], q);
            }
    }
#pragma unroll
    for (int i = 0; i < Pass<S>::EACH; i++) A::settle(v[i], q);
}
template <class A, int S, int I, bool LAST> INLINE void inverse_step(typename A::T *v, Global<const typename A::W> powers, u32 root, u32 thread, typename A::Q q) {
    typedef Step<S, I> Own;
#pragma unroll
    for (int g = 0; g < Pass<S>::EACH; g += 1 << Own::K) {
        u32 block = (root << Own::DONE) + (Own::group(thread, g) >> Own::LEFT);
#pragma unroll
        for (int s = Own::K - 1; s >= 0; s--)
#pragma unroll
            for (int b = 0; b < 1 << (Own::K - 1); b++) {
                int half = 1 << (Own::K - 1 - s), part = b / half, x = g + 2 * half * part + b % half;
                A::inverse(v[x], v[x + half], powers[power<LAST>(block, s, part)], s % 2 == 0, q);
            }
    }
}

// Columns: 256 / THREADS of them side by side in a block. ENDS is whether the transform ends with them.
template <int S> struct Columns {
    enum { COUNT = 256 / Pass<S>::THREADS, ENDS = false };
    u32 column, thread;
    __device__ __forceinline__ Columns() : column(threadIdx.x % COUNT), thread(threadIdx.x / COUNT) {}
    __device__ __forceinline__ u64 offset(u32 word) const { return word * 256 + blockIdx.x * COUNT + column; }
    __device__ __forceinline__ u32 slot(u32 word) const { return word * COUNT + column; }
};
// Rows: 16 or fewer in a block, with a gap after every 16 words, so that threads meet different banks.
struct Rows {
    enum { ENDS = true };
    u32 row, thread;
    __device__ __forceinline__ Rows() : row(threadIdx.x / 16), thread(threadIdx.x % 16) {}
    __device__ __forceinline__ u32 number() const { return blockIdx.x * (blockDim.x / 16) + row; }
    __device__ __forceinline__ u64 offset(u32 word) const { return number() * 256 + word; }
    __device__ __forceinline__ u32 slot(u32 word) const { return row * 272 + word + word / 16; }
};

// From the order of step I to that of step J. What a thread writes are the words that it read last, so one barrier is enough.
template <int S, int I, int J, class T, class At> INLINE void exchange(T *v, Shared<T> shared, const At &at) {
#pragma unroll
    for (int i = 0; i < Pass<S>::EACH; i++) shared[at.slot(Step<S, I>::word(at.thread, i))] = v[i];
    __syncthreads();
#pragma unroll
    for (int i = 0; i < Pass<S>::EACH; i++) v[i] = shared[at.slot(Step<S, J>::word(at.thread, i))];
}
// All steps of a pass from step I on, or from it back; `block` is the first block that is met, counted from the first stage of all.
template <class A, int S, int I, class At> INLINE void forward_steps(typename A::T *v, Shared<typename A::T> shared, const Root<A> &root, u32 block, const At &at) {
    forward_step<A, S, I, At::ENDS && I + 1 == Pass<S>::STEPS>(v, root.powers, block, at.thread, root.q);
    if constexpr (I + 1 < Pass<S>::STEPS) exchange<S, I, I + 1>(v, shared, at), forward_steps<A, S, I + 1>(v, shared, root, block, at);
}
template <class A, int S, int I, class At> INLINE void inverse_steps(typename A::T *v, Shared<typename A::T> shared, const Root<A> &root, u32 block, const At &at) {
    inverse_step<A, S, I, At::ENDS && I + 1 == Pass<S>::STEPS>(v, root.powers, block, at.thread, root.q);
    if constexpr (I > 0) exchange<S, I, I - 1>(v, shared, at), inverse_steps<A, S, I - 1>(v, shared, root, block, at);
}

// Canonical coefficients to numbers that rows take up; and back, times the scale.
template <class A, int S> INLINE void forward_columns(const Limbs<A> &p) {
    SHARED(typename A::T, shared);
    const Limb<A> &limb = entry(p.limbs, blockIdx.y);
    Columns<S> at;
    typename A::T v[Pass<S>::EACH];
    Global<typename A::T> to = (Global<typename A::T>)limb.to;
#pragma unroll
    for (int i = 0; i < Pass<S>::EACH; i++) v[i] = A::load(limb.from[at.offset(Step<S, 0>::word(at.thread, i))]);
    forward_steps<A, S, 0>(v, shared, limb.root, 1, at);
#pragma unroll
    for (int i = 0; i < Pass<S>::EACH; i++) to[at.offset(Step<S, Pass<S>::STEPS - 1>::word(at.thread, i))] = v[i];
}
template <class A, int S> INLINE void inverse_columns(const Limbs<A> &p) {
    SHARED(typename A::T, shared);
    const Limb<A> &limb = entry(p.limbs, blockIdx.y);
    Columns<S> at;
    typename A::T v[Pass<S>::EACH];
    Global<typename A::T> to = (Global<typename A::T>)limb.to;
#pragma unroll
    for (int i = 0; i < Pass<S>::EACH; i++) v[i] = to[at.offset(Step<S, Pass<S>::STEPS - 1>::word(at.thread, i))];
    inverse_steps<A, S, Pass<S>::STEPS - 1>(v, shared, limb.root, 1, at);
#pragma unroll
    for (int i = 0; i < Pass<S>::EACH; i++) limb.to[at.offset(Step<S, 0>::word(at.thread, i))] = A::word(A::times(v[i], limb.scale, limb.root.q), limb.root.q);
}
// The last eight stages, in place; memory is met in the order of step 0. A quotient is (gain minuend - value) scale.
template <class A, bool QUOTIENT> INLINE void forward_rows(const Limbs<A> &p) {
    SHARED(typename A::T, shared);
    const Limb<A> &limb = entry(p.limbs, blockIdx.y);
    Rows at;
    typename A::T v[16];
    u32 rows = gridDim.x * (blockDim.x / 16);
    Global<typename A::T> values = (Global<typename A::T>)limb.to;
#pragma unroll
    for (int i = 0; i < 16; i++) v[i] = values[at.offset(Step<8, 0>::word(at.thread, i))];
    forward_steps<A, 8, 0>(v, shared, limb.root, rows + at.number(), at);
    exchange<8, 1, 0>(v, shared, at);
#pragma unroll
    for (int i = 0; i < 16; i++) {
        u64 offset = at.offset(Step<8, 0>::word(at.thread, i));
        if (QUOTIENT) {
            typename A::T from = A::small(0);
            if (limb.minuend) from = A::times(A::load(limb.minuend[offset]), limb.gain, limb.root.q);
            v[i] = A::times(A::minus(from, v[i], limb.root.q), limb.scale, limb.root.q);
        }
        limb.to[offset] = A::word(v[i], limb.root.q);
    }
}
template <class A> INLINE void inverse_rows(const Limbs<A> &p) {
    SHARED(typename A::T, shared);
    const Limb<A> &limb = entry(p.limbs, blockIdx.y);
    Rows at;
    typename A::T v[16];
    u32 rows = gridDim.x * (blockDim.x / 16);
    Global<typename A::T> to = (Global<typename A::T>)limb.to;
#pragma unroll
    for (int i = 0; i < 16; i++) v[i] = A::load(limb.from[at.offset(Step<8, 0>::word(at.thread, i))]);
    exchange<8, 0, 1>(v, shared, at);
    inverse_steps<A, 8, 1>(v, shared, limb.root, rows + at.number(), at);
#pragma unroll
    for (int i = 0; i < 16; i++) to[at.offset(Step<8, 0>::word(at.thread, i))] = v[i];
}

#define COLUMNS(A, S) \
    KERNEL(forward_columns_##S##_##A, Limbs<A>, 2) { forward_columns<A, S>(p); } \
    KERNEL(inverse_columns_##S##_##A, Limbs<A>, 2) { inverse_columns<A, S>(p); }
#define TRANSFORMS(A) \
    COLUMNS(A, 1) COLUMNS(A, 2) COLUMNS(A, 3) COLUMNS(A, 4) COLUMNS(A, 5) COLUMNS(A, 6) COLUMNS(A, 7) COLUMNS(A, 8) COLUMNS(A, 9) \
    KERNEL(forward_rows_##A, Limbs<A>, 2) { forward_rows<A, false>(p); } \
    KERNEL(quotient_rows_##A, Limbs<A>, 2) { forward_rows<A, true>(p); } \
    KERNEL(inverse_rows_##A, Limbs<A>, 2) { inverse_rows<A>(p); }
TRANSFORMS(F50)
TRANSFORMS(S64)
