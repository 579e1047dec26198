//! Statistics of noise and of samplers.

/// Mean of squares: the variance of what is centred.
pub fn variance(x: &[i64]) -> f64 {
    x.iter().map(|&v| (v as f64).powi(2)).sum::<f64>() / x.len() as f64
}

/// Pearson's statistic for observed counts and expected probabilities.
pub fn chi_square(counts: &[usize], probabilities: &[f64]) -> f64 {
    let total: usize = counts.iter().sum();
    let terms = counts.iter().zip(probabilities).map(|(&count, &p)| {
        let expected = total as f64 * p;
        (count as f64 - expected).powi(2) / expected
    });
    terms.sum()
}

/// What [`chi_square`] stays below: the mean of its distribution and five standard deviations.
pub fn chi_square_limit(degrees: f64) -> f64 {
    degrees + 5.0 * (2.0 * degrees).sqrt()
}

/// How exact a result is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Precision {
    /// `-log2` of the mean error.
    pub mean: f64,
    /// `-log2` of the largest error.
    pub worst: f64,
}

/// The precision of results with these errors, in absolute size.
pub fn precision(errors: &[f64]) -> Precision {
    let mean = errors.iter().sum::<f64>() / errors.len() as f64;
    Precision { mean: -mean.log2(), worst: -errors.iter().copied().fold(0.0, f64::max).log2() }
}

/// Bits that the largest of so many errors falls short of only once in 2^20 times, by the bits of their mean: errors of slots follow at most the
/// law of Laplace, as roundings are multiplied by the secret's own value at the slot.
pub fn rarest_worst(mean: f64, errors: usize) -> f64 {
    mean - ((errors as f64).ln() + 20.0 * 2f64.ln()).log2()
}
