//! Optimisations of the finished code, which keep its values and errors.
//!
//! * [`demand`]: which items of a list its consumer reads
//! * [`residue`]: which part of a loop's body must run for an item whose value is not read
//! * [`sieve`]: filters as one instruction
//! * [`formula`]: arithmetic on two sides as one instruction

mod demand;
mod formula;
mod residue;
mod sieve;

use crate::code::Instr;

/// Makes a fixed number of passes over the code; jump targets are already resolved.
pub(super) fn optimise(code: &mut Vec<Instr>) {
    demand::find(code);
    sieve::find(code);
    formula::find(code);
}
