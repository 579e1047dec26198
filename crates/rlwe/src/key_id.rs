//! The names of secret keys.

use aglet_ring::sample::ChaChaSource;

/// Names a secret key without telling anything of it: drawn at random beside the key, carried by all that depends on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct KeyId(pub u64);

impl KeyId {
    /// Everybody sees it, so it is no part of the stream that the key is drawn from.
    pub(crate) fn draw(source: &mut ChaChaSource) -> Self {
        let [a, b, c, d, e, f, g, h, ..] = source.public_seed();
        Self(u64::from_le_bytes([a, b, c, d, e, f, g, h]))
    }
}

impl std::fmt::Display for KeyId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}
