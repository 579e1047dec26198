//! Memory that runs out is an error, and not the end of the process: what is held grows until a limit of address space.
#![cfg(target_os = "linux")]

use aglet::ckks::presets;
use aglet::{ckks, integer, Error, ErrorKind};
use std::process::Command;

/// Says to a child of this test what it fills its memory with.
const FILL: &str = "AGLET_TEST_FILL";

/// Holds more and more until it is refused.
fn fill<T>(mut one: impl FnMut() -> Result<T, Error>) {
    let mut held = vec![one().expect("the first fits")];
    let refused = loop {
        match one() {
            Ok(next) => held.push(next),
            Err(error) => break error,
        }
    };
    assert!(matches!(refused.kind(), ErrorKind::Memory), "{refused}");
}

fn fill_with(what: &str) {
    let engine = ckks::Engine::new(presets::load("toy", presets::Security::NotChecked).unwrap(), None, 1).unwrap();
    let (sk, message) = (engine.create_secret_key().unwrap(), vec![0.5; engine.slots()]);
    match what {
        "plaintexts" => fill(|| engine.encode(&message, 3)),
        "ciphertexts" => fill(|| engine.encrypt_with_secret(&engine.encode(&message, 3)?, &sk)),
        "keys" => fill(|| engine.create_relinearization_key(&sk)),
        _ => {
            let params = integer::presets::load("int-levels-13", integer::presets::Security::Bits128).unwrap();
            let engine = integer::Engine::new(params, integer::Packing::Slots, 1).unwrap();
            let sk = engine.create_secret_key().unwrap();
            fill(|| engine.encrypt_with_secret(&[1i64, 2, 3][..], 4, &sk));
        }
    }
}

#[test]
fn a_limit_of_memory_is_an_error() {
    if let Ok(what) = std::env::var(FILL) {
        return fill_with(&what);
    }
    let program = std::env::current_exe().unwrap();
    for what in ["plaintexts", "ciphertexts", "keys", "integers"] {
        let limited = "ulimit -v 900000 && exec \"$0\" memory::a_limit_of_memory_is_an_error --exact --nocapture";
        let ended = Command::new("sh").args(["-c", limited]).arg(&program).env(FILL, what).output().unwrap();
        assert!(ended.status.success(), "{what}: {}", String::from_utf8_lossy(&ended.stderr));
    }
}
