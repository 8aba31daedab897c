//! Equality and order.

use crate::code::{Eval, Halt, Machine};
use crate::exec::checks::invalid_types;
use crate::table::Builtin;
use ptc_term::heap::Heap;

/// Evaluates a built-in of the family.
pub fn eval<H: Heap>(m: &mut Machine<'_, H>, builtin: Builtin, arguments: &[H::Term]) -> Eval<H> {
    match (builtin, arguments) {
        (Builtin::Equal, [a, b]) => {
            let equal = equal(m, *a, *b)?;
            Ok(m.heap.boolean(equal))
        }
        _ => Err(invalid_types(builtin, arguments)),
    }
}

/// Returns whether two values are equal (specification, section 3.2).
pub fn equal<H: Heap>(m: &mut Machine<'_, H>, a: H::Term, b: H::Term) -> Result<bool, Halt<H>> {
    Ok(m.heap.equal(a, b))
}
