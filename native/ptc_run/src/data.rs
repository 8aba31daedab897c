//! What a run is given: its data, and the time of its start.

use ptc_term::heap::{Heap, Kind};
use ptc_term::rooted;
use std::time::SystemTime;

/// What a program reads besides its constants.
#[derive(Debug, Clone, Copy)]
pub struct Data<T> {
    /// The context.
    pub context: T,
    /// The environment: what the program reads besides its data, in the form that its language gives it. In PTC-JSON it is the memory; in
    /// PTC-Lisp a tuple of the memory, the results of earlier turns, the budget, and whether absent data are an error.
    pub environment: T,
    /// The text of the time of the start; `nil`: the run reads the clock if its program asks for it. Not used
    /// when a run is resumed.
    pub now: T,
}

impl<T: Copy> Data<T> {
    /// Returns the data of a program that reads none: `nil` in each place.
    pub fn of(nil: T) -> Self {
        Data {
            context: nil,
            environment: nil,
            now: nil,
        }
    }
}

rooted!(Data { terms: context, environment, now; });

/// Returns the time of a run's start as a text: the one that is given, or that of the clock.
pub fn start_time<H: Heap>(heap: &mut H, given: H::Term) -> H::Term {
    if heap.kind(given) == Kind::String {
        return given;
    }
    let seconds = match SystemTime::now().duration_since(SystemTime::UNIX_EPOCH) {
        Ok(since) => i64::try_from(since.as_secs()).unwrap_or(i64::MAX),
        Err(before) => -i64::try_from(before.duration().as_secs()).unwrap_or(i64::MAX),
    };
    heap.make_string(&ptc_date::of_unix_seconds(seconds))
}
