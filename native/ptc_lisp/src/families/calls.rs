//! Built-ins that call functions: frames of the machine.

use crate::code::{Halt, Lisp, Machine};
use crate::exec::checks::invalid_types;
use crate::table::Builtin;
use ptc_term::heap::Heap;
use ptc_term::rooted;
use ptc_vm::{Entered, Next};

/// A built-in that has begun.
#[derive(Debug, Clone, PartialEq)]
pub struct Work<T> {
    rest: T,
}

rooted!(Work { terms: rest; });

/// Begins a built-in, after the checks of its arguments.
pub fn start<H: Heap>(
    m: &mut Machine<'_, H>,
    builtin: Builtin,
    arguments: &[H::Term],
) -> Result<Entered<Lisp, H::Term>, Halt<H>> {
    let _ = m;
    Err(invalid_types(builtin, arguments))
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
