//! What presets claim of the engine; the lattice floor recomputes the rest.

use aglet::ckks::failure::Shortfall;
use aglet::ckks::presets;
use aglet::ckks::{failure, report, BootstrapCircuit, BootstrapKind, KeySize, Method, Request};
use aglet::integer;
use aglet_bootstrap::ckks::slots_first::steps::eval_mod::{EvalMod, Function, K, MAX_WEIGHT};
use aglet_rlwe::security::Security;
use aglet_rlwe::Params;
use aglet_schemes::ckks::params::MAX_EPHEMERAL_WEIGHT;
use aglet_schemes::ckks::CkksParams;
use aglet_testing::documents::row;

#[test]
fn the_keys_of_a_bootstrap_have_the_size_that_the_preset_claims() {
    let presets = report::presets().unwrap();
    let able: Vec<_> = presets.as_array().unwrap().iter().filter(|p| p["methods"][0] == "regular").collect();
    assert!(!able.is_empty());
    let claims = able.into_iter().map(|preset| {
        let (name, slots) = (preset["name"].as_str().unwrap(), preset["slots"].as_u64().unwrap() as usize);
        let params = presets::load(name, presets::Security::NotChecked).unwrap();
        let stages = BootstrapKind::of(&params).rules().default_stages(Method::Regular, slots);
        let plan =
            report::plan(&params, Request::new(Method::Regular, stages, KeySize::Large, slots), None, None).unwrap();
        let bytes = |what: &str| plan[what].as_u64().unwrap();
        ((name, preset["key_bytes"].as_u64().unwrap()), (name, bytes("key_bytes") + bytes("other_key_bytes")))
    });
    let (claimed, found): (Vec<_>, Vec<_>) = claims.unzip();
    assert_eq!(claimed, found);
}

/// log2 of the chance that some slot of a regular bootstrap, all slots full, has six bits less than claimed.
fn failure_of(params: &CkksParams, passes: usize) -> Option<f64> {
    let bits_only = params.literal().extension.is_some() && params.message_ratio_log2() == Some(1.0);
    let method = if bits_only { Method::Bits } else { Method::Regular };
    let circuit = BootstrapCircuit::new(
        params,
        Request::new(
            method,
            BootstrapKind::of(params).rules().default_stages(method, params.slots()),
            KeySize::Large,
            params.slots(),
        ),
    )
    .unwrap();
    let of = failure::claimed(params, passes).map(Shortfall::failure)?;
    failure::log2_failure(params, &circuit, of, passes).unwrap()
}

#[test]
fn failures_are_as_rare_as_presets_claim() {
    let able = presets::ALL
        .iter()
        .map(|(name, _)| presets::load(name, presets::Security::NotChecked).unwrap())
        .filter(presets::can_bootstrap);
    let (mut claimed, mut found) = (Vec::new(), Vec::new());
    for params in able {
        let claims = params.literal().claims.clone().unwrap();
        for (passes, claim) in [(1, claims.log2_p_fail), (2, claims.log2_p_fail_two)] {
            let up = |log2: f64| (log2 * 10.0).ceil() / 10.0;
            claimed.push((params.name().to_string(), passes, claim));
            found.push((params.name().to_string(), passes, failure_of(&params, passes).map(up)));
        }
    }
    assert_eq!(claimed, found);
    assert!(found.iter().flat_map(|f| f.2).all(|log2| log2 < -64.0), "a failure is rarer than 2^-64");
    assert_eq!(found.iter().filter(|f| f.2.is_some()).count(), 18);
}

const PARAMETERS: &str = include_str!("../../../docs/parameters.md");

