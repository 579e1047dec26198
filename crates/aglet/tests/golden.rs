//! Seeded results against their golden hashes: every operation and every bootstrap, the same bits with all instruction sets and
//! on one thread as on two. How new hashes are recorded stands in `aglet_testing::golden`.

use aglet::ckks::presets;
use aglet::ckks::CkksParams;
use aglet::ckks::{Engine, KeySize, Matrix, Method, PolynomialBasis, Request, SumWeight};
use aglet::{fhew, Control, Runtime};
use aglet_ring::{arch, fft};
use aglet_testing::fixture::{shrunk, Fixture};
use aglet_testing::golden::Hashes;
use aglet_testing::messages;
use num_complex::Complex64;
use std::sync::Arc;

const SEED: [u8; 32] = *b"golden hashes of aglet, seed one";

fn fixture(params: CkksParams, slots: Option<usize>, (backend, threads): (&str, usize)) -> Fixture {
    let f = Fixture::of(Engine::on(Runtime::seeded(threads, backend, SEED).unwrap(), params, slots).unwrap());
    // First: its keys draw for the same automorphisms as keys made later.
    f.rotation();
    f
}

/// Runs so, and again on other kernels or threads: one hash for all.
fn on<'a>(
    section: &str,
    runs: impl IntoIterator<Item = (&'a str, usize)>,
    compute: impl Fn((&str, usize), &mut Hashes),
) {
    for run in runs {
        let mut found = Hashes::default();
        compute(run, &mut found);
        found.check(section, &format!("{} on {} threads", run.0, run.1));
    }
}

/// The best kernels of this CPU, or those that the environment forces.
fn best() -> &'static str {
    arch::chosen().unwrap().name()
}

/// The best instruction set and the scalar one, on two threads and on one; with the feature `long` every one that this CPU has, and the
/// best on one thread too.
fn runs() -> Vec<(&'static str, usize)> {
    let mut runs = vec![(best(), 2), ("scalar", 1)];
    if cfg!(feature = "long") {
        let others = arch::available().iter().map(|kernels| (kernels.name(), 2));
        runs.push((best(), 1));
        runs.extend(others.filter(|(name, _)| ![best(), "scalar"].contains(name)));
    }
    runs
}

fn everywhere(section: &str, compute: impl Fn((&str, usize), &mut Hashes)) {
    on(section, runs(), compute);
}

/// What the C library of a machine says of sines is rounded as it likes. Where this test fails, the others must, and nothing is
/// wrong with Aglet: record the hashes of a commit that is known to be good on that machine, and compare with those.
#[test]
fn the_sines_are_those_of_the_machine_that_recorded() {
    let mut found = Hashes::default();
    for log_half in [0, 4, 8, 14] {
        let roots = fft::layer_twiddles(1 << log_half);
        found.add_doubles(format!("roots of unity of layer {log_half}"), roots.iter().flat_map(|z| [z.re, z.im]));
    }
    found.check("sines", "this machine");
}

