//! Parameters, options and combinations that do not exist.

sentences! {
    /// A parameter, option or combination that does not exist.
    ParameterError:
    Levels { levels: usize, most: usize } => "There is no parameter set with {levels} levels; there are sets up to {most}.";
    Depth { depth: usize, most: usize } =>
        "There is no set of integers with depth = {depth}; the largest has {most}. For more products use a set with a bootstrap, int16 or \
         int16-deep.";
    BabySteps { count: usize, slots: usize, fit: usize } =>
        "baby_step_count = {count} is not a power of two up to {slots}; choose one, such as {fit}.";
    Basis { name: String } => "There is no basis \"{name}\"; choose \"power\", \"chebyshev\" or \"half-chebyshev\".";
    HalfBasis => "make_basis takes \"power\" or \"chebyshev\"; choose one.";

    NoCiphertext => "A bootstrap needs a ciphertext.";
    Inputs { method: &'static str, wanted: usize, found: usize } => "A {method} bootstrap takes {wanted} ciphertexts, not {found}.";
    Iterations { iterations: usize, most: usize } => "iterations = {iterations} is not between 1 and {most}; two double the precision.";
    NotIterated { method: &'static str } => "A {method} bootstrap cannot be iterated; iterate the regular or the lossy one.";
    OnePass { preset: String } =>
        "The bootstrap of this preset leaves no level for a second pass; give iterations=1, or take a preset other than {preset}.";
    RaisesNothing => "The bootstrap of this preset does not raise the modulus, as scheme switching must; take a preset whose bootstrap does.";
    NoFunction => "This bootstrap evaluates no function; plan it with one.";
    InputError { error: f64 } => "input_error = {error} is no size of an error; give 0 or more.";
    MaxFailure => "max_failure is a probability; give a number between 0 and 1.";
    NoPoints =>
        "This ciphertext is not the result of a sign or bit bootstrap; refresh it with sign_bootstrap, with bits=True for values near 0 and 1, or \
         use decrypt_shared.";
    Coefficients =>
        "This engine packs coefficients, which have no rotations and no lookups, and no bootstrap if there are more coefficients than slots; make \
         it with packing=\"slots\".";

    Shape { count: usize, shape: Vec<usize> } => "{count} ciphertexts do not fit the shape {shape:?}.";
    Shapes { one: Vec<usize>, other: Vec<usize> } => "The shapes {one:?} and {other:?} differ; give arrays of one shape.";
    Lengths => "The arrays have different lengths; give arrays of equal length.";
    NoElement { at: usize, count: usize } => "There is no ciphertext {at} among {count}.";
    NoArray => "There is no array to join; give at least one.";
    NoSums { cells: usize, count: usize } => "{cells} ciphertexts have no sums of {count}; give an axis that has some.";
    Numbers { found: usize, wanted: usize } => "There are {found} numbers for {wanted} ciphertexts; give one each.";
    Forms { one: String, other: String } =>
        "One array holds values of the form \"{one}\" and the other \"{other}\"; bring them to one form with a table, or encrypt them alike.";
    Bits => "Bits have no sums; combine them with gates, as in engine.xor(x, y, key), or encrypt integers.";
    NegatedIntegers => "Integers have no negation as bits do; take a table, or subtract them from a number.";
    RefreshedIntegers =>
        "refresh takes bits and messages, and these are integers of more bits; take their digits, floor or sign, whose results have the noise of a \
         bootstrap.";
    NoTable => "There is no table to evaluate; give one or more.";
    NoEstimate { what: String } => "There is no estimate of \"{what}\"; name a call.";

    NoSwitch { name: String } => "Parameters \"{name}\" have no primes for slots_to_coeffs, which a switch begins with; take a set that bootstraps.";
    NoIntegerSwitch { name: String } =>
        "An engine of parameters \"{name}\" without a bootstrap or without slots has no slots_to_coeffs, which a switch begins with; take a set of \
         integers with a bootstrap, and slots.";
    IntegerReading { most: u32 } =>
        "Slots of integers go to FHEW as bits, messages or integers of up to {most} bits; take digits of larger ones before.";
    OnlyBitsBack => "Only bits go back, and these are integers; look up a table or a sign on them, whose results are 0 and 1.";
    NoIntegersBack => "Messages and bits go back, and these are integers; take their sign or digits, whose results are messages.";

    ThreadCount { count: usize, most: usize, cores: usize } =>
        "thread_count = {count} is more than {most}, the most on a machine of {cores} cores, where more threads take turns and save nothing; take 0 \
         for all cores.";
    Threads { reason: rayon::ThreadPoolBuildError } => "The threads could not be started: {reason}; use a smaller thread_count.";
    Transform { log_n: u32, bits: u32 } =>
        "A transform of degree 2^{log_n} with primes of {bits} bits is not supported; take log_n from 6 to 17 and bits from log_n + 8 (at least 20) \
         to 61.";
    PrimeBits { backend: String, bits: u32 } => "The backend {backend} serves primes up to 50 bits; {bits} bits run on scalar only.";
    NoRing { log_n: u32, bits: u32 } => "There are no rings of degree 2^{log_n} with primes of {bits} bits.";
    Units { names: String } => "Unit costs are microseconds of 0 or more for each of {names}; give all of them.";
}
