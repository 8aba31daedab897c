//! Fuel, clock and heap limit: they bound each slice, the duration of a run, and its size.

use crate::heap::Heap;
pub use crate::limits::{Deadline, Limits, Pace};
use crate::stop::Stop;
use std::time::{Duration, Instant};

/// Units of fuel between two reads of the clock: the most, the least, and those before the first read. A unit is
/// about as long as a map look-up.
const FUEL_BETWEEN_LOOKS: i64 = 4096;
const LEAST_FUEL_BETWEEN_LOOKS: i64 = 64;
const FUEL_BEFORE_FIRST_LOOK: i64 = 256;
/// Wanted time between two reads. Where the caches always miss, a unit takes up to a hundred times its assumed
/// duration.
const TIME_BETWEEN_LOOKS: Duration = Duration::from_micros(100);
/// Length of a slice. It occupies its thread a little longer: the state is rebuilt before the
/// slice and frozen after it.
const SLICE: Duration = Duration::from_micros(700);
/// Default length of a quantum. With a hundred callers on two threads, each gets a quantum every 50
/// quanta; suspending and resuming costs some microseconds.
const QUANTUM: Duration = Duration::from_millis(1);
/// Assumed duration of a unit.
const NANOSECONDS_A_UNIT: i64 = 10;
/// Maximum duration of a unit in the charge for a slice. What takes longer is the time of other threads.
const MOST_NANOSECONDS_A_UNIT: i64 = 100;
/// Number of units that take longer than a slice.
const MORE_THAN_A_SLICE: i64 = SLICE.as_nanos() as i64 / NANOSECONDS_A_UNIT;
/// After this many units before a slice ended, a step is assumed to be too long for any slice.
const UNITS_OF_A_LONG_STEP: i64 = 16 * FUEL_BETWEEN_LOOKS;

/// The fuel of a probe, in units.
const PROBE_FUEL: i64 = 256;
/// Returns the duration of this many units.
fn length_of(cost: i64) -> Duration {
    Duration::from_nanos((cost.max(0) * NANOSECONDS_A_UNIT) as u64)
}

/// Counts the fuel of one execution.
///
/// When an execution is over, the meter returns [`Stop::SliceOver`]. The caller then suspends and
/// resumes in another execution. A step that loses its progress when it is suspended could start
/// again for ever, so a step reports its progress ([`Meter::advanced`]). A step that was
/// suspended before it advanced runs [whole](Meter::next_step_whole) in the next quantum.
#[derive(Debug, Clone)]
pub struct Meter {
    /// The limits; the deadline's clock runs as soon as a clock was read.
    pub limits: Limits,
    pace: Pace,
    quantum: Duration,
    end: Option<Instant>,
    left: i64,
    /// The value of `left` after the last refill, and the fuel that was consumed before it.
    filled: i64,
    consumed: i64,
    /// The units of a refill; 0 if there is none.
    refill: i64,
    /// The last read of the clock.
    looked: Option<Instant>,
    /// The time until then, in nanoseconds, without that of other threads.
    spent: i64,
    /// The number of the current step.
    step: u64,
    /// The last step that has advanced.
    further: u64,
    /// The step that must not be suspended before it has advanced.
    whole: u64,
    /// The step of the last refill, and the fuel that was consumed at the first refill of that step.
    refilled: u64,
    consumed_before: i64,
    /// A cost was counted that is too long for any slice.
    too_long: bool,
    /// The quantum is over, but a step that must run whole has not advanced yet.
    overdue: bool,
}

impl Meter {
    /// Creates a meter for an execution.
    #[inline]
    pub fn new(limits: Limits, pace: Pace) -> Self {
        let left = match pace {
            Pace::Probe => PROBE_FUEL,
            Pace::Slice | Pace::Quantum => FUEL_BEFORE_FIRST_LOOK,
        };
        Meter {
            limits,
            pace,
            quantum: QUANTUM,
            end: None,
            left,
            filled: left,
            consumed: 0,
            refill: FUEL_BEFORE_FIRST_LOOK,
            looked: None,
            spent: 0,
            step: 0,
            further: 0,
            whole: u64::MAX,
            refilled: 0,
            consumed_before: 0,
            too_long: false,
            overdue: false,
        }
    }

