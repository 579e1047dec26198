//! Choices by products with a box: what they choose, and their noise against the formula, at the real size.

use super::keys::{keys, preset, Keys};
use aglet_bootstrap::fhew::functional::{lookup_tree, OneThread, TreePlan};
use aglet_bootstrap::fhew::Blocks;
use aglet_ring::arch;
use aglet_rlwe::lwe::{BoxSample, GlweSample, LweCiphertext, Noise, PackingKey};
use aglet_schemes::fhew::{Domain, Message, TreeTable};

fn of(seed: u8) -> Keys {
    keys(preset(include_str!("../../aglet/presets/fhew/wide.toml")), seed, arch::chosen().unwrap())
}

fn packing(k: &mut Keys) -> PackingKey {
    let gadget = k.ctx.params().spec().gadget;
    PackingKey::generate(&k.ctx, &k.sk, gadget, &mut k.source, &mut |_, _| true).unwrap()
}

/// The square of an error, on the torus.
fn square(k: &Keys, ct: &LweCiphertext, expected: u64) -> f64 {
    let m = k.ctx.modulus();
    let error = m.centre(m.sub(k.sk.phase(&k.ctx, ct).unwrap(), expected));
    (error as f64 / m.value() as f64).powi(2)
}

/// The box of a message, in the middle of it: 128 neighbouring powers of X, half of which have wrapped around.
fn a_box(k: &Keys, width: usize) -> Vec<u64> {
    let n = k.ctx.params().n();
    let one = |i: usize| u64::from(i < width / 2) + (k.ctx.modulus().value() - 1) * u64::from(i >= n - width / 2);
    (0..n).map(one).collect()
}

#[test]
fn products_choose_with_the_noise_of_their_rows() {
    let message = Message::new(16, Domain::Padded).unwrap();
    // Few digits, whose rounding is most of the noise, and many.
    for (seed, levels) in [(60, 4), (61, 6), (62, 8)] {
        let mut k = of(seed);
        let (n, packing) = (k.ctx.params().n(), packing(&mut k));
        let width = n / 16;
        let (gadget, stated) = k.ctx.params().box_gadget(k.ctx.noise(), levels, width);
        let own = Noise::of(k.ctx.params(), Some(k.sk.weights(&k.ctx)));
        let formula = own.box_product(k.ctx.params(), gadget, width);
        // Values of a table in the clear.
        let values: Vec<u64> = (0..16).map(|h| h * 0x0123_4567_89AB).collect();
        let mut table = vec![0; n];
        values.iter().enumerate().for_each(|(h, &value)| table[h * width] = value);
        let table = GlweSample::trivial(&k.ctx, &table, k.key.id()).unwrap();
        let starts = BoxSample::starts(&k.ctx, gadget, &a_box(&k, width), k.key.id()).unwrap();
        let (mut squares, mut count) = (0.0, 0.0);
        for at in [0, 1, 7, 15] {
            let by = k.encrypt_phases([message.encode(&k.ctx, at).unwrap()]);
            let rows = k.key.rotate_tables(&k.ctx, &by, &starts, 0).unwrap();
            let made = BoxSample::of(&k.ctx, gadget, &rows, stated).unwrap();
            let product = made.product(&k.ctx, &table).unwrap().extract(&k.ctx, 0);
            assert!(square(&k, &product, values[at as usize]) < 100.0 * product.variance());
            // Coefficients of one product are sums of the same roundings: it takes many products.
            for _ in 0..100 {
                let zero = k.encrypt_phases([0]);
                let product = made.product(&k.ctx, &packing.pack(&k.ctx, &zero).unwrap()).unwrap();
                for i in (0..n).step_by(width / 4) {
                    squares += square(&k, &product.extract(&k.ctx, i), 0);
                    count += 1.0;
                }
            }
        }
        let ratio = squares / count / formula;
        println!("products of {gadget:?}: measured over formula {ratio:.3}");
        assert!((ratio - 1.0).abs() < 0.1, "products of {gadget:?}: measured over formula {ratio:.3}");
    }
}

#[test]
fn tables_of_four_messages_choose_by_products() {
    let message = Message::new(16, Domain::Padded).unwrap();
    let values = |t: u64| {
        (0..1 << 16).map(move |i: u64| (i * 0x9e37_79b9 + t * 0x85eb_ca6b).wrapping_mul(0x2545_f491_4f6c_dd1d) >> 60)
    };
    let tables: Vec<_> =
        (0..4).map(|t| TreeTable::new(message, message, &values(t).collect::<Vec<_>>()).unwrap()).collect();
    let mut k = of(63);
    let choices = Blocks::choices(&k.ctx, &k.sk, &mut k.source, &mut |_, _| true).unwrap().unwrap();
    let packing = packing(&mut k).with_choices(choices);
    let gadget = k.ctx.params().choice_gadget();
    let plan = TreePlan::of(&k.ctx, &tables, true, gadget);
    // 16 for rows, 12 for the sample of the box, and one choice of each table.
    assert_eq!(plan.rotations(), 16 + 12 + 4);
    assert!(TreePlan::of(&k.ctx, &tables[..1], true, gadget).rotations() == 16 + 16 + 1, "too few choices");
    // Tables that do not agree, or are not there as digits, have no plan.
    let byte = TreeTable::new(message, message, &[1; 256]).unwrap();
    let cts = k.encrypt_phases([0]);
    for (lists, mixed) in [(5, vec![tables[0].clone(), byte.clone()]), (4, vec![byte.clone()]), (1, vec![])] {
        let run = OneThread { ctx: &k.ctx, key: &k.key };
        assert!(lookup_tree(&run, &packing, &vec![&cts[..]; lists], &mixed, -128.0).is_err());
    }
    assert!(TreePlan::of(&k.ctx, &tables, true, None).rotations() == 16 + 64 + 4, "for results with little noise");
    let place = 0xB62Du64;
    let digits = [place >> 12, place >> 8 & 15, place >> 6 & 3, place >> 4 & 3, place & 15];
    let lists = digits.map(|digit| k.encrypt_phases([message.encode(&k.ctx, digit).unwrap()]));
    let lists: Vec<&[LweCiphertext]> = lists.iter().map(|list| &list[..]).collect();
    let run = OneThread { ctx: &k.ctx, key: &k.key };
    let out = lookup_tree(&run, &packing, &lists, &tables, -128.0).unwrap();
    for (t, found) in (0..).zip(&out) {
        let expected = message.encode(&k.ctx, values(t).nth(place as usize).unwrap()).unwrap();
        assert!((found[0].variance() / plan.variance() - 1.0).abs() < 0.2, "{:e}", found[0].variance());
        assert!(square(&k, &found[0], expected) < 60.0 * found[0].variance());
    }
}
