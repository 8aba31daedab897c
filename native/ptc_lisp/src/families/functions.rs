//! Functions of functions: `comp`, `partial`, `juxt`, …

use crate::code::{Eval, Halt, Lisp, Machine};
use crate::exec::checks::invalid_types;
use crate::table::Builtin;
use ptc_term::heap::Heap;
use ptc_term::rooted;
use ptc_vm::{Entered, Next};

/// A made function that has begun.
#[derive(Debug, Clone, PartialEq)]
pub struct Work<T> {
    rest: T,
}

rooted!(Work { terms: rest; });

/// Evaluates a built-in of the family.
pub fn eval<H: Heap>(m: &mut Machine<'_, H>, builtin: Builtin, arguments: &[H::Term]) -> Eval<H> {
    let _ = m;
    Err(invalid_types(builtin, arguments))
}

/// Enters a made function: its kind, the list of its functions, and so many arguments on the stack.
pub fn enter<H: Heap>(
    m: &mut Machine<'_, H>,
    kind: H::Term,
    functions: H::Term,
    arguments: u32,
) -> Result<Entered<Lisp, H::Term>, Halt<H>> {
    let _ = (m, kind, arguments);
    Ok(Entered::Value(functions))
}

/// Takes the next step, with the value of the function that it has called; none at the start.
pub fn step<H: Heap>(
    m: &mut Machine<'_, H>,
    work: &mut Work<H::Term>,
    returned: Option<H::Term>,
) -> Result<Next<H::Term>, Halt<H>> {
    let _ = m;
    Ok(Next::Done(returned.unwrap_or(work.rest)))
}
