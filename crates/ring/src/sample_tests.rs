//! Tests of the sampler module: known answers, word order, and statistics against the formulas.

use super::*;
use aglet_testing::statistics::{chi_square, chi_square_limit};

/// Replays recorded words; panics when they are used up, so a test sees how many a sampler reads.
struct Recorded(std::vec::IntoIter<u8>);

impl Recorded {
    fn words(words: &[u64]) -> Self {
        Recorded(words.iter().flat_map(|w| w.to_le_bytes()).collect::<Vec<u8>>().into_iter())
    }
}

impl RandomSource for Recorded {
    fn fill_bytes(&mut self, out: &mut [u8]) {
        out.fill_with(|| self.0.next().expect("the recording is long enough"));
    }
}

fn source(seed: u8) -> ChaChaSource {
    ChaChaSource::from_seed([seed; 32])
}

const COUNT: usize = 1 << 16;

#[test]
fn chacha20_known_answer() {
    // RFC 8439, appendix A.1, test vectors 1 and 2 (key and nonce zero, blocks 0 and 1).
    let mut stream = [0; 128];
    source(0).fill_bytes(&mut stream);
    assert_eq!(stream[..8], [0x76, 0xb8, 0xe0, 0xad, 0xa0, 0xf1, 0x3d, 0x90]);
    assert_eq!(stream[64..72], [0x9f, 0x07, 0xe7, 0xbe, 0x55, 0x51, 0x38, 0x7a]);
    assert_eq!(source(0).next_u64(), u64::from_le_bytes(stream[..8].try_into().unwrap()));
}

#[test]
fn pieces_make_the_same_stream() {
    let mut whole = [0; 1000];
    source(1).fill_bytes(&mut whole);
    let (mut pieces, mut s) = ([0; 1000], source(1));
    for piece in pieces.chunks_mut(37) {
        s.fill_bytes(piece);
    }
    assert_eq!(whole, pieces);
}

#[test]
fn forks_depend_on_seed_and_label_only() {
    let mut parent = source(2);
    let first = parent.fork(b"noise").next_u64();
    parent.next_u64();
    assert_eq!(parent.fork(b"noise").next_u64(), first);
    let others = [parent.fork(b"mask").next_u64(), source(3).fork(b"noise").next_u64(), source(2).next_u64()];
    assert!(others.iter().all(|&o| o != first));
    assert_ne!(ChaChaSource::from_os().unwrap().next_u64(), ChaChaSource::from_os().unwrap().next_u64());
    assert_eq!(format!("{parent:?}"), "ChaChaSource");
}

#[test]
fn public_seeds_are_no_part_of_the_stream() {
    let (mut quiet, mut giver) = (source(2), source(2));
    let seeds = [giver.public_seed(), giver.public_seed()];
    let (mut expected, mut stream) = (vec![0; 1 << 16], vec![0; 1 << 16]);
    quiet.fill_bytes(&mut expected);
    giver.fill_bytes(&mut stream);
    assert_eq!(stream, expected, "giving a seed does not move the stream");
    assert_eq!([quiet.public_seed(), quiet.public_seed()], seeds, "nor does the stream change the seeds");
    assert_ne!(seeds[0], seeds[1]);
    assert_ne!(source(3).public_seed(), seeds[0]);
    assert!(seeds.iter().all(|seed| !stream.windows(8).any(|part| part == &seed[..8])));
    let label = 1u64.to_le_bytes();
    assert_ne!(source(2).fork(&label).seed[..], seeds[0], "forks have seeds of their own");
}

#[test]
fn uniform_reads_words_in_order_and_skips_the_tail() {
    let q = (1u64 << 62) + 57; // floor(2^64/q) = 3, so a quarter of all words is skipped
    let words = [5, u64::MAX, 3 * q, 3 * q - 1, q, 2 * q + 9, 7];
    let mut out = [0; 5];
    let mut recorded = Recorded::words(&words);
    uniform(&mut recorded, q, &mut out);
    assert_eq!(out, [5, q - 1, 0, 9, 7]);
    assert!(recorded.0.next().is_none());
}

