//! All tests of the crate, in one binary: what they share is compiled once.

#[macro_use]
mod common;
#[path = "../../ptc_vm/tests/written/mod.rs"]
mod written;

mod ahead;
mod answered;
mod checks;
mod circles;
mod collections;
mod dates_and_numbers;
mod dictionary;
mod dropped;
mod editions;
mod faults;
mod faulty;
mod formula;
mod groups;
mod heap;
mod hostile;
mod judged;
mod judged_texts;
mod lazy;
mod limits;
mod listings;
mod lists;
mod live;
mod loading;
mod names;
mod nesting;
mod numbers;
mod observed;
mod pairs;
mod plan;
mod programs;
mod random;
mod reader;
mod reading;
mod recipes;
mod repair;
mod resumption;
mod samples;
mod sharing;
mod signature_walks;
mod signatures;
mod sizes;
mod source;
mod suspension;
mod terms;
mod test_files;
mod text;
mod type_names;
mod types;
mod values;
mod whole;
mod writer;
