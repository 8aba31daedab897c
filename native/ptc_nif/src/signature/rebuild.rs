//! Coercion: one walk over a value, which comes back with what had to change.
//!
//! What needs no change is the very term that was given: a value as a whole, a field, an element, and
//! the rest of a list after its last element that changed. Small maps share their keys with what
//! they were made from.

use super::budget::{Budget, Stop};
use super::convert::{Converted, Converter, Structs};
use super::errors::{Errors, Wanted};
use super::kind::{kind, Kind};
use super::map_out;
use super::read::Read;
use super::seen::Seen;
use super::shape::{Opened, Shapes};
use super::validate::extras;
use super::words::Words;
use crate::map_view::value_of;
use crate::raw::{Raw, Terms};
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

/// Where the walk is inside of a value, outermost first.
enum Frame<'a> {
    List(ListFrame<'a>),
    Map(MapFrame<'a>),
}

#[derive(Clone, Copy)]
struct ListFrame<'a> {
    value: Raw<'a>,
    id: TypeId,
    holds: TypeId,
    /// The element that the walk is at, and what follows.
    current: Raw<'a>,
    rest: Raw<'a>,
    taken: i64,
    before: Before,
    /// Since an element changed, all elements so far stand among the outputs.
    changed: bool,
    /// The outputs up to the last change, and what follows it.
    kept: usize,
    tail: Raw<'a>,
}

#[derive(Clone, Copy)]
struct MapFrame<'a> {
    value: Raw<'a>,
    id: TypeId,
    map: Opened<'a>,
    fields: Fields,
    closed: bool,
    /// The next field.
    next: usize,
    before: Before,
    /// Of a small map: since a field changed, all values stand among the outputs.
    changed: bool,
}

/// How things stood when a value was entered.
#[derive(Clone, Copy)]
struct Before {
    outputs: usize,
    budget: i64,
    errors: usize,
    warnings: usize,
    asked: usize,
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

    #[cold]
    fn no_map(&mut self, value: Raw<'a>, id: TypeId) -> Result<Raw<'a>, Stop> {
        match self.seen.has(self.budget, value, id) {
            true => Ok(value),
            false => self.refuse(None, Wanted::Map, value),
        }
    }

    #[cold]
    fn unknown(&mut self, number: u32) -> Stop {
        match self.purpose {
            Purpose::Coerce => self.fail(Failure::Unsupported),
            Purpose::Input => Stop::Unknown(number),
        }
    }

    /// A value that is not as it should be.
    fn converted(
        &mut self,
        converted: Converted<'a>,
        scalar: Scalar,
        value: Raw<'a>,
        name: Option<Raw<'a>>,
    ) -> Result<Raw<'a>, Stop> {
        match converted {
            Converted::Same => Ok(value),
            Converted::Silent(other) => {
                self.budget.spend(self.terms, 10)?;
                Ok(other)
            }
            Converted::Warned(other) => {
                let length = self.terms.bytes(value).map_or(0, <[u8]>::len);
                self.budget.spend(self.terms, 25 + length / 8)?;
                match self.converter.warnings.len() > MOST_WARNINGS {
                    true => Err(Stop::TooMuch),
                    false => Ok(other),
                }
            }
            Converted::Ask => self.ask(scalar, value, name),
            Converted::Refused => self.refuse(name, Wanted::Scalar(scalar), value),
        }
    }

    #[cold]
    fn ask(
        &mut self,
        scalar: Scalar,
        value: Raw<'a>,
        name: Option<Raw<'a>>,
    ) -> Result<Raw<'a>, Stop> {
        self.budget.spend(self.terms, 20)?;
        let Some((answer, more)) = self.answers.and_then(|answers| self.terms.uncons(answers))
        else {
            let wanted = self.words.scalar_word(scalar);
            self.asked.push(self.terms.make_tuple(&[wanted, value]));
            return Ok(value);
        };
        self.answers = Some(more);
        match self.terms.tuple(answer) {
            Some([_, other, warnings]) => {
                let mut rest = *warnings;
                while let Some((warning, tail)) = self.terms.uncons(rest) {
                    self.converter.warnings.push(warning);
                    rest = tail;
                }
                Ok(*other)
            }
            Some([_, reason]) if self.purpose == Purpose::Coerce => {
                Err(self.fail(Failure::Answered(*reason)))
            }
            _ => self.refuse(name, Wanted::Scalar(scalar), value),
        }
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

