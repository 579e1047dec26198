//! Milliseconds of the blind rotation of a gate, key streamed and key in the cache, and of each of eight, on one thread, for every backend of
//! this CPU or the one that is named:
//! `cargo run --release -p aglet-ring --example blind_speed avx2`.

use aglet_ring::blind::{blind_block, scratch_words, Gadget};
use aglet_ring::packed::{KeyShape, PackedKey};
use aglet_ring::small::{SmallTable, Words};
use aglet_ring::{arch, Modulus};
use std::time::Instant;

fn main() {
    let sets = [
        ("gate", 1_099_469_684_737, 9, 4, 4, 688, Gadget { levels: 1, log_base: 16 }),
        ("cggi", 1_099_469_684_737, 9, 4, 1, 631, Gadget { levels: 1, log_base: 17 }),
        ("lut2", 1_099_469_684_737, 10, 3, 4, 760, Gadget { levels: 1, log_base: 18 }),
        ("lut4", 281_474_846_687_233, 11, 2, 4, 844, Gadget { levels: 1, log_base: 22 }),
        ("wide", 281_474_846_687_233, 11, 2, 4, 844, Gadget { levels: 2, log_base: 15 }),
    ];
    let named = std::env::args().nth(1);
    for kernels in arch::available().iter().filter(|k| named.as_ref().is_none_or(|name| name == k.name())) {
        for (name, q, log_n, columns, keys, n, gadget) in sets {
            let table = SmallTable::new(Modulus::new(q).unwrap(), log_n, kernels).unwrap();
            let shape = KeyShape { blocks: n / keys, keys, rows: columns, levels: gadget.levels, columns };
            let mut key = PackedKey::zeros(&table, shape).unwrap();
            let values: Vec<u64> = (0..(columns * table.n()) as u64).map(|i| i * i * 12345 % q).collect();
            for i in 0..shape.blocks * keys * columns * gadget.levels {
                let at = [
                    i / (keys * columns * gadget.levels),
                    i / columns % keys,
                    i % columns,
                    i / (columns * keys) % gadget.levels,
                ];
                key.write(&table, at, &values);
            }
            let mut acc = Words::zeros(columns * table.n());
            let mut scratch = Words::zeros(scratch_words(&table, columns, gadget));
            let mut accs = vec![Words::zeros(columns * table.n()); 8];
            let mut best = [f64::INFINITY; 3];
            for _ in 0..9 {
                for (way, best) in best.iter_mut().enumerate() {
                    let start = Instant::now();
                    for block in 0..shape.blocks {
                        let e: Vec<u16> =
                            (0..keys).map(|j| ((block * 77 + j * 501) % (2 * table.n())) as u16).collect();
                        let many = accs.iter_mut().map(|acc| (&e, &mut acc[..]));
                        match way {
                            2 => blind_block(&table, &key, block, gadget, many, &mut scratch),
                            _ => {
                                let block = block * (1 - way);
                                blind_block(&table, &key, block, gadget, [(&e, &mut acc[..])], &mut scratch);
                            }
                        }
                    }
                    *best = best.min(start.elapsed().as_secs_f64() * 1e3 / [1.0, 8.0][way / 2]);
                }
            }
            println!(
                "{:11} {name}: streamed {:.2} ms, cached {:.2} ms; of eight {:.2} ms each; key {:.1} MB",
                kernels.name(),
                best[0],
                best[1],
                best[2],
                key.byte_count() as f64 / 1e6
            );
        }
    }
}
