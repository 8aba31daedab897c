//! Rules that several operations share.
//!
//! * [`input`]: the value that an operation reads, and the keys of items
//! * [`compare`]: comparisons, and what they say about the current value
//! * [`flow`]: conditions and branches
//! * [`lists`], [`objects`], [`values`]: lists, objects, numbers and texts
//! * [`tool`]: arguments of tools

pub mod compare;
pub mod flow;
pub mod input;
pub mod lists;
pub mod objects;
pub mod tool;
pub mod values;
