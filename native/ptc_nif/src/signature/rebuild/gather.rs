//! What parts became, gathered into what they are parts of.

use super::super::budget::Stop;
use super::super::errors::Wanted;
use super::super::map_out;
use super::super::shape::Opened;
use super::super::validate::extras;
use super::frame::{path, Before, Frame, ListFrame, MapFrame};
use super::{Failure, Purpose, Rebuild};
use crate::map_view::value_of;
use crate::raw::Raw;
use ptc_core::signature::TypeId;

impl<'a> Rebuild<'a, '_> {
    /// Takes what a field of a map became.
    #[inline]
    pub(super) fn settle(&mut self, map: &mut MapFrame<'a>, slot: u8, was: Raw<'a>, is: Raw<'a>) {
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
    pub(super) fn deliver(&mut self, value: Raw<'a>) {
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
    pub(super) fn element(&mut self, list: &mut ListFrame<'a>, value: Raw<'a>) {
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

    pub(super) fn list_end(&mut self, list: ListFrame<'a>) -> Result<Raw<'a>, Stop> {
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

    pub(super) fn map_end(&mut self, map: &MapFrame<'a>) -> Result<Raw<'a>, Stop> {
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

    pub(super) fn before(&self) -> Before {
        Before {
            outputs: self.outputs.len(),
            budget: self.budget.left(),
            errors: self.errors.count(),
            warnings: self.converter.warnings.len(),
            asked: self.asked.len(),
        }
    }

    /// A value that is right as it is need not be looked at again.
    pub(super) fn remember(&mut self, before: &Before, value: Raw<'a>, id: TypeId) {
        let now = self.before();
        if (now.errors, now.warnings, now.asked) == (before.errors, before.warnings, before.asked) {
            self.seen.add(self.budget, value, id);
        }
    }
}
