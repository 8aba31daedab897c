//! The walk over a value along its type: the only code that takes both apart.
//!
//! A [`Task`] defines the action for each part: [`Check`](super::check::Check) builds nothing,
//! [`Coerce`](super::coerce::Coerce) builds the coerced value. The walk is compiled separately for each
//! task, so an action that a task omits costs nothing. It is also compiled separately for tables that have rare types (`RARE`:
//! see [`Types::has_rare`]) and for those that have none, so that these do not pay for rules, unions and maps from any keys.
//!
//! * this file: running and suspending a walk
//! * [`task`]: the interface of a task
//! * `lists`, `maps`: the contents of lists and maps; `values`: of maps with any keys; structs
//! * [`frame`]: the stack
//! * `unions`: values of one of several types
//! * `refuse`: errors in the value; `ruled`: the rules of types
//! * `state`: what is kept between two quanta; `left`: the same of any task, and when a quantum ends

mod among;
pub mod frame;
mod left;
mod lists;
mod maps;
mod refuse;
mod ruled;
mod ruled_list;
mod state;
pub mod task;
mod unions;
mod values;

pub use left::{LeftAt, LeftWalk, QuantumClock};
pub use state::State;
pub use task::{Open, Place, Task};

use super::memo::Memo;
use super::values::{Rows, Values};
use super::{Type, TypeId, Types};
use frame::Frame;
use ptc_term::heap::Heap;
use ptc_term::meter::{Meter, Pace};
use ptc_term::stop::Stop;

/// Why a walk stops.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WalkEnd {
    /// The slice or the quantum is over. The walk can be resumed, or suspended.
    SliceOver,
    /// The next work takes too long for the rest of a slice, and the walk is at a point where it cannot
    /// be suspended.
    TooLong,
    /// No process waits for the result.
    Abandoned,
    /// A term given as a type is not a type; its number.
    Unknown(u32),
    /// There are too many findings to report.
    TooMuch,
    /// The value cannot be coerced; the finding contains the reason.
    Failed,
    /// The value is not of the type that is tried. The walk goes on with the next one.
    Refuted,
}

/// What comes of a value of a rare type.
enum Part<D> {
    /// It is a value of this type.
    Is(TypeId),
    /// Its result; `None` if it was pushed to be walked.
    Done(Option<D>),
}

impl From<Stop> for WalkEnd {
    fn from(stop: Stop) -> Self {
        match stop {
            Stop::SliceOver => WalkEnd::SliceOver,
            _ => WalkEnd::Abandoned,
        }
    }
}

/// Maximum fuel consumed between the end of a slice and the next safe point.
const FUEL_AFTER_A_SLICE: usize = 4_096;
/// After this much fuel a walk uses its memo: only a value with parts that are shared many times takes
/// so long.
const FUEL_BEFORE_MEMO: usize = 40_000_000;

/// A running walk.
pub struct Walk<'c, H: Values, K: Task<H>> {
    /// The heap of the value.
    pub heap: &'c mut H,
    pub(super) types: &'c Types,
    meter: Meter,
    pace: Pace,
    /// The quantum is over when this much fuel is consumed; 0 after it ended.
    pause_at: usize,
    /// The fuel consumed since the end of the slice.
    overdrawn: usize,
    /// What is kept between two quanta.
    pub state: StateOf<H, K>,
    pub(super) rows: H::Rows,
    memo: Memo,
}

/// The state of a walk over the terms of a heap.
pub type StateOf<H, K> = State<<H as Heap>::Term, K, <K as Task<H>>::Mark>;

/// A list or map, and its result.
type Whole<H, K> = (<H as Heap>::Term, <K as Task<H>>::Done);

impl<'c, H: Values, K: Task<H>> Walk<'c, H, K> {
    /// Begins or resumes a walk along its types.
    pub fn new(
        heap: &'c mut H,
        types: &'c Types,
        state: StateOf<H, K>,
        (meter, pace): (Meter, Pace),
    ) -> Self {
        let rows = H::Rows::new(heap, types, state.task.matching());
        let memo = Memo {
            on: state.fuel >= state.memo_after,
            ..Memo::default()
        };
        Walk {
            heap,
            types,
            meter,
            pace,
            pause_at: usize::MAX,
            overdrawn: 0,
            state,
            rows,
            memo,
        }
    }