#[test]
fn uniform_is_the_exact_residue() {
    for q in [2, 3, 65537, (1 << 47) - 115, 1 << 50, (1 << 50) - 27, (1 << 61) - 1, 1 << 63] {
        let mut out = vec![0; 3000];
        uniform(&mut source(4), q, &mut out);
        let mut s = source(4);
        let limit = ((1u128 << 64) / u128::from(q)) * u128::from(q);
        let mut expected = std::iter::repeat_with(|| s.next_u64()).filter(|&w| u128::from(w) < limit).map(|w| w % q);
        assert!(out.iter().all(|&x| Some(x) == expected.next()), "{q}");
    }
}

#[test]
fn uniform_is_uniform() {
    for (seed, q) in [(5, 1_125_899_905_794_049u64), (6, (1 << 62) + 57), (7, 97)] {
        let mut out = vec![0; COUNT];
        uniform(&mut source(seed), q, &mut out);
        let cells = q.min(64) as usize;
        let mut counts = vec![0; cells];
        for &x in &out {
            assert!(x < q);
            counts[(u128::from(x) * cells as u128 / u128::from(q)) as usize] += 1;
        }
        let share = |c: usize| {
            let first = |c: usize| (c as u128 * u128::from(q)).div_ceil(cells as u128);
            (first(c + 1) - first(c)) as f64 / q as f64
        };
        let probabilities: Vec<f64> = (0..cells).map(share).collect();
        assert!(chi_square(&counts, &probabilities) < chi_square_limit(cells as f64 - 1.0), "{q}");
        let mean = out.iter().map(|&x| x as f64).sum::<f64>() / COUNT as f64 / (q - 1) as f64;
        assert!((mean - 0.5).abs() < 5.0 / (12.0 * COUNT as f64).sqrt(), "{q}: {mean}");
    }
}

#[test]
fn ternary_is_uniform() {
    let mut out = vec![0; COUNT];
    ternary(&mut source(8), &mut out);
    let counts = [-1, 0, 1].map(|v| out.iter().filter(|&&x| x == v).count());
    assert_eq!(counts.iter().sum::<usize>(), COUNT);
    assert!(chi_square(&counts, &[1.0 / 3.0; 3]) < 13.8, "{counts:?}"); // 0.1 % point, 2 degrees of freedom
    let products = out.windows(2).map(|w| f64::from(w[0] * w[1])).sum::<f64>() / COUNT as f64;
    assert!(products.abs() < 5.0 * (4.0 / 9.0 / COUNT as f64).sqrt(), "neighbours correlate: {products}");
}

#[test]
fn ternary_maps_bytes_in_order() {
    let mut out = [9; 6];
    ternary(&mut Recorded(vec![0, 255, 1, 2, 254, 253, 252].into_iter()), &mut out);
    assert_eq!(out, [-1, 0, 1, 1, 0, -1]);
}

#[test]
fn fixed_weight_is_exact() {
    for (n, weight) in [(COUNT, 32), (COUNT, 0), (1024, 1024), (1000, 999), (1, 1), (0, 0)] {
        let mut out = vec![7; n];
        fixed_weight(&mut source(9), weight, &mut out);
        assert!(out.iter().all(|x| (-1..=1).contains(x)));
        assert_eq!(out.iter().filter(|&&x| x != 0).count(), weight);
    }
}

#[test]
fn fixed_weight_favours_no_place_sign_or_pair() {
    const RUNS: usize = 20_000;
    let (mut places, mut plus, mut pairs) = ([0; 8], 0, [0; 28]);
    let mut s = source(10);
    for _ in 0..RUNS {
        let mut out = [0; 8];
        fixed_weight(&mut s, 2, &mut out);
        let chosen: Vec<usize> = (0..8).filter(|&i| out[i] != 0).collect();
        chosen.iter().for_each(|&i| places[i] += 1);
        pairs[chosen[1] * (chosen[1] - 1) / 2 + chosen[0]] += 1;
        plus += out.iter().filter(|&&x| x == 1).count();
    }
    assert!(chi_square(&places, &[1.0 / 8.0; 8]) < chi_square_limit(7.0), "{places:?}");
    assert!(chi_square(&pairs, &[1.0 / 28.0; 28]) < chi_square_limit(27.0), "{pairs:?}");
    assert!(plus.abs_diff(RUNS) < 5 * ((2 * RUNS) as f64 / 4.0).sqrt() as usize, "{plus}");
}

