//! Tables, signs and unsigned integers with rotations in the clear: a phase reads its table, with noise up to the bound and none.

use super::*;
use crate::Error;
use aglet_ring::arch;
use aglet_ring::blind::Gadget;
use aglet_rlwe::lwe::{LweContext, LweParams, LweSpec, Method};
use aglet_rlwe::security::{Secret, Security};

fn context() -> LweContext {
    let spec = LweSpec {
        method: Method::Blocks,
        modulus: 281_474_846_687_233,
        log_n: 11,
        rank: 1,
        dimension: 844,
        secret: Secret::BlockBinary(4),
        gadget: Gadget { levels: 2, log_base: 15 },
        switch_digits: 15,
        lwe_error: -16.84,
        glwe_error: -46.32,
    };
    let params = LweParams::new(spec, Security::Bits128).unwrap();
    LweContext::new(params, arch::chosen().unwrap()).unwrap()
}

/// What a rotation of a table gives for a phase.
fn read(ctx: &LweContext, table: &[u64], phase: u64) -> u64 {
    let (n, q) = (table.len(), u128::from(ctx.modulus().value()));
    match (u128::from(phase) * 2 * n as u128 / q) as usize {
        i if i < n => table[i],
        i => ctx.modulus().neg(table[i - n]),
    }
}

/// A number of the torus, as a phase.
fn torus(ctx: &LweContext, x: f64) -> u64 {
    ctx.modulus().reduce_i64((x * ctx.modulus().value() as f64).round() as i64)
}

/// Pseudo-random numbers in [-1, 1].
fn noise(state: &mut u64) -> f64 {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    (*state >> 11) as f64 / f64::from(2u32).powi(52) - 1.0
}

/// A function of every kind that a domain has: the identity or what stands for it, and values at random.
fn functions(message: Message, state: &mut u64) -> Vec<Vec<u64>> {
    let p = message.space();
    let random: Vec<u64> = (0..p).map(|_| (noise(state).abs() * p as f64) as u64 % p).collect();
    match message.domain() {
        Domain::Negacyclic if p == 2 => vec![vec![0, 0], vec![1, 1]],
        Domain::Negacyclic => [(0..p / 2).map(|m| m + 1).collect(), random[..p as usize / 2].to_vec()]
            .into_iter()
            .map(|half: Vec<u64>| half.iter().copied().chain(half.iter().map(|f| (p - f) % p)).collect())
            .collect(),
        _ => vec![(0..p).collect(), random],
    }
}

#[test]
fn tables_read_every_message_up_to_the_borders_of_its_box() {
    let (ctx, mut state) = (context(), 1);
    let m = ctx.modulus();
    for (space, domain) in [2, 4, 8, 16].into_iter().flat_map(|p| Domain::ALL.map(|d| (p, d))) {
        let message = Message::new(space, domain).unwrap();
        // Borders fall on whole exponents, and only they belong to the next box.
        let edge = (m.value() as f64 * message.distance()) as u64 - 2 * space;
        for values in functions(message, &mut state) {
            let table = Table::new(message, message, &values).unwrap();
            let entries = table.entries(&ctx);
            // Rotations of half steps, times the jumps, are rotations of the table.
            let (half, n) = (half_steps(&ctx, message), ctx.params().n());
            let jumps = table.factors(ctx.params());
            assert_eq!(table.squared_factors(ctx.params()), jumps.iter().map(|j| (j.1 * j.1) as f64).sum::<f64>());
            for at in 0..space {
                let phase = message.encode(&ctx, at).unwrap();
                assert_eq!(message.decode(&ctx, phase), at);
                let phase = match domain {
                    Domain::Full => m.add(phase, m.value() / (2 * space)) / 2,
                    _ => phase,
                };
                for phase in [phase, m.add(phase, edge), m.sub(phase, edge)] {
                    let found = read(&ctx, &entries, phase);
                    let expected = values[at as usize];
                    assert_eq!(message.decode(&ctx, found), expected, "{at} of {space}, {}", domain.name());
                    let products = jumps.iter().map(|&(j, w)| {
                        // The constant coefficient of X^j times the rotated polynomial.
                        let exponent = (phase as f64 * 2.0 * n as f64 / m.value() as f64) as usize;
                        let i = (exponent + 2 * n - j) % (2 * n);
                        let value = if i < n { half[i] } else { m.neg(half[i - n]) };
                        m.mul(m.reduce_i64(w), value)
                    });
                    let product = products.fold(0, |sum, x| m.add(sum, x));
                    assert!(m.centre(m.sub(product, found)).unsigned_abs() < 64, "{at} of {space}");
                }
            }
        }
    }
}

