//! The walk over a value along its type: the one place that knows how they are taken apart.
//!
//! What happens at each place is the business of a [`Task`]: [`Check`](super::check::Check) makes
//! nothing, [`Coerce`](super::coerce::Coerce) makes what the value becomes. Each task has a walk of
//! its own at run time, in which what it leaves out costs nothing.
//!
//! * this file: how a walk goes on and when it is left
//! * [`task`]: what a task says to each place
//! * `lists`, `maps`: what there is inside of one
//! * [`frame`]: where the walk is, live and frozen
//! * `refuse`: what is not as it should be
//! * `suspend`: a walk between two quanta

pub mod frame;
mod lists;
mod maps;
mod refuse;
mod suspend;
pub mod task;

pub use suspend::Suspended;
pub use task::{Open, Place, Task};

use super::findings::Findings;
use super::memo::Memo;
use super::values::{Rows, Values};
use super::{Fields, Type, TypeId, Types};
use crate::fault::Halt;
use crate::heap::Heap;
use crate::meter::{Meter, Pace};
use frame::{Frame, Stack};

/// Why a walk ends before its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WalkEnd {
    /// The slice or the quantum is over. The walk can go on, or be suspended.
    SliceOver,
    /// What comes next takes too long for what is left of a slice, and the walk stands where it can
    /// not be suspended.
    TooLong,
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

/// So much fuel may be consumed after the end of a slice, on the way to the next safe point.
const FUEL_AFTER_A_SLICE: usize = 4_096;
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
    /// The fuel consumed since the slice was over.
    overdrawn: usize,
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
            overdrawn: 0,
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

    /// Consumes fuel for work that comes next. A slice or a quantum ends at the next safe point; a slice
    /// ends here where that is too far.
    #[inline]
    pub(super) fn spend(&mut self, units: usize) -> Result<(), WalkEnd> {
        self.fuel += units;
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

    /// A value that stays as it is, and that nothing was said about, need not be looked at again.
    #[inline]
    pub(super) fn remember(&mut self, value: H::Term, id: TypeId, findings: usize, mark: &K::Mark) {
        if self.memo.on && findings == self.findings.count() && self.task.is_silent_since(mark) {
            self.memo.add(|| self.heap.identity(value), id);
        }
    }
}
