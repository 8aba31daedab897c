//! The slice clock: measures how long the calls of each NIF hold their thread. For tests; off by default.
//!
//! It reads the CPU clock of the thread, so that the time of other threads does not count. That clock still
//! includes the time that a hypervisor takes away, and the time to fill the caches again after another
//! thread used the core. So a call counts as disturbed if the system took its thread off the core
//! meanwhile. In 100,000 rounds of half a millisecond of arithmetic on a busy machine, 25 took more than
//! 2 ms; one of these was not disturbed. While the clock is off, a call costs one relaxed load. On a system
//! without such clocks, nothing is measured.

use crate::raw;
use ptc_program::counts;
use ptc_term::times::Times;
use rustler::{Encoder, Term};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

static ON: AtomicBool = AtomicBool::new(false);
/// The key is the name of the NIF, and whether the thread belonged to a dirty scheduler.
static TIMES: Mutex<BTreeMap<(&'static str, bool), Times>> = Mutex::new(BTreeMap::new());

/// How long a call may hold the thread of a normal scheduler.
const LIMIT: u64 = 2_000_000;
/// How long a call may hold the thread of a dirty scheduler.
const DIRTY_LIMIT: u64 = 25_000_000;

/// Measures one call until it is dropped.
pub struct Running(Option<Began>);

struct Began {
    name: &'static str,
    time: u64,
    /// How often the thread had been taken off its core before the call.
    switches: u64,
}

/// Starts the clock of a call. The first line of every NIF.
#[inline]
pub fn start(name: &'static str) -> Running {
    match ON.load(Ordering::Relaxed) {
        false => Running(None),
        true => Running(begin(name)),
    }
}

#[cold]
fn begin(name: &'static str) -> Option<Began> {
    let switches = raw::thread_switches();
    raw::thread_time().map(|time| Began {
        name,
        time,
        switches,
    })
}

impl Drop for Running {
    #[inline]
    fn drop(&mut self) {
        if let Some(began) = &self.0 {
            record(began);
        }
    }
}

#[cold]
fn record(began: &Began) {
    let time = raw::thread_time().map_or(0, |time| time.saturating_sub(began.time));
    let alone = raw::thread_switches() == began.switches;
    let dirty = raw::on_dirty_scheduler();
    let limit = if dirty { DIRTY_LIMIT } else { LIMIT };
    let mut times = times();
    let times = times.entry((began.name, dirty)).or_default();
    times.add(time, limit, alone);
}

fn times() -> MutexGuard<'static, BTreeMap<(&'static str, bool), Times>> {
    TIMES.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Declares a NIF whose calls the slice clock measures; `dirty fn`: on a dirty scheduler.
macro_rules! nif {
    ($(#[$about:meta])* fn $($rest:tt)*) => {
        crate::clock::nif!(@on "Normal", $(#[$about])* fn $($rest)*);
    };
    ($(#[$about:meta])* dirty fn $($rest:tt)*) => {
        crate::clock::nif!(@on "DirtyCpu", $(#[$about])* fn $($rest)*);
    };
    (@on $schedule:literal, $(#[$about:meta])* fn $name:ident<$life:lifetime>($env:ident $(, $($arguments:tt)*)?) -> $reply:ty $body:block) => {
        $(#[$about])*
        #[rustler::nif(schedule = $schedule)]
        #[allow(clippy::too_many_arguments)]
        fn $name<$life>(env: rustler::Env<$life>, $($($arguments)*)?) -> $reply {
            let _clock = crate::clock::start(stringify!($name));
            let $env = env;
            $body
        }
    };
    (@on $schedule:literal, $(#[$about:meta])* fn $name:ident($($arguments:tt)*) -> $reply:ty $body:block) => {
        $(#[$about])*
        #[rustler::nif(schedule = $schedule)]
        fn $name($($arguments)*) -> $reply {
            let _clock = crate::clock::start(stringify!($name));
            $body
        }
    };
}

pub(crate) use nif;

nif! {
    /// Switches the clock on or off.
    fn clock_switch(on: bool) -> bool {
        ON.store(on, Ordering::Relaxed);
        raw::thread_time().is_some()
    }
}

nif! {
    /// `[{name, dirty?, calls, {over, over_at_all}, {min, p50, p99, max, total, max_alone}}]`: times in
    /// nanoseconds. `over` counts the calls that took more than 2 ms (25 ms on dirty schedulers) and were not
    /// disturbed; `over_at_all` also counts the disturbed ones.
    dirty fn clock_read<'a>(env) -> Vec<Term<'a>> {
        let times = times();
        let lines = times.iter().map(|(&(name, dirty), times)| {
            let spread = (
                times.min,
                times.quantile(50),
                times.quantile(99),
                times.max,
                times.total,
                times.max_alone,
            );
            let over = (times.over, times.over_at_all);
            (name, dirty, times.calls, over, spread).encode(env)
        });
        lines.collect()
    }
}

nif! {
    /// Switches the counts of programs on, from zero, or off.
    fn count_programs<'a>(_env, on: bool) -> bool {
        counts::switch(on);
        on
    }
}

nif! {
    /// How many texts and terms were read as programs, and how often the compiler walked one, since the counts were switched on.
    fn programs_counted<'a>(_env) -> (u64, u64, u64) {
        counts::counts()
    }
}
