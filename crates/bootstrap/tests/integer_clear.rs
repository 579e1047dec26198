//! The bootstrap of integers in the clear: exact for every message and every low digit that a sparse secret can give.

use aglet_bootstrap::integer::{BootstrapCircuit, Exact, Raise, Refresh, INPUT_LEVEL};
use aglet_bootstrap::{Bootstrapper, Error, Plan, Stage};
use aglet_circuits::Rounding;
use aglet_rlwe::security::{Secret, Security};
use aglet_schemes::fault::IntegerFault;
use aglet_schemes::integer::prime_power::{
    slots as slots_of, Pair, PrimePower, PrimePowerClear, PrimePowerClearEvaluator, Residue, P,
};
use aglet_schemes::integer::{BootstrapPrimes, IntegerLiteral, IntegerParams, Primes};
use aglet_schemes::{Error as SchemeError, ParameterFault};

const INT16: &str = include_str!("../../aglet/presets/integer/int16.toml");
const DEEP: &str = include_str!("../../aglet/presets/integer/int16-deep.toml");

fn literal() -> IntegerLiteral {
    literal_of(INT16)
}

fn literal_of(text: &str) -> IntegerLiteral {
    let params = IntegerParams::from_toml(text, Security::NotChecked).unwrap();
    IntegerLiteral { claims: None, ..params.literal().clone() }
}

/// What is wrong with parameters.
fn fault(refused: Result<IntegerParams, SchemeError>) -> IntegerFault {
    match refused.unwrap_err() {
        SchemeError::BadParameters(ParameterFault::Integer(fault)) => fault,
        other => panic!("{other}"),
    }
}

fn params(log_n: u32) -> IntegerParams {
    IntegerParams::new(IntegerLiteral { log_n, ..literal() }, Security::NotChecked).unwrap()
}

fn message(slots: usize, seed: u64) -> Vec<Pair> {
    let one = |j: usize| Residue::new(i128::from((j as u64 + seed).pow(3) * 77 % P));
    (0..slots).map(|j| Pair([one(j), one(j + slots)])).collect()
}

fn refreshed(params: &IntegerParams, values: Vec<Pair>, low: Vec<i64>) -> PrimePowerClear {
    let circuit = BootstrapCircuit::new(params).unwrap();
    let e = PrimePowerClearEvaluator::new(1 << (params.log_slots() - 1), circuit.params.q().to_vec(), low);
    let Exact { level, power, correction_factor } = circuit.input();
    assert_eq!((level, power), (INPUT_LEVEL, PrimePower::One));
    circuit.run(&e, &[PrimePowerClear { values, level, power, correction_factor }], &mut ()).unwrap().remove(0)
}

fn modulo_p(values: &[Pair]) -> Vec<[u64; 2]> {
    values.iter().map(|v| v.0.map(|x| x.word() % P)).collect()
}

#[test]
fn every_low_digit_is_removed_in_rings_of_all_sizes() {
    for log_n in [6, 7, 10, 12] {
        let params = params(log_n);
        let slots = params.n() / 2;
        let top = params.max_level();
        for (seed, low) in [(5, (-15..=15).collect::<Vec<_>>()), (900, vec![15, -15]), (3, vec![0])] {
            let values = message(slots, seed);
            let out = refreshed(&params, values.clone(), low);
            assert_eq!((out.level, out.power), (top, PrimePower::One));
            assert!(PrimePower::One.same(out.correction_factor, Residue::new(params.correction_factor_at(top).into())));
            assert_eq!(modulo_p(&out.values), modulo_p(&values), "N = 2^{log_n}");
        }
        for same in [0, P - 1] {
            let values = vec![Pair::both(Residue::new(same.into())); slots];
            assert_eq!(modulo_p(&refreshed(&params, values.clone(), vec![15]).values), modulo_p(&values));
        }
        // One step further it is another number.
        let values = message(slots, 1);
        let wrong = refreshed(&params, values.clone(), vec![16]);
        assert_ne!(modulo_p(&wrong.values), modulo_p(&values));
    }
}

