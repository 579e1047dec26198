//! The smallest parameters of integers: two levels in a ring of tests.

/// Text of a literal without security.
pub const FEWEST: &str = r#"
family = "integer"
name = "fewest"
source = "a ring for tests"
log_n = 7
plaintext_modulus = 257
base_bits = 30
levels = { bits = 30, count = 2 }
special = { bits = 32, count = 1 }
"#;
