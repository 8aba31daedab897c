//! The built-ins that make functions.

use crate::code::{Eval, Halt, Machine};
use crate::consts::Word;
use crate::exec::checks::{failed, holds, invalid_types};
use crate::table::{Builtin, Check};
use crate::values::{make_builtin, make_made};
use ptc_term::heap::Heap;

/// Evaluates a built-in of the family.
pub fn eval<H: Heap>(m: &mut Machine<'_, H>, builtin: Builtin, arguments: &[H::Term]) -> Eval<H> {
    m.consume_fuel_at_once(arguments.len() / 8)?;
    match (builtin, arguments) {
        (Builtin::Identity, &[value]) => Ok(value),
        (Builtin::Comp, []) => Ok(make_builtin(m, Builtin::Identity)),
        (Builtin::Comp, &[function]) => Ok(function),
        (Builtin::Comp, functions) => {
            require_functions(m, builtin, functions)?;
            make_made(m, Word::Comp, functions)
        }
        (Builtin::Partial, []) => Err(failed("partial_function", builtin, &[])),
        (Builtin::Partial, &[function]) => Ok(function),
        (Builtin::Partial, parts) => make_made(m, Word::Partial, parts),
        (Builtin::Complement, functions) => {
            require_functions(m, builtin, functions)?;
            make_made(m, Word::Complement, functions)
        }
        (Builtin::Constantly, values) => make_made(m, Word::Constantly, values),
        (Builtin::Fnil, parts @ &[function, _]) => match holds(m, Check::Callable, function) {
            true => make_made(m, Word::Fnil, parts),
            false => Err(invalid_types(builtin, parts)),
        },
        (Builtin::EveryPred, []) => Err(failed("predicate_count", builtin, &[])),
        (Builtin::EveryPred, functions) => {
            require_functions(m, builtin, functions)?;
            make_made(m, Word::EveryPred, functions)
        }
        (Builtin::SomeFn, []) => Err(failed("function_count", builtin, &[])),
        (Builtin::SomeFn, functions) => {
            require_functions(m, builtin, functions)?;
            make_made(m, Word::SomeFn, functions)
        }
        _ => Err(invalid_types(builtin, arguments)),
    }
}

/// Fails unless all arguments are functions or keywords.
fn require_functions<H: Heap>(
    m: &Machine<'_, H>,
    builtin: Builtin,
    functions: &[H::Term],
) -> Result<(), Halt<H>> {
    let mut functions_of = functions.iter();
    match functions_of.all(|function| holds(m, Check::Callable, *function)) {
        true => Ok(()),
        false => Err(invalid_types(builtin, functions)),
    }
}
