//! Functions as data: structs that a memory keeps and a result shows.

use super::convert::list_of;
use crate::code::{Eval, Instr, Machine, Own};
use crate::consts::{Word, EMPTY_LIST, EMPTY_MAP};
use crate::values::{callable, make_struct, Callable};
use ptc_term::heap::Heap;

/// What a function becomes as data.
pub enum FunctionParts<T> {
    /// This value.
    Value(T),
    /// A struct with what it has captured, which is converted first: a list.
    Captured(T),
}

/// Returns what a function becomes as data.
pub fn opened<H: Heap>(m: &mut Machine<'_, H>, function: H::Term) -> FunctionParts<H::Term> {
    let captured = match callable(m, function) {
        None | Some(Callable::Data | Callable::Tool(_)) => return FunctionParts::Value(function),
        Some(Callable::Builtin(builtin)) => {
            let name = m.heap.make_string(builtin.name().as_bytes());
            let captured = m.constant(EMPTY_MAP);
            let params = m.constant(EMPTY_LIST);
            let nil = m.heap.nil();
            let kind = m.constant(Word::BuiltinKind.id());
            let made = make_function(m, [kind, name, params, nil, nil, captured]);
            return FunctionParts::Value(made);
        }
        Some(Callable::Closure(_)) => {
            let parts = m
                .heap
                .elements(function)
                .map(<[_]>::to_vec)
                .unwrap_or_default();
            list_of(m, &parts[2..])
        }
        Some(Callable::Made(_, functions)) => functions,
    };
    FunctionParts::Captured(captured)
}

/// Makes the struct of a function: kind, name, params, doc, source, captured.
fn make_function<H: Heap>(m: &mut Machine<'_, H>, values: [H::Term; 6]) -> H::Term {
    let fields = [
        Word::Kind,
        Word::Name,
        Word::Params,
        Word::Doc,
        Word::Source,
        Word::Captured,
    ];
    make_struct(m, Word::FunctionModule, &fields, &values)
}

/// Makes the data of a function, whose captured values are converted.
pub fn of_parts<H: Heap>(m: &mut Machine<'_, H>, function: H::Term, parts: &[H::Term]) -> Eval<H> {
    let nil = m.heap.nil();
    match callable(m, function) {
        Some(Callable::Closure(entry)) => {
            let Some(Instr::Own(Own::Entry { about, .. })) = m.program().code.get(entry as usize)
            else {
                return Ok(function);
            };
            let about = m.heap.elements(m.constant(*about)).map(<[_]>::to_vec);
            let Some([_, name, params, doc, source, names]) = about.as_deref() else {
                return Ok(function);
            };
            let mut keys = Vec::with_capacity(parts.len());
            let mut rest = *names;
            while let Some((name, tail)) = m.heap.uncons(rest) {
                keys.push(name);
                rest = tail;
            }
            let captured = m.heap.make_map(&keys[..parts.len().min(keys.len())], parts);
            let kind = m.constant(Word::ClosureKind.id());
            Ok(make_function(
                m,
                [kind, *name, *params, *doc, *source, captured],
            ))
        }
        Some(Callable::Made(kind, _)) => {
            let mut keys = Vec::with_capacity(parts.len());
            for place in 1..=parts.len() {
                keys.push(m.heap.make_string(place.to_string().as_bytes()));
            }
            m.count_new_map(parts.len())?;
            let captured = m.heap.make_map(&keys, parts);
            let params = m.constant(EMPTY_LIST);
            Ok(make_function(m, [kind, nil, params, nil, nil, captured]))
        }
        _ => Ok(function),
    }
}
