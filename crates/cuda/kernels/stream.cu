// Sums with keys that are packed to the bits of their prime: memory decides how long they take.

// Two sums at one limb, of as many products: sum over rotations r and inputs e of phi_r(input_e) key_(r, e).
template <class A> struct StreamRow {
    Global<const u64> key;                              // [run of 64 positions][sample][half]: `bits` words for 64 residues
    Global<const Global<const u64>> inputs_b, inputs_a; // of each sum
    Global<const u64> galois;                           // of each rotation
    Global<u64> b, a;
    u64 bits, each, rotations, halves;                  // of one half both sums meet the same key
    typename A::Q q;
};
template <class A> struct StreamRows { Global<const StreamRow<A>> rows; u64 log_n; };

INLINE u64 unpacked(Global<const u64> run, u32 lane, u32 bits) {
    u32 bit = lane * bits, shift = bit % 64;
    Global<const u64> at = run + bit / 64;
    u64 x = at[0] >> shift;
    if (shift + bits > 64) x |= at[1] << (64 - shift);
    return x & (~0ull >> (64 - bits));
}
template <class A> INLINE void stream_sum(const StreamRows<A> &p) {
    const StreamRow<A> &row = entry(p.rows, blockIdx.y);
    typename A::Q q = row.q;
    u32 i = position(), bits = (u32)row.bits;
    int above = 0;
    Products<A> b, a;
    Global<const u64> run = row.key + i / 64 * (row.rotations * row.each * row.halves) * bits;
    for (u64 r = 0; r < row.rotations; r++) {
        u32 j = source(i, row.galois[r], (u32)p.log_n);
        for (u64 e = 0; e < row.each; e++) {
            Global<const u64> x = row.inputs_b[e], y = row.inputs_a[e];
            typename A::T key = A::balanced(unpacked(run, i % 64, bits), q, above);
            b.add(A::balanced(x[j], q, above), key, q);
            run = run + bits;
            if (row.halves == 2) key = A::balanced(unpacked(run, i % 64, bits), q, above), run = run + bits;
            a.add(A::balanced(y[j], q, above), key, q);
        }
    }
    row.b[i] = A::word(b.total(q), q);
    row.a[i] = A::word(a.total(q), q);
}
KERNEL(stream_sum_F50, StreamRows<F50>, 2) { stream_sum<F50>(p); }
KERNEL(stream_sum_S64, StreamRows<S64>, 2) { stream_sum<S64>(p); }
