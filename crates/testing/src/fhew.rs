//! Parameters of gates for tests of files.

/// As few coordinates as gates can have, read in a moment: no security at all. Kept files carry this text.
pub const FEWEST: &str = r#"
family = "fhew"
name = "fhew-corpus"
source = "As few coordinates as gates can have: no security at all."
messages = 2
squared_weights = 2.0
modulus = 1_099_469_684_737
log_n = 7
rank = 2
dimension = 196
secret = { block_binary = 4 }
levels = 1
log_base = 17
switch_digits = 11
lwe_error = -14.0
glwe_error = -36.0
"#;
