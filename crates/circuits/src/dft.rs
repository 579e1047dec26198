//! The homomorphic DFT: `coeffs_to_slots` and `slots_to_coeffs` as a few sparse linear maps each.
//!
//! The special FFT, over the complex numbers or residues ([`DftScalar`]), is a product of `log2 n` radix-2 layers (after a bit reversal) with three diagonals each, at distances
//! 0 and plus or minus `2^i`. Consecutive layers are merged into stages (eprint 2018/1073; baby and giant steps as in
//! eprint 2020/1203); one stage costs one level. The bit reversal is never computed:
//! `slots_to_coeffs` makes from slots `z` a ciphertext with coefficients `c_j + i c_(j+n) = z_(reversed j)`, and
//! `coeffs_to_slots` is its inverse, so whatever happens slot by slot in between does not notice the order.
//!
//! A merged stage of `m` layers with strides `s .. 2^(m-1) s` has diagonals at `-(2^m - 1) s .. (2^m - 1) s` of period
//! `2^m s`. To count baby steps and giant steps from 0, it is rotated by `2^m s`, and since this is the stride of the
//! neighbouring stage, the leftover rotation disappears there. The stage that contains the stride `n/2` wraps around:
//! its indices are non-negative anyway, and it absorbs its neighbour's rotation for nothing.

use crate::error::Error;
use aglet_ring::fft::layer_twiddles;
use aglet_schemes::integer::prime_power::{Pair, Residue};
use aglet_schemes::{LinearMap, Scalar};
use num_complex::Complex64;
use std::collections::BTreeMap;

/// Scalars that have the roots of unity of a special FFT.
///
/// Complex numbers have them all. In `Z_t[i]` with `t = 1 mod 4n`, where a slot is a pair of residues, the root `zeta` of order
/// `4n` is the pair `(zeta, zeta^-1)`: everything here holds word for word.
pub trait DftScalar: Scalar {
    /// The twiddles `w_j = zeta^(5^j)`, `j < half`, with `zeta` of order `8 half`, of the layer of butterflies
    /// `(l, h) -> (l + w h, l - w h)` at distance `half`.
    fn twiddles(half: usize) -> Vec<Self>;
    /// The inverse of a root of unity.
    #[must_use]
    fn inverse_root(self) -> Self;
    /// Half of it.
    #[must_use]
    fn half(self) -> Self;
    /// Factors, one for each of `count` stages, whose product it is. None if it has no inverse.
    fn shares(self, count: usize) -> Option<Vec<Self>>;
}

impl DftScalar for Complex64 {
    fn twiddles(half: usize) -> Vec<Self> {
        layer_twiddles(half)
    }
    fn inverse_root(self) -> Self {
        self.conj()
    }
    fn half(self) -> Self {
        0.5 * self
    }
    /// Evenly, as its principal root.
    fn shares(self, count: usize) -> Option<Vec<Self>> {
        (self.is_finite() && self.norm() != 0.0).then(|| vec![self.powf(1.0 / count as f64); count])
    }
}

impl DftScalar for Pair {
    fn twiddles(half: usize) -> Vec<Self> {
        Self::twiddles(half)
    }
    fn inverse_root(self) -> Self {
        self.swapped()
    }
    fn half(self) -> Self {
        self.half()
    }
    /// The first takes all of it, as there need not be a root.
    fn shares(self, count: usize) -> Option<Vec<Self>> {
        let mut shares = vec![Self::ONE; count];
        *shares.first_mut()? = self;
        self.0.iter().all(|x| x.inverse() * *x == Residue::ONE).then_some(shares)
    }
}

/// How a stage is evaluated.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BabySteps {
    /// What a giant step costs, in baby steps: the number of baby steps is the power of two that makes `baby + cost * giant`
    /// smallest, or the smaller one of two as good. 6 to 8 is the cost in time; a smaller number makes fewer keys.
    pub giant_cost: f64,
    /// Baby steps at most: with 2 all rotations are powers of two.
    pub most: usize,
    /// Whether it rotates to the right, as the rotation keys of users do.
    pub right: bool,
}

impl BabySteps {
    /// Baby steps of a map of so many diagonals.
    fn baby(self, diagonals: usize) -> usize {
        let steps = |baby: usize| baby as f64 + self.giant_cost * diagonals.div_ceil(baby) as f64;
        let choices = (0..usize::BITS - 1).map(|i| 1usize << i).take_while(|&b| b <= self.most && b < 2 * diagonals);
        choices.min_by(|&a, &b| steps(a).total_cmp(&steps(b))).unwrap_or(1)
    }
    /// The map, evaluated in the steps that are best for its diagonals.
    ///
    /// # Errors
    /// None for steps that were made here.
    pub fn on<S: Scalar>(self, map: LinearMap<S>) -> Result<LinearMap<S>, Error> {
        let baby = self.baby(map.diagonals().len());
        let map = map.with_baby(baby)?;
        Ok(if self.right { map.to_the_right() } else { map })
    }
    fn sign(self) -> isize {
        if self.right {
            -1
        } else {
            1
        }
    }
}

