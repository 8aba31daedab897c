//! One interpreter of programs that are not run, and what its domains have in common.
//!
//! A domain says what a value is: a type, or the parts of the data that a value is made of. The interpreter goes through the program:
//! each part once, in the order of evaluation, as the shapes of operations say.
//!
//! * [`part`]: a part of a program, and how it is read
//! * [`domain`]: what a domain says
//! * [`names`]: names as numbers
//! * [`walk`]: the steps of the interpreter; [`stack`]: its stack
//! * [`order`]: which part comes next

pub(crate) mod domain;
pub mod names;
mod order;
pub(crate) mod part;
mod stack;
pub(crate) mod walk;

pub(crate) use domain::{Domain, Visiting};
pub(crate) use part::{operation_of, How, NextPart, OpAt, Visited, What, ABSENT};
pub(crate) use stack::Stack;
