//! An engine of CKKS whose macro-operations run on an emulated card: keys, ciphertexts and results have the words of the host.

use aglet::ckks::{presets, Ciphertext, CkksParams, Engine, KeySize, Matrix, Method, PolynomialBasis, SumWeight};
use aglet::{integer, Control, Error, ErrorKind, Runtime};
use aglet_ring::{arch, Backend, Eval, Host, Poly};
use aglet_testing::card::{emulated, failing, Arithmetic, Card, Order};
use aglet_testing::fixture::{shrunk_integers, Fixture};
use aglet_testing::messages;
use num_complex::Complex64;
use std::sync::Arc;

const SEED: [u8; 32] = *b"the seed of a card and of a host";

fn runtime(backend: Arc<dyn Backend>) -> Runtime {
    Runtime::seeded(2, arch::chosen().unwrap().name(), SEED).unwrap().on_backend(backend)
}

/// The same engine on the host and on a card, with the same keys.
fn both(preset: &str, slots: Option<usize>, card: Arc<Card>) -> [Fixture; 2] {
    let params: CkksParams = presets::load(preset, presets::Security::NotChecked).unwrap();
    let of = |backend: Arc<dyn Backend>| {
        let f = Fixture::of(Engine::on(runtime(backend), params.clone(), slots).unwrap());
        f.rotation();
        f
    };
    [of(Arc::new(Host)), of(card)]
}

fn words(polys: &[Poly<Eval>]) -> Vec<Vec<u64>> {
    polys.iter().flat_map(|poly| poly.host().unwrap().iter().map(<[u64]>::to_vec).collect::<Vec<_>>()).collect()
}

/// Both give the same, and the card has the result.
fn same<'a>(
    name: &str,
    fixtures: &'a [Fixture; 2],
    compute: impl Fn(&'a Fixture) -> Result<Vec<Ciphertext>, Error>,
) -> Vec<Ciphertext> {
    let [wanted, found] = fixtures.each_ref().map(|f| compute(f).unwrap());
    assert_eq!(wanted.len(), found.len());
    for (wanted, found) in wanted.iter().zip(&found) {
        assert!(found.polys.iter().all(|poly| poly.card().is_some()), "{name} is on the card");
        assert!(wanted.polys.iter().all(|poly| poly.card().is_none()), "{name} is on the host");
        assert_eq!((wanted.level(), wanted.scale), (found.level(), found.scale), "{name}");
        assert!(words(&wanted.polys) == words(&found.polys), "{name} has the words of the host");
    }
    found
}

#[test]
fn operations_on_a_card_have_the_words_of_the_host() {
    for (order, arithmetic) in [(Order::Forward, Arithmetic::F50), (Order::Reverse, Arithmetic::S64)] {
        let fixtures = both("toy", None, emulated(order, arithmetic));
        let (n, top, control) = (fixtures[0].engine.slots(), fixtures[0].engine.max_level(), Control::new());
        let message = messages::complex(n, 2);
        // A rotation brings them there.
        let inputs = fixtures.each_ref().map(|f| {
            let there = |seed, level| {
                let ct = f.encrypt(&messages::complex(n, seed), level);
                assert!(ct.polys.iter().all(|poly| poly.card().is_none()), "encryption is on the host");
                f.engine.rotate(&ct, f.rotation(), 5).unwrap()
            };
            (there(1, top), there(2, top - 1))
        });
        let of = |f: &Fixture| &inputs[usize::from(std::ptr::eq(f, &fixtures[1]))];
        let one = |ct: Result<Ciphertext, Error>| ct.map(|ct| vec![ct]);
        let scalar = Complex64::new(0.3, -0.4);
        let check = |name: &str, compute: &dyn Fn(&Fixture) -> Result<Vec<Ciphertext>, Error>| {
            same(name, &fixtures, compute);
        };
        check("rotate", &|f| Ok(vec![of(f).0.clone(), of(f).1.clone()]));
        check("add", &|f| one(f.engine.add(&of(f).0, &of(f).1)));
        check("subtract", &|f| one(f.engine.subtract(&of(f).0, &of(f).1)));
        check("negate", &|f| one(f.engine.negate(&of(f).0)));
        check("add_plain", &|f| one(f.engine.add_plain(&of(f).0, &f.engine.encode(&message, top)?)));
        check("multiply_plain", &|f| one(f.engine.multiply_plain(&of(f).0, &f.engine.encode(&message, top)?)));
        check("add_scalar", &|f| one(f.engine.add_scalar(&of(f).0, scalar)));
        check("multiply_scalar", &|f| one(f.engine.multiply_scalar(&of(f).0, scalar)));
        check("multiply", &|f| one(f.engine.multiply(&of(f).0, &of(f).1, Some(&f.relin))));
        check("multiply without a key", &|f| one(f.engine.multiply(&of(f).0, &of(f).1, None)));
        check("level_down", &|f| one(f.engine.level_down(&of(f).0, 3)));
        check("conjugate", &|f| one(f.engine.conjugate(&of(f).0, &f.conj)));
        check("rotate_batch", &|f| f.engine.rotate_batch(&of(f).0, f.rotation(), &[1, 3, -7, 100], &control));
        let coefficients = messages::complex(12, 6);
        check("polynomial", &|f| {
            let basis = PolynomialBasis::Chebyshev;
            one(f.engine.evaluate_polynomial(&of(f).1, &coefficients, basis, &f.relin, &control))
        });
        check("weighted_sum", &|f| {
            let weights = [SumWeight::Complex(scalar), SumWeight::ComplexSlots(messages::complex(n, 7))];
            one(f.engine.weighted_sum(&[&of(f).0, &of(f).1].into_iter().zip(weights).collect::<Vec<_>>()))
        });
        check("matrix", &|f| {
            let key = f.engine.create_matrix_key(&f.sk, None, None, &control)?;
            let matrix = Matrix { entries: &messages::complex(20 * 30, 8), columns: 30 };
            one(f.engine.multiply_matrix(&matrix, &of(f).0, &key, &control))
        });
        // Decryption is on the host, and exact about what the card had.
        let [wanted, found] = fixtures.each_ref().map(|f| f.engine.decrypt(&of(f).0, &f.sk).unwrap());
        assert_eq!(wanted, found);
    }
}

