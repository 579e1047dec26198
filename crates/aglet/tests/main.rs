//! All tests of the facade in one program: it is linked once, and its tests fill all cores to the end. Some modules ask for the feature
//! `long` or `by-hand`.

mod architecture;
mod by_hand;
mod card;
mod card_fhew;
mod card_memory;
mod claims;
mod cost;
mod fhew;
mod fhew_compress;
mod fhew_corpus;
mod fhew_files;
mod fhew_public;
mod fhew_tables;
mod files;
mod golden;
mod golden_real;
mod integer;
mod integer_bootstrap;
mod integer_cost;
mod integer_files;
mod many;
mod memory;
mod noise;
mod predictions;
mod public;
mod real;
mod scalar_sets;
mod scheme_switch;
mod scheme_switch_corpus;
mod scheme_switch_files;
mod scheme_switch_integers;
mod scheme_switch_integers_from_fhew;
mod ship;
mod toy;
mod wire_corpus;
