//! Milliseconds of a relinearization that is rescaled, pass by pass, on one thread and on two, for every backend of this CPU or the one that
//! is named: `cargo run --release -p aglet-ring --example key_switch_speed avx2`. Least of seven runs; data does not matter.

use aglet_ring::{arch, primes, Error, Eval, Form, KeyProduct, Multiplier, Poly, Ring, Tensor};
use std::time::Instant;

const RUNS: usize = 7;
const PASSES: [&str; 6] = ["tensor", "digits", "key", "division", "in one", "two in one"];

/// Seconds of each pass for two digits of so many limbs in all, and of all passes in one for one product and for two.
fn passes(ring: &Ring, limbs: usize, special: usize) -> Result<[f64; 6], Error> {
    let filled = |q_limbs: usize, p_limbs: usize, seed: usize| -> Result<Poly<Eval>, Error> {
        let coefficients: Vec<i64> =
            (0..ring.n()).map(|i| ((i * 7919 + seed * 104_729) % 65_521) as i64 - 32_760).collect();
        Ok(ring.to_eval(ring.lift(&coefficients, ring.scratch(q_limbs, p_limbs)?)))
    };
    let operands = (0..4).map(|i| filled(limbs, 0, i)).collect::<Result<Vec<_>, _>>()?;
    let half = |first: usize| (first..first + 2).map(|i| filled(limbs, special, i)).collect::<Result<Vec<_>, _>>();
    let key = ring.key_block(&half(10)?, &half(20)?)?;
    let digits: Vec<Vec<usize>> = vec![(0..limbs.div_ceil(2)).collect(), (limbs.div_ceil(2)..limbs).collect()];
    let factor = Some(Multiplier::Residues(ring.special_product(special)));
    let Some(division) = ring.division(limbs, special, 1) else { return Ok([0.0; 6]) };
    let product = |[a0, a1, b0, b1]: [usize; 4]| {
        let [a0, a1, b0, b1] = [a0, a1, b0, b1].map(|i| &operands[i]);
        Tensor {
            lifted: [
                Form { factor, ..Form::product(a0, b0) },
                Form { products: vec![(1, a0, b1), (1, a1, b0)], factor, ..Form::default() },
            ],
            square: Form::product(a1, b1),
        }
    };
    let products = [product([0, 1, 2, 3]), product([2, 1, 0, 3])];
    let mut best = [f64::INFINITY; 6];
    for _ in 0..=RUNS {
        let mut at = vec![Instant::now()];
        let tensor = ring.forms(&products[0].forms(), limbs, 0)?;
        at.push(Instant::now());
        let cut = ring.digits(&[&tensor[2]], (limbs, special), &digits)?;
        at.push(Instant::now());
        let switched = KeyProduct { added_after: Some((&tensor[0], &tensor[1])), ..KeyProduct::of(&cut[0]) };
        let pairs = ring.key_products(&[switched], &key, None)?;
        at.push(Instant::now());
        let _quotients = ring.divide(&[&pairs[0].0, &pairs[0].1], &division)?;
        at.push(Instant::now());
        drop((tensor, cut, pairs));
        let mut seconds: Vec<f64> = at.windows(2).map(|at| (at[1] - at[0]).as_secs_f64()).collect();
        for of in [&products[..1], &products] {
            let begun = Instant::now();
            let _quotients = ring.relinearize(of, (limbs, special), &digits, &key, &division)?;
            seconds.push(begun.elapsed().as_secs_f64());
        }
        best.iter_mut().zip(seconds).for_each(|(best, one)| *best = best.min(one));
    }
    Ok(best)
}

fn main() -> Result<(), Error> {
    let (log_n, top, wanted) = (16, 1u64 << 50, std::env::args().nth(1));
    let primes: Vec<u64> = primes::ntt_primes(top as f64, log_n, &[], top).take(32).collect();
    for kernels in arch::available().iter().filter(|k| wanted.as_deref().is_none_or(|name| name == k.name())) {
        let ring = Ring::with_kernels(log_n, &primes[..21], &primes[21..], kernels)?;
        for limbs in [13, 17, 21] {
            for threads in [1, 2] {
                let Ok(pool) = rayon::ThreadPoolBuilder::new().num_threads(threads).build() else { continue };
                let seconds = pool.install(|| passes(&ring, limbs, limbs.div_ceil(2)))?;
                let each = PASSES.iter().zip(seconds).map(|(name, s)| format!("{name} {:.1}", s * 1e3));
                let each = each.collect::<Vec<_>>().join(", ");
                println!(
                    "{:10} {limbs} limbs, {threads} threads: {:.1} ms: {each}",
                    kernels.name(),
                    seconds[..4].iter().sum::<f64>() * 1e3
                );
            }
        }
    }
    Ok(())
}
