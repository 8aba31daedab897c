//! Makes small maps that share their keys.
//!
//! The NIF interface gives each map keys of its own, and sorts them each time. The VM itself shares the keys of
//! all maps that one expression makes: a map of three fields then takes 6 words instead of 10, and a third of
//! the time. So a small map is made here as a tuple of as many words, with the values at their place, and
//! becomes a map when its first two words are replaced. No other code has seen the tuple.
//!
//! The memory layout is that of [`words`](super::words). As there, [`look_before_use`] compares maps made in
//! this way with those of the interface, once, when the library is loaded. If they differ, none is
//! made here.

use super::words::{boxed, place_of, small_map, MAP, SMALL};
use super::{Raw, Terms};
use std::sync::atomic::{AtomicBool, Ordering};

static KNOWN: AtomicBool = AtomicBool::new(false);

/// The words of a small map before its values: its first word, its size and its keys.
const HEAD: usize = 3;
/// Number of templates that are kept: rows with maps inside have several sets of keys.
const KEPT: usize = 8;

/// Maps whose keys later maps can share.
pub struct Templates<'a>([Option<Template<'a>>; KEPT]);

#[derive(Clone, Copy)]
struct Template<'a> {
    map: Raw<'a>,
    /// For each key of the map in the map's own order: its index among the keys that the map was made of.
    order: [u8; SMALL],
}

impl<'a> Templates<'a> {
    pub fn none() -> Self {
        Templates([None; KEPT])
    }

    /// Makes a map that shares its keys with an earlier one; `None` if no template has the same keys, as
    /// words and in the same order.
    #[inline]
    pub fn make(&self, terms: Terms<'a>, keys: &[Raw<'a>], values: &[Raw<'a>]) -> Option<Raw<'a>> {
        let Template { map, order } = self.0[slot_of(keys)?].as_ref()?;
        let (own, _) = small_map(*map)?;
        if own.len() != keys.len() {
            return None;
        }
        let mut words = [keys_of(*map); HEAD - 1 + SMALL];
        for (at, key) in own.iter().enumerate() {
            let from = order[at] as usize;
            if keys.get(from)?.word() != key.word() {
                return None;
            }
            words[HEAD - 1 + at] = *values.get(from)?;
        }
        let tuple = terms.make_tuple(&words[..HEAD - 1 + own.len()]);
        let place = place_of(tuple) as *mut usize;
        // SAFETY: `look_before_use` has checked that the VM's tuples and small maps have this layout. The
        // tuple is new, so nobody else reads it, and it takes exactly the words of the map, whose keys
        // and values are already in place.
        unsafe {
            place.write(MAP.load(Ordering::Relaxed));
            place.add(1).write(own.len());
        }
        Some(tuple)
    }

    /// Keeps a small map that was made of these keys.
    pub fn keep(&mut self, map: Raw<'a>, keys: &[Raw<'a>]) {
        if KNOWN.load(Ordering::Relaxed) {
            if let Some(slot) = slot_of(keys) {
                self.0[slot] = Template::of(map, keys);
            }
        }
    }
}

impl<'a> Template<'a> {
    fn of(map: Raw<'a>, keys: &[Raw<'a>]) -> Option<Self> {
        let mut order = [0; SMALL];
        for (own, place) in small_map(map)?.0.iter().zip(&mut order) {
            let same = |key: &Raw<'a>| key.word() == own.word();
            *place = keys.iter().position(same)? as u8;
        }
        Some(Template { map, order })
    }
}

/// The slot of a template with these keys; `None` without keys.
#[inline]
fn slot_of(keys: &[Raw]) -> Option<usize> {
    let first = keys.first()?.identity();
    Some(((first >> 3) ^ keys.len()) % KEPT)
}

/// The keys of a small map, as the tuple that they are in memory.
#[inline]
fn keys_of<'a>(map: Raw<'a>) -> Raw<'a> {
    // SAFETY: a small map has its keys behind its first word and its size.
    unsafe { place_of(map).add(HEAD - 1).cast::<Raw<'a>>().read() }
}

/// Checks whether maps can be made here. `words` must be known.
pub fn look_before_use(terms: Terms) {
    let known = (1..HEAD + SMALL).all(|arity| tuple_is_as_expected(terms, arity));
    KNOWN.store(known, Ordering::Relaxed);
    let known = known && (1..=SMALL).all(|size| map_is_as_expected(terms, size) == Some(true));
    KNOWN.store(known, Ordering::Relaxed);
}

/// Whether a tuple is its arity above six bits, and its elements.
fn tuple_is_as_expected(terms: Terms, arity: usize) -> bool {
    let number = |value: usize| terms.make_integer(value as i64);
    let elements: Vec<_> = (0..arity).map(number).collect();
    let Some((place, first)) = boxed(terms.make_tuple(&elements)) else {
        return false;
    };
    // SAFETY: a tuple is its first word and its elements.
    let inside = unsafe { std::slice::from_raw_parts(place.add(1).cast::<Raw>(), arity) };
    let words = |terms: &[Raw]| -> Vec<_> { terms.iter().map(|term| term.identity()).collect() };
    first == arity << 6 && words(inside) == words(&elements)
}

/// Whether a map made here is the map that the interface makes.
fn map_is_as_expected<'a>(terms: Terms<'a>, size: usize) -> Option<bool> {
    let key = |number: usize| terms.make_binary(format!("key {number}").as_bytes());
    let keys: Vec<_> = (0..size).rev().map(key).collect();
    let number = |value: usize| terms.make_integer(value as i64);
    let values: Vec<_> = (1000..1000 + size).map(number).collect();
    let others: Vec<_> = keys.iter().copied().rev().collect();
    let mut templates = Templates::none();
    templates.keep(terms.make_map(&keys, &values)?, &keys);
    let made = templates.make(terms, &keys, &others)?;
    let plain = terms.make_map(&keys, &others)?;
    let entries = |map| -> Vec<_> {
        let words = |(key, value): (Raw, Raw)| (key.word(), value.word());
        terms.entries(map).into_iter().map(words).collect()
    };
    let text = |map: Raw<'a>| map.term(terms.env).to_binary().as_slice().to_vec();
    Some(
        terms.identical(made, plain)
            && terms.hash(made, 0) == terms.hash(plain, 0)
            && entries(made) == entries(plain)
            && text(made) == text(plain),
    )
}