#[test]
fn arithmetic() {
    everywhere("arithmetic", |run, found| {
        let f = fixture(presets::load("toy", presets::Security::NotChecked).unwrap(), None, run);
        let (e, n, top) = (&f.engine, f.engine.slots(), f.engine.max_level());
        let (x, y) = (messages::complex(n, 1), messages::complex(n, 2));
        let pk = e.create_public_key(&f.sk).unwrap();
        let pt = e.encode(&y, top).unwrap();
        found.add_plaintext("encode", &pt);
        found.add_plaintext("encode reals", &e.encode(&messages::real(n, 3), 2).unwrap());
        let a = e.encrypt(&e.encode(&x, top).unwrap(), &pk).unwrap();
        let b = f.encrypt(&y, top - 1);
        let scalar = Complex64::new(0.3, -0.4);
        let mut add = |name: &str, result: Result<_, aglet::Error>| found.add(name, &[result.unwrap()]);
        add("encrypt", Ok(a.clone()));
        add("encrypt with the secret key", Ok(b.clone()));
        add("add", e.add(&a, &b));
        add("subtract", e.subtract(&a, &b));
        add("negate", e.negate(&a));
        add("add_plain", e.add_plain(&b, &pt));
        add("subtract_plain", e.subtract_plain(&a, &pt));
        add("add_scalar", e.add_scalar(&a, scalar));
        add("multiply_scalar", e.multiply_scalar(&a, scalar));
        add("multiply_integer", e.multiply_integer(&a, -3));
        add("multiply_plain", e.multiply_plain(&b, &pt));
        add("multiply", e.multiply(&a, &b, Some(&f.relin)));
        let product = e.multiply(&a, &b, None).unwrap();
        add("multiply without a key", Ok(product.clone()));
        add("relinearize", e.relinearize(&product, &f.relin));
        add("level_down of degree 2", e.level_down(&product, 3));
        add("level_down", e.level_down(&a, 3));
        add("conjugate", e.conjugate(&a, &f.conj));
        add("rotate", e.rotate(&a, f.rotation(), 37));
        let fixed = [5, -1].map(|delta| e.create_fixed_rotation_key(&f.sk, delta, Some(top - 1)).unwrap());
        add("rotate_fixed", e.rotate_fixed(&b, &fixed[0]));
        found.add("rotate_batch", &e.rotate_batch(&a, f.rotation(), &[1, 3, -7, 100], &Control::new()).unwrap());
        let each: Vec<_> = fixed.iter().collect();
        found.add("rotate_batch_fixed", &e.rotate_batch_fixed(&b, &each, &Control::new()).unwrap());
    });
}

#[test]
fn circuits() {
    everywhere("circuits", |run, found| {
        let f = fixture(presets::load("toy", presets::Security::NotChecked).unwrap(), None, run);
        let (e, n) = (&f.engine, f.engine.slots());
        let (x, y) = (f.encrypt(&messages::complex(n, 4), 7), f.encrypt(&messages::real(n, 5), 6));
        let coefficients = |count| messages::complex(count, 6);
        for (name, basis) in [
            ("power", PolynomialBasis::Power),
            ("chebyshev", PolynomialBasis::Chebyshev),
            ("half-chebyshev", PolynomialBasis::HalfChebyshev),
        ] {
            for count in [3, 22] {
                let coefficients = coefficients(count);
                let out = e.evaluate_polynomial(&y, &coefficients, basis, &f.relin, &Control::new()).unwrap();
                found.add(format!("polynomial of {count} coefficients, {name}"), &[out]);
            }
            if basis != PolynomialBasis::HalfChebyshev {
                found.add(format!("basis, {name}"), &e.make_basis(&y, 9, basis, &f.relin, &Control::new()).unwrap());
            }
        }
        let weights =
            [SumWeight::Complex(Complex64::new(0.25, -0.5)), SumWeight::ComplexSlots(messages::complex(n, 7))];
        let terms: Vec<_> = [&x, &y].into_iter().zip(weights).collect();
        found.add("weighted_sum", &[e.weighted_sum(&terms).unwrap()]);
        let key = e.create_matrix_key(&f.sk, Some(7), None, &Control::new()).unwrap();
        for (rows, columns) in [(20, 30), (n, 5)] {
            let entries = messages::complex(rows * columns, 8);
            let matrix = Matrix { entries: &entries, columns };
            let out = e.multiply_matrix(&matrix, &x, &key, &Control::new()).unwrap();
            found.add(format!("matrix of {rows} by {columns}"), &[out]);
        }
    });
}

/// Bootstraps of all kinds of messages that a method takes, with one key for each kind of keys.
struct Bootstraps<'a> {
    f: &'a Fixture,
    found: &'a mut Hashes,
}