    /// Creates a meter for work that cannot be suspended: a quantum continues to the end of the work or to a
    /// limit.
    pub fn whole(limits: Limits, pace: Pace) -> Self {
        let mut meter = Meter::new(limits, pace);
        meter.begin_whole();
        meter
    }

    /// Adds the fuel that another meter has counted for a part of the work, and takes over its clock.
    pub fn absorb(&mut self, part: &Meter) {
        self.consumed += part.fuel_consumed() as i64;
        self.spent += part.spent;
        self.limits.deadline = part.limits.deadline;
    }

    /// A quantum of a fixed number of units, however long they take: for tests.
    pub fn with_fuel(limits: Limits, units: usize) -> Self {
        Meter::with_fuel_at(Pace::Quantum, limits, units)
    }

    /// An execution of a fixed number of units at this pace: for tests.
    pub fn with_fuel_at(pace: Pace, limits: Limits, units: usize) -> Self {
        Meter {
            end: Some(Instant::now()),
            left: units as i64,
            filled: units as i64,
            refill: 0,
            ..Meter::new(limits, pace)
        }
    }

    /// Returns the same meter with quanta of this length.
    pub fn with_quantum(self, quantum: Duration) -> Self {
        Meter { quantum, ..self }
    }

    /// Returns the pace of the execution.
    #[inline]
    pub fn pace(&self) -> Pace {
        self.pace
    }

    /// Returns the fuel consumed so far: for tests of the cost model.
    #[inline]
    pub fn fuel_consumed(&self) -> usize {
        (self.consumed + self.filled - self.left) as usize
    }

    /// Leaves what follows to a quantum: each part of it may take too long for a slice.
    pub fn leave_to_quantum(&mut self) -> Result<(), Stop> {
        match self.pace {
            Pace::Quantum => Ok(()),
            Pace::Slice | Pace::Probe => {
                self.too_long = true;
                Err(Stop::SliceOver)
            }
        }
    }

    /// Counts `cost` units before they are spent.
    #[inline]
    pub fn consume_fuel<H: Heap>(&mut self, cost: usize, heap: &H) -> Result<(), Stop> {
        self.left -= cost as i64;
        match self.left < 0 {
            true => self.refill(cost as i64, heap),
            false => Ok(()),
        }
    }

    /// Begins a step, which costs one unit.
    #[inline]
    pub fn begin<H: Heap>(&mut self, heap: &H) -> Result<(), Stop> {
        self.step += 1;
        self.left -= 1;
        match self.left < 0 {
            true => self.begin_slowly(heap),
            false => Ok(()),
        }
    }

    /// Begins a step as [`Meter::begin`] does, unless the clock must be read for it. Returns whether it has begun.
    #[inline]
    pub fn begins(&mut self) -> bool {
        if self.left <= 0 {
            return false;
        }
        self.step += 1;
        self.left -= 1;
        true
    }

    /// Counts units, unless the clock must be read for it. Returns whether they are counted.
    #[inline]
    pub fn consumes(&mut self, cost: i64) -> bool {
        let counts = self.left >= cost;
        self.left -= cost * i64::from(counts);
        counts
    }

    #[cold]
    fn begin_slowly<H: Heap>(&mut self, heap: &H) -> Result<(), Stop> {
        let refilled = self.refill(1, heap);
        if refilled.is_err() {
            // Between two steps no progress can be lost.
            self.advanced();
        }
        refilled
    }

    /// Makes the next step run whole: the quantum does not end before it has advanced.
    #[inline]
    pub fn next_step_whole(&mut self) {
        self.whole = self.step + 1;
    }

    /// Begins a step that loses its progress when it is suspended, see
    /// [`Meter::next_step_whole`].
    #[inline]
    pub fn begin_whole(&mut self) {
        self.next_step_whole();
        self.begin_uncounted();
    }

    /// Begins a step that costs nothing by itself.
    #[inline]
    pub fn begin_uncounted(&mut self) {
        self.step += 1;
    }

    /// Returns whether the quantum is over, but for a step that must run whole.
    #[inline]
    pub fn is_overdue(&self) -> bool {
        self.overdue
    }

    /// Begins another quantum.
    #[inline]
    pub fn renew(&mut self) {
        self.end = None;
        self.overdue = false;
    }

    /// Reports that the current step has advanced, and would not lose its progress if it were
    /// suspended.
    #[inline]
    pub fn advanced(&mut self) {
        self.further = self.step;
    }

