//! The text of all kernels, in the order in which they build on each other.

/// Name and text of each file of `kernels`.
pub const FILES: [(&str, &str); 9] = [
    ("arithmetic.cu", include_str!("../kernels/arithmetic.cu")),
    ("ntt.cu", include_str!("../kernels/ntt.cu")),
    ("forms.cu", include_str!("../kernels/forms.cu")),
    ("convert.cu", include_str!("../kernels/convert.cu")),
    ("keys.cu", include_str!("../kernels/keys.cu")),
    ("map.cu", include_str!("../kernels/map.cu")),
    ("stream.cu", include_str!("../kernels/stream.cu")),
    ("blind.cu", include_str!("../kernels/blind.cu")),
    ("lwe.cu", include_str!("../kernels/lwe.cu")),
];

/// All kernels as one text. Each file begins with its name and first line, for compilers that complain.
#[must_use]
pub fn text() -> String {
    FILES.iter().map(|(name, text)| format!("#line 1 \"{name}\"\n{text}")).collect()
}

/// The kernels as code for cards, by compute capability: for those with the same major number, and a minor one as large or larger.
const CUBINS: [((u32, u32), &[u8]); 4] = [
    ((8, 0), include_bytes!("../kernels/kernels.sm_80.z")),
    ((9, 0), include_bytes!("../kernels/kernels.sm_90.z")),
    ((10, 0), include_bytes!("../kernels/kernels.sm_100.z")),
    ((12, 0), include_bytes!("../kernels/kernels.sm_120.z")),
];

/// The kernels as code for a card of this compute capability, if there is any. `tools/nvrtc.py` makes it of [`FILES`].
///
/// # Panics
/// Never: the bytes are those of this crate.
#[must_use]
pub fn cubin((major, minor): (u32, u32)) -> Option<Vec<u8>> {
    let (_, packed) = CUBINS.iter().find(|(of, _)| of.0 == major && of.1 <= minor)?;
    Some(miniz_oxide::inflate::decompress_to_vec_zlib(packed).expect("the code of this crate is whole"))
}

/// The kernels as PTX for compute capability 8.0 and later, which drivers compile for their cards. `tools/nvrtc.py` makes it of [`FILES`], and
/// `make test-nvrtc` sees that it is theirs.
///
/// # Panics
/// Never: the bytes are those of this crate.
#[must_use]
pub fn ptx() -> Vec<u8> {
    let packed = include_bytes!("../kernels/kernels.ptx.z");
    miniz_oxide::inflate::decompress_to_vec_zlib(packed).expect("the PTX of this crate is whole")
}
