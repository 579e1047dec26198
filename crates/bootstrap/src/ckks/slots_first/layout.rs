//! The layout of a bootstrap: the numbers of a request on a chain, which determine its stages.

use super::limbs::{message_limbs, Limbs, OutputLimbs, Spare};
use super::steps::eval_mod::{Function, Functional};
use super::steps::mod_switch::ModSwitchIn;
use crate::ckks::request::{KeySize, Method, Parts, Request};
use crate::error::Error;
use aglet_rlwe::Params;
use aglet_schemes::ckks::params::Role;
use aglet_schemes::ckks::CkksParams;
use std::sync::Arc;

/// The numbers that determine the stages of a slots-first bootstrap.
#[derive(Debug, Clone)]
pub struct Layout {
    /// The request.
    pub request: Request,
    /// Slots of the ring, N/2, which all maps work on. Fewer message slots repeat over it.
    pub ring_slots: usize,
    /// The function that eval_mod applies to the message.
    pub function: Function,
    /// Whether real and imaginary parts of sparse slots share one evaluation, side by side in twice the slots. This
    /// takes one more level, for the map that combines them again.
    pub packed: bool,
    /// The user level of the result.
    pub level: usize,
    /// The primes of Q that it raises to, as doubles, bottom to top.
    pub moduli: Vec<f64>,
    /// With spare primes in place of those of users: the primes of the users' chain up to the level of the result,
    /// bottom to top.
    pub switched: Option<Vec<f64>>,
    /// The lowest primes that both chains have.
    pub shared: usize,
    /// Primes below user level 0, which slots_to_coeffs consumes.
    pub hidden: usize,
    /// Weight of the sparse secret.
    pub sparse_weight: usize,
    /// q0 / scale at which the modulus is raised.
    pub message_ratio: f64,
    /// Scale of the input, at the chain level `hidden`.
    pub scale_in: f64,
    /// Scale of the output.
    pub scale_out: f64,
}

/// Whether functions of the exponential can take these primes, above those that are kept in the place of users' primes: all are as large as
/// the scale. Where they differ in size, the scales of powers do too, and what is multiplied with them is rounded as much earlier: the
/// result needs room for that.
fn table_primes(params: &CkksParams, kept: &[usize], table: &[usize], users: &[usize]) -> bool {
    let spare = params.role(Role::Spare).start;
    let prime = |&limb: &usize| params.q().get(limb).or_else(|| params.spare().get(limb - spare)).copied();
    let bits =
        |limbs: &[usize]| limbs.iter().map(|l| prime(l).map_or(0.0, |q| (q as f64).log2())).collect::<Vec<f64>>();
    let (all, least) = (bits(table), f64::from(params.scale_bits()) - 0.5);
    let (low, high) = all.iter().fold((f64::INFINITY, 0.0f64), |(low, high), &b| (low.min(b), high.max(b)));
    let room = bits(kept).iter().sum::<f64>() - bits(users).iter().sum::<f64>();
    low >= least && (high - low < SAME_SIZE || room >= FINER_BITS)
}

/// Primes that differ by fewer bits are of one size.
const SAME_SIZE: f64 = 2.0;

/// The room that results have above tables on primes of two sizes: the factor by which their scale may be larger before the modulus is switched.
const FINER_BITS: f64 = 8.0;

