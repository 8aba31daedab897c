//! How the arguments of each call are made: exactly, so that two programs can be compared.
//!
//! A second domain of the interpreter in `analysis`. The plan's own domain says which parts of the data flow into a value; a recipe says
//! how the value is made of them: it is a constant, a part of the data as it is, an object of recipes, or what an operation makes of
//! recipes. A recipe has only recipes in it that stand before it in the table.
//!
//! * [`table`]: recipes, their items and their fields
//! * [`walk`]: the domain; `rules`: the recipes of operations
//! * [`reply`]: the recipes and the calls as terms

pub mod reply;
mod rules;
pub mod table;
pub mod walk;
