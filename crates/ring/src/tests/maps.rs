//! Linear maps, of keys and of public numbers, by definition.

use super::*;

/// Maps of one and several giant steps with and without gaps, of diagonals of all lengths.
pub(super) fn linear_maps(case: &mut Case<'_>) {
    let (ring, shape) = (case.ring, (4, 2));
    for (digits, babies, giants, inputs) in [(1, 1, 1, 1), (3, 5, 3, 2), (2, 18, 1, 1)] {
        let x = Inputs::new(case, inputs, digits, shape);
        let lifted: Vec<_> = (0..inputs).map(|_| case.polys(2, shape.0, 0)).collect();
        let keys: Vec<_> = (0..babies).map(|_| case.key(digits, shape.0, shape.1)).collect();
        let galois: Vec<u64> = (0..babies).map(|k| rotation_exponent(k as isize, N)).collect();
        let phis: Vec<_> = galois.iter().map(|&g| ring.automorphism(g)).collect();
        // The first is the unrotated pair.
        let halves: Vec<_> = keys.iter().map(unpacked).collect();
        let of: Vec<_> = (0..babies).map(|k| (k > 0).then(|| (&keys[k], &*phis[k]))).collect();
        let (mut entries, mut plain) = (Vec::new(), Vec::new());
        for k in 0..giants * babies {
            let len = [1, 2, 16, N][k % 4];
            let small: Vec<i64> = (0..len).map(|_| case.next() as i64 >> (k % 40)).collect();
            let mut wide = vec![0; N];
            small.iter().enumerate().for_each(|(j, &c)| wide[j * (N / len)] = c);
            let there = k == 0 || k % 5 != 3;
            plain.push(there.then(|| ring.to_eval(ring.lift(&wide, ring.scratch(shape.0, shape.1).unwrap()))));
            entries.push(there.then_some(small));
        }
        let words: Vec<_> = entries.iter().map(|small: &Option<Vec<_>>| small.as_ref().map(Vec::len)).collect();
        let small = |k: usize| Ok::<_, Error>(entries[k].clone().unwrap_or_default());
        let diagonals = ring.diagonals(babies, &words, shape, small).unwrap();
        let lent = x.digits.iter().zip(&lifted).map(|(digits, l)| MapInput { digits, lifted: (&l[0], &l[1]) });
        let lent: Vec<_> = lent.collect();
        let run = |diagonals: &Diagonals| {
            let steps = [0..1, 1..giants].map(|steps| ring.linear_map(&lent, &of, diagonals, steps).unwrap());
            steps.into_iter().flatten().collect::<Vec<_>>()
        };
        let found = run(&diagonals);
        assert_eq!((found.len(), diagonals.giants()), (giants, giants));
        // Encoded limb by limb, or once for all.
        let again = run(&ring.encoded(diagonals).unwrap());
        for (x, y) in found.iter().flatten().zip(again.iter().flatten()) {
            assert!((0..shape.0 + shape.1).all(|i| x.0.limb(i) == y.0.limb(i) && x.1.limb(i) == y.1.limb(i)));
        }
        for (g, k) in (0..giants).flat_map(|g| (0..inputs).map(move |k| (g, k))) {
            for (h, sum) in [&found[g][k].0, &found[g][k].1].into_iter().enumerate() {
                case.is("linear_map", sum, |i, m, at| {
                    let lift = |h: usize, at: usize| if i < shape.0 { lifted[k][h].limb(i)[at] } else { 0 };
                    (0..babies).fold(0, |sum, b| {
                        let Some(diagonal) = &plain[g * babies + b] else { return sum };
                        let rotated = match b {
                            0 => lift(h, at),
                            _ => {
                                let turned = x.product(m, k, |d| halves[b][h][d].limb(i), galois[b], (i, at));
                                if h == 0 {
                                    m.add(turned, lift(0, source(galois[b], at)))
                                } else {
                                    turned
                                }
                            }
                        };
                        m.add(sum, m.mul(rotated, diagonal.limb(i)[at]))
                    })
                });
            }
        }
    }
}

/// Sums of rotations, which doubles know exactly for short polynomials; and a coefficient that fits no word.
pub(super) fn public_maps(case: &mut Case<'_>) {
    let ring = case.ring;
    let short: Vec<i64> = (0..N).map(|_| case.next() as i64 >> 36).collect();
    let x = ring.to_eval(ring.lift(&short, ring.scratch(1, 0).unwrap()));
    let wide = ring.to_eval(ring.lift(&short, ring.scratch(6, 0).unwrap()));
    let one = |k: usize, times: f64| (k, vec![Complex64::new(times, 0.0); [1, N / 2][k % 2]]);
    let map = BTreeMap::from([one(0, 1.0), one(3, -2.0), one(10, 5.0)]);
    // With primes above 50 bits the lowest bits are left out: those are zero after this ratio.
    let out = ring.public_map(&x, 6, &map, 64.0 * 1024.0).unwrap();
    case.is("public_map", &out, |i, m, at| {
        let turned = |k: isize| wide.limb(i)[source(rotation_exponent(k, N), at)];
        let sum = m.add(m.sub(turned(0), m.mul(2, turned(3))), m.mul(5, turned(10)));
        m.mul(sum, 1 << 16)
    });
    let too_large = ring.public_map(&x, 1, &map, 1e30).map(|_| ());
    assert!(matches!(too_large, Err(Error::TooLarge { .. })));
}
