//! What the emulator and the columns of tests notice: kernels with an error each. Without these, a suite that passes says little.

use super::case::{hard_numbers, of_numbers, ring, Words};
use aglet_cuda::ops::Form;
use aglet_cuda::{kernels, Arithmetic, Device, DevicePoly, DeviceRing, Error};
use aglet_ring::poly::{Coeff, Eval};
use aglet_ring::{Poly, Ring};
use aglet_testing::emu::{Emu, Order, Program};

/// The kernels of some files, with one text in place of another that stands there once.
fn changed(files: &[&str], from: &str, to: &str) -> Device {
    let text: String = kernels::FILES.iter().filter(|(name, _)| files.contains(name)).map(|(_, text)| *text).collect();
    assert_eq!(text.matches(from).count(), 1, "the kernels have {from:?} once");
    // Of columns those of one degree are enough.
    let text = text.replace("COLUMNS(A, 1) COLUMNS(A, 2) COLUMNS(A, 3) COLUMNS(A, 4) ", "");
    let text = text.replace("COLUMNS(A, 6) COLUMNS(A, 7) COLUMNS(A, 8) COLUMNS(A, 9) ", "");
    Emu::device(&Program::of(&text.replace(from, to)).unwrap(), Order::Forward)
}

/// What a run of changed kernels is told.
fn fault<T>(what: Result<T, Error>) -> String {
    match what {
        Err(Error::Kernel { what, .. }) => what,
        Err(other) => panic!("another error: {other}"),
        Ok(_) => panic!("the emulator did not notice"),
    }
}

fn transformed(card: Device, ring: &Ring) -> Result<Vec<DevicePoly<Eval>>, Error> {
    let device = DeviceRing::new(card, ring, Arithmetic::F50)?;
    let x: Poly<Coeff> = Words::new().poly(ring, 1, 0);
    device.to_eval(&[&device.upload(&x)?])
}

#[test]
fn a_barrier_that_is_missing() {
    let (ring, files) = (ring(13, &[50], 0), ["arithmetic.cu", "ntt.cu"]);
    let missing = changed(&files, "__syncthreads();", "");
    assert!(fault(transformed(missing, &ring)).contains("reads what nobody wrote"));
    // The second time through the same words: all of them were written before.
    let late = changed(&files, "__syncthreads();", "if (I < J || S < 8) __syncthreads();");
    assert!(fault(transformed(late, &ring)).contains("another thread"));
}

fn doubled(card: Device, ring: &Ring) -> Result<Poly<Eval>, Error> {
    let device = DeviceRing::new(card, ring, Arithmetic::S64)?;
    let x = device.upload(&Words::new().poly(ring, 1, 0))?;
    let form = Form { products: vec![(2, &x, &x)], ..Form::default() };
    device.download(&device.forms(&[form], 1, 0)?[0])
}

#[test]
fn words_that_are_nobodys_or_two_threads_and_a_barrier_of_some() {
    let (ring, store) = (ring(10, &[50], 0), "row.out[i] =");
    let with = |to: &str| fault(doubled(changed(&["arithmetic.cu", "forms.cu"], store, to), &ring));
    assert!(with("row.out[i + 1] =").contains("writes where nothing is"));
    assert!(with("row.out[i / 2] =").contains("writes what another thread writes"));
    assert!(with("if (i) row.out[i] =").contains("left unwritten"));
    assert!(with("Global<const u64> x = row.products[0]; ((Global<u64>)x)[i ^ 1] =")
        .contains("reads what another thread writes"));
    assert!(with("if (i % 2) __syncthreads(); row.out[i] =").contains("wait at a barrier"));
}

#[test]
fn a_quotient_that_is_fused() {
    let (ring, from) = (ring(13, &[50; 9], 0), (0..8).collect::<Vec<_>>());
    let sources: Vec<u64> = from.iter().map(|&i| ring.modulus(i).value()).collect();
    let x = ring.to_eval(of_numbers(&ring, &from, &hard_numbers(ring.n(), &sources)));
    let wanted = ring.extend(&x, &from, &[8]).unwrap();
    let [plain, fused] = [
        "plain_sum(multiples, plain_product((double)x, p.inverses[s]))",
        "__fma_rn((double)x, p.inverses[s], multiples)",
    ];
    for (text, right) in [(plain, true), (fused, false)] {
        let card = changed(&["arithmetic.cu", "ntt.cu", "convert.cu"], plain, text);
        let device = DeviceRing::new(card, &ring, Arithmetic::F50).unwrap();
        let found = device.extend(&[&device.upload(&x).unwrap()], &from, &[8]).unwrap();
        let found = device.download(&found[0]).unwrap();
        assert_eq!(found.host().unwrap().row(0) == wanted.host().unwrap().row(0), right, "{text}");
    }
}

#[test]
fn a_text_that_is_no_program() {
    let error = Program::of("no kernels").err().unwrap();
    assert!(error.contains("no"), "{error}");
}
