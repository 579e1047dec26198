//! The sentence of every fault.

use super::*;
use crate::Error;

fn said(fault: impl Into<ParameterFault>, sentence: &str) {
    let error = Error::from(fault);
    assert_eq!(error.to_string(), format!("These parameters do not work: {sentence}."));
}

#[test]
fn ship() {
    said(
        ShipFault::Weight { weight: 31, found: None, switch_bits: None },
        "[ship] takes ephemeral_weight = 31 and no sparse_switch_bits; write it so",
    );
    said(ShipFault::MessageRatio { found: None }, "[ship] needs a message_ratio_log2 between 0 and 60");
    said(
        ShipFault::Groups { eval_mod: 5 },
        "[ship] takes 5 eval_mod primes, one slots_to_coeffs prime, no coeffs_to_slots and spare ones, and the number \
         of message primes as regular_level",
    );
    said(
        ShipFault::Digits { raised: 4 },
        "the digits of [ship] do not name each of the 4 raised primes once; there must be some",
    );
    said(
        ShipFault::Values { columns: 65, cmuxes: vec![] },
        "[ship] takes 1 to 64 columns and 1 to 8 CMuxes of 1 to 64 values",
    );
    said(
        ShipFault::Reach { reach: 16, wanted: 32 },
        "the columns and CMuxes of [ship] reach 16 positions, and a window has 32; take more",
    );
    said(ShipFault::Bits { digit: 9, prime: 51 }, "[ship] takes digit_bits of 1 to 8, and primes of 50 bits or less");
    let windows = |window| ShipFault::Windows { n: 1024, weight: 31, window, most: 33 };
    said(
        windows(Some(68)),
        "a ring of degree 1024 has no room for 31 positions in windows of Some(68); choose half a window of 1 to 33",
    );
    said(
        windows(None),
        "a ring of degree 1024 has no room for 31 positions in windows of None; choose half a window of 1 to 33",
    );
    said(
        ShipFault::RaisedPrimes { apart: -2.26, most: 2.0 },
        "the raised primes have -2.3 bits more than the chain; take others, at most 2 apart",
    );
    said(
        ShipFault::LargeKey { found: 200.0, most: 180.0 },
        "max_log_qp leaves no room for the raised and all special primes; make it larger",
    );
    said(
        ShipFault::LargeDigit { special: 49.0 },
        "a digit of raised primes is larger than the special modulus; take shorter digits",
    );
    said(
        ShipFault::Count { log2_count: 300.04, bits: 120.02, share: 0.4 },
        "there are 2^300.0 sparse secrets, 120.0 bits of security where 0.4 of that exponent must be 128; take a \
         larger window or weight",
    );
    said(ShipFault::AllSlots, "these SHIP rotation keys are for all slots of the ring; make some for few");
}

#[test]
fn rotations() {
    said(
        RotationFault::Starts { starts: 2, ciphertexts: 4 },
        "2 starts for 4 ciphertexts; give as many for each, or one for all",
    );
    said(RotationFault::Tables { log_tables: 9, entries: 512 }, "2^9 tables do not fit 512 entries; give fewer");
    said(
        RotationFault::Odd { method: "ntru" },
        "method ntru rotates by odd exponents only, so tables cannot interleave; use another method",
    );
}
