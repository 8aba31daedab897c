//! The walk over the elements of a list.

use super::super::values::{Class, Values};
use super::super::{Scalar, Target, Type, TypeId};
use super::frame::{Frame, ListFrame};
use super::{Task, Walk, WalkEnd, Whole};

impl<H: Values, K: Task<H>> Walk<'_, H, K> {
    pub(super) fn list<const RARE: bool>(
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
        // A list of which nothing must be handled needs no place on the stack.
        let (rest, taken) = match self.types.get(holds) {
            Type::Scalar(scalar) => self.plain(scalar, value)?,
            _ => (value, 0),
        };
        let list = ListFrame {
            id,
            holds,
            taken,
            hidden: self.hides_part::<RARE>(),
            keyed: false,
            findings: self.state.findings.count(),
            mark: self.state.task.mark(),
        };
        if self.heap.is_empty_list(rest) {
            return self.list_done::<RARE>(value, &list, true).map(Some);
        }
        self.state.stack.push_list(value, rest, list);
        Ok(None)
    }

    /// Handles the end of a list, and the rules of its type.
    #[inline]
    fn list_done<const RARE: bool>(
        &mut self,
        value: H::Term,
        list: &ListFrame<K::Mark>,
        is_proper: bool,
    ) -> Result<K::Done, WalkEnd> {
        let done = K::list_end(self, value, list, is_proper)?;
        if RARE {
            if let Type::Where(_, rules) = self.types.get(list.id) {
                self.ruled_list(rules, (value, done), list, is_proper)?;
            }
        }
        Ok(done)
    }

    /// Walks the list on top of the stack, until an element needs the stack; returns the result at the
    /// end of the list.
    pub(super) fn elements<const RARE: bool>(
        &mut self,
        holds: TypeId,
    ) -> Result<Option<Whole<H, K>>, WalkEnd> {
        let of = self.types.get(holds);
        let Some((Frame::List(list), rest)) = self.state.stack.top_with_last() else {
            return Ok(None);
        };
        let (mut rest, hidden, keyed) = (rest, list.hidden, list.keyed);
        let depth = self.state.stack.depth();
        loop {
            if let Type::Scalar(scalar) = of {
                rest = self.pass_plain(scalar, rest)?;
            }
            self.safe_point()?;
            let Some((element, tail)) = self.heap.uncons(rest) else {
                return self.list_end::<RARE>();
            };
            rest = tail;
            self.state.stack.advance(rest, 1);
            self.consume_fuel(1)?;
            let done = match of {
                Type::Scalar(scalar) if self.heap.is_plainly(scalar, element) => Some(K::SAME),
                Type::Scalar(scalar) => Some(K::scalar(self, scalar, element, None)?),
                Type::Map { fields, closed } => {
                    let hidden = hidden || RARE && keyed && self.hides_part::<RARE>();
                    match self.map::<RARE>(element, holds, (fields, closed), hidden) {
                        Some(map) => match self.fields::<RARE>(map)? {
                            Some((_, done)) if self.state.stack.depth() == depth => Some(done),
                            // That of a map within this one.
                            whole => return Ok(whole),
                        },
                        None => Some(self.no_map(element, holds)?),
                    }
                }
                _ => self.part::<RARE>(element, holds)?,
            };
            match done {
                Some(done) => K::element(self, element, done),
                None => return Ok(None),
            }
        }
    }

    /// Passes over the next elements that stay as they are, if the task need not know of them; returns the rest.
    #[inline]
    fn pass_plain(&mut self, scalar: Scalar, rest: H::Term) -> Result<H::Term, WalkEnd> {
        match self.state.stack.top() {
            Some(Frame::List(list)) if K::passes(&list.mark) => {}
            _ => return Ok(rest),
        }
        let (rest, passed) = self.plain(scalar, rest)?;
        self.state.stack.advance(rest, passed);
        Ok(rest)
    }

    /// Passes over elements that stay as they are; returns the rest of the list, and how many there were.
    #[inline]
    fn plain(&mut self, scalar: Scalar, list: H::Term) -> Result<(H::Term, u32), WalkEnd> {
        let (mut rest, mut passed) = (list, 0);
        while self.safe_point().is_ok() {
            match self.heap.uncons(rest) {
                Some((element, tail)) if self.heap.is_plainly(scalar, element) => {
                    self.consume_fuel(1)?;
                    (rest, passed) = (tail, passed + 1);
                }
                _ => break,
            }
        }
        Ok((rest, passed))
    }

    fn list_end<const RARE: bool>(&mut self) -> Result<Option<Whole<H, K>>, WalkEnd> {
        let Some((list, value, rest)) = self.state.stack.pop_list(&*self.heap) else {
            return Ok(None);
        };
        if RARE && list.keyed {
            return self.values_end(value, &list).map(Some);
        }
        let is_proper = self.heap.is_empty_list(rest);
        if !is_proper {
            self.improper(value, &list)?;
        }
        let done = self.list_done::<RARE>(value, &list, is_proper)?;
        Ok(Some((value, done)))
    }
}
