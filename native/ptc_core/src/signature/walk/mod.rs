//! The walk over a value along its type: the one place that knows how they are taken apart.
//!
//! What happens at each place is the business of a [`Task`]: [`Check`](super::check::Check) makes
//! nothing, [`Coerce`](super::coerce::Coerce) makes what the value becomes. Each task has a walk of
//! its own at run time, in which what it leaves out costs nothing.
//!
//! * this file: lists, maps and their parts
//! * [`frame`]: where the walk is, live and frozen
//! * `refuse`: what is not as it should be
//! * `suspend`: a walk between two quanta

pub mod frame;
mod refuse;
mod suspend;

pub use suspend::Suspended;

use super::findings::Findings;
use super::memo::Memo;
use super::names::Matching;
use super::values::{Class, Found, Rows, Values};
use super::{Fields, Scalar, Target, Type, TypeId, Types};
use crate::fault::Halt;
use crate::heap::Heap;
use crate::meter::{Meter, Pace};
use frame::{Frame, ListFrame, MapFrame, Stack};

/// Why a walk ends before its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WalkEnd {
    /// The slice or the quantum is over. After a quantum the walk can go on, or be suspended.
    SliceOver,
    /// Nobody waits for it any more.
    Abandoned,
    /// A term in the place of a type, by its number.
    Unknown(u32),
    /// There is more to report than anybody can read, or keep in memory.
    TooMuch,
    /// The value cannot be coerced; the finding says why.
    Failed,
}

impl<T> From<Halt<T>> for WalkEnd {
    fn from(halt: Halt<T>) -> Self {
        match halt {
            Halt::SliceOver => WalkEnd::SliceOver,
            _ => WalkEnd::Abandoned,
        }
    }
}

/// What a walk does at the places it comes to.
pub trait Task<H: Values>: Sized {
    /// What a part of the value becomes.
    type Done: Copy;
    /// How things stood when a list or map was entered; no terms.
    type Mark: Copy;
    /// The task without its terms.
    type Frozen;

    /// It stays as it is.
    const SAME: Self::Done;

    /// Which keys are meant by the declared names.
    fn matching(&self) -> Matching;
    /// Whether structs pass as maps.
    fn takes_structs(&self) -> bool;
    /// Whether the first finding ends the walk.
    fn ends_at_first(&self) -> bool;
    /// How things stand.
    fn mark(&self) -> Self::Mark;
    /// Whether nothing was said since, so that the value need not be looked at again.
    fn is_silent_since(&self, mark: &Self::Mark) -> bool;

    /// A value of a type without parts. `place`: its field, if the map is not on the stack.
    fn scalar(
        walk: &mut Walk<H, Self>,
        of: (Scalar, TypeId),
        value: H::Term,
        place: Option<Place>,
    ) -> Result<Self::Done, WalkEnd>;
    /// A field was found, before the walk looks at its value.
    fn found(walk: &mut Walk<H, Self>, open: Open<H>, found: &Found<H::Term>);
    /// What a field became.
    fn field(
        walk: &mut Walk<H, Self>,
        map: &mut MapFrame<H::Term, Open<H>, Self::Mark>,
        found: &Found<H::Term>,
        done: Self::Done,
    );
    /// What an element of the list on top of the stack became.
    fn element(walk: &mut Walk<H, Self>, was: H::Term, done: Self::Done);
    /// The end of a list, or of what can be walked of an improper one.
    fn list_end(
        walk: &mut Walk<H, Self>,
        list: &ListFrame<H::Term, Self::Mark>,
        is_proper: bool,
    ) -> Result<Self::Done, WalkEnd>;
    /// The end of a map.
    fn map_end(
        walk: &mut Walk<H, Self>,
        map: &MapFrame<H::Term, Open<H>, Self::Mark>,
    ) -> Result<Self::Done, WalkEnd>;

    /// Moves its terms to `terms`.
    fn freeze(self, heap: &mut H, terms: &mut Vec<H::Term>) -> Self::Frozen;
    /// Takes them back, in the same order.
    fn thaw(frozen: Self::Frozen, heap: &H, terms: &mut dyn Iterator<Item = H::Term>) -> Self;
}

/// An open map of a heap.
pub type Open<H> = <<H as Values>::Rows as Rows<H>>::Open;

/// A field of a map that is not on the stack.
#[derive(Debug, Clone, Copy)]
pub struct Place {
    field: usize,
    /// The map stands in a firewalled field.
    hidden: bool,
}

/// After so many elements a list is judged by them.
const FIRST_ELEMENTS: u32 = 64;
/// About as much fuel as a slice has.
const FUEL_OF_A_SLICE: usize = 80_000;
/// So many fields are paid for at once, and walked before the quantum can end.
const FIELDS_AT_ONCE: usize = 64;
/// From here on a walk remembers what it has seen: no value takes so long unless its parts are
/// shared over and over.
const FUEL_BEFORE_MEMO: usize = 40_000_000;

