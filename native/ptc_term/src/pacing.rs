//! How long work stays on the scheduler of its caller: the number of its slices, the length of its quanta, and the fuel that
//! its caller is charged for.

use crate::meter::{Limits, Meter, Pace};
use std::cell::Cell;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Number of quarter slices before work continues in quanta. Other processes run between two slices, and
/// most work ends within these slices, where the VM itself schedules fairly. A slice whose thread was off
/// its core for most of its time counts as one quarter.
const QUARTERS: u32 = 16;
/// Per cent of a scheduler's time slice that a quarter takes.
const QUARTER: i32 = 16;

/// If work waits longer than this for its quantum, the queue counts as long.
const LONG_WAIT: Duration = Duration::from_millis(5);
/// Length of a quantum while the queue is long.
const SHORT_QUANTUM: Duration = Duration::from_micros(250);

/// Whether the work that was last resumed on a dirty scheduler had waited longer than `LONG_WAIT`.
static CROWDED: AtomicBool = AtomicBool::new(false);

/// Records how long some work has waited for its quantum.
pub fn has_waited(time: Duration) {
    CROWDED.store(time > LONG_WAIT, Ordering::Relaxed);
}

/// Makes a meter. Its quanta are short while the queue is long.
#[inline]
pub fn meter(limits: Limits, pace: Pace) -> Meter {
    let meter = Meter::new(limits, pace);
    match pace == Pace::Quantum && CROWDED.load(Ordering::Relaxed) {
        true => meter.with_quantum(SHORT_QUANTUM),
        false => meter,
    }
}

/// Converts per cent of a scheduler's time slice to quarters, from 1 to 4.
pub fn quarters(percent: i32) -> u32 {
    (percent / QUARTER).clamp(1, 4) as u32
}

/// Returns whether work whose slice or quantum is over continues in a quantum. `quarters` includes those of the current
/// slice.
pub fn is_long(pace: Pace, quarters: u32, needs_quantum: bool) -> bool {
    pace == Pace::Quantum || needs_quantum || quarters >= QUARTERS
}

/// Units of fuel that take a per cent of a scheduler's time slice.
const UNITS_A_PERCENT: usize = 1_000;

thread_local! {
    /// Fuel consumed on this scheduler that is less than a per cent, and is charged later.
    static OWED: Cell<usize> = const { Cell::new(0) };
}

/// Adds fuel to what this scheduler's processes owe. Returns the per cent of a time slice that are charged now, from 1 to 100.
/// What is less than a per cent is kept until more calls on the scheduler make it one: so a process that makes thousands of
/// short calls is charged for them, whatever else runs between them.
#[inline]
pub fn owed(units: usize) -> Option<i32> {
    let owed = OWED.get() + units;
    if owed < UNITS_A_PERCENT {
        OWED.set(owed);
        return None;
    }
    OWED.set(owed % UNITS_A_PERCENT);
    Some((owed / UNITS_A_PERCENT).min(100) as i32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fuel_is_charged_once_it_makes_a_per_cent() {
        let charged: i32 = (0..10).filter_map(|_| owed(UNITS_A_PERCENT / 4)).sum();
        assert_eq!(charged, 2);
        assert_eq!(owed(200 * UNITS_A_PERCENT), Some(100));
    }

    #[test]
    fn long_work_continues_in_quanta() {
        assert!(!is_long(Pace::Slice, QUARTERS - 1, false));
        assert!(is_long(Pace::Slice, QUARTERS, false));
        assert!(is_long(Pace::Slice, 1, true));
        assert!(is_long(Pace::Quantum, 1, false));
        assert_eq!([0, 31, 32, 100].map(quarters), [1, 1, 2, 4]);
    }
}
