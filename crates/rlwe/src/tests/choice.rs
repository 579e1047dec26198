//! Choices against their definition: every place and sign has one slot, and keys choose what stands there.

use super::super::tests::contexts;
use super::*;
use crate::places::Places;
use num_complex::Complex64;

const LOG_N: u32 = 8;
const N: usize = 1 << LOG_N;
const PLACES: Places = Places { weight: 3, half_window: Some(19) };

fn shape(places: Places) -> RotorShape {
    RotorShape { places, columns: 1, mux: vec![1], raised: 3, special: 1, digits: vec![vec![0, 1, 2]], choice: None }
}

#[test]
fn every_place_and_sign_of_every_factor_has_one_slot() {
    for (places, slots) in [(PLACES, 1), (PLACES, 8), (Places { weight: 3, half_window: None }, 2)] {
        let shape = shape(places).choosing(N, slots).unwrap();
        let choice = shape.choice.unwrap();
        assert_eq!(choice.blocks, (N / 2 / 4 / slots).min(32));
        assert!(shape.keys().iter().map(|(_, spec)| spec.digits.len()).sum::<usize>() == 2 * choice.plaintexts);
        for k in 0..places.weight {
            for place in 0..N {
                for sign in [1, -1] {
                    let secret = |other| if other == k { (place as u64, sign) } else { (N as u64, 1) };
                    let all = (0..2u64).flat_map(|sign| (0..choice.plaintexts).map(move |t| (t, sign)));
                    let mut ones = Vec::new();
                    for (t, of_sign) in all {
                        let values = chosen((&shape, &choice, N), secret, (t, of_sign));
                        assert_eq!(values.len(), choice.period());
                        let here = values.iter().enumerate().filter(|(_, v)| **v != 0.0);
                        ones.extend(here.map(|(slot, v)| (t, of_sign, slot, *v)));
                    }
                    let start = places.start(N, k);
                    if !(start..start + places.width(N)).contains(&place) {
                        // The last plaintext may have room for more, where the plaintext is zero.
                        assert!(ones.iter().all(|(t, ..)| t + 1 == choice.plaintexts));
                        continue;
                    }
                    let (t, block) = ((place - start) / choice.blocks, (place - start) % choice.blocks);
                    let slot = |i| (block * choice.factors + k) * slots + i;
                    let wanted: Vec<_> = (0..slots).map(|i| (t, u64::from(sign < 0), slot(i), 1.0)).collect();
                    assert_eq!(ones, wanted);
                }
            }
        }
    }
    assert!(shape(PLACES).choosing(N, 3).is_none() && shape(PLACES).choosing(N, N / 2).is_none());
}

#[test]
fn keys_choose_the_number_of_their_place_or_its_conjugate() {
    let (ctx, raised) = contexts(LOG_N, PLACES, (3, 1));
    let mut random = ChaChaSource::from_seed([6; 32]);
    let sk = SecretKey::generate(&ctx, &mut random).unwrap();
    let secret = PLACES.draw(N, &mut random);
    let shape = shape(PLACES).choosing(N, 4).unwrap();
    let choice = shape.choice.unwrap();
    let made = |g: usize, _: usize| Ok::<_, Error>(ChaChaSource::from_seed([g as u8; 32]));
    let keys = RotorKeys::generate(&raised, &shape, &secret, &sk.for_subset(&raised).unwrap(), made).unwrap();
    let (fft, scale) = (SpecialFft::new(choice.period()), 2f64.powi(45));
    let value = |list: usize, t: usize, slot: usize| Complex64::cis((list * 1000 + t * 77 + slot * slot) as f64);
    let plaintext = |list: usize, t: usize| {
        let values: Vec<_> = (0..choice.period()).map(|slot| value(list, t, slot)).collect();
        let small = fft.coefficients(&values, scale)?;
        let mut wide = vec![0; N];
        wide.iter_mut().step_by(N / small.len()).zip(small).for_each(|(wide, c)| *wide = c);
        let ring = raised.ring();
        Ok(ring.to_eval(ring.lift(&wide, ring.scratch(3, 1)?)))
    };
    let out = keys.choices(2, 3, &plaintext, &|| Ok(())).unwrap();
    let pairs = ctx.params().q().iter().zip(raised.params().q());
    let gain = pairs.map(|(&q, &r)| q as f64 / r as f64).product::<f64>();
    for (list, polys) in out.iter().enumerate() {
        let ring = ctx.ring();
        let mut phase = ring.copy(&polys[1], 3).unwrap();
        let mut product = [ring.scratch(3, 0).unwrap()];
        ring.forms_to(&[aglet_ring::Form::product(&phase, sk.eval())], &mut product);
        phase = ring.copy(&polys[0], 3).unwrap();
        ring.add_assign(&mut phase, &product[0]);
        // The noise is far below one limb, and so is the message at this scale.
        let low = ring.centred(&phase).unwrap();
        let mut found: Vec<_> =
            (0..N / 2).map(|j| Complex64::new(low[j] as f64, low[j + N / 2] as f64) / scale / gain).collect();
        SpecialFft::new(N / 2).forward(&mut found);
        for (slot, found) in found.iter().enumerate() {
            let slot = slot % choice.period();
            let (k, block) = (slot / choice.numbers % choice.factors, slot / choice.numbers / choice.factors);
            let mut wanted = Complex64::new(0.0, 0.0);
            if k < PLACES.weight {
                let (place, sign) = secret.get(k);
                let option = place as usize - PLACES.start(N, k);
                let number = value(list, option / choice.blocks, slot);
                let here = f64::from(option % choice.blocks == block);
                wanted = here * if sign < 0 { number.conj() } else { number };
            }
            assert!((found - wanted).norm() < 1e-9, "list {list}, slot {slot}: {found} {wanted}");
        }
    }
}
