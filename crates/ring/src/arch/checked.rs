//! The kernels as the rest of the ring calls them: what they rely on is checked, then they are called.

use super::*;

impl Kernels {
    pub(crate) fn ntt_forward(&self, t: &NttConstants, data: &mut [u64]) {
        assert!(self.shaped(t.shaper()) && data.len() == t.n());
        Tally::forward(data.len() as u64).count();
        // SAFETY: the constants were shaped for these very kernels; the length is checked.
        unsafe { (self.ntt_forward)(t, data) }
    }
    /// Inverse transform of `src`, or of `dst` itself.
    pub(crate) fn ntt_inverse(&self, t: &NttConstants, src: Option<&[u64]>, dst: &mut [u64], scale: u64) {
        assert!(self.shaped(t.shaper()) && dst.len() == t.n() && src.is_none_or(|s| s.len() == t.n()));
        Tally::inverse(dst.len() as u64).count();
        let from = src.map_or(dst.as_ptr(), <[u64]>::as_ptr);
        // SAFETY: the constants were shaped for these very kernels; the lengths are checked, and a source that is
        // not `dst` itself does not overlap it.
        unsafe { (self.ntt_inverse)(t, from, dst, scale) }
    }
    /// Evaluates a [`FormRow`].
    pub(crate) fn form(&self, m: &Modulus, form: &FormRow<'_>, out: &mut [u64]) {
        let n = out.len();
        assert!(n.is_multiple_of(8) && self.serves(m));
        assert!(form.products.iter().all(|p| p.0.len() == n && p.1.len() == n));
        assert!(form.terms.iter().all(|t| t.0.len() == n));
        let (products, terms) = (form.products.len() as u64, form.terms.len() as u64);
        Tally::form(n as u64, products, terms, form.factor.is_some()).count();
        // SAFETY: the lengths are checked, the CPU by the existence of `self`.
        unsafe { (self.form)(m, form, out) }
    }
    /// `x = (y - x) w` over one limb, canonical.
    pub(crate) fn rsub_mul(&self, m: &Modulus, x: &mut [u64], y: &[u64], w: u64) {
        assert!(x.len().is_multiple_of(8) && x.len() == y.len() && self.serves(m));
        Tally::rsub_mul(x.len() as u64).count();
        // SAFETY: the lengths are checked, the CPU by the existence of `self`.
        unsafe { (self.rsub_mul)(m, x, y, w) }
    }
    /// Shapes canonical constants for [`DiagonalRow`], in place.
    pub(crate) fn prepare_constants(&self, m: &Modulus, constants: &mut [u64]) {
        assert!(self.serves(m));
        if !constants.len().is_multiple_of(8) {
            return self.shaper.prepare_constants(m, constants);
        }
        // SAFETY: the length is checked, the CPU by the existence of `self`.
        unsafe { (self.prepare_constants)(m, constants) }
    }
    /// First half of a base conversion: the rows take working form, `v` gets the multiples of Q.
    pub(crate) fn balance(&self, c: &ConverterConstants, rows: &mut [&mut [u64]], v: &mut [u64]) {
        let n = v.len();
        assert!(self.shaped(c.shaper()) && n.is_multiple_of(8));
        assert!(rows.len() == c.sources().len() && rows.iter().all(|r| r.len() == n));
        // SAFETY: the lengths are checked, the CPU by the existence of `self`.
        unsafe { (self.balance)(c, rows, v) }
    }
    /// Second half, to the targets from `first` on; `rows` as [`Kernels::balance`] left them, then `v`.
    pub(crate) fn convert(&self, c: &ConverterConstants, first: usize, rows: &[&[u64]], dst: &mut [&mut [u64]]) {
        let n = rows[0].len();
        assert!(self.shaped(c.shaper()) && n.is_multiple_of(8) && rows.len() == c.sources().len() + 1);
        assert!(!dst.is_empty() && first + dst.len() <= c.targets().len());
        assert!(rows.iter().all(|r| r.len() == n) && dst.iter().all(|r| r.len() == n));
        // SAFETY: the lengths are checked, the CPU by the existence of `self`.
        unsafe { (self.convert)(c, first, rows, dst) }
    }
    /// For every input `out = sum_d phi(digit_d) (b_d, a_d) + (phi(added_before), 0) + added_after` over one limb, canonical. The key is
    /// read once.
    pub(crate) fn key_product(&self, m: &Modulus, inputs: &[ProductRow<'_>], key: &KeyRow<'_>, out: &mut [Halves<'_>]) {
        let (n, digits) = (out[0].0.len(), inputs[0].digits.len());
        assert!(inputs.len() == out.len() && halves_of(out, n) && self.serves(m));
        assert!(inputs.iter().all(|x| x.digits.len() == digits && x.has_length(n)));
        self.check_key(key, digits, n);
        let added: u64 = inputs.iter().map(ProductRow::addends).sum();
        let shared = Tally::key_product(n as u64, digits as u64, 0).sharing_keys(inputs.len() as u64);
        (shared + Tally { ciphertext_read: n as u64 * added, ..Tally::NONE }).count();
        // SAFETY: the lengths are checked, the CPU by the existence of `self`.
        unsafe { (self.key_product)(m, inputs, key, out) }
    }
    /// One limb of all inner sums of a linear map, see [`LinearMapRow`]: outputs by giant step, then by input. Keys and
    /// diagonals are read once.
    pub(crate) fn linear_map(&self, m: &Modulus, row: &LinearMapRow<'_>, out: &mut [Halves<'_>]) {
        let (n, digits) = (row.inputs[0].digits[0].len(), row.inputs[0].digits.len());
        assert!(n.is_multiple_of(8) && n.is_power_of_two() && self.serves(m));
        for input in row.inputs {
            assert!(input.digits.len() == digits && input.digits.iter().all(|d| d.len() == n));
            assert!(input.lifted.is_none_or(|(x, y)| x.len() == n && y.len() == n));
        }
        row.babies.iter().flatten().for_each(|key| self.check_key(key, digits, n));
        let mut bits = row.babies.iter().flatten().map(|key| key.bits);
        assert!(bits.next().is_none_or(|first| bits.all(|bits| bits == first)));
        let giants = out.len() / row.inputs.len();
        assert!(giants * row.inputs.len() == out.len() && halves_of(out, n));
        assert!(!row.babies.is_empty() && row.diagonals.len() == giants * row.babies.len());
        let mut diagonals = row.diagonals.iter().flatten();
        assert!(diagonals.all(|d| d.constants.len().is_power_of_two() && d.constants.len() <= n));
        row.tally(n as u64).count();
        // SAFETY: the lengths are checked, the CPU by the existence of `self`.
        unsafe { (self.linear_map)(m, row, out) }
    }
    /// For every input `out = sum_i (sum_d phi_i(digit_d) (b_id, a_id) + (phi_i(added_before), 0))` over one limb, canonical. Keys are read
    /// once; nothing is added after.
    pub(crate) fn rotated_sum(
        &self,
        m: &Modulus,
        inputs: &[ProductRow<'_>],
        keys: &[KeyRow<'_>],
        out: &mut [Halves<'_>],
    ) {
        let (n, digits) = (out[0].0.len(), inputs[0].digits.len());
        assert!(inputs.len() == out.len() && halves_of(out, n) && self.serves(m));
        assert!(inputs.iter().all(|x| x.digits.len() == digits && x.has_length(n) && x.added_after.is_none()));
        assert!(digits > 0 && !keys.is_empty() && keys.iter().all(|key| key.bits == keys[0].bits));
        keys.iter().for_each(|key| self.check_key(key, digits, n));
        let added: u64 = inputs.iter().map(ProductRow::addends).sum();
        let shared = Tally::rotated_sum(n as u64, digits as u64, keys.len() as u64).sharing_keys(inputs.len() as u64);
        (shared + Tally { ciphertext_read: n as u64 * added, ..Tally::NONE }).count();
        // SAFETY: the lengths are checked, the CPU by the existence of `self`.
        unsafe { (self.rotated_sum)(m, inputs, keys, out) }
    }
    /// Sums of rotated products with a packed stream, see [`StreamRow`]: two rows of `out` for each sum. The stream is read once.
    pub(crate) fn stream_sum(&self, m: &Modulus, row: &StreamRow<'_>, out: &mut [&mut [u64]]) {
        let (n, sums) = (out[0].len(), row.inputs.len() / row.each);
        assert!(
            row.inputs.len() == sums * row.each && row.inputs.iter().all(|r| r.len() == n) && out.len() == 2 * sums
        );
        assert!(row.rotations.iter().all(|g| g.n() == n && g.width() == self.width()));
        self.check_stream(m, (row.bits, row.words, row.bytes(n)), out);
        row.tally(n as u64).count();
        // SAFETY: the lengths are checked, the CPU by the existence of `self`.
        unsafe { (self.stream_sum)(m, row, out) }
    }
    /// Products of pairs with a packed stream, see [`PairRow`]: two rows of `out` for each pair. The stream is read once.
    pub(crate) fn stream_pairs(&self, m: &Modulus, row: &PairRow<'_>, out: &mut [&mut [u64]]) {
        let n = out[0].len();
        assert!(row.inputs.len() == n * row.samples * out.len() && out.len().is_multiple_of(2));
        self.check_stream(m, (row.bits, row.words, row.bytes(n)), out);
        row.tally(n as u64, out.len() as u64).count();
        // SAFETY: the lengths are checked, the CPU by the existence of `self`.
        unsafe { (self.stream_pairs)(m, row, out) }
    }
    /// Whether a stream of words of so many bits has so many bytes for rows of one length.
    fn check_stream(&self, m: &Modulus, (bits, words, bytes): (usize, &[u8], usize), out: &[&mut [u64]]) {
        assert!(self.serves(m) && WIDTHS.contains(&bits) && m.bits() as usize <= bits);
        assert!(out[0].len().is_multiple_of(8) && out.iter().all(|row| row.len() == out[0].len()));
        assert!(words.len() >= bytes + SPARE_BYTES);
    }
    pub(crate) fn pack_constant(&self, m: &Modulus, c: u64) -> u64 {
        (self.shaper.pack_constant)(m, c)
    }
    /// Canonical coefficients to canonical values, in the order of the table.
    pub(crate) fn small_forward(&self, t: &SmallConstants, data: &mut [u64]) {
        assert!(self.shaped(t.shaper()) && data.len() == t.n());
        Tally::forward(data.len() as u64).count();
        // SAFETY: the constants were shaped for these very kernels; the length is checked.
        unsafe { (self.small_forward)(t, data) }
    }
    /// Adds the coefficients of canonical values to `sum`, canonical; `values` are overwritten.
    pub(crate) fn small_inverse_add(&self, t: &SmallConstants, values: &mut [u64], sum: &mut [u64]) {
        assert!(self.shaped(t.shaper()) && values.len() == t.n() && sum.len() == t.n());
        Tally::inverse(sum.len() as u64).count();
        // SAFETY: the constants were shaped for these very kernels; the lengths are checked.
        unsafe { (self.small_inverse_add)(t, values, sum) }
    }
    /// A block of a blind rotation or an external product, see [`BlindRow`], for up to [`Kernels::share`] inputs; each `acc` is canonical, scratch
    /// has a row for each digit and column of each.
    pub(crate) fn blind_block(
        &self,
        t: &SmallConstants,
        row: &BlindRow<'_>,
        inputs: &mut [BlindInput<'_>],
        scratch: &mut [u64],
    ) {
        let (n, rows) = (t.n(), row.planes.len());
        assert!(self.shaped(t.shaper()) && (1..=4).contains(&row.columns));
        assert!((1..=self.share).contains(&inputs.len()) && scratch.len() == inputs.len() * row.scratch_words());
        assert!(row.stride == self.row_words(n));
        let external = inputs[0].exponents.is_empty();
        assert!(if external { (1..=row.columns).contains(&rows) && row.keys == 1 } else { rows == row.columns });
        for input in inputs.iter() {
            assert!(input.acc.len() == row.columns * n);
            assert!(input.exponents.len() == if external { 0 } else { row.keys });
            assert!(input.exponents.iter().all(|&e| usize::from(e) < 2 * n));
            row.tally(input.exponents, n as u64).count();
        }
        assert!(row.products() <= generic::blind::MOST_PRODUCTS && row.levels > 0);
        assert!(row.bytes == 8 || row.bytes == if t.modulus().bits() <= SHORT_BITS { 5 } else { 6 });
        assert!(row.planes.iter().all(|p| p.len() >= row.plane_bytes(n) + SPARE_BYTES));
        assert!(row.bytes < 8 || row.planes.iter().all(|p| p.as_ptr().align_offset(8) == 0));
        // SAFETY: the constants were shaped for these very kernels; the lengths are checked.
        unsafe { (self.blind_block)(t, row, inputs, scratch) }
    }
    /// The samples of a block as those of one key, see `merge_keys` of `generic/blind.rs`.
    pub(crate) fn merge_keys(&self, t: &SmallConstants, row: &BlindRow<'_>, exponents: &[u16], out: &mut [u64]) {
        let n = t.n();
        assert!(self.shaped(t.shaper()) && (1..=4).contains(&row.columns) && row.planes.len() == row.columns);
        assert!((1..=generic::blind::MOST_PRODUCTS).contains(&row.keys) && exponents.len() == row.keys);
        assert!(row.levels > 0 && [5, 6].contains(&row.bytes) && out.len() == row.merged_words(n));
        assert!(exponents.iter().all(|&e| usize::from(e) < 2 * n));
        assert!(row.planes.iter().all(|p| p.len() >= row.plane_bytes(n) + SPARE_BYTES));
        let key = (row.keys * row.merged_words(n)) as u64;
        (Tally { key, key_read: key, ..Tally::NONE }).count();
        // SAFETY: the constants were shaped for these very kernels; the lengths are checked.
        unsafe { (self.merge_keys)(t, row, exponents, out) }
    }
    /// Words from one row of scratch of a block to the next.
    pub(crate) fn row_words(&self, n: usize) -> usize {
        generic::blind::row_words(self.share, n)
    }
    /// Accumulators that share each vector of a key.
    pub(crate) fn share(&self) -> usize {
        self.share
    }
    /// Whether packed keys of five bytes hold balanced residues, see `Lanes::PACKS_BALANCED`.
    pub(crate) fn packs_balanced(&self) -> bool {
        self.packs_balanced
    }
    /// Sums of products of transformed rows with a packed key, see [`ProductSum`].
    pub(crate) fn product_sum(&self, t: &SmallConstants, row: &ProductSum<'_>, out: &mut [u64]) {
        let n = t.n();
        assert!(self.shaped(t.shaper()) && row.columns >= 4 && out.len() == row.columns * n);
        assert!(row.rows.len().is_multiple_of(n) && [5, 6].contains(&row.bytes));
        assert!(row.key.len() >= row.rows.len() * row.columns * row.bytes + SPARE_BYTES);
        row.tally().count();
        // SAFETY: the constants were shaped for these very kernels; the lengths are checked.
        unsafe { (self.product_sum)(t, row, out) }
    }
    /// `(x, y) = (x + y, x - y)`.
    pub(crate) fn sum_difference(&self, m: &Modulus, x: &mut [u64], y: &mut [u64]) {
        assert!(x.len() == y.len() && x.len().is_multiple_of(8));
        Tally::form(2 * x.len() as u64, 0, 2, false).count();
        // SAFETY: the lengths are checked.
        unsafe { (self.sum_difference)(m, x, y) }
    }
    /// Sums of the same words with small weights, see [`SmallSums`].
    pub(crate) fn small_sums(&self, m: &Modulus, row: &SmallSums<'_>, out: &mut [u64]) {
        assert!(m.value() < 1 << 48 && row.terms > 0 && row.words.len().is_multiple_of(row.terms));
        assert!(row.n().is_multiple_of(2 * SIDE) && row.weights.len().is_multiple_of(SUMS * row.terms));
        assert!(out.len() == row.weights.len() / row.terms * row.n());
        assert!(row.weights.iter().all(|&w| usize::from(w) < WEIGHTS));
        row.tally().count();
        // SAFETY: the lengths, weights and the modulus are checked.
        unsafe { (self.small_sums)(m, row, out) }
    }
    /// Whether constants are for these kernels.
    fn shaped(&self, shaper: &Shaper) -> bool {
        core::ptr::eq(&self.shaper, shaper)
    }
    fn check_key(&self, key: &KeyRow<'_>, digits: usize, n: usize) {
        assert!(n.is_multiple_of(8) && key.b.len() >= digits && key.a.len() >= digits);
        assert!(KEY_WIDTHS.contains(&key.bits));
        let fits =
            |r: &&[u8]| r.len() >= key_row_bytes(n, key.bits) && (key.bits < 64 || r.as_ptr().addr().is_multiple_of(8));
        assert!(key.b.iter().chain(key.a).all(fits));
        assert!(key.permutation.is_none_or(|g| g.n() == n && g.width() == self.width()));
    }
}

/// Whether all outputs have this length.
fn halves_of(out: &[Halves<'_>], n: usize) -> bool {
    out.iter().all(|(b, a)| b.len() == n && a.len() == n)
}
