//! The sentence of every fault.

use super::*;
use crate::distribution::Secret;
use crate::Error;

fn said(fault: impl Into<ParameterFault>, sentence: &str) {
    let error = Error::from(fault);
    assert_eq!(error.to_string(), format!("These parameters do not work: {sentence}."));
}

#[test]
fn secrets() {
    said(
        SecretFault::Range { n: 1024, what: "block length", found: 1, least: 2 },
        "a secret of 1024 coefficients has block length 1; choose 2 to 1024",
    );
    said(
        SecretFault::Subring { found: 5, most: 13 },
        "the sparse secret in a subring of degree 2^5 is not between 6 and 13",
    );
    said(
        SecretFault::Special { found: 2 },
        "the sparse secret appears beside at most one special prime; write sparse_special = 0 or 1",
    );
    said(SecretFault::NoSparse, "this set has no sparse secret; take one made for bootstrapping");
    said(SecretFault::OtherSparse, "this set has another sparse secret; take one made for this bootstrap");
}

#[test]
fn chains() {
    said(ChainFault::Degree { log_n: 5 }, "log_n = 5 is not between 6 and 17");
    said(ChainFault::NotPrime { modulus: 15, log_2n: 14 }, "15 is not a prime below 2^61 that is 1 modulo 2^14");
    said(ChainFault::Twice { prime: 17 }, "the moduli contain a prime twice");
    said(ChainFault::Empty { q: 0, p: 1 }, "there must be at least one prime of Q and one special prime");
    said(ChainFault::Special { found: 40, limit: 32 }, "there are 40 special primes; take fewer than 32, larger ones");
    said(ChainFault::Spare { found: 1 }, "spare primes replace others, so QP has no fixed size; give max_log_qp");
    said(ChainFault::MaxLogQp { found: -1.0 }, "max_log_qp is not a finite number above 0");
    said(
        ChainFault::NoSpecial { max_log_qp: 60.0 },
        "max_log_qp leaves no special prime beside the whole chain; make it larger",
    );
    said(ChainFault::Subset { primes: 3 }, "the primes of a subset must exist, each once");
    said(ChainFault::Digits { limbs: 3 }, "the digits do not name every limb of Q exactly once");
    said(
        ChainFault::LongDigit { found: 33, most: 32 },
        "a digit of 33 limbs is longer than a base conversion takes; name digits of at most 32",
    );
    said(
        ChainFault::LargeLimb { limb: 2, bits: 60.0, special: 49.996 },
        "limb 2 of Q (60.00 bits) is larger than the special modulus (50.00); make the special primes larger or more",
    );
    said(
        ChainFault::Key { q_limbs: 4, p_limbs: 5, q: 3, p: 2 },
        "a key over 4 limbs of Q and 5 of P does not exist; choose 1 to 3 and 1 to 2",
    );
    said(
        ChainFault::LargeKey { q_limbs: 4, p_limbs: 5, most: 2 },
        "a key over 4 limbs of Q may have 2 special primes within max_log_qp, not 5",
    );
    said(
        ChainFault::Polynomial { q_limbs: 4, p_limbs: 5, q: 3, p: 2 },
        "a polynomial of 4 + 5 limbs does not fit a chain of 3 + 2 primes",
    );
}

#[test]
fn parameters_of_lwe() {
    said(LweFault::Shape { log_n: 13, rank: 4 }, "log_n = 13 and rank = 4 are not 6 to 12 and 1 to 3");
    said(LweFault::NotPrime { modulus: 15, step: 128 }, "15 is not a prime below 2^48 that is 1 modulo 128");
    said(
        LweFault::Dimension { found: 100, block: 3, most: 1023 },
        "dimension = 100 is not a multiple of 3 from 193 to 1023",
    );
    said(LweFault::Products { found: 18 }, "a block has 18 products, not between 1 and 16; use fewer levels");
    said(
        LweFault::Digits { gadget: 41, switch: 5 },
        "there are no digits, or they have more than 40 bits; use a smaller base or fewer levels",
    );
    said(
        LweFault::Deviations { lwe: -50.0, glwe: -20.0 },
        "the deviations of errors must be 2^-48 to 2^-2 of the modulus",
    );
    said(
        LweFault::NoPublicKey { coordinates: 5000, step: 16384 },
        "they have no public key; choose at most 4096 coordinates of the secret, not 5000, and a modulus that \
         is 1 modulo 16384",
    );
    let method = |fault: MethodFault, sentence| said(LweFault::from(fault), sentence);
    method(
        MethodFault::Secret { method: "blocks", secret: Secret::Ternary },
        "the blind rotation blocks has no keys for a uniform ternary secret; method blocks wants a binary or \
         block-binary one",
    );
    method(
        MethodFault::Secret { method: "dm", secret: Secret::Binary },
        "the blind rotation dm has no keys for a uniform binary secret; it wants a ternary one",
    );
    method(MethodFault::Base { base: 3 }, "digits in base 3: choose 2, 4, 8, 16 or 32");
    method(MethodFault::Window { window: 65 }, "a window of 65 automorphisms: choose 1 to 64");
    method(MethodFault::NtruRank { rank: 2 }, "rank = 2: method ntru has one polynomial, so rank 1");
}

#[test]
fn operands_of_lwe() {
    let (found, expected) = (2, 3);
    said(
        OperandFault::Size { what: "ciphertext", measure: "dimension", found, expected },
        "this ciphertext has another dimension; use one parameter set",
    );
    said(
        OperandFault::Key { key: "public key", measure: "degree", found, expected },
        "this public key has another degree; use keys of one parameter set",
    );
    said(
        OperandFault::Dimensions { found, expected },
        "these ciphertexts have other dimensions; use one parameter set",
    );
    said(OperandFault::EmptySum, "a sum of no ciphertexts has no key; give one at least");
    said(OperandFault::Automorphism { found, limit: 2048 }, "automorphisms are X -> X^t for odd t below 2048");
    said(OperandFault::Packed { found: 3, most: 512 }, "3 ciphertexts are no power of two up to 512");
    said(OperandFault::Table { n: 1024, found: 5 }, "a table of this set has 1024 entries, not 5");
    said(OperandFault::NoInverse, "this secret has no inverse, which ntru wants; draw another");
}

#[test]
fn ring_switches() {
    let (found, expected) = (2, 3);
    said(
        RingSwitchFault::Rings { small: 10, modulus: 257, large: 9 },
        "FHEW samples of degree 2^10 modulo 257 cannot stand in a ring of degree 2^9; take a parameter set \
         of another degree",
    );
    said(
        RingSwitchFault::Context { found, expected },
        "this ring switch is for another degree; make one for these parameters",
    );
    said(
        RingSwitchFault::SecretKey { found, expected },
        "this secret key has another degree; use the engine that it is of",
    );
    said(RingSwitchFault::Coefficient { index: 1024, count: 1024 }, "there is no coefficient 1024; there are 1024");
    said(RingSwitchFault::Class { class: 8, classes: 8 }, "there are 8 classes of coefficients, not 9");
    said(RingSwitchFault::Samples { found: 9, classes: 8 }, "9 samples do not fit 8 classes");
}