/// What the documents say that bootstraps leave, and `tests/real.rs` measures, is the same everywhere and at most half a bit above
/// the claim of a preset.
#[test]
fn the_documents_agree_on_bits() {
    let measured = |name: &str| -> Vec<f64> {
        row(PARAMETERS, "## Bits by message", name).into_iter().map(Option::unwrap_or_default).collect()
    };
    for (name, _) in presets::ALL.iter().filter(|(name, _)| !name.starts_with("toy")) {
        let Some(claims) = presets::load(name, presets::Security::NotChecked).unwrap().literal().claims.clone() else {
            continue;
        };
        let iterated = format!("`{name}`, 2 iterations");
        for (name, claim) in [(format!("`{name}`"), claims.precision_bits), (iterated, claims.precision_bits_two)] {
            let Some(claim) = claim else { continue };
            let found = measured(&name)[0];
            assert!((0.0..=0.5).contains(&(found - claim)), "{name} claims {claim}, and {found} are written");
        }
    }
    let (regular, high, highest) = (measured("`regular`"), measured("`precise`"), measured("`precise`, 2 iterations"));
    for (word, bits) in [("standard", &regular), ("high", &high), ("highest", &highest)] {
        let said = row(PARAMETERS, "## Precision", &format!("`\"{word}\"`"));
        assert_eq!(said[1..4], [bits[0], bits[2], bits[4]].map(Some), "{word}");
    }
    let readme = row(include_str!("../../../README.md"), "## How it compares", "**Aglet**");
    assert_eq!(readme[3..5], [regular[0], regular[2]].map(Some));
    let comparing = include_str!("../../../docs/comparing.md").split_whitespace().collect::<Vec<_>>().join(" ");
    let words = format!(
        "a bootstrap leaves {:.1} bits and a product 26, with `precision=\"high\"` {:.1} and 35, with `precision=\"highest\"` {:.1} and 35",
        regular[0], high[0], highest[0]
    );
    assert!(comparing.contains(&words), "docs/comparing.md should say: {words}");
}

/// `|I| <= (h + 1) / 2` and eval_mod covers `|I| < K`: the floors that know of secrets and of polynomials say the same.
#[test]
fn no_weight_of_the_sparse_secret_leaves_the_range_of_eval_mod() {
    assert_eq!(MAX_EPHEMERAL_WEIGHT, MAX_WEIGHT);
    assert!(MAX_EPHEMERAL_WEIGHT.div_ceil(2) as f64 + 0.5 < K);
    let eval_mod = EvalMod::new(Function::Identity { harmonics: 2 }, EvalMod::MESSAGE_RATIO).unwrap();
    assert!(eval_mod.tail(MAX_EPHEMERAL_WEIGHT + 1, 1.0).is_err());
    let text = presets::ALL.iter().find(|(name, _)| *name == "toy").unwrap().1;
    let of_weight = |h: usize| text.replace("ephemeral_weight = 32", &format!("ephemeral_weight = {h}"));
    assert!(CkksParams::from_toml(&of_weight(31), Security::NotChecked).is_ok());
    let refused = CkksParams::from_toml(&of_weight(33), Security::NotChecked).unwrap_err().to_string();
    assert!(refused.contains("weight 33") && refused.contains("up to 32"), "{refused}");
    for (name, _) in presets::ALL {
        let params = presets::load(name, presets::Security::NotChecked).unwrap();
        assert!(params.ephemeral_weight().unwrap_or(0) <= MAX_WEIGHT, "{name}");
    }
}

/// The table of SECURITY.md: the sparse secret at q0 p', in whole bits, rounded down.
#[test]
fn the_sparse_secret_is_as_secure_as_the_document_says() {
    let text = include_str!("../../../SECURITY.md");
    let numbers = presets::ALL
        .iter()
        .map(|(name, _)| (*name, Params::clone(&presets::load(name, presets::Security::NotChecked).unwrap())));
    let exact = integer::presets::ALL.iter().map(|(name, _)| {
        (*name, integer::presets::load(name, integer::presets::Security::NotChecked).unwrap().rlwe().clone())
    });
    for (name, params) in numbers.chain(exact) {
        let Some(report) = params.sparse_security().filter(|_| params.security().is_secure()) else { continue };
        let row = text.lines().find(|line| line.trim().starts_with('|') && line.contains(&format!("`{name}`")));
        let row = row.unwrap_or_else(|| panic!("SECURITY.md has no row for {name}"));
        let wanted = format!("| {:.0} bits | {:.0} |", report.log_q, report.bits.floor());
        assert!(row.contains(&wanted), "{row}, but {name} has {wanted}");
    }
}
