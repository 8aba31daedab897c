//! Algorithms over the lists, texts and numbers of a heap, without a language: functions of a context, items, options and
//! a state of their own.
//!
//! The only way in which an algorithm ends early is [`Stop`](ptc_term::stop::Stop). An operand that it cannot work with is
//! an ordinary result, [`Wrong`], of which a language makes an error of its own.

#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod arrange;
mod cache;
mod compare;
mod context;
mod cost;
mod distinct;
mod entries;
mod exact;
mod extreme;
mod groups;
mod join;
mod keyed;
mod keys;
mod kinds;
mod layout;
mod listing;
mod lists;
mod meaning;
pub mod merge;
mod needle;
mod new_map;
mod order;
mod rank;
mod table;
mod tally;
mod texts;
mod totals;
mod two_forms;
mod wrong;

pub use arrange::{chunked, flattened, Chunks, Flattening};
pub use context::{
    ConstId, Context, Made, Reading, KEPT_BETWEEN_CHECKS, KEY_OF_NEW, LIST_BATCH, MAP_ENTRY,
    UNITS_A_LIMB,
};
pub use cost::cost;
pub use distinct::Distinction;
pub use entries::SortedEntries;
pub use extreme::{Best, Extreme};
pub use groups::Groups;
pub use join::{add_both, joined, JoinBy, JoinForm, JoinKind, Joining};
pub use keyed::{advance, ItemKeys, Keyed, Keying};
pub use kinds::Kinds;
pub use listing::GroupListing;
pub use lists::{each_item, Listing, Walk};
pub use meaning::order;
pub use new_map::{Entries, MapEntry, Origin};
pub use order::{Sorting, WORDS_OF_ITEM, WORDS_OF_KEY, WORDS_OF_SORTED};
pub use rank::{Ranking, Wanted};
pub use table::Table;
pub use tally::{Added, Tally};
pub use texts::{counting, BYTES_A_UNIT, SHORT_TEXT};
pub use totals::{Total, Totals};
pub use wrong::{Early, Why, Worked, Wrong};
