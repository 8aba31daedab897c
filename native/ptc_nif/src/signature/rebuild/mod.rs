//! Coercion: one walk over a value, which comes back with what had to change.
//!
//! What needs no change is the very term that was given: a value as a whole, a field, an element, and
//! the rest of a list after its last element that changed. Small maps share their keys with what
//! they were made from.

mod frame;
mod gather;
mod other;

use super::budget::{Budget, Stop};
use super::convert::{Converted, Converter, Structs};
use super::errors::{Errors, Wanted};
use super::kind::{kind, Kind};
use super::read::Read;
use super::seen::Seen;
use super::shape::{Opened, Shapes};
use super::words::Words;
use crate::raw::{Raw, Terms};
use frame::{Frame, ListFrame, MapFrame};
use ptc_core::signature::names::Matching;
use ptc_core::signature::{Fields, Scalar, Type, TypeId};

/// After so many elements a list is judged by them.
const FIRST_ELEMENTS: i64 = 64;
/// Nobody reads so many warnings; a small value with shared parts can ask for them.
const MOST_WARNINGS: usize = 1 << 22;

/// What the walk is for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// The value alone: keys are as declared, the first failure ends it.
    Coerce,
    /// The arguments of a tool: keys as validation finds them, all errors with their paths.
    Input,
}

