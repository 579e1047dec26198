//! What SHIP makes of parameters and requests.

use super::support::SignedSupport;
use super::{
    encapsulation, error_of_sine, few_slots, generate, message_ratio, plan, shape_for, RotationShape, ShipParams,
};
use crate::ckks::request::{Method, Request};
use crate::ckks::{BootstrapCircuit, Bootstrapping};
use crate::error::Error;
use crate::own_keys::{OwnKeys, Sources};
use crate::packed::PackedKeys;
use aglet_ring::sample::ChaChaSource;
use aglet_rlwe::{Context, KeyRole, KeySwitchSpec, SecretKey, SwitchingKey};
use aglet_schemes::ckks::CkksParams;
use std::sync::{Arc, OnceLock};

/// [`Bootstrapping`] of SHIP.
pub struct Rules;

impl Bootstrapping for Rules {
    fn circuit(&self, params: &CkksParams, request: Request) -> Result<BootstrapCircuit, Error> {
        let plan = Arc::new(plan(params, request)?.among());
        let request = Request { target_level: None, ..request };
        let whole = params.clone();
        Ok(BootstrapCircuit {
            whole,
            params: params.rlwe().clone(),
            request,
            level: params.max_level(),
            plan,
            layout: None,
        })
    }
    /// One of each kind.
    fn default_stages(&self, _: Method, _: usize) -> usize {
        1
    }
    /// All of a set are the same.
    fn request_of_key(&self, request: Request) -> Request {
        Request::new(Method::Regular, request.stage_count, request.size, request.slots)
    }
    /// Where 0 and 1 fill all of q0, the sine is no number any more, and bits alone are left.
    fn methods(&self, params: &CkksParams) -> Vec<Method> {
        let bits_only = params.message_ratio_log2().is_some_and(|ratio| ratio <= 1.0);
        [Method::Regular, Method::Bits][usize::from(bits_only)..].to_vec()
    }
    fn own_keys(&self, circuit: &BootstrapCircuit) -> Result<Box<dyn OwnKeys>, Error> {
        let params = &circuit.whole;
        let (Some(ship), Some(shape)) = (ShipParams::of(params), shape_for(params, circuit.request.slots)) else {
            return Err(Error::NotForBootstrap { preset: params.name().to_string() });
        };
        Ok(Box::new(Secret { digit_bits: ship.digit_bits, shape, drawn: OnceLock::new() }))
    }
    fn raises_modulus(&self) -> bool {
        false
    }
    /// What the sine leaves; bits stand where the cosine is flat.
    fn largest_error(&self, params: &CkksParams, method: Method) -> Option<f64> {
        Some(match method {
            Method::Bits => 0.0,
            _ => error_of_sine(message_ratio(params)),
        })
    }
    fn few_slots(&self, params: &CkksParams) -> usize {
        few_slots(params)
    }
    fn secret_bits(&self, params: &CkksParams) -> Option<f64> {
        Some(ShipParams::of(params)?.support().meet_bits(params.n()))
    }
}

/// The sparse secret of one bootstrap key, and what only SHIP makes of it.
struct Secret {
    digit_bits: u32,
    shape: RotationShape,
    drawn: OnceLock<SignedSupport>,
}

impl OwnKeys for Secret {
    fn draw(&self, ctx: &Context, random: &mut ChaChaSource) -> Result<SecretKey, Error> {
        let (sparse, drawn) = SignedSupport::draw_key(ctx, self.shape.support, random)?;
        self.drawn.get_or_init(|| drawn);
        Ok(sparse)
    }
    fn key(
        &self,
        ctx: &Context,
        (role, spec): (KeyRole, &KeySwitchSpec),
        (sparse, main): (&SecretKey, &SecretKey),
        random: &mut ChaChaSource,
    ) -> Result<Option<SwitchingKey>, Error> {
        if role != KeyRole::DenseToSparse {
            return Ok(None);
        }
        Ok(Some(encapsulation::key(ctx, (spec.digits.len(), self.digit_bits), main, sparse, random)?))
    }
    fn packed(&self, ctx: &Arc<Context>, main: &SecretKey, random: Sources<'_>) -> Result<Option<PackedKeys>, Error> {
        let drawn = self.drawn.get().map(|drawn| generate(ctx, &self.shape, drawn, main, random));
        drawn.transpose()
    }
}