    /// For tests: ends the quantum after this much fuel, regardless of the clock.
    pub fn pause_after(&mut self, units: usize) {
        self.pause_at = self.state.fuel + units;
    }

    /// For tests: uses the memo after this much fuel.
    pub fn remember_after(&mut self, units: usize) {
        self.state.memo_after = units;
        self.memo.on = self.state.fuel >= units;
    }

    /// Returns whether the memo is in use; it is lost when the walk is suspended.
    pub fn remembers(&self) -> bool {
        self.memo.on
    }

    /// Returns the fuel consumed since the walk began, in all its quanta.
    pub fn fuel(&self) -> usize {
        self.state.fuel
    }

    /// Returns the meter.
    pub fn meter(&self) -> &Meter {
        &self.meter
    }

    /// Ends the quantum: the state, with the heap and the meter for what follows.
    pub fn into_state(self) -> (StateOf<H, K>, &'c mut H, Meter) {
        (self.state, self.heap, self.meter)
    }

    /// Begins another quantum.
    pub fn refuel(&mut self, meter: Meter) {
        self.meter = meter;
        self.pause_at = usize::MAX;
        self.memo.on = self.state.fuel >= self.state.memo_after;
    }

    /// Runs to the end, or to the end of the quantum.
    pub fn run(&mut self) -> Result<K::Done, WalkEnd> {
        match self.types.has_rare() {
            false => self.run_by::<false>(),
            true => self.run_with_unions(),
        }
    }

    #[inline(never)]
    fn run_with_unions(&mut self) -> Result<K::Done, WalkEnd> {
        loop {
            match self.run_by::<true>() {
                Err(WalkEnd::Refuted) if self.state.stack.unwind(&*self.heap) => {}
                end => return end,
            }
        }
    }

    #[inline]
    fn run_by<const RARE: bool>(&mut self) -> Result<K::Done, WalkEnd> {
        let mut done = match self.state.begin.take() {
            Some((value, id)) => self.first::<RARE>(value, id)?,
            None => None,
        };
        loop {
            done = match self.state.stack.top_with_last() {
                Some((Frame::List(list), _)) => {
                    let holds = list.holds;
                    if let Some((was, done)) = done {
                        K::element(self, was, done);
                    }
                    self.safe_point()?;
                    self.elements::<RARE>(holds)?
                }
                Some((Frame::Map(frame), value)) => {
                    let frame = *frame;
                    self.resume_map::<RARE>(value, frame, done)?
                }
                Some((Frame::Union(frame), value)) if RARE => {
                    let frame = *frame;
                    self.tried(frame, value, done)?
                }
                Some((Frame::Union(_), _)) => return Err(WalkEnd::Abandoned),
                None => return Ok(done.map_or(K::SAME, |(_, done)| done)),
            };
        }
    }

    /// Consumes fuel before work is done. A slice or a quantum ends at the next safe point; a slice
    /// ends here if that point is too far away.
    #[inline]
    pub(super) fn consume_fuel(&mut self, units: usize) -> Result<(), WalkEnd> {
        self.state.fuel += units;
        match self.meter.consume_fuel(units, &*self.heap) {
            Ok(()) => Ok(()),
            Err(halt) => self.halt(halt.into(), units),
        }
    }

    #[cold]
    fn halt(&mut self, stop: WalkEnd, units: usize) -> Result<(), WalkEnd> {
        if stop != WalkEnd::SliceOver {
            return Err(stop);
        }
        if self.pace != Pace::Quantum {
            self.overdrawn += units;
            if self.overdrawn > FUEL_AFTER_A_SLICE {
                return Err(WalkEnd::TooLong);
            }
        }
        self.pause();
        Ok(())
    }

    /// Ends the slice or the quantum at the next safe point.
    fn pause(&mut self) {
        self.pause_at = 0;
    }

