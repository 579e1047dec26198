//! Digits of a key switch: which limbs are decomposed together, and how many special primes that takes.

use super::Params;
use crate::error::Error;
use crate::fault::ChainFault;
use std::collections::BTreeMap;

/// Primes that a base conversion can convert from.
pub(super) const MAX_SOURCES: usize = aglet_ring::basis::MAX_SOURCES;

/// Bits by which every digit stays below P. A digit as large as P would make the noise of a key switch three times that of
/// a division by a prime of Q (0.4 bits of a bootstrap); with two bits to spare it disappears beside it.
const DIGIT_SLACK: f64 = 2.0;

/// Bits that two digits may leave of their room together for [`halves`] to look for them.
const HALVES_SLACK: f64 = 2.0;

/// Refuses named digits that are not the limbs of a chain, each once.
///
/// # Errors
/// [`Error::BadParameters`].
pub(super) fn check(digits: &[Vec<usize>], q_limbs: usize) -> Result<(), Error> {
    let mut limbs: Vec<usize> = digits.concat();
    limbs.sort_unstable();
    if !limbs.into_iter().eq(0..q_limbs) || digits.iter().any(Vec::is_empty) {
        return Err(ChainFault::Digits { limbs: q_limbs }.into());
    }
    if let Some(long) = digits.iter().find(|d| d.len() > MAX_SOURCES) {
        return Err(ChainFault::LongDigit { found: long.len(), most: MAX_SOURCES }.into());
    }
    Ok(())
}

impl Params {
    /// The bit-balanced digits of a key switch: the limbs of each, covering the first `q_limbs` primes of Q; the product of
    /// a digit stays two bits below the product of the first `p_limbs` special primes.
    ///
    /// They are the named ones, cut at `q_limbs`, where these fit; otherwise consecutive limbs, grouped greedily, or
    /// limbs spread over the chain where that saves a digit, or two digits of any limbs where these fill their room.
    /// Grouping by bits instead of by count is what keeps the number of digits small in a chain of unequal primes
    /// No digit has more limbs than a base conversion takes.
    ///
    /// # Errors
    /// [`Error::BadParameters`] if a count is zero or too large, or if one prime alone exceeds the special product.
    pub fn digits(&self, q_limbs: usize, p_limbs: usize) -> Result<Vec<Vec<usize>>, Error> {
        self.digits_within(q_limbs, p_limbs, -DIGIT_SLACK)
    }

    /// The same with digits whose product may exceed that of the special primes by `excess` bits (or stays below it, if that is negative):
    /// for a key switch whose result is rescaled before anybody sees its noise.
    ///
    /// # Errors
    /// As [`Params::digits`].
    pub(crate) fn digits_within(&self, q_limbs: usize, p_limbs: usize, excess: f64) -> Result<Vec<Vec<usize>>, Error> {
        let (q, p) = (self.q().len(), self.special_limbs_within(q_limbs));
        if !(1..=q).contains(&q_limbs) || !(1..=p).contains(&p_limbs) {
            return Err(ChainFault::Key { q_limbs, p_limbs, q, p }.into());
        }
        let log2_q = &self.0.log2_q;
        let special = self.0.log2_p[..p_limbs].iter().sum::<f64>();
        let room = special + excess;
        // A digit of one prime cannot be made smaller: it need only not exceed P.
        let whole = room.max(special + 1e-9);
        let named = self.0.spec.digits.iter().flat_map(|digits| {
            let cut = |d: &Vec<usize>| d.iter().copied().filter(|&i| i < q_limbs).collect::<Vec<_>>();
            let cut: Vec<_> = digits.iter().map(cut).filter(|d| !d.is_empty()).collect();
            let bits = |d: &Vec<usize>| d.iter().map(|&i| log2_q[i]).sum::<f64>();
            cut.iter().all(|d| bits(d) <= if d.len() == 1 { whole } else { room }).then_some(cut)
        });
        let fewest = named.chain([self.consecutive(q_limbs, room, whole)?]).min_by_key(Vec::len).unwrap_or_default();
        let limbs = &log2_q[..q_limbs];
        let fewer = |digits: Option<Vec<Vec<usize>>>| digits.filter(|digits| digits.len() < fewest.len());
        Ok(fewer(spread(limbs, room)).or_else(|| fewer(halves(limbs, room))).unwrap_or(fewest))
    }

    /// Consecutive limbs, as many in a digit as there is room for.
    fn consecutive(&self, q_limbs: usize, room: f64, whole: f64) -> Result<Vec<Vec<usize>>, Error> {
        let (mut digits, mut digit, mut bits) = (Vec::new(), Vec::new(), 0.0);
        for (i, log2) in self.0.log2_q[..q_limbs].iter().enumerate() {
            if *log2 > whole {
                return Err(ChainFault::LargeLimb { limb: i, bits: *log2, special: whole }.into());
            }
            if (bits + log2 > room && !digit.is_empty()) || digit.len() == MAX_SOURCES {
                digits.push(std::mem::take(&mut digit));
                bits = 0.0;
            }
            digit.push(i);
            bits += log2;
        }
        digits.push(digit);
        Ok(digits)
    }

