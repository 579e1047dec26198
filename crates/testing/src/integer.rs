//! The smallest parameters of integers: two levels in a ring of tests, without and with a bootstrap.

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

/// Text of a literal with a bootstrap, whose keys are the smallest there are.
pub const REFRESHED: &str = r#"
family = "integer"
name = "refreshed"
source = "a ring for tests"
log_n = 6
plaintext_modulus = 65537
base_bits = 49
levels = { bits = 36, count = 2 }
special = { bits = 50, count = 8 }

[bootstrap]
sparse_weight = 31
slots_to_coeffs_bits = 48
last_bits = 38
digits = { bits = 50, count = 5 }
coeffs_to_slots_bits = [38, 40]
raised = { bits = 49, count = 2 }
max_log_qp = 867.0
"#;
