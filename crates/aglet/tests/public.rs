//! What a ciphertext says to everybody: its file's header, which must not depend on the values of the message.

use aglet::ckks::presets;
use aglet::ckks::{Ciphertext, Engine, Matrix, Number, SumWeight};
use aglet::Control;
use num_complex::Complex64;

/// Bytes before the polynomials.
const HEADER: usize = 256;

/// The header, the length of the whole, and whether it is marked real.
fn public_part(engine: &Engine, ct: &Ciphertext) -> (Vec<u8>, usize, bool) {
    let bytes = engine.serialize(ct, &Control::new()).unwrap();
    (bytes[..HEADER].to_vec(), bytes.len(), ct.real)
}

/// What files of results say that were made from a message, one for each operation that takes such numbers.
fn headers<T: Number>(engine: &Engine, sk: &aglet::SecretKey, z: &[T], c: T) -> Vec<(Vec<u8>, usize, bool)> {
    let pk = engine.create_public_key(sk).unwrap();
    let relin = engine.create_relinearization_key(sk).unwrap();
    let rotation = engine.create_rotation_key(sk, &Control::new()).unwrap();
    let matrices = engine.create_matrix_key(sk, None, None, &Control::new()).unwrap();
    let pt = engine.encode(z, 3).unwrap();
    let ct = engine.encrypt(&pt, &pk).unwrap();
    let matrix = Matrix { entries: &z[..4], columns: 2 };
    let mut made = engine.rotate_batch(&ct, &rotation, &[1, 2, 3], &Control::new()).unwrap();
    made.extend([
        engine.encrypt_with_secret(&pt, sk).unwrap(),
        engine.add_plain(&ct, &pt).unwrap(),
        engine.subtract_plain(&ct, &pt).unwrap(),
        engine.multiply_plain(&ct, &pt).unwrap(),
        engine.add_scalar(&ct, c).unwrap(),
        engine.multiply_scalar(&ct, c).unwrap(),
        engine.multiply(&ct, &ct, Some(&relin)).unwrap(),
        engine.multiply(&ct, &ct, None).unwrap(),
        engine.level_down(&ct, 1).unwrap(),
        engine.weighted_sum(&[(&ct, SumWeight::Plaintext(&pt)), (&ct, SumWeight::Real(0.5))]).unwrap(),
        engine.multiply_matrix(&matrix, &ct, &matrices, &Control::new()).unwrap(),
        ct,
    ]);
    made.iter().map(|ct| public_part(engine, ct)).collect()
}

#[test]
fn messages_of_one_type_cannot_be_told_apart() {
    for slots in [None, Some(8)] {
        let engine = Engine::new(presets::load("toy", presets::Security::NotChecked).unwrap(), slots, 1).unwrap();
        let (sk, n) = (engine.create_secret_key().unwrap(), engine.slots());
        let complex = |z| headers(&engine, &sk, &vec![z; n], z);
        let real = |x: f64| headers(&engine, &sk, &vec![x; n], x);
        let zeros = complex(Complex64::new(0.0, 0.0));
        for z in [Complex64::new(1.0, 0.0), Complex64::new(-0.5, 0.5), Complex64::new(0.0, 1.0)] {
            assert!(complex(z) == zeros, "{z}");
        }
        let real_zeros = real(0.0);
        assert!(real(1.0) == real_zeros && real(-0.25) == real_zeros);
        assert!(zeros.iter().all(|found| !found.2) && real_zeros.iter().all(|found| found.2));
    }
}
