//! Time a gate, a table or an operation on integers of tfhe-rs on one thread: `peer-tfhe PARAMETERS REPEAT` prints one
//! line of JSON. An operation is named like `uint16/add`.

use std::time::Instant;

use serde_json::{json, Value};
use tfhe::boolean::parameters as bits;
use tfhe::boolean::prelude::{BinaryBooleanGates, BooleanParameters};
use tfhe::prelude::*;
use tfhe::shortint::parameters as numbers;
use tfhe::shortint::ClassicPBSParameters;
use tfhe::{set_server_key, FheBool, FheUint16, FheUint32, FheUint64, FheUint8};

/// Seconds of each call after two that are not counted, and how many results are wrong.
fn timed(repeat: usize, mut call: impl FnMut(usize) -> (f64, bool)) -> (Vec<f64>, usize) {
    let runs: Vec<(f64, bool)> = (0..repeat + 2).map(&mut call).collect();
    let wrong = runs.iter().filter(|run| !run.1).count();
    (runs[2..].iter().map(|run| run.0).collect(), wrong)
}

fn nand(parameters: &BooleanParameters, repeat: usize) -> (Vec<f64>, usize) {
    let client = tfhe::boolean::prelude::ClientKey::new(parameters);
    let server = tfhe::boolean::prelude::ServerKey::new(&client);
    timed(repeat, |turn| {
        let (x, y) = (turn % 2 == 0, turn % 3 == 0);
        let (a, b) = (client.encrypt(x), client.encrypt(y));
        let start = Instant::now();
        let found = server.nand(&a, &b);
        (start.elapsed().as_secs_f64(), client.decrypt(&found) == !(x & y))
    })
}

/// A table over message and carry: of `bits` bits in all, with one of padding.
fn table(parameters: ClassicPBSParameters, repeat: usize) -> (Vec<f64>, usize) {
    let size = (parameters.message_modulus.0 * parameters.carry_modulus.0) as u64;
    let client = tfhe::shortint::ClientKey::new(parameters);
    let server = tfhe::shortint::ServerKey::new(&client);
    let square = move |x: u64| x * x % size;
    let lookup = server.generate_lookup_table(square);
    timed(repeat, |turn| {
        let x = 7 * turn as u64 % size;
        let encrypted = client.unchecked_encrypt(x);
        let start = Instant::now();
        let found = server.apply_lookup_table(&encrypted, &lookup);
        (start.elapsed().as_secs_f64(), client.decrypt_message_and_carry(&found) == square(x))
    })
}

/// The parameters of the interface for integers, a message of two bits beside a carry of two.
const INTEGERS: ClassicPBSParameters = numbers::v1_8::V1_8_PARAM_MESSAGE_2_CARRY_2_KS_PBS_TUNIFORM_2M128;

/// Two numbers of a sequence that goes through all words.
fn drawn(turn: usize) -> (u64, u64) {
    let step = |x: u64| x.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ (x >> 7);
    let x = step(2 * turn as u64 + 3);
    (x, step(x ^ 0x5DEE_CE66))
}

