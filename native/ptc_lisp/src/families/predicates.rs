//! What a value is.

use crate::code::{Eval, Machine};
use crate::exec::checks::invalid_types;
use crate::table::Builtin;
use ptc_term::heap::Heap;

/// Evaluates a built-in of the family.
pub fn eval<H: Heap>(m: &mut Machine<'_, H>, builtin: Builtin, arguments: &[H::Term]) -> Eval<H> {
    let _ = m;
    Err(invalid_types(builtin, arguments))
}
