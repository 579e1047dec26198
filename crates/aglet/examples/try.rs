//! Scratch.
use aglet::{BootstrapKeys, Control, Engine, KeySize, Method, Request};
use aglet_rlwe::{params::Params, security::Security};
use num_complex::Complex64;
use std::time::Instant;
fn main() {
    let args: Vec<String> = std::env::args().collect();
    let text = std::fs::read_to_string(&args[1]).unwrap();
    let stages: usize = args[2].parse().unwrap();
    let size = KeySize::parse(&args[3]).unwrap();
    let slots: Option<usize> = args.get(4).and_then(|s| s.parse().ok());
    let bound: f64 = args.get(5).map_or(1.0, |s| s.parse().unwrap());
    let level: Option<usize> = args.get(6).and_then(|s| s.parse().ok());
    let method = Method::parse(args.get(7).map_or("regular", |s| s)).unwrap();
    let params = Params::from_toml(&text, Security::NotChecked).unwrap();
    println!("{params:?} digits {}", params.digits(params.q().len(), params.p().len()).unwrap().len());
    let engine = Engine::new(params, slots, 1).unwrap();
    let n = engine.slots();
    let sk = engine.create_secret_key().unwrap();
    let relin = engine.create_relinearisation_key(&sk).unwrap();
    let conj = engine.create_conjugation_key(&sk).unwrap();
    let rotation = (size == KeySize::Small).then(|| engine.create_rotation_key(&sk, &Control::new()).unwrap());
    let request = Request { bound, target_level: level, ..Request::new(method, stages, size, n) };
    let key = engine.create_bootstrap_key(&sk, request, None, &Control::new()).unwrap();
    println!("key {:.2} GB", key.byte_count() as f64 / 1e9);
    engine.prepare_bootstrap(&key, &Control::new()).unwrap();
    let real = |f: &dyn Fn(usize) -> f64| (0..n).map(|j| Complex64::new(f(j) * bound, 0.0)).collect::<Vec<_>>();
    let messages = [
        ("uniform", real(&|j| -1.0 + 2.0 * j as f64 / (n - 1) as f64)),
        (
            "random",
            (0..n)
                .map(|j| bound * Complex64::from_polar(((j as f64 + 0.5) / n as f64).sqrt(), 2.4 * j as f64))
                .collect(),
        ),
        ("constant", real(&|_| 1.0)),
        ("alternating", real(&|j| if j % 2 == 0 { 1.0 } else { -1.0 })),
    ];
    for (name, message) in messages {
        let input = if method.keys() == Method::Lossy { stages } else { 0 };
        let ct = engine.encrypt_with_secret(&engine.encode(&message, input).unwrap(), &sk).unwrap();
        let keys =
            BootstrapKeys { relinearisation: &relin, conjugation: &conj, bootstrap: &key, rotation: rotation.as_ref() };
        let start = Instant::now();
        let out = engine.bootstrap(&[&ct], keys, request, &Control::new()).unwrap().remove(0);
        let seconds = start.elapsed().as_secs_f64();
        let found = engine.decrypt(&out, &sk).unwrap();
        let fresh = engine.decrypt(&ct, &sk).unwrap();
        let bits = |a: &[Complex64], b: &[Complex64]| {
            let e: Vec<f64> = a.iter().zip(b).map(|(a, b)| (a - b).norm()).collect();
            (-(e.iter().sum::<f64>() / n as f64).log2(), -e.iter().copied().fold(0.0, f64::max).log2())
        };
        let (mean, worst) = bits(&found, &message);
        println!(
            "{name}: {seconds:.3} s, {mean:.2} bits, worst {worst:.2}; fresh {:.2}; added {:.2}; level {}",
            bits(&fresh, &message).0,
            bits(&fresh, &found).0,
            engine.level(&out).unwrap()
        );
    }
    for (stage, t) in engine.stage_times() {
        println!("    {stage:22} {t:.3} s");
    }
}
