//! Products that are relinearized in one go have the words of the operations that they stand for.

use super::*;

/// The operations one after the other.
fn by_parts(
    ring: &Ring,
    of: &[Tensor<'_>],
    (q_limbs, p_limbs): (usize, usize),
    digits: &[Vec<usize>],
    key: &KeyBlock,
    plan: &Division,
) -> Vec<Poly<Eval>> {
    let tensors: Vec<_> = of.iter().map(|x| ring.forms(&x.forms(), q_limbs, 0).unwrap()).collect();
    let cut = tensors.iter().map(|polys| ring.digits(&[&polys[2]], (q_limbs, p_limbs), digits).unwrap().remove(0));
    let cut: Vec<_> = cut.collect();
    let products = tensors
        .iter()
        .zip(&cut)
        .map(|(polys, digits)| KeyProduct { added_after: Some((&polys[0], &polys[1])), ..KeyProduct::of(digits) });
    let pairs = ring.key_products(&products.collect::<Vec<_>>(), key, None).unwrap();
    pairs.iter().flat_map(|(b, a)| ring.divide(&[b, a], plan).unwrap()).collect()
}

/// Tensors with several products, terms that have more limbs and constants; one prime of the chain leaves, none, or several.
pub(super) fn relinearized(case: &mut Case<'_>) {
    let ring = case.ring;
    let shapes: [(usize, usize, Vec<Vec<usize>>, usize); 5] = [
        (13, 5, vec![(0..7).collect(), (7..13).collect()], 1),
        (9, 3, vec![vec![0, 2, 4], vec![1, 3, 5], vec![6, 7, 8]], 0),
        (6, 2, vec![(0..6).collect()], 3),
        (2, 1, vec![vec![0], vec![1]], 1),
        (1, 1, vec![vec![0]], 0),
    ];
    for (inputs, (q_limbs, p_limbs, digits, drop)) in shapes.into_iter().enumerate() {
        let (x, key) = (case.polys(4, q_limbs, 0), case.key(digits.len(), q_limbs, p_limbs));
        let longer = case.poly(q_limbs + 1, 2);
        let plan = ring.division(q_limbs, p_limbs, drop).unwrap();
        let factor = Some(Multiplier::Residues(ring.special_product(p_limbs)));
        let split = Multiplier::Constant(Constant { re: 5, im: -(1 << 70) });
        let tensor = |k: usize| {
            let [a, b, c, d] = [0, 1, 2, 3].map(|i| &x[(i + k) % 4]);
            let terms = vec![(split, &longer)];
            let c0 = Form { products: vec![(1, a, c), (2, b, d)], terms, constant: split, factor };
            let c1 = Form { products: vec![(1, a, d), (1, b, c)], factor, ..Form::default() };
            Tensor { lifted: [c0, c1], square: Form { products: vec![(1, b, d), (2, c, d)], ..Form::default() } }
        };
        let of: Vec<_> = (0..=inputs).map(tensor).collect();
        if let Some(plan) = ring.division(q_limbs, 0, drop) {
            let forms = of[0].forms();
            let polys = ring.forms(&forms, q_limbs, 0).unwrap();
            let wanted = ring.divide(&polys.iter().collect::<Vec<_>>(), &plan).unwrap();
            for (found, wanted) in ring.divide_forms(&forms, q_limbs, &plan).unwrap().iter().zip(&wanted) {
                case.is("divide_forms", found, |i, _, at| wanted.limb(i)[at]);
            }
        }
        let wanted = by_parts(ring, &of, (q_limbs, p_limbs), &digits, &key, &plan);
        let found = ring.relinearize(&of, (q_limbs, p_limbs), &digits, &key, &plan).unwrap();
        assert_eq!(found.len(), of.len());
        for (found, wanted) in found.iter().flatten().zip(&wanted) {
            assert_eq!((found.q_limbs(), found.p_limbs()), (q_limbs - drop, 0));
            case.is("relinearize", found, |i, _, at| wanted.limb(i)[at]);
        }
    }
}
