//! The work of integers as it is forecast against what the kernels counted: word for word, in small rings.

use aglet::integer::{cost, presets, Engine, Packing, StageCost};
use aglet::Control;
use aglet_testing::fixture::shrunk_integers;

/// Rings of two degrees, where every power of X is of use and every second one, alone and side by side.
#[test]
fn the_work_of_a_bootstrap_is_what_the_kernels_do() {
    for (preset, ring, threads) in [("int16", (10, 10), 2), ("int16", (9, 9), 1), ("int16-deep", (10, 9), 1)] {
        let engine = Engine::new(shrunk_integers(preset, "small", ring), Packing::Slots, threads).unwrap();
        let sk = engine.create_secret_key().unwrap();
        let key = engine.create_bootstrap_key(&sk, None, &Control::new()).unwrap();
        for count in [1, 3] {
            let cts = vec![engine.encrypt_with_secret(&[1, 2, 3], 1, &sk).unwrap(); count];
            // Once before, as maps are encoded the first time.
            engine.bootstrap_many(&cts, &key, &Control::new()).unwrap();
            engine.bootstrap_many(&cts, &key, &Control::new()).unwrap();
            let counted: Vec<_> = engine.stage_runs().into_iter().map(|run| (run.name, run.work)).collect();
            let predicted = cost::stages(engine.params(), count).unwrap();
            assert_eq!(counted.len(), predicted.len());
            for ((name, counted), StageCost { name: said, work }) in counted.into_iter().zip(predicted) {
                assert_eq!((&name, counted), (&said, work), "{preset}, {count} side by side");
            }
        }
    }
    assert!(cost::stages(&presets::load("int-levels-13", presets::Security::Bits128).unwrap(), 1).is_err());
}
