//! Where words are: on this machine, on a card, or at both places. Each side makes its copy when it first wants one. Words that are
//! shared are only read, so that copies agree; whoever writes to words that nobody shares drops the copy of the card.

use crate::demand::stride;
use crate::pool::{Buffer, Fit, Pool};
use crate::Error;
use std::any::Any;
use std::collections::HashSet;
use std::sync::{Arc, OnceLock};

/// The limbs of a polynomial on a card, in their order; what is there is only read.
pub trait Remote: Any + Send + Sync {
    /// Copies limbs to rows of N words, the first limbs if there are fewer rows.
    ///
    /// # Errors
    /// [`Error::Device`] if the card fails.
    fn read(&self, rows: Vec<&mut [u64]>) -> Result<(), Error>;
    /// The same of several, with as few waits as their card allows: by default one after the other.
    ///
    /// # Errors
    /// As for [`Remote::read`].
    fn read_all(&self, of: Vec<(&dyn Remote, Vec<&mut [u64]>)>) -> Result<(), Error> {
        of.into_iter().try_for_each(|(x, rows)| x.read(rows))
    }
}

/// The words of polynomials that share them.
pub(crate) struct Words {
    limbs: usize,
    host: OnceLock<Buffer>,
    card: OnceLock<Arc<dyn Remote>>,
    /// Where this machine takes memory for a copy, for words that a card made.
    pool: Option<(Arc<Pool>, Fit)>,
}

impl Words {
    /// On this machine.
    pub(crate) fn of(buffer: Buffer, limbs: usize) -> Self {
        Self { limbs, host: buffer.into(), card: OnceLock::new(), pool: None }
    }
    /// On a card alone.
    pub(crate) fn remote(card: Arc<dyn Remote>, limbs: usize, pool: (Arc<Pool>, Fit)) -> Self {
        Self { limbs, host: OnceLock::new(), card: card.into(), pool: Some(pool) }
    }

    /// Limbs of all these words.
    pub(crate) fn limbs(&self) -> usize {
        self.limbs
    }
    /// What is on this machine. Operations that read it here have fetched it.
    pub(crate) fn here(&self) -> &Buffer {
        self.host.get().expect("an operation fetches what it reads")
    }
    /// The same, to write to: by one owner, who made it here. A card that has a copy loses it.
    pub(crate) fn here_mut(&mut self) -> &mut Buffer {
        self.card.take();
        self.host.get_mut().expect("only what was made on this machine is written to")
    }
    /// What is on this machine, if anything is.
    pub(crate) fn buffer(&self) -> Option<&Buffer> {
        self.host.get()
    }
    /// What a card has.
    pub(crate) fn card(&self) -> Option<&Arc<dyn Remote>> {
        self.card.get()
    }
    /// Keeps a copy on a card; of two that come at a time the first. Secrets have none.
    pub(crate) fn put(&self, card: Arc<dyn Remote>) {
        if !self.is_secret() {
            self.card.get_or_init(|| card);
        }
    }
    /// Whether they are wiped when dropped: then they are on this machine alone.
    pub(crate) fn is_secret(&self) -> bool {
        self.host.get().is_some_and(Buffer::is_secret)
    }

    /// Has them on this machine, each of limbs of so many words. Nobody waits here for a thread that makes a copy: of several, one is kept.
    pub(crate) fn fetch_all<'a>(of: impl IntoIterator<Item = (&'a Self, usize)>) -> Result<(), Error> {
        let (mut away, mut seen) = (Vec::<Away<'a>>::new(), HashSet::new());
        for (words, n) in of {
            let (None, Some(card), Some((pool, fit))) = (words.host.get(), words.card.get(), &words.pool) else {
                continue;
            };
            if seen.insert(std::ptr::from_ref(words)) {
                away.push(Away { words, card: &**card, n, room: pool.take(words.limbs * stride(n), *fit)? });
            }
        }
        let Some(card) = away.first().map(|x| x.card) else { return Ok(()) };
        card.read_all(away.iter_mut().map(Away::rows).collect())?;
        for Away { words, room, .. } in away {
            words.host.get_or_init(|| room);
        }
        Ok(())
    }
}

/// Words that a card alone has, and memory for them here.
struct Away<'a> {
    words: &'a Words,
    card: &'a dyn Remote,
    n: usize,
    room: Buffer,
}

impl<'a> Away<'a> {
    fn rows(&mut self) -> (&'a dyn Remote, Vec<&mut [u64]>) {
        let n = self.n;
        (self.card, self.room.chunks_exact_mut(stride(n)).map(|limb| &mut limb[..n]).collect())
    }
}

/// A place for what a card has of something that is no polynomial, such as packed keys: made at first use, kept as long as the thing.
#[derive(Default)]
pub struct Slot(OnceLock<Arc<dyn Any + Send + Sync>>);