/// A walk under way.
pub struct Walk<'c, 't, H: Values, K: Task<H>> {
    /// The heap of the value.
    pub heap: &'c mut H,
    pub(super) types: &'c Types<'t>,
    meter: Meter,
    pace: Pace,
    /// The fuel of all quanta.
    fuel: usize,
    /// The quantum is over when so much fuel is consumed: 0 since it is.
    pause_at: usize,
    memo_after: usize,
    /// What is done.
    pub task: K,
    /// What was found wrong.
    pub findings: Findings<H::Term>,
    pub(super) rows: H::Rows,
    pub(super) stack: Stack<H::Term, Open<H>, K::Mark>,
    memo: Memo,
    /// The value, until the walk begins.
    begin: Option<(H::Term, TypeId)>,
}

/// What a list or map was, and what it became.
type Whole<H, K> = (<H as Heap>::Term, <K as Task<H>>::Done);

impl<'c, 't, H: Values, K: Task<H>> Walk<'c, 't, H, K> {
    /// A walk over a value.
    pub fn new(
        heap: &'c mut H,
        types: &'c Types<'t>,
        (value, id): (H::Term, TypeId),
        task: K,
        (meter, pace): (Meter, Pace),
    ) -> Self {
        let rows = H::Rows::new(heap, types, task.matching());
        Walk {
            heap,
            types,
            meter,
            pace,
            fuel: 0,
            pause_at: usize::MAX,
            memo_after: FUEL_BEFORE_MEMO,
            task,
            findings: Findings::default(),
            rows,
            stack: Stack::default(),
            memo: Memo::default(),
            begin: Some((value, id)),
        }
    }

    /// The quantum ends after so much fuel, whatever the clock says, for tests.
    pub fn pause_after(&mut self, units: usize) {
        self.pause_at = self.fuel + units;
    }

    /// The walk remembers what it has seen, after so much fuel, for tests.
    pub fn remember_after(&mut self, units: usize) {
        self.memo_after = units;
        self.memo.on = self.fuel >= units;
    }

    /// Whether it remembers what it has seen; what is remembered is lost when it is suspended.
    pub fn remembers(&self) -> bool {
        self.memo.on
    }

    /// The fuel consumed since the walk began, in all its quanta.
    pub fn fuel(&self) -> usize {
        self.fuel
    }

    /// What counts its work.
    pub fn meter(&self) -> &Meter {
        &self.meter
    }

    /// Another quantum.
    pub fn refuel(&mut self, meter: Meter) {
        self.meter = meter;
        self.pause_at = usize::MAX;
        self.memo.on = self.fuel >= self.memo_after;
    }

    /// Goes on to the end, or to the end of the quantum.
    pub fn run(&mut self) -> Result<K::Done, WalkEnd> {
        let mut done = match self.begin {
            Some((value, id)) => {
                self.begin = None;
                self.part(value, id)?.map(|done| (value, done))
            }
            None => None,
        };
        loop {
            if self.stack.live.is_empty() && !self.stack.frozen.is_empty() {
                self.thaw_frame();
            }
            if let Some((was, done)) = done {
                match self.stack.live.last() {
                    None => return Ok(done),
                    Some(Frame::List(_)) => K::element(self, was, done),
                    Some(Frame::Map(_)) => self.deliver(was, done),
                }
            }
            self.safe_point()?;
            done = match self.stack.live.last() {
                Some(Frame::List(list)) => {
                    let holds = list.holds;
                    self.elements(holds)?
                }
                Some(Frame::Map(map)) => {
                    let map = *map;
                    self.stack.live.pop();
                    self.fields(map)?
                }
                None => return Ok(K::SAME),
            };
        }
    }

    fn thaw_frame(&mut self) {
        let (heap, types, rows) = (&*self.heap, self.types, &mut self.rows);
        self.stack.thaw(heap, |id, fields, value| {
            rows.open(heap, types, id, fields, value)
        });
    }

    /// Consumes fuel for work that comes next. A slice ends anywhere, since its walk is given up and
    /// begins anew on a dirty scheduler; a quantum ends at the next safe point.
    #[inline]
    pub(super) fn spend(&mut self, units: usize) -> Result<(), WalkEnd> {
        self.fuel += units;
        match self.meter.consume_fuel(units, &*self.heap) {
            Ok(()) => Ok(()),
            Err(halt) => self.halt(halt.into()),
        }
    }

    #[cold]
    fn halt(&mut self, stop: WalkEnd) -> Result<(), WalkEnd> {
        match (stop, self.pace) {
            (WalkEnd::SliceOver, Pace::Quantum) => {
                self.pause_at = 0;
                Ok(())
            }
            _ => Err(stop),
        }
    }

    /// Everything that the walk knows stands in its fields: it can be suspended here.
    #[inline]
    fn safe_point(&self) -> Result<(), WalkEnd> {
        match self.fuel >= self.pause_at {
            true => Err(WalkEnd::SliceOver),
            false => Ok(()),
        }
    }

