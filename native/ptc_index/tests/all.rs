//! All tests of the crate, in one binary: what they share is compiled once.

mod common;

mod agreement;
mod hostile;
mod large_numbers;
mod suite;
