//! Types through a program, before it runs.
//!
//! An abstract interpretation of the program's table: each part is visited once, with the types of its current value and of
//! the names around it. The rule of each operation stands in its entry in `ops`.
//!
//! * [`ty`]: the table of types; [`names`]: names as numbers; [`union`]: unions, and what is read of a type
//! * [`walk`]: the stack of the walk; [`rule`]: what the rules of operations use; `rules`: rules that operations share
//! * [`known`]: what is known besides the program; [`sources`]: which fields of the data are read
//! * [`finding`]: what is found; [`fit`]: whether a value fits a type; `suggest`: "Did you mean"
//! * [`job`]: a check as a job that can be suspended; [`read`]: types from terms; [`infer`]: types of values
//! * [`paths`]: the places of findings; [`locate`]: their lines and columns

pub mod finding;
pub mod fit;
pub mod infer;
pub mod job;
pub mod known;
pub mod locate;
pub mod names;
pub mod paths;
pub mod read;
pub mod rule;
pub mod rules;
pub mod sources;
mod suggest;
pub mod ty;
pub mod union;
pub mod walk;

pub use rule::Rule;
pub use walk::{How, Next, Visit};
