//! Changes of inputs.

use crate::coverage::{self, Compared};
use crate::targets::Input;

/// Longer inputs are cut.
const LONGEST: usize = 1 << 18;
/// Fields lie at multiples of their width up to here.
const HEADER: usize = 256;
/// A value may stand by chance in more.
const PLACES: usize = 48;

/// xorshift64*: the choices of one run, others each time. What fails is kept as bytes.
pub struct Random(u64);

impl Random {
    /// Of the time.
    pub fn new() -> Self {
        Self(std::time::UNIX_EPOCH.elapsed().map_or(0, |t| t.as_nanos() as u64) | 1)
    }
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }
    /// Below a bound, which is above zero.
    pub fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound as u64) as usize
    }
    /// One of several; late ones, which were found last, more often.
    pub fn pick<'a, T>(&mut self, all: &'a [T]) -> &'a T {
        let (i, j) = (self.below(all.len()), self.below(all.len()));
        &all[i.max(j)]
    }
}

/// An input changed in one to eight places; `other` is another one, to take parts of.
pub fn changed(input: &Input, other: &[u8], words: &[&str], random: &mut Random) -> Input {
    let mut out = input.clone();
    for _ in 0..1 + random.below(8).min(random.below(8)) {
        change(&mut out.bytes, other, words, random);
    }
    out.bytes.truncate(LONGEST);
    out
}

/// Where an input may hold the value that a constant was compared with: at multiples of its width in the header, anywhere behind
/// it, in so many places at most.
pub fn places(input: &Input, compared: Compared) -> Vec<usize> {
    let (width, value) = (compared.bytes, compared.value.to_le_bytes());
    let windows = input.bytes.windows(width).enumerate();
    let same = windows.filter(|(at, window)| *window == &value[..width] && (*at >= HEADER || at % width == 0));
    same.map(|(at, _)| at).take(PLACES).collect()
}

/// The input with the constant there, under checksums that fit.
pub fn solved(input: &Input, compared: Compared, at: usize) -> Input {
    let mut out = input.clone();
    out.bytes[at..at + compared.bytes].copy_from_slice(&compared.constant.to_le_bytes()[..compared.bytes]);
    out.seal(false);
    out
}

fn change(bytes: &mut Vec<u8>, other: &[u8], words: &[&str], random: &mut Random) {
    if bytes.is_empty() {
        bytes.push(0);
    }
    // Most changes are near the front, where headers are, and the parameters behind them.
    let near = bytes.len().min([256, 1024, usize::MAX][random.below(3)]);
    let at = random.below(near);
    let rest = bytes.len() - at;
    match random.below(if words.is_empty() { 8 } else { 10 }) {
        0 => bytes[at] ^= 1 << random.below(8),
        1 => bytes[at] = random.next() as u8,
        2 => {
            // Fields of headers lie at multiples of their width.
            let width = 1 << random.below(4);
            let at = at / width * width;
            let width = width.min(bytes.len() - at);
            let extreme = [0, 1, u64::MAX, 1 << 31, 1 << 32, 1 << 63, i64::MAX as u64, f64::NAN.to_bits(), 1 << 40];
            let step = random.below(3) as u64;
            let value = match random.below(3) {
                0 => extreme[random.below(extreme.len())],
                1 => 1 << random.below(64),
                _ => coverage::operand(random.below(usize::MAX)).wrapping_add(step).wrapping_sub(1),
            };
            bytes[at..at + width].copy_from_slice(&value.to_le_bytes()[..width]);
        }
        3 => bytes[at] = bytes[at].wrapping_add(random.below(16) as u8).wrapping_sub(8),
        4 => bytes.truncate(at),
        5 => drop(bytes.drain(at..at + random.below(rest.min(64)))),
        6 => {
            let part = bytes[at..at + random.below(rest.min(64))].to_vec();
            let to = random.below(bytes.len());
            drop(bytes.splice(to..to, part));
        }
        7 if !other.is_empty() => {
            let from = random.below(other.len());
            let part = &other[from..from + random.below((other.len() - from).min(512))];
            let end = (at + part.len()).min(bytes.len());
            drop(bytes.splice(at..end, part.iter().copied()));
        }
        8 => drop(bytes.splice(at..at, words[random.below(words.len())].bytes())),
        _ => drop(bytes.splice(at..at, (random.next() as i32 >> random.below(32)).to_string().into_bytes())),
    }
}