macro_rules! integers {
    ($operation:expr, $repeat:expr, $clear:ty, $encrypted:ty) => {{
        let client = tfhe::ClientKey::generate(tfhe::ConfigBuilder::with_custom_parameters(INTEGERS));
        set_server_key(tfhe::ServerKey::new(&client));
        timed($repeat, |turn| {
            let (x, y) = drawn(turn);
            // Every third pair is equal, and no divisor is 0.
            let (x, y) = (x as $clear, if turn % 3 == 0 { x as $clear | 1 } else { y as $clear | 1 });
            let (a, b) = (<$encrypted>::encrypt(x, &client), <$encrypted>::encrypt(y, &client));
            let choice = FheBool::encrypt(turn % 2 == 0, &client);
            let start = Instant::now();
            macro_rules! number {
                ($made:expr, $expected:expr) => {{
                    let made: $encrypted = $made;
                    let seconds = start.elapsed().as_secs_f64();
                    let found: $clear = made.decrypt(&client);
                    (seconds, found == $expected)
                }};
            }
            macro_rules! flag {
                ($made:expr, $expected:expr) => {{
                    let made: FheBool = $made;
                    let seconds = start.elapsed().as_secs_f64();
                    (seconds, made.decrypt(&client) == $expected)
                }};
            }
            match $operation {
                "add" => number!(&a + &b, x.wrapping_add(y)),
                "sub" => number!(&a - &b, x.wrapping_sub(y)),
                "mul" => number!(&a * &b, x.wrapping_mul(y)),
                "div" => number!(&a / &b, x / y),
                "and" => number!(&a & &b, x & y),
                "min" => number!(a.min(&b), x.min(y)),
                "max" => number!(a.max(&b), x.max(y)),
                "where" => number!(choice.if_then_else(&a, &b), if turn % 2 == 0 { x } else { y }),
                "lt" => flag!(a.lt(&b), x < y),
                "eq" => flag!(a.eq(&b), x == y),
                other => panic!("there is no operation {other}"),
            }
        })
    }};
}

fn integers(bits: &str, operation: &str, repeat: usize) -> (Vec<f64>, usize) {
    match bits {
        "uint8" => integers!(operation, repeat, u8, FheUint8),
        "uint16" => integers!(operation, repeat, u16, FheUint16),
        "uint32" => integers!(operation, repeat, u32, FheUint32),
        "uint64" => integers!(operation, repeat, u64, FheUint64),
        other => panic!("there are no integers {other}"),
    }
}

/// The failure probabilities are those that tfhe-rs states beside its parameters.
fn measured(name: &str, repeat: usize) -> (Vec<f64>, usize, &'static str) {
    let (runs, failure) = match name {
        "DEFAULT_PARAMETERS_KS_PBS" => (nand(&bits::DEFAULT_PARAMETERS_KS_PBS, repeat), "2^-64.0"),
        "PARAMETERS_ERROR_PROB_2_POW_MINUS_165_KS_PBS" => {
            (nand(&bits::PARAMETERS_ERROR_PROB_2_POW_MINUS_165_KS_PBS, repeat), "2^-166.8")
        }
        "PARAM_MESSAGE_1_CARRY_1_KS_PBS_GAUSSIAN_2M128" => {
            (table(numbers::v1_8::V1_8_PARAM_MESSAGE_1_CARRY_1_KS_PBS_GAUSSIAN_2M128, repeat), "2^-128.2")
        }
        "PARAM_MESSAGE_2_CARRY_2_KS_PBS_GAUSSIAN_2M128" => {
            (table(numbers::v1_8::V1_8_PARAM_MESSAGE_2_CARRY_2_KS_PBS_GAUSSIAN_2M128, repeat), "2^-128.6")
        }
        "PARAM_MESSAGE_2_CARRY_2_KS_PBS_TUNIFORM_2M128" => {
            (table(numbers::v1_8::V1_8_PARAM_MESSAGE_2_CARRY_2_KS_PBS_TUNIFORM_2M128, repeat), "2^-129.6")
        }
        _ => {
            let (bits, operation) = name.split_once('/').expect("parameters, or an operation as uint16/add");
            (integers(bits, operation, repeat), "2^-129.6")
        }
    };
    (runs.0, runs.1, failure)
}

fn main() {
    let words: Vec<String> = std::env::args().collect();
    let (seconds, wrong, failure) = measured(&words[1], words[2].parse().expect("a number of runs"));
    let parameters = if words[1].contains('/') { "PARAM_MESSAGE_2_CARRY_2_KS_PBS_TUNIFORM_2M128" } else { &words[1] };
    let line: Value = json!({"seconds": seconds, "wrong": wrong, "parameters": parameters, "failure": failure});
    println!("{line}");
}
