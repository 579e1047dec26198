//! Bootstraps of LWE ciphertexts: what surrounds a blind rotation is done on the card too, so that words go there and back once.

use crate::blind::BlindKey;
use crate::key_switch::{KeySwitch, GROUP};
use crate::launcher::Block;
use crate::Error;
use aglet_ring::{BlockRotation, LweBatch, LweResults};

/// Columns that a block takes, as `SIDE_BY_SIDE` of the kernels.
const SIDE_BY_SIDE: usize = 4;
const THREADS: usize = GROUP * SIDE_BY_SIDE;

impl BlindKey {
    /// Exponents of the masks and of the bodies of ciphertexts, there.
    fn switched(&self, switch: &KeySwitch, batch: &LweBatch<'_>) -> Result<[Block; 2], Error> {
        let (card, count, q) = (self.card(), batch.inputs.len(), self.modulus().value());
        let KeySwitch { coordinates, dimension, digits, columns, .. } = *switch;
        assert!(
            batch.inputs.iter().all(|ct| ct.len() == coordinates + 1),
            "a ciphertext has all coordinates and a body"
        );
        let inputs = card.upload(&batch.inputs.concat())?;
        let there = card.allocate(count * (dimension + 1))?;
        let mut parameters = vec![inputs.address(0), switch.key.address(0), there.address(0), q];
        parameters.extend([coordinates, dimension, digits as usize, columns].map(|x| x as u64));
        let shape = (THREADS as u32, 2 * 8 * GROUP as u32);
        card.launch("lwe_switch", [count as u32, columns.div_ceil(SIDE_BY_SIDE) as u32, 1], shape, &parameters)?;
        let two_n = 2 * self.n();
        let exponents = card.allocate(count * dimension * if switch.signed { 2 } else { 1 })?;
        let bodies = card.allocate(count)?;
        let mut parameters = vec![there.address(0), exponents.address(0), bodies.address(0)];
        let steps = two_n >> batch.log_tables;
        parameters.extend([q as f64, steps as f64, switch.mean].map(f64::to_bits));
        parameters.extend([dimension as u64, batch.log_tables.into(), two_n as u64, switch.signed.into()]);
        card.launch("lwe_exponents", [count as u32, 1, 1], (THREADS as u32, 8 * dimension as u32), &parameters)?;
        Ok([exponents, bodies])
    }

    /// Accumulators of the starts, there: as many for each input.
    fn started(&self, starts: &[&[u64]], bodies: &Block, count: usize) -> Result<Block, Error> {
        let (n, columns, own) = (self.n(), self.columns(), starts.len() > 1);
        let each = starts.len().div_ceil(count);
        assert!(starts.iter().all(|start| start.len() == columns * n), "a start has N words for each column");
        assert!(!own || starts.len() == each * count, "there is one start, or as many for each ciphertext");
        let from = self.card().upload(&starts.concat())?;
        let there = self.card().allocate(count * each * columns * n)?;
        let mut parameters = vec![from.address(0), bodies.address(0), there.address(0), self.modulus().value()];
        parameters.extend([n, columns, each, usize::from(own)].map(|x| x as u64));
        let grid = [(count * each) as u32, (columns * n / THREADS) as u32, 1];
        self.card().launch("lwe_start", grid, (THREADS as u32, 0), &parameters)?;
        Ok(there)
    }

    /// Coefficients of so many accumulators as ciphertexts, there, and the words of each.
    fn extracted(&self, accumulators: &Block, count: usize, places: &[usize]) -> Result<(Block, usize), Error> {
        let (n, columns, all) = (self.n(), self.columns(), count * places.len());
        assert!(places.iter().all(|&place| place < n), "a result has the coefficient");
        let length = (columns - 1) * n + 1;
        if all == 0 {
            return Ok((self.card().allocate(0)?, length));
        }
        let list = self.card().upload(&places.iter().map(|&place| place as u64).collect::<Vec<_>>())?;
        let there = self.card().allocate(all * length)?;
        let mut parameters = vec![accumulators.address(0), list.address(0), there.address(0), self.modulus().value()];
        parameters.extend([n, columns, places.len()].map(|x| x as u64));
        let grid = [all as u32, (columns * n / THREADS) as u32, 1];
        self.card().launch("lwe_extract", grid, (THREADS as u32, 0), &parameters)?;
        Ok((there, length))
    }

    fn bootstrapped(&self, batch: &LweBatch<'_>) -> Result<LweResults, Error> {
        let (count, Some(switch)) = (batch.inputs.len(), self.switch()) else {
            return Err(Error::Kernel { kernel: "lwe_switch".into(), what: "its key is not there".into() });
        };
        if count == 0 || batch.starts.is_empty() {
            return Ok(LweResults::default());
        }
        let [exponents, bodies] = self.switched(switch, batch)?;
        let each = batch.starts.len().div_ceil(count);
        let there = self.started(batch.starts, &bodies, count)?;
        self.turn(&there, &exponents, (count * each, each))?;
        let (extracted, length) = match batch.coefficients {
            Some(places) => self.extracted(&there, count * each, places).map(|(made, length)| (Some(made), length))?,
            None => (None, self.columns() * self.n()),
        };
        let results = extracted.as_ref().unwrap_or(&there);
        let [mut words, mut masks, mut bodies_here] =
            [results, &exponents, &bodies].map(|block| vec![0; block.bytes() as usize / 8]);
        let rows = [results.row(0, &mut words), exponents.row(0, &mut masks), bodies.row(0, &mut bodies_here)];
        self.card().read(rows.into())?;
        // A coordinate has one exponent, or two of which the first is its own.
        let step = if switch.signed { 2 } else { 1 };
        let own = |mask: &[u64]| mask.iter().step_by(step).map(|&e| e as u16).collect();
        let masks = masks.chunks_exact(switch.dimension * step).map(own);
        let exponents = masks.zip(bodies_here.into_iter().map(|e| e as u16)).collect();
        Ok(LweResults { exponents, words: words.chunks_exact(length).map(<[u64]>::to_vec).collect() })
    }
}

impl BlockRotation for BlindKey {
    fn bootstrap(&self, batch: &LweBatch<'_>) -> Result<LweResults, aglet_ring::Error> {
        Ok(self.bootstrapped(batch)?)
    }
}
