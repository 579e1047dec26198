//! How scales grow over the linear maps of a bootstrap.

use super::Layout;
use aglet_schemes::LinearMap;

/// How scales grow by `total` over maps that are rescaled by `primes`, in the order of application.
///
/// Diagonals are rounded at ratio times prime, and what the first maps leave weighs most: all ratios are equal, unless a
/// diagonal would be smaller than those of a later map. Then these maps share what they have.
pub(super) fn scale_ratios(primes: &[f64], total: f64) -> Vec<f64> {
    let even = total.powf(1.0 / primes.len() as f64);
    // Runs of maps with diagonals of one size, none larger than the one before: that size, and how many maps.
    let mut runs: Vec<(f64, i32)> = Vec::new();
    for prime in primes {
        let mut run = (even * prime, 1);
        while let Some(before) = runs.pop_if(|before| before.0 < run.0) {
            let count = before.1 + run.1;
            run = ((before.0.powi(before.1) * run.0.powi(run.1)).powf(1.0 / f64::from(count)), count);
        }
        runs.push(run);
    }
    let sizes = runs.into_iter().flat_map(|(size, count)| std::iter::repeat_n(size, count as usize));
    sizes.zip(primes).map(|(size, prime)| size / prime).collect()
}

/// The largest coefficients of a diagonal, below those that an encoder takes.
const LARGEST: f64 = 2_305_843_009_213_693_952.0; // 2^61

/// The scale after a single map that goes from one scale at the top of the chain to another in two levels: as large as its
/// coefficients allow, and so that an integer is left for the second rescale.
pub(super) fn first_of_two(layout: &Layout, maps: &[LinearMap], from: f64, to: f64) -> f64 {
    let values = maps.iter().flat_map(|map| map.diagonals().values().flatten());
    let largest = values.map(|v| v.norm()).fold(0.0, f64::max);
    let top = layout.moduli.len() - 1;
    let factor = (largest * to / from * layout.moduli[top] * layout.moduli[top - 1] / LARGEST).max(1.0).ceil();
    to * layout.moduli[top - 1] / factor
}

#[cfg(test)]
mod tests {
    use super::scale_ratios;

    #[test]
    fn no_diagonal_is_smaller_than_that_of_a_later_map() {
        let close = |a: f64, b: f64| (a / b - 1.0).abs() < 1e-12;
        for (primes, even) in [
            (vec![2f64.powi(48); 3], true),
            (vec![2f64.powi(50), 2f64.powi(47), 2f64.powi(44)], true),
            (vec![2f64.powi(40), 2f64.powi(40), 2f64.powi(48), 2f64.powi(48), 2f64.powi(47)], false),
            (vec![2f64.powi(49), 2f64.powi(40), 2f64.powi(50)], false),
        ] {
            let ratios = scale_ratios(&primes, 900.0);
            assert!(close(ratios.iter().product::<f64>(), 900.0));
            let sizes: Vec<f64> = ratios.iter().zip(&primes).map(|(ratio, prime)| ratio * prime).collect();
            assert!(sizes.windows(2).all(|pair| pair[0] > pair[1] * (1.0 - 1e-12)), "{sizes:?}");
            assert_eq!(ratios.iter().all(|r| close(*r, ratios[0])), even);
        }
        // The last prime is the smallest as it is.
        let ratios = scale_ratios(&[2f64.powi(40), 2f64.powi(48), 2f64.powi(30)], 1.0);
        assert!(close(ratios[0], 16.0) && close(ratios[1], 1.0 / 16.0) && close(ratios[2], 1.0));
    }
}
