//! Values and bounds that are out of range.

use aglet_schemes::significant;

sentences! {
    /// A value or bound out of range.
    RangeError:
    NotFinite { value: String } => "The number {value} is not finite; pass a finite one.";
    NoneFinite { what: &'static str, value: String } => "The {what} {value} is not finite; pass finite ones.";
    Value { value: f64, level: usize, room: f64 } =>
        "A value of size {} does not fit at level {level}, which holds values up to {}; scale it down, or take a higher level.",
        significant(*value), significant(*room);
    Result { level: usize, room: f64 } =>
        "This result would not fit at level {level}, which holds values up to {}; scale the values down first, or compute at a higher level.",
        significant(*room);
    Multiplier { value: i64 } => "The integer {value} is too large to multiply by; give one below 2^53 in size, or a float, which takes one level.";

    Bound { bound: f64 } => "The bound {bound} is not positive and finite; give the largest size of a slot.";
    Assumed { name: &'static str, value: f64 } => "{name} = {value} is not positive; give an upper bound above 0.";
    AboveDeclared { bound: f64 } => "This message has a value larger than {bound}, the bound declared for it; declare a larger one.";
    AboveAssumed { bound: f64 } => "This message has a value larger than the given bound {bound}; scale the message down, or give a larger bound=.";
    AboveOwn { bound: f64 } =>
        "A value is larger than {}, the bound of this ciphertext. A message was too large for its bootstrap, so the result is wrong; give \
         that bootstrap a larger bound=, or get the values anyway with decrypt(..., check=False).",
        significant(*bound);

    AboveBootstrap { most: f64 } =>
        "This message has a value larger than {}, the most that this bootstrap takes; pass a larger bound=, or scale the message down.",
        significant(*most);
    BeyondPoints { most: f64, method: &'static str } =>
        "This message has a value beyond {most}, too far from the points of a {method} bootstrap; scale it down, or take a bootstrap that keeps \
         values as they are.";
    OutsideInterval { most: f64 } =>
        "This message has a value larger than {most}, outside of the interval that the function is made for; give a larger interval=, or scale the \
         message down.";
    Imaginary =>
        "A merging bootstrap takes real ciphertexts only, and this one may have imaginary parts; say real=True if it has none, bootstrap it on its \
         own, or encrypt real values.";
    ComparedBound { bound: f64 } =>
        "The declared bound of this message allows values as large as {}, and 1 is the most that a comparison takes; divide both sides by \
         the largest size they may have, which leaves their order as it is, or encrypt with a smaller bound=.",
        significant(*bound);
    Compared =>
        "This message has a value larger than 1, the most that a comparison takes; divide both sides by the largest size they may have, which \
         leaves their order as it is.";

    NoCoefficient => "A polynomial needs at least one coefficient, and there is none; pass [0] for zero.";
    BasisDegree { degree: usize } => "The degree of a basis is 1 to 2^20, not {degree}; choose another.";
    EmptySum => "A weighted sum needs at least one ciphertext, and there is none.";
    EmptyProducts => "A sum of products needs at least one product, and there is none.";
    EmptyMap => "A linear map needs at least one diagonal, and there is none.";
    Diagonal { length: usize, slots: usize } =>
        "A diagonal has {length} entries; give as many as it repeats after, a power of two up to {slots}.";
    EmptyMatrix => "The matrix has no entry.";
    MatrixShape { rows: usize, columns: usize, slots: usize } =>
        "A matrix of {rows} rows and {columns} columns cannot be multiplied here; give 1 to {slots} of each.";
    MatrixEntry { value: String } => "The matrix has the entry {value}, which is not finite; replace it.";

    Sharing { queries: u64, security: f64 } =>
        "queries = {queries} and security = {security} are out of range; give queries of 1 or more, and security of 0 to 256 bits.";
    UnknownToFlood =>
        "The noise of this ciphertext is not known, so flooding cannot hide it; encrypt with bound=, the largest size that values may have \
         (products and lower levels need it), or bootstrap before you share.";
    LeastBits { bits: f64, least: f64 } =>
        "{bits:.1} bits would remain of these values, fewer than least_bits = {least}; share fewer times (queries=), with less security=, with \
         fewer slots, or compute at a higher precision=.";
    Flooding => "The noise that hides the error does not fit at this level; take a smaller security= or fewer queries=, or share at a higher level.";
    NoPoint { distance: f64, points: &'static str } =>
        "A value is {distance} or more away from {points}, so its point is not certain; encrypt values at these points, and bootstrap before their \
         errors have grown.";
    ImaginaryPoints { points: &'static str } =>
        "Imaginary parts hold {points} too, and decrypt_bits gives those of real parts alone; read both with decrypt and numpy.rint.";

    Sum { value: i64, least: i64, most: i64, fix: &'static str } =>
        "A sum has left the range of its form: an element is {value}, outside {least} to {most}; keep sums within the range, or encrypt {fix}.";
    Failure { log2: f64, allowed: f64 } =>
        "The noise of these ciphertexts makes a decrypted value wrong with probability 2^{log2:.1}, and at most 2^{allowed} is allowed; bootstrap \
         before sums and multiples grow this large, take integers of fewer bits, or allow more with max_failure.";
    ComparedBits { bits: u32, modulus: u64, most: u32 } =>
        "Integers of {bits} bits cannot be compared modulo {modulus}; take 1 to {most} bits, and compare larger ones digit by digit.";

    NoSlot { slot: usize, count: usize } => "There is no slot {slot}; this engine has slots 0 to {}.",
        count - 1;
    NoPart { part: String } => "Slots have no part \"{part}\"; choose \"real\", \"imaginary\" or \"both\".";
    AboveReading { most: f64 } =>
        "This message has a value larger than {most}, the most that is read this way; scale it down, give bound=, or read more bits.";
    ReadingBound { bound: f64, most: f64 } =>
        "By the bound that was declared for this ciphertext its values may be as large as {}, and {} is the most that is read this way; \
         give bound= if you know better, or scale them down.",
        significant(*bound), significant(*most);
    UnknownToRead =>
        "The noise of this ciphertext is not known, so nobody can say how often a lookup of it would fail; encrypt with bound=, the largest size \
         that values may have, which products and lower levels need, or say what it is: noise=, the root mean square of the error of a slot.";
    BitsBack { count: usize, slots: usize } => "{count} bits do not fit {slots} slots; bring them back in parts, or make the engine with more slots.";
    MessagesBack { count: usize, slots: usize } => "{count} messages do not fit {slots} slots; bring them back in parts.";
    NoisyBits { log2_failure: f64 } =>
        "These bits have so much noise that one in 2^{:.0} would come back wrong; look up a table on them, or a gate, before.",
        -log2_failure;
    NoisyMessages => "These messages have so much noise that some would come back wrong; look up a table on them, or a gate, before.";
    MessageBits { most: u32 } => "These messages have 1 to {most} bits; say how many may be in use, or leave bits out.";
}
