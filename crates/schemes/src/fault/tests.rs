//! The sentence of every fault.

use super::*;
use crate::Error;

fn said(fault: impl Into<ParameterFault>, sentence: &str) {
    let error = Error::from(fault);
    assert_eq!(error.to_string(), format!("These parameters do not work: {sentence}."));
}

#[test]
fn texts() {
    let message = "what is this".to_string();
    said(TextFault::Unreadable { message: message.clone() }, "what is this");
    said(
        TextFault::Line { message: message.clone(), line: 3 },
        "the text is not a parameter set: what is this in line 3",
    );
    said(TextFault::Unwritable { message }, "they cannot be written as text: what is this");
}

#[test]
fn extensions() {
    let fault = ExtensionFault::new(TextFault::Unreadable { message: "[own] is wrong".into() });
    assert!(fault.of::<TextFault>().is_some() && fault.of::<CkksFault>().is_none());
    assert_eq!(fault, ExtensionFault::new(TextFault::Unreadable { message: "[own] is wrong".into() }));
    assert_ne!(fault, ExtensionFault::new(CkksFault::Order));
    said(fault, "[own] is wrong");
}

#[test]
fn literals_of_ckks() {
    said(
        CkksFault::Family { found: "b\u{7}v".into() },
        "they are of the family \"b\\u{7}v\", and only \"ckks\" is read here; use the engine of that family, or update \
         Aglet",
    );
    said(CkksFault::NoFamily, "they name no family; write family = \"ckks\" above them");
    said(CkksFault::Name { bytes: 0, most: 64 }, "the name has 0 bytes; take 1 to 64");
    said(CkksFault::Degree { log_n: 5 }, "log_n = 5 is not between 6 and 17");
    said(
        CkksFault::Group { role: "Message".into(), count: 0, bits: 40, most: 512, least_bits: 19 },
        "the Message group has 0 primes of 40 bits; give it 1 to 512 primes of 19 to 61 bits",
    );
    said(CkksFault::Primes { found: 600, most: 512 }, "there are more than 512 primes in all; take fewer, larger ones");
    said(
        CkksFault::Order,
        "the moduli are out of order; write them bottom to top: base, slots_to_coeffs, message, eval_mod, \
         coeffs_to_slots, spare, raised, special",
    );
    said(CkksFault::Base { found: 2 }, "there must be exactly one base prime");
    said(CkksFault::Message { groups: 0 }, "there must be exactly one group of message primes");
    said(CkksFault::NoSpecial, "there is no special prime; key switching needs at least one");
    said(
        CkksFault::SmallBase { base: 40, message: 40 },
        "the base prime must have more bits than the message primes, or level 0 cannot hold a message",
    );
    said(
        CkksFault::FewPrimes { log_2n: 17, bits: 19, role: "SlotsToCoeffs".into() },
        "there are not enough primes = 1 mod 2^17 of 19 bits for the SlotsToCoeffs group; take more bits or \
         fewer primes",
    );
    said(
        CkksFault::RegularLevel { found: None, most: 13 },
        "regular_level belongs to the eval_mod primes and is at most the number of message primes, 13",
    );
    said(CkksFault::Raised, "raised primes belong to a bootstrap with a table of its own; write that table");
    said(
        CkksFault::Weight { weight: 33, most: 32 },
        "an ephemeral secret of weight 33 may add more than 16 q0 when the modulus is raised, and eval_mod removes at \
         most that; choose a weight up to 32",
    );
    said(
        CkksFault::SwitchBits { found: 60, special: 50 },
        "sparse_switch_bits = 60, but p' is the first special prime, which has 50 bits; make them equal",
    );
    said(CkksFault::MessageRatio { found: f64::NAN }, "message_ratio_log2 = NaN is not between 0 and 60");
    said(
        CkksFault::BootstrapFields,
        "ephemeral_weight, sparse_switch_bits and message_ratio_log2 belong to the eval_mod primes: give all of them \
         or none",
    );
}

#[test]
fn literals_of_integers() {
    said(
        IntegerFault::Plaintext { t: 4 },
        "the plaintext modulus 4 is not odd and between 3 and 2^31; 65537 has slots in every ring",
    );
    said(
        IntegerFault::BinarySecret,
        "a binary secret is larger at some roots than noise is estimated for; take a ternary one",
    );
    said(
        IntegerFault::Primes { levels: 513, special: 1 },
        "there are more than 512 levels or 64 special primes; take fewer, larger ones",
    );
    said(
        IntegerFault::BootstrapPrimes { found: 65 },
        "there are more than 64 primes of one kind for the bootstrap; take fewer, larger ones",
    );
    said(
        IntegerFault::Slots { log_slots: 5, most: 15, t: 65537 },
        "2^5 slots are not between 2^6 and 2^15, as many as there are modulo 65537",
    );
    said(
        IntegerFault::FewPrimes { what: "level", bits: 70 },
        "there are not enough level primes of 70 bits; take more bits or fewer primes",
    );
    said(
        IntegerFault::SmallLevel { prime: 257, bits: 1.26, t: 65537 },
        "the prime 257 is 1.3 bits too small for a level: products modulo 65537 square their noise; take larger primes \
         or a smaller t",
    );
    said(
        IntegerFault::SmallBase { bits: 1.26, t: 65537 },
        "the base prime has 1.3 bits too few for messages modulo 65537; make it larger, or take a smaller t",
    );
    said(IntegerFault::NoBootstrap { name: "small".into() }, "the set small has no bootstrap; take int16");
    said(
        IntegerFault::BootstrapModulus { weight: 24, served: 65537, t: 257 },
        "the bootstrap with a sparse secret of weight 24 is for the plaintext modulus 65537, not 257; take 65537, or a \
         set without a bootstrap",
    );
    said(
        IntegerFault::DigitPrimes { bits: 0.5, t: 65537 },
        "the primes of digit extraction are 0.5 bits too small for products modulo the square of 65537; take \
         larger ones",
    );
    said(
        IntegerFault::LastDivision { log2: 20.0, least: 30.0 },
        "the raised primes and that of the last product are too small for its noise; take larger ones",
    );
    said(
        IntegerFault::Failure { log2: -127.96 },
        "a bootstrap would fail with probability 2^-128.0; take a sparse secret of smaller weight",
    );
}
