//! An emulated card for engines.

use crate::emu::Emu;
pub use crate::emu::{Order, Program};
use aglet_cuda::kernels;
use aglet_cuda::Device;
pub use aglet_cuda::{Arithmetic, Card};
use std::sync::atomic::AtomicU64;
use std::sync::Arc;

fn of(program: &Program, order: Order, arithmetic: Arithmetic) -> Arc<Card> {
    Arc::new(Card::new(Emu::device(program, order), arithmetic))
}

/// A card of its own, with the kernels of `aglet-cuda`, which are compiled once.
pub fn emulated(order: Order, arithmetic: Arithmetic) -> Arc<Card> {
    of(Program::kernels(), order, arithmetic)
}

/// A card with so many bytes of memory.
pub fn small(bytes: u64) -> Arc<Card> {
    let emu = Emu::new(Program::kernels(), Order::Forward).with_memory(bytes);
    Arc::new(Card::new(Device::new(emu), Arithmetic::F50))
}

/// A card with the bytes of its memory, of which a test takes some away as other programs do.
pub fn shared() -> (Arc<Card>, Arc<AtomicU64>) {
    let emu = Emu::new(Program::kernels(), Order::Forward);
    let memory = emu.memory();
    (Arc::new(Card::new(Device::new(emu), Arithmetic::F50)), memory)
}

/// The same, and a number of blocks: when so many more were had, other programs take all the rest of its memory.
pub fn taken_after() -> (Arc<Card>, Arc<AtomicU64>, Arc<AtomicU64>) {
    let emu = Emu::new(Program::kernels(), Order::Forward);
    let (memory, blocks) = (emu.memory(), emu.blocks());
    (Arc::new(Card::new(Device::new(emu), Arithmetic::F50)), memory, blocks)
}

/// A card whose kernels have another text in one place, so that it fails.
pub fn failing(from: &str, to: &str, arithmetic: Arithmetic) -> Arc<Card> {
    let text = kernels::text();
    assert_eq!(text.matches(from).count(), 1, "the kernels have {from} once");
    of(&Program::of(&text.replace(from, to)).unwrap_or_else(|e| panic!("{e}")), Order::Forward, arithmetic)
}