    /// The most special primes that a key over the first `q_limbs` primes of Q may have: [`ParamsSpec::max_log_qp`](super::ParamsSpec) bounds the
    /// modulus of every key. All of them without such a bound.
    #[must_use]
    pub fn special_limbs_within(&self, q_limbs: usize) -> usize {
        let Some(most) = self.0.spec.max_log_qp else { return self.p().len() };
        let mut bits = self.0.log2_q.iter().take(q_limbs).sum::<f64>();
        let fits = |log2: &&f64| {
            bits += **log2;
            bits <= most
        };
        self.0.log2_p.iter().take_while(fits).count()
    }

    /// The smallest number of special primes that splits the first `q_limbs` primes of Q into as few digits as all of them
    /// do. Keys of low levels are shorter and faster with it. A count out of range gives all special primes.
    #[must_use]
    pub fn special_limbs_for(&self, q_limbs: usize) -> usize {
        let all = self.special_limbs_within(q_limbs);
        let fewest = self.digits(q_limbs, all).map(|d| d.len());
        let enough = |&p_limbs: &usize| self.digits(q_limbs, p_limbs).map(|d| d.len()) == fewest;
        (1..all).find(enough).unwrap_or(all)
    }
}

/// The fewest digits that the bits allow, if the limbs can be spread so: the top digit takes consecutive limbs, so that it is
/// gone after few levels; the others share the rest evenly, the largest limbs first.
fn spread(log2_q: &[f64], room: f64) -> Option<Vec<Vec<usize>>> {
    let count = (log2_q.iter().sum::<f64>() / room).ceil() as usize;
    let (mut top, mut bits) = (log2_q.len(), 0.0);
    while count > 1 && top > 0 && bits + log2_q[top - 1] <= room && log2_q.len() - top < MAX_SOURCES {
        top -= 1;
        bits += log2_q[top];
    }
    let mut rest: Vec<usize> = (0..top).collect();
    rest.sort_by(|&i, &j| log2_q[j].total_cmp(&log2_q[i]));
    let mut digits = vec![(0f64, Vec::new()); if count > 1 { count - 1 } else { 1 }];
    for i in rest {
        let (bits, digit) = digits.iter_mut().min_by(|a, b| a.0.total_cmp(&b.0))?;
        *bits += log2_q[i];
        digit.push(i);
    }
    let fits = digits.iter().all(|(bits, d)| *bits <= room && d.len() <= MAX_SOURCES && !d.is_empty());
    let mut digits: Vec<Vec<usize>> = digits.into_iter().map(|d| d.1).collect();
    digits.iter_mut().for_each(|d| d.sort_unstable());
    // A low level has the first digits only: they begin with the lowest limbs.
    digits.sort();
    digits.extend((count > 1).then(|| (top..log2_q.len()).collect()));
    fits.then_some(digits)
}

/// Two digits that fit by a bit or two, which a greedy choice misses: every count of limbs of each size is tried. Each digit has the lowest or the
/// highest limbs of a size. Where more room is left, greedy digits stay what they are, as stored keys have them.
fn halves(log2_q: &[f64], room: f64) -> Option<Vec<Vec<usize>>> {
    let total: f64 = log2_q.iter().sum();
    if !(0.0..HALVES_SLACK).contains(&(2.0 * room - total)) {
        return None;
    }
    let mut sizes: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
    for (i, log2) in log2_q.iter().enumerate() {
        sizes.entry(log2.round() as u32).or_default().push(i);
    }
    // The limbs of a first digit by the number of those of each size, and their bits.
    let mut firsts = vec![(0.0, Vec::new())];
    for limbs in sizes.values() {
        let with = |(bits, first): &(f64, Vec<usize>), count: usize| {
            (bits + limbs[..count].iter().map(|&i| log2_q[i]).sum::<f64>(), [first, &limbs[..count]].concat())
        };
        firsts = firsts.iter().flat_map(|first| (0..=limbs.len()).map(move |count| with(first, count))).collect();
        firsts.retain(|(bits, first)| *bits <= room && first.len() <= MAX_SOURCES);
    }
    firsts.retain(|(bits, first)| total - bits <= room && log2_q.len() - first.len() <= MAX_SOURCES);
    let uneven = |bits: f64| (2.0 * bits - total).abs();
    let (_, mut first) = firsts.into_iter().min_by(|x, y| uneven(x.0).total_cmp(&uneven(y.0)))?;
    first.sort_unstable();
    let second = (0..log2_q.len()).filter(|i| first.binary_search(i).is_err()).collect();
    let mut digits = vec![first, second];
    digits.sort();
    Some(digits)
}
