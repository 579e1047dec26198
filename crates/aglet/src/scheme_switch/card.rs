//! Conversions to FHEW that a card has no room for are refused before anything goes up. The linear maps are on the card; the ring switch and
//! the samples that are extracted stay on this machine. The way back is compared where the bootstrap that it ends with is.

use super::to_fhew::Conversion;
use super::SchemeSwitch;
use crate::card_memory::{self, CardMemory, TO_FHEW};
use crate::ckks::card::key_bytes;
use crate::ckks::{cost, Ciphertext};
use crate::{Error, MemoryError, ParameterError};
use aglet_bootstrap::ckks::slots_first::lowering;
use aglet_bootstrap::{BootstrapCircuit, Bootstrapper, Pipeline};
use aglet_rlwe::KeySet;
use aglet_schemes::ckks::cost::CostEvaluator;

/// What a card has of a ciphertext: its limbs, and whether it goes to the lowest level.
pub(super) type Input = Option<(usize, bool)>;

impl SchemeSwitch {
    /// Refuses a conversion with these keys on the chain of the circuit that a card has no room for.
    pub(super) fn fits_to_fhew(
        &self,
        ct: &Ciphertext,
        (circuit, keys): (&BootstrapCircuit, &KeySet),
        conversion: Conversion,
    ) -> Result<(), Error> {
        let (slots, backend) = (&*self.slots, &**self.slots.ctx.ring().backend());
        // To ask a card takes little beside the maps.
        let Some(room) = backend.room()? else { return Ok(()) };
        let is_there = ct.polys.iter().any(|x| x.card().is_some());
        let input = is_there.then_some((ct.limbs(), slots.level(ct)? > 0));
        let memory = *self.kept.1.get((conversion, input), || self.to_fhew_memory(circuit, conversion, input))?;
        let needed = memory.bytes() as u64;
        if needed > room {
            return Err(MemoryError::CardSwitch { what: TO_FHEW, needed, keys: memory.keys as u64, room }.into());
        }
        let needs = circuit.needs()?.into_iter().take(circuit.raises_from().unwrap_or_default()).flatten();
        let keys_there = keys.met(needs.map(|need| need.place())).card_bytes_there();
        let maps = if self.kept.0.find(|kept| *kept == conversion).is_some() { memory.maps } else { 0 };
        let own = if is_there { 2 * 8 * slots.params().n() * ct.limbs() } else { 0 };
        let ctx = slots.context_of(&circuit.params)?;
        let rings = [Some(ctx.ring()), is_there.then_some(slots.ctx.ring())].into_iter().flatten();
        memory.beside(backend, &rings.map(|ring| &**ring).collect::<Vec<_>>(), (TO_FHEW, keys_there + maps + own))
    }

    /// What a card takes: the first stages of a bootstrap circuit, for a ciphertext that goes up with them or is there.
    fn to_fhew_memory(
        &self,
        circuit: &BootstrapCircuit,
        conversion: Conversion,
        input: Input,
    ) -> Result<CardMemory, Error> {
        let (params, chain) = (self.slots.params(), self.slots.params().chain_level(0));
        let layout = circuit.layout.as_ref().ok_or(ParameterError::RaisesNothing)?;
        let plan = lowering(layout, conversion.torus())?;
        let stages = plan.stages().len();
        let e = CostEvaluator::new(circuit.params.clone(), cost::key_shapes(circuit)?);
        let start = plan.input();
        let adjusts = input.is_some_and(|(_, adjusts)| adjusts);
        let _input = input.filter(|_| adjusts).map(|(limbs, _)| e.pair(limbs));
        if adjusts {
            let _sums = [(); 2].map(|()| e.poly_of_form(chain + 2, 0, 1, false));
            let _lowest = e.divide(chain + 2, 0, 1);
        }
        // The lowest level may have more limbs than the maps begin with.
        let _more = e.pair(chain.saturating_sub(start.level));
        let lowest = e.encrypt(start.level, start.scale);
        let pipeline = Pipeline::new(&e, plan)?;
        pipeline.run(&e, std::slice::from_ref(&lowest), &mut ())?;
        let maps = circuit.stage_bytes()?.into_iter().take(stages).sum();
        let needs = circuit.needs()?.into_iter().take(stages).flatten().collect::<Vec<_>>();
        let users = input.map(|_| params.rlwe());
        let tables = card_memory::tables([Some(&circuit.params), users].into_iter().flatten())?;
        Ok(CardMemory { keys: key_bytes(circuit, &needs)?, maps, tables, working: e.card_bytes() })
    }
}
