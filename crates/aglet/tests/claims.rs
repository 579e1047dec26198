//! What presets claim of the engine; the lattice floor recomputes the rest.

use aglet::{report, KeySize, Method, Request};

#[test]
fn the_keys_of_a_bootstrap_have_the_size_that_the_preset_claims() {
    let presets = report::presets().unwrap();
    let able: Vec<_> = presets.as_array().unwrap().iter().filter(|p| p["methods"][0] == "regular").collect();
    assert!(!able.is_empty());
    for preset in able {
        let slots = preset["slots"].as_u64().unwrap() as usize;
        let plan = {
            let request = Request::new(Method::Regular, 3, KeySize::Large, slots);
            report::plan(preset["name"].as_str().unwrap(), request)
        }
        .unwrap();
        let bytes = |name: &str| plan[name].as_u64().unwrap();
        assert_eq!(
            preset["key_bytes"].as_u64().unwrap(),
            bytes("key_bytes") + bytes("other_key_bytes"),
            "{}",
            preset["name"]
        );
    }
}
