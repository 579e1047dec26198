// The inner sums of linear maps: at one limb, for up to GIANTS giant steps, sum over baby steps of a diagonal times a rotated pair. Pairs are
// products of digits with keys, or what is not rotated.

enum { GIANTS = 4 };
// A rotated pair; of none terms it is the input itself.
struct Baby { Global<const KeyTerm> terms; u64 count, galois; };
// A word for each run of 2^shift positions; null for a diagonal that is not there.
template <class A> struct Diagonal { Global<const typename A::T> words; u64 shift; };
template <class A> struct MapRow {
    Global<const Baby> babies;
    Global<const Diagonal<A>> diagonals;                // of each giant step one for each baby step
    Global<const Global<u64>> out;                      // of each giant step b and a
    Global<const u64> lifted_b, lifted_a;               // null for zero
    u64 baby_count, giant_count;
    typename A::Q q;
};
template <class A> struct MapRows { Global<const MapRow<A>> rows; u64 log_n; };

template <class A> INLINE void linear_map(const MapRows<A> &p) {
    const MapRow<A> &row = entry(p.rows, blockIdx.y);
    u32 i = position(), log_n = (u32)p.log_n;
    typename A::Q q = row.q;
    Products<A> b[GIANTS], a[GIANTS];
    for (u64 k = 0; k < row.baby_count; k++) {
        const Baby &baby = entry(row.babies, k);
        Products<A> first, second;
        add_terms<A>(first, second, baby.terms, baby.count, log_n, q);
        typename A::T x = with<A>(first.total(q), row.lifted_b, source(i, baby.galois, log_n), q), y = second.total(q);
        if (!baby.count) y = with<A>(y, row.lifted_a, i, q);
#pragma unroll
        for (int g = 0; g < GIANTS; g++)
            if (g < row.giant_count) {
                const Diagonal<A> &diagonal = entry(row.diagonals, g * row.baby_count + k);
                if (diagonal.words) {
                    typename A::T c = diagonal.words[i >> diagonal.shift];
                    b[g].add(x, c, q), a[g].add(y, c, q);
                }
            }
    }
#pragma unroll
    for (int g = 0; g < GIANTS; g++)
        if (g < row.giant_count) {
            Global<u64> to_b = row.out[2 * g], to_a = row.out[2 * g + 1];
            to_b[i] = A::word(b[g].total(q), q), to_a[i] = A::word(a[g].total(q), q);
        }
}
KERNEL(linear_map_F50, MapRows<F50>, 2) { linear_map<F50>(p); }
KERNEL(linear_map_S64, MapRows<S64>, 2) { linear_map<S64>(p); }
