//! The methods of texts: `.length`, `.indexOf`, …

use super::places::{find, find_last, has, index_of, length};
use super::{form, parts, string};
use crate::code::{Eval, Machine};
use crate::exec::checks::invalid_types;
use crate::fault::Fault;
use crate::table::Builtin;
use crate::values::make_int;
use ptc_term::heap::Heap;
use ptc_vm::Halt as VmHalt;

/// Evaluates a method.
pub(super) fn eval<H: Heap>(
    m: &mut Machine<'_, H>,
    builtin: Builtin,
    arguments: &[H::Term],
) -> Eval<H> {
    use Builtin as B;
    let Some((&text, others)) = arguments.split_first() else {
        return Err(invalid_types(builtin, arguments));
    };
    let text = expect(m, builtin, text, "receiver")?;
    match (builtin, others) {
        (B::MethodLength, []) => {
            let length = length(m, text)?;
            Ok(make_int(m, length as i64))
        }
        (B::MethodToUpperCase | B::MethodToLowerCase, []) => form::in_case(m, builtin, text),
        (B::MethodContains | B::MethodStartsWith | B::MethodEndsWith, [part]) => {
            let part = expect(m, builtin, *part, "argument")?;
            has(m, builtin, text, part)
        }
        (B::MethodIndexOf, [part, from @ ..]) => {
            let part = expect(m, builtin, *part, "argument")?;
            let from = match from.first() {
                None => None,
                Some(from) => match index_of(m, *from)? {
                    Some(index) => Some(index),
                    None => return Err(unexpected(builtin, *from, "index")),
                },
            };
            let found = find(m, text, part, from)?;
            Ok(make_int(m, found.map_or(-1, |index| index as i64)))
        }
        (B::MethodLastIndexOf, [part]) => {
            let part = expect(m, builtin, *part, "argument")?;
            let found = find_last(m, text, part, None)?;
            Ok(make_int(m, found.map_or(-1, |index| index as i64)))
        }
        (B::MethodSubstring, [_, ..]) => parts::substring(m, text, others),
        _ => Err(invalid_types(builtin, arguments)),
    }
}

fn expect<H: Heap>(
    m: &mut Machine<'_, H>,
    builtin: Builtin,
    term: H::Term,
    role: &'static str,
) -> Eval<H> {
    match string(m, term)? {
        Some(text) => Ok(text),
        None => Err(unexpected(builtin, term, role)),
    }
}

/// The error of a value that the method cannot take, in a role: `receiver`, `argument`, `index`.
#[cold]
fn unexpected<T>(builtin: Builtin, term: T, role: &'static str) -> VmHalt<Fault<T>> {
    VmHalt::fault(Fault::of("method_text", builtin.name(), vec![term]).with(role))
}
