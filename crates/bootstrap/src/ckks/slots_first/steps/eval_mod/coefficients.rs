//! Coefficients of the exponential of EvalMod. Generated file, do not edit: run
//! `python3 tools/fit_eval_mod.py`, and add `--check` to verify it.
//!
//! `exp(2 pi i x / 2^3) ~ sum_j EXP_COS[j] T_2j(x / K) + i sum_j EXP_SIN[j] T_(2j+1)(x / K)`
//! with K = 17, degree 28, 3 double angles, where `x = I + m / r`, `|m| <= 1`,
//! `|I| <= 16` (every I that a secret of weight 32 allows). Minimax for these bits of the message, for all
//! `|I| = 0, 1, ..` less the same number:
//! 33, 33, 33, 33, 33, 33, 32.5, 32, 31, 30, 28.5, 27.5, 27.5, 27.5, 27, 11, 7;
//! with message ratios 2^5.5 (0 less), 2^8.25 (0 less), 2^10.75 (4 less).

/// Of the even `T_0, T_2, ..`: the cosine.
pub(crate) const EXP_COS: [f64; 15] = [
    0.22081697545441747,
    0.439626399438608,
    0.37511176923336076,
    0.10133799927899458,
    -0.373767388141415,
    -0.3758636910329619,
    0.5547008655194762,
    -0.2820470548984414,
    0.08565587373613487,
    -0.017404432183851088,
    0.0027993678776501154,
    -0.0002902516100917263,
    4.059925668523793e-5,
    -4.908188914646999e-7,
    4.153111272574737e-7,
];

/// Of the odd `T_1, T_3, ..`: the sine.
pub(crate) const EXP_SIN: [f64; 14] = [
    0.010983651049162093,
    0.14128573074762665,
    0.3635169450961516,
    0.45142677148665555,
    0.0002477024687414034,
    -0.5657045700856356,
    0.42906195165801825,
    -0.1640369640661275,
    0.040257129930040124,
    -0.007204497741774952,
    0.0009370409831682813,
    -0.00011217495195998325,
    6.4226689872236664e-6,
    -1.127736665050749e-6,
];
