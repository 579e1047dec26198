//! Oracles in exact integers: what residues stand for, and back.

pub use num_bigint::{BigInt, BigUint};

/// Pairwise coprime moduli, and their product.
pub struct Moduli {
    each: Vec<u64>,
    product: BigUint,
}

impl Moduli {
    /// Of these, which are pairwise coprime.
    pub fn new(each: &[u64]) -> Self {
        Self { each: each.to_vec(), product: each.iter().product() }
    }

    /// Their product.
    pub fn product(&self) -> &BigUint {
        &self.product
    }

    /// The residues of a number.
    pub fn residues(&self, x: &BigInt) -> Vec<u64> {
        self.each.iter().map(|&q| residue(x, q)).collect()
    }

    /// The number with these residues that lies in `(-Q/2, Q/2]`, by Garner's algorithm.
    pub fn centred(&self, residues: &[u64]) -> BigInt {
        assert_eq!(residues.len(), self.each.len(), "one residue for each modulus");
        let (mut x, mut product) = (BigUint::ZERO, BigUint::from(1u8));
        for (&q, &r) in self.each.iter().zip(residues) {
            let q_big = BigUint::from(q);
            let below = (&q_big + r - &x % &q_big) % &q_big;
            let inverse = (&product % &q_big).modinv(&q_big).expect("the moduli are coprime");
            x += &product * (below * inverse % &q_big);
            product *= q;
        }
        let twice: BigUint = &x * 2u8;
        if twice > self.product {
            BigInt::from(x) - BigInt::from(self.product.clone())
        } else {
            x.into()
        }
    }

    /// Numbers at which rounding a quotient in doubles is hardest: zero, the ends, and `+-Q/2` from exactly there to `2^-40 Q`
    /// away on either side, in steps of powers of two. Random numbers never come near them.
    pub fn hard(&self) -> Vec<BigInt> {
        let half = BigInt::from(&self.product >> 1u8);
        let mut all = vec![BigInt::ZERO, BigInt::from(1), BigInt::from(-1)];
        for bits in 40..=64u32 {
            let away = BigInt::from(&self.product >> bits);
            all.extend([&half - &away, &half + 1 - &away, &away - &half, -&half - &away, &half + &away]);
        }
        all.extend([half.clone(), -half]);
        all
    }
}

/// The residue of a number modulo `q`, in `[0, q)`.
pub fn residue(x: &BigInt, q: u64) -> u64 {
    let q = BigInt::from(q);
    let r: BigInt = ((x % &q) + &q) % &q;
    u64::try_from(r).expect("a residue is below its modulus")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_come_back_from_their_residues() {
        let moduli = Moduli::new(&[(1 << 50) - 27, (1 << 40) - 87, 97]);
        let half = BigInt::from(moduli.product() >> 1u8);
        for x in moduli.hard() {
            let found = moduli.centred(&moduli.residues(&x));
            let whole = BigInt::from(moduli.product().clone());
            assert!(found <= half && found >= -half.clone());
            assert_eq!((&found - &x) % whole, BigInt::ZERO, "{x}");
        }
        assert_eq!(moduli.centred(&[5, 5, 5]), BigInt::from(5));
        assert_eq!(moduli.residues(&BigInt::from(-1)), [(1 << 50) - 28, (1 << 40) - 88, 96]);
    }
}