impl Layout {
    /// Lays out a request on a parameter set, and gives the parameters of the chain that it raises to.
    ///
    /// # Errors
    /// [`Error::NotForBootstrap`] and similar errors for parameters without a bootstrap or without enough levels.
    pub fn new(
        params: &CkksParams,
        request: Request,
        functional: Option<&Arc<Functional>>,
    ) -> Result<(Self, Params), Error> {
        let (Some(ratio), Some(regular)) = (params.message_ratio_log2(), params.regular_level()) else {
            return Err(Error::NotForBootstrap { preset: params.name().to_string() });
        };
        let ring_slots = params.slots();
        request.check(ring_slots)?;
        let message = params.role(Role::Message).len();
        // What coeffs_to_slots spends beyond the primes of its own are message primes.
        let spent = request.coeffs_to_slots_levels(ring_slots);
        let extra = spent.saturating_sub(params.role(Role::CoeffsToSlots).len());
        let highest = match request.method.keys() {
            Method::Regular => regular.min(message.saturating_sub(extra)),
            _ => message.saturating_sub(extra),
        };
        if request.method.keys() == Method::Lossy && message == regular {
            return Err(Error::NotForLossy { preset: params.name().to_string() });
        }
        // Small keys meet the keys of users, which are for the chain itself.
        let spare = if request.size == KeySize::Small { Spare::None } else { Spare::of(params) };
        let function = match functional {
            Some(functional) => Function::Functional(functional.clone()),
            None => request.method.function(params),
        };
        // Functions of the exponential go on below the primes of eval_mod.
        let own = function.levels().min(params.role(Role::EvalMod).len());
        let deeper = function.levels() - own;
        let users = |level: usize| spare.stands_for(params, level).collect::<Vec<_>>();
        // Whether a result of this level has that, and so many levels more, on the chain that the key is for.
        let has = |level: usize, more: usize| {
            let kept = |level: usize, more: usize| OutputLimbs { level, after_eval_mod: more, spare };
            if deeper == 0 || extra > message {
                return level + more + extra <= message;
            }
            let all = match request.size {
                KeySize::Small => message - extra,
                _ => message_limbs(params, kept(highest, 0)).map_or(0, |limbs| limbs.len()),
            };
            message_limbs(params, kept(level, deeper + more)).is_ok_and(|limbs| {
                let (below, table) = limbs.split_at(limbs.len().saturating_sub(deeper));
                limbs.len() <= all && table_primes(params, &below[..below.len() - more], table, &users(level))
            })
        };
        let highest = (0..=highest).rev().find(|&level| has(level, 0)).filter(|_| extra <= message);
        let level = request.target_level.unwrap_or(highest.unwrap_or_default());
        let Some(highest) = highest.filter(|&highest| level <= highest) else {
            let (method, stages) = (request.method.name(), request.stage_count);
            return Err(match (highest, functional) {
                (None, Some(functional)) => Error::FunctionalLevels { method, levels: functional.depth() },
                _ => Error::OutputLevel { method, stages, highest: highest.unwrap_or_default(), level },
            });
        };
        debug_assert!(level <= highest);
        let sparse = 2 * request.slots <= ring_slots && request.parts() == Parts::Complex;
        let packed = sparse && has(level, 1) && !functional.is_some_and(|functional| functional.differ());
        let kept = OutputLimbs { level, after_eval_mod: deeper + usize::from(packed), spare };
        let limbs = Limbs::new(params, kept, own, spent)?;
        let own = params.subset(&limbs.primes())?;
        let users = &params.q()[..=params.chain_level(level)];
        let layout = Self {
            request,
            ring_slots,
            function,
            packed,
            level,
            moduli: own.q().iter().map(|&q| q as f64).collect(),
            switched: (spare != Spare::None).then(|| users.iter().map(|&q| q as f64).collect()),
            shared: limbs.bottom.len(),
            hidden: params.hidden_levels(),
            sparse_weight: params.ephemeral_weight().unwrap_or(0),
            message_ratio: ratio.exp2(),
            scale_in: params.scale_at(0),
            scale_out: params.scale_at(level),
        };
        Ok((layout, own))
    }

    /// The switch of what is on the users' chain at this level to the raised primes, if spare ones stand for those of slots_to_coeffs.
    pub fn switches_in(&self, level: usize) -> Option<ModSwitchIn> {
        let users = self.switched.as_ref().filter(|_| self.shared <= level)?;
        Some(ModSwitchIn { scale_ratio: (self.shared..=level).map(|i| self.moduli[i] / users[i]).product() })
    }

    /// How often the slots repeat over the ring.
    pub(super) fn copies(&self) -> usize {
        self.ring_slots / self.request.slots
    }
    /// The levels of coeffs_to_slots.
    pub fn coeffs_to_slots_levels(&self) -> usize {
        self.request.coeffs_to_slots_levels(self.ring_slots)
    }
    /// Levels between coeffs_to_slots and the result.
    pub fn eval_mod_levels(&self) -> usize {
        self.function.levels() + usize::from(self.packed)
    }
}
