//! LUTs on one message: in every domain, one or several at a time.

use super::{bootstrap, bootstrap_several, columns, permit, worst, Rotate};
use crate::Error;
use aglet_rlwe::lwe::{GlweSample, LweCiphertext, LweParams};
use aglet_schemes::fhew::{half_steps, Domain, Message, Table, MAX_LOG2_FAILURE};
use std::borrow::Cow;

/// How several tables of the same message are evaluated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// Each table takes its own rotation.
    Separate,
    /// `2^log` tables are interleaved in one rotation, whose exponents are multiples of `2^log`.
    Interleaved(u32),
    /// One rotation of a table that all tables are multiples of (eprint 2018/622); the steps of a table multiply its
    /// noise.
    MultiValue,
}

impl Way {
    /// The one with fewest rotations whose results are wrong no more often than 2^-128 for inputs of this variance, and can be looked
    /// up again as rarely wrong.
    #[must_use]
    pub fn choose(params: &LweParams, tables: &[Table], variance: f64) -> Self {
        let (noise, from) = (params.noise(), tables[0].from());
        let log = tables.len().next_power_of_two().trailing_zeros();
        // Borders between boxes lie at multiples of half a box.
        let even = !params.spec().method.rotates_by_odd();
        let fits = even && (2 * from.space() as usize) << log <= params.n();
        if log > 0 && fits && from.log2_failure(&noise, variance, log) <= MAX_LOG2_FAILURE {
            return Self::Interleaved(log);
        }
        let one_step = tables.iter().all(|t| t.to().torus() == tables[0].to().torus());
        // Results share coefficients of one noise: so many deviations are those of the sum of all of them at worst.
        let shared = noise.blind_rotation * tables.len() as f64;
        let left = |t: &Table| t.to().log2_failure(&noise, shared * t.squared_factors(params), 0);
        match log > 0 && one_step && tables.iter().all(|t| left(t) <= MAX_LOG2_FAILURE) {
            true => Self::MultiValue,
            false => Self::Separate,
        }
    }

    fn log_tables(self) -> u32 {
        match self {
            Self::Interleaved(log) => log,
            _ => 0,
        }
    }

    /// Rotations of one message for so many tables.
    #[must_use]
    pub fn rotations(self, domain: Domain, tables: usize) -> usize {
        let last = if self == Self::Separate { tables } else { 1 };
        last + usize::from(domain == Domain::Full)
    }

    /// log2 of the probability that one of the results is wrong, for an input of this variance.
    #[must_use]
    pub fn log2_failure(self, params: &LweParams, from: Message, variance: f64) -> f64 {
        from.log2_failure(&params.noise(), variance, self.log_tables())
    }
}

/// Evaluates each table on each message, by [`Way::choose`]; gives a list for each table.
///
/// # Errors
/// No table, or tables of different messages; [`aglet_schemes::Error::Failure`] if one would be wrong with a probability above `2^allowed`; those of
/// [`Rotate::rotate`].
pub fn lookup(
    run: &impl Rotate,
    cts: &[LweCiphertext],
    tables: &[Table],
    allowed: f64,
) -> Result<Vec<Vec<LweCiphertext>>, Error> {
    let ctx = run.context();
    let Some(from) = tables.first().map(Table::from).filter(|from| tables.iter().all(|t| t.from() == *from)) else {
        let reason = "tables read together take the same messages; give one or more";
        return Err(aglet_schemes::Error::InvalidParameters { reason }.into());
    };
    let way = Way::choose(ctx.params(), tables, worst(cts));
    permit("A table", way.log2_failure(ctx.params(), from, worst(cts)), allowed)?;
    let ready = ready(run, from, cts)?;
    if way == Way::MultiValue {
        let start = GlweSample::trivial(ctx, &half_steps(ctx, tables[0].to()), run.id())?;
        let factors: Vec<_> = tables.iter().map(|t| t.factors(ctx.params())).collect();
        let values = |sample: GlweSample| Ok(factors.iter().map(|f| sample.product(ctx, f)).collect());
        return Ok(columns(run.rotate(&ready, &[start], 0, values)?, tables.len()));
    }
    let entries: Vec<_> = tables.iter().map(|t| t.entries(ctx)).collect();
    bootstrap_several(run, &ready, &entries, way.log_tables())
}

/// Prepares messages for a rotation: those of the full domain are moved to half of the torus.
///
/// The exact half of a phase x is `x/2` or half the torus from it. A first rotation says which, and takes the half of the torus off.
pub(super) fn ready<'a>(
    run: &impl Rotate,
    from: Message,
    cts: &'a [LweCiphertext],
) -> Result<Cow<'a, [LweCiphertext]>, Error> {
    if from.domain() != Domain::Full {
        return Ok(Cow::Borrowed(cts));
    }
    let (ctx, q) = (run.context(), run.context().modulus().value());
    let (half_box, quarter) = (q / (2 * from.space()), (q + 2) / 4);
    let halves: Vec<LweCiphertext> = cts
        .iter()
        .map(|ct| {
            let mut ct = ct.clone();
            ct.add_phase(ctx, half_box);
            ct.half(ctx)
        })
        .collect();
    let signs = bootstrap(run, &halves, &vec![quarter; ctx.params().n()])?;
    let minus = ctx.modulus().neg(quarter);
    let sums = halves.iter().zip(&signs).map(|(h, s)| LweCiphertext::combine(ctx, minus, &[(h, 1), (s, 1)]));
    Ok(Cow::Owned(sums.collect::<Result<_, _>>()?))
}
