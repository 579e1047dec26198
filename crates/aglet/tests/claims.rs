//! What presets claim of the engine; the lattice floor recomputes the rest.

use aglet::ckks::{report, KeySize, Method, Request};

#[test]
fn the_keys_of_a_bootstrap_have_the_size_that_the_preset_claims() {
    let presets = report::presets().unwrap();
    let able: Vec<_> = presets.as_array().unwrap().iter().filter(|p| p["methods"][0] == "regular").collect();
    assert!(!able.is_empty());
    let claims = able.into_iter().map(|preset| {
        let (name, slots) = (preset["name"].as_str().unwrap(), preset["slots"].as_u64().unwrap() as usize);
        let plan = report::plan(name, Request::new(Method::Regular, 3, KeySize::Large, slots), None).unwrap();
        let bytes = |what: &str| plan[what].as_u64().unwrap();
        ((name, preset["key_bytes"].as_u64().unwrap()), (name, bytes("key_bytes") + bytes("other_key_bytes")))
    });
    let (claimed, found): (Vec<_>, Vec<_>) = claims.unzip();
    assert_eq!(claimed, found);
}
