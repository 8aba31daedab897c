//! When a call leaves its thread, what its caller is charged, and how a NIF comes in two: for a slice
//! on the scheduler of its caller, and for a quantum on a dirty one.
//!
//! A meter of the core counts the work and says when a slice or a quantum is over. What cannot be
//! counted as it goes is bounded by its size here: a slice takes no more of it than takes a
//! fraction of a millisecond.

use crate::atoms;
pub use ptc_core::meter::Pace;
use ptc_core::meter::{Deadline, Limits, Meter};
use rustler::{Atom, Env, Term};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// So many quarters of slices there are, one after another with turns for others in between, before work
/// goes on in quanta. Most work ends in them, where the VM itself is fair between all its processes. A
/// slice whose thread was off its core for most of its time counts as one quarter.
const QUARTERS: u32 = 16;
/// The per cent of a scheduler's time slice that a quarter takes.
const QUARTER: i32 = 16;

/// Work that has waited longer for its quantum stands in a long queue …
const LONG_WAIT: Duration = Duration::from_millis(5);
/// … and as long as it does, quanta are this short.
const SHORT_QUANTUM: Duration = Duration::from_micros(250);

/// Whether what was taken up last on a dirty scheduler had waited long.
static CROWDED: AtomicBool = AtomicBool::new(false);

/// Takes down how long some work has waited for its quantum.
pub fn has_waited(time: Duration) {
    CROWDED.store(time > LONG_WAIT, Ordering::Relaxed);
}

/// A meter whose quanta are short if many wait for theirs.
pub fn meter(limits: Limits, pace: Pace) -> Meter {
    let meter = Meter::new(limits, pace);
    match pace == Pace::Quantum && CROWDED.load(Ordering::Relaxed) {
        true => meter.with_quantum(SHORT_QUANTUM),
        false => meter,
    }
}

/// How many quarters a slice of so many per cent of a scheduler's time slice counts for.
pub fn quarters(percent: i32) -> u32 {
    (percent / QUARTER).clamp(1, 4) as u32
}

/// The bytes of a stream's chunk that a slice reads.
pub const CHUNK_BYTES: usize = 65_536;
/// The bytes of a stream's text whose value a slice makes.
pub const PARTIAL_BYTES: usize = 32_768;
/// The bytes of an answer that a slice repairs.
pub const REPAIR_BYTES: usize = 4_096;
/// The bytes of a signature that a slice parses.
pub const SIGNATURE_BYTES: usize = 32_768;
/// The bytes of a type's text that a slice writes: as long as it takes to write its worth of types.
pub const TYPE_TEXT_BYTES: usize = 1 << 18;
/// The elements of a list of a program that a slice looks at.
pub const ELEMENTS: usize = 5_000;
/// The tools that a slice merges.
pub const TOOLS: usize = 4_000;

/// In this part of a slice, in per cent, a program that was just read begins to run.
pub const MOST_OF_SLICE: i32 = 50;

/// The limits out of `{timeout, max_heap}`: milliseconds or `:infinity`, and words or 0 for no limit.
/// `None` if either is nil, which stands for "not known yet".
pub fn limits((timeout, max_heap): (Term, Term)) -> Option<Limits> {
    let deadline = match timeout.decode() {
        Ok(length) => Deadline::After(Duration::from_millis(length)),
        Err(_) if atoms::infinity() == timeout => Deadline::Never,
        Err(_) => return None,
    };
    let words = match max_heap.decode().ok()? {
        0 => usize::MAX,
        words => words,
    };
    Some(Limits { deadline, words })
}

/// A meter of work that cannot be left in the middle: a quantum goes on to its end or to a limit.
pub fn whole(limits: Limits, pace: Pace) -> Meter {
    let mut meter = Meter::new(limits, pace);
    meter.begin_whole();
    meter
}

/// Where work goes on whose slice or quantum is over: `more` in a slice, `long` in a quantum. `quarters`
/// counts those of the present slice.
pub fn next(pace: Pace, quarters: u32, needs_quantum: bool) -> Atom {
    match pace == Pace::Quantum || needs_quantum || quarters >= QUARTERS {
        true => atoms::long(),
        false => atoms::more(),
    }
}

/// Whether so much work, of which `most` fits into a slice, must be left to a quantum.
pub fn is_too_long(pace: Pace, size: usize, most: usize) -> bool {
    pace != Pace::Quantum && size > most
}

/// Charges the caller for its time on its own scheduler, in per cent of a time slice. A dirty one
/// has no time slices, and a probe is too short to count.
pub fn charge(env: Env, pace: Pace, percent: i32) {
    if pace == Pace::Slice && percent > 0 {
        rustler::schedule::consume_timeslice(env, percent);
    }
}

/// The same for what a meter has counted.
pub fn settle(env: Env, meter: &Meter) {
    charge(env, meter.pace(), meter.percent_of_slice());
}

/// The same for work that no meter counts, of which so much is done in a microsecond.
pub fn charge_for(env: Env, pace: Pace, size: usize, in_a_microsecond: usize) {
    charge(env, pace, (size / in_a_microsecond / 10).min(100) as i32);
}

/// Declares the two NIFs of an operation: the first is called on a normal scheduler, where it takes a
/// slice at most and says `:busy` if that is not enough, the second on a dirty one. `pace` says which it is.
/// `PtcRunner.Quanta` on the Elixir side calls the one, and then the other.
macro_rules! nif_pair {
    ($(#[$doc:meta])* fn $here:ident, $dirty:ident<$life:lifetime>($env:ident, $pace:ident, $($arguments:tt)*)
        -> $reply:ty $body:block) => {
        crate::schedule::nif_pair!(@one "Normal", Slice, $(#[$doc])* $here, $life, ($env, $pace, $($arguments)*), $reply, $body);
        crate::schedule::nif_pair!(@one "DirtyCpu", Quantum, $(#[$doc])* $dirty, $life, ($env, $pace, $($arguments)*), $reply, $body);
    };
    (@one $schedule:literal, $is:ident, $(#[$doc:meta])* $name:ident, $life:lifetime, ($env:ident, $pace:ident, $($arguments:tt)*),
        $reply:ty, $body:block) => {
        $(#[$doc])*
        #[rustler::nif(schedule = $schedule)]
        fn $name<$life>(env: rustler::Env<$life>, $($arguments)*) -> $reply {
            let _clock = crate::clock::start(stringify!($name));
            let ($env, $pace) = (env, ptc_core::meter::Pace::$is);
            $body
        }
    };
}

pub(crate) use nif_pair;
