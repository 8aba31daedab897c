//! Look-ups of one flexible key in one value after another: the forms of the key are made once.

use crate::code::Machine;
use crate::look::{forms_of, look_up_any, Found, Looked};
use crate::values::{class, Class};
use ptc_term::heap::{Heap, Kind, Lookup};
use ptc_term::suspend::{Exchange, Rooted};

/// Fuel for a look-up in a map whose keys are not those of the last map.
const FUEL: usize = 2;

/// A key, and where the last small map had it.
#[derive(Debug, Clone, PartialEq)]
pub struct Looker<T> {
    /// The key in all its forms, in the order in which they are tried.
    forms: Vec<T>,
    last: Last,
}

/// The keys of the last small map. They lie in one place for many maps, so it is found out once where the key is among them.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Last {
    /// Nothing is known.
    Unknown,
    /// Its keys are at this address.
    Keys(usize),
    /// Among them, the key is at this place, or missing.
    Place(usize, Option<usize>),
}

impl<T> Rooted for Looker<T> {
    type Term = T;
    type With<U> = Looker<U>;

    // Addresses mean nothing after a suspension.
    fn exchange<X: Exchange<T>>(self, by: &mut X) -> Result<Looker<X::Into>, X::Lost> {
        Ok(Looker {
            forms: by.all(self.forms)?,
            last: Last::Unknown,
        })
    }
}

impl<T: Copy> Looker<T> {
    /// Looks up a key of any kind.
    pub fn of<H: Heap<Term = T>>(m: &mut Machine<'_, H>, key: T) -> Self {
        let forms = match class(m, key) {
            Class::Keyword | Class::String | Class::Special | Class::Bool | Class::Nil => {
                forms_of(m, key)
            }
            _ => vec![key],
        };
        Looker {
            forms,
            last: Last::Unknown,
        }
    }

    /// Looks up the key in a value.
    #[inline]
    pub fn look<H: Heap<Term = T>>(&mut self, m: &mut Machine<'_, H>, value: T) -> Looked<H> {
        if let (Last::Place(address, place), Kind::Map) = (self.last, m.heap.kind(value)) {
            if let Some((keys, values)) = m.heap.flat(value) {
                if keys.as_ptr() as usize == address {
                    let value = place.and_then(|place| values.get(place));
                    return Ok(value.map_or(Found::Missing, |value| Found::Value(*value)));
                }
            }
        }
        self.look_slowly(m, value)
    }

    fn look_slowly<H: Heap<Term = T>>(&mut self, m: &mut Machine<'_, H>, value: T) -> Looked<H> {
        match class(m, value) {
            Class::Map => {}
            Class::List | Class::Nil => return look_up_any(m, value, self.forms[0]),
            _ => return Ok(Found::NoKeys),
        }
        m.consume_fuel(FUEL)?;
        let heap = &*m.heap;
        let found = self.forms.iter().find_map(|form| {
            match heap.lookup(value, *form, &mut H::KeyCache::default()) {
                Lookup::Found(value) => Some((*form, value)),
                _ => None,
            }
        });
        if let Some((keys, _)) = heap.flat(value) {
            let address = keys.as_ptr() as usize;
            self.last = match (self.last, found) {
                (Last::Keys(last), Some((form, _))) if last == address => {
                    let place = keys.iter().position(|key| heap.identical(*key, form));
                    place.map_or(Last::Unknown, |at| Last::Place(address, Some(at)))
                }
                (Last::Keys(last), None) if last == address => Last::Place(address, None),
                _ => Last::Keys(address),
            };
        }
        Ok(found.map_or(Found::Missing, |(_, value)| Found::Value(value)))
    }
}