#[test]
fn interleaved_tables_lie_beside_each_other() {
    let (ctx, mut state) = (context(), 2);
    let message = Message::new(4, Domain::Padded).unwrap();
    let tables: Vec<_> = (0..3).map(|_| functions(message, &mut state).pop().unwrap()).collect();
    let entries: Vec<_> = tables.iter().map(|t| Table::new(message, message, t).unwrap().entries(&ctx)).collect();
    let together = interleave(&entries, 2);
    for at in 0..4 {
        let exponent = (message.encode(&ctx, at).unwrap() as u128 * 4096 / u128::from(ctx.modulus().value())) as usize;
        for (t, values) in tables.iter().enumerate() {
            let found = together[exponent / 4 * 4 + t];
            assert_eq!(message.decode(&ctx, found), values[at as usize]);
        }
        assert_eq!(together[exponent / 4 * 4 + 3], 0);
    }
}

#[test]
fn what_is_no_table_is_refused_with_what_would_be() {
    let message = |p, domain| Message::new(p, domain).unwrap();
    let padded = message(4, Domain::Padded);
    let refused = |from, to, values: &[u64]| Table::new(from, to, values).unwrap_err().to_string();
    assert!(Message::new(5, Domain::Full).is_err());
    assert!(refused(padded, padded, &[0, 1, 2]).contains("give 4"));
    assert!(refused(padded, padded, &[0, 1, 2, 4]).contains("4 cannot be a table value; give 0 to 3"));
    assert!(Table::new(padded, message(8, Domain::Full), &[0, 1, 2, 4]).is_ok());
    let negacyclic = message(4, Domain::Negacyclic);
    assert!(refused(negacyclic, negacyclic, &[0, 1, 0, 1]).contains("give 3, as f(m + p/2) = -f(m)"));
    let pairs = |from, count: u64| TreeTable::new(from, padded, &(0..count).map(|i| i % 4).collect::<Vec<_>>());
    assert!(pairs(padded, 16).is_ok() && pairs(padded, 15).is_err() && pairs(negacyclic, 16).is_err());
    assert!(pairs(padded, 64).is_ok() && pairs(padded, 256).is_ok() && pairs(padded, 1024).is_err());
    let integer = Integer::new(8).unwrap();
    assert!(matches!(integer.encode(&context(), 128), Err(Error::Integer { value: 128, least: -128, most: 127 })));
    assert!(
        Integer::new(1).is_err()
            && Integer::new(21).is_err()
            && Unsigned::new(0).is_err()
            && Unsigned::new(21).is_err()
    );
    let unsigned = Unsigned::new(8).unwrap();
    assert!(unsigned.encode(&context(), 256).is_err());
}

/// What the nodes of a tree choose for messages, of which the first counts most.
fn chosen(tree: &Tree, messages: &[usize]) -> Vec<u64> {
    let last = |row: &Row| match *row {
        Row::Of(row) => row[0].values()[messages[messages.len() - 1]],
        Row::Signed(..) => panic!("rows of one message"),
    };
    let mut found: Vec<u64> = tree.rows().iter().map(last).collect();
    for node in tree.nodes() {
        found.push(found[node.values[messages[node.message]]]);
    }
    tree.roots().iter().map(|&root| found[root]).collect()
}

