//! What a program will do, before it runs: which tools it calls, how often, and with which parts of the data.
//!
//! A domain of the interpreter in `analysis`. A value is the set of the parts of the data that it is made of, as far as that is
//! known field by field; a number of calls is a formula over the lengths of lists.
//!
//! * [`sources`]: the parts of the data, as paths; [`sets`]: sets of them; [`formula`]: numbers of calls and of items
//! * [`value`]: what is known of a value; [`loops`]: items, and the numbers of a loop's body outside of it
//! * [`walk`]: the domain; `visit` and `parts`: what holds in a part of an operation; `reads`: what rules read; `rules`,
//!   `rules_of_lists` and `rules_of_objects`: the values of operations; `keyed_entries`: entries that are kept by their keys;
//!   [`calls`]: how often tools are called
//! * [`recipes`]: how the arguments of each call are made, for two programs to be compared
//! * [`job`]: the walk and its reply in steps; `kept`: what the entries of the result are made of; `reply` and
//!   `terms`: what is known, as terms; `canonical`: what the program's digest is made of; `spare`: memory for the next walk

pub mod calls;
mod canonical;
pub mod formula;
pub mod job;
mod kept;
mod keyed_entries;
pub mod loops;
mod parts;
mod reads;
pub mod recipes;
mod reply;
mod rules;
mod rules_of_lists;
mod rules_of_objects;
pub mod sets;
pub mod sources;
mod spare;
mod terms;
pub mod value;
mod visit;
pub mod walk;