    /// Whether a value is a map, and if so, whether it is a struct. `id` is a type without fields.
    #[inline]
    pub(super) fn map_is_struct(&mut self, value: H::Term, id: TypeId) -> Option<bool> {
        let fields = Fields::default();
        let open = self.rows.open(self.heap, self.types, id, fields, value)?;
        Some(self.rows.is_struct(self.heap, id, open))
    }

    /// Looks at a value whose list or map is on the stack: gives what it becomes, or puts it there,
    /// to be walked.
    fn part(&mut self, value: H::Term, id: TypeId) -> Result<Option<K::Done>, WalkEnd> {
        let mut id = id;
        loop {
            match self.types.get(id) {
                Type::Scalar(scalar) => {
                    return K::scalar(self, (scalar, id), value, None).map(Some)
                }
                Type::Optional(_) if self.heap.is_nil(value) => return Ok(Some(K::SAME)),
                Type::Optional(inner) => id = inner,
                Type::List(holds) => return self.list(value, id, holds),
                Type::Map { fields, closed } => {
                    let hidden = self.stack.hides_part(self.types);
                    match self.map(value, id, (fields, closed), hidden) {
                        Some(map) => {
                            self.stack.live.push(Frame::Map(map));
                            return Ok(None);
                        }
                        None => return self.no_map(value, id).map(Some),
                    }
                }
                Type::Unknown(number) => return Err(self.unknown(number)),
            }
        }
    }

    fn list(
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
            fuel: self.fuel,
            findings: self.findings.count(),
            mark: self.task.mark(),
        }));
        Ok(None)
    }

    /// The frame of a map that is one, and not seen before.
    #[inline(always)]
    fn map(
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

    /// Walks the list on top of the stack, as far as its elements do not go there; gives what it
    /// becomes at its end.
    fn elements(&mut self, holds: TypeId) -> Result<Option<Whole<H, K>>, WalkEnd> {
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
            if list.taken == FIRST_ELEMENTS && self.pace != Pace::Quantum {
                let begun = list.fuel;
                self.foresee(begun, rest)?;
            }
            self.spend(1)?;
            let done = match of {
                Type::Scalar(scalar) => Some(K::scalar(self, (scalar, holds), element, None)?),
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

    /// Gives up early on a list that is too long for the slice, to judge by its first elements.
    #[cold]
    fn foresee(&mut self, begun: usize, rest: H::Term) -> Result<(), WalkEnd> {
        let each = ((self.fuel - begun) / FIRST_ELEMENTS as usize).max(1);
        let mut more = FUEL_OF_A_SLICE.saturating_sub(self.fuel) / each;
        let mut rest = rest;
        while let Some((_, tail)) = self.heap.uncons(rest) {
            if more == 0 {
                return Err(WalkEnd::SliceOver);
            }
            (rest, more) = (tail, more - 1);
        }
        Ok(())
    }

    /// Walks the fields of a map that is not on the stack; gives what it becomes, or puts it there
    /// to walk into a field, or because the quantum is over.
    #[inline]
    fn fields(
        &mut self,
        mut map: MapFrame<H::Term, Open<H>, K::Mark>,
    ) -> Result<Option<Whole<H, K>>, WalkEnd> {
        let types = self.types;
        let end = map.fields.range().end;
        loop {
            let pause = end.min(map.next + FIELDS_AT_ONCE);
            self.spend(1 + (pause - map.next) / 2)?;
            while map.next < pause {
                let index = map.next;
                map.next += 1;
                let holds = types.field(index).holds;
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
                    Type::Scalar(scalar) => {
                        let hidden = map.hidden;
                        let place = Place {
                            field: index,
                            hidden,
                        };
                        K::scalar(self, (scalar, holds), found.value, Some(place))?
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

    /// Hands what a part became to the map on top of the stack.
    fn deliver(&mut self, was: H::Term, done: K::Done) {
        let Some(Frame::Map(mut map)) = self.stack.live.pop() else {
            return;
        };
        let index = map.next - 1;
        let found = match <H::Rows as Rows<H>>::is_flat(map.open) {
            true => self.rows.find(self.heap, self.types, map.open, index),
            false => None,
        };
        let found = found.unwrap_or(Found {
            slot: super::values::ABSENT,
            key: was,
            value: was,
        });
        K::field(self, &mut map, &found, done);
        self.stack.live.push(Frame::Map(map));
    }

    fn list_end(&mut self, list: ListFrame<H::Term, K::Mark>) -> Result<Whole<H, K>, WalkEnd> {
        let is_proper = self.heap.is_empty_list(list.rest);
        if !is_proper {
            self.improper(&list)?;
        }
        Ok((list.value, K::list_end(self, &list, is_proper)?))
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

    /// A value that stays as it is, and that nothing was said about, need not be looked at again.
    #[inline]
    pub(super) fn remember(&mut self, value: H::Term, id: TypeId, findings: usize, mark: &K::Mark) {
        if self.memo.on && findings == self.findings.count() && self.task.is_silent_since(mark) {
            self.memo.add(|| self.heap.identity(value), id);
        }
    }
}
