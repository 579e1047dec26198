// Bootstraps of LWE ciphertexts before and after their blind rotation: key switch (the embedding of eprint 2020/015), switch to the modulus 2N, the
// start of an accumulator, sample extraction. Words are canonical; doubles are added in the order of the host, unfused.

enum { GROUP = 64, SIDE_BY_SIDE = 4 };                  // degree of the key switch; columns of a block
struct KeySwitch {
    Global<const u64> inputs;                           // of each ciphertext its mask and body
    Global<const u64> key;                              // [group][digit][column][coefficient]
    Global<u64> switched;                               // of each ciphertext the coordinates that stay, and the body
    u64 q, coordinates, dimension, digits, columns;
};
// One coefficient of the sum in a thread. Its terms stay below 2^63: the host sees to it.
KERNEL(lwe_switch, KeySwitch, 4) {
    SHARED(u64, signs);
    u32 at = threadIdx.x % GROUP, column = blockIdx.y * SIDE_BY_SIDE + threadIdx.x / GROUP;
    Global<const u64> input = p.inputs + blockIdx.x * (p.coordinates + 1);
    long long sum = 0;
    for (u64 first = p.dimension, group = 0; first < p.coordinates; first += GROUP, group++) {
        if (threadIdx.x < GROUP) {
            u64 y = 0;
            if (first + at < p.coordinates) y = (((u64)input[first + at] << (p.digits + 1)) / p.q + 1) >> 1;
            // The non-adjacent digits of a_0 - sum a_i X^(64 - i): bits where they are 1, and where they are -1.
            u64 all = (1ull << p.digits) - 1, up = (3 * y & ~y) >> 1 & all, down = (y & ~(3 * y)) >> 1 & all;
            u32 to = (GROUP - at) % GROUP;
            signs[to] = at ? down : up, signs[GROUP + to] = at ? up : down;
        }
        __syncthreads();
        for (u32 k = 0; column < p.columns && k < GROUP; k++) {
            u64 up = signs[k], both = up | signs[GROUP + k];
            u64 place = (group * p.digits * p.columns + column) * GROUP + (at - k) % GROUP;
            for (; both; both >>= 1, up >>= 1, place += p.columns * GROUP)
                if (both & 1) {
                    long long x = (long long)(u64)p.key[place];
                    sum += (up & 1) != (at < k) ? x : -x;
                }
        }
        __syncthreads();
    }
    if (column >= p.columns) return;
    long long q = (long long)p.q, rest = sum % q;
    u64 less = (u64)(rest < 0 ? rest + q : rest), more = less ? p.q - less : 0;
    u64 to = column * GROUP + (GROUP - at) % GROUP;
    bool body = column + 1 == p.columns;
    if (body ? at : to >= p.dimension) return;
    u64 x = (u64)input[body ? p.coordinates : to] + (at ? less : more);
    p.switched[blockIdx.x * (p.dimension + 1) + (body ? p.dimension : to)] = least(x, x - p.q);
}

struct ModulusSwitch {
    Global<const u64> switched;
    Global<u64> exponents, bodies;                      // below 2N; of each coordinate one, or one and its negative
    double q, steps, mean;                              // 2N over the tables; of a coordinate of the secret
    u64 dimension, log_tables, two_n, is_signed;
};
// A ciphertext in a block.
KERNEL(lwe_exponents, ModulusSwitch, 4) {
    SHARED(double, rests);
    Global<const u64> input = p.switched + blockIdx.x * (p.dimension + 1);
    Global<u64> out = p.exponents + blockIdx.x * p.dimension * (p.is_signed ? 2 : 1);
    long long steps = (long long)(p.two_n >> p.log_tables);
    for (u64 i = threadIdx.x; i < p.dimension; i += blockDim.x) {
        double x = __ddiv_rn(plain_product((double)(u64)input[i], p.steps), p.q);
        u64 whole = (u64)x;
        whole += plain_sum(x, -(double)whole) >= 0.5;
        rests[i] = plain_sum(x, -(double)whole);
        u64 exponent = whole % (u64)steps << p.log_tables;
        if (p.is_signed) out[2 * i] = exponent, out[2 * i + 1] = exponent ? p.two_n - exponent : 0;
        else out[i] = exponent;
    }
    __syncthreads();
    if (threadIdx.x) return;
    double left = 0;
    for (u64 i = 0; i < p.dimension; i++) left = plain_sum(left, rests[i]);
    double x = __ddiv_rn(plain_product((double)(u64)input[p.dimension], p.steps), p.q);
    x = plain_sum(x, -plain_product(p.mean, left));
    long long body = (long long)x;
    body -= (double)body > x;
    body %= steps;
    p.bodies[blockIdx.x] = (u64)(body < 0 ? body + steps : body) << p.log_tables;
}

// What an accumulator begins with: a start times X^-body. Blocks x are accumulators, blocks y their columns in parts.
struct Start {
    Global<const u64> starts, bodies;
    Global<u64> accumulators;
    u64 q, n, columns, each, own;                       // accumulators of an input; whether each has a start of its own
};
KERNEL(lwe_start, Start, 4) {
    u64 at = blockIdx.y * blockDim.x + threadIdx.x, i = at % p.n, column = at / p.n;
    u64 from = (i + (u64)p.bodies[blockIdx.x / p.each]) % (2 * p.n), wrapped = from % p.n;
    u64 x = p.starts[((p.own ? blockIdx.x : 0) * p.columns + column) * p.n + wrapped];
    p.accumulators[(blockIdx.x * p.columns + column) * p.n + i] = from < p.n || !x ? x : p.q - x;
}

// Coefficients of accumulators as ciphertexts: of each accumulator so many.
struct Extraction {
    Global<const u64> accumulators, places;
    Global<u64> ciphertexts;
    u64 q, n, columns, count;
};
KERNEL(lwe_extract, Extraction, 4) {
    u64 at = blockIdx.y * blockDim.x + threadIdx.x, i = at % p.n, column = at / p.n, place = p.places[blockIdx.x % p.count];
    Global<const u64> from = p.accumulators + (blockIdx.x / p.count * p.columns + column) * p.n;
    Global<u64> to = p.ciphertexts + blockIdx.x * ((p.columns - 1) * p.n + 1) + column * p.n;
    if (column + 1 == p.columns) {
        if (i == 0) to[0] = from[place];
        return;
    }
    u64 x = from[i <= place ? place - i : p.n + place - i];
    to[i] = i <= place || !x ? x : p.q - x;
}