/// The stages of slots-to-coefficients times `factor`, in the order of application (smallest strides first).
///
/// Applied to slots `z`, the stages give a ciphertext with coefficient pairs `c_j + i c_(j+n) = factor * z` in
/// bit-reversed order of `j`. `factor` (not zero) is spread over the stages.
///
/// # Errors
/// [`Error::Slots`], [`Error::StageCount`], [`Error::Factor`].
pub fn slots_to_coeffs<S: DftScalar>(
    slots: usize,
    stage_count: usize,
    factor: S,
    steps: BabySteps,
) -> Result<Vec<LinearMap<S>>, Error> {
    let shares = check(slots, stage_count, factor)?;
    let mut stages = Vec::with_capacity(stage_count);
    let mut first = 0;
    for (layers, share) in even_split(slots.ilog2(), stage_count).into_iter().zip(shares) {
        let maps = (first..first + layers).map(|i| layer(slots, i));
        stages.push(merge(slots, maps, share, steps)?);
        first += layers;
    }
    for i in 1..stages.len() {
        let shift = steps.sign() * stages[i].stride() as isize;
        stages[i - 1] = stages[i - 1].then_rotated(shift);
        stages[i] = stages[i].of_rotated(-shift);
    }
    Ok(stages)
}

/// The stages of coefficients-to-slots times `factor`, in the order of application (largest strides first), of so many layers each.
///
/// Applied to a ciphertext with coefficient pairs `c_j + i c_(j+n)`, the stages give the slots `factor * (c_j + i
/// c_(j+n))` in bit-reversed order of `j`. The `1/n` of the inverse transform is included. Other arguments as for
/// [`slots_to_coeffs`].
///
/// # Errors
/// Those of [`slots_to_coeffs`]; [`Error::Layers`] for layers that are not those of the transform.
pub fn coeffs_to_slots<S: DftScalar>(
    slots: usize,
    layers: &[u32],
    factor: S,
    steps: BabySteps,
) -> Result<Vec<LinearMap<S>>, Error> {
    let shares = check(slots, layers.len(), factor)?;
    let mut top = slots.ilog2();
    if layers.iter().try_fold(0u32, |sum, &l| sum.checked_add(l)) != Some(top) {
        return Err(Error::Layers { slots, layers: layers.to_vec() });
    }
    let mut stages = Vec::with_capacity(layers.len());
    for (&layers, share) in layers.iter().zip(shares) {
        let maps = (top - layers..top).rev().map(|i| inverse_layer(slots, i));
        stages.push(merge(slots, maps, share, steps)?);
        top -= layers;
    }
    for i in (1..stages.len()).rev() {
        let shift = steps.sign() * stages[i - 1].stride() as isize;
        stages[i] = stages[i].of_rotated(shift);
        stages[i - 1] = stages[i - 1].then_rotated(-shift);
    }
    Ok(stages)
}

/// Checks the arguments and returns the share of `factor` that each stage carries, in the order of application.
fn check<S: DftScalar>(slots: usize, stage_count: usize, factor: S) -> Result<Vec<S>, Error> {
    if !slots.is_power_of_two() {
        return Err(Error::Slots { slots });
    }
    let layers = slots.ilog2();
    // The transform of one slot is the identity: one stage without layers.
    if stage_count == 0 || stage_count > layers.max(1) as usize {
        return Err(Error::StageCount { slots, layers, stage_count });
    }
    factor.shares(stage_count).ok_or(Error::Factor { what: "factor of a DFT", requirement: "not zero" })
}

/// Cuts so many layers into stages as even as possible; longer ones last, where the wrap-around of [`slots_to_coeffs`] halves the
/// number of diagonals.
pub fn even_split(layers: u32, stage_count: usize) -> Vec<u32> {
    let parts = stage_count as u32;
    (0..parts).map(|s| layers * (s + 1) / parts - layers * s / parts).collect()
}

/// The product of maps given in the order of application, times `factor`.
fn merge<S: DftScalar>(
    slots: usize,
    maps: impl Iterator<Item = Result<LinearMap<S>, Error>>,
    factor: S,
    steps: BabySteps,
) -> Result<LinearMap<S>, Error> {
    let mut product = LinearMap::identity(slots)?;
    for map in maps {
        product = map?.compose(&product)?;
    }
    steps.on(product.scaled(factor))
}

