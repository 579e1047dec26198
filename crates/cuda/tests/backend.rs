//! Rings whose backend is a card: where work is done, and that it has the words of the host wherever that is.

use crate::case::{card, ring, Words};
use aglet_cuda::{Arithmetic, Card};
use aglet_ring::poly::Eval;
use aglet_ring::{arch, Form, Host, KeyProduct, Multiplier, Poly, Ring};
use aglet_testing::emu::Order;
use std::sync::Arc;

const BITS: [u32; 6] = [47, 40, 40, 52, 50, 50];

/// The same ring on the host and on a card of its own.
fn both(log_n: u32) -> [Ring; 2] {
    let plain = ring(log_n, &BITS, 2);
    let primes: Vec<u64> = (0..BITS.len()).map(|i| plain.modulus(i).value()).collect();
    let on =
        |backend| Ring::with_backend(log_n, &primes[..4], &primes[4..], (arch::chosen().unwrap(), backend)).unwrap();
    [on(Arc::new(Host)), on(Arc::new(Card::new(card(Order::Shuffled), Arithmetic::F50)))]
}

fn equal(x: &Poly<Eval>, y: &Poly<Eval>) -> bool {
    x.host().unwrap().iter().eq(y.host().unwrap().iter())
}

/// The polynomial on the card of a ring, as an operation left it there.
fn there(ring: &Ring, x: &Poly<Eval>) -> Poly<Eval> {
    let digits = ring.digits(&[x], (4, 2), &[vec![0, 1], vec![2, 3]]).unwrap();
    assert!(digits[0].polys().all(|x| x.card().is_some()) && x.card().is_some());
    ring.copy(x, 4).unwrap()
}

#[test]
fn work_follows_its_operands_and_secrets_stay() {
    let [host, on_card] = both(10);
    let mut words = Words::new();
    let (x, y): (Poly<Eval>, Poly<Eval>) = (words.poly(&host, 4, 0), words.poly(&host, 4, 0));
    let form = |x, y| Form { terms: vec![(Multiplier::integer(-3), x)], ..Form::product(x, y) };
    let wanted = host.forms(&[form(&x, &y)], 4, 0).unwrap().remove(0);
    // What the card has none of is done here.
    let here = on_card.forms(&[form(&x, &y)], 4, 0).unwrap().remove(0);
    assert!(here.card().is_none() && equal(&here, &wanted));
    // One operand there is enough, and the other goes up once.
    let up = there(&on_card, &x);
    assert!(up.card().is_some() && equal(&up, &x) && y.card().is_none());
    let made = on_card.forms(&[form(&up, &y)], 4, 0).unwrap().remove(0);
    assert!(made.card().is_some() && y.card().is_some() && equal(&made, &wanted));
    // A secret stays here, whatever the rest.
    let secret = host.copy(&y, 4).unwrap().secret();
    let made = on_card.forms(&[form(&up, &secret)], 4, 0).unwrap().remove(0);
    assert!(made.card().is_none() && secret.card().is_none() && equal(&made, &wanted));
    let key = words.key(&host, 2, (4, 2));
    let digits = on_card.digits(&[&secret], (4, 2), &[vec![0, 1], vec![2, 3]]).unwrap();
    let product = on_card.key_products(&[KeyProduct::of(&digits[0])], &key, None).unwrap().remove(0);
    let digits = host.digits(&[&y], (4, 2), &[vec![0, 1], vec![2, 3]]).unwrap();
    let wanted = host.key_products(&[KeyProduct::of(&digits[0])], &key, None).unwrap().remove(0);
    assert!(equal(&product.0, &wanted.0) && equal(&product.1, &wanted.1) && secret.card().is_none());
    // Digits that the host cut share limbs; on the card they meet the key as whole polynomials.
    let product = on_card.key_products(&[KeyProduct::of(&digits[0])], &key, None).unwrap().remove(0);
    assert!(product.0.card().is_some() && equal(&product.0, &wanted.0) && equal(&product.1, &wanted.1));
}

#[test]
fn a_sum_in_place_is_a_new_polynomial_there() {
    let [host, on_card] = both(9);
    let mut words = Words::new();
    let (x, y): (Poly<Eval>, Poly<Eval>) = (words.poly(&host, 4, 0), words.poly(&host, 4, 0));
    let up = there(&on_card, &x);
    for subtract in [false, true] {
        let change = |ring: &Ring, x: &mut Poly<Eval>| match subtract {
            false => ring.add_assign(x, &y).unwrap(),
            true => ring.sub_assign(x, &y).unwrap(),
        };
        // A prefix shares its words, which are only read.
        let (mut wanted, mut found) = (host.copy(&x, 3).unwrap(), up.prefix(3));
        change(&host, &mut wanted);
        change(&on_card, &mut found);
        assert!(found.card().is_some() && equal(&found, &wanted) && equal(&up, &x));
    }
}

#[test]
fn rings_without_transforms_there_and_other_cards_give_the_same() {
    let [host, on_card] = both(7);
    let x: Poly<Eval> = Words::new().poly(&host, 4, 0);
    let digits = on_card.digits(&[&x], (4, 2), &[vec![0, 1], vec![2, 3]]).unwrap();
    assert!(digits[0].polys().all(|x| x.card().is_none()), "a small ring stays on the host");
    let [[host, first], [_, second]] = [both(10), both(10)];
    let (mut words, plan) = (Words::new(), host.division(4, 0, 1).unwrap());
    let x: Poly<Eval> = words.poly(&host, 4, 0);
    let up = there(&first, &x);
    let found = second.divide(&[&up], &plan).unwrap().remove(0);
    assert!(equal(&found, &host.divide(&[&x], &plan).unwrap()[0]), "what one card has goes to the other by the host");
}