#[test]
fn messages_in_a_subring_are_refreshed_as_in_a_ring_of_its_degree() {
    let deep = |log_n, log_slots| IntegerLiteral { log_n, log_slots: Some(log_slots), ..literal_of(DEEP) };
    for (log_n, log_slots) in [(7, 6), (9, 7)] {
        let secret = Secret::FixedWeight(64);
        let literal = IntegerLiteral { secret, ..deep(log_n, log_slots) };
        let params = IntegerParams::new(literal, Security::NotChecked).unwrap();
        assert_eq!((params.log_slots(), params.sparse_n()), (log_slots, 1 << log_slots));
        let values = message(1 << (log_slots - 1), 7);
        let out = refreshed(&params, values.clone(), (-15..=15).collect());
        assert_eq!((out.level, modulo_p(&out.values)), (params.max_level(), modulo_p(&values)));
    }
    for (log_n, log_slots, most) in [(16, 16, 15), (10, 5, 10)] {
        let refused = IntegerParams::new(deep(log_n, log_slots), Security::NotChecked).unwrap_err();
        assert_eq!(refused, IntegerFault::Slots { log_slots, most, t: P }.into());
    }
    // In the ring of degree 2^16 the noise of a dense secret asks for primes of more than 50 bits.
    let dense = IntegerLiteral { secret: Secret::Ternary, levels: Primes { bits: 38, count: 7 }, ..deep(16, 15) };
    assert!(matches!(fault(IntegerParams::new(dense, Security::NotChecked)), IntegerFault::DigitPrimes { .. }));
}

#[test]
fn messages_from_elsewhere_come_up_with_every_error_that_is_removed() {
    let literal = IntegerLiteral { log_n: 9, log_slots: Some(8), secret: Secret::FixedWeight(64), ..literal_of(DEEP) };
    let deep = IntegerParams::new(literal, Security::NotChecked).unwrap();
    // The levels that are left: 35 and 34 bits each, of primes of 49 and 50.
    for (params, of, level) in [
        (params(8), (2, 4, 63), 5),
        (params(8), (2, 32, 31), 6),
        (params(8), (16, 32, 63), 1),
        (params(10), (4, 8, 63), 3),
        (deep.clone(), (2, 4, 63), 23),
        (deep, (16, 16, 63), 18),
    ] {
        let circuit = BootstrapCircuit::new(&params).unwrap();
        let (count, torus, bound): (u64, u64, u64) = of;
        let rounding = Rounding::new(count, torus, bound).unwrap();
        let slots = 1 << (params.log_slots() - 1);
        let e = PrimePowerClearEvaluator::new(slots, circuit.params.q().to_vec(), vec![0]);
        let raising = circuit.raising(rounding).unwrap();
        assert_eq!(raising.output().level, level, "{of:?}");
        // Coefficients: number j of each row stands where the DFT leaves it, so all that may come stands in all of them.
        let message = |j: usize| (j * j * 7 + j) as u64 % count;
        let error = |j: usize| (j as i64 * 11) % (2 * bound as i64 - 1) - bound as i64 + 1;
        let unit =
            |j: usize| Residue::new(i128::from((2 * message(j) * P + torus) / (2 * torus)) + i128::from(error(j)));
        let coefficients: Vec<Residue> = (0..2 * slots).map(unit).collect();
        let Exact { level, power, correction_factor } = raising.input();
        let ct = PrimePowerClear { values: slots_of(&coefficients), level, power, correction_factor };
        let out = raising.run(&e, &[ct], &mut ()).unwrap().remove(0);
        let bits = slots.ilog2();
        let found = modulo_p(&out.values);
        for (j, pair) in found.iter().enumerate() {
            let at = j.reverse_bits() >> (usize::BITS - bits);
            assert_eq!(*pair, [message(at), message(at + slots)], "{of:?}, slot {j}");
        }
    }
    // Not the levels for it.
    let circuit = BootstrapCircuit::new(&params(8)).unwrap();
    assert_eq!(circuit.rounding_levels(), 11);
    assert!(matches!(circuit.raising(Rounding::new(16, 32, 127).unwrap()), Err(Error::Chain { .. })));
}

