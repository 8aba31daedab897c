//! Text as Elixir's `String` has it: case, white space, graphemes, occurrences; and patterns in linear time.
//!
//! Nothing here knows terms. Long work is done in pieces: it calls `count` with the cost of the next piece, in units
//! of fuel of about ten nanoseconds, and ends when `count` fails. It can then go on with the state that it was given, see
//! [`Ongoing`].
//!
//! A binary that is not UTF-8 is treated as `String` does: its invalid bytes stay as they are, and each is one
//! grapheme.

#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod automata;
mod case;
mod graphemes;
mod occurrences;
mod ongoing;
mod pattern;
mod pieces;
mod search;
mod skip;
mod threads;
mod trim;

pub use case::{put_case, Case};
pub use graphemes::{cuts, graphemes};
pub use occurrences::{contains, last_place, Occurrences};
pub use ongoing::Ongoing;
pub use pattern::{Pattern, PatternError, Source, LONGEST_PATTERN};
pub use pieces::is_utf8;
pub use search::{Match, Matches, Search, Span};
pub use skip::skip;
pub use trim::{trim, trim_long, trim_sides, Sides};
