//! The built-ins, one module for each family of the table.

pub mod calls;
pub mod compare;
pub mod flow;
pub mod functions;
pub mod gathering;
pub mod growing;
pub mod maps;
pub mod numbers;
pub mod predicates;
mod reading;
pub mod seqs;
pub mod sets;
pub mod states;
pub mod strings;

use crate::code::{Eval, Machine};
use crate::exec::checks;
use crate::table::{Builtin, Family};
use ptc_term::heap::Heap;

/// Evaluates a built-in that calls no function, after the checks of its arguments. An evaluation that stops with
/// [`SliceOver`](ptc_term::stop::Stop::SliceOver) starts again with the same arguments, and its state.
pub fn call<H: Heap>(m: &mut Machine<'_, H>, builtin: Builtin, arguments: &[H::Term]) -> Eval<H> {
    if m.begun().is_none() {
        if let Err(halt) = checks::check(m, builtin, arguments) {
            return Err(maps::swapped(m, builtin, arguments).unwrap_or(halt));
        }
    }
    match builtin.row().family {
        Family::Numbers => numbers::eval(m, builtin, arguments),
        Family::Compare => compare::eval(m, builtin, arguments),
        Family::Predicates => predicates::eval(m, builtin, arguments),
        Family::Seqs => seqs::eval(m, builtin, arguments),
        Family::Maps => maps::eval(m, builtin, arguments),
        Family::Sets => sets::eval(m, builtin, arguments),
        Family::Strings => strings::eval(m, builtin, arguments),
        Family::Functions => functions::eval(m, builtin, arguments),
        Family::Asked => match (builtin, arguments.len()) {
            (Builtin::Replace, 2) => seqs::eval(m, builtin, arguments),
            _ => strings::eval(m, builtin, arguments),
        },
        // They are entered: they are never evaluated here.
        Family::Calls => Err(checks::invalid_types(builtin, arguments)),
    }
}

/// Whether the caller of the run must evaluate a built-in of [`Family::Asked`] with these arguments. If not, [`call`] does.
pub fn needs_answer<H: Heap>(m: &Machine<'_, H>, builtin: Builtin, arguments: &[H::Term]) -> bool {
    match builtin {
        Builtin::Split | Builtin::Replace => strings::is_asked(m, builtin, arguments),
        _ => true,
    }
}

/// Whether a built-in with few arguments takes constant time, but for numbers and texts of any length, which it counts. A built-in
/// that calls it need not make an activation for it.
pub fn is_quick(builtin: Builtin) -> bool {
    match builtin.row().family {
        Family::Predicates | Family::Functions => true,
        // The others compare any values, or make integers that are much longer than their operands.
        Family::Numbers => !matches!(
            builtin,
            Builtin::Multiply
                | Builtin::MultiplyPrime
                | Builtin::Max
                | Builtin::Min
                | Builtin::Mod
                | Builtin::Rem
                | Builtin::Quot
                | Builtin::BitShiftLeft
                | Builtin::BitSet
                | Builtin::BitFlip
        ),
        _ => matches!(builtin, Builtin::First | Builtin::Second | Builtin::Get),
    }
}
