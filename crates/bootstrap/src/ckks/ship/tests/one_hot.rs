//! One-hot selections against their definition: every position and sign has one slot, and keys select what stands there.

use super::super::generate;
use super::super::tests::contexts;
use super::*;
use crate::ckks::ship::support::SecretSupport;
use aglet_rlwe::Sample;
use num_complex::Complex64;

const LOG_N: u32 = 8;
const N: usize = 1 << LOG_N;
const SUPPORT: SecretSupport = SecretSupport { weight: 3, half_window: Some(19) };

fn shape(support: SecretSupport) -> RotationShape {
    RotationShape {
        support,
        masked: 1,
        cmux: vec![1],
        raised: 3,
        special: 1,
        digits: vec![vec![0, 1, 2]],
        one_hot: None,
    }
}

#[test]
fn every_position_and_sign_of_every_factor_has_one_slot() {
    for (support, slots) in [(SUPPORT, 1), (SUPPORT, 8), (SecretSupport { weight: 3, half_window: None }, 2)] {
        let shape = shape(support).selecting(N, slots).unwrap();
        let one_hot = shape.one_hot.unwrap();
        assert_eq!(one_hot.blocks, (N / 2 / 4 / slots).min(32));
        assert!(shape.keys().iter().map(|need| need.spec.digits.len()).sum::<usize>() == 2 * one_hot.plaintexts);
        for k in 0..support.weight {
            for place in 0..N {
                for sign in [1, -1] {
                    let secret = |other| if other == k { (place as u64, sign) } else { (N as u64, 1) };
                    let all = (0..2u64).flat_map(|sign| (0..one_hot.plaintexts).map(move |t| (t, sign)));
                    let mut ones = Vec::new();
                    for (t, of_sign) in all {
                        let values = chosen((&shape, &one_hot, N), secret, (t, of_sign));
                        assert_eq!(values.len(), one_hot.period());
                        let here = values.iter().enumerate().filter(|(_, v)| **v != 0.0);
                        ones.extend(here.map(|(slot, v)| (t, of_sign, slot, *v)));
                    }
                    let start = support.start(N, k);
                    if !(start..start + support.width(N)).contains(&place) {
                        // The last plaintext may have room for more, where the plaintext is zero.
                        assert!(ones.iter().all(|(t, ..)| t + 1 == one_hot.plaintexts));
                        continue;
                    }
                    let (t, block) = ((place - start) / one_hot.blocks, (place - start) % one_hot.blocks);
                    let slot = |i| (block * one_hot.factors + k) * slots + i;
                    let wanted: Vec<_> = (0..slots).map(|i| (t, u64::from(sign < 0), slot(i), 1.0)).collect();
                    assert_eq!(ones, wanted);
                }
            }
        }
    }
    assert!(shape(SUPPORT).selecting(N, 3).is_none() && shape(SUPPORT).selecting(N, N / 2).is_none());
}

#[test]
fn keys_select_the_number_of_their_position_or_its_conjugate() {
    let (ctx, raised) = contexts(LOG_N, SUPPORT, (3, 1));
    let mut random = ChaChaSource::from_seed([6; 32]);
    let sk = SecretKey::generate(&ctx, &mut random).unwrap();
    let secret = SignedSupport::draw(SUPPORT, N, &mut random);
    let all = shape(SUPPORT);
    let shape = all.selecting(N, 4).unwrap();
    let one_hot = shape.one_hot.unwrap();
    let made = |number: u64| Ok::<_, Error>(ChaChaSource::from_seed([(number >> 8) as u8; 32]));
    let keys = generate(&raised, &shape, &secret, &sk.for_subset(&raised).unwrap(), made).unwrap();
    let (fft, scale) = (SpecialFft::new(one_hot.period()), 2f64.powi(45));
    let value = |list: usize, t: usize, slot: usize| Complex64::cis((list * 1000 + t * 77 + slot * slot) as f64);
    let plaintext = |list: usize, t: usize| {
        let values: Vec<_> = (0..one_hot.period()).map(|slot| value(list, t, slot)).collect();
        let small = fft.coefficients(&values, scale)?;
        let mut wide = vec![0; N];
        wide.iter_mut().step_by(N / small.len()).zip(small).for_each(|(wide, c)| *wide = c);
        let ring = raised.ring();
        Ok(ring.to_eval(ring.lift(&wide, ring.scratch(3, 1)?)))
    };
    let of_all = generate(&raised, &all, &secret, &sk.for_subset(&raised).unwrap(), made).unwrap();
    let refused = ShipKeys::new(&of_all, &all).unwrap().select(2, 3, &plaintext, &|| Ok(())).err();
    assert_eq!(refused, Some(ShipFault::AllSlots.into()));
    let out = ShipKeys::new(&keys, &shape).unwrap().select(2, 3, &plaintext, &|| Ok(())).unwrap();
    let pairs = ctx.params().q().iter().zip(raised.params().q());
    let gain = pairs.map(|(&q, &r)| q as f64 / r as f64).product::<f64>();
    for (list, polys) in out.into_iter().enumerate() {
        let ring = ctx.ring();
        let phase = sk.decrypt(&ctx, &Sample { polys, key: sk.id() }).unwrap();
        // The noise is far below one limb, and so is the message at this scale.
        let low = ring.centred(&phase).unwrap();
        let mut found: Vec<_> =
            (0..N / 2).map(|j| Complex64::new(low[j] as f64, low[j + N / 2] as f64) / scale / gain).collect();
        SpecialFft::new(N / 2).forward(&mut found);
        for (slot, found) in found.iter().enumerate() {
            let slot = slot % one_hot.period();
            let (k, block) = (slot / one_hot.numbers % one_hot.factors, slot / one_hot.numbers / one_hot.factors);
            let mut wanted = Complex64::new(0.0, 0.0);
            if k < SUPPORT.weight {
                let (place, sign) = secret.get(k);
                let option = place as usize - SUPPORT.start(N, k);
                let number = value(list, option / one_hot.blocks, slot);
                let here = f64::from(option % one_hot.blocks == block);
                wanted = here * if sign < 0 { number.conj() } else { number };
            }
            assert!((found - wanted).norm() < 1e-9, "list {list}, slot {slot}: {found} {wanted}");
        }
    }
}
