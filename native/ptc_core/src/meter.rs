//! Fuel, the clock and the word count: what keeps a run short, in time and small.

use crate::fault::Halt;
use crate::heap::Heap;
use std::time::{Duration, Instant};

/// Units of work between two looks at the clock; a unit is about as long as a map look-up.
const FUEL_BETWEEN_LOOKS: i64 = 4096;
/// How long one slice works. It holds its thread a little longer: what was left is put together
/// before, and taken apart afterwards.
const SLICE: Duration = Duration::from_micros(700);
/// How long one quantum may take, if nothing else is said. With a hundred callers on two threads, each has
/// its turn after 50 times as long; leaving and coming back costs some microseconds.
const QUANTUM: Duration = Duration::from_millis(1);
/// What a unit takes.
const NANOSECONDS_A_UNIT: i64 = 10;
/// Work that is known to take longer than a slice, in units.
const MORE_THAN_A_SLICE: i64 = SLICE.as_nanos() as i64 / NANOSECONDS_A_UNIT;
/// A step that has counted so much before a slice ended is taken for one that no slice can hold.
const REFILLS_OF_A_LONG_STEP: u32 = 16;

/// When a run must be over. Short runs never look at a clock: theirs starts with the first look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Deadline {
    /// Never.
    Never,
    /// This long after the clock starts.
    After(Duration),
    /// At this time.
    At(Instant),
}

impl Deadline {
    /// What is left, at `now`; `None` for [`Deadline::Never`].
    pub fn left(self, now: Instant) -> Option<Duration> {
        match self {
            Deadline::Never => None,
            Deadline::After(length) => Some(length),
            Deadline::At(end) => Some(end.saturating_duration_since(now)),
        }
    }

    /// Whether its clock has run out. Looks at no clock where none is running.
    pub fn has_passed(self) -> bool {
        matches!(self, Deadline::At(end) if Instant::now() >= end)
    }

    /// The same deadline with its clock running.
    pub fn started(self, now: Instant) -> Self {
        match self {
            // Beyond what a clock can show is never.
            Deadline::After(length) => now.checked_add(length).map_or(Self::Never, Self::At),
            other => other,
        }
    }
}

/// The limits of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// When the run must be over.
    pub deadline: Deadline,
    /// How many words it may build.
    pub words: usize,
}

impl Limits {
    /// For work that has no limit but its pace.
    pub const UNLIMITED: Limits = Limits {
        deadline: Deadline::Never,
        words: usize::MAX,
    };

    /// Stands for limits that are not known yet.
    pub const PROBE: Limits = Limits {
        deadline: Deadline::Never,
        words: PROBE_WORDS,
    };
}

/// How long an execution of a run may hold its thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pace {
    /// A few steps, so few that no limit matters: for runs whose limits are not known yet.
    Probe,
    /// A stretch on a normal scheduler: less than a millisecond.
    Slice,
    /// A stretch on a dirty scheduler. What cannot be cut up is done to its end here.
    Quantum,
}

/// The units of a probe.
const PROBE_FUEL: i64 = 256;
/// The words of a probe: the least that a heap can be limited to.
const PROBE_WORDS: usize = 233;

/// How long so many units take, if a slice can hold them.
fn length_of(cost: i64) -> Duration {
    Duration::from_nanos((cost.max(0) * NANOSECONDS_A_UNIT) as u64)
}

/// Counts one execution.
///
/// An execution that is over answers [`Halt::SliceOver`]. Whoever counts then leaves, and goes on
/// in another execution. A step that loses what it has done when it leaves could start again for
/// ever, so a step says when it has come further ([`Meter::advanced`]). One that had to leave
/// before it came any further goes on [whole](Meter::next_step_whole) in the next
/// quantum.
#[derive(Debug)]
pub struct Meter {
    /// The limits; the deadline's clock runs as soon as a clock was looked at.
    pub limits: Limits,
    pace: Pace,
    quantum: Duration,
    end: Option<Instant>,
    left: i64,
    refills: u32,
    /// The units of a refill.
    refill: i64,
    /// The number of the present step.
    step: u64,
    /// The last step that has come further.
    further: u64,
    /// The step that must not be left before it has come further.
    whole: u64,
    /// The step of the last refill, and how many it has had.
    refilled: u64,
    refills_of_step: u32,
    /// Something was to be counted that no slice can hold.
    too_long: bool,
    /// The quantum would have ended, but for a step that is whole.
    overdue: bool,
}

impl Meter {
    /// A meter for an execution.
    pub fn new(limits: Limits, pace: Pace) -> Self {
        Meter {
            limits,
            pace,
            quantum: QUANTUM,
            end: None,
            left: match pace {
                Pace::Probe => PROBE_FUEL,
                Pace::Slice | Pace::Quantum => FUEL_BETWEEN_LOOKS,
            },
            refills: 0,
            refill: FUEL_BETWEEN_LOOKS,
            step: 0,
            further: 0,
            whole: u64::MAX,
            refilled: 0,
            refills_of_step: 0,
            too_long: false,
            overdue: false,
        }
    }

    /// A quantum of so many units, however short they take: for tests.
    pub fn with_fuel(limits: Limits, units: usize) -> Self {
        Meter {
            end: Some(Instant::now()),
            left: units as i64,
            refill: 0,
            ..Meter::new(limits, Pace::Quantum)
        }
    }

