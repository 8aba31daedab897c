//! Validation: one walk over a value, all errors with their paths.

use super::accept::accepts;
use super::budget::{Budget, Stop};
use super::errors::{Errors, Wanted};
use super::kind::{kind, Kind};
use super::read::Read;
use super::seen::Seen;
use super::shape::{Opened, Shapes};
use super::words::Words;
use crate::map_view::value_of;
use crate::raw::{Raw, Terms};
use ptc_core::signature::names::Matching;
use ptc_core::signature::{Fields, Scalar, Type, TypeId};
use std::collections::HashSet;

/// After so many elements a list is judged by them.
const FIRST_ELEMENTS: i64 = 64;

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
    rest: Raw<'a>,
    /// How many elements were taken.
    taken: i64,
    /// The budget and the errors when the list was entered.
    budget: i64,
    errors: usize,
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
    errors: usize,
}

/// A validation under way.
pub struct Validation<'a, 'c> {
    terms: Terms<'a>,
    words: &'c Words<'a>,
    read: &'c Read<'a>,
    budget: &'c mut Budget,
    shapes: Shapes<'a>,
    pub errors: Errors<'a>,
    stack: Vec<Frame<'a>>,
    seen: Seen,
}

impl<'a, 'c> Validation<'a, 'c> {
    pub fn new(
        terms: Terms<'a>,
        words: &'c Words<'a>,
        read: &'c Read<'a>,
        budget: &'c mut Budget,
    ) -> Self {
        Validation {
            terms,
            words,
            read,
            budget,
            shapes: Shapes::new(terms, words.struct_key, &read.types, Matching::Lenient),
            errors: Errors::new(terms),
            stack: Vec::with_capacity(8),
            seen: Seen::default(),
        }
    }

    pub fn run(&mut self, value: Raw<'a>, id: TypeId) -> Result<(), Stop> {
        self.part(value, id)?;
        while let Some(frame) = self.stack.last() {
            match *frame {
                Frame::List(list) => self.elements(list.holds)?,
                Frame::Map(map) => {
                    self.stack.pop();
                    self.fields(map)?;
                }
            }
        }
        Ok(())
    }

    #[inline]
    fn scalar(
        &mut self,
        value: Raw<'a>,
        (scalar, id): (Scalar, TypeId),
        name: Option<Raw<'a>>,
    ) -> Result<(), Stop> {
        let (types, shapes) = (&self.read.types, &mut self.shapes);
        match accepts(self.terms, self.words, types, shapes, (scalar, id), value) {
            true => Ok(()),
            false => self.refuse(name, Wanted::Scalar(scalar), value),
        }
    }

    fn list(&mut self, value: Raw<'a>, id: TypeId, holds: TypeId) -> Result<(), Stop> {
        if kind(self.terms, value) != Kind::List {
            return self.refuse(None, Wanted::List, value);
        }
        if !self.seen.has(self.budget, value, id) {
            self.stack.push(Frame::List(ListFrame {
                value,
                id,
                holds,
                rest: value,
                taken: 0,
                budget: self.budget.left(),
                errors: self.errors.count(),
            }));
        }
        Ok(())
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
        if self.shapes.module(id, map).is_some() || self.seen.has(self.budget, value, id) {
            return None;
        }
        Some(MapFrame {
            value,
            id,
            map,
            fields,
            closed,
            next: fields.start as usize,
            errors: self.errors.count(),
        })
    }

    #[cold]
    fn no_map(&mut self, value: Raw<'a>, id: TypeId) -> Result<(), Stop> {
        match self.seen.has(self.budget, value, id) {
            true => Ok(()),
            false => self.refuse(None, Wanted::Map, value),
        }
    }

    /// Walks the list on top of the stack, as far as its elements do not go there.
    fn elements(&mut self, holds: TypeId) -> Result<(), Stop> {
        let depth = self.stack.len();
        let of = self.read.types.get(holds);
        while self.stack.len() == depth {
            let Some(Frame::List(list)) = self.stack.last_mut() else {
                return Ok(());
            };
            let Some((element, rest)) = self.terms.uncons(list.rest) else {
                let list = *list;
                self.stack.pop();
                return self.list_end(list);
            };
            list.rest = rest;
            list.taken += 1;
            if list.taken == FIRST_ELEMENTS {
                let (budget, taken) = (list.budget, list.taken);
                self.budget.foresee(self.terms, budget, taken, rest)?;
            }
            self.budget.spend(self.terms, 2)?;
            match of {
                Type::Scalar(scalar) => self.scalar(element, (scalar, holds), None)?,
                Type::Map { fields, closed } => match self.map(element, holds, fields, closed) {
                    Some(map) => self.fields(map)?,
                    None => self.no_map(element, holds)?,
                },
                _ => self.part(element, holds)?,
            }
        }
        Ok(())
    }

