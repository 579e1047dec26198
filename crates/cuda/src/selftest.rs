//! What a card computes when it is opened, before anything is asked of it: small polynomials, compared with the host.

use crate::ops::Form;
use crate::poly::host_rows;
use crate::{Arithmetic, Device, DeviceRing, Error};
use aglet_ring::poly::{Coeff, Eval};
use aglet_ring::primes::ntt_primes;
use aglet_ring::{Multiplier, Poly, Ring};

const LOG_N: u32 = 9;
/// Primes of both arithmetics.
const BITS: [u32; 3] = [49, 50, 60];

/// Transforms, products and conversions of all primes, in the arithmetic that is wanted and in the one that serves all.
pub(crate) fn run(device: &Device, wanted: Arithmetic) -> Result<(), Error> {
    let primes: Vec<u64> =
        BITS.iter().filter_map(|&bits| ntt_primes(f64::from(bits).exp2(), LOG_N, &[], 1 << bits).next()).collect();
    let ring = Ring::new(LOG_N, &primes, &[])?;
    for arithmetic in [wanted, Arithmetic::S64] {
        let on_card = DeviceRing::new(device.clone(), &ring, arithmetic)?;
        let same = |what, found: &Poly<Eval>, wanted: &Poly<Eval>| match host_rows(found)? == host_rows(wanted)? {
            true => Ok(()),
            false => Err(Error::Wrong { card: device.name(), what }),
        };
        let (x, y) = (message(&ring, 1)?, message(&ring, 2)?);
        let there = [on_card.upload(&x)?, on_card.upload(&y)?];
        let (x, y) = (ring.to_eval(x), ring.to_eval(y));
        let there = on_card.to_eval(&there.each_ref())?;
        same("transforms", &on_card.download(&there[0])?, &x)?;
        let three = Multiplier::integer(-3);
        let wanted =
            ring.forms(&[aglet_ring::Form { terms: vec![(three, &x)], ..aglet_ring::Form::product(&x, &y) }], 3, 0)?;
        let form =
            Form { products: vec![(1, &there[0], &there[1])], terms: vec![(three, &there[0])], ..Form::default() };
        same("products", &on_card.download(&on_card.forms(&[form], 3, 0)?[0])?, &wanted[0])?;
        let low = ring.copy(&x, 2)?;
        let wanted = ring.extend(&low, &[0, 1], &[0, 1, 2])?;
        let found = on_card.extend(&[&on_card.upload(&low)?], &[0, 1], &[0, 1, 2])?;
        same("conversions", &on_card.download(&found[0])?, &wanted)?;
    }
    Ok(())
}

/// Coefficients that are the same in every run, of all sizes.
fn message(ring: &Ring, seed: u64) -> Result<Poly<Coeff>, Error> {
    let next = |word: &u64| Some(word.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f));
    let words = std::iter::successors(Some(seed), next).skip(1).take(ring.n());
    let integers: Vec<i64> = words.map(|word| word as i64 >> (word >> 58)).collect();
    Ok(ring.lift(&integers, ring.scratch(BITS.len(), 0)?))
}
