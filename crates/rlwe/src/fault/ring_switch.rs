//! Faults of switches between a large ring and that of FHEW.

/// What is wrong with a ring switch, or with what it is given.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum RingSwitchFault {
    /// Rings of which the large one is smaller, or has no roots of unity for the modulus of FHEW.
    #[error(
        "FHEW samples of degree 2^{small} modulo {modulus} cannot stand in a ring of degree 2^{large}; take a \
         parameter set of another degree"
    )]
    Rings {
        /// log2 of the degree of FHEW samples.
        small: u32,
        /// Their modulus.
        modulus: u64,
        /// log2 of the degree of the large ring.
        large: u32,
    },
    /// A context of another degree than the switch.
    #[error("this ring switch is for another degree; make one for these parameters")]
    Context {
        /// The degree of the context.
        found: usize,
        /// The degree of the large ring of the switch.
        expected: usize,
    },
    /// A secret key of another degree than the large ring.
    #[error("this secret key has another degree; use the engine that it is of")]
    SecretKey {
        /// The degree of the key.
        found: usize,
        /// The degree of the large ring.
        expected: usize,
    },
    /// A coefficient that does not exist.
    #[error("there is no coefficient {index}; there are {count}")]
    Coefficient {
        /// Its index.
        index: usize,
        /// Coefficients that there are.
        count: usize,
    },
    /// A class of coefficients that does not exist.
    #[error("there are {classes} classes of coefficients, not {}", class + 1)]
    Class {
        /// Its index, from 0.
        class: usize,
        /// Classes that there are.
        classes: usize,
    },
    /// More samples than classes.
    #[error("{found} samples do not fit {classes} classes")]
    Samples {
        /// Samples given.
        found: usize,
        /// Classes that there are.
        classes: usize,
    },
}
