//! Scheduling of NIF calls: the sizes of slices and quanta, the charge for a caller's time slice, and the
//! macro that declares a NIF twice, for a slice on a normal scheduler and for a quantum on a dirty one.
//!
//! A meter of the core counts the work and reports when a slice or a quantum is over. Work that cannot be
//! counted while it runs is limited by its size here: a slice accepts only as much of it as is done in
//! a fraction of a millisecond.

use crate::atoms;
pub use ptc_term::meter::Pace;
use ptc_term::meter::{Deadline, Limits, Meter};
pub use ptc_term::pacing::{has_waited, meter, quarters};
use ptc_term::pacing::{is_long, owed};
use rustler::{Atom, Encoder, Env, Term};
use std::time::{Duration, Instant};

/// Maximum bytes of a stream's chunk that a slice reads.
pub const CHUNK_BYTES: usize = 65_536;
/// Maximum bytes of a stream's text whose value a slice builds.
pub const PARTIAL_BYTES: usize = 32_768;
/// Maximum number of repairs that a slice lists.
pub const REPAIRS: usize = 200;
/// Maximum bytes of an answer that a slice repairs.
pub const REPAIR_BYTES: usize = 4_096;
/// Maximum bytes of a signature that a slice parses.
pub const SIGNATURE_BYTES: usize = 32_768;
/// Maximum bytes of a type's text that a slice writes.
pub const TYPE_TEXT_BYTES: usize = 1 << 18;
/// Maximum number of tools that a slice merges.
pub const TOOLS: usize = 4_000;

/// A program that was just loaded starts in the same slice if at most this per cent of it is used.
pub const MOST_OF_SLICE: i32 = 50;

/// Decodes `{timeout, max_heap}`: milliseconds or `:infinity`, and words or 0 for no limit.
/// Returns `None` if either is nil (not known yet).
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

/// Remaining time of a deadline: milliseconds, rounded up, or `:infinity`.
pub fn milliseconds<'a>(env: Env<'a>, deadline: Deadline, now: Instant) -> Term<'a> {
    match deadline.left(now) {
        None => atoms::infinity().encode(env),
        Some(left) => (left.as_micros().div_ceil(1000) as u64).encode(env),
    }
}

/// Where work continues when its slice or quantum is over: `more` for a slice, `long` for a quantum.
/// `quarters` includes those of the current slice.
pub fn next(pace: Pace, quarters: u32, needs_quantum: bool) -> Atom {
    match is_long(pace, quarters, needs_quantum) {
        true => atoms::long(),
        false => atoms::more(),
    }
}

/// Whether work of this size needs a quantum; at most `most` fits into a slice.
pub fn is_too_long(pace: Pace, size: usize, most: usize) -> bool {
    pace != Pace::Quantum && size > most
}

/// Charges the caller for its time on its own scheduler, in per cent of a time slice. Dirty schedulers
/// have no time slices, and a probe is too short to count.
pub fn charge(env: Env, pace: Pace, percent: i32) {
    if pace == Pace::Slice && percent > 0 {
        rustler::schedule::consume_timeslice(env, percent);
    }
}

/// Fuel for the call itself: reading its arguments and making its reply.
pub const CALL: usize = 40;
/// Fuel for a call that suspends or resumes work.
pub const RESUMPTION: usize = 200;

/// Charges the caller for this much fuel on a normal scheduler: see [`owed`].
pub fn charge_fuel(env: Env, pace: Pace, units: usize) {
    if pace != Pace::Quantum {
        if let Some(percent) = owed(units) {
            rustler::schedule::consume_timeslice(env, percent);
        }
    }
}

/// Charges the caller for the work that a meter has counted.
pub fn settle(env: Env, meter: &Meter) {
    charge_fuel(env, meter.pace(), CALL + meter.fuel_consumed());
}

/// Charges the caller for work that no meter counts; `in_a_microsecond` is the work done in a microsecond.
pub fn charge_for(env: Env, pace: Pace, size: usize, in_a_microsecond: usize) {
    charge(env, pace, (size / in_a_microsecond / 10).min(100) as i32);
}

/// Declares the two NIFs of an operation. `PtcRunner.Quanta` calls the first one on a normal scheduler,
/// where it runs for a slice at most. If that is not enough, it returns `:busy`, and `PtcRunner.Quanta`
/// calls the second one on a dirty scheduler. `pace` is `Slice` in the first and `Quantum` in the second.
macro_rules! nif_pair {
    ($(#[$about:meta])* fn $here:ident, $dirty:ident<$life:lifetime>($env:ident, $pace:ident, $($arguments:tt)*) -> $reply:ty $body:block) => {
        crate::schedule::nif_pair!(@one "Normal", Slice, $(#[$about])* $here, $life, ($env, $pace, $($arguments)*), $reply, $body);
        crate::schedule::nif_pair!(@one "DirtyCpu", Quantum, $(#[$about])* $dirty, $life, ($env, $pace, $($arguments)*), $reply, $body);
    };
    (@one $schedule:literal, $is:ident, $(#[$about:meta])* $name:ident, $life:lifetime, ($env:ident, $pace:ident, $($arguments:tt)*), $reply:ty, $body:block) => {
        crate::clock::nif!(@on $schedule, $(#[$about])* fn $name<$life>($env, $($arguments)*) -> $reply {
            let $pace = ptc_term::meter::Pace::$is;
            $body
        });
    };
}

pub(crate) use nif_pair;
