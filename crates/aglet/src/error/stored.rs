//! Bytes and files that cannot be read, and those of other parameters.

sentences! {
    /// Invalid bytes: damaged, cut short, of another version or type.
    FormatError:
    NotAglet => "This is not data of Aglet, or its first bytes are damaged; take what a write_ or serialize_ method made.";
    Version { version: u16, own: u16 } =>
        "This data is of format version {version}, and this Aglet reads version {own}; use the Aglet that wrote it, or make it again.";
    ShortStart { header: bool } =>
        "This data is cut short: it ends within {}; write or send it again.",
        if *header { "its first 256 bytes" } else { "its parameters" };
    Header => "The header of this data is damaged: its checksum does not match; write or send it again.";
    Family { name: String, known: String } => "This data is of the family {name}, and this version of Aglet knows {known}; update Aglet.";
    Type { tag: u16 } => "This version of Aglet does not know what type {tag} is; update Aglet.";
    OtherType { found: String, wanted: String } => "This is {found}, not {wanted}; read it with read or deserialize, which take every type.";
    OtherFamily { kind: &'static str, family: String, wanted: String } =>
        "This {kind} is of the family \"{family}\", not \"{wanted}\"; read it with an engine of its family.";

    LongParameters { length: usize, most: usize } =>
        "This data has {length} bytes of parameters, and at most {most} are read; make it again with Aglet.";
    Parameters => "The parameters of this data are damaged: their checksum does not match; write or send it again.";
    NoText => "The parameters of this data are no text; make it again with Aglet.";
    OneLiteral => "The parameters of this data are not those of two engines; it was not made by Aglet.";
    Unusable { reason: String } => "The parameters in this data do not work: {reason}; write it again.";
    OtherParameters { name: String } => "The parameters {name} in this data are other ones in this version of Aglet; use the Aglet that wrote it.";
    Slots { slots: usize } => "An engine of {slots} slots does not exist; this data was not made by Aglet.";

    Short { kind: &'static str, found: u64, claimed: u64 } =>
        "This {kind} is cut short: {found} of {claimed} bytes follow its parameters; write or send it again.";
    Long { kind: &'static str, more: u64 } => "After this {kind} there are {more} bytes that do not belong to it; write or send it again.";
    OtherParts { kind: &'static str } =>
        "This {kind} has other parts than this version of Aglet gives it; use the version that made it, or make it again.";
    Unknown { kind: &'static str, what: &'static str } =>
        "This {kind} has {what} that these parameters do not know; use the version of Aglet that made it.";
    CannotBe { kind: &'static str, reason: Box<super::Error> } => "This {kind} cannot be: {reason}";
    Direction => "This switching key leads in a direction that this version does not know; update Aglet.";
    Damaged { kind: &'static str } => "This {kind} is damaged: a checksum does not match; write or send it again.";
    Shrunk => "This file became shorter while it was read; write it again.";
    NoEngine => "A secret key is read by an engine; use engine.deserialize_secret_key.";
}

sentences! {
    /// Data of other parameters.
    ForeignError:
    Written { kind: &'static str } => "This {kind} is not of this engine's parameters; write it with the engine that made it.";
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
