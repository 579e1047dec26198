//! Scratch.
use aglet::{model, KeySize, Method, Request, Route};
use aglet_rlwe::{params::Params, security::Security};
fn main() {
    let args: Vec<String> = std::env::args().collect();
    let text = std::fs::read_to_string(&args[1]).unwrap();
    let stages: usize = args[2].parse().unwrap();
    let params = Params::from_toml(&text, Security::NotChecked).unwrap();
    let slots: usize = args.get(3).and_then(|s| s.parse().ok()).unwrap_or(params.slots());
    let bound: f64 = args.get(4).map_or(1.0, |s| s.parse().unwrap());
    let level: Option<usize> = args.get(5).and_then(|s| s.parse().ok());
    let method = Method::parse(args.get(6).map_or("regular", |s| s)).unwrap();
    let request = Request { bound, target_level: level, ..Request::new(method, stages, KeySize::Large, slots) };
    let route = Route::new(&params, request).unwrap();
    let p = model::precision(&route, true).unwrap();
    println!(
        "{} qp {:.1} sec {:.1} digits {:?} level {} mean {:.2} worst {:.2} approx {:.2}",
        args[1],
        params.log_qp(),
        params.security().bits,
        params.digits(params.q().len(), params.p().len()).unwrap().len(),
        route.level,
        p.mean_bits,
        p.worst_bits,
        p.approximation_bits
    );
    for ((name, bits), s) in p.stages.iter().zip(route.plan.stages()) {
        println!("   {name:22} {bits:.2}  scale {:.2} -> {:.2}", s.scale_in.log2(), s.scale_out.log2());
    }
}