#[test]
fn trees_choose_the_values_of_their_tables() {
    let message = Message::new(4, Domain::Padded).unwrap();
    let table = |value: &dyn Fn(u64) -> u64| {
        TreeTable::new(message, message, &(0..256).map(value).collect::<Vec<_>>()).unwrap()
    };
    let tables = [
        table(&|i| i * i / 7 % 4),
        table(&|i| i / 64),
        table(&|i| i % 4),
        table(&|i| i / 16 % 4 * 3 % 4),
        table(&|_| 2),
    ];
    let tree = Tree::of(&tables, false);
    for i in 0..256usize {
        let messages = [i / 64, i / 16 % 4, i / 4 % 4, i % 4];
        let expected: Vec<u64> = tables.iter().map(|t| t.rows()[i / 4].values()[i % 4]).collect();
        assert_eq!(chosen(&tree, &messages), expected, "{messages:?}");
    }
    // What one message decides takes one choice, what the last one decides none.
    let rotations = |table: &TreeTable| Tree::of(std::slice::from_ref(table), false).rotations();
    assert_eq!(tables.each_ref().map(rotations)[1..], [2, 1, 2, 1]);
    assert_eq!(Tree::of(&[tables[0].clone(), tables[0].clone()], false).rotations(), rotations(&tables[0]));
    // Of all choices that there may be, none twice.
    assert_eq!(rotations(&table(&|i| ((i * i * 0x9E37_79B9 + i) >> 16) % 4)), 1 + 16 + 4 + 1);
}

/// A phase reads every row of two messages from its turns, with noise up to a quarter of a box.
#[test]
fn rows_of_two_messages_are_sums_of_turns() {
    let (ctx, message) = (context(), Message::new(16, Domain::Padded).unwrap());
    let values: Vec<u64> = (0..256u64).map(|i| ((i * i * 0x9E37_79B9) >> 16) % 16).collect();
    let table = TreeTable::new(message, message, &values).unwrap();
    let (factors, n) = (row_factors(ctx.params(), table.rows()), ctx.params().n());
    for (i, &value) in values.iter().enumerate() {
        let (x, d, e) = ((i % 16) as i64, (i / 16 % 4) as i64, (i / 64) as i64);
        for noise in [0, 30, -30] {
            let message = |turn: usize| x + 8 * (TURNS[turn / 4] * d + TURNS[turn % 4] * e);
            assert_eq!(read_row(&factors, n, message, noise), 2 * 16 * value as i64, "{i} with noise {noise}");
        }
    }
}

/// What a row with these factors is for the message of each rotation, read this far off. Of half a step in every coefficient, negated
/// half a torus on, a rotation by a phase leaves at the place j that at phase - j.
fn read_row(factors: &[(usize, usize, i64)], n: usize, message: impl Fn(usize) -> i64, noise: i64) -> i64 {
    let at = |turn: usize, j: usize| {
        let phase = message(turn) * n as i64 / 16 + noise - j as i64;
        if phase.rem_euclid(2 * n as i64) < n as i64 {
            1
        } else {
            -1
        }
    };
    factors.iter().map(|&(turn, j, w)| w * at(turn, j)).sum()
}

/// A phase reads three tables of two messages by two rotations and two choices.
#[test]
fn choices_by_a_sign_give_two_tables_each() {
    let (ctx, message) = (context(), Message::new(16, Domain::Padded).unwrap());
    let table = |k: u64| {
        let values: Vec<u64> = (0..256u64).map(|i| ((i * i * 0x9E37_79B9 + k * i * 7919) >> 16) % 16).collect();
        TreeTable::new(message, message, &values).unwrap()
    };
    let tables = [table(1), table(2), table(1), table(3)];
    let (tree, n) = (Tree::of(&tables, true), ctx.params().n());
    assert_eq!((tree.rotations(), tree.nodes().len(), tree.rows().len()), (4, 2, 24));
    let factors: Vec<_> = tree.rows().iter().map(|row| row.factors(ctx.params())).collect();
    for i in 0..256usize {
        let (x, low, high) = ((i % 16) as i64, (i / 16 % 4) as i64, (i / 64) as i64);
        for noise in [0, 30, -30] {
            let row = |at: &usize| read_row(&factors[*at], n, |turn| x + turn as i64 * 8 * high, noise);
            let (choice, sign) = match 2 * low + 8 * high {
                choice if choice < 16 => (choice as usize, 1),
                choice => (choice as usize - 16, -1),
            };
            let chosen = |node: &Node| node.values[choice..choice + 2].iter().map(|at| sign * row(at)).collect();
            let found: Vec<i64> = tree.nodes().iter().flat_map(|node| -> Vec<i64> { chosen(node) }).collect();
            for (table, root) in tables.iter().zip(tree.roots()) {
                let value = table.rows()[i / 16].values()[i % 16] as i64;
                assert_eq!(found[root - factors.len()], 2 * 2 * value, "{i} with noise {noise}");
            }
        }
    }
}