    /// Returns whether the current step has advanced.
    #[inline]
    pub fn has_advanced(&self) -> bool {
        self.further == self.step
    }

    /// Returns whether the current step cannot be interrupted and is known to take longer than
    /// a slice.
    #[inline]
    pub fn needs_quantum(&self) -> bool {
        let long = self.refilled == self.step
            && self.consumed - self.consumed_before >= UNITS_OF_A_LONG_STEP;
        self.too_long || (long && !self.has_advanced())
    }

    #[cold]
    fn refill<H: Heap>(&mut self, cost: i64, heap: &H) -> Result<(), Stop> {
        if self.pace == Pace::Probe {
            return Err(Stop::SliceOver);
        }
        let now = Instant::now();
        self.limits.deadline = self.limits.deadline.started(now);
        if self.limits.deadline.left(now) == Some(Duration::ZERO) {
            return Err(Stop::DeadlinePassed);
        }
        if heap.abandoned() {
            return Err(Stop::Abandoned);
        }
        self.check_heap_limit(0, heap)?;
        let length = match self.pace {
            Pace::Quantum => self.quantum,
            Pace::Probe | Pace::Slice => SLICE,
        };
        let end = *self.end.get_or_insert(now + length);
        let units = self.filled - self.left;
        self.measure(units, now);
        self.too_long = self.pace == Pace::Slice && cost >= MORE_THAN_A_SLICE;
        // A slice does not begin work that would end after it; a quantum does, so that all work
        // ends.
        let over = match self.pace {
            Pace::Slice if !self.too_long => now + length_of(cost) >= end,
            _ => now >= end,
        };
        let whole = self.pace == Pace::Quantum && self.whole == self.step && !self.has_advanced();
        self.overdue = over && whole;
        if self.too_long || (over && !whole) {
            return Err(Stop::SliceOver);
        }
        self.consumed += units;
        if self.refilled != self.step {
            (self.refilled, self.consumed_before) = (self.step, self.consumed);
        }
        (self.left, self.filled) = (self.refill, self.refill);
        Ok(())
    }

    /// Counts the time since the last read of the clock, and adapts the number of units until the next one.
    fn measure(&mut self, units: i64, now: Instant) {
        let units = units.min(1 << 30);
        let Some(looked) = self.looked.replace(now) else {
            self.spent += units * NANOSECONDS_A_UNIT;
            return;
        };
        let time = now.duration_since(looked).as_nanos().min(1 << 40) as i64;
        if self.refill > 0 {
            let fitting = units * TIME_BETWEEN_LOOKS.as_nanos() as i64 / time.max(1);
            self.refill = fitting.clamp(LEAST_FUEL_BETWEEN_LOOKS, FUEL_BETWEEN_LOOKS);
        }
        self.spent += time.min(units * MOST_NANOSECONDS_A_UNIT);
    }

    /// Starts the slice or quantum now, and not with the first read of the clock: the work before
    /// that read may take long.
    pub fn start_clock(&mut self) {
        let length = match self.pace {
            Pace::Probe => return,
            Pace::Slice => SLICE,
            Pace::Quantum => self.quantum,
        };
        if self.end.is_none() {
            let now = Instant::now();
            (self.end, self.looked) = (Some(now + length), Some(now));
        }
    }

    /// Returns roughly how much of a scheduler's time slice (1 ms) has been used, in per cent.
    #[inline]
    pub fn percent_of_slice(&self) -> i32 {
        (self.spent / 10_000).min(100) as i32
    }

    /// Checks that `words` more may be built.
    #[inline]
    pub fn check_heap_limit<H: Heap>(&self, words: usize, heap: &H) -> Result<(), Stop> {
        match heap.words_built().saturating_add(words) > self.limits.words {
            true => Err(Stop::MemoryExceeded),
            false => Ok(()),
        }
    }

    /// Checks that work of about this length can end before the deadline. For the few steps
    /// that cannot be interrupted; assumes a fast machine, so that it never refuses work that
    /// could end in time.
    pub fn check_time_left(&self, length: Duration) -> Result<(), Stop> {
        match self.limits.deadline.left(Instant::now()) {
            Some(left) if left < length => Err(Stop::DeadlinePassed),
            _ => Ok(()),
        }
    }
}