impl Bootstraps<'_> {
    fn run(&mut self, name: &str, key: &aglet::ckks::BootstrapKey, request: Request) {
        let n = self.f.engine.slots();
        let level = if request.method.keys() == Method::Lossy { request.stage_count } else { 0 };
        let input = |seed| match request {
            Request { method: Method::Sign, .. } => self.f.encrypt(&messages::signs(n, seed), level + seed),
            Request { method: Method::Bits, .. } => self.f.encrypt(&messages::bits(n, seed), level + seed),
            Request { real: true, .. } | Request { method: Method::Merge | Method::LossyMerge, .. } => {
                self.f.encrypt(&messages::real(n, seed), level + seed)
            }
            _ => {
                let message: Vec<_> = messages::complex(n, seed).iter().map(|z| z * request.bound).collect();
                self.f.encrypt(&message, level + seed)
            }
        };
        let count = if request.method.pairs() { 2 } else { 1 };
        let inputs: Vec<_> = (0..count).map(input).collect();
        let inputs: Vec<_> = inputs.iter().collect();
        self.found.add(name, &self.f.bootstrap(&inputs, key, request).unwrap());
    }

    /// The method of a kind of keys alone, or all that such a key serves.
    fn all(&mut self, (keys, stage_count, size): (Method, usize, KeySize), thorough: bool) {
        let request = self.f.request(keys, stage_count, size);
        let real = Request { real: true, ..request };
        let mut asked = vec![("", request)];
        let more = match keys {
            Method::Regular => vec![
                (" real", real),
                (" to level 6", Request { target_level: Some(6), ..request }),
                (" within 40", Request { bound: 40.0, ..request }),
                ("", Request { method: Method::Merge, ..request }),
            ],
            _ => vec![
                ("", Request { method: Method::Sign, ..request }),
                (" real", Request { method: Method::Sign, ..real }),
                ("", Request { method: Method::Bits, ..request }),
                ("", Request { method: Method::LossyMerge, ..request }),
            ],
        };
        asked.extend(more.into_iter().filter(|_| thorough));
        let key = self.f.key(request);
        for (what, request) in asked {
            let method = request.method.name();
            self.run(&format!("{method}{what}, {stage_count} stages, {}", size.name()), &key, request);
        }
    }

    /// Every size of keys with the usual number of stages, and the fewest and the most stages.
    fn of_kind(&mut self, keys: Method) {
        for size in [KeySize::Small, KeySize::Medium, KeySize::Large] {
            self.all((keys, 3, size), size != KeySize::Small);
        }
        self.all((keys, 1, KeySize::Large), false);
        self.all((keys, 5, KeySize::Medium), false);
        self.all((keys, 5, KeySize::Small), false);
    }
}

#[test]
fn regular_bootstraps() {
    everywhere("regular bootstraps", |run, found| {
        let f = &fixture(presets::load("toy", presets::Security::NotChecked).unwrap(), None, run);
        Bootstraps { f, found }.of_kind(Method::Regular);
    });
}

#[test]
fn lossy_bootstraps() {
    everywhere("lossy bootstraps", |run, found| {
        let f = &fixture(presets::load("toy", presets::Security::NotChecked).unwrap(), None, run);
        Bootstraps { f, found }.of_kind(Method::Lossy);
    });
}

#[test]
fn several_bootstraps() {
    everywhere("several bootstraps", |run, found| {
        let f = fixture(presets::load("toy", presets::Security::NotChecked).unwrap(), None, run);
        let request = f.request(Method::Regular, 3, KeySize::Large);
        let key = f.key(request);
        let n = f.engine.slots();
        let cts: Vec<_> = (0..3).map(|seed| f.encrypt(&messages::complex(n, seed), seed)).collect();
        let twice = f.engine.bootstrap_iterated(&[&cts[0]], f.keys(&key), request, 2, &Control::new());
        found.add("two iterations", &twice.unwrap());
        let requests = [request, Request { target_level: Some(4), ..request }, request];
        let inputs: Vec<_> = cts.iter().zip(requests).collect();
        let many = f.engine.bootstrap_many(&inputs, f.keys(&key), 1, &Control::new());
        found.add("three at once", &many.unwrap());
    });
}

