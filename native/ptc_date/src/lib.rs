//! Dates of the Gregorian calendar, on plain data: no terms, no clock, no time zones.
//!
//! * `iso`: the ISO 8601 texts that Elixir reads
//! * `moment`: a date, or a date and a time, with its offset from UTC
//! * `unit`: differences and sums
//! * `part`: years, quarters, weeks …
//! * `write`: moments as texts

#![forbid(unsafe_code)]

mod iso;
mod moment;
mod part;
mod unit;
mod write;

pub use iso::{read, read_beginning, Clock, Day, Iso};
pub use moment::{Moment, YEARS};
pub use part::{Part, PartValue};
pub use unit::{add, difference, Unit};
pub use write::{of_unix_seconds, text_of, to_text, ShortText};