#[test]
fn bootstraps_on_a_card_have_the_words_of_the_host() {
    let fixtures = both("toy", None, emulated(Order::Shuffled, Arithmetic::F50));
    let n = fixtures[0].engine.slots();
    for (name, method, size) in [
        ("regular, large keys", Method::Regular, KeySize::Large),
        ("lossy, small keys", Method::Lossy, KeySize::Small),
        ("sign, medium keys", Method::Sign, KeySize::Medium),
    ] {
        let ones = vec![Complex64::new(1.0, 0.0); n];
        let z = if method == Method::Sign { ones } else { messages::complex(n, 1) };
        let out = same(name, &fixtures, |f| {
            let request = f.request(method, 3, size);
            f.bootstrap(&[&f.encrypt(&z, 3)], &f.key(request), request)
        });
        assert!(fixtures[1].precision(&out[0], &z).mean > 20.0, "{name}");
    }
}

#[test]
fn a_bootstrap_of_few_slots_on_a_card_has_the_words_of_the_host() {
    let fixtures = both("toy", Some(16), emulated(Order::Forward, Arithmetic::S64));
    let z = messages::complex(16, 1);
    same("16 slots", &fixtures, |f| {
        let request = f.request(Method::Regular, 2, KeySize::Medium);
        f.bootstrap(&[&f.encrypt(&z, 3)], &f.key(request), request)
    });
}

#[test]
fn ship_on_a_card_has_the_words_of_the_host() {
    let fixtures = both("toy-ship", None, emulated(Order::Shuffled, Arithmetic::F50));
    let z = messages::complex(fixtures[0].engine.slots(), 1);
    same("ship", &fixtures, |f| {
        let request = f.request(Method::Regular, 1, KeySize::Large);
        f.bootstrap(&[&f.encrypt(&z, 1)], &f.key(request), request)
    });
}

#[test]
fn integers_on_a_card_have_the_words_of_the_host() {
    let params = shrunk_integers("int16", "small", (10, 10));
    let values: Vec<i64> = (0..1024).map(|i| (i * i * 31 + 7 * i) % 65537 - 32768).collect();
    let run = |backend: Arc<dyn Backend>| {
        let engine = integer::Engine::on(runtime(backend), params.clone(), integer::Packing::Slots).unwrap();
        let sk = engine.create_secret_key().unwrap();
        let relin = engine.create_relinearization_key(&sk).unwrap();
        let rotation = engine.create_rotation_key(&sk, &Control::new()).unwrap();
        let key = engine.create_bootstrap_key(&sk, None, &Control::new()).unwrap();
        let ct = engine.encrypt_with_secret(&values, 3, &sk).unwrap();
        let rotated = engine.rotate_rows(&ct, &rotation, 1).unwrap();
        let product = engine.multiply(&rotated, &engine.add(&ct, &rotated).unwrap(), &relin).unwrap();
        let refreshed = engine.bootstrap(&ct, &key, &Control::new()).unwrap();
        assert!(engine.decrypt(&refreshed, &sk).unwrap() == values);
        [rotated, product, refreshed]
    };
    let (wanted, found) = (run(Arc::new(Host)), run(emulated(Order::Shuffled, Arithmetic::F50)));
    for (name, (wanted, found)) in ["rotate_rows", "multiply", "bootstrap"].into_iter().zip(wanted.iter().zip(&found)) {
        assert!(found.polys.iter().all(|poly| poly.card().is_some()), "{name} is on the card");
        assert!(words(&wanted.polys) == words(&found.polys), "{name} has the words of the host");
    }
}

/// A card fails in the middle of an operation: that is an error of devices, and what was there before can still be decrypted.
#[test]
fn a_card_that_fails_gives_an_error_and_loses_no_input() {
    let card = failing("KERNEL(key_sum_F50,", "KERNEL(key_sum_of_none,", Arithmetic::F50);
    let [_, f] = both("toy", None, card);
    let z = messages::complex(f.engine.slots(), 1);
    let ct = f.encrypt(&z, 3);
    let error = f.engine.rotate(&ct, f.rotation(), 5).err().unwrap();
    assert!(error.kind() == ErrorKind::Device && error.to_string().contains("run on the CPU"), "{error}");
    assert!(f.precision(&ct, &z).mean > 20.0);
    // The next one that needs no such kernel works on.
    assert!(f.precision(&f.engine.add(&ct, &ct).unwrap(), &z.iter().map(|z| 2.0 * z).collect::<Vec<_>>()).mean > 20.0);
}
