//! Built-ins whose arguments are in slots, and those that only the caller of the run evaluates: the question, and its answer.

use super::enter::IN_A_SLICE;
use super::top::{fault, replace};
use super::{checks, convert};
use crate::code::{Eval, Halt, Machine};
use crate::table::Builtin;
use crate::values::{callable, Callable};
use ptc_term::heap::{Heap, Kind};

/// Arguments of one call per unit of fuel.
pub const ARGUMENTS_A_UNIT: usize = 4;

/// The question that evaluates a built-in: `{name, arguments}`. Where the arguments are printed, functions among them are data.
pub fn question<H: Heap>(m: &mut Machine<'_, H>, builtin: Builtin, given: &[H::Term]) -> Eval<H> {
    if m.begun().is_none() {
        checks::check(m, builtin, given)?;
    }
    let list = match builtin {
        Builtin::Format => {
            let data = convert::functions_as_data(m, given)?;
            m.make_list(&data)?
        }
        _ => m.make_list(given)?,
    };
    let name = m.heap.make_string(builtin.name().as_bytes());
    Ok(m.heap.make_tuple(&[name, list]))
}

/// The built-in in the last slot, and its arguments in the others; or a tuple of many arguments, the built-in, and nil.
pub fn of_slots<H: Heap>(m: &mut Machine<'_, H>) -> Result<(Builtin, Vec<H::Term>), Halt<H>> {
    let (built_in, tuple) = match *m.slots() {
        [tuple, built_in, end] if m.heap.kind(end) == Kind::Nil => (built_in, Some(tuple)),
        [.., built_in] => (built_in, None),
        [] => (m.heap.nil(), None),
    };
    // They are copied each time when the evaluation goes on.
    let count = match tuple {
        Some(tuple) => m.heap.arity(tuple).unwrap_or(0),
        None => m.slots().len().saturating_sub(1),
    };
    m.consume_fuel_at_once(count / ARGUMENTS_A_UNIT)?;
    if count > IN_A_SLICE as usize {
        m.meter.leave_to_quantum()?;
    }
    let given = match tuple {
        Some(tuple) => m.heap.elements(tuple).unwrap_or_default().to_vec(),
        None => m.slots()[..count].to_vec(),
    };
    match callable(m, built_in) {
        Some(Callable::Builtin(builtin)) => Ok((builtin, given)),
        _ => Err(fault("not_callable", "call", vec![built_in])),
    }
}

/// Takes the answer of the caller: `{true, value}`, or `{false, code, name, terms}` for an error.
pub fn answered<H: Heap>(m: &mut Machine<'_, H>) -> Result<(), Halt<H>> {
    let answer = m.top();
    let parts = m.heap.elements(answer).map(<[_]>::to_vec);
    match parts.as_deref() {
        Some(&[ok, value]) if m.heap.truthy(ok) => {
            replace(m, 1, value);
            Ok(())
        }
        Some(&[_, reason, text]) => Err(fault("answered", "answer", vec![reason, text])),
        _ => Err(fault("unreachable", "answer", Vec::new())),
    }
}
