//! The work of integers, counted before a key exists: plans and circuits run on evaluators that count.

use super::IntegerParams;
use crate::runtime::{Counter, StageCost};
use crate::Error;
use aglet_bootstrap::integer::{BootstrapCircuit, Exact};
use aglet_bootstrap::Bootstrapper;
use aglet_circuits::table::Table;
use aglet_circuits::Rounding;
use aglet_ring::{Demand, Tally};
use aglet_schemes::integer::prime_power::PrimePowerCostEvaluator;
use aglet_schemes::integer::SlotCost;
use aglet_schemes::Evaluator;

/// The work of every stage of `count` bootstraps side by side.
///
/// # Errors
/// Parameters without a bootstrap.
pub fn stages(params: &IntegerParams, count: usize) -> Result<Vec<StageCost>, Error> {
    let circuit = BootstrapCircuit::new(params)?;
    Ok(counted(&circuit, count)?.stages)
}

/// What one run counts.
pub(super) struct Counted {
    /// The work of each stage.
    pub(super) stages: Vec<StageCost>,
    /// The scratch memory.
    pub(super) demand: Demand,
    /// The most bytes of polynomials on a card at one time.
    pub(super) card: usize,
}

/// Counts so many runs of a circuit side by side.
pub(super) fn counted(circuit: &BootstrapCircuit, count: usize) -> Result<Counted, Error> {
    let (params, keys) = circuit.keys()?;
    let e = PrimePowerCostEvaluator::new(params, keys.into_iter().collect());
    let Exact { level, power, correction_factor } = circuit.input();
    let mut counter = Counter::of(|| e.take());
    let inputs: Vec<_> = (0..count).map(|_| e.encrypt(level, power, correction_factor)).collect();
    circuit.run(&e, &inputs, &mut counter)?;
    Ok(Counted { stages: counter.stages, demand: e.demand(), card: e.card_bytes() })
}

/// The work of repacking messages.
#[derive(Debug)]
pub struct Raising {
    /// The work of every stage.
    pub stages: Vec<StageCost>,
    /// The levels of the polynomial that removes noise.
    pub levels: usize,
    /// The level of the result.
    pub level: usize,
}

/// The work of each stage of repacking messages, for a number of messages and a torus, with a polynomial for errors
/// below a bound.
///
/// # Errors
/// Parameters without a bootstrap, or without the levels for the polynomial.
pub fn raising(params: &IntegerParams, (count, torus, bound): (u64, u64, u64)) -> Result<Raising, Error> {
    let circuit = BootstrapCircuit::new(params)?;
    let rounding = Rounding::new(count, torus, bound).map_err(aglet_bootstrap::Error::from)?;
    let levels = rounding.levels();
    let raising = circuit.raising(rounding)?;
    Ok(Raising { stages: counted(&raising, 1)?.stages, levels, level: raising.output().level })
}

/// The work of a product of two fresh ciphertexts at these levels, relinearized.
///
/// # Errors
/// Levels that do not exist, and level 0.
pub fn product(params: &IntegerParams, levels: [usize; 2]) -> Result<Tally, Error> {
    let e = SlotCost::new(params)?;
    e.mul(&e.encrypt(levels[0])?, &e.encrypt(levels[1])?)?;
    Ok(e.take())
}

/// The most bytes that polynomials of such a product take on a card at one time.
pub(super) fn product_on_card(params: &IntegerParams, levels: [usize; 2]) -> Result<usize, Error> {
    let e = SlotCost::new(params)?;
    e.mul(&e.encrypt(levels[0])?, &e.encrypt(levels[1])?)?;
    Ok(e.card_bytes())
}

/// The work of a table at digits that are fresh at these levels: one level for each.
///
/// # Errors
/// As [`Engine::lookup`](super::Engine::lookup).
pub fn lookup(params: &IntegerParams, table: &Table, levels: &[usize]) -> Result<Tally, Error> {
    let e = SlotCost::new(params)?;
    let digits = levels.iter().map(|&level| e.encrypt(level)).collect::<Result<Vec<_>, _>>()?;
    table.evaluate(&e, &digits)?;
    Ok(e.take())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::integer::{presets, Ciphertext, Engine, Packing};
    use crate::Control;

    /// What the threads of an engine do for one thing.
    fn counted(engine: &Engine, work: impl Fn() -> Result<Ciphertext, Error>) -> Tally {
        engine.run(|| Ok(Tally::take())).unwrap();
        work().unwrap();
        engine.run(|| Ok(Tally::take())).unwrap()
    }

    #[test]
    fn the_work_of_products_and_tables_is_what_the_kernels_do() {
        for (preset, threads) in [("int-levels-13", 1), ("int-levels-14", 2)] {
            let engine =
                Engine::new(presets::load(preset, presets::Security::Bits128).unwrap(), Packing::Slots, threads)
                    .unwrap();
            let (params, top, control) = (engine.params(), engine.params().max_level(), Control::new());
            let sk = engine.create_secret_key().unwrap();
            let (pk, relin) = (engine.create_public_key(&sk).unwrap(), engine.create_relinearization_key(&sk).unwrap());
            let fresh = |level| engine.encrypt(&[1, 2, 3], level, &pk).unwrap();
            for levels in [[top, top], [top, 1], [2, 3], [1, 1]] {
                let [a, b] = levels.map(fresh);
                let found = counted(&engine, || engine.multiply(&a, &b, &relin));
                assert_eq!(found, product(params, levels).unwrap(), "{preset} {levels:?}");
            }
            // With and without coefficients that are zero, in one variable and in two, at one level and at several.
            let square: Vec<i64> = (0..16).map(|v| v * v % 11).collect();
            let cases: [(&[i64], usize, &[usize]); 6] = [
                (&square, 1, &[top]),
                (&square[..4], 1, &[2]),
                (&[0, 1, 4, 9, 16, 25], 1, &[top]),
                (&square[..4], 2, &[top, 3]),
                (&square[..9], 2, &[3, 4]),
                (&square[..8], 3, &[4, 4, 4]),
            ];
            for (values, digits, levels) in cases {
                let table = engine.table(values, digits).unwrap();
                let cts: Vec<_> = levels.iter().map(|&level| fresh(level)).collect();
                let found = counted(&engine, || engine.lookup(&cts, &table, &relin, &control));
                assert_eq!(found, lookup(params, &table, levels).unwrap(), "{preset} {values:?} {levels:?}");
            }
            assert!(product(params, [0, 1]).is_err() && product(params, [top + 1, 1]).is_err());
        }
    }
}