#[test]
fn bootstraps_of_few_slots() {
    everywhere("bootstraps of few slots", |run, found| {
        for slots in [1, 32] {
            let f = &fixture(presets::load("toy", presets::Security::NotChecked).unwrap(), Some(slots), run);
            for size in [KeySize::Small, KeySize::Medium, KeySize::Large] {
                let stage_count = if slots == 1 { 1 } else { 3 };
                for method in [Method::Regular, Method::Lossy] {
                    let request = f.request(method, stage_count, size);
                    let name = format!("{} of {slots} slots, {}", method.name(), size.name());
                    Bootstraps { f, found }.run(&name, &f.key(request), request);
                }
            }
        }
    });
}

/// SHIP of all slots, and SPRU of few.
#[test]
fn ship_bootstraps() {
    everywhere("SHIP bootstraps", |run, found| {
        for slots in [None, Some(8)] {
            let f = &fixture(presets::load("toy-ship", presets::Security::NotChecked).unwrap(), slots, run);
            let request = f.request(Method::Regular, 1, KeySize::Large);
            let (key, n) = (f.key(request), f.engine.slots());
            for (what, request) in [
                ("regular", request),
                ("regular real", Request { real: true, ..request }),
                ("regular within 8", Request { bound: 8.0, ..request }),
                ("bits", Request { method: Method::Bits, real: true, ..request }),
            ] {
                Bootstraps { f, found }.run(&format!("{what} of {n} slots"), &key, request);
            }
        }
    });
}

/// Another layout of the chain, and primes above 50 bits with their own digits.
#[test]
fn bootstraps_of_other_sets() {
    everywhere("bootstraps of other sets", |run, found| {
        for (preset, size, slots, bound) in [
            ("toy14", KeySize::Large, 512, 1.0),
            ("precise-single", KeySize::Large, 512, 1.0),
            ("precise-45", KeySize::Large, 16, 1.0),
            ("seal-1", KeySize::Medium, 512, 131_072.0),
            ("seal-3", KeySize::Small, 64, 2.0),
        ] {
            let f = &fixture(shrunk(preset, 10), Some(slots), run);
            let request = f.request(Method::Regular, 3, size);
            Bootstraps { f, found }.run(preset, &f.key(request), Request { bound, ..request });
        }
    });
}

/// Gates and tables at their real sizes: every bit is refreshed once, then meets a fresh one. In the quick part not on the scalar instruction
/// set, whose gates those of the others are compared with at a smaller size (`gates.rs` of the floor below).
#[test]
fn gates_and_tables() {
    let runs = runs().into_iter().take(if cfg!(feature = "long") { usize::MAX } else { 1 });
    on("gates and tables", runs, |(backend, threads), found| {
        let runtime = Arc::new(Runtime::seeded(threads, backend, SEED).unwrap());
        for preset in ["gate", "cggi", "lut2", "lut3", "lut4", "ginx3", "lmkcdey", "dm", "ntru"] {
            let e = fhew::Engine::on(
                runtime.clone(),
                fhew::presets::load(preset, fhew::presets::Security::NotChecked).unwrap(),
            )
            .unwrap();
            let (sk, control) = (e.create_secret_key().unwrap(), Control::new());
            let key = e.create_bootstrap_key(&sk, &Control::new()).unwrap();
            let p = e.params().message().space();
            if p == 2 {
                let bits = e.encrypt_bits(&[true, false, true], &sk).unwrap();
                let gate = |gate, x: &[_], y: &[_]| e.gate(gate, &[x, y], &key, None, &control).unwrap();
                let nand = gate(fhew::Gate::Nand, &bits[..2], &bits[1..]);
                found.add_lwe(format!("{preset}, nand"), &nand);
                found.add_lwe(format!("{preset}, xor of that"), &gate(fhew::Gate::Xor, &nand[..1], &bits[2..]));
            } else {
                let message = e.params().message();
                let x = e.encrypt(&[0, p - 1], message, &sk).unwrap();
                let values: Vec<u64> = (0..p).map(|m| (m * m + 1) % p).collect();
                let table = fhew::Table::new(message, message, &values).unwrap();
                found.add_lwe(format!("{preset}, table"), &e.lookup(&x, &table, &key, None, &control).unwrap());
            }
        }
    });
}
