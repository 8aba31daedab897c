//! Values of one of several types.
//!
//! The kind of the value, or the field that discriminates, decides in most cases; then the value is walked along that type,
//! and its errors are those of that type. Otherwise the types are tried, those that have values of its kind first, each in order,
//! and the first one counts that takes the value.
//! A trial ends at its first error: the stack is unwound to the value.

use super::super::findings::Wrong;
use super::super::values::{Class, Values};
use super::super::{Scalar, Type, TypeId};
use super::frame::UnionFrame;
use super::{Task, Walk, WalkEnd, Whole};
use ptc_term::heap::Lookup;

/// Fuel to look at a type.
const LOOK: usize = 8;

impl<H: Values, K: Task<H>> Walk<'_, H, K> {
    /// Returns the only type that a value may have; `None` if it is tried as several types, with a frame on the stack.
    #[inline(never)]
    pub(super) fn one_of(
        &mut self,
        value: H::Term,
        id: TypeId,
        union: u32,
    ) -> Result<Option<TypeId>, WalkEnd> {
        let types = self.types;
        let members = &types.union(union).types;
        self.consume_fuel(LOOK * members.len())?;
        if let Some(named) = self.named_by(value, union)? {
            return Ok(Some(named));
        }
        let mut likely = members
            .iter()
            .filter(|member| self.may_have(value, **member));
        match (likely.next(), likely.next()) {
            (Some(only), None) => Ok(Some(*only)),
            _ => {
                let hidden = self.hides_part::<true>();
                let mark = self.state.task.mark();
                let frame = UnionFrame {
                    id,
                    union,
                    next: 0,
                    hidden,
                    mark,
                };
                self.state.stack.push_union(value, frame);
                self.state.trials += 1;
                self.memo.on = true;
                Ok(None)
            }
        }
    }

    /// Handles the result of a trial, or the next one.
    pub(super) fn tried(
        &mut self,
        mut frame: UnionFrame<K::Mark>,
        value: H::Term,
        done: Option<Whole<H, K>>,
    ) -> Result<Option<Whole<H, K>>, WalkEnd> {
        if let Some((_, done)) = done {
            self.end_trials();
            return Ok(Some((value, done)));
        }
        if frame.next > 0 {
            self.state.task.reset(&frame.mark, &*self.heap);
        }
        self.safe_point()?;
        let members = &self.types.union(frame.union).types;
        let identity = self.heap.identity(value);
        let next = match self.memo.is_wrong(identity, frame.id) {
            true => None,
            false => self.next_member(value, members, frame.next),
        };
        let Some((place, member)) = next else {
            self.end_trials();
            self.memo.add_wrong(identity, frame.id);
            let rules = self.types.union(frame.union).rules;
            let list = self.state.rules[rules as usize];
            let tag = self
                .heap
                .existing_atom(b"one_of")
                .unwrap_or(self.heap.nil());
            let pair = self.heap.make_tuple(&[tag, list]);
            let kept = self.heap.make_tuple(&[pair, value]);
            self.report(None, Wrong::Rule, Some(kept))?;
            return Ok(Some((value, K::SAME)));
        };
        frame.next = place + 1;
        self.state.stack.set_union(frame);
        self.consume_fuel(LOOK)?;
        let done = self.part::<true>(value, member)?;
        match done {
            Some(done) => {
                self.end_trials();
                Ok(Some((value, done)))
            }
            None => Ok(None),
        }
    }

    /// Returns the first type to try from this place on. The types are counted twice: those of the value's kind, then the others.
    fn next_member(&self, value: H::Term, members: &[TypeId], from: u32) -> Option<(u32, TypeId)> {
        let count = members.len() as u32;
        (from..2 * count)
            .map(|place| (place, members[(place % count) as usize]))
            .find(|(place, member)| self.may_have(value, *member) == (*place < count))
    }

    fn end_trials(&mut self) {
        self.state.stack.pop_map(&*self.heap);
        self.state.trials -= 1;
    }

    /// Returns the only type for which the discriminating field has this value.
    fn named_by(&mut self, value: H::Term, union: u32) -> Result<Option<TypeId>, WalkEnd> {
        let types = self.types;
        let union = types.union(union);
        let Some(field) = &union.discriminator else {
            return Ok(None);
        };
        if self.heap.class(value) != Class::Map {
            return Ok(None);
        }
        let text = self.heap.make_string(field);
        let keys = [Some(text), self.heap.existing_atom(field)];
        let found = keys.into_iter().flatten().find_map(|key| {
            match self.heap.lookup(value, key, &mut H::KeyCache::default()) {
                Lookup::Found(found) => Some(found),
                Lookup::Missing | Lookup::NotAMap => None,
            }
        });
        let Some(found) = found else {
            return Ok(None);
        };
        let mut named = None;
        for member in &union.types {
            let Some((fields, _)) = types.map(*member) else {
                continue;
            };
            let Some(place) = types.named(fields, field, fields.start as usize) else {
                continue;
            };
            if let Some(rules) = types.rules_of(types.holds(place)) {
                let values = types.constraints(rules).enumeration.as_ref();
                if let Some(values) = values {
                    if self.is_among(values, rules, found)? {
                        match named {
                            None => named = Some(*member),
                            Some(_) => return Ok(None),
                        }
                    }
                }
            }
        }
        Ok(named)
    }

    /// Returns whether a value may be of a type, by its kind.
    fn may_have(&self, value: H::Term, id: TypeId) -> bool {
        let (of, optional) = self.types.required(id);
        let class = self.heap.class(value);
        if optional && self.heap.is_nil(value) {
            return true;
        }
        let is_text = class == Class::Bitstring;
        match of {
            Type::Scalar(scalar) => match scalar {
                Scalar::Any => true,
                Scalar::String => is_text,
                Scalar::Int if self.types.is_whole(id) => {
                    matches!(class, Class::Integer | Class::Float)
                }
                Scalar::Int => class == Class::Integer,
                Scalar::Float | Scalar::Number => matches!(class, Class::Integer | Class::Float),
                Scalar::Bool => self.heap.is_bool(value),
                Scalar::Keyword => is_text || matches!(class, Class::Atom | Class::Map),
                Scalar::Map => class == Class::Map,
                Scalar::DateTime | Scalar::Date => is_text || class == Class::Map,
                Scalar::Decimal => class != Class::Atom && class != Class::List,
            },
            Type::List(_) => class == Class::List,
            Type::Map { .. } | Type::MapOf(_) => class == Class::Map,
            _ => true,
        }
    }
}
