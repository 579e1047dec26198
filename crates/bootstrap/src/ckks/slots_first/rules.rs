//! How slots-first bootstraps handle parameters and requests.

use super::steps::eval_mod::Functional;
use super::steps::raise_map::RaiseMap;
use super::{plan, Layout};
use crate::ckks::request::{Method, Request};
use crate::ckks::{BootstrapCircuit, Bootstrapping};
use crate::error::Error;
use crate::own_keys::OwnKeys;
use aglet_ring::sample::ChaChaSource;
use aglet_rlwe::{Context, KeyRole, KeySwitchSpec, Params, SecretKey, SwitchingKey};
use aglet_schemes::ckks::CkksParams;
use std::sync::Arc;

/// [`Bootstrapping`] of slots-first bootstraps.
pub struct Rules;

impl Bootstrapping for Rules {
    fn circuit(&self, params: &CkksParams, request: Request) -> Result<BootstrapCircuit, Error> {
        of_layout(params, request, Layout::new(params, request, None)?)
    }
    fn functional(
        &self,
        params: &CkksParams,
        request: Request,
        functional: &Arc<Functional>,
    ) -> Result<BootstrapCircuit, Error> {
        if !matches!(request.method, Method::Regular | Method::Lossy) {
            return Err(Error::FunctionalMethod { method: request.method.name() });
        }
        of_layout(params, request, Layout::new(params, request, Some(functional))?)
    }
    /// One for each four layers of the transform. Lossy bootstraps take a level for each stage: they have three, or as many as
    /// few slots have layers.
    fn default_stages(&self, method: Method, slots: usize) -> usize {
        let layers = slots.checked_ilog2().unwrap_or_default().max(1) as usize;
        match method.keys() {
            Method::Lossy => layers.min(3),
            _ => layers.div_ceil(4),
        }
    }
    fn request_of_key(&self, request: Request) -> Request {
        Request { method: request.method.keys(), bound: 1.0, real: false, target_level: None, ..request }
    }
    fn methods(&self, params: &CkksParams) -> Vec<Method> {
        let able = |method: &Method| match (method.keys(), params.regular_level()) {
            (_, None) => false,
            (Method::Regular, _) => true,
            (_, Some(level)) => level < params.max_level(),
        };
        Method::ALL.iter().copied().filter(able).collect()
    }
    fn own_keys(&self, circuit: &BootstrapCircuit) -> Result<Box<dyn OwnKeys>, Error> {
        Ok(Box::new(Carried(circuit.carried().cloned())))
    }
    fn raises_modulus(&self) -> bool {
        true
    }
    fn largest_error(&self, _: &CkksParams, _: Method) -> Option<f64> {
        None
    }
}

fn of_layout(
    whole: &CkksParams,
    request: Request,
    (layout, params): (Layout, Params),
) -> Result<BootstrapCircuit, Error> {
    let (plan, whole) = (Arc::new(plan(&layout)?.among()), whole.clone());
    Ok(BootstrapCircuit { whole, params, request, level: layout.level, plan, layout: Some(layout) })
}

/// The map that the keys of mod_raise carry.
struct Carried(Option<RaiseMap>);

impl OwnKeys for Carried {
    fn key(
        &self,
        ctx: &Context,
        (role, spec): (KeyRole, &KeySwitchSpec),
        secrets: (&SecretKey, &SecretKey),
        random: &mut ChaChaSource,
    ) -> Result<Option<SwitchingKey>, Error> {
        match (role, &self.0) {
            (KeyRole::SparseToDenseGalois(galois), Some(map)) => Ok(map.key(ctx, spec, galois, secrets, random)?),
            _ => Ok(None),
        }
    }
}
