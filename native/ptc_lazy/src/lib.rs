//! A heap whose terms are partly JSON text that is not decoded.
//!
//! [`Lazy`] wraps another heap. Its terms are those of that heap, and the values of texts with a structural index. A
//! program over it reads a text as if it had been decoded: a value that it only compares, counts or adds stays in the text.
//!
//! * [`term`]: what a term is, and how a value of a text stands in a list, a tuple or a map of the other heap
//! * `source`: the values of one text
//! * `wrapper`: the two together; `nodes`: what values of texts contain; `heap`: the wrapper as a heap
//! * `order`: comparing and hashing terms of both kinds
//! * [`settle`]: builds the values of texts in a term that leaves the run
//! * [`judging`]: whether a text is of a type; `types`, `rows`: what the walk along a type asks of the heap
//! * `arena`: memory that lives as long as the wrapper

#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod arena;
mod heap;
pub mod judging;
mod nodes;
mod order;
mod rows;
pub mod settle;
mod source;
pub mod term;
mod types;
mod wrapper;

pub use source::{fits, Source, FUEL_OF_STEP, STEP};
pub use term::{Place, Term};
pub use wrapper::{Given, Lazy};