/// The sign of a phase by the tables of an integer, with noise of at most this much of the torus.
fn clear_sign(ctx: &LweContext, integer: Integer, phase: u64, bound: f64, state: &mut u64) -> u64 {
    let (m, to) = (ctx.modulus(), Message::new(16, Domain::Padded).unwrap());
    let mut noisy = |phase| m.add(phase, torus(ctx, bound * noise(state)));
    let x = m.add(phase, integer.half_step(ctx));
    let magnitude = |j: u32| {
        let scaled = m.mul(x, m.reduce_i64(integer.factor(j)));
        read(ctx, &integer.magnitude_table(ctx, j), noisy(scaled))
    };
    let sum = match integer.magnitudes() {
        1 => x,
        count => (0..count).map(magnitude).fold(0, |sum, d| m.add(sum, d)),
    };
    let table = Integer::sign_table(ctx, to);
    to.decode(ctx, m.add(read(ctx, &table, noisy(sum)), table[0]))
}

#[test]
fn signs_are_right_at_the_ends_and_with_noise_up_to_the_bound() {
    let (ctx, mut state) = (context(), 3);
    for bits in 2..=20 {
        let integer = Integer::new(bits).unwrap();
        let (least, most) = integer.range();
        let mut values = vec![0, -1, 1, least, most, least + 1, most - 1];
        values.extend((0..bits - 1).flat_map(|j| [1i64 << j, -(1i64 << j), (1i64 << j) - 1]));
        values.extend((0..2000).map(|_| (noise(&mut state) * most as f64) as i64));
        // Noise bounds of the failure formula: 60 of 4096 exponents, or half a step.
        let bound = if bits > 4 { 1.0 / 34.0 - 60.0 / 4096.0 } else { 8.0 / 17.0 / f64::from(bits).exp2() };
        for value in values {
            let phase = integer.encode(&ctx, value).unwrap();
            assert_eq!(integer.decode(&ctx, phase), value);
            for bound in [0.0, 0.99 * bound] {
                let found = clear_sign(&ctx, integer, phase, bound, &mut state);
                assert_eq!(found, u64::from(value >= 0), "{value} of {bits} bits, noise {bound}");
            }
        }
    }
}

/// An unsigned integer without the bits of its groups, and those bits as messages of `to`, with noise.
fn clear_groups(ctx: &LweContext, groups: &[Group], phase: u64, to: Message, state: &mut u64) -> (u64, Vec<u64>) {
    let m = ctx.modulus();
    let (mut unsigned, mut digits) = (phase, Vec::new());
    for group in groups {
        let mut digit = 0;
        for &part in group.parts() {
            let scaled = m.mul(unsigned, m.reduce_i64(group.factor()));
            let error = torus(ctx, 0.98 * group.distance() * noise(state));
            let input = m.add(m.add(scaled, group.middle(ctx, part)), error);
            let count = |counts| {
                let (table, by) = group.table(ctx, part, counts);
                m.add(read(ctx, &table, input), by)
            };
            digit = m.add(digit, count(group.digit_counts(ctx, to)));
            unsigned = m.sub(unsigned, count(group.counts(ctx)));
        }
        digits.push(to.decode(ctx, digit));
    }
    (unsigned, digits)
}

