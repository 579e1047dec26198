//! Tables in parts: what takes more levels than there are is a polynomial in x and in powers of x that are bootstrapped between.
//!
//! `sum c[i + m j] x^i y^j` with `y = x^m` takes no level of x for the powers of y. So each part may take what a bootstrap leaves, and
//! costs one bootstrap, of one ciphertext: with 8 levels two parts serve 2,145 values, three all tables. To split `a + x^m b` and
//! bootstrap a, b and `x^m` would cost three for the first part, and more for the next.

use crate::polynomial::{depth, power_products};
use crate::table::{output_level, products, Table};

/// The level that a result has at least: a bootstrap or a cast of it takes one.
const LEFT: usize = 1;
/// The most parts that are tried: each multiplies the length of a table by seven at least.
const MOST: usize = 5;

/// How a table is looked up with bootstraps between.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InParts {
    /// Whether the variable itself is bootstrapped first.
    pub first: bool,
    /// The powers of each variable, from 0 on: `x^bases[0]` is the second one, and each is bootstrapped.
    pub bases: Vec<usize>,
    /// Relinearizations outside bootstraps, at most.
    pub relinearizations: usize,
    /// The level of the result.
    pub output_level: usize,
}

impl InParts {
    /// The way with the fewest bootstraps: of tables of one variable and one length at this level, where bootstraps leave the level
    /// `after`. Of several one that ends above level 1, where sums are divided once more, then the one with the fewest relinearizations.
    /// `least` says the level that a result with these bases has at least, for the noise of its sums. None if there is no way, or no table.
    #[must_use]
    pub fn new(tables: &[&Table], (level, after): (usize, usize), least: impl Fn(&[usize]) -> usize) -> Option<Self> {
        let count = tables.first()?.values();
        let least = |bases: &[usize]| least(bases).max(LEFT);
        (0..MOST).find_map(|bootstraps| {
            let fresh = bootstraps > 0 && level > 0;
            let ways = [Some((false, level)), fresh.then_some((true, after))].into_iter().flatten();
            let all = ways.flat_map(|(first, level)| {
                let bases = splits(count, bootstraps + 1 - usize::from(first), level, after);
                let ways = bases.into_iter().filter_map(move |bases| Self::of(tables, first, bases, (level, after)));
                ways.filter(|way| way.output_level >= least(&way.bases))
            });
            all.min_by_key(|way| (way.output_level == LEFT, way.relinearizations, usize::MAX - way.output_level))
        })
    }

    fn of(tables: &[&Table], first: bool, bases: Vec<usize>, (level, after): (usize, usize)) -> Option<Self> {
        let output_level = landing(&bases, level, after)?;
        let relinearizations = match &bases[..] {
            [_] => Table::relinearizations_of(tables, 0),
            [before @ .., _] => {
                products(&bases, tables.len()) + before.iter().map(|&base| power_products(base)).sum::<usize>()
            }
            [] => return None,
        };
        Some(Self { first, bases, relinearizations, output_level })
    }

    /// The bootstraps that it takes.
    #[must_use]
    pub fn bootstraps(&self) -> usize {
        usize::from(self.first) + self.bases.len() - 1
    }
}

/// The level of the result of a table with these bases, if it and all that is bootstrapped have one.
fn landing(bases: &[usize], level: usize, after: usize) -> Option<usize> {
    let levels: Vec<usize> = (0..bases.len()).map(|part| if part == 0 { level } else { after }).collect();
    let able = bases[..bases.len() - 1].iter().zip(&levels).all(|(&base, &level)| level >= depth(base - 1) + LEFT);
    output_level(bases, &levels).filter(|&found| able && found >= LEFT)
}

/// All bases of so many parts whose product reaches the number of values, the last as small as that allows.
fn splits(count: usize, parts: usize, level: usize, after: usize) -> Vec<Vec<usize>> {
    if parts == 1 {
        return vec![vec![count]];
    }
    // Each part takes a level beside its powers.
    let Some(room) = level.checked_sub(parts + LEFT) else { return Vec::new() };
    let most = count.min(1usize.checked_shl(room as u32).map_or(usize::MAX, |powers| powers + 1));
    let with = |base: usize| {
        let rest = splits(count.div_ceil(base), parts - 1, after, after).into_iter();
        rest.filter(|rest| rest.iter().all(|&base| base > 1)).map(move |rest| [vec![base], rest].concat())
    };
    (2..=most).flat_map(with).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use aglet_ring::Modulus;

    fn way(count: usize, level: usize, after: usize) -> Option<InParts> {
        let t = Modulus::new(65537).unwrap();
        let values: Vec<i64> = (0..count as i64).map(|i| i * i % 251).collect();
        InParts::new(&[&Table::new(&t, 0, &values).unwrap()], (level, after), |_| 0)
    }

    #[test]
    fn bootstraps_are_the_fewest_that_levels_allow() {
        let bootstraps = |count, level| way(count, level, 8).map(|way| way.bootstraps());
        // All that a variable of 8 levels has, with one left.
        assert_eq!([2, 128, 129, 2145].map(|count| bootstraps(count, 8)), [Some(0), Some(0), Some(1), Some(1)]);
        assert_eq!([2146, 8192].map(|count| bootstraps(count, 8)), [Some(2); 2]);
        // From level 1 the variable is bootstrapped, from level 5 its power alone.
        assert_eq!([5, 4, 1, 0].map(|level| bootstraps(300, level)), [Some(1), Some(2), Some(2), None]);
        assert_eq!(way(300, 1, 8).map(|way| way.first), Some(true));
        assert_eq!((way(3, 2, 1), way(300, 8, 3)), (None, None));
        assert_eq!(way(8192, 25, 25).map(|way| way.bootstraps()), Some(0));
        // Where two levels ask for no further bootstrap they are there.
        assert_eq!([561, 562].map(|count| way(count, 8, 8).map(|way| way.output_level)), [Some(2), Some(1)]);
        let t = Modulus::new(65537).unwrap();
        let table = Table::new(&t, 0, &(0..600).map(|i| i * i % 251).collect::<Vec<_>>()).unwrap();
        assert_eq!(
            InParts::new(&[&table], (8, 8), |_| 2).map(|way| (way.bootstraps(), way.output_level)),
            Some((2, 2))
        );
    }

    #[test]
    fn every_way_ends_above_the_floor_and_has_room_for_its_values() {
        for (count, level, after) in [(9, 2, 4), (300, 6, 7), (511, 8, 8), (1022, 7, 8), (5000, 3, 9), (8192, 8, 8)] {
            let way = way(count, level, after).unwrap();
            assert!(way.bases.iter().product::<usize>() >= count, "{way:?}");
            assert!(way.output_level >= LEFT && way.output_level < after, "{way:?}");
            assert!(way.relinearizations < 150, "{way:?}");
        }
    }
}
