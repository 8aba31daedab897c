//! The walk over the fields of a map.

use super::super::values::{Found, Rows, Values, ABSENT};
use super::super::{Fields, Type, TypeId};
use super::frame::{Frame, MapFrame};
use super::{Open, Place, Task, Walk, WalkEnd, Whole};

/// Number of fields that are counted at once; the quantum cannot end before they are walked.
const FIELDS_AT_ONCE: usize = 64;

/// Fuel to find a field in a map that is not flat.
const LARGE_FIELD: usize = 64;

impl<H: Values, K: Task<H>> Walk<'_, H, K> {
    /// Creates the frame of a value that is a map and not in the memo.
    #[inline(always)]
    pub(super) fn map(
        &mut self,
        value: H::Term,
        id: TypeId,
        (fields, closed): (Fields, bool),
        hidden: bool,
    ) -> Option<MapFrame<H::Term, Open<H>, K::Mark>> {
        let open = self.rows.open(self.heap, self.types, id, fields, value)?;
        let is_map = self.task.takes_structs() || !self.rows.is_struct(self.heap, id, open);
        if !is_map || self.memo.has(|| self.heap.identity(value), id) {
            return None;
        }
        Some(MapFrame {
            value,
            open,
            id,
            fields,
            closed,
            hidden,
            next: fields.start as usize,
            findings: self.findings.count(),
            mark: self.task.mark(),
        })
    }

    /// Walks the fields of a map that is not on the stack; returns the result, or pushes the map to
    /// walk into a field or because the quantum is over.
    #[inline]
    pub(super) fn fields(
        &mut self,
        mut map: MapFrame<H::Term, Open<H>, K::Mark>,
    ) -> Result<Option<Whole<H, K>>, WalkEnd> {
        let types = self.types;
        let end = map.fields.range().end;
        let is_flat = <H::Rows as Rows<H>>::is_flat(map.open);
        loop {
            let pause = end.min(map.next + FIELDS_AT_ONCE);
            let keys = self.rows.take_fuel();
            self.consume_fuel(1 + (pause - map.next) / 2 + keys)?;
            while map.next < pause {
                let index = map.next;
                map.next += 1;
                let holds = types.holds(index);
                if !is_flat {
                    self.consume_fuel(LARGE_FIELD)?;
                }
                let found = self.rows.find(self.heap, types, map.open, index);
                let Some(found) = found else {
                    self.absent(index, map.hidden, holds)?;
                    continue;
                };
                K::found(self, map.open, &found);
                let holds = match types.get(holds) {
                    Type::Optional(_) if self.heap.is_nil(found.value) => {
                        K::field(self, &mut map, &found, K::SAME);
                        continue;
                    }
                    Type::Optional(inner) => inner,
                    _ => holds,
                };
                let done = match types.get(holds) {
                    Type::Scalar(scalar) if self.heap.is_plainly(scalar, found.value) => K::SAME,
                    Type::Scalar(scalar) => {
                        let hidden = map.hidden;
                        let place = Place {
                            field: index,
                            hidden,
                        };
                        K::scalar(self, scalar, found.value, Some(place))?
                    }
                    _ => {
                        // Its parts may need the stack.
                        self.stack.live.push(Frame::Map(map));
                        let Some(done) = self.part(found.value, holds)? else {
                            return Ok(None);
                        };
                        self.stack.live.pop();
                        done
                    }
                };
                K::field(self, &mut map, &found, done);
            }
            if map.next >= end {
                return self.map_end(&map).map(Some);
            }
            if self.safe_point().is_err() {
                self.stack.live.push(Frame::Map(map));
                return Ok(None);
            }
        }
    }

    /// Passes the result of a part to the map on top of the stack.
    pub(super) fn deliver(&mut self, was: H::Term, done: K::Done) {
        let Some(Frame::Map(mut map)) = self.stack.live.pop() else {
            return;
        };
        let index = map.next - 1;
        let found = match <H::Rows as Rows<H>>::is_flat(map.open) {
            true => self.rows.find(self.heap, self.types, map.open, index),
            false => None,
        };
        let found = found.unwrap_or(Found {
            slot: ABSENT,
            key: was,
            value: was,
        });
        K::field(self, &mut map, &found, done);
        self.stack.live.push(Frame::Map(map));
    }

    fn map_end(
        &mut self,
        map: &MapFrame<H::Term, Open<H>, K::Mark>,
    ) -> Result<Whole<H, K>, WalkEnd> {
        if map.closed {
            self.closed_end(map)?;
        }
        let done = K::map_end(self, map)?;
        Ok((map.value, done))
    }
}
