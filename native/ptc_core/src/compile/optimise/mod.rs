//! What is known about the finished code and makes it quicker: the same values, the same errors.
//!
//! * [`demand`]: what of a list is looked at by what comes after it
//! * [`residue`]: what of a loop's body is left for an item whose value is not looked at
//! * [`sieve`]: filters that are one instruction

mod demand;
mod residue;
mod sieve;

use crate::program::Instr;

/// Goes over the code a fixed number of times; its jumps are where they will be.
pub(super) fn optimise(code: &mut Vec<Instr>) {
    demand::find(code);
    sieve::find(code);
}
