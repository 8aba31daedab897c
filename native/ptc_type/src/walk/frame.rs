//! The stack of a walk: the open lists and maps.

use super::super::findings::PathStep;
use super::super::{Fields, TypeId, Types};
use ptc_term::heap::Heap;
use ptc_term::names::is_firewalled;

/// An open list or map. `T` and `O` are terms and open maps, `M` is the state that the task needs when
/// the list or map ends.
#[derive(Debug, Clone, Copy)]
pub enum Frame<T, O, M> {
    /// A list.
    List(ListFrame<T, M>),
    /// A map.
    Map(MapFrame<T, O, M>),
}

/// An open list.
#[derive(Debug, Clone, Copy)]
pub struct ListFrame<T, M> {
    /// The list.
    pub value: T,
    /// The remaining list.
    pub rest: T,
    /// Its type.
    pub id: TypeId,
    /// The type of its elements.
    pub holds: TypeId,
    /// Number of elements visited.
    pub taken: u32,
    /// Whether the list is in a firewalled field.
    pub hidden: bool,
    /// Number of findings at the start of the list.
    pub findings: usize,
    /// State of the task at the start of the list.
    pub mark: M,
}

impl<T, M> ListFrame<T, M> {
    /// Returns the same frame with these terms.
    fn of<U>(self, value: U, rest: U) -> ListFrame<U, M> {
        ListFrame {
            value,
            rest,
            id: self.id,
            holds: self.holds,
            taken: self.taken,
            hidden: self.hidden,
            findings: self.findings,
            mark: self.mark,
        }
    }
}

/// An open map.
#[derive(Debug, Clone, Copy)]
pub struct MapFrame<T, O, M> {
    /// The map.
    pub value: T,
    /// The map as an open map.
    pub open: O,
    /// Its type.
    pub id: TypeId,
    /// The fields of its type.
    pub fields: Fields,
    /// Whether other keys are refused.
    pub closed: bool,
    /// Whether the map is in a firewalled field.
    pub hidden: bool,
    /// Index of the next field.
    pub next: usize,
    /// Number of findings at the start of the map.
    pub findings: usize,
    /// State of the task at the start of the map.
    pub mark: M,
}

impl<T, O, M> MapFrame<T, O, M> {
    /// Returns the same frame with these terms.
    fn of<U, P>(self, value: U, open: P) -> MapFrame<U, P, M> {
        MapFrame {
            value,
            open,
            id: self.id,
            fields: self.fields,
            closed: self.closed,
            hidden: self.hidden,
            next: self.next,
            findings: self.findings,
            mark: self.mark,
        }
    }
}

impl<T, O, M> Frame<T, O, M> {
    /// Returns the path step from the list or map to the current part.
    pub fn step(&self) -> PathStep {
        match self {
            Frame::List(list) => PathStep::Index(list.taken.saturating_sub(1)),
            Frame::Map(map) => PathStep::Field(map.next.saturating_sub(1) as u32),
        }
    }

    /// Returns whether the current part is in a firewalled field.
    pub fn hides_part(&self, types: &Types) -> bool {
        match self {
            Frame::List(list) => list.hidden,
            Frame::Map(map) => {
                map.hidden || is_firewalled(types.field(map.next.saturating_sub(1)).name)
            }
        }
    }
}

/// The frames of a walk, outermost first: the live ones, and below them those that were frozen when the
/// walk was suspended. The terms of frozen frames are in a list on the heap.
#[derive(Debug)]
pub struct Stack<T, O, M> {
    /// The innermost frames.
    pub live: Vec<Frame<T, O, M>>,
    /// The other frames.
    pub frozen: Vec<Frame<(), (), M>>,
    /// The terms of the frozen frames, innermost first; for a list the remaining list, then the whole
    /// list.
    pub terms: Option<T>,
}

impl<T: Copy, O: Copy, M: Copy> Default for Stack<T, O, M> {
    fn default() -> Self {
        Stack {
            live: Vec::with_capacity(8),
            frozen: Vec::new(),
            terms: None,
        }
    }
}

impl<T: Copy, O: Copy, M: Copy> Stack<T, O, M> {
    /// Returns the number of frames.
    pub fn depth(&self) -> usize {
        self.frozen.len() + self.live.len()
    }

    /// Returns the path of the current part.
    pub fn path(&self) -> impl Iterator<Item = PathStep> + '_ {
        let frozen = self.frozen.iter().map(Frame::step);
        frozen.chain(self.live.iter().map(Frame::step))
    }

    /// Returns whether the current part is in a firewalled field.
    pub fn hides_part(&self, types: &Types) -> bool {
        match (self.live.last(), self.frozen.last()) {
            (Some(frame), _) => frame.hides_part(types),
            (None, Some(frame)) => frame.hides_part(types),
            (None, None) => false,
        }
    }

    /// Thaws the innermost frozen frame; `open` opens its map again.
    #[cold]
    pub fn thaw<H: Heap<Term = T>>(
        &mut self,
        heap: &H,
        open: impl FnOnce(TypeId, Fields, T) -> Option<O>,
    ) -> Option<()> {
        let pop = |terms: &mut Option<T>| {
            let (term, rest) = heap.uncons((*terms)?)?;
            *terms = Some(rest);
            Some(term)
        };
        let frame = match self.frozen.pop()? {
            Frame::List(list) => {
                let rest = pop(&mut self.terms)?;
                Frame::List(list.of(pop(&mut self.terms)?, rest))
            }
            Frame::Map(map) => {
                let value = pop(&mut self.terms)?;
                let open = open(map.id, map.fields, value)?;
                Frame::Map(map.of(value, open))
            }
        };
        self.live.push(frame);
        Some(())
    }

    /// Freezes the live frames; a frame is frozen at most once, however often the walk is suspended.
    pub fn freeze<H: Heap<Term = T>>(&mut self, heap: &mut H) -> T {
        let mut terms = match self.terms {
            Some(terms) => terms,
            None => heap.make_list(&[]),
        };
        for frame in self.live.drain(..) {
            self.frozen.push(match frame {
                Frame::List(list) => {
                    terms = heap.cons(list.value, terms);
                    terms = heap.cons(list.rest, terms);
                    Frame::List(list.of((), ()))
                }
                Frame::Map(map) => {
                    terms = heap.cons(map.value, terms);
                    Frame::Map(map.of((), ()))
                }
            });
        }
        self.terms = Some(terms);
        terms
    }

    /// Returns the open lists, outermost first, each with its remaining list.
    pub fn lists<H: Heap<Term = T>>(&self, heap: &H) -> Vec<(T, T)> {
        let mut lists = Vec::new();
        let mut terms = self.terms;
        let mut pop = || {
            let (term, rest) = heap.uncons(terms?)?;
            terms = Some(rest);
            Some(term)
        };
        for frame in self.frozen.iter().rev() {
            let term = pop();
            if let (Frame::List(_), Some(rest)) = (frame, term) {
                lists.extend(pop().map(|value| (value, rest)));
            }
        }
        lists.reverse();
        lists.extend(self.live.iter().filter_map(|frame| match frame {
            Frame::List(list) => Some((list.value, list.rest)),
            Frame::Map(_) => None,
        }));
        lists
    }
}
