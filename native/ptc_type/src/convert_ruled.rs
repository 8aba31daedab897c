//! Conversions by the rules of a type: enumerations in another case and by aliases, yes and no, defaults.

use super::coerce::Purpose;
use super::constraint::{folded, Rule};
use super::convert::{put_shown, Coercion};
use super::values::{Class, Rows, Values};
use super::walk::frame::OpenMap;
use super::walk::{Open, Place, WalkEnd};
use super::Scalar;
use crate::coerce::Mark;
use ptc_term::heap::Lookup;
use ptc_term::names::KeyKind;
use ptc_term::number::Number;

/// Bytes of a text that are compared in lower case for one unit of fuel.
const FOLDED: usize = 4;
/// Longer texts are no value of an enumeration, in bytes.
const LONGEST: usize = 1 << 20;
/// The longest word for a boolean, in bytes.
const LONGEST_WORD: usize = 5;

impl<H: Values> Coercion<'_, H> {
    /// Returns what a value becomes by the rules of its type.
    pub(super) fn converted_by_rules(
        &mut self,
        scalar: Scalar,
        rules: u32,
        value: H::Term,
        place: Option<Place>,
    ) -> Result<Option<H::Term>, WalkEnd> {
        let constraints = self.types.constraints(rules);
        if constraints.yes_no && scalar == Scalar::Bool {
            return self.yes_or_no(value, place);
        }
        if constraints.whole && scalar == Scalar::Int {
            return self.whole(value, place);
        }
        let length = match self.heap.byte_length(value) {
            Some(length) if length <= LONGEST => length,
            _ => return Ok(None),
        };
        self.consume_fuel(10 + (length + self.heap.bytes_to_copy(value)) / FOLDED)?;
        let text = self.heap.bytes(value).unwrap_or_default();
        let enumeration = constraints.enumeration.as_ref();
        if enumeration.is_some_and(|values| values.has(text) == Some(true)) {
            return Ok(None);
        }
        let list = self.state.rules[rules as usize];
        let aliases = match constraints.aliases {
            true => Rule::Aliases.value(&*self.heap, list),
            false => None,
        };
        let mut cache = H::KeyCache::default();
        let known = aliases.map(|aliases| self.heap.lookup(aliases, value, &mut cache));
        let found = match (known, &constraints.folded) {
            (Some(Lookup::Found(known)), _) => Some(known),
            (_, Some(places)) => {
                let folded = folded(text);
                match places.get(&folded) {
                    Some(place) => self.value_at(list, *place),
                    None => self.folded_alias(aliases, &folded)?,
                }
            }
            _ => None,
        };
        let Some(found) = found.filter(|found| !self.heap.identical(*found, value)) else {
            return Ok(None);
        };
        let mut target = Vec::new();
        match self.heap.bytes(found) {
            Some(bytes) => {
                target.push(b'"');
                put_shown(&mut target, bytes);
                target.push(b'"');
            }
            None => target.extend_from_slice(b"the value of its alias"),
        }
        if self.is_hidden(place) {
            target = b"an allowed value".to_vec();
        }
        self.warn_of_text(value, &target, place)?;
        Ok(Some(found))
    }

    /// Returns the value of an enumeration at this place.
    fn value_at(&mut self, list: H::Term, place: u32) -> Option<H::Term> {
        let heap = &*self.heap;
        let mut rest = Rule::Enum.value(heap, list)?;
        for _ in 0..place {
            rest = heap.uncons(rest)?.1;
        }
        Some(heap.uncons(rest)?.0)
    }

    /// Returns the value of an alias, in another case.
    fn folded_alias(
        &mut self,
        aliases: Option<H::Term>,
        text: &[u8],
    ) -> Result<Option<H::Term>, WalkEnd> {
        let Some(aliases) = aliases else {
            return Ok(None);
        };
        self.consume_fuel(4 * self.heap.map_size(aliases).unwrap_or(0))?;
        for (key, value) in self.heap.entries(aliases) {
            self.consume_fuel(4 + self.heap.byte_length(key).unwrap_or(0) / FOLDED)?;
            if self
                .heap
                .bytes(key)
                .is_some_and(|key| *folded(key) == *text)
            {
                return Ok(Some(value));
            }
        }
        Ok(None)
    }

    /// Returns the integer that a float without fraction is.
    fn whole(&mut self, value: H::Term, place: Option<Place>) -> Result<Option<H::Term>, WalkEnd> {
        let float = self.heap.float(value).filter(|float| float.fract() == 0.0);
        let Some(number) = float.and_then(Number::of_whole) else {
            return Ok(None);
        };
        let warning: &[u8] = match self.is_hidden(place) {
            true => b"coerced number to integer",
            false => b"coerced float without fraction to integer",
        };
        let made = self.heap.make_number(number);
        let warning = self.heap.make_string(warning);
        self.warn(warning)?;
        Ok(made)
    }

    fn yes_or_no(
        &mut self,
        value: H::Term,
        place: Option<Place>,
    ) -> Result<Option<H::Term>, WalkEnd> {
        if let Some(number @ (0 | 1)) = self.heap.small_integer(value) {
            let warning = match self.is_hidden(place) {
                true => "coerced integer to boolean".to_owned(),
                false => format!("coerced integer {number} to boolean"),
            };
            let warning = self.heap.make_string(warning.as_bytes());
            self.warn(warning)?;
            return Ok(Some(self.heap.boolean(number == 1)));
        }
        if self
            .heap
            .byte_length(value)
            .is_none_or(|length| length > LONGEST_WORD)
        {
            return Ok(None);
        }
        let text = self.heap.bytes(value).unwrap_or_default();
        let truth = match &*text.to_ascii_lowercase() {
            b"yes" | b"y" | b"true" | b"t" | b"on" | b"1" => true,
            b"no" | b"n" | b"false" | b"f" | b"off" | b"0" => false,
            _ => return Ok(None),
        };
        self.warn_of_text(value, b"boolean", place)?;
        Ok(Some(self.heap.boolean(truth)))
    }

    /// Returns what a map whose fields are converted becomes: with its missing fields, or a struct.
    #[inline(never)]
    pub(super) fn completed(
        &mut self,
        map: &OpenMap<H::Term, Open<H>, Mark>,
        made: H::Term,
    ) -> Result<Option<H::Term>, WalkEnd> {
        let missing = self.missing(map);
        let made = match missing.is_empty() {
            true => made,
            false => self.filled(made, &missing)?,
        };
        if let Some(module) = self.types.module(map.frame.id) {
            return self.structure(module, map.value, made);
        }
        if self.heap.same(made, map.value) {
            self.remember(map.value, map.frame.id, map.frame.findings, &map.frame.mark);
            return Ok(None);
        }
        self.consume_fuel(5)?;
        Ok(Some(made))
    }

    /// Returns the fields that are missing in a map and have a default: their rules, and themselves.
    fn missing(&mut self, map: &OpenMap<H::Term, Open<H>, Mark>) -> Vec<(u32, usize)> {
        let (types, heap) = (self.types, &*self.heap);
        let mut missing = Vec::new();
        for field in map.frame.fields.range() {
            if let Some(rules) = types.default_of(field) {
                let found = self.rows.find(heap, types, map.open, field);
                let is_one = self.purpose() == Purpose::Data
                    || !types.has_earlier_double(map.frame.fields, field);
                if found.is_none() && is_one {
                    missing.push((rules, field));
                }
            }
        }
        missing
    }

    /// Returns a map with its missing fields. Their keys are of the kind of the others, or texts.
    fn filled(&mut self, map: H::Term, missing: &[(u32, usize)]) -> Result<H::Term, WalkEnd> {
        let entries = self.heap.entries(map);
        self.consume_fuel(10 * (entries.len() + missing.len()))?;
        let kind = match entries.first() {
            Some((key, _)) if self.heap.class(*key) == Class::Atom => KeyKind::Atom,
            _ => KeyKind::String,
        };
        let (mut keys, mut values): (Vec<_>, Vec<_>) = entries.into_iter().unzip();
        for (rules, field) in missing {
            let list = self.state.rules[*rules as usize];
            let name = self.types.field(*field).name;
            let key = self.heap.make_key(kind, name);
            let key = key.unwrap_or_else(|| self.heap.make_string(name));
            if let Some(value) = Rule::Default.value(&*self.heap, list) {
                keys.push(key);
                values.push(value);
            }
        }
        Ok(self.heap.make_map(&keys, &values))
    }

    /// Returns the struct of a map whose fields are converted: the given struct, or that of the module, with these fields.
    fn structure(
        &mut self,
        module: u32,
        value: H::Term,
        made: H::Term,
    ) -> Result<Option<H::Term>, WalkEnd> {
        let module = self.state.rules[module as usize];
        let is_struct = self.is_struct_of(value, module);
        let base = match is_struct {
            true => value,
            false => match self.ask(Scalar::Map, module, None)? {
                Some(template) => template,
                None => return Ok(None),
            },
        };
        let fields = self.heap.entries(made);
        let known = self.heap.map_size(base).unwrap_or(0);
        self.consume_fuel(10 * (fields.len() + known))?;
        let (mut keys, mut values) = (Vec::new(), Vec::new());
        let mut is_same = is_struct;
        for (key, field) in fields {
            let key = match self.heap.bytes(key) {
                Some(name) => self.heap.existing_atom(name),
                None => Some(key),
            };
            let mut cache = H::KeyCache::default();
            let was = key.map(|key| (key, self.heap.lookup(base, key, &mut cache)));
            if let Some((key, Lookup::Found(was))) = was {
                is_same &= self.heap.same(was, field);
                keys.push(key);
                values.push(field);
            }
        }
        if is_same {
            return Ok(None);
        }
        // Of equal keys the first one counts.
        for (key, value) in self.heap.entries(base) {
            keys.push(key);
            values.push(value);
        }
        Ok(Some(self.heap.make_map(&keys, &values)))
    }
}