#[test]
fn a_plan_with_a_stage_out_of_place_is_refused() {
    let circuit = BootstrapCircuit::new(&params(8)).unwrap();
    let moduli: Vec<f64> = circuit.params.q().iter().map(|&q| q as f64).collect();
    let stages = circuit.plan.stages();
    let refused = |stages: Vec<Stage<Refresh>>| matches!(Plan::new(stages, &moduli), Err(Error::Broken { .. }));
    for left_out in 1..stages.len() - 1 {
        let left: Vec<_> = stages.iter().enumerate().filter(|(i, _)| *i != left_out).map(|(_, s)| s.clone()).collect();
        // Alone, the step to the sparse secret changes no place.
        assert_eq!(
            refused(left),
            !matches!(stages[left_out].step, Refresh::Encapsulate(_)),
            "{}",
            stages[left_out].name
        );
    }
    let mut off = stages.to_vec();
    off[0].to.correction_factor = off[0].to.correction_factor + Residue::ONE;
    off[1].from.correction_factor = off[0].to.correction_factor;
    assert!(refused(off));
    let raise = stages.iter().find_map(|s| if let Refresh::Raise(raise) = &s.step { Some(raise) } else { None });
    let Raise { map, level } = raise.unwrap();
    assert_eq!((map.slots(), *level), (128, circuit.params.q().len() - 1));
}

#[test]
fn what_a_bootstrap_cannot_do_is_refused_with_its_reason() {
    let off = Security::NotChecked;
    let made = |change: &dyn Fn(&mut IntegerLiteral), security| {
        let mut changed = literal();
        change(&mut changed);
        IntegerParams::new(changed, security)
    };
    let primes = |change: &dyn Fn(&mut BootstrapPrimes)| fault(made(&|l| change(l.bootstrap.as_mut().unwrap()), off));
    let other = IntegerFault::BootstrapModulus { weight: 31, served: P, t: 786_433 };
    assert_eq!(fault(made(&|l| l.plaintext_modulus = 786_433, off)), other);
    assert!(matches!(primes(&|b| b.digits.bits = 46), IntegerFault::DigitPrimes { bits, t: P } if bits > 0.0));
    assert!(
        matches!(fault(made(&|l| l.levels.bits = 33, off)), IntegerFault::SmallLevel { bits, t: P, .. } if bits > 0.0)
    );
    assert!(matches!(primes(&|b| b.raised.bits = 44), IntegerFault::LastDivision { log2, least } if log2 < least));
    assert!(matches!(primes(&|b| b.sparse_weight = 32), IntegerFault::Failure { log2 } if log2 > -128.0));
    assert!(matches!(fault(made(&|l| l.base_bits = 44, off)), IntegerFault::Failure { log2 } if log2 > -128.0));
    let insecure = made(&|l| l.bootstrap.as_mut().unwrap().max_log_qp = 920.0, Security::Bits128);
    assert!(matches!(insecure, Err(SchemeError::Rlwe(aglet_rlwe::Error::InsecureParameters { .. }))));
    let none = IntegerParams::new(IntegerLiteral { bootstrap: None, ..literal() }, off).unwrap();
    let name = none.name().to_string();
    let refused = BootstrapCircuit::new(&none).unwrap_err();
    assert_eq!(refused, Error::Scheme(IntegerFault::NoBootstrap { name }.into()));
    // The corner of the cube, and the tail of the noise below.
    let failure = params(15).bootstrap_failure().unwrap();
    assert!((-133.5..-132.5).contains(&failure), "2^{failure}");
    // Noise where digits are removed: numbers come out right with far more room than it takes; a dense secret leaves too little to
    // prove that what comes out is as small as a rounding.
    let digit_extraction = params(15).digit_extraction_failure().unwrap().unwrap();
    assert!(
        (-130.5..-129.5).contains(&digit_extraction) && (failure.exp2() + digit_extraction.exp2()).log2() < -128.0,
        "2^{digit_extraction}"
    );
    let room = params(15).digit_extraction_room().unwrap();
    assert!((80.0..250.0).contains(&room), "{room} bits");
    let deep = IntegerParams::from_toml(DEEP, Security::Bits128).unwrap();
    let (low, digit_extraction) =
        (deep.bootstrap_failure().unwrap(), deep.digit_extraction_failure().unwrap().unwrap());
    assert!(
        (-133.5..-132.0).contains(&low) && (-129.5..-128.5).contains(&digit_extraction),
        "2^{low}, 2^{digit_extraction}"
    );
    // Too few primes for what squares leave of large roundings.
    let mut few = literal();
    few.levels.count = 1;
    few.bootstrap.as_mut().unwrap().raised = Primes { bits: 40, count: 1 };
    assert_eq!(IntegerParams::new(few, off).unwrap().digit_extraction_failure().unwrap(), None);
}
