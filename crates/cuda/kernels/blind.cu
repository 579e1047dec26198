// Blind rotations by blocks of a secret (eprint 2023/958): acc += sum_j (X^(e_j) - 1) acc x key_j, block after block, of one accumulator in a
// block of threads. An accumulator stays in registers, its digits in shared memory; only the key is read again and again.

template <class A> struct Blind {
    Global<u64> accumulators;                           // of each input COLUMNS polynomials: canonical coefficients
    Global<const u64> exponents;                        // of every `each` accumulators one for each key of each block, below 2N
    Global<const typename A::T> key;                    // [block][key][row][level][column]: values in their order
    Root<A> forward, inverse;
    Global<const typename A::W> monomials;              // psi^e - 1 for e < 2N, by e mod N/16, then by e / (N/16)
    u64 block_count, key_count, each;                   // accumulators by the same exponents
    double q, scale, base;                              // scale is base^LEVELS / q
    typename A::W one_over_n;
};

// The column of a thread in the exchange area, with gaps as in rows.
template <int S> struct Column {
    enum { ENDS = true };
    u32 thread, column;
    __device__ __forceinline__ Column() : thread(threadIdx.x % Pass<S>::THREADS), column(threadIdx.x / Pass<S>::THREADS) {}
    __device__ __forceinline__ u32 slot(u32 word) const { return column * ((1 << S) + (1 << S) / 16) + word + word / 16; }
};
// Where a digit is: threads that write 2^K words each, and threads that read words side by side, meet different banks.
INLINE u32 crossed(u32 word) { return word ^ (word >> 4 & 15); }

template <class A, int S, int COLUMNS, int LEVELS> INLINE void blind(const Blind<A> &p) {
    SHARED(typename A::T, shared);
    enum { N = 1 << S, LAST = Pass<S>::STEPS - 1, EACH = Pass<S>::EACH, ROWS = COLUMNS * LEVELS };
    Shared<typename A::T> digits = shared + COLUMNS * (N + N / 16);
    Column<S> at;
    typename A::Q q = p.forward.q;
    Global<u64> accumulator = p.accumulators + (blockIdx.x * COLUMNS + at.column) * N;
    u64 acc[EACH];
#pragma unroll
    for (int i = 0; i < EACH; i++) acc[i] = accumulator[Step<S, 0>::word(at.thread, i)];
    for (u64 block = 0; block < p.block_count; block++) {
        typename A::T v[EACH];
        double rest[EACH];
#pragma unroll
        for (int i = 0; i < EACH; i++) {
            double x = F50::load(acc[i]);
            rest[i] = plain_sum(plain_sum(plain_product(x > 0.5 * p.q ? plain_sum(x, -p.q) : x, p.scale), ROUND), -ROUND);
        }
#pragma unroll
        for (int level = LEVELS - 1; level >= 0; level--) {
#pragma unroll
            for (int i = 0; i < EACH; i++) {
                double above = level ? plain_sum(plain_sum(plain_product(rest[i], 1 / p.base), ROUND), -ROUND) : 0;
                v[i] = A::integer(plain_sum(rest[i], -plain_product(above, p.base)), q), rest[i] = above;
            }
            forward_steps<A, S, 0>(v, shared, p.forward, 1, at);
#pragma unroll
            for (int i = 0; i < EACH; i++) digits[(at.column * LEVELS + level) * N + crossed(Step<S, LAST>::word(at.thread, i))] = A::factor(v[i], q);
            __syncthreads();
        }
        // From here on a thread has values that lie side by side with those of the next thread: then monomials do, too.
#pragma unroll
        for (int i = 0; i < EACH; i++) v[i] = A::small(0);
        for (u64 j = 0; j < p.key_count; j++) {
            u64 exponent = p.exponents[(blockIdx.x / p.each * p.block_count + block) * p.key_count + j];
            if (!exponent) continue;
            u64 sample = ((block * p.key_count + j) * ROWS * COLUMNS + at.column) * N;
#pragma unroll
            for (int i = 0; i < EACH; i++) {
                Products<A> sum;
                u32 word = Step<S, 0>::word(at.thread, i);
#pragma unroll
                for (int r = 0; r < ROWS; r++) sum.add(digits[r * N + crossed(word)], p.key[sample + r * COLUMNS * N + word], q);
                // Those of a warp differ by multiples of N/16.
                u32 e = (u32)exponent * (2 * (__brev(word) >> (32 - S)) + 1) & (2 * N - 1);
                typename A::W monomial = p.monomials[(e % (N / 16)) * 32 + e / (N / 16)];
                v[i] = A::plus(v[i], A::settled(A::times(sum.total(q), monomial, q), q), q);
            }
        }
        exchange<S, 0, LAST>(v, shared, at);
        inverse_steps<A, S, LAST>(v, shared, p.inverse, 1, at);
#pragma unroll
        for (int i = 0; i < EACH; i++) acc[i] = A::word(A::plus(A::load(acc[i]), A::settled(A::times(v[i], p.one_over_n, q), q), q), q);
    }
#pragma unroll
    for (int i = 0; i < EACH; i++) accumulator[Step<S, 0>::word(at.thread, i)] = acc[i];
}

#define BLIND(A, S, COLUMNS, LEVELS) \
    KERNEL(blind_##S##_##COLUMNS##_##LEVELS##_##A, Blind<A>, 1) { blind<A, S, COLUMNS, LEVELS>(p); }
// Degree, columns and levels of the parameter sets.
#define ROTATIONS(A) BLIND(A, 9, 4, 1) BLIND(A, 10, 2, 1) BLIND(A, 10, 3, 1) BLIND(A, 11, 2, 1) BLIND(A, 11, 2, 2)
ROTATIONS(F50)
ROTATIONS(S64)
