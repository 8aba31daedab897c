//! Constants used as keys: the cache of each one, and look-ups of them in maps.

use super::kinds::loaded;
use super::machine::{Atom, Eval, Key, Machine, MOST_CACHED};
use crate::fault::{Code, Halt, Name};
use crate::program::ConstId;
use ptc_term::heap::{Heap, Inside, Kind, Lookup};
use ptc_term::number::Number;
use ptc_term::value::Form;

/// The weight of a key that is not counted.
const LIGHT: u32 = 1;
/// Maximum cost of a key whose weight is [`LIGHT`].
const MOST_OF_LIGHT: usize = 4;
/// Fuel for a look-up of a short key that has no cache.
const UNCACHED: usize = 8;

/// A key and its value.
type Entry<H> = (<H as Heap>::Term, <H as Heap>::Term);

/// Maximum number of existing names that an error lists.
const NAMES_SHOWN: usize = 12;
/// Longer names are not listed in an error.
const LONGEST_NAME: usize = 256;
/// Fuel for each entry whose key may be listed.
const FUEL_PER_NAME: usize = 4;

impl<H: Heap> Machine<'_, H> {
    /// Returns the value at a constant key.
    #[inline]
    pub fn lookup(&mut self, map: H::Term, key: ConstId) -> Result<Lookup<H::Term>, Halt<H::Term>> {
        let found = match self.quick_lookup(map, key) {
            Some(value) => Lookup::Found(value),
            None => self.slow_lookup(map, key)?,
        };
        match found {
            Lookup::Found(value) if self.values => Ok(Lookup::Found(loaded(self.heap, value))),
            found => Ok(found),
        }
    }

    /// Returns the value at a constant key if the map has the same keys as the map of the last
    /// look-up and the key is one of them. If it returns `None`, use [`Machine::lookup`].
    #[inline(always)]
    pub fn quick_lookup(&self, map: H::Term, key: ConstId) -> Option<H::Term> {
        let key = self.keys.get(key as usize)?;
        self.heap.quick_lookup(map, &key.cache)
    }

    #[inline(never)]
    fn slow_lookup(
        &mut self,
        map: H::Term,
        key: ConstId,
    ) -> Result<Lookup<H::Term>, Halt<H::Term>> {
        let index = key as usize;
        if self.keys.get(index).is_none_or(|key| key.weight != LIGHT) {
            self.count_lookup(map, key)?;
        }
        match self.lookup_name(map, index) {
            Lookup::Missing if self.values => Ok(self.lookup_field(map, index)),
            Lookup::Missing if self.any_keys => Ok(self.lookup_atom(map, index)),
            found => Ok(found),
        }
    }

    /// Looks up the constant key itself.
    #[inline]
    fn lookup_name(&mut self, map: H::Term, index: usize) -> Lookup<H::Term> {
        let mut none = Key::default();
        let Key { cache, .. } = self.keys.get_mut(index).unwrap_or(&mut none);
        self.heap.lookup(map, self.consts[index], cache)
    }

    /// Looks up the atom that has the constant key's name where structs are maps of their fields.
    #[inline(never)]
    fn lookup_field(&mut self, map: H::Term, index: usize) -> Lookup<H::Term> {
        match self.heap.form(map) {
            Form::Value => Lookup::NotAMap,
            Form::Plain if !self.any_keys => Lookup::Missing,
            Form::Plain => self.lookup_atom(map, index),
            Form::Struct | Form::Unloaded => match self.lookup_atom(map, index) {
                Lookup::Found(_) if matches!(self.atoms.get(index), Some(Atom::Hidden(..))) => {
                    Lookup::Missing
                }
                // A constant without a cache.
                Lookup::Found(_) if index >= self.atoms.len() && self.is_hidden_name(index) => {
                    Lookup::Missing
                }
                found => found,
            },
        }
    }

    #[cold]
    fn is_hidden_name(&self, index: usize) -> bool {
        let atom = self.heap.atom_named(self.consts[index]);
        atom.is_some_and(|atom| self.heap.is_hidden(atom))
    }

    /// Returns the key that a map has for a value: the value itself, or the atom of the same name if
    /// atoms are keys. Counts nothing.
    pub fn key_in(&self, map: H::Term, value: H::Term) -> Option<H::Term> {
        let mut cache = H::KeyCache::default();
        let form = self.form_of(map);
        if form == Form::Value {
            return None;
        }
        if let Lookup::Found(_) = self.heap.lookup(map, value, &mut cache) {
            return Some(value).filter(|key| form == Form::Plain || !self.heap.is_hidden(*key));
        }
        self.atom_in(map, value, form)
    }

    /// Returns the other key that a map has for a string: an atom of the same name beside the string. Counts nothing.
    pub fn second_key_in(&self, map: H::Term, value: H::Term) -> Option<H::Term> {
        match self.any_keys {
            true => self.atom_in(map, value, self.form_of(map)),
            false => None,
        }
    }

    fn form_of(&self, map: H::Term) -> Form {
        match self.values {
            true => self.heap.form(map),
            false => Form::Plain,
        }
    }

    fn atom_in(&self, map: H::Term, value: H::Term, form: Form) -> Option<H::Term> {
        if !self.any_keys && form == Form::Plain || self.heap.kind(value) != Kind::String {
            return None;
        }
        let atom = self.heap.atom_named(value)?;
        if form != Form::Plain && self.heap.is_hidden(atom) {
            return None;
        }
        let mut cache = H::KeyCache::default();
        match self.heap.lookup(map, atom, &mut cache) {
            Lookup::Found(_) => Some(atom),
            _ => None,
        }
    }

    /// Looks up the atom that has the constant key's name.
    #[inline(never)]
    fn lookup_atom(&mut self, map: H::Term, index: usize) -> Lookup<H::Term> {
        let mut none = Atom::NotAsked;
        let atom = self.atoms.get_mut(index).unwrap_or(&mut none);
        if let Atom::NotAsked = atom {
            *atom = match self.heap.atom_named(self.consts[index]) {
                Some(atom) if self.values && self.heap.is_hidden(atom) => {
                    Atom::Hidden(atom, H::KeyCache::default())
                }
                Some(atom) => Atom::Known(atom, H::KeyCache::default()),
                None => Atom::None,
            };
        }
        match atom {
            Atom::Known(atom, cache) | Atom::Hidden(atom, cache) => {
                self.heap.lookup_atom(map, *atom, cache)
            }
            Atom::NotAsked | Atom::None => Lookup::Missing,
        }
    }

    /// Returns the key and the value at a constant key if the term is a map with that key.
    #[inline]
    pub fn entry(&mut self, map: H::Term, key: ConstId) -> Result<Option<Entry<H>>, Halt<H::Term>> {
        let Lookup::Found(value) = self.lookup(map, key)? else {
            return Ok(None);
        };
        let index = key as usize;
        let atom = match self.atoms.get(index) {
            Some(Atom::Known(atom, _) | Atom::Hidden(atom, _)) => Some(*atom),
            None if self.any_keys || self.values => self.heap.atom_named(self.consts[index]),
            _ => None,
        };
        if let Some(atom) = atom {
            if let Lookup::Missing = self.lookup_name(map, index) {
                // The value was found under the atom.
                return Ok(Some((atom, value)));
            }
        }
        Ok(Some((self.consts[index], value)))
    }

    #[cold]
    fn count_lookup(&mut self, map: H::Term, key: ConstId) -> Result<(), Halt<H::Term>> {
        match self.weight_of_key(key)? {
            0 if key as usize >= self.keys.len() => self.consume_fuel(UNCACHED),
            0 => Ok(()),
            weight => self.consume_fuel_for_lookup(map, weight),
        }
    }

    /// Returns the cost of a comparison with a constant key; 0 for a short one.
    #[inline]
    pub fn weight_of_key(&mut self, key: ConstId) -> Result<usize, Halt<H::Term>> {
        match self.keys.get(key as usize).map_or(0, |key| key.weight) {
            LIGHT => Ok(0),
            0 => self.weigh_key(key),
            weight => Ok(weight as usize),
        }
    }

    #[cold]
    fn weigh_key(&mut self, key: ConstId) -> Result<usize, Halt<H::Term>> {
        let index = key as usize;
        if self.keys.is_empty() {
            self.keys = vec![Key::default(); self.consts.len().min(MOST_CACHED)];
        }
        let (cost, weight) = match self.weigh(self.consts[index])? {
            ..=MOST_OF_LIGHT => (0, LIGHT),
            cost => (cost, u32::try_from(cost).unwrap_or(u32::MAX)),
        };
        if let Some(key) = self.keys.get_mut(index) {
            key.weight = weight;
        }
        Ok(cost)
    }

    /// Returns the value at a constant key if the term is a map with that key, else `nil`.
    #[inline]
    pub fn value_or_nil(&mut self, map: H::Term, key: ConstId) -> Eval<H> {
        match self.lookup(map, key)? {
            Lookup::Found(value) => Ok(value),
            _ => Ok(self.heap.nil()),
        }
    }

    /// Returns the value at a computed key if the term is a map with that key, else `nil`.
    pub fn value_at(&mut self, map: H::Term, key: H::Term) -> Eval<H> {
        let found = self.found_at(map, key)?;
        Ok(found.unwrap_or(self.heap.nil()))
    }

    /// Same as [`Machine::value_at`]; `None` if the term is no map, or has no such key.
    fn found_at(&mut self, map: H::Term, key: H::Term) -> Result<Option<H::Term>, Halt<H::Term>> {
        let weight = self.weigh(key)?;
        self.consume_fuel_for_lookup(map, weight)?;
        let Some(key) = self.key_in(map, key) else {
            return Ok(None);
        };
        Ok(
            match self.heap.lookup(map, key, &mut H::KeyCache::default()) {
                Lookup::Found(value) if self.values => Some(loaded(self.heap, value)),
                Lookup::Found(value) => Some(value),
                _ => None,
            },
        )
    }

    /// Returns what a number finds: in a list the item at that index, from 0; in a map the value at the digits of an integer. Can
    /// be suspended and resumed.
    pub fn found_by_number(
        &mut self,
        input: H::Term,
        number: H::Term,
    ) -> Result<Option<H::Term>, Halt<H::Term>> {
        match self.kind(input) {
            Kind::List => {
                let index = self.heap.small_integer(number);
                match index.and_then(|index| usize::try_from(index).ok()) {
                    Some(index) => self.item_at(input, index),
                    None => Ok(None),
                }
            }
            Kind::Map => match self.digits(number)? {
                Some(digits) => self.found_at(input, digits),
                None => Ok(None),
            },
            _ => Ok(None),
        }
    }

    fn item_at(&mut self, list: H::Term, index: usize) -> Result<Option<H::Term>, Halt<H::Term>> {
        self.resumable_over(list, |machine, work| {
            while let Some((item, tail)) = machine.heap.uncons(work.walk.rest) {
                if work.progress.count == index {
                    return Ok(Some(item));
                }
                machine.consume_fuel(1)?;
                work.progress.count += 1;
                work.walk.rest = tail;
                machine.meter.advanced();
            }
            Ok(None)
        })
    }

    /// Returns the digits of an integer as a string; `None` for other numbers.
    pub fn digits(&mut self, integer: H::Term) -> Result<Option<H::Term>, Halt<H::Term>> {
        if self.heap.float(integer).is_some() {
            return Ok(None);
        }
        // The digits of a long integer take a time that grows with the square of its length.
        let limbs = self.heap.limbs(integer);
        self.consume_fuel_at_once(limbs.saturating_mul(limbs))?;
        let digits = match self.number(integer)? {
            Some(Number::Int(integer)) => Some(integer.to_string()),
            Some(Number::Big(integer)) => Some(integer.to_string()),
            Some(Number::Float(_)) | None => None,
        };
        Ok(digits.map(|digits| self.heap.make_string(digits.as_bytes())))
    }

    /// Returns the context's value at a constant key. In a strict program a missing name is an
    /// error of the operation `strict`.
    pub(super) fn load(&mut self, context: H::Term, key: ConstId, strict: Option<Name>) -> Eval<H> {
        match self.lookup(context, key)? {
            Lookup::Found(value) => Ok(value),
            _ => match strict {
                Some(name) => Err(self.unknown_name(name, context, key)?),
                None => Ok(self.heap.nil()),
            },
        }
    }

    /// Builds the error for a name that the context does not have; it lists the context's first
    /// names.
    #[cold]
    fn unknown_name(
        &mut self,
        name: Name,
        context: H::Term,
        key: ConstId,
    ) -> Result<Halt<H::Term>, Halt<H::Term>> {
        let size = self.heap.map_size(context).unwrap_or(0);
        self.consume_fuel_at_once(FUEL_PER_NAME * size)?;
        self.check_heap_limit(2 * NAMES_SHOWN)?;
        let any_keys = self.any_keys;
        let heap = &mut *self.heap;
        let is_name = |heap: &H, key| match heap.kind(key) {
            Kind::String => heap
                .bytes(key)
                .is_some_and(|name| name.len() <= LONGEST_NAME),
            Kind::Other => any_keys && matches!(heap.inside(key), Inside::Nothing),
            Kind::Nil | Kind::Bool => any_keys,
            Kind::Number | Kind::List | Kind::Map => false,
        };
        let mut names: Vec<_> = heap
            .entries(context)
            .into_iter()
            .map(|(key, _)| key)
            .collect();
        names.retain(|name| is_name(heap, *name));
        let count = names.len();
        if count > NAMES_SHOWN {
            names.select_nth_unstable_by(NAMES_SHOWN, |a, b| heap.compare(*a, *b));
            names.truncate(NAMES_SHOWN);
        }
        names.sort_by(|a, b| heap.compare(*a, *b));
        let names = heap.make_list(&names);
        let count = heap
            .make_number(Number::Int(count as i64))
            .unwrap_or(heap.nil());
        let terms = vec![self.constant(key), names, count];
        Ok(self.fault(name, Code::UnknownName, terms))
    }
}
