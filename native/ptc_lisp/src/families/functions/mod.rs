//! Functions of functions: `comp`, `partial`, `juxt`, …
//!
//! * `make`: the built-ins that make them
//! * `made`: what they do when they are called

mod made;
mod make;

pub use made::{enter, step, MadeWork};
pub use make::eval;
