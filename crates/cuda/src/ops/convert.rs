//! Base conversion of rows: the inner half of decompositions and divisions.

use crate::{Arithmetic, DeviceRing, Error};
use aglet_ring::basis::others;
use aglet_ring::Modulus;

/// Targets that a thread takes, as `TARGETS` of the kernels.
const TARGETS: usize = 8;

/// Rows of one input: addresses of the sources, already times their factors, and of the targets.
pub(super) struct Conversion {
    pub(super) from: Vec<u64>,
    pub(super) to: Vec<u64>,
}

impl DeviceRing<'_> {
    fn moduli(&self, primes: &[usize]) -> Vec<Modulus> {
        primes.iter().map(|&i| *self.ring().modulus(i)).collect()
    }

    /// `(Q/q_i)^-1 mod q_i` for every source: what a row is multiplied by before it is converted.
    pub(super) fn source_factors(&self, sources: &[usize]) -> Vec<u64> {
        let moduli = self.moduli(sources);
        (0..moduli.len()).map(|i| moduli[i].inv(others(&moduli, i, &moduli[i]))).collect()
    }

    /// Converts rows of the source primes to rows of the targets, of every input.
    pub(super) fn convert(&self, sources: &[usize], targets: &[usize], inputs: &[Conversion]) -> Result<(), Error> {
        // Doubles take up no residue above 2^50, whatever the target.
        let narrow = sources.iter().all(|&i| self.table(i).arithmetic == Arithmetic::F50);
        let arithmetic = |target: usize| if narrow { self.table(target).arithmetic } else { Arithmetic::S64 };
        for each in Arithmetic::ALL {
            let places: Vec<usize> = (0..targets.len()).filter(|&t| arithmetic(targets[t]) == each).collect();
            if places.is_empty() {
                continue;
            }
            for (start, count) in self.card().parts(inputs.len()) {
                self.convert_part(each, sources, (targets, &places), &inputs[start..start + count as usize])?;
            }
        }
        Ok(())
    }

    /// The targets at `places`, all in one arithmetic.
    fn convert_part(
        &self,
        arithmetic: Arithmetic,
        sources: &[usize],
        (targets, places): (&[usize], &[usize]),
        inputs: &[Conversion],
    ) -> Result<(), Error> {
        let own: Vec<usize> = places.iter().map(|&t| targets[t]).collect();
        let (sources, own) = (self.moduli(sources), self.moduli(&own));
        let constants = |m: &Modulus| {
            let mut all: Vec<u64> = (0..sources.len()).map(|i| others(&sources, i, m)).collect();
            all.push(m.neg(m.mul(all[0], m.reduce(sources[0].value()))));
            all.into_iter().map(|c| arithmetic.number(m, c)).collect::<Vec<_>>()
        };
        let primes = |moduli: &[Modulus]| moduli.iter().flat_map(|m| arithmetic.prime(m)).collect::<Vec<_>>();
        let lists = [
            inputs.iter().flat_map(|x| x.from.iter().copied()).collect::<Vec<_>>(),
            inputs.iter().flat_map(|x| places.iter().map(|&t| x.to[t])).collect(),
            sources.iter().map(|m| (1.0 / m.value() as f64).to_bits()).collect(),
            primes(&sources),
            primes(&own),
            own.iter().flat_map(constants).collect(),
        ];
        // One copy for all: each costs as much as a launch.
        let there = self.card().upload(&lists.concat())?;
        let mut at = 0;
        let mut parameters = Vec::with_capacity(lists.len() + 2);
        for list in &lists {
            parameters.push(there.address(at));
            at += list.len();
        }
        parameters.extend([sources.len() as u64, own.len() as u64]);
        let grid = [self.blocks(), own.len().div_ceil(TARGETS) as u32, inputs.len() as u32];
        self.card().launch(&format!("convert_{}", arithmetic.name()), grid, (crate::device::THREADS, 0), &parameters)
    }
}
