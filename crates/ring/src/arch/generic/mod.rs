//! The kernels, each written once over [`Lanes`](super::lanes::Lanes).

pub(crate) mod basis;
pub(crate) mod keyswitch;
pub(crate) mod ntt;
pub(crate) mod pointwise;