    /// At this point the walk's state is complete in its fields, so it can be suspended here.
    #[inline]
    fn safe_point(&self) -> Result<(), WalkEnd> {
        match self.state.fuel >= self.pause_at {
            true => Err(WalkEnd::SliceOver),
            false => Ok(()),
        }
    }

    /// Visits the whole value. A map stays off the stack while it can.
    fn first<const RARE: bool>(
        &mut self,
        value: H::Term,
        id: TypeId,
    ) -> Result<Option<Whole<H, K>>, WalkEnd> {
        if let Type::Map { fields, closed } = self.types.get(id) {
            if let Some(map) = self.map::<RARE>(value, id, (fields, closed), false) {
                return self.fields::<RARE>(map);
            }
        }
        Ok(self.part::<RARE>(value, id)?.map(|done| (value, done)))
    }

    /// Visits a value whose list or map is on the stack: returns its result, or pushes it to be walked.
    fn part<const RARE: bool>(
        &mut self,
        value: H::Term,
        id: TypeId,
    ) -> Result<Option<K::Done>, WalkEnd> {
        let mut id = id;
        loop {
            match self.types.get(id) {
                Type::Scalar(scalar) => return K::scalar(self, scalar, value, None).map(Some),
                Type::Optional(_) if self.heap.is_nil(value) => return Ok(Some(K::SAME)),
                Type::Optional(inner) => id = inner,
                Type::List(holds) => return self.list::<RARE>(value, id, holds),
                Type::Map { fields, closed } => {
                    let hidden = self.hides_part::<RARE>();
                    match self.map::<RARE>(value, id, (fields, closed), hidden) {
                        Some(map) => {
                            self.state.stack.push_map(map.value, map.frame);
                            return Ok(None);
                        }
                        None => return self.no_map(value, id).map(Some),
                    }
                }
                Type::Unknown(number) => return Err(self.unknown(number)),
                // A table without rare types has no other ones.
                of if !RARE => {
                    debug_assert!(false, "{of:?} is a rare type");
                    return Err(WalkEnd::Abandoned);
                }
                of => match self.other_part(value, id, of)? {
                    Part::Done(done) => return Ok(done),
                    Part::Is(of) => id = of,
                },
            }
        }
    }

    /// Visits a value of a type with rules, a union, a name or a map of a type. They are rare.
    #[cold]
    #[inline(never)]
    fn other_part(
        &mut self,
        value: H::Term,
        id: TypeId,
        of: Type,
    ) -> Result<Part<K::Done>, WalkEnd> {
        Ok(match of {
            Type::Defs(of, _) => Part::Is(of),
            Type::Ref(name) => Part::Is(self.types.defined(name)),
            Type::OneOf(number) => match self.one_of(value, id, number)? {
                Some(only) => Part::Is(only),
                None => Part::Done(None),
            },
            Type::MapOf(holds) => Part::Done(self.values(value, id, holds)?),
            Type::Where(of, rules) => match self.types.get(of) {
                Type::Scalar(scalar) => Part::Done(Some(self.ruled(scalar, rules, value, None)?)),
                // The rules are checked at its end.
                Type::List(holds) => Part::Done(self.list::<true>(value, id, holds)?),
                _ => {
                    self.keeps(rules, value, None)?;
                    Part::Is(of)
                }
            },
            Type::Scalar(_)
            | Type::Optional(_)
            | Type::List(_)
            | Type::Map { .. }
            | Type::Unknown(_) => Part::Is(id),
        })
    }

    /// Returns whether the current part is in a firewalled field.
    #[inline(always)]
    fn hides_part<const RARE: bool>(&self) -> bool {
        match RARE {
            false => self.state.stack.hides_field(self.types),
            true => self.state.stack.hides_part(self.types, &*self.heap),
        }
    }

    /// Adds a value to the memo if it stays as it is and has no findings.
    #[inline]
    pub(super) fn remember(&mut self, value: H::Term, id: TypeId, findings: usize, mark: &K::Mark) {
        if self.memo.on
            && findings == self.state.findings.count()
            && self.state.task.is_silent_since(mark)
        {
            self.memo.add(|| self.heap.identity(value), id);
        }
    }
}
