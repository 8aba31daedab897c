//! Terms on any heap, and what all work on them needs: limits, suspension, numbers, values.
//!
//! * [`heap`]: what is asked of a heap of terms; [`class`]: the classes of terms
//! * [`meter`]: fuel, clock and heap limit (`limits`: the limits of a run); [`pacing`]: how long it stays on the scheduler of its caller; [`stop`]: why work stops early; [`workspace`]: a heap and its meter
//! * [`suspend`]: how work is suspended and resumed; [`roots`]: the store of its terms; [`fingerprint`]: of its text; [`spare`]: memory that a thread keeps
//! * [`parts`]: the parts of a term; [`weight`]: the words of its copy; [`spread`]: hashes of words
//! * [`number`]: integers of any size and floats; [`digits`]: long integers, read one product at a time; [`shortest`]: the texts of floats
//! * [`value`]: dates, times and decimals, compared by their meaning
//! * [`times`]: statistics of many times
//! * [`names`]: spellings of names; [`repeated`]: equal keys; [`similar`]: suggestions for mistyped ones; [`named`]: enums with names

#![forbid(unsafe_code)]
#![warn(missing_docs)]

pub mod class;
pub mod digits;
pub mod fingerprint;
pub mod heap;
pub mod job;
mod limits;
pub mod meter;
pub mod named;
pub mod names;
pub mod number;
pub mod pacing;
pub mod parts;
/// A heap of plain Rust values, for tests and fuzz targets.
#[cfg(any(test, feature = "plain"))]
#[path = "../tests/plain/mod.rs"]
pub mod plain;
pub mod repeated;
pub mod roots;
pub mod shortest;
pub mod similar;
pub mod spare;
pub mod spread;
pub mod stop;
pub mod suspend;
pub mod times;
pub mod value;
pub mod weight;
pub mod workspace;
