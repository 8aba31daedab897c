//! Types through a program, before it runs.
//!
//! A domain of the interpreter in `analysis`: each part is visited once, with the types of its current value and of the names
//! around it. The rules follow the shapes of operations.
//!
//! * [`ty`]: the table of types; `intern`: equal types have one number; [`union`]: unions, and what is read of a type
//! * [`walk`]: the domain; `parts`: the types of constants; [`rule`]: what the rules of operations use; `report`: what they
//!   find; `rules`: the rules of shapes
//! * [`known`]: what is known besides the program; `given`: how that is read; [`sources`]: which fields of the data are read
//! * [`finding`]: what is found; [`fit`]: whether a value fits a type; `result`: the program's value; `suggest`: "Did you mean"
//! * [`job`]: a check as a job that can be suspended; [`read`] and `type_words`: types from terms; [`terms`], `words`,
//!   `texts` and `reply`: terms from types and findings
//! * [`infer`] and `places`: types of values; [`sample`]: the type of a sample as a job
//! * `spare`: the memory of the last check
//! * [`paths`]: the places of findings; [`locate`]: their lines and columns

pub mod finding;
pub mod fit;
pub mod given;
pub mod infer;
mod intern;
pub mod job;
pub mod known;
pub mod locate;
pub(crate) mod parts;
pub mod paths;
mod places;
pub mod read;
mod reply;
mod report;
mod result;
pub mod rule;
pub mod rules;
pub mod sample;
pub mod sources;
mod spare;
mod suggest;
pub mod terms;
mod texts;
pub mod ty;
mod type_words;
pub mod union;
pub mod walk;
pub mod words;