    /// The same meter with quanta of this length.
    pub fn with_quantum(self, quantum: Duration) -> Self {
        Meter { quantum, ..self }
    }

    /// Where it counts.
    pub fn pace(&self) -> Pace {
        self.pace
    }

    /// Counts `cost` units before they are spent.
    #[inline]
    pub fn consume_fuel<H: Heap>(&mut self, cost: usize, heap: &H) -> Result<(), Halt<H::Term>> {
        self.left -= cost as i64;
        match self.left < 0 {
            true => self.refill(cost as i64, heap),
            false => Ok(()),
        }
    }

    /// A step begins, which is one unit.
    #[inline]
    pub fn begin<H: Heap>(&mut self, heap: &H) -> Result<(), Halt<H::Term>> {
        self.step += 1;
        self.left -= 1;
        match self.left < 0 {
            true => self.begin_slowly(heap),
            false => Ok(()),
        }
    }

    #[cold]
    fn begin_slowly<H: Heap>(&mut self, heap: &H) -> Result<(), Halt<H::Term>> {
        let refilled = self.refill(1, heap);
        if refilled.is_err() {
            // Between two steps nothing is lost.
            self.advanced();
        }
        refilled
    }

    /// A quantum does not end before the next step has come further.
    pub fn next_step_whole(&mut self) {
        self.whole = self.step + 1;
    }

    /// A step begins that keeps nothing when it is left, see [`Meter::next_step_whole`].
    pub fn begin_whole(&mut self) {
        self.next_step_whole();
        self.step += 1;
    }

    /// Whether the quantum would have ended, but for a step that is whole.
    #[inline]
    pub fn is_overdue(&self) -> bool {
        self.overdue
    }

    /// Another quantum begins.
    pub fn renew(&mut self) {
        self.end = None;
        self.overdue = false;
    }

    /// The present step has come further, and would not lose that if it were left.
    #[inline]
    pub fn advanced(&mut self) {
        self.further = self.step;
    }

    /// Whether the present step has come further.
    pub fn has_advanced(&self) -> bool {
        self.further == self.step
    }

    /// Whether the present step is known to take longer than a slice, and cannot be cut up.
    pub fn needs_quantum(&self) -> bool {
        let long = self.refilled == self.step && self.refills_of_step >= REFILLS_OF_A_LONG_STEP;
        self.too_long || (long && !self.has_advanced())
    }

    #[cold]
    fn refill<H: Heap>(&mut self, cost: i64, heap: &H) -> Result<(), Halt<H::Term>> {
        if self.pace == Pace::Probe {
            return Err(Halt::SliceOver);
        }
        let now = Instant::now();
        self.limits.deadline = self.limits.deadline.started(now);
        if self.limits.deadline.left(now) == Some(Duration::ZERO) {
            return Err(Halt::DeadlinePassed);
        }
        if heap.abandoned() {
            return Err(Halt::Abandoned);
        }
        self.check_heap_limit(0, heap)?;
        let length = match self.pace {
            Pace::Quantum => self.quantum,
            Pace::Probe | Pace::Slice => SLICE,
        };
        let end = *self.end.get_or_insert(now + length);
        self.too_long = self.pace == Pace::Slice && cost >= MORE_THAN_A_SLICE;
        // A slice does not begin what would end after it; a quantum does, so that all work ends.
        let over = match self.pace {
            Pace::Slice if !self.too_long => now + length_of(cost) >= end,
            _ => now >= end,
        };
        let whole = self.pace == Pace::Quantum && self.whole == self.step && !self.has_advanced();
        self.overdue = over && whole;
        if self.too_long || (over && !whole) {
            return Err(Halt::SliceOver);
        }
        if self.refilled != self.step {
            (self.refilled, self.refills_of_step) = (self.step, 0);
        }
        self.left = self.refill;
        self.refills += 1;
        self.refills_of_step += 1;
        Ok(())
    }

    /// The slice or quantum begins now, and not with the first look at the clock: what comes before
    /// that may take long.
    pub fn start_clock(&mut self) {
        let length = match self.pace {
            Pace::Probe => return,
            Pace::Slice => SLICE,
            Pace::Quantum => self.quantum,
        };
        self.end.get_or_insert_with(|| Instant::now() + length);
    }

    /// How much of a scheduler's time slice (1 ms) has been used, in per cent, roughly.
    pub fn percent_of_slice(&self) -> i32 {
        (self.refills as i32).saturating_mul(4).min(100)
    }

    /// Whether `words` more may be built.
    #[inline]
    pub fn check_heap_limit<H: Heap>(&self, words: usize, heap: &H) -> Result<(), Halt<H::Term>> {
        match heap.words_built().saturating_add(words) > self.limits.words {
            true => Err(Halt::MemoryExceeded),
            false => Ok(()),
        }
    }

    /// Whether work of about this length can end before the deadline. For the few steps that
    /// cannot be cut up; assumes a fast machine, so that what could end is never refused.
    pub fn check_time_left<T>(&self, length: Duration) -> Result<(), Halt<T>> {
        match self.limits.deadline.left(Instant::now()) {
            Some(left) if left < length => Err(Halt::DeadlinePassed),
            _ => Ok(()),
        }
    }
}
