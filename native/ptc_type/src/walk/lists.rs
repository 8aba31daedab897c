//! The walk over the elements of a list.

use super::super::values::{Class, Values};
use super::super::{Target, Type, TypeId};
use super::frame::{Frame, ListFrame};
use super::{Task, Walk, WalkEnd, Whole};

impl<H: Values, K: Task<H>> Walk<'_, H, K> {
    pub(super) fn list(
        &mut self,
        value: H::Term,
        id: TypeId,
        holds: TypeId,
    ) -> Result<Option<K::Done>, WalkEnd> {
        if self.heap.class(value) != Class::List {
            self.refuse(None, Target::List, value)?;
            return Ok(Some(K::SAME));
        }
        if self.memo.has(|| self.heap.identity(value), id) {
            return Ok(Some(K::SAME));
        }
        self.stack.live.push(Frame::List(ListFrame {
            value,
            rest: value,
            id,
            holds,
            taken: 0,
            hidden: self.stack.hides_part(self.types),
            findings: self.findings.count(),
            mark: self.task.mark(),
        }));
        Ok(None)
    }

    /// Walks the list on top of the stack, until an element needs the stack; returns the result at the
    /// end of the list.
    pub(super) fn elements(&mut self, holds: TypeId) -> Result<Option<Whole<H, K>>, WalkEnd> {
        let of = self.types.get(holds);
        loop {
            self.safe_point()?;
            let Some(Frame::List(list)) = self.stack.live.last_mut() else {
                return Ok(None);
            };
            let Some((element, rest)) = self.heap.uncons(list.rest) else {
                let list = *list;
                self.stack.live.pop();
                return self.list_end(list).map(Some);
            };
            list.rest = rest;
            list.taken = list.taken.saturating_add(1);
            let hidden = list.hidden;
            self.consume_fuel(1)?;
            let done = match of {
                Type::Scalar(scalar) if self.heap.is_plainly(scalar, element) => Some(K::SAME),
                Type::Scalar(scalar) => Some(K::scalar(self, scalar, element, None)?),
                Type::Map { fields, closed } => {
                    match self.map(element, holds, (fields, closed), hidden) {
                        Some(map) => self.fields(map)?.map(|(_, done)| done),
                        None => Some(self.no_map(element, holds)?),
                    }
                }
                _ => self.part(element, holds)?,
            };
            match done {
                Some(done) => K::element(self, element, done),
                None => return Ok(None),
            }
        }
    }

    fn list_end(&mut self, list: ListFrame<H::Term, K::Mark>) -> Result<Whole<H, K>, WalkEnd> {
        let is_proper = self.heap.is_empty_list(list.rest);
        if !is_proper {
            self.improper(&list)?;
        }
        Ok((list.value, K::list_end(self, &list, is_proper)?))
    }
}
