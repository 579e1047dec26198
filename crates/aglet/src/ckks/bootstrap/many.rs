//! Several bootstraps with one set of keys.
//!
//! Linear maps read gigabytes of keys, each word once. Ciphertexts that go through these stages side by side share the
//! tiles of keys and diagonals that are in the cache, so a group reads each of them once.

use super::iterated::check_iterations;
use super::run::{shapes, BootstrapKeys, Job};
use crate::bootstraps::add_up;
use crate::ckks::engine::Engine;
use crate::ckks::{cost, Ciphertext};
use crate::runtime::{machine, Pass};
use crate::Control;
use crate::Error;
use aglet_bootstrap::ckks::request::Request;
use aglet_bootstrap::BootstrapCircuit;
use std::sync::Arc;

/// The largest group. In a group of k each ciphertext reads 1/k of the keys; a larger group would gain little and need
/// more memory.
const GROUP: usize = 4;
/// The largest on a card, where one ciphertext leaves most of the multiprocessors idle.
const ON_CARD: usize = 16;

impl Engine {
    /// [`Engine::bootstrap_iterated`] for several ciphertexts, each with its request, with the same keys. The results
    /// are bit for bit the same, and it takes less time. Ciphertexts with equal requests run side by side, as many as
    /// memory allows.
    ///
    /// # Errors
    /// As there. An error of one ciphertext is found before any work is done: [`Error::Input`] with its index.
    pub fn bootstrap_many(
        &self,
        inputs: &[(&Ciphertext, Request)],
        keys: BootstrapKeys<'_>,
        iterations: usize,
        control: &Control,
    ) -> Result<Vec<Ciphertext>, Error> {
        let mut batches: Vec<(Request, Vec<usize>)> = Vec::new();
        for (index, (_, request)) in inputs.iter().enumerate() {
            match batches.iter_mut().find(|batch| batch.0 == *request) {
                Some((_, members)) => members.push(index),
                None => batches.push((*request, vec![index])),
            }
        }
        let mut groups: Vec<(Request, &[usize])> = Vec::new();
        for (request, members) in &batches {
            check_iterations(self.params(), iterations, *request)?;
            let circuit = self.circuit(*request)?;
            for &index in members {
                let checked = self.check_input(&[inputs[index].0], &keys, &circuit);
                checked.map_err(|source| Error::Input { index, source: Box::new(source) })?;
            }
            let most = self.side_by_side(&circuit, &keys, members.len())?;
            groups.extend(even(members, most).map(|group| (*request, group)));
        }
        let (mut out, mut ran) = (vec![None; inputs.len()], Vec::new());
        for (number, (request, members)) in groups.iter().enumerate() {
            let cts: Vec<&Ciphertext> = members.iter().map(|&index| inputs[index].0).collect();
            let jobs: Vec<Job<'_>> = cts.chunks(1).collect();
            let first = Pass { number: number * iterations, count: groups.len() * iterations };
            let (made, stages) = self.iterate(&jobs, keys, *request, iterations, (first, control))?;
            members.iter().zip(made).for_each(|(&index, ct)| out[index] = Some(ct));
            add_up(&mut ran, stages);
        }
        self.remember(ran);
        Ok(out.into_iter().flatten().collect())
    }

    /// How many ciphertexts fit in memory, that of the card if one computes, counting what the engine already holds for them.
    fn side_by_side(
        &self,
        circuit: &Arc<BootstrapCircuit>,
        keys: &BootstrapKeys<'_>,
        count: usize,
    ) -> Result<usize, Error> {
        if let Some(size) = self.side_by_side_on_card((circuit, count.min(ON_CARD)), keys)? {
            return Ok(size);
        }
        let held = self.ctx.ring().pool().held_bytes() as u64;
        let free = machine::memory_available().map(|free| free + held);
        let shapes = shapes(&keys.bootstrap.eval_keys(self.params(), &circuit.params, keys)?);
        group_size(free, count, |count| Ok(cost::demand(circuit, shapes.clone(), count)?.bytes() as u64))
    }
}

/// As many as fit the memory that is free, at least one and at most `count`; where the system does not say, the most.
fn group_size(free: Option<u64>, count: usize, scratch: impl Fn(usize) -> Result<u64, Error>) -> Result<usize, Error> {
    let mut size = count.clamp(1, GROUP);
    while size > 1 && scratch(size)? > free.unwrap_or(u64::MAX) {
        size -= 1;
    }
    Ok(size)
}

/// A list in as few parts as can be of at most `most`, of lengths that differ by one at most.
fn even<T>(all: &[T], most: usize) -> impl Iterator<Item = &[T]> {
    let parts = all.len().div_ceil(most);
    (0..parts).map(move |i| &all[i * all.len() / parts..(i + 1) * all.len() / parts])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_are_as_large_as_memory_allows_and_as_even_as_can_be() {
        let size = |free, count| group_size(free, count, |count| Ok(5 + 5 * count as u64)).unwrap();
        assert_eq!([0, 10, 14, 15, 20, 1000].map(|free| size(Some(free), 9)), [1, 1, 1, 2, 3, GROUP]);
        assert_eq!((size(None, 9), size(None, 2), size(None, 0)), (GROUP, 2, 1));
        for (count, most, lengths) in
            [(0, 4, vec![]), (3, 4, vec![3]), (5, 4, vec![2, 3]), (9, 4, vec![3, 3, 3]), (2, 1, vec![1, 1])]
        {
            let all: Vec<usize> = (0..count).collect();
            let parts: Vec<&[usize]> = even(&all, most).collect();
            assert_eq!(parts.iter().map(|p| p.len()).collect::<Vec<_>>(), lengths);
            assert_eq!(parts.concat(), all);
        }
    }
}