    /// Takes what a field of a map became.
    #[inline]
    fn settle(&mut self, map: &mut MapFrame<'a>, slot: u8, was: Raw<'a>, is: Raw<'a>) {
        match map.map {
            Opened::Large(_) => self.outputs.push(is),
            Opened::Flat(values) => {
                if !map.changed {
                    if was.word() == is.word() {
                        return;
                    }
                    map.changed = true;
                    let terms = self.terms;
                    let values = values.iter().map(|value| value_of(terms, *value));
                    self.outputs.extend(values);
                }
                self.outputs[map.before.outputs + slot as usize] = is;
            }
        }
    }

    /// Hands what a part became to what it is a part of.
    fn deliver(&mut self, value: Raw<'a>) {
        match self.stack.pop() {
            None => {}
            Some(Frame::List(mut list)) => {
                if list.changed || list.current.word() != value.word() {
                    self.element(&mut list, value);
                }
                self.stack.push(Frame::List(list));
            }
            Some(Frame::Map(mut map)) => {
                let index = map.next - 1;
                match map.map {
                    Opened::Large(_) => self.outputs.push(value),
                    Opened::Flat(_) => {
                        if let Some(found) = self.shapes.find(&self.read.types, map.map, index) {
                            self.settle(&mut map, found.slot, found.value, value);
                        }
                    }
                }
                self.stack.push(Frame::Map(map));
            }
        }
    }

    /// Takes what an element of a list became.
    fn element(&mut self, list: &mut ListFrame<'a>, value: Raw<'a>) {
        if !list.changed {
            list.changed = true;
            let mut rest = list.value;
            for _ in 1..list.taken {
                if let Some((element, tail)) = self.terms.uncons(rest) {
                    self.outputs.push(element);
                    rest = tail;
                }
            }
        }
        self.outputs.push(value);
        if list.current.word() != value.word() {
            list.kept = self.outputs.len();
            list.tail = list.rest;
        }
    }

