//! The PTC-JSON language without the BEAM: reader, compiler and VM over any heap of terms.
//!
//! The modules of the language, in the order in which a program passes through them:
//!
//! * [`answer`]: finds the JSON in the text of an LLM
//! * [`json`]: JSON text to events, and to the flat document of a program
//! * [`repair`]: repair of answers that are almost correct
//! * [`opcode`]: the names of the operations
//! * [`ops`]: the table of operations; each operation's fields, check, code and evaluation
//! * [`compile`]: a program's table to [`program::Program`], with all checks
//! * [`load`]: from the text or term of a program to its instructions and constants, in slices
//! * [`signature`]: the types of values that programs and tools take and return
//! * [`explain`]: metadata of an observed program
//! * [`vm`]: runs a program in slices over a [`heap::Heap`]
//! * [`live`]: liveness analysis: what the rest of a run can still read
//! * [`meter`]: fuel, clock and heap limit of all long work
//! * [`suspend`]: how work is suspended and resumed; [`job`]: work that goes on in steps; [`roots`]: the store of its terms
//! * [`stop`]: why work on a text stops early; [`workspace`]: its heap and meter
//! * [`parts`]: the parts of a term; [`weight`]: the words of its copy; [`normalize`]: values in another form
//! * [`spread`]: hashes of words
//! * [`similar`]: suggestions for mistyped names
//! * [`value`]: dates, times and decimals, compared by their meaning
//! * [`digits`]: long integers, read one product at a time
//!
//! Apart from the language, [`merge`] merges the tools of an engine with those of a call.

#![forbid(unsafe_code)]
#![warn(missing_docs)]

pub mod answer;
pub mod class;
pub mod code;
pub mod compile;
pub mod digits;
pub mod error_terms;
pub mod explain;
pub mod fault;
pub mod heap;
pub mod job;
pub mod json;
pub mod language;
pub mod live;
pub mod load;
pub mod merge;
pub mod meter;
pub mod named;
pub mod names;
pub mod normalize;
pub mod number;
pub mod opcode;
pub mod ops;
pub mod parts;
/// A heap of plain Rust values, for tests and fuzzers.
#[cfg(any(test, feature = "plain"))]
#[path = "../tests/plain/mod.rs"]
pub mod plain;
pub mod program;
pub mod repair;
pub mod roots;
pub mod signature;
pub mod similar;
pub mod spread;
pub mod stop;
pub mod suspend;
pub mod value;
pub mod vm;
pub mod weight;
pub mod workspace;
