// Sums of products, value by value, automorphisms, and residues of integers.

// (sum x y + sum c z + constant) factor at one limb: constants and factors of the first half of all positions and of the second.
template <class A> struct FormRow {
    Global<u64> out;
    Global<const Global<const u64>> products, terms;    // pairs of rows; rows
    Global<const typename A::T> constants;              // of each term two
    u64 product_count, term_count, has_factor;
    typename A::T constant[2];
    typename A::W factor[2];
    typename A::Q q;
};
template <class A> struct FormRows { Global<const FormRow<A>> rows; };

template <class A> INLINE void form(const FormRows<A> &p) {
    const FormRow<A> &row = entry(p.rows, blockIdx.y);
    u32 i = position(), half = 2 * i >= gridDim.x * blockDim.x;
    int above = 0;
    Products<A> sum;
    for (u64 k = 0; k < row.product_count; k++) {
        Global<const u64> x = row.products[2 * k], y = row.products[2 * k + 1];
        sum.add(A::balanced(x[i], row.q, above), A::balanced(y[i], row.q, above), row.q);
    }
    for (u64 k = 0; k < row.term_count; k++) {
        Global<const u64> x = row.terms[k];
        sum.add(A::balanced(x[i], row.q, above), row.constants[2 * k + half], row.q);
    }
    typename A::T value = A::plus(sum.total(row.q), row.constant[half], row.q);
    if (row.has_factor) value = A::times(value, row.factor[half], row.q);
    row.out[i] = A::word(value, row.q);
}
KERNEL(form_F50, FormRows<F50>, 2) { form<F50>(p); }
KERNEL(form_S64, FormRows<S64>, 2) { form<S64>(p); }

// The image of a row under an automorphism.
struct Image { Global<const u64> from; Global<u64> to; };
struct Images { Global<const Image> images; u64 galois, log_n; };
KERNEL(permute, Images, 2) {
    const Image &image = entry(p.images, blockIdx.y);
    u32 i = position();
    image.to[i] = image.from[source(i, p.galois, (u32)p.log_n)];
}

// Signed words as residues of one prime.
struct Lift { Global<const u64> from; Global<u64> to; S64::Q q; };
struct Lifts { Global<const Lift> lifts; };
KERNEL(lift, Lifts, 2) {
    const Lift &row = entry(p.lifts, blockIdx.y);
    u32 i = position();
    u64 x = row.from[i];
    bool negative = x >> 63;
    u64 r = S64::total(S64::Sum{negative ? 0 - x : x, 0}, row.q);
    row.to[i] = negative && r ? row.q.q - r : r;
}
