// Products of digits with keys: at one limb sum_t phi_t(x_t) (b_t, a_t) + sum_s (phi_s(before_s), 0) + after: each term and addend has its automorphism.

struct KeyTerm { Global<const u64> digit, b, a; u64 galois; };
struct Addend { Global<const u64> x; u64 galois; };
template <class A> struct KeyRow {
    Global<const KeyTerm> terms;
    Global<const Addend> before;
    Global<const u64> after_b, after_a;                 // null for zero
    Global<u64> b, a;
    u64 count, before_count;                            // of terms; of what is added before
    typename A::Q q;
};
template <class A> struct KeyRows { Global<const KeyRow<A>> rows; u64 log_n; };

template <class A> INLINE typename A::T with(typename A::T sum, Global<const u64> added, u32 i, typename A::Q q) {
    int above = 0;
    if (added) sum = A::plus(sum, A::balanced(added[i], q, above), q);
    return sum;
}
template <class A> INLINE void add_terms(Products<A> &b, Products<A> &a, Global<const KeyTerm> terms, u64 count, u32 log_n, typename A::Q q) {
    u32 i = position();
    int above = 0;
    for (u64 t = 0; t < count; t++) {
        const KeyTerm &term = entry(terms, t);
        typename A::T x = A::balanced(term.digit[source(i, term.galois, log_n)], q, above);
        b.add(x, A::balanced(term.b[i], q, above), q);
        a.add(x, A::balanced(term.a[i], q, above), q);
    }
}
template <class A> INLINE void key_sum(const KeyRows<A> &p) {
    const KeyRow<A> &row = entry(p.rows, blockIdx.y);
    typename A::Q q = row.q;
    u32 i = position(), log_n = (u32)p.log_n;
    Products<A> b, a;
    add_terms<A>(b, a, row.terms, row.count, log_n, q);
    typename A::T first = b.total(q);
    for (u64 s = 0; s < row.before_count; s++) {
        const Addend &before = entry(row.before, s);
        first = with<A>(first, before.x, source(i, before.galois, log_n), q);
    }
    row.b[i] = A::word(with<A>(first, row.after_b, i, q), q);
    row.a[i] = A::word(with<A>(a.total(q), row.after_a, i, q), q);
}
KERNEL(key_sum_F50, KeyRows<F50>, 2) { key_sum<F50>(p); }
KERNEL(key_sum_S64, KeyRows<S64>, 2) { key_sum<S64>(p); }
