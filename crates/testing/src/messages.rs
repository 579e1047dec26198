//! Messages for tests, made of exact fractions: they have the same bits on every machine.

use num_complex::Complex64;

/// Different complex numbers in the unit disc.
pub fn complex(n: usize, seed: usize) -> Vec<Complex64> {
    let part = |j: usize| ((j % 1009) as f64 / 1008.0 * 2.0 - 1.0) * 0.7;
    (0..n).map(|j| Complex64::new(part(j * 389 + seed * 131 + 7), part(j * 577 + seed * 257 + 3))).collect()
}

/// Different reals between -1 and 1.
pub fn real(n: usize, seed: usize) -> Vec<f64> {
    complex(n, seed).iter().map(|z| z.re).collect()
}

/// -1 and 1 in no pattern.
pub fn signs(n: usize, seed: usize) -> Vec<f64> {
    real(n, seed).iter().map(|x| x.signum()).collect()
}

/// 0 and 1 in no pattern.
pub fn bits(n: usize, seed: usize) -> Vec<f64> {
    signs(n, seed).iter().map(|x| (x + 1.0) / 2.0).collect()
}
