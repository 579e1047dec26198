//! Levels at which an operation does not work, and noise that is too large for an exact result.

sentences! {
    /// A level at which the operation does not work.
    LevelError:
    Below => "This ciphertext is below level 0; it comes from inside a bootstrap.";
    NoSuchLevel { level: usize, most: usize } => "Level {level} does not exist; this engine has levels 0 to {most}.";
    Up { now: usize, level: usize } =>
        "A ciphertext at level {now} cannot be brought to level {level}: levels only go down; bootstrap it to gain levels.";
    NoneLeft =>
        "This operation takes one level, and the ciphertext is at level 0; bootstrap it first, encrypt at a higher level, or make the engine with a \
         larger max_level=.";
    TooFew { what: String, count: usize, level: usize } =>
        "{what} needs {count} level{} and the ciphertext is at level {level}; bootstrap it first, or encrypt at level {count} or higher.",
        if *count == 1 { "" } else { "s" };
    Encoding { what: &'static str, operand: &'static str } => "{what} needs 1 level; encode {operand} for level 1 or higher, and bootstrap ciphertexts that are lower.";

    RotationKey { most: usize, level: usize } =>
        "This key rotates up to level {most} and the ciphertext is at level {level}; make the key for a higher level.";
    BootstrapKey { most: usize, level: usize } =>
        "A bootstrap key rotates at the levels of its linear maps, this one up to level {most}, and the ciphertext is at level {level}; bring it \
         down with level_down, or make a key for all steps with create_rotation_key(secret_key).";
    MatrixKey { most: usize, level: usize } =>
        "This matrix multiplication key serves levels up to {most} and the ciphertext is at level {level}; make the key for a higher level.";
    MatrixOfOtherKey => "This matrix was encoded for a matrix multiplication key of another shape; encode it for this one.";
    Matrix { what: &'static str, encoded: usize, level: usize } =>
        "This {what} was encoded for level {encoded} and the ciphertext is at level {level}; encode it for that level, or bring the ciphertext down \
         with level_down.";
    Weights { encoded: usize, level: usize } =>
        "These weights were encoded for level {encoded} and this sum is at level {level}; encode them for that level, or bring the ciphertexts down \
         with level_down.";

    IntegerBootstrapInput { least: usize, level: usize } =>
        "A bootstrap takes ciphertexts at level {least} or above, and this one is at level {level}: the bootstrap itself takes the lowest level. \
         Bootstrap it one product earlier.";
    MessagesBack { count: u64, levels: usize, room: usize } =>
        "With their noise, {count} messages come back through {levels} levels, and this engine has {room} for them: bring fewer bits back, look up \
         a table on them before, or take an engine of preset \"int16-deep\".";
}

sentences! {
    /// Noise that is too large for an exact result.
    NoiseError:
    UnknownForTable { largest: f64, limit: f64 } =>
        "The noise of this ciphertext is not known, so neither is the probability of a wrong entry; give input_error=, a bound on the \
         root-mean-square error of its slots (this table takes up to {largest:.3e} at 2^{limit:.0}), or encrypt with bound=.";
    Table { failure: f64, limit: f64, largest: f64, noise: f64 } =>
        "Some slot of this table would be nearer to another entry with a probability of 2^{failure:.1}, above the limit of 2^{limit:.0}; its slots \
         may err by {largest:.3e} (root mean square) and this one may by {noise:.3e}: look up earlier, or give max_failure=.";
    NoInputForTable { failure: f64, limit: f64 } =>
        "Some slot of this table would be nearer to another entry with a probability of 2^{failure:.1}, above the limit of 2^{limit:.0}; no input \
         is precise enough for these entries: give entries that are further apart or fewer of them, or max_failure=.";
    BootstrapInput { bits: f64, level: usize } =>
        "This ciphertext has {bits:.1} bits more noise than a bootstrap takes: no rescale follows rotations and sums at level {level}. Rotate and \
         sum at level {} or above, before the last product, or bootstrap first.",
        level + 1;
}
