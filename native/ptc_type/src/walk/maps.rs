//! The walk over the fields of a map.

use super::super::values::{Found, Rows, Values, ABSENT};
use super::super::{Fields, Type, TypeId};
use super::frame::{MapFrame, OpenMap};
use super::{Open, Place, Task, Walk, WalkEnd, Whole};

/// Number of fields that are counted at once; the quantum cannot end before they are walked.
const FIELDS_AT_ONCE: usize = 64;

/// Fuel to find a field in a map that is not flat.
const LARGE_FIELD: usize = 64;

impl<H: Values, K: Task<H>> Walk<'_, H, K> {
    /// Creates the frame of a value that is a map and not in the memo.
    #[inline(always)]
    pub(super) fn map<const RARE: bool>(
        &mut self,
        value: H::Term,
        id: TypeId,
        (fields, closed): (Fields, bool),
        hidden: bool,
    ) -> Option<OpenMap<H::Term, Open<H>, K::Mark>> {
        let open = self.rows.open(self.heap, self.types, id, fields, value)?;
        let is_map = self.state.task.takes_structs() && !(RARE && self.types.has_structs())
            || !self.rows.is_struct(self.heap, id, open)
            || RARE && self.takes_struct(value, id);
        if !is_map || self.memo.has(|| self.heap.identity(value), id) {
            return None;
        }
        let frame = MapFrame {
            id,
            fields,
            closed,
            hidden,
            next: fields.start as usize,
            findings: self.state.findings.count(),
            mark: self.state.task.mark(),
        };
        Some(OpenMap { value, open, frame })
    }

    /// Walks the fields of a map that is not on the stack; returns the result, or that of a map in one of its fields,
    /// with this one on the stack. Pushes the map to walk into a list or because the quantum is over.
    #[inline]
    pub(super) fn fields<const RARE: bool>(
        &mut self,
        mut map: OpenMap<H::Term, Open<H>, K::Mark>,
    ) -> Result<Option<Whole<H, K>>, WalkEnd> {
        let types = self.types;
        loop {
            let end = map.frame.fields.range().end;
            let is_flat = <H::Rows as Rows<H>>::is_flat(map.open);
            let pause = end.min(map.frame.next + FIELDS_AT_ONCE);
            let keys = self.rows.take_fuel();
            self.consume_fuel(1 + (pause - map.frame.next) / 2 + keys)?;
            while map.frame.next < pause {
                let index = map.frame.next;
                map.frame.next += 1;
                let holds = types.holds(index);
                if !is_flat {
                    self.consume_fuel(LARGE_FIELD)?;
                }
                let found = self.rows.find(self.heap, types, map.open, index);
                let Some(found) = found else {
                    self.absent(index, map.frame.hidden, holds)?;
                    continue;
                };
                K::found(self, map.open, &found);
                let (mut holds, mut of) = (holds, types.get(holds));
                if let Type::Optional(inner) = of {
                    if self.heap.is_nil(found.value) {
                        K::field(self, &mut map, &found, K::SAME);
                        continue;
                    }
                    (holds, of) = (inner, types.get(inner));
                }
                let done = match of {
                    Type::Scalar(scalar) if self.heap.is_plainly(scalar, found.value) => K::SAME,
                    Type::Scalar(scalar) => {
                        let hidden = map.frame.hidden;
                        let place = Place {
                            field: index,
                            hidden,
                        };
                        K::scalar(self, scalar, found.value, Some(place))?
                    }
                    Type::Map { fields, closed } => {
                        self.state.stack.push_map(map.value, map.frame);
                        let hidden = self.hides_part::<RARE>();
                        let inner = self.map::<RARE>(found.value, holds, (fields, closed), hidden);
                        if let Some(inner) = inner {
                            map = inner;
                            break;
                        }
                        let done = self.no_map(found.value, holds)?;
                        self.state.stack.pop_map(&*self.heap);
                        done
                    }
                    Type::Where(of, rules) if RARE && types.is_scalar(of) => {
                        let hidden = map.frame.hidden;
                        let place = Place {
                            field: index,
                            hidden,
                        };
                        self.ruled_field(of, rules, found.value, place)?
                    }
                    _ => {
                        // Its parts may need the stack.
                        self.state.stack.push_map(map.value, map.frame);
                        let Some(done) = self.part::<RARE>(found.value, holds)? else {
                            return Ok(None);
                        };
                        self.state.stack.pop_map(&*self.heap);
                        done
                    }
                };
                K::field(self, &mut map, &found, done);
            }
            if map.frame.next >= map.frame.fields.range().end {
                return self.map_end::<RARE>(&map).map(Some);
            }
            if self.safe_point().is_err() {
                self.state.stack.push_map(map.value, map.frame);
                return Ok(None);
            }
        }
    }

    /// Continues with the map on top of the stack: passes it the result of its current part, and walks its other
    /// fields.
    pub(super) fn resume_map<const RARE: bool>(
        &mut self,
        value: H::Term,
        frame: MapFrame<K::Mark>,
        done: Option<Whole<H, K>>,
    ) -> Result<Option<Whole<H, K>>, WalkEnd> {
        let (id, fields) = (frame.id, frame.fields);
        let open = self.rows.open(self.heap, self.types, id, fields, value);
        // It was open before, unless these are the terms of another walk.
        let open = open.ok_or(WalkEnd::Abandoned)?;
        self.state.stack.pop_map(&*self.heap);
        let mut map = OpenMap { value, open, frame };
        if let Some((was, done)) = done {
            let index = frame.next - 1;
            let found = match <H::Rows as Rows<H>>::is_flat(open) {
                true => self.rows.find(self.heap, self.types, open, index),
                false => None,
            };
            let found = found.unwrap_or(Found {
                slot: ABSENT,
                key: was,
                value: was,
            });
            K::field(self, &mut map, &found, done);
        }
        if let Err(end) = self.safe_point() {
            self.state.stack.push_map(map.value, map.frame);
            return Err(end);
        }
        self.fields::<RARE>(map)
    }

    fn map_end<const RARE: bool>(
        &mut self,
        map: &OpenMap<H::Term, Open<H>, K::Mark>,
    ) -> Result<Whole<H, K>, WalkEnd> {
        if map.frame.closed {
            // A struct has other keys, too.
            let is_struct = RARE && self.types.has_structs() && self.heap.is_struct(map.value);
            if !is_struct {
                self.closed_end(map)?;
            }
        }
        let done = K::map_end::<RARE>(self, map)?;
        Ok((map.value, done))
    }
}