/// Why a value cannot be coerced.
#[derive(Clone, Copy)]
pub enum Failure<'a> {
    Refused(Wanted, Raw<'a>),
    /// The declared name of a field that is not there.
    Missing(Raw<'a>),
    /// The list of keys that a closed map has too many.
    Unexpected(Raw<'a>),
    /// The type is none.
    Unsupported,
    /// What Elixir answered.
    Answered(Raw<'a>),
}

/// A coercion under way.
pub struct Rebuild<'a, 'c> {
    terms: Terms<'a>,
    words: &'c Words<'a>,
    read: &'c Read<'a>,
    budget: &'c mut Budget,
    purpose: Purpose,
    shapes: Shapes<'a>,
    pub errors: Errors<'a>,
    pub converter: Converter<'a, 'c>,
    /// What only Elixir can convert, as `{type, value}`.
    pub asked: Vec<Raw<'a>>,
    /// Its answers, if this is the second walk.
    answers: Option<Raw<'a>>,
    pub failure: Option<Failure<'a>>,
    stack: Vec<Frame<'a>>,
    outputs: Vec<Raw<'a>>,
    seen: Seen,
}

impl<'a, 'c> Rebuild<'a, 'c> {
    pub fn new(
        terms: Terms<'a>,
        words: &'c Words<'a>,
        read: &'c Read<'a>,
        budget: &'c mut Budget,
        purpose: Purpose,
        answers: Option<Raw<'a>>,
    ) -> Self {
        let (matching, structs) = match purpose {
            Purpose::Coerce => (Matching::Exact, Structs::AreMaps),
            Purpose::Input => (Matching::Lenient, Structs::AreNoMaps),
        };
        Rebuild {
            terms,
            words,
            read,
            budget,
            purpose,
            shapes: Shapes::new(terms, words.struct_key, &read.types, matching),
            errors: Errors::new(terms),
            converter: Converter::new(terms, words, structs),
            asked: Vec::new(),
            answers,
            failure: None,
            stack: Vec::with_capacity(8),
            outputs: Vec::with_capacity(16),
            seen: Seen::default(),
        }
    }

    pub fn run(&mut self, value: Raw<'a>, id: TypeId) -> Result<Raw<'a>, Stop> {
        let mut done = self.part(value, id)?;
        loop {
            if let Some(value) = done {
                match self.stack.is_empty() {
                    true => return Ok(value),
                    false => self.deliver(value),
                }
            }
            done = match self.stack.last() {
                Some(Frame::List(list)) => {
                    let holds = list.holds;
                    self.elements(holds)?
                }
                Some(Frame::Map(map)) => {
                    let map = *map;
                    self.stack.pop();
                    self.fields(map)?
                }
                None => return Ok(value),
            };
        }
    }

    /// Looks at a value whose list or map is on the stack: gives what it becomes, or puts it there,
    /// to be walked.
    fn part(&mut self, value: Raw<'a>, id: TypeId) -> Result<Option<Raw<'a>>, Stop> {
        let mut id = id;
        loop {
            match self.read.types.get(id) {
                Type::Scalar(scalar) => return self.scalar(value, (scalar, id), None).map(Some),
                Type::Optional(_) if value.word() == self.words.nil.word() => {
                    return Ok(Some(value))
                }
                Type::Optional(inner) => id = inner,
                Type::List(holds) => return self.list(value, id, holds),
                Type::Map { fields, closed } => match self.map(value, id, fields, closed) {
                    Some(map) => {
                        self.stack.push(Frame::Map(map));
                        return Ok(None);
                    }
                    None => return self.no_map(value, id).map(Some),
                },
                Type::Unknown(number) => return Err(self.unknown(number)),
            }
        }
    }

    /// What a value without parts becomes. `name` is that of the field that holds the value, if its
    /// map is not on the stack.
    #[inline]
    fn scalar(
        &mut self,
        value: Raw<'a>,
        (scalar, id): (Scalar, TypeId),
        name: Option<Raw<'a>>,
    ) -> Result<Raw<'a>, Stop> {
        let (types, shapes) = (&self.read.types, &mut self.shapes);
        match self.converter.convert(types, shapes, (scalar, id), value) {
            Converted::Same => Ok(value),
            other => self.converted(other, scalar, value, name),
        }
    }

    fn list(&mut self, value: Raw<'a>, id: TypeId, holds: TypeId) -> Result<Option<Raw<'a>>, Stop> {
        if kind(self.terms, value) != Kind::List {
            return self.refuse(None, Wanted::List, value).map(Some);
        }
        if self.seen.has(self.budget, value, id) {
            return Ok(Some(value));
        }
        self.stack.push(Frame::List(ListFrame {
            value,
            id,
            holds,
            current: value,
            rest: value,
            taken: 0,
            before: self.before(),
            changed: false,
            kept: 0,
            tail: value,
        }));
        Ok(None)
    }

    /// The frame of a map that is one, and not seen before.
    #[inline(always)]
    fn map(
        &mut self,
        value: Raw<'a>,
        id: TypeId,
        fields: Fields,
        closed: bool,
    ) -> Option<MapFrame<'a>> {
        let map = self.shapes.open(&self.read.types, id, fields, value)?;
        let fits = self.purpose == Purpose::Coerce || self.shapes.module(id, map).is_none();
        if !fits || self.seen.has(self.budget, value, id) {
            return None;
        }
        Some(MapFrame {
            value,
            id,
            map,
            fields,
            closed,
            next: fields.start as usize,
            before: self.before(),
            changed: false,
        })
    }

    /// Walks the list on top of the stack, as far as its elements do not go there; gives what it
    /// becomes at its end.
    fn elements(&mut self, holds: TypeId) -> Result<Option<Raw<'a>>, Stop> {
        let of = self.read.types.get(holds);
        loop {
            let Some(Frame::List(list)) = self.stack.last_mut() else {
                return Ok(None);
            };
            let Some((element, rest)) = self.terms.uncons(list.rest) else {
                let list = *list;
                self.stack.pop();
                return self.list_end(list).map(Some);
            };
            (list.current, list.rest) = (element, rest);
            list.taken += 1;
            if list.taken == FIRST_ELEMENTS {
                let (budget, taken) = (list.before.budget, list.taken);
                self.budget.foresee(self.terms, budget, taken, rest)?;
            }
            self.budget.spend(self.terms, 2)?;
            let done = match of {
                Type::Scalar(scalar) => Some(self.scalar(element, (scalar, holds), None)?),
                Type::Map { fields, closed } => match self.map(element, holds, fields, closed) {
                    Some(map) => self.fields(map)?,
                    None => Some(self.no_map(element, holds)?),
                },
                _ => self.part(element, holds)?,
            };
            let Some(done) = done else {
                return Ok(None);
            };
            if let Some(Frame::List(list)) = self.stack.last_mut() {
                if list.changed || element.word() != done.word() {
                    let mut frame = *list;
                    self.element(&mut frame, done);
                    if let Some(top) = self.stack.last_mut() {
                        *top = Frame::List(frame);
                    }
                }
            }
        }
    }

    /// Walks the fields of a map that is not on the stack; gives what it becomes, or puts it there
    /// to walk into a field.
    #[inline]
    fn fields(&mut self, mut map: MapFrame<'a>) -> Result<Option<Raw<'a>>, Stop> {
        let types = &self.read.types;
        let end = map.fields.range().end;
        self.budget.spend(self.terms, 3 + end - map.next)?;
        while map.next < end {
            let index = map.next;
            map.next += 1;
            let holds = types.field(index).holds;
            let Some(found) = self.shapes.find(types, map.map, index) else {
                self.absent(index, holds)?;
                continue;
            };
            if let Opened::Large(_) = map.map {
                self.outputs.extend([found.key, found.value]);
            }
            let (holds, is_nil) = match types.get(holds) {
                Type::Optional(inner) => (inner, found.value.word() == self.words.nil.word()),
                _ => (holds, false),
            };
            let becomes = match types.get(holds) {
                _ if is_nil => found.value,
                Type::Scalar(scalar) => {
                    let name = Some(self.read.names[index]);
                    self.scalar(found.value, (scalar, holds), name)?
                }
                _ => {
                    // Its parts may need the stack.
                    self.stack.push(Frame::Map(map));
                    let Some(value) = self.part(found.value, holds)? else {
                        return Ok(None);
                    };
                    self.stack.pop();
                    value
                }
            };
            self.settle(&mut map, found.slot, found.value, becomes);
        }
        self.map_end(&map).map(Some)
    }
}
