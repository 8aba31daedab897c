//! All tests of the crate, in one binary: what they share is compiled once.

mod eterm;
mod expected;
mod probing;
mod running;
mod shown;
#[path = "../../ptc_vm/tests/written/mod.rs"]
mod written;

mod callbacks;
mod collections;
mod dictionary;
mod forms;
mod golden;
mod growing;
mod hostile;
mod inlined;
mod listings;
mod numbers;
mod observed;
mod patience;
mod random;
mod scans;
mod texts;
