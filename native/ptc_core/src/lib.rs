//! The PTC-JSON language without the BEAM: reader, compiler and VM over any heap of terms.
//!
//! The rooms of the language, in the order a program walks through them:
//!
//! * [`answer`]: where in the text of an LLM the JSON is
//! * [`json`]: JSON text to events, and the flat document a program's text becomes
//! * [`repair`]: answers that are almost right
//! * [`source`]: what the compiler asks of a program, be it a document or terms
//! * [`opcode`]: the operations by name, and no more of them
//! * [`ops`]: the table of operations; each operation's fields, check, code and evaluation
//! * [`compile`]: source to [`program::Program`], checking on the way
//! * [`signature`]: the types of values that programs and tools take and give
//! * [`explain`]: what an observed program has besides its instructions
//! * [`vm`]: runs a program in slices over a [`heap::Heap`]
//! * [`live`]: what the rest of a run can still read
//! * [`meter`]: fuel, the clock and the word count of everything that may take long
//! * [`stop`]: why work on a text ends early; [`workspace`]: what it is done with
//! * [`similar`]: which name was meant
//! * [`digits`]: long integers, read one product at a time
//!
//! Beside the language stands [`engine`]: what the tools of an engine need.

#![forbid(unsafe_code)]
#![warn(missing_docs)]

pub mod answer;
pub mod compile;
pub mod digits;
pub mod engine;
pub mod explain;
pub mod fault;
pub mod heap;
pub mod json;
pub mod live;
pub mod meter;
pub mod named;
pub mod number;
pub mod opcode;
pub mod ops;
/// A heap of plain Rust values, for tests and fuzzers.
#[cfg(any(test, feature = "plain"))]
#[path = "../tests/plain/mod.rs"]
pub mod plain;
pub mod program;
pub mod repair;
pub mod signature;
pub mod similar;
pub mod source;
pub mod stop;
pub mod vm;
pub mod workspace;
