//! Stored data of other parameters.

sentences! {
    /// Data of other parameters.
    ForeignError:
    Parameters { kind: &'static str, name: String, own: String, fix: OtherEngine } =>
        "This {kind} was made with other parameters (preset {name}) than this engine's (preset {own}); {fix}.";
    Slots { kind: &'static str, slots: u64, own: usize } =>
        "This {kind} is for {slots} slots and this engine has {own}; make the engine with slot_count={slots}.";
    Packing { kind: &'static str, packing: &'static str, own: &'static str } =>
        "This {kind} has its numbers in {packing} and this engine in {own}; make the engine with packing=\"{packing}\".";
    Plaintext { count: usize, modulus: u64, own_count: usize, own: u64 } =>
        "This plaintext has {count} coefficients modulo {modulus}, and this engine {own_count} modulo {own}; encode it again with this engine.";
    Arrays { one: String, other: String } => "These arrays are of the sets \"{one}\" and \"{other}\"; use ciphertexts of one engine.";
}

sentences! {
    /// What to do about data of other parameters. Names are quoted.
    OtherEngine:
    OtherVersion => "use the version of Aglet that made it, or make it again";
    Levels { levels: usize } => "make the engine with max_level={levels}";
    Preset { name: String } => "make the engine with the options it was made with (preset={name})";
    Modulus { name: String, t: u64 } => "make the engine with the options it was made with (preset={name}, plaintext_modulus={t})";
    Pair { slots: String, fhew: String } => "make the switch of engines with preset={slots} and preset={fhew}";
}