    fn list_end(&mut self, list: ListFrame<'a>) -> Result<Raw<'a>, Stop> {
        if !self.terms.is_empty_list(list.rest) {
            if self.purpose == Purpose::Coerce {
                return Err(self.fail(Failure::Refused(Wanted::List, list.value)));
            }
            // Only now is it known that there were no elements to complain about.
            self.errors.truncate(list.before.errors);
            self.converter.warnings.truncate(list.before.warnings);
            self.outputs.truncate(list.before.outputs);
            self.errors
                .improper(path(self.terms, self.read, &self.stack, None))?;
            return Ok(list.value);
        }
        if !list.changed {
            self.remember(&list.before, list.value, list.id);
            return Ok(list.value);
        }
        let kept = &self.outputs[list.before.outputs..list.kept];
        let made = match self.terms.is_empty_list(list.tail) {
            true => self.terms.make_list(kept),
            false => {
                let cons = |tail, element: &Raw<'a>| self.terms.cons(*element, tail);
                kept.iter().rev().fold(list.tail, cons)
            }
        };
        self.outputs.truncate(list.before.outputs);
        Ok(made)
    }

    fn map_end(&mut self, map: &MapFrame<'a>) -> Result<Raw<'a>, Stop> {
        if map.closed {
            self.closed_end(map)?;
        }
        let outputs = &self.outputs[map.before.outputs..];
        let made = match map.map {
            Opened::Flat(values) => {
                let covered = match map.fields.count {
                    0 => 0,
                    _ => self.shapes.covered(map.id),
                };
                let changed = map.changed.then_some(outputs);
                let entries = (self.shapes.keys(map.id), values);
                map_out::small(self.terms, map.value, entries, covered, changed)
            }
            Opened::Large(_) => map_out::large(self.terms, map.value, outputs),
        };
        self.outputs.truncate(map.before.outputs);
        if made.word() == map.value.word() {
            self.remember(&map.before, made, map.id);
        } else {
            self.budget.spend(self.terms, 15)?;
        }
        Ok(made)
    }

    fn closed_end(&mut self, map: &MapFrame<'a>) -> Result<(), Stop> {
        let extras = extras(
            &mut self.shapes,
            self.terms,
            self.read,
            map.id,
            map.fields,
            map.map,
        );
        if extras.is_empty() {
            return Ok(());
        }
        if self.purpose == Purpose::Coerce {
            let keys = self.terms.make_list(&extras);
            return Err(self.fail(Failure::Unexpected(keys)));
        }
        let path = path(self.terms, self.read, &self.stack, None);
        self.errors.unexpected(path, &extras)
    }

    #[cold]
    fn absent(&mut self, index: usize, holds: TypeId) -> Result<(), Stop> {
        if matches!(self.read.types.get(holds), Type::Optional(_)) {
            return Ok(());
        }
        let name = self.read.names[index];
        if self.purpose == Purpose::Coerce {
            return Err(self.fail(Failure::Missing(name)));
        }
        self.budget.spend(self.terms, 20)?;
        self.errors
            .missing(path(self.terms, self.read, &self.stack, Some(name)))
    }

    #[cold]
    fn refuse(
        &mut self,
        name: Option<Raw<'a>>,
        wanted: Wanted,
        value: Raw<'a>,
    ) -> Result<Raw<'a>, Stop> {
        if self.purpose == Purpose::Coerce {
            return Err(self.fail(Failure::Refused(wanted, value)));
        }
        self.budget.spend(self.terms, 20 + self.stack.len())?;
        let path = path(self.terms, self.read, &self.stack, name);
        self.errors.refused(self.words, path, wanted, value)?;
        Ok(value)
    }

    /// Ends the walk. A list that turns out to be none is the reason before all its elements.
    #[cold]
    fn fail(&mut self, failure: Failure<'a>) -> Stop {
        self.failure = Some(failure);
        for frame in &self.stack {
            let Frame::List(list) = frame else { continue };
            let mut rest = list.rest;
            while let Some((_, tail)) = self.terms.uncons(rest) {
                if let Err(stop) = self.budget.spend(self.terms, 1) {
                    return stop;
                }
                rest = tail;
            }
            if !self.terms.is_empty_list(rest) {
                self.failure = Some(Failure::Refused(Wanted::List, list.value));
                break;
            }
        }
        Stop::Failed
    }

    fn before(&self) -> Before {
        Before {
            outputs: self.outputs.len(),
            budget: self.budget.left(),
            errors: self.errors.count(),
            warnings: self.converter.warnings.len(),
            asked: self.asked.len(),
        }
    }

    /// A value that is right as it is need not be looked at again.
    fn remember(&mut self, before: &Before, value: Raw<'a>, id: TypeId) {
        let now = self.before();
        if (now.errors, now.warnings, now.asked) == (before.errors, before.warnings, before.asked) {
            self.seen.add(self.budget, value, id);
        }
    }
}

/// The way to where the walk is, innermost first.
fn path<'s, 'a: 's>(
    terms: Terms<'a>,
    read: &'s Read<'a>,
    stack: &'s [Frame<'a>],
    name: Option<Raw<'a>>,
) -> impl Iterator<Item = Raw<'a>> + 's {
    let segment = move |frame: &Frame<'a>| match frame {
        Frame::List(list) => terms.make_integer(list.taken - 1),
        Frame::Map(map) => read.names[map.next - 1],
    };
    name.into_iter().chain(stack.iter().rev().map(segment))
}
