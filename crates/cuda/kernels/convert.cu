// Base conversion: residues y_i = x (Q/q_i)^-1 modulo q_i to those of sum y_i (Q/q_i) - v Q modulo other primes, where
// v = floor(sum y_i / q_i + 1/2) is a sum of doubles in the order of the sources. The sum is not fused: it decides the result.

enum { TARGETS = 8 };                                   // of a thread
template <class A> struct Conversion {
    Global<const Global<const u64>> from;               // of each input its sources
    Global<const Global<u64>> to;                       // of each input its targets
    Global<const double> inverses;                      // 1/q_i rounded
    Global<const typename A::Q> sources, targets;
    Global<const typename A::T> constants;              // of each target Q/q_i for every source, then -Q
    u64 source_count, target_count;
};

template <class A> INLINE void convert(const Conversion<A> &p) {
    u32 i = position(), first = blockIdx.y * TARGETS;
    u64 from = blockIdx.z * p.source_count, to = blockIdx.z * p.target_count + first;
    u64 stride = p.source_count + 1, constants = first * stride;
    int count = (int)least(TARGETS, p.target_count - first), above = 0;
    double multiples = 0;
    Products<A> sums[TARGETS];
    for (u64 s = 0; s < p.source_count; s++) {
        Global<const u64> row = p.from[from + s];
        u64 x = row[i];
        multiples = plain_sum(multiples, plain_product((double)x, p.inverses[s]));
        typename A::T y = A::balanced(x, p.sources[s], above);
#pragma unroll
        for (int t = 0; t < TARGETS; t++)
            if (t < count) sums[t].add(y, p.constants[constants + t * stride + s], p.targets[first + t]);
    }
    typename A::T v = A::small((long long)plain_sum(multiples, 0.5) - above);
#pragma unroll
    for (int t = 0; t < TARGETS; t++)
        if (t < count) {
            typename A::Q q = p.targets[first + t];
            sums[t].add(v, p.constants[constants + t * stride + p.source_count], q);
            Global<u64> out = p.to[to + t];
            out[i] = A::word(sums[t].total(q), q);
        }
}
KERNEL(convert_F50, Conversion<F50>, 2) { convert<F50>(p); }
KERNEL(convert_S64, Conversion<S64>, 2) { convert<S64>(p); }
