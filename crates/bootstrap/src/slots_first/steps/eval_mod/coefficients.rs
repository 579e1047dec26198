//! Coefficients of the exponential of EvalMod. Generated file, do not edit: run
//! `python3 tools/fit_eval_mod.py`, and add `--check` to verify it.
//!
//! `exp(2 pi i x / 2^3) ~ sum_j EXP_COS[j] T_2j(x / K) + i sum_j EXP_SIN[j] T_(2j+1)(x / K)`
//! with K = 17, degree 28, 3 double angles, where `x = I + m / r`, `|m| <= 1`,
//! message ratio r = 2^7, `|I| <= 16` (every I that a secret of weight 32 allows).
//! Weighted least squares, weights `sqrt(max(Pr[I = i], 2^-60))`, 8 nodes per integer.

/// Of the even `T_0, T_2, ..`: the cosine.
pub(crate) const EXP_COS: [f64; 15] = [
    0.21932738108755284,
    0.43676545007511697,
    0.37258031901099403,
    0.09927944969001708,
    -0.37529952336820327,
    -0.37690181082847346,
    0.5540643933131543,
    -0.2823980512181094,
    0.08548263992038033,
    -0.017480637808452857,
    0.002769675987881086,
    -0.0003003138230110351,
    3.777633889176881e-5,
    -1.0746865822261306e-6,
    3.491098538069325e-7,
];

/// Of the odd `T_1, T_3, ..`: the sine.
pub(crate) const EXP_SIN: [f64; 14] = [
    0.007508419768655997,
    0.13798932295170094,
    0.3605553368717479,
    0.4489154972882912,
    -0.0017486111184682838,
    -0.5671764940503207,
    0.4280704085088261,
    -0.16463538291203011,
    0.03994139304505609,
    -0.007345670588044853,
    0.0008857602329728878,
    -0.00012637078361277897,
    3.7531106177713713e-6,
    -1.3848550728338173e-6,
];
