//! Plans of large tables, which take as long as some rotations: those of the last few tables are kept.

use super::Engine;
use aglet_bootstrap::fhew::functional::TreePlan;
use aglet_ring::blind::Gadget;
use aglet_schemes::fhew::TreeTable;
use std::sync::{Arc, Mutex, PoisonError};

/// Plans that are kept, of up to 8 MB each with four tables of 16 bits.
const KEPT: usize = 4;
/// Messages of a table whose plan is kept: one of fewer takes no time.
const LARGE: usize = 3;

/// What a plan depends on.
struct Key {
    tables: Vec<TreeTable>,
    split: bool,
    choices: Option<Gadget>,
}

/// The plans of an engine that were asked for last.
#[derive(Default)]
pub(super) struct Plans(Mutex<Vec<(Key, Arc<TreePlan>)>>);

impl Engine {
    /// [`TreePlan::of`] of these.
    pub(super) fn tree_plan(&self, tables: &[TreeTable], split: bool, choices: Option<Gadget>) -> Arc<TreePlan> {
        let made = || Arc::new(TreePlan::of(&self.ctx, tables, split, choices));
        if tables.first().is_none_or(|table| table.messages() < LARGE) {
            return made();
        }
        let same = |key: &Key| (&key.tables[..], key.split, key.choices) == (tables, split, choices);
        let kept = || self.plans.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, plan)) = kept().iter().find(|(key, _)| same(key)) {
            return plan.clone();
        }
        let (plan, tables) = (made(), tables.to_vec());
        let mut kept = kept();
        let first = kept.len().saturating_sub(KEPT - 1);
        kept.drain(..first);
        kept.push((Key { tables, split, choices }, plan.clone()));
        plan
    }
}
