//! Optimisations of the finished code, which keep its values and errors.
//!
//! * [`pairs`]: which rows of a join need not be put together
//! * [`demand`]: which items of a list its consumer reads
//! * [`residue`]: which part of a loop's body must run for an item whose value is not read
//! * [`sieve`]: filters as one instruction
//! * [`formula`]: arithmetic on two sides as one instruction

mod demand;
mod formula;
mod pairs;
mod residue;
mod sieve;

use crate::code::Instr;
use ptc_json::Node;

/// Makes a fixed number of passes over the code; jump targets are already resolved. `consts` are given if all keys of maps are
/// strings.
pub(super) fn optimise(code: &mut Vec<Instr>, consts: Option<&mut Vec<Node>>) {
    if let Some(consts) = consts {
        pairs::find(code, consts);
    }
    demand::find(code);
    sieve::find(code);
    formula::find(code);
}
