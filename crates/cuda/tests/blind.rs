//! Blind rotations on the emulated card against the host, word for word.

use super::case::{card, runs, Words};
use aglet_cuda::{kernels, Arithmetic, BlindKey, Card, Error};
use aglet_ring::blind::{blind_block, scratch_words, Gadget};
use aglet_ring::packed::{KeyShape, PackedKey};
use aglet_ring::small::{self, SmallTable};
use aglet_ring::{arch, Backend, LweBatch, LweResults, LweSwitch, Modulus};
use aglet_testing::emu::{Emu, Order, Program};

/// The blocks of a key: a whole rotation is long.
const BLOCKS: usize = if cfg!(feature = "long") { 172 } else { 3 };
/// The moduli of the parameter sets, of 40 and 48 bits.
const MODULI: [u64; 2] = [1_099_469_684_737, 281_474_846_687_233];

/// Residues that are random, at the ends of their range or next to its middle.
fn residues(words: &mut Words, q: u64, count: usize) -> Vec<u64> {
    let residue = |w: u64| [w % q, q - 1, 0, q / 2, q / 2 + 1, w % q][(w >> 60) as usize % 6];
    (0..count).map(|_| residue(words.next())).collect()
}

fn key(words: &mut Words, table: &SmallTable, shape: KeyShape) -> PackedKey {
    let (mut key, q) = (PackedKey::zeros(table, shape).unwrap(), table.modulus().value());
    for (block, j) in (0..shape.blocks).flat_map(|b| (0..shape.keys).map(move |j| (b, j))) {
        for (row, level) in (0..shape.rows).flat_map(|r| (0..shape.levels).map(move |l| (r, l))) {
            key.write(table, [block, j, row, level], &residues(words, q, shape.columns * table.n()));
        }
    }
    key
}

#[test]
fn rotations_of_all_parameter_sets() {
    // log N, columns, levels, log base, keys of a block: gate, cggi, ginx3, toy-lut4, lut2 and lut3, lut4, wide.
    let sets = [
        (9, 4, 1, 16, 4),
        (9, 4, 1, 17, 1),
        (9, 4, 1, 18, 2),
        (10, 2, 1, 22, 4),
        (10, 3, 1, 22, 4),
        (11, 2, 1, 22, 4),
        (11, 2, 2, 15, 4),
    ];
    for (set, q) in sets.into_iter().flat_map(|set| MODULI.map(|q| (set, q))) {
        let ((log_n, columns, levels, log_base, keys), mut words) = (set, Words::new());
        let table = SmallTable::new(Modulus::new(q).unwrap(), log_n, arch::chosen().unwrap()).unwrap();
        let (n, gadget) = (table.n(), Gadget { levels, log_base });
        let key = key(&mut words, &table, KeyShape { blocks: BLOCKS, keys, rows: columns, levels, columns });
        let masks: Vec<Vec<u16>> = (0..3)
            .map(|_| {
                (0..BLOCKS * keys)
                    .map(|_| [0, 1, n as u64, words.next()][words.next() as usize % 4] as u16 % (2 * n as u16))
                    .collect()
            })
            .collect();
        let start: Vec<Vec<u64>> = (0..3).map(|_| residues(&mut words, q, columns * n)).collect();
        let mut wanted = start.clone();
        let mut scratch = small::Words::zeros(scratch_words(&table, columns, gadget));
        for block in 0..BLOCKS {
            let inputs = masks.iter().zip(&mut wanted);
            let inputs = inputs.map(|(mask, acc)| (&mask[block * keys..(block + 1) * keys], &mut acc[..]));
            blind_block(&table, &key, block, gadget, inputs, &mut scratch);
        }
        for (order, arithmetic) in runs() {
            let there = BlindKey::new(&card(order), &table, &key, gadget, arithmetic).unwrap();
            let mut found = start.clone();
            let masks: Vec<&[u16]> = masks.iter().map(|mask| &mask[..]).collect();
            there.rotate(&masks, &mut found.iter_mut().map(|acc| &mut acc[..]).collect::<Vec<_>>()).unwrap();
            for (found, wanted) in found.iter().zip(&wanted) {
                let wrong = found.iter().zip(wanted).filter(|(x, y)| x != y).count();
                assert!(wrong == 0, "{wrong} wrong words: {set:?}, modulus {q}, {order:?}, {arithmetic:?}");
            }
        }
    }
}

#[test]
fn rotations_that_no_kernel_has() {
    let table = SmallTable::new(Modulus::new(MODULI[0]).unwrap(), 9, arch::chosen().unwrap()).unwrap();
    let shape = KeyShape { blocks: 1, keys: 1, rows: 2, levels: 1, columns: 2 };
    let key = PackedKey::zeros(&table, shape).unwrap();
    let refused =
        BlindKey::new(&card(Order::Forward), &table, &key, Gadget { levels: 1, log_base: 16 }, Arithmetic::F50);
    assert!(matches!(refused.err(), Some(Error::Rotation { log_n: 9, columns: 2, levels: 1 })));
}

/// A bootstrap of one ciphertext with keys that are drawn, by kernels with one text in place of another.
fn bootstrapped(from: &str, to: &str) -> Result<LweResults, aglet_ring::Error> {
    let text = kernels::text();
    assert_eq!(text.matches(from).count(), 1, "the kernels have {from:?} once");
    let card = Card::new(Emu::device(&Program::of(&text.replace(from, to)).unwrap(), Order::Forward), Arithmetic::S64);
    let (mut words, modulus) = (Words::new(), Modulus::new(MODULI[0]).unwrap());
    let [table, small] = [9, 6].map(|log_n| SmallTable::new(modulus, log_n, arch::chosen().unwrap()).unwrap());
    let rotation = key(&mut words, &table, KeyShape { blocks: 1, keys: 4, rows: 4, levels: 1, columns: 4 });
    let (coordinates, dimension, digits) = (3 * table.n(), 4, 2);
    let levels = digits * (coordinates - dimension).div_ceil(small.n());
    let switch = key(&mut words, &small, KeyShape { blocks: 1, keys: 1, rows: 1, levels, columns: 2 });
    let (mean, signed, digits) = (0.25, false, digits as u32);
    let switch = LweSwitch { table: &small, key: &switch, coordinates, dimension, digits, mean, signed };
    let there = card.block_rotation(&table, &rotation, Gadget { levels: 1, log_base: 16 }, &switch)?.unwrap();
    let inputs = [residues(&mut words, MODULI[0], coordinates + 1)];
    let start = residues(&mut words, MODULI[0], 4 * table.n());
    there.bootstrap(&LweBatch { inputs: &inputs, starts: &[&start], log_tables: 0, coefficients: Some(&[0, 5]) })
}

#[test]
fn a_barrier_that_a_bootstrap_lacks() {
    let barrier = ["__syncthreads();\n        for (u32 k = 0;", "__syncthreads();\n    if (threadIdx.x) return;"];
    let whole = bootstrapped(barrier[0], barrier[0]).unwrap();
    assert_eq!((whole.exponents[0].0.len(), whole.words.len(), whole.words[0].len()), (4, 2, 3 * 512 + 1));
    for barrier in barrier {
        let missing = bootstrapped(barrier, barrier.trim_start_matches("__syncthreads();"));
        let reason = missing.expect_err("the emulator notices").to_string();
        assert!(reason.contains("lwe_") && reason.contains("reads what"), "{reason}");
    }
}
