//! All tests of this floor in one program: it is linked once, and its tests fill all cores to the end.

mod borders;
mod ciphertext_steps;
mod clear_functional;
mod clear_pipeline;
mod clear_scheme_switch;
mod clear_ship;
mod dependent;
mod gates;
mod integer_clear;
mod integer_steps;
mod keys;
mod presets;
mod pretend;
mod products;
mod tables;
