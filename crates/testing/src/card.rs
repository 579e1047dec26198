//! An emulated card for engines.

pub use aglet_cuda::{Arithmetic, Card, Order};
use aglet_cuda::{Emu, Program};
use std::sync::{Arc, OnceLock};

/// A card of its own, with the kernels of `aglet-cuda`, which are compiled once.
pub fn emulated(order: Order, arithmetic: Arithmetic) -> Arc<Card> {
    static PROGRAM: OnceLock<Program> = OnceLock::new();
    let program = PROGRAM.get_or_init(|| Program::new().unwrap_or_else(|e| panic!("{e}")));
    Arc::new(Card::new(Emu::new(program, order).expect("the emulator has memory"), arithmetic))
}
