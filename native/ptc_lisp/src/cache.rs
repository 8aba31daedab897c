//! What is remembered of a key: in which forms it is looked up, and where the last map had it.

use ptc_term::heap::{Heap, Kind, Lookup};
use ptc_vm::program::ConstId;

/// The forms of a key, in the order in which they are looked up.
#[derive(Debug, Clone, PartialEq)]
pub struct KeyForms<T> {
    /// The forms.
    pub forms: Vec<T>,
    /// Where the keys of the last small map stand, and at which place the key is among them; `None` if it has none of the forms.
    pub last: Option<(usize, Option<usize>)>,
    /// The place among the keys of a small map at which the key was found last, and in which form.
    pub hit: Option<(usize, usize)>,
}

impl<T: Copy> KeyForms<T> {
    /// A key of which no place is known.
    pub fn of(forms: Vec<T>) -> Self {
        KeyForms {
            forms,
            last: None,
            hit: None,
        }
    }

    /// Returns what a map has at the key, if its keys are those of the last small map.
    #[inline]
    pub fn known<H: Heap<Term = T>>(&self, heap: &H, map: T) -> Option<Option<T>> {
        let (address, place) = self.last?;
        let (keys, values) = heap.flat(map)?;
        match (keys.as_ptr() as usize == address, place) {
            (false, _) => None,
            (true, None) => Some(None),
            (true, Some(place)) => values.get(place).map(|value| Some(*value)),
        }
    }

    /// Returns what a map has at the key, in the first of its forms that is there.
    pub fn find<H: Heap<Term = T>>(&mut self, heap: &H, map: T) -> Option<T> {
        let flat = heap.flat(map);
        if let (Some((keys, values)), Some((place, form))) = (flat, self.hit) {
            // Rows of one kind have their keys at the same places. Where all keys are strings, no form before the first string
            // can be there.
            let is_there = keys
                .get(place)
                .is_some_and(|it| heap.identical(*it, self.forms[form]));
            let is_string = |it: &T| heap.kind(*it) == Kind::String;
            let is_first_string = !self.forms[..form].iter().any(is_string);
            if is_there && (form == 0 || (is_first_string && keys.iter().all(is_string))) {
                self.last = Some((keys.as_ptr() as usize, Some(place)));
                return Some(values[place]);
            }
        }
        let found = self.forms.iter().enumerate().find_map(|(index, form)| {
            match heap.lookup(map, *form, &mut H::KeyCache::default()) {
                Lookup::Found(value) => Some((index, value)),
                _ => None,
            }
        });
        if let Some((keys, _)) = flat {
            let at = keys.as_ptr() as usize;
            match found {
                None => self.last = Some((at, None)),
                Some((index, _)) => {
                    let form = self.forms[index];
                    let place = keys.iter().position(|it| heap.identical(*it, form));
                    self.last = place.map(|place| (at, Some(place)));
                    self.hit = place.map(|place| (place, index));
                }
            }
        }
        found.map(|(_, value)| value)
    }
}

/// Number of maps whose keys are remembered to be texts.
pub const TEXTS: usize = 8;

/// What is remembered in one execution.
#[derive(Debug)]
pub struct Cache<T> {
    /// The keys of the program, by the constant that each is.
    keys: Vec<Option<KeyForms<T>>>,
    /// Where keys of small maps stand that are all texts.
    pub texts: [usize; TEXTS],
}

impl<T> Default for Cache<T> {
    fn default() -> Self {
        Cache {
            keys: Vec::new(),
            texts: [0; TEXTS],
        }
    }
}

impl<T> Cache<T> {
    /// Returns what is known of a key.
    #[inline]
    pub fn get(&mut self, key: ConstId) -> Option<&mut KeyForms<T>> {
        self.keys.get_mut(key as usize)?.as_mut()
    }

    /// Returns the forms of a key, to read them.
    #[inline]
    pub fn peek(&self, key: ConstId) -> Option<&KeyForms<T>> {
        self.keys.get(key as usize)?.as_ref()
    }

    /// Remembers a key.
    pub fn put(&mut self, key: ConstId, forms: KeyForms<T>) {
        let place = key as usize;
        if self.keys.len() <= place {
            self.keys.resize_with(place + 1, || None);
        }
        self.keys[place] = Some(forms);
    }
}
