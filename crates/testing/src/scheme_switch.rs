//! A switch that is as small as can be, for files.

/// Its slots: as few and small primes as a bootstrap takes.
pub const SLOTS: &str = r#"
family = "ckks"
name = "scheme-switch-corpus"
source = "The chain of wire-corpus with a level for lossy bootstraps, in a ring of degree 2^8: no security at all."
log_n = 8
ephemeral_weight = 32
sparse_switch_bits = 50
message_ratio_log2 = 6.75
regular_level = 3
moduli = [
    { role = "base", bits = 47, count = 1 },
    { role = "slots_to_coeffs", bits = 40, count = 3 },
    { role = "message", bits = 40, count = 4 },
    { role = "eval_mod", bits = 50, count = 9 },
    { role = "coeffs_to_slots", bits = 48, count = 3 },
    { role = "special", bits = 50, count = 8 },
]
"#;

/// Its lookups: those of the files of gates, in a ring half as large.
pub use crate::fhew::FEWEST as FHEW;
