//! The stack of a walk: the open lists and maps.

use super::super::constraint::name_of;
use super::super::findings::PathStep;
use super::super::values::Values;
use super::super::{Fields, TypeId, Types};
use ptc_term::heap::Heap;
use ptc_term::names::is_firewalled;
use ptc_term::roots::Roots;
use ptc_term::suspend::{Exchange, Rooted};

/// An open list or map, without its terms. `M` is the state that the task needs when it ends.
#[derive(Debug, Clone, Copy)]
pub enum Frame<M> {
    /// A list.
    List(ListFrame<M>),
    /// A map.
    Map(MapFrame<M>),
    /// A value of one of several types.
    Union(UnionFrame<M>),
}

/// A value that is tried as one type after another.
#[derive(Debug, Clone, Copy)]
pub struct UnionFrame<M> {
    /// Its type.
    pub id: TypeId,
    /// The number of its types.
    pub union: u32,
    /// The place of the next type; see `next_member`.
    pub next: u32,
    /// Whether the value is in a firewalled field.
    pub hidden: bool,
    /// State of the task at the start of the value.
    pub mark: M,
}

/// An open list.
#[derive(Debug, Clone, Copy)]
pub struct ListFrame<M> {
    /// Its type.
    pub id: TypeId,
    /// The type of its elements.
    pub holds: TypeId,
    /// Number of elements visited.
    pub taken: u32,
    /// Whether the list is in a firewalled field.
    pub hidden: bool,
    /// Whether these are the values of a map with any keys; then the stack has the keys before the list, as a tuple that
    /// ends with the map.
    pub keyed: bool,
    /// Number of findings at the start of the list.
    pub findings: usize,
    /// State of the task at the start of the list.
    pub mark: M,
}

/// An open map.
#[derive(Debug, Clone, Copy)]
pub struct MapFrame<M> {
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

/// A map whose fields are being walked. `O` is the map as the heap has opened it.
#[derive(Debug, Clone, Copy)]
pub struct OpenMap<T, O, M> {
    /// The map.
    pub value: T,
    /// The map as an open map.
    pub open: O,
    /// Where the walk through it is.
    pub frame: MapFrame<M>,
}

impl<M> Frame<M> {
    /// Returns the path step from the list or map to the current part.
    fn step(&self) -> Option<PathStep> {
        Some(match self {
            Frame::Union(_) => return None,
            Frame::List(list) if list.keyed => PathStep::Key(0),
            Frame::List(list) => PathStep::Index(list.taken.saturating_sub(1)),
            Frame::Map(map) => PathStep::Field(map.next.saturating_sub(1) as u32),
        })
    }

    /// Returns whether the current part is in a firewalled field, apart from a key of a map with any keys.
    fn hides_part(&self, types: &Types) -> bool {
        match self {
            Frame::List(list) => list.hidden,
            Frame::Union(union) => union.hidden,
            Frame::Map(map) => {
                map.hidden || is_firewalled(types.field(map.next.saturating_sub(1)).name)
            }
        }
    }
}

/// The frames of a walk, outermost first, and their terms: of each list the list and its rest, of each map the
/// map. The last term is apart, because the walk through a list changes it at each element; before the first frame
/// it is the value.
#[derive(Debug)]
pub struct Stack<T, M> {
    frames: Vec<Frame<M>>,
    terms: Roots<T>,
    last: T,
}

impl<T, M> Stack<T, M> {
    /// Returns an empty stack for the walk over this value.
    pub fn new(value: T) -> Self {
        Stack {
            frames: Vec::new(),
            terms: Roots::default(),
            last: value,
        }
    }
}

impl<T, M> Rooted for Stack<T, M> {
    type Term = T;
    type With<U> = Stack<U, M>;

    fn exchange<X: Exchange<T>>(self, by: &mut X) -> Result<Stack<X::Into, M>, X::Lost> {
        Ok(Stack {
            frames: self.frames,
            terms: self.terms.exchange(by)?,
            last: by.term(self.last)?,
        })
    }
}

impl<T: Copy, M: Copy> Stack<T, M> {
    /// Returns the number of frames.
    pub fn depth(&self) -> usize {
        self.frames.len()
    }

    /// Returns the path of the current part.
    pub fn path(&self) -> impl Iterator<Item = PathStep> + '_ {
        self.frames.iter().filter_map(Frame::step)
    }

    /// Returns whether the current part is in a firewalled field.
    pub fn hides_part<H: Values<Term = T>>(&self, types: &Types, heap: &H) -> bool {
        self.is_in_hidden_field(types) || types.has_maps_of() && self.is_below_hidden_key(heap)
    }

    /// Returns the same where no map has any keys.
    #[inline]
    pub fn hides_field(&self, types: &Types) -> bool {
        types.has_firewalled() && self.is_in_hidden_field(types)
    }

    #[inline(never)]
    fn is_in_hidden_field(&self, types: &Types) -> bool {
        let innermost = self.frames.last();
        innermost.is_some_and(|frame| frame.hides_part(types))
    }

    #[cold]
    fn is_below_hidden_key<H: Values<Term = T>>(&self, heap: &H) -> bool {
        let hides = |key| name_of(heap, key, is_firewalled).unwrap_or(false);
        matches!(self.frames.last(), Some(Frame::List(list)) if list.keyed)
            && self.key(heap).is_some_and(hides)
    }

