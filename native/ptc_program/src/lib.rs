//! PTC-JSON: the language of programs that are JSON.
//!
//! * [`opcode`]: the names of the operations
//! * [`ops`]: the table of operations; each operation's fields, check, code and evaluation
//! * [`shape`]: what the value of an operation is made of, and how its parts are evaluated
//! * [`edition`]: the editions of the language
//! * [`code`]: the instructions of the language
//! * [`fault`]: the errors of a program
//! * [`compile`]: a program's table to its instructions, with all checks
//! * `analysis`: the interpreter of programs that are not run, for types and plans
//! * [`typing`]: the types of a program's values, before it runs
//! * [`plan`]: which tools a program will call, how often, and with which data
//! * [`source`]: what is kept of a program's source beside its instructions
//! * [`part`]: questions about the source of a compiled program
//! * [`counts`]: how many programs were read and compiled, for tests
//! * [`load`]: from the text or term of a program to its instructions and constants, in slices

#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod analysis;
pub mod code;
pub mod compile;
pub mod counts;
pub mod edition;
pub mod fault;
pub mod load;
pub mod opcode;
pub mod ops;
pub mod part;
pub mod plan;
pub mod shape;
pub mod source;
pub mod typing;
