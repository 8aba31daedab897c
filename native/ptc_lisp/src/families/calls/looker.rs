//! Look-ups of one flexible key in one value after another: the forms of the key are made once.

use crate::cache::KeyForms;
use crate::code::Machine;
use crate::look::{forms_of, look_up_any, Found, Looked};
use crate::values::{class, Class};
use ptc_term::heap::{Heap, Kind};
use ptc_term::suspend::{Exchange, Rooted};

/// Fuel for a look-up in a map whose keys are not those of the last map.
const FUEL: usize = 2;

/// A key that is looked up.
#[derive(Debug, Clone, PartialEq)]
pub struct Looker<T>(KeyForms<T>);

impl<T> Rooted for Looker<T> {
    type Term = T;
    type With<U> = Looker<U>;

    // The address of the last keys means nothing after a suspension.
    fn exchange<X: Exchange<T>>(self, by: &mut X) -> Result<Looker<X::Into>, X::Lost> {
        let Looker(KeyForms { forms, hit, .. }) = self;
        Ok(Looker(KeyForms {
            forms: by.all(forms)?,
            last: None,
            hit,
        }))
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
        Looker(KeyForms::of(forms))
    }

    /// Returns what a map has at the key, or nil, if its keys are those of the last map.
    #[inline]
    pub fn known<H: Heap<Term = T>>(&self, heap: &H, map: T) -> Option<T> {
        let found = self.0.known(heap, map)?;
        Some(found.unwrap_or(heap.nil()))
    }

    /// Looks up the key in a value.
    #[inline]
    pub fn look<H: Heap<Term = T>>(&mut self, m: &mut Machine<'_, H>, value: T) -> Looked<H> {
        if m.heap.kind(value) == Kind::Map {
            if let Some(found) = self.0.known(&*m.heap, value) {
                return Ok(found.map_or(Found::Missing, Found::Value));
            }
        }
        match class(m, value) {
            Class::Map => {
                m.consume_fuel(FUEL)?;
                let found = self.0.find(&*m.heap, value);
                Ok(found.map_or(Found::Missing, Found::Value))
            }
            Class::List | Class::Nil => look_up_any(m, value, self.0.forms[0]),
            _ => Ok(Found::NoKeys),
        }
    }
}
