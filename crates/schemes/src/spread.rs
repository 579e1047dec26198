//! Polynomials of a subring in the ring: for fewer slots than it has, whatever they hold.

/// The coefficients of a polynomial of a subring as those of the ring of degree `n`.
pub fn spread(small: &[i64], n: usize) -> Vec<i64> {
    let (gap, mut wide) = (n / small.len(), vec![0; n]);
    small.iter().enumerate().for_each(|(j, &c)| wide[j * gap] = c);
    wide
}