    /// Returns the current key of the innermost map with any keys, if its frame is the innermost one.
    fn key<H: Heap<Term = T>>(&self, heap: &H) -> Option<T> {
        let Some(Frame::List(list)) = self.frames.last() else {
            return None;
        };
        let keys = self.terms.get(heap, self.terms.len().checked_sub(2)?);
        heap.element(keys, list.taken.saturating_sub(1) as usize)
    }

    /// Returns the current keys of the maps with any keys, outermost first.
    pub fn keys<H: Heap<Term = T>>(&self, heap: &H) -> Vec<T> {
        let (mut at, mut keys) = (1, Vec::new());
        for frame in &self.frames {
            at += match frame {
                Frame::Map(_) | Frame::Union(_) => 1,
                Frame::List(list) if list.keyed => {
                    let place = list.taken.saturating_sub(1) as usize;
                    keys.extend(heap.element(self.terms.get(heap, at), place));
                    3
                }
                Frame::List(_) => 2,
            };
        }
        keys
    }

    /// Adds the values of a map with any keys, as a list; `keys` are its keys and the map.
    pub fn push_values(&mut self, keys: T, values: T, list: ListFrame<M>) {
        self.frames.push(Frame::List(list));
        self.push(keys);
        self.push(values);
        self.push(values);
    }

    /// Adds a list, with its rest.
    #[inline]
    pub fn push_list(&mut self, value: T, rest: T, list: ListFrame<M>) {
        self.frames.push(Frame::List(list));
        self.push(value);
        self.push(rest);
    }

    /// Adds a map.
    #[inline]
    pub fn push_map(&mut self, value: T, map: MapFrame<M>) {
        self.frames.push(Frame::Map(map));
        self.push(value);
    }

    /// Adds a value of one of several types.
    pub fn push_union(&mut self, value: T, union: UnionFrame<M>) {
        self.frames.push(Frame::Union(union));
        self.push(value);
    }

    /// Replaces the innermost frame, which is that of a value of one of several types.
    pub fn set_union(&mut self, union: UnionFrame<M>) {
        if let Some(frame) = self.frames.last_mut() {
            *frame = Frame::Union(union);
        }
    }

    /// Removes all frames above the innermost value of one of several types; false if there is none.
    pub fn unwind<H: Heap<Term = T>>(&mut self, heap: &H) -> bool {
        loop {
            let terms = match self.frames.last() {
                None => return false,
                Some(Frame::Union(_)) => return true,
                Some(Frame::Map(_)) => 1,
                Some(Frame::List(list)) if list.keyed => 3,
                Some(Frame::List(_)) => 2,
            };
            self.frames.pop();
            for _ in 0..terms {
                self.last = self.terms.pop(heap);
            }
        }
    }

    #[inline]
    fn push(&mut self, term: T) {
        self.terms.push(std::mem::replace(&mut self.last, term));
    }

    /// Returns the innermost frame.
    #[inline]
    pub fn top(&mut self) -> Option<&mut Frame<M>> {
        self.frames.last_mut()
    }

    /// Returns the innermost frame, with the rest of its list or its map.
    #[inline]
    pub fn top_with_last(&mut self) -> Option<(&mut Frame<M>, T)> {
        Some((self.frames.last_mut()?, self.last))
    }

    /// Returns the innermost list, if the innermost frame is one.
    pub fn top_list<H: Heap<Term = T>>(&mut self, heap: &H) -> T {
        let list = self.terms.last_mut(heap);
        list.copied().unwrap_or_else(|| heap.nil())
    }

    /// Moves on in the innermost list, by this many elements to `rest`.
    #[inline]
    pub fn advance(&mut self, rest: T, elements: u32) {
        if let Some(Frame::List(list)) = self.frames.last_mut() {
            list.taken = list.taken.saturating_add(elements);
            self.last = rest;
        }
    }

    /// Removes the innermost frame, if it is that of a list; returns it, the list and its rest.
    #[inline]
    pub fn pop_list<H: Heap<Term = T>>(&mut self, heap: &H) -> Option<(ListFrame<M>, T, T)> {
        let Some(Frame::List(frame)) = self.frames.pop() else {
            return None;
        };
        let (rest, list) = (self.last, self.terms.pop(heap));
        self.last = self.terms.pop(heap);
        Some((frame, list, rest))
    }

    /// Removes what is left of the values of a map with any keys, after [`Stack::pop_list`]; returns the keys.
    pub fn pop_keys<H: Heap<Term = T>>(&mut self, heap: &H) -> T {
        let before = self.terms.pop(heap);
        std::mem::replace(&mut self.last, before)
    }

    /// Removes the innermost frame, which is that of a map or of a value of one of several types.
    #[inline]
    pub fn pop_map<H: Heap<Term = T>>(&mut self, heap: &H) {
        self.frames.pop();
        self.last = self.terms.pop(heap);
    }

    /// Returns the open lists, outermost first, each with its rest.
    pub fn lists<H: Heap<Term = T>>(&self, heap: &H) -> Vec<(T, T)> {
        let get = |at| match at < self.terms.len() {
            true => self.terms.get(heap, at),
            false => self.last,
        };
        // The first one is the value.
        let mut at = 1;
        let mut lists = Vec::new();
        for frame in &self.frames {
            at += match frame {
                Frame::Map(_) | Frame::Union(_) => 1,
                Frame::List(list) if list.keyed => 3,
                Frame::List(_) => {
                    lists.push((get(at), get(at + 1)));
                    2
                }
            };
        }
        lists
    }
}