#[test]
fn block_sparse_has_one_of_each_block_anywhere() {
    for (n, blocks) in [(COUNT, 31), (1024, 1024), (1000, 7), (1, 1)] {
        let mut out = vec![7; n];
        block_sparse(&mut source(12), blocks, &mut out);
        for k in 0..blocks {
            let block = &out[k * n / blocks..(k + 1) * n / blocks];
            assert_eq!(block.iter().map(|x| x.abs()).sum::<i8>(), 1);
        }
        assert!(out.iter().all(|x| (-1..=1).contains(x)));
    }
    // Blocks of 5 and 6 places: each place and sign of the second as often as the others, and no matter where the first is.
    const RUNS: usize = 30_000;
    let (mut signed, mut pairs, mut s) = ([0; 12], [0; 30], source(13));
    for _ in 0..RUNS {
        let mut out = [0; 11];
        block_sparse(&mut s, 2, &mut out);
        let place = |part: &[i8]| part.iter().position(|&x| x != 0).unwrap();
        let (first, second) = (place(&out[..5]), place(&out[5..]));
        signed[2 * second + usize::from(out[5 + second] == 1)] += 1;
        pairs[6 * first + second] += 1;
    }
    assert!(chi_square(&signed, &[1.0 / 12.0; 12]) < chi_square_limit(11.0), "{signed:?}");
    assert!(chi_square(&pairs, &[1.0 / 30.0; 30]) < chi_square_limit(29.0), "{pairs:?}");
}

#[test]
fn binary_takes_bits_in_order() {
    let mut out = [7; 11];
    let mut recorded = Recorded(vec![0b1000_1101, 0b0000_0110].into_iter());
    binary(&mut recorded, &mut out);
    assert_eq!(out, [1, 0, 1, 1, 0, 0, 0, 1, 0, 1, 1]);
    assert!(recorded.0.next().is_none());
    let mut out = vec![0; COUNT];
    binary(&mut source(14), &mut out);
    let mut pairs = [0; 4];
    out.chunks(2).for_each(|x| pairs[(2 * x[0] + x[1]) as usize] += 1);
    assert!(chi_square(&pairs, &[0.25; 4]) < chi_square_limit(3.0), "{pairs:?}");
}

#[test]
fn block_binary_has_every_state_alike() {
    const LENGTH: usize = 4;
    let mut out = vec![7; COUNT + 3];
    block_binary(&mut source(15), LENGTH, &mut out);
    let state = |block: &[i8]| block.iter().position(|&x| x == 1).map_or(0, |i| i + 1);
    let mut counts = [0; LENGTH + 1];
    for block in out.chunks(LENGTH) {
        assert!(block.iter().all(|x| (0..=1).contains(x)) && block.iter().sum::<i8>() <= 1, "{block:?}");
        counts[state(block)] += usize::from(block.len() == LENGTH);
    }
    assert_eq!(counts.iter().sum::<usize>(), COUNT / LENGTH);
    assert!(chi_square(&counts, &[0.2; LENGTH + 1]) < chi_square_limit(4.0), "{counts:?}");
    // The last block, of 2 places, has three states.
    let (mut short, mut s) = ([0; 3], source(16));
    for _ in 0..30_000 {
        let mut out = [0; 6];
        block_binary(&mut s, LENGTH, &mut out);
        short[state(&out[LENGTH..])] += 1;
    }
    assert!(chi_square(&short, &[1.0 / 3.0; 3]) < chi_square_limit(2.0), "{short:?}");
}

/// Unnormalised weight of k.
fn rho(k: i64) -> f64 {
    (-(k * k) as f64 / (2.0 * GAUSSIAN_SIGMA * GAUSSIAN_SIGMA)).exp()
}

#[test]
fn gaussian_table_is_the_distribution() {
    let total: f64 = (-60..=60).map(rho).sum();
    for (k, &entry) in CUMULATIVE.iter().enumerate() {
        let k = k as i64;
        let probability = (-k..=k).map(rho).sum::<f64>() / total;
        assert!((entry as f64 / 63f64.exp2() - probability).abs() < 1e-15, "{k}");
    }
    let tail = 2.0 * (GAUSSIAN_BOUND + 1..60).map(rho).sum::<f64>() / total;
    assert!(tail < (-63f64).exp2() && GAUSSIAN_BOUND as f64 > 6.0 * GAUSSIAN_SIGMA);
}