/// Layer `i` of the special FFT: `(l, h) -> (l + w h, l - w h)` at distance `2^i`.
fn layer<S: DftScalar>(slots: usize, i: u32) -> Result<LinearMap<S>, Error> {
    let (w, ones) = twiddles(i);
    let minus_w = w.iter().map(|&w: &S| -w).collect();
    butterflies(slots, [&ones, &minus_w, &w, &ones])
}

/// The inverse of [`layer`]: `(l, h) -> ((l + h) / 2, w^-1 (l - h) / 2)`.
fn inverse_layer<S: DftScalar>(slots: usize, i: u32) -> Result<LinearMap<S>, Error> {
    let (w, ones) = twiddles(i);
    let half: Vec<S> = ones.iter().map(|x: &S| x.half()).collect();
    let half_w: Vec<S> = w.iter().map(|w: &S| w.inverse_root().half()).collect();
    let minus_half_w = half_w.iter().map(|&w| -w).collect();
    butterflies(slots, [&half, &minus_half_w, &half, &half_w])
}

fn twiddles<S: DftScalar>(i: u32) -> (Vec<S>, Vec<S>) {
    let w = S::twiddles(1 << i);
    let ones = vec![S::ONE; w.len()];
    (w, ones)
}

/// The map that on every period `(l, h)` of twice the common length of the four vectors, `l` and `h` adjacent, gives
/// `(a l + c h, d l + b h)` for `[a, b, c, d]`.
fn butterflies<S: DftScalar>(slots: usize, [a, b, c, d]: [&Vec<S>; 4]) -> Result<LinearMap<S>, Error> {
    let stride = a.len();
    let zeros = vec![S::ZERO; stride];
    let mut diagonals = BTreeMap::from([(0, [&a[..], b].concat())]);
    if 2 * stride == slots {
        // Up by half the slots and down by half the slots are the same rotation.
        diagonals.insert(stride, [&c[..], d].concat());
    } else {
        diagonals.insert(stride, [&c[..], &zeros].concat());
        diagonals.insert(slots - stride, [&zeros[..], d].concat());
    }
    Ok(LinearMap::new(slots, diagonals, 1, stride)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use aglet_ring::fft::SpecialFft;
    use aglet_ring::reversal::bit_reverse;

    fn sample(n: usize) -> Vec<Complex64> {
        (0..n).map(|j| Complex64::new((j as f64 * 1.7).sin(), (j as f64 * j as f64 * 0.3).cos())).collect()
    }

    fn run(stages: &[LinearMap], z: &[Complex64]) -> Vec<Complex64> {
        stages.iter().fold(z.to_vec(), |v, stage| stage.apply(&v).unwrap())
    }

    fn assert_close(a: &[Complex64], b: &[Complex64], bound: f64) {
        let worst = a.iter().zip(b).map(|(x, y)| (x - y).norm()).fold(0.0, f64::max);
        assert!(worst < bound, "off by {worst}");
    }

    #[test]
    fn stages_multiply_to_the_special_fft() {
        let factor = Complex64::new(0.3, -0.4);
        for log_n in 0..=10 {
            let n = 1 << log_n;
            let (fft, z) = (SpecialFft::new(n), sample(n));
            for stage_count in 1..=log_n.clamp(1, 5) {
                for steps in [(1, false), (8, false), (16, false), (2, true), (4, true)] {
                    let steps = BabySteps { giant_cost: 4.0, most: steps.0, right: steps.1 };
                    // Slots whose polynomial has the pairs z, in bit-reversed order.
                    let mut slots = z.clone();
                    bit_reverse(&mut slots);
                    fft.forward(&mut slots);
                    let s2c = slots_to_coeffs(n, stage_count, factor, steps).unwrap();
                    let scaled: Vec<_> = slots.iter().map(|x| x * factor).collect();
                    assert_close(&run(&s2c, &z), &scaled, 1e-14 * n as f64);
                    let mut layers = even_split(n.ilog2(), stage_count);
                    layers.rotate_left(1);
                    let c2s = coeffs_to_slots(n, &layers, factor.inv(), steps).unwrap();
                    assert_close(&run(&c2s, &scaled), &z, 1e-14);
                    assert_close(&run(&c2s, &run(&s2c, &z)), &z, 1e-14);
                }
            }
        }
    }

    /// Modulo the square of 65537, exactly: against the special FFT there, any cut.
    #[test]
    fn stages_on_residues_are_the_transform() {
        use aglet_schemes::integer::prime_power::{slots, Pair, Residue};
        let steps = BabySteps { giant_cost: 4.0, most: 64, right: false };
        let run = |maps: &[LinearMap<Pair>], z: &[Pair]| maps.iter().fold(z.to_vec(), |v, map| map.apply(&v).unwrap());
        for log_n in [0, 5, 8, 11] {
            let n = 1usize << log_n;
            let coefficients: Vec<Residue> = (0..2 * n as i128).map(|j| Residue::new(j.pow(7) + 3 * j - 1)).collect();
            let mut pairs: Vec<Pair> =
                (0..n).map(|j| Pair::both(coefficients[j]) + Pair::both(coefficients[j + n]) * Pair::i()).collect();
            let values = slots(&coefficients);
            bit_reverse(&mut pairs);
            for count in 1..=log_n.clamp(1, 4) {
                let down = slots_to_coeffs(n, count, Pair::ONE, steps).unwrap();
                assert_eq!(run(&down, &pairs), values, "{n} slots in {count}");
                let up = coeffs_to_slots(n, &even_split(n.ilog2(), count), Pair::ONE, steps).unwrap();
                assert_eq!(run(&up, &values), pairs, "{n} slots in {count}");
            }
        }
    }

    #[test]
    fn baby_steps_weigh_time_against_keys() {
        let baby = |giant_cost, most, diagonals| BabySteps { giant_cost, most, right: false }.baby(diagonals);
        for (diagonals, fast, few) in [(1, 1, 1), (15, 8, 4), (31, 8, 4), (32, 8, 4), (63, 16, 8), (511, 32, 16)] {
            assert_eq!((baby(4.0, 64, diagonals), baby(1.0, 64, diagonals)), (fast, few), "{diagonals} diagonals");
            assert_eq!(baby(4.0, 2, diagonals), diagonals.min(2));
        }
    }

    #[test]
    fn small_keys_rotate_to_the_right_by_powers_of_two() {
        let n = 1 << 15;
        for stage_count in 3..=5 {
            let (one, steps) = (Complex64::new(1.0, 0.0), BabySteps { giant_cost: 4.0, most: 2, right: true });
            let stages = slots_to_coeffs(n, stage_count, one, steps).unwrap();
            let layers = even_split(15, stage_count);
            for stage in stages.iter().chain(&coeffs_to_slots(n, &layers, one, steps).unwrap()) {
                let (babies, giant) = stage.rotations();
                assert!(babies.iter().chain(&giant).all(|&by| (n - by).is_power_of_two()));
            }
        }
    }

    #[test]
    fn full_size_stages_are_compressed_and_use_the_rotations_expected() {
        let n = 1 << 15;
        for (stages, large) in [
            (
                slots_to_coeffs(n, 3, Complex64::new(1.0, 0.0), BabySteps { giant_cost: 4.0, most: 64, right: false })
                    .unwrap(),
                2,
            ),
            (
                coeffs_to_slots(
                    n,
                    &[5; 3],
                    Complex64::new(1.0, 0.0),
                    BabySteps { giant_cost: 4.0, most: 64, right: false },
                )
                .unwrap(),
                0,
            ),
        ] {
            for (place, stage) in stages.iter().enumerate() {
                let layer = if large == 2 { 5 * place } else { 10 - 5 * place };
                let count = if place == large { 32 } else { 63 };
                assert_eq!((stage.stride(), stage.diagonals().len()), (1 << layer, count));
                assert_eq!(stage.stored_entries(), count << (layer + 5));
                let stride = stage.stride();
                let baby = if place == large { 8 } else { 16 };
                let babies = (1..baby).map(|i| i * stride).collect();
                assert_eq!(stage.rotations(), (babies, Some(baby * stride)));
                assert_eq!(stage.giant_steps().len(), 4);
            }
        }
    }

    #[test]
    fn impossible_splits_are_refused() {
        let (one, steps) = (Complex64::new(1.0, 0.0), BabySteps { giant_cost: 4.0, most: 8, right: false });
        assert!(matches!(slots_to_coeffs(16, 5, one, steps), Err(Error::StageCount { layers: 4, .. })));
        assert!(matches!(coeffs_to_slots(16, &[], one, steps), Err(Error::StageCount { .. })));
        assert!(matches!(coeffs_to_slots(12, &[3], one, steps), Err(Error::Slots { slots: 12 })));
        assert!(matches!(coeffs_to_slots(16, &[2, 2], 0.0 * one, steps), Err(Error::Factor { .. })));
        for layers in [&[2, 3][..], &[1, 2], &[u32::MAX, 5]] {
            assert!(matches!(coeffs_to_slots(16, layers, one, steps), Err(Error::Layers { .. })));
        }
    }
}