#[test]
fn unsigned_integers_lose_their_low_bits_and_fall_into_digits() {
    let (ctx, mut state) = (context(), 4);
    let (quiet, to) = (ctx.params().noise(), Message::new(16, Domain::Padded).unwrap());
    for bits in [1, 2, 4, 5, 7, 8, 12, 15] {
        let unsigned = Unsigned::new(bits).unwrap();
        for value in (0..1u64 << bits).step_by(1 << bits.saturating_sub(8)).chain([(1 << bits) - 1]) {
            let phase = unsigned.encode(&ctx, value).unwrap();
            assert_eq!(unsigned.decode(&ctx, phase), value);
            for low in 1..=bits.min(8) {
                let groups = unsigned.groups(&quiet, low, 0.0, -128.0).unwrap();
                assert_eq!(groups.iter().map(|g| g.bits).sum::<u32>(), low);
                let (left, _) = clear_groups(&ctx, &groups, phase, to, &mut state);
                let expected = value >> low << low;
                assert!(
                    m_near(&ctx, left, unsigned.encode(&ctx, expected).unwrap()),
                    "{value} without {low} of {bits}"
                );
            }
            let (_, digits) = clear_groups(&ctx, &unsigned.digits(&quiet, to, 0.0), phase, to, &mut state);
            let expected: Vec<u64> = (0..bits.div_ceil(4)).map(|i| value >> (4 * i) & 15).collect();
            assert_eq!(digits, expected, "{value} of {bits}");
        }
    }
    let unsigned = Unsigned::new(16).unwrap();
    assert!(matches!(unsigned.groups(&quiet, 4, 1e-6, -128.0), Err(Error::Failure { gate: "A floor", .. })));
    assert!(unsigned.groups(&quiet, 0, 0.0, -128.0).is_err() && unsigned.groups(&quiet, 17, 0.0, -128.0).is_err());
}

fn m_near(ctx: &LweContext, x: u64, y: u64) -> bool {
    ctx.modulus().centre(ctx.modulus().sub(x, y)).unsigned_abs() < 64
}

#[test]
fn failures_add_up() {
    assert!((either(&[-130.0, -130.0]) + 129.0).abs() < 1e-9);
    assert!((either(&[-130.0, -400.0]) + 130.0).abs() < 1e-9);
    assert_eq!((either(&[]), either(&[0.0, 0.0])), (f64::NEG_INFINITY, 0.0));
    let (ctx, message) = (context(), |domain| Message::new(16, domain).unwrap());
    let noise = ctx.params().noise();
    let failure = |domain| message(domain).log2_failure(&noise, noise.blind_rotation, 0);
    // Two rotations fail twice as often as one; twice the distance is four times the exponent.
    assert!((failure(Domain::Full) - failure(Domain::Padded) - 1.0).abs() < 0.1);
    assert!(failure(Domain::Negacyclic) < 3.8 * failure(Domain::Padded));
    // Two interleaved tables have four times the variance of a modulus switch.
    assert!(message(Domain::Padded).log2_failure(&noise, 0.0, 1) > -64.0);
    assert!(Integer::new(20).unwrap().log2_failure(ctx.params(), noise.fresh) < -128.0);
    assert!(Integer::new(20).unwrap().log2_failure(ctx.params(), noise.blind_rotation) > -64.0);
}

#[test]
fn every_second_message_lies_twice_as_far_apart() {
    for domain in Domain::ALL {
        let all = Message::new(16, domain).unwrap();
        for (step, left) in [(1, 16), (2, 8), (4, 4), (8, 2)] {
            let some = all.every(step).unwrap();
            assert_eq!((some.space(), some.domain()), (left, domain));
            assert_eq!(some.distance(), all.distance() * step as f64);
        }
        for step in [0, 3, 16, 32] {
            assert!(all.every(step).is_err(), "{step}");
        }
    }
}

