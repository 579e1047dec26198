//! The sets of integers and what they do as JSON, for the command line.

use super::bootstrap::refreshed_noise;
use super::circuits::comparison_table;
use super::{card, cost, presets, Comparison, IntegerParams};
use crate::runtime::timed;
use crate::{process_memory, Error, Units};
use aglet_bootstrap::integer::{BootstrapCircuit, Refresh, INPUT_LEVEL};
use aglet_bootstrap::Bootstrapper;
use aglet_circuits::table::Table;
use aglet_ring::Tally;
use serde_json::{json, Value};

/// Bits and digits of the tables that a plan speaks of, and bits of its comparisons.
const TABLES: [(u32, usize); 4] = [(4, 1), (8, 2), (8, 1), (12, 3)];
const COMPARISONS: [u32; 2] = [4, 8];

/// All sets, with their claims.
///
/// # Errors
/// None for what comes with Aglet.
pub fn presets() -> Result<Value, Error> {
    let rows = presets::ALL.iter().map(|(name, _)| figures(&presets::load(name, presets::Security::NotChecked)?));
    rows.collect::<Result<Vec<_>, Error>>().map(Value::Array)
}

/// A set, with the size of its keys.
///
/// # Errors
/// None for a set that was checked.
pub fn figures(params: &IntegerParams) -> Result<Value, Error> {
    let key = super::keys::key_bytes(params)?;
    Ok(json!({
        "name": params.name(),
        "log_n": params.log_n(),
        "slot_count": 1u64 << params.log_slots(),
        "levels": params.max_level(),
        "plaintext_modulus": params.plain().value(),
        "log_qp": params.log_qp(),
        "security_bits": params.security().bits,
        "is_secure": params.security().is_secure(),
        "secret": params.secret().to_string(),
        "primes": params.q().len(),
        "special_primes": params.p().len(),
        "relinearization_key_bytes": key,
        "rotation_key_bytes": key * super::rotation_galois(params, 1 << params.log_slots()).len(),
        "ciphertext_bytes": 16 * params.n() * (params.max_level() + 1),
        "source": params.literal().source.trim(),
    }))
}

/// [`plan_of`] the set of this name.
///
/// # Errors
/// [`Error::Parameter`] for a set that does not exist.
pub fn plan(preset: &str, units: Option<&Units>) -> Result<Value, Error> {
    plan_of(&presets::load(preset, presets::Security::NotChecked)?, units)
}

/// What a set can do, computed before a key exists: circuits with their levels and work, and the bootstrap if there is
/// one; with unit costs also the seconds.
///
/// # Errors
/// None for a set that was checked.
pub fn plan_of(params: &IntegerParams, units: Option<&Units>) -> Result<Value, Error> {
    let bootstrap = params.bootstrap().is_ok().then(|| refresh(params, units)).transpose()?;
    Ok(json!({ "circuits": circuits(params, units)?, "bootstrap": bootstrap }))
}

fn circuits(params: &IntegerParams, units: Option<&Units>) -> Result<Vec<Value>, Error> {
    let (top, t, n) = (params.max_level(), params.plain(), params.n());
    let row = |name: String, levels: usize, relinearizations: usize, work: Option<Tally>| {
        let [work, seconds] = work.map_or([Value::Null, Value::Null], |work| timed(&work, n, units));
        json!({
            "circuit": name, "levels": levels, "relinearizations": relinearizations, "fits": levels <= top,
            "work": work, "seconds": seconds,
        })
    };
    let mut rows = vec![row("product".into(), 1, 1, Some(cost::product(params, [top, top])?))];
    let mut push = |name: String, table: &Table, digits: usize| -> Result<(), Error> {
        let depth = table.depth();
        let work = (depth <= top).then(|| cost::lookup(params, table, &vec![depth; digits])).transpose()?;
        rows.push(row(name, depth, table.relinearizations(), work));
        Ok(())
    };
    for (bits, digits) in TABLES {
        // Powers of a generator: a polynomial without zeros.
        let values: Vec<i64> = (0..1u64 << bits).map(|i| t.centre(t.pow(3, i))).collect();
        let words = if digits > 1 { format!(" in {digits} digits") } else { String::new() };
        push(format!("table of {bits} bits{words}"), &Table::of_digits(t, &values, digits)?, digits)?;
    }
    for bits in COMPARISONS {
        push(format!("comparison of {bits} bits"), &comparison_table(t, Comparison::Less, bits)?, 1)?;
    }
    Ok(rows)
}

/// The bootstrap: its stages with levels, keys and work, what its results have, and how rarely one is wrong.
fn refresh(params: &IntegerParams, units: Option<&Units>) -> Result<Value, Error> {
    let (circuit, n) = (BootstrapCircuit::new(params)?, params.n());
    let cost::Counted { stages: costs, demand, card } = cost::counted(&circuit, 1)?;
    let (keys, (expanded, stored), maps) = (circuit.stage_keys()?, circuit.key_bytes()?, circuit.encoded_bytes()?);
    let bytes = circuit.stage_key_bytes()?;
    let stages =
        circuit.plan.stages().iter().zip(keys.iter().zip(&bytes)).zip(&costs).map(|((stage, (keys, bytes)), cost)| {
            let [work, seconds] = timed(&cost.work, n, units);
            json!({
                "name": stage.name, "limbs_in": stage.from.level + 1, "limbs_out": stage.to.level + 1,
                "keys": keys.len(), "key_bytes": bytes, "work": work, "seconds": seconds,
            })
        });
    let level = circuit.plan.output().level;
    let primes = circuit.params.q().len() + circuit.params.p().len();
    let entries = circuit.plan.stages().iter().map(|stage| match &stage.step {
        Refresh::Apply(step) => step.map.maps().iter().map(|map| map.stored_entries()).sum(),
        Refresh::Raise(step) => step.map.stored_entries(),
        _ => 0,
    });
    // The pairs of residues of a map, and a copy of them that is cut into giant steps.
    let as_made = 2 * 16 * entries.sum::<usize>();
    let base = process_memory::base(n, primes, params.max_level() + 1) + as_made;
    let working = process_memory::at_once(&demand);
    let digits = params.bootstrap_failure()?;
    let log2_failure = params.digit_extraction_failure()?.map(|noise| (digits.exp2() + noise.exp2()).log2());
    let [work, seconds] = timed(&costs.iter().map(|cost| cost.work).sum(), n, units);
    Ok(json!({
        "input_level": INPUT_LEVEL, "output_level": level,
        "noise_budget": params.budget_at(level, refreshed_noise(params)), "log2_failure": log2_failure,
        "key_bytes": bytes.iter().sum::<usize>(), "map_bytes": maps, "key_bytes_seeded": stored,
        "working_bytes": working + base, "peak_bytes": expanded + maps + working + base, "card_bytes": card::with(&circuit, card)?.json(),
        "stages": stages.collect::<Vec<_>>(), "work": work, "seconds": seconds,
    }))
}
