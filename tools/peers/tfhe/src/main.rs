//! Time a gate or a table of tfhe-rs on one thread: `peer-tfhe PARAMETERS REPEAT` prints one line of JSON.

use std::time::Instant;

use serde_json::{json, Value};
use tfhe::boolean::parameters as bits;
use tfhe::boolean::prelude::{BinaryBooleanGates, BooleanParameters};
use tfhe::shortint::parameters as numbers;
use tfhe::shortint::ClassicPBSParameters;

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
        _ => panic!("there are no parameters {name}"),
    };
    (runs.0, runs.1, failure)
}

fn main() {
    let words: Vec<String> = std::env::args().collect();
    let (seconds, wrong, failure) = measured(&words[1], words[2].parse().expect("a number of runs"));
    let line: Value = json!({"seconds": seconds, "wrong": wrong, "parameters": words[1], "failure": failure});
    println!("{line}");
}