/// The digits of the whole number nearest to a phase, with errors of decisions up to a share of what a span allows.
fn clear_nearest(ctx: &LweContext, plan: &Nearest, phase: u64, to: Message, share: f64, state: &mut u64) -> Vec<u64> {
    let m = ctx.modulus();
    let times = |x: u64, factor: i64| m.mul(x, m.reduce_i64(factor));
    let (mut input, mut digits) = (0, Vec::new());
    for (at, span) in plan.spans().iter().enumerate() {
        let mut error = |distance: f64| torus(ctx, share * distance * noise(state));
        if at == 0 {
            input = times(phase, plan.factor(span));
            for wave in [false, true] {
                let lacking = m.add(times(input, 1 << span.bits), error(1.0 / 32.0));
                input = m.sub(input, read(ctx, &span.lacking(ctx, wave), lacking));
            }
        }
        let mut own = || error(0.4 * f64::from(span.bits).exp2().recip());
        let highest = m.add(m.add(input, span.boxes(ctx)), own());
        let [less, bit] = [0, 1].map(|i| {
            let (table, by) = &span.highest(ctx, to)[i];
            m.add(read(ctx, table, highest), *by)
        });
        input = m.sub(input, times(less, 1 << span.next));
        let others = m.add(input, own());
        let mut found: Vec<u64> = span.others(ctx, to).iter().map(|table| read(ctx, table, others)).collect();
        if let Some(next) = plan.spans().get(at + 1) {
            let whole = m.add(times(phase, plan.factor(next)), next.middle(ctx));
            input = m.sub(m.sub(whole, less), found.remove(0));
        }
        found[span.highest_digit()] = m.add(found[span.highest_digit()], bit);
        digits.extend(found.iter().map(|&digit| to.decode(ctx, digit)));
    }
    digits
}

#[test]
fn numbers_with_a_fraction_become_the_nearest() {
    let (ctx, mut state) = (context(), 9);
    let (quiet, to) = (ctx.params().noise(), Message::new(16, Domain::Padded).unwrap());
    let value = |digits: &[u64]| digits.iter().rev().fold(0, |sum, digit| 4 * sum + digit);
    for (bits, digits) in [(2, 1), (4, 2), (6, 3), (8, 4), (8, 2), (9, 4), (12, 6), (14, 7), (16, 8), (20, 10), (20, 3)]
    {
        let plan = Nearest::new(Unsigned::new(bits).unwrap(), digits, &quiet, 0.0).unwrap();
        let phase = |x: f64| torus(&ctx, x * f64::from(bits).exp2().recip());
        let all = (1u64 << (2 * digits)) - 1;
        for number in (0..1u64 << bits).step_by(1 << bits.saturating_sub(9)).chain([(1 << bits) - 1]) {
            for fraction in [-0.46, -0.25, 0.0, 0.3, 0.46] {
                let found = clear_nearest(&ctx, &plan, phase(number as f64 + fraction), to, 1.0, &mut state);
                assert_eq!(value(&found), number & all, "{number} and {fraction} of {bits}");
            }
            // Half way, noise decides, and nothing but neighbours come out.
            let found = value(&clear_nearest(&ctx, &plan, phase(number as f64 + 0.5), to, 1.0, &mut state));
            assert!(found == number & all || found == (number + 1) & all, "{number} and a half of {bits}: {found}");
        }
        assert_eq!(plan.spans().iter().map(|span| span.bits).sum::<u32>(), 2 * digits);
    }
}

#[test]
fn digits_of_numbers_with_a_fraction_cost_and_fail_as_stated() {
    let quiet = context().params().noise();
    let of = |bits, digits, variance| Nearest::new(Unsigned::new(bits).unwrap(), digits, &quiet, variance);
    let (byte, word) = (of(8, 4, 0.0).unwrap(), of(16, 8, 0.0).unwrap());
    assert_eq!((byte.rotations(), word.rotations()), (7, 13));
    assert!(byte.log2_failure(&quiet, 0.0) < -128.0 && word.log2_failure(&quiet, 0.0) < -128.0);
    // An eighth of a step as a deviation is too much, and half way is everywhere then.
    let noisy = (0.125 / 256.0f64).powi(2);
    assert!(byte.log2_failure(&quiet, noisy) > -128.0);
    let near = [0.0, noisy / 100.0, noisy].map(|variance| byte.half_way(&quiet, variance, -128.0));
    assert!(0.0 < near[0] && near[0] < 0.02 && near[0] < near[1] && near[1] < near[2] && near[2] == 0.5, "{near:?}");
    assert!(byte.half_way(&quiet, 0.0, -20.0) < near[0] / 2.0);
    for (bits, digits) in [(8, 0), (8, 5), (1, 1), (9, 5)] {
        assert!(matches!(of(bits, digits, 0.0), Err(Error::Message { .. })), "{digits} of {bits}");
    }
}
