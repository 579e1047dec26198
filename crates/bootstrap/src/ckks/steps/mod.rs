//! Steps that several methods use.

pub mod apply;
pub mod trace;
