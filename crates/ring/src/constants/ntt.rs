//! What the kernels of the negacyclic transform modulo one prime read.

use super::{bit_reversed_powers, Shaper};
use crate::modulus::Modulus;
use crate::reversal::reversed;

/// The multipliers of both directions (Longa and Naehrig, eprint 2016/504, with the blocking of `arch/generic/ntt.rs`).
pub(crate) struct NttConstants {
    shaper: &'static Shaper,
    modulus: Modulus,
    log_n: u32,
    last_inverse: u64,
    forward: Tables,
    inverse: Tables,
}

/// One step of the transform, four stages or fewer in the first.
pub(crate) struct Pass {
    pub(crate) stages: usize,
    /// For every block, those of its first stage (one), of its second (two), and so on.
    pub(crate) table: Vec<[u64; 2]>,
}

/// The multipliers of one direction, in the order of use.
pub(crate) struct Tables {
    /// From the whole down to blocks of the last step.
    steps: Vec<Pass>,
    /// The last step, for every group of as many blocks as there are lanes.
    last: Vec<[u64; 2]>,
    /// Powers of the twists of all lanes, first words and second words.
    twist: [Vec<u64>; 2],
}

impl NttConstants {
    /// Those for a root of order 2N.
    pub(crate) fn new(modulus: Modulus, log_n: u32, psi: u64, shaper: &'static Shaper) -> Self {
        let tables = |root: u64| {
            let powers = bit_reversed_powers(&modulus, root, log_n);
            (Tables::new(&modulus, shaper, &powers, log_n), powers[1])
        };
        // The inverse transform multiplies by the inverses of the same powers: the inverse of psi^brv(i) is the power
        // table of psi^-1.
        let ((forward, _), (inverse, last_inverse)) = (tables(psi), tables(modulus.inv(psi)));
        Self { shaper, modulus, log_n, last_inverse, forward, inverse }
    }

    /// What they were shaped by.
    pub(crate) fn shaper(&self) -> &'static Shaper {
        self.shaper
    }
    pub(crate) fn modulus(&self) -> &Modulus {
        &self.modulus
    }
    /// The degree N.
    pub(crate) fn n(&self) -> usize {
        1 << self.log_n
    }
    pub(crate) fn last_inverse(&self) -> u64 {
        self.last_inverse
    }
    /// Stages of the last step, which rearranges lanes.
    pub(crate) fn last_stages(&self) -> usize {
        last_stages(self.log_n) as usize
    }
    /// Words that the steps before the last one leave to it at a time: a block of the step before.
    pub(crate) fn chunk(&self) -> usize {
        1 << (self.last_stages() + self.forward.steps.last().map_or(0, |s| s.stages))
    }
    pub(crate) fn forward_tables(&self) -> &Tables {
        &self.forward
    }
    pub(crate) fn inverse_tables(&self) -> &Tables {
        &self.inverse
    }
}

/// Stages of the last step. Eight blocks must fit the transform.
fn last_stages(log_n: u32) -> u32 {
    if log_n == 6 {
        3
    } else {
        4
    }
}

/// Stages of the next step of a transform that has `left` before its last one, on blocks of `2^log_words` words. Four where
/// all blocks fit the first cache; above, sixteen streams lie a multiple of its eight ways apart and would evict each other.
fn step_stages(log_words: u32, left: u32) -> u32 {
    match log_words.saturating_sub(12).min(left) {
        0 if left.is_multiple_of(4) => 4,
        0 => left % 4,
        above @ 1..=3 => above,
        above => above.div_ceil(2),
    }
}

impl Tables {
    /// Lays out the powers `root^brv(i)`; block `b` of stage `s` multiplies by number `2^s + b`.
    fn new(m: &Modulus, shaper: &Shaper, powers: &[u64], log_n: u32) -> Self {
        let last = last_stages(log_n);
        let prepare = |i: usize| shaper.prepare(m, powers[i]);
        // `stages` stages from block `b` of stage `done` on.
        let block = |done: u32, stages: u32, b: usize| {
            (0..stages).flat_map(move |t| (0..1usize << t).map(move |u| (((1 << done) + b) << t) + u)).map(prepare)
        };
        let (mut steps, mut done) = (Vec::new(), 0);
        while done < log_n - last {
            let left = log_n - last - done;
            let stages = step_stages(log_n - done, left);
            let table = (0..1 << done).flat_map(|b| block(done, stages, b)).collect();
            steps.push(Pass { stages: stages as usize, table });
            done += stages;
        }
        let width = shaper.width;
        let groups = (0..1usize << done).step_by(width);
        let groups = groups.flat_map(|b| block(done, last, b)).collect();
        // The twist of a lane is root^(brv(lane) 2^(log N - log width - last + 1)).
        let mut twist = [Vec::new(), Vec::new()];
        let root = powers[1 << (log_n - 1)];
        for i in 0..1u64 << last {
            for lane in 0..width {
                let turn = reversed(lane, width) as u64;
                let s = m.pow(root, turn << (log_n + 1 - width.trailing_zeros() - last));
                let pair = shaper.prepare(m, m.pow(s, i));
                twist.iter_mut().zip(pair).for_each(|(words, word)| words.push(word));
            }
        }
        Self { steps, last: groups, twist }
    }
    pub(crate) fn steps(&self) -> &[Pass] {
        &self.steps
    }
    pub(crate) fn last(&self) -> &[[u64; 2]] {
        &self.last
    }
    /// A vector for every word of a block of the last step, main words and second words.
    pub(crate) fn twist(&self) -> (*const u64, *const u64) {
        (self.twist[0].as_ptr(), self.twist[1].as_ptr())
    }
}