#[test]
fn gaussian_extremes() {
    let mut out = [0; 4];
    gaussian(&mut Recorded::words(&[0, 1, u64::MAX, u64::MAX - 1]), &mut out);
    assert_eq!(out, [0, 0, -GAUSSIAN_BOUND, GAUSSIAN_BOUND]);
    let edge = CUMULATIVE[0] << 1;
    gaussian(&mut Recorded::words(&[edge - 2, edge, edge | 1, CUMULATIVE[1] << 1]), &mut out);
    assert_eq!(out, [0, 1, -1, 2]);
}

#[test]
fn gaussian_moments_and_shape() {
    let mut out = vec![0; COUNT];
    gaussian(&mut source(11), &mut out);
    let moment = |power: i32| out.iter().map(|&x| (x as f64).powi(power)).sum::<f64>() / COUNT as f64;
    let (n, sigma) = (COUNT as f64, GAUSSIAN_SIGMA);
    // Five standard errors: var(x^k) = E[x^2k] - E[x^k]^2 with E[x^4] = 3 s^4, E[x^6] = 15 s^6, E[x^8] = 105 s^8.
    assert!(moment(1).abs() < 5.0 * sigma / n.sqrt());
    assert!((moment(2) / sigma.powi(2) - 1.0).abs() < 5.0 * (2.0 / n).sqrt(), "{}", moment(2));
    assert!(moment(3).abs() < 5.0 * sigma.powi(3) * (15.0 / n).sqrt());
    assert!((moment(4) / sigma.powi(4) / 3.0 - 1.0).abs() < 5.0 * (96.0 / 9.0 / n).sqrt(), "{}", moment(4));
    let total: f64 = (-60..=60).map(rho).sum();
    // Cells -10..=10 and the two tails, which hold enough samples for the statistic.
    let tail = (11..60).map(rho).sum::<f64>() / total;
    let mut counts: Vec<usize> = (-10..=10).map(|k| out.iter().filter(|&&x| x == k).count()).collect();
    let mut probabilities: Vec<f64> = (-10..=10).map(|k| rho(k) / total).collect();
    counts.extend([out.iter().filter(|&&x| x < -10).count(), out.iter().filter(|&&x| x > 10).count()]);
    probabilities.extend([tail, tail]);
    assert_eq!(counts.iter().sum::<usize>(), COUNT);
    assert!(chi_square(&counts, &probabilities) < chi_square_limit(22.0));
}

#[test]
fn wide_gaussians_are_as_wide_as_asked_for_and_gaussian() {
    for (seed, deviation) in [(40, 1.0), (41, 5.0), (42, 100.0), (43, 12345.6), (44, 2f64.powi(32)), (45, WIDEST)] {
        let (factors, reached) = wide_factors(deviation);
        assert!(reached >= deviation && (deviation < 1000.0 || reached < 1.06 * deviation), "{deviation}: {reached}");
        // What each step asks of the deviation before it, and the largest sum.
        let (mut s, mut largest) = (GAUSSIAN_SIGMA, GAUSSIAN_BOUND as f64);
        for factor in factors {
            let wider = s * (1.0 + (factor * factor) as f64).sqrt();
            assert!(factor >= 1 && wider * SMOOTHING <= s * s * 1.0001, "{deviation}: {factor} at {s}");
            (s, largest) = (wider, largest * (1 + factor) as f64);
        }
        assert!(largest < 2f64.powi(62), "{deviation}: 2^{}", largest.log2());
        let mut out = vec![0; COUNT];
        assert_eq!(wide_gaussian(&mut source(seed), deviation, &mut out), reached);
        let moment = |power| out.iter().map(|&x| (x as f64 / reached).powi(power)).sum::<f64>() / COUNT as f64;
        // 1, 0, 3 and 15 with deviations of sqrt(2), 1, sqrt(96) and sqrt(10170) over the root of the count.
        let root = (COUNT as f64).sqrt();
        assert!((moment(2) - 1.0).abs() < 5.0 * 2f64.sqrt() / root, "{deviation}: {}", moment(2));
        assert!(moment(1).abs() < 5.0 / root && (moment(4) - 3.0).abs() < 5.0 * 96f64.sqrt() / root);
        assert!((moment(6) - 15.0).abs() < 6.0 * 10170f64.sqrt() / root, "{deviation}: {}", moment(6));
        let odd = out.iter().filter(|&&x| x & 1 == 1).count() as f64;
        assert!((odd / COUNT as f64 - 0.5).abs() < 2.5 / root, "{deviation}: every residue is as likely");
    }
}
