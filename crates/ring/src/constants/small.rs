//! What the kernels of the small negacyclic transform modulo one prime read.

use super::{bit_reversed_powers, Shaper};
use crate::modulus::Modulus;
use crate::reversal::reversed;
use crate::words::Words;

/// Some stages on vectors that lie apart.
pub(crate) struct Pass {
    stages: usize,
    table: Vec<[u64; 2]>,
}

impl Pass {
    pub(crate) fn stages(&self) -> usize {
        self.stages
    }
    /// Multipliers of each block in the order of use.
    pub(crate) fn table(&self) -> &[[u64; 2]] {
        &self.table
    }
}

/// The multipliers of one direction.
pub(crate) struct Direction {
    steps: Vec<Pass>,
    last: Vec<[u64; 2]>,
    lanes: Words,
}

impl Direction {
    pub(crate) fn steps(&self) -> &[Pass] {
        &self.steps
    }
    /// The stages of the last step before the transpose: for each block its multipliers in the order of use.
    pub(crate) fn last(&self) -> &[[u64; 2]] {
        &self.last
    }
    /// The stages after the transpose: for each block and multiplier a vector of main words, then one of second words.
    pub(crate) fn lanes(&self) -> &[u64] {
        &self.lanes
    }
}

/// What the transform of one degree modulo one prime needs.
pub(crate) struct SmallConstants {
    shaper: &'static Shaper,
    modulus: Modulus,
    log_n: u32,
    n_inverse: u64,
    forward: Direction,
    inverse: Direction,
    /// `psi^e` for `e < 2N`, as multipliers.
    powers: Vec<[u64; 2]>,
    /// For `e < WIDTH^2` a vector of constants: what `X^e` has in each lane beside that of its vector, and 1/N if the shaper scales.
    lane_powers: Words,
    /// The exponent of psi at lane 0 of each vector.
    exponents: Vec<u32>,
}

impl SmallConstants {
    /// Those for a root of order 2N.
    pub(crate) fn new(modulus: Modulus, log_n: u32, psi: u64, shaper: &'static Shaper) -> Self {
        let n = 1usize << log_n;
        let shape = Shape { m: &modulus, shaper, log_n };
        let exponents = (0..n / shaper.width).map(|v| shape.exponent(v)).collect();
        Self {
            forward: shape.direction(psi),
            inverse: shape.direction(modulus.inv(psi)),
            powers: (0..2 * n as u64).map(|e| shaper.prepare(&modulus, modulus.pow(psi, e))).collect(),
            lane_powers: shape.lane_powers(psi),
            exponents,
            n_inverse: modulus.inv(n as u64),
            shaper,
            modulus,
            log_n,
        }
    }

    /// What they were shaped by.
    pub(crate) fn shaper(&self) -> &'static Shaper {
        self.shaper
    }
    pub(crate) fn modulus(&self) -> &Modulus {
        &self.modulus
    }
    pub(crate) fn log_n(&self) -> u32 {
        self.log_n
    }
    /// The degree N.
    pub(crate) fn n(&self) -> usize {
        1 << self.log_n
    }
    pub(crate) fn n_inverse(&self) -> u64 {
        self.n_inverse
    }
    pub(crate) fn forward_tables(&self) -> &Direction {
        &self.forward
    }
    pub(crate) fn inverse_tables(&self) -> &Direction {
        &self.inverse
    }
    pub(crate) fn powers(&self) -> &[[u64; 2]] {
        &self.powers
    }
    pub(crate) fn lane_powers(&self) -> &[u64] {
        &self.lane_powers
    }
    pub(crate) fn exponents(&self) -> &[u32] {
        &self.exponents
    }
}

/// What decides how tables are laid out.
struct Shape<'a> {
    m: &'a Modulus,
    shaper: &'static Shaper,
    log_n: u32,
}

impl Shape<'_> {
    fn log_width(&self) -> u32 {
        self.shaper.width.trailing_zeros()
    }

    /// Lays out the powers `root^brv(i)`; block `b` of stage `s` multiplies by number `2^s + b`.
    fn direction(&self, root: u64) -> Direction {
        let (lanes, width) = (self.log_width(), self.shaper.width);
        let powers = bit_reversed_powers(self.m, root, self.log_n);
        let prepare = |i: usize| self.shaper.prepare(self.m, powers[i]);
        let indices = |done: u32, stages: u32, b: usize| {
            (0..stages).flat_map(move |t| (0..1usize << t).map(move |u| (((1 << done) + b) << t) + u))
        };
        let (mut steps, mut done, last) = (Vec::new(), 0, self.log_n - 2 * lanes);
        while done < last {
            // Sixteen vectors fit the registers of the widest lanes. Others take two stages at a time: what can run ahead of the stage in
            // work then fits the schedulers of CPUs.
            let most = if width == 8 { 4 } else { 2 };
            let stages = (last - done).div_ceil((last - done).div_ceil(most));
            let table = (0..1 << done).flat_map(|b| indices(done, stages, b)).map(prepare).collect();
            steps.push(Pass { stages: stages as usize, table });
            done += stages;
        }
        let groups = 1usize << last;
        let upper = (0..groups).flat_map(|b| indices(last, lanes, b)).map(prepare).collect();
        let mut vectors = Words::zeros(2 * groups * (width - 1) * width);
        for (g, vectors) in vectors.chunks_mut((2 * (width - 1) * width).max(1)).enumerate() {
            for lane in 0..width {
                for (k, i) in indices(last + lanes, lanes, g * width + lane).enumerate() {
                    let [main, second] = prepare(i);
                    (vectors[2 * k * width + lane], vectors[(2 * k + 1) * width + lane]) = (main, second);
                }
            }
        }
        Direction { steps, last: upper, lanes: vectors }
    }

    /// The exponent of psi at lane 0 of a vector: vector `b WIDTH + w` is at position `b WIDTH^2 + w` of the ordered transform.
    fn exponent(&self, vector: usize) -> u32 {
        let width = self.shaper.width;
        let position = vector / width * width * width + vector % width;
        2 * reversed(position, 1 << self.log_n) as u32 + 1
    }

    /// Lane `l` is `l WIDTH` positions on: it multiplies the exponent's e by `psi^(2 brv(l) N / WIDTH^2)`.
    fn lane_powers(&self, psi: u64) -> Words {
        let width = self.shaper.width;
        let scale = if self.shaper.scales { self.m.inv(1 << self.log_n) } else { 1 };
        let mut vectors = Words::zeros(width * width * width);
        for (i, word) in vectors.iter_mut().enumerate() {
            let (e, lane) = (i / width, i % width);
            let step = 2 * (reversed(lane, width) << self.log_n) / (width * width);
            *word = self.m.mul(self.m.pow(psi, (e * step) as u64), scale);
        }
        self.shaper.prepare_constants(self.m, &mut vectors);
        vectors
    }
}
