//! Rules that several operations share.
//!
//! * [`input`]: the value that an operation reads, and the keys of items
//! * [`compare`]: comparisons, and what they say about the current value
//! * [`flow`]: conditions and branches
//! * [`lists`], [`group`], [`fold`]: lists
//! * [`objects`], [`reshape`], [`join`], [`entries`]: objects
//! * [`values`]: numbers and texts; [`names`]: of data, of the memory, of `let`
//! * [`tool`]: arguments of tools

pub mod compare;
pub mod entries;
pub mod flow;
pub mod fold;
pub mod group;
pub mod input;
pub mod join;
pub mod lists;
pub mod names;
pub mod objects;
pub mod reshape;
pub mod tool;
pub mod values;