    /// Walks the fields of a map that is not on the stack; puts it there to walk into a field.
    #[inline]
    fn fields(&mut self, mut map: MapFrame<'a>) -> Result<(), Stop> {
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
            let holds = match types.get(holds) {
                Type::Optional(_) if found.value.word() == self.words.nil.word() => continue,
                Type::Optional(inner) => inner,
                _ => holds,
            };
            if let Type::Scalar(scalar) = types.get(holds) {
                self.scalar(found.value, (scalar, holds), Some(self.read.names[index]))?;
                continue;
            }
            // Its parts may need the stack.
            self.stack.push(Frame::Map(map));
            let depth = self.stack.len();
            self.part(found.value, holds)?;
            if self.stack.len() > depth {
                return Ok(());
            }
            self.stack.pop();
        }
        if map.closed {
            self.closed_end(&map)?;
        }
        if map.errors == self.errors.count() {
            self.seen.add(self.budget, map.value, map.id);
        }
        Ok(())
    }

    /// Looks at a value whose list or map is on the stack; what has parts is put there, to be walked.
    fn part(&mut self, value: Raw<'a>, id: TypeId) -> Result<(), Stop> {
        let mut id = id;
        loop {
            match self.read.types.get(id) {
                Type::Scalar(scalar) => return self.scalar(value, (scalar, id), None),
                Type::Optional(_) if value.word() == self.words.nil.word() => return Ok(()),
                Type::Optional(inner) => id = inner,
                Type::List(holds) => return self.list(value, id, holds),
                Type::Map { fields, closed } => {
                    match self.map(value, id, fields, closed) {
                        Some(map) => self.stack.push(Frame::Map(map)),
                        None => self.no_map(value, id)?,
                    }
                    return Ok(());
                }
                Type::Unknown(number) => return Err(Stop::Unknown(number)),
            }
        }
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
        let path = path(self.terms, self.read, &self.stack, None);
        self.errors.unexpected(path, &extras)
    }

    fn list_end(&mut self, list: ListFrame<'a>) -> Result<(), Stop> {
        if !self.terms.is_empty_list(list.rest) {
            // Only now is it known that there were no elements to complain about.
            self.errors.truncate(list.errors);
            let path = path(self.terms, self.read, &self.stack, None);
            return self.errors.improper(path);
        }
        if list.errors == self.errors.count() {
            self.seen.add(self.budget, list.value, list.id);
        }
        Ok(())
    }

    #[cold]
    fn absent(&mut self, index: usize, holds: TypeId) -> Result<(), Stop> {
        if matches!(self.read.types.get(holds), Type::Optional(_)) {
            return Ok(());
        }
        self.budget.spend(self.terms, 20)?;
        let path = path(
            self.terms,
            self.read,
            &self.stack,
            Some(self.read.names[index]),
        );
        self.errors.missing(path)
    }

    #[cold]
    fn refuse(
        &mut self,
        name: Option<Raw<'a>>,
        wanted: Wanted,
        value: Raw<'a>,
    ) -> Result<(), Stop> {
        self.budget.spend(self.terms, 20 + self.stack.len())?;
        let path = path(self.terms, self.read, &self.stack, name);
        self.errors.refused(self.words, path, wanted, value)
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

/// The keys of a closed map that no field was found under.
pub fn extras<'a>(
    shapes: &mut Shapes<'a>,
    terms: Terms<'a>,
    read: &Read<'a>,
    id: TypeId,
    fields: Fields,
    map: Opened<'a>,
) -> Vec<Raw<'a>> {
    match map {
        Opened::Flat(_) => {
            let keys = shapes.keys(id);
            let covered = if fields.count == 0 {
                0
            } else {
                shapes.covered(id)
            };
            let free = |at: &usize| covered >> at & 1 == 0;
            let places = (0..keys.len()).filter(free);
            places.map(|at| value_of(terms, keys[at])).collect()
        }
        Opened::Large(large) => {
            let (mut atoms, mut strings) = (HashSet::new(), HashSet::new());
            for field in fields.range() {
                if let Some(found) = shapes.find(&read.types, map, field) {
                    match terms.bytes(found.key) {
                        Some(name) => strings.insert(name),
                        None => atoms.insert(found.key.word()),
                    };
                }
            }
            let mut extras = Vec::new();
            terms.each_entry(large, |key, _| {
                let known = match terms.bytes(key) {
                    Some(name) => strings.contains(name),
                    None => atoms.contains(&key.word()),
                };
                if !known {
                    extras.push(key);
                }
            });
            extras
        }
    }
}
