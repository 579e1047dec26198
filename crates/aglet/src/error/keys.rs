//! Keys that are missing or do not have what is needed, and memory for them.

use aglet_wire::readable_size;

sentences! {
    /// A key that was not given or does not have what is needed.
    MissingKeyError:
    Map { galois: u64 } => "No map of this bootstrap is carried at {galois}.";
    RotationKey => "A small bootstrap key needs the rotation key beside it; pass create_rotation_key(secret_key) before it.";
    NoRotations => "A small bootstrap key has no rotations, it takes those of the rotation key; rotate with that.";
    Steps { steps: String, level: usize, delta: i64 } =>
        "This bootstrap key rotates by the steps {steps} at level {level}, and {delta} is no sum of them; make a key for all steps with \
         create_rotation_key(secret_key).";
    Bootstrap { own: Served, wanted: Served, maker: &'static str } =>
        "This bootstrap key is for {} bootstraps with stage_count={} of {} slots; a {} one with stage_count={} of {} slots needs a key made for it, \
         with {maker}.",
        own.method, own.stage_count, own.slots, wanted.method, wanted.stage_count, wanted.slots;
    ToFhew { count: usize } =>
        "The way to FHEW takes the rotations of a bootstrap key of size \"medium\" or \"large\" for {count} slots; make one with \
         create_bootstrap_key(secret_key).";
    FromFhew =>
        "The way back takes the rotations of a bootstrap key of size \"medium\" or \"large\"; make one with create_lossy_bootstrap_key(secret_key).";
    OneWay =>
        "This switching key is of a file from before anything went back to integers; make one with create_switch_key(secret_key, lwe_secret_key).";
}

sentences! {
    /// Not enough memory, of which all sizes are in bytes.
    MemoryError:
    Bootstrap { what: &'static str, needed: u64, available: u64 } =>
        "There are {} of memory for {what}, which needs {}; free memory, raise memory_limit_bytes, choose size=\"medium\" or \"small\", \
         or use fewer slots.",
        size(available), size(needed);
    Card { needed: u64, keys: u64, room: u64 } =>
        "The card has room for {:.2} GB and this bootstrap takes {:.2} GB there, {:.2} of them keys; make keys of size=\"medium\" or \"small\", use \
         fewer slots, end other programs on the card, or compute with mode=\"parallel\".",
        gb(room), gb(needed), gb(keys);
    CardOperation { what: &'static str, needed: u64, keys: u64, room: u64 } =>
        "The card has room for {:.2} GB and {what} takes {:.2} GB there, {:.2} of them keys; bring ciphertexts to a lower level first, end other \
         programs on the card, or compute with mode=\"parallel\".",
        gb(room), gb(needed), gb(keys);
    CardLeft { what: &'static str, needed: u64, free: u64 } =>
        "The card has {:.2} GB free and {what} takes {:.2} GB more there; drop keys, encoded matrices and ciphertexts that are not needed, end other \
         programs on the card, or compute with mode=\"parallel\".",
        gb(free), gb(needed);
    CardSwitch { what: &'static str, needed: u64, keys: u64, room: u64 } =>
        "The card has room for {:.2} GB and {what} takes {:.2} GB there, {:.2} of them keys; make a bootstrap key of size=\"medium\", use fewer \
         slots, end other programs on the card, or compute with mode=\"parallel\".",
        gb(room), gb(needed), gb(keys);
    CardMap { what: &'static str, needed: u64, free: u64 } =>
        "The card has {:.2} GB free and {what} takes {:.2} GB there encoded; use it as it is without encoding it, encode it for a lower level, drop \
         encoded ones, end other programs on the card, or compute with mode=\"parallel\".",
        gb(free), gb(needed);
    IntegerCard { what: &'static str, needed: u64, keys: u64, room: u64 } =>
        "The card has room for {:.2} GB and {what} of this set takes {:.2} GB there, {:.2} of them keys; end other programs on the card, take a \
         set with a smaller ring or fewer levels, or compute with mode=\"parallel\".",
        gb(room), gb(needed), gb(keys);
    IntegerBootstrap { needed: u64, available: u64 } =>
        "There are {} of memory for bootstrapping with this key, which needs {}; free memory, or raise memory_limit_bytes.",
        size(available), size(needed);
    MatrixKey { needed: u64, available: u64 } =>
        "This matrix multiplication key needs {} and {} of memory are free; free some, or give a lower level= or a smaller \
         baby_step_count=.",
        size(needed), size(available);
    Matrix { needed: u64, available: u64 } =>
        "This matrix takes {} encoded and {} of memory are free; free some, encode it for a lower level, or multiply by it as it is.",
        size(needed), size(available);
    FhewKey { key: String, needed: u64, available: u64 } =>
        "A {key} of these parameters needs {:.1} MB and there are {:.1} MB for it; free memory, raise memory_limit_bytes, or take a smaller set.",
        mb(needed), mb(available);
    FhewCard { set: String, needed: u64, room: u64 } =>
        "Bootstraps of the set {set} take {:.1} MB on the card, which has room for {:.1} MB; end other programs on the card, take a smaller \
         set, or compute with mode=\"parallel\".",
        mb(needed), mb(room);
    Array { count: usize, needed: u64, available: u64 } =>
        "This call makes {count} ciphertexts of {:.1} MB together, and {:.1} MB of memory are free; do it in parts, or free some.",
        mb(needed), mb(available);
    Switched { count: usize, needed: u64, available: u64 } =>
        "{count} values of this FHEW engine need {} and {} of memory are free; take fewer at once, or free some.",
        size(needed), size(available);
}

/// The bootstraps that a key of CKKS serves.
#[derive(Debug)]
pub struct Served {
    /// Their method.
    pub method: &'static str,
    /// Stages of coeffs_to_slots.
    pub stage_count: usize,
    /// Message slots.
    pub slots: usize,
}

fn size(bytes: &u64) -> String {
    readable_size(*bytes)
}
fn gb(bytes: &u64) -> f64 {
    *bytes as f64 / 1e9
}
fn mb(bytes: &u64) -> f64 {
    *bytes as f64 / 1e6
}