impl Slot {
    /// What is there, if it is of this type.
    pub fn get<T: Any + Send + Sync>(&self) -> Option<Arc<T>> {
        self.0.get().and_then(|there| there.clone().downcast().ok())
    }
    /// Whether a card has something of it.
    pub fn is_there(&self) -> bool {
        self.0.get().is_some()
    }
    /// Keeps it; of two that come at a time the first.
    pub fn put<T: Any + Send + Sync>(&self, there: Arc<T>) {
        self.0.get_or_init(|| there);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::primes::ntt_primes;
    use crate::{Eval, Poly, Ring};
    use std::sync::atomic::{AtomicUsize, Ordering};

    const N: usize = 64;

    /// A card whose limbs have their number in every word, and that breaks after so many copies.
    struct Card {
        copies: AtomicUsize,
        most: usize,
    }

    impl Card {
        fn new(most: usize) -> Arc<Self> {
            Arc::new(Self { copies: AtomicUsize::new(0), most })
        }
    }

    impl Remote for Card {
        fn read(&self, rows: Vec<&mut [u64]>) -> Result<(), Error> {
            if self.copies.fetch_add(1, Ordering::Relaxed) >= self.most {
                return Err(Error::Device { reason: "it is gone".into() });
            }
            rows.into_iter().enumerate().for_each(|(i, row)| row.fill(i as u64 + 1));
            Ok(())
        }
    }

    fn ring() -> Ring {
        let primes: Vec<u64> = ntt_primes(40f64.exp2(), 6, &[], 1 << 50).take(3).collect();
        Ring::new(6, &primes, &[]).unwrap()
    }

    #[test]
    fn what_a_card_has_is_fetched_once_and_failures_are_errors() {
        let (ring, card) = (ring(), Card::new(1));
        let x: Poly<Eval> = ring.on_card(card.clone(), 3, 0);
        let part = x.prefix(2);
        assert!(x.buffer_words().is_none() && !x.is_secret());
        assert_eq!((part.whole().limbs(), part.limbs()), (3, 2));
        assert_eq!(part.host().unwrap().row(1), [2; N]);
        assert_eq!(x.host().unwrap().row(2), [3; N]);
        assert_eq!(card.copies.load(Ordering::Relaxed), 1, "parts share what was fetched");
        let lost: Poly<Eval> = ring.on_card(card, 3, 0);
        assert!(matches!(lost.host().map(|_| ()), Err(Error::Device { .. })));
        assert!(matches!(ring.forms(&[crate::Form::product(&lost, &x)], 3, 0), Err(Error::Device { .. })));
    }

    #[test]
    fn many_are_fetched_together_or_not_at_all() {
        let (ring, card) = (ring(), Card::new(2));
        let [x, y, z]: [Poly<Eval>; 3] = [3, 2, 1].map(|limbs| ring.on_card(card.clone(), limbs, 0));
        Poly::fetch_all([&x, &y, &x.prefix(1)]).unwrap();
        assert_eq!(card.copies.load(Ordering::Relaxed), 2, "one for each");
        assert!(x.limb(2) == [3; N] && y.limb(1) == [2; N]);
        let other = ring.on_card(Card::new(1), 3, 0);
        assert!(matches!(Poly::fetch_all([&other, &z, &x]), Err(Error::Device { .. })));
        assert!(other.buffer_words().is_none() && z.buffer_words().is_none());
        Poly::fetch_all(&[x, y]).unwrap();
    }

    #[test]
    fn whoever_writes_drops_the_copy_of_the_card_and_secrets_have_none() {
        let (ring, card) = (ring(), Card::new(9));
        let mut x: Poly<Eval> = ring.zero(3, 0).unwrap();
        x.put(card.clone());
        assert!(x.card().is_some());
        let y = ring.copy(&x, 3).unwrap();
        ring.add_assign(&mut x, &y).unwrap();
        assert!(x.card().is_none(), "it is out of date");
        x.put(card.clone());
        let x = x.secret();
        assert!(x.card().is_none());
        x.put(card.clone());
        assert!(x.card().is_none());
        let mut made: Poly<Eval> = ring.on_card(card, 3, 0);
        ring.neg_assign(&mut made).unwrap();
        assert!(made.card().is_none() && made.host().unwrap().row(0) == [ring.modulus(0).value() - 1; N]);
    }

    #[test]
    fn a_slot_keeps_the_first_of_its_type() {
        let slot = Slot::default();
        assert!(slot.get::<u64>().is_none());
        slot.put(Arc::new(7u64));
        slot.put(Arc::new(8u64));
        assert_eq!((slot.get::<u64>().as_deref(), slot.get::<i64>()), (Some(&7), None));
    }
}
