//! What a value does when it is called.

use super::asking::ARGUMENTS_A_UNIT;
use super::{checks, revive};
use crate::code::{Entering, Halt, Instr, Machine, Own, ASKING, EVALUATING, PRINTING};
use crate::consts::Word;
use crate::families;
use crate::fault::Fault;
use crate::look::{look_up_any, Found};
use crate::table::{Builtin, Family};
use crate::values::{callable, class, items_of_set, make_int, Callable, Class};
use ptc_term::heap::{Heap, Lookup};
use ptc_vm::program::Pc;
use ptc_vm::{Entered, Halt as VmHalt};

/// With more arguments no built-in takes constant time.
const FEW: usize = 8;

/// More arguments than this are one slot, a tuple: each suspension exchanges all slots. A tuple cannot have more elements than the second number.
const PACKED: std::ops::RangeInclusive<usize> = 65..=1 << 23;

/// With more arguments than this a call is left to a quantum, because each suspension copies them.
pub(super) const IN_A_SLICE: u32 = 65_536;

/// Enters a value that is called with so many arguments, which are above it on the stack.
pub fn enter<H: Heap>(m: &mut Machine<'_, H>, function: H::Term, arguments: u32) -> Entering<H> {
    m.consume_fuel_at_once(1 + arguments as usize / ARGUMENTS_A_UNIT)?;
    if arguments > IN_A_SLICE {
        m.meter.leave_to_quantum()?;
    }
    match callable(m, function) {
        Some(Callable::Closure(entry)) => closure(m, function, entry, arguments),
        Some(Callable::Builtin(builtin)) => built_in(m, builtin, arguments),
        Some(Callable::Made(kind, functions)) => {
            families::functions::enter(m, kind, functions, arguments)
        }
        Some(Callable::Tool(name)) => tool(m, name, arguments),
        Some(Callable::Data) | None => value(m, function, arguments),
    }
}

/// Returns the address of the code of a closure that takes so many arguments as they are, and the number of its slots.
#[inline(always)]
pub fn code_of<H: Heap>(
    m: &Machine<'_, H>,
    function: H::Term,
    arguments: u32,
) -> Option<(Pc, u32)> {
    let (mark, parts) = m.heap.elements(function)?.split_first()?;
    let is_closure = m.heap.identity(*mark) == m.heap.identity(m.constant(Word::Closure.id()));
    let entry = m
        .heap
        .small_integer(*parts.first()?)
        .filter(|_| is_closure)? as usize;
    match m.program().code.get(entry)? {
        Instr::Own(Own::Entry {
            params,
            captures,
            slots,
            rest: false,
            ..
        }) if u32::from(*params) == arguments && usize::from(*captures) == parts.len() - 1 => {
            Some((entry as Pc + 1, *slots))
        }
        _ => None,
    }
}

fn closure<H: Heap>(
    m: &mut Machine<'_, H>,
    function: H::Term,
    entry: u32,
    arguments: u32,
) -> Entering<H> {
    let Instr::Own(Own::Entry {
        params,
        slots,
        rest,
        about,
        ..
    }) = m.program().code[entry as usize]
    else {
        return Err(not_callable(function));
    };
    let params = u32::from(params);
    let given = match rest {
        false if arguments == params => arguments,
        true if arguments >= params => {
            let more = (arguments - params) as usize;
            let items = m.top_values(more).to_vec();
            let list = m.make_list(&items)?;
            m.drop_top(more);
            m.push(list);
            params + 1
        }
        _ => {
            let code = "closure_arity";
            return Err(wrong_count(
                m,
                (code, function, about),
                (params, rest),
                arguments,
            ));
        }
    };
    Ok(Entered::Code {
        entry: entry + 1,
        arguments: given,
        slots,
    })
}

/// The error of a closure that is called with a wrong number of arguments: the function, what it expects, what it got.
#[cold]
fn wrong_count<H: Heap>(
    m: &mut Machine<'_, H>,
    (code, function, about): (&'static str, H::Term, u32),
    (params, rest): (u32, bool),
    arguments: u32,
) -> Halt<H> {
    let about = m.constant(about);
    let name = m.heap.element(about, 1);
    let name = name.and_then(|name| m.heap.bytes(name)).map(<[u8]>::to_vec);
    let name = name.map_or("fn".to_owned(), |name| {
        String::from_utf8_lossy(&name).into_owned()
    });
    let counts = [i64::from(params), i64::from(rest), i64::from(arguments)];
    let mut terms = counts.map(|count| make_int(m, count)).to_vec();
    terms.push(function);
    VmHalt::fault(Fault::of(code, name, terms))
}

/// The error of a wrong number of arguments where a built-in has called the closure.
#[cold]
pub fn wrong_count_of_callback<H: Heap>(
    m: &mut Machine<'_, H>,
    function: H::Term,
    arguments: u32,
) -> Halt<H> {
    let entry = match callable(m, function) {
        Some(Callable::Closure(entry)) => m.program().code.get(entry as usize),
        _ => None,
    };
    match entry {
        Some(Instr::Own(Own::Entry {
            params,
            rest,
            about,
            ..
        })) => {
            let code = "callback_arity";
            let params = u32::from(*params);
            wrong_count(m, (code, function, *about), (params, *rest), arguments)
        }
        _ => not_callable(function),
    }
}

fn built_in<H: Heap>(m: &mut Machine<'_, H>, builtin: Builtin, arguments: u32) -> Entering<H> {
    let count = arguments as usize;
    match builtin.row().family {
        Family::Calls => {
            let given = m.top_values(count).to_vec();
            checks::check(m, builtin, &given)?;
            families::calls::start(m, builtin, &given)
        }
        Family::Asked => code_of_built_in(m, ASKING, arguments),
        _ if builtin == Builtin::Println => code_of_built_in(m, PRINTING, arguments),
        _ => {
            if let Ok(two) = <[H::Term; 2]>::try_from(m.top_values(count)) {
                if let Some(value) = families::numbers::quick(m, builtin, two) {
                    return Ok(Entered::Value(value));
                }
            }
            if !families::is_quick(builtin) || count > FEW {
                return code_of_built_in(m, EVALUATING, arguments);
            }
            super::call_on_top(m, builtin, count).map(Entered::Value)
        }
    }
}

/// The code that calls a built-in: its slots are those that [`of_slots`](super::own) reads.
fn code_of_built_in<H: Heap>(m: &mut Machine<'_, H>, entry: Pc, arguments: u32) -> Entering<H> {
    let count = arguments as usize;
    if !PACKED.contains(&count) {
        let slots = arguments + 1;
        return Ok(Entered::Code {
            entry,
            arguments,
            slots,
        });
    }
    m.check_heap_limit(count)?;
    let given = m.top_values(count).to_vec();
    let tuple = m.heap.make_tuple(&given);
    m.drop_top(count);
    m.push(tuple);
    // Behind the tuple and the built-in there is one more slot, which is nil.
    Ok(Entered::Code {
        entry,
        arguments: 1,
        slots: 3,
    })
}

/// A tool as a value gets its arguments as `(tool/name …)` does.
fn tool<H: Heap>(m: &mut Machine<'_, H>, name: H::Term, arguments: u32) -> Entering<H> {
    let given = m.top_values(arguments as usize).to_vec();
    let args = match given.as_slice() {
        [] => m.constant(crate::consts::EMPTY_MAP),
        [map] if class(m, *map) == Class::Map => *map,
        pairs if pairs.len() % 2 == 0 && is_keyword_first(m, pairs) => {
            let (keys, values): (Vec<_>, Vec<_>) =
                pairs.chunks_exact(2).rev().map(|it| (it[0], it[1])).unzip();
            m.count_new_map(keys.len())?;
            m.heap.make_map(&keys, &values)
        }
        others => {
            let text = m.heap.bytes(name).map(<[u8]>::to_vec).unwrap_or_default();
            let name = String::from_utf8_lossy(&text).into_owned();
            return Err(VmHalt::fault(Fault::of(
                "tool_arguments",
                name,
                others.to_vec(),
            )));
        }
    };
    let args = super::convert::tool_arguments(m, args)?;
    Ok(Entered::Tool { tool: name, args })
}

fn is_keyword_first<H: Heap>(m: &Machine<'_, H>, pairs: &[H::Term]) -> bool {
    pairs
        .iter()
        .step_by(2)
        .all(|key| class(m, *key) == Class::Keyword)
}

/// Calls a value that is no function: a keyword, a map, a set, or a function as data.
fn value<H: Heap>(m: &mut Machine<'_, H>, function: H::Term, arguments: u32) -> Entering<H> {
    let given = m.top_values(arguments as usize).to_vec();
    match class(m, function) {
        Class::Keyword | Class::Bool | Class::Special => {
            let (coll, default) = match *given {
                [coll] => (coll, m.heap.nil()),
                [coll, default] => (coll, default),
                _ => {
                    return Err(VmHalt::fault(Fault::of(
                        "keyword_call",
                        "keyword",
                        vec![function],
                    )))
                }
            };
            let found = match class(m, coll) {
                Class::Map => look_up_any(m, coll, function)?,
                Class::Struct => {
                    let fault = Fault::of("struct_without_keys", "keyword", vec![coll]);
                    return Err(VmHalt::fault(fault));
                }
                _ => Found::Missing,
            };
            Ok(Entered::Value(found.value().unwrap_or(default)))
        }
        Class::Map => {
            let (key, default) = match *given {
                [key] => (key, m.heap.nil()),
                [key, default] => (key, default),
                _ => return Err(VmHalt::fault(Fault::of("map_call", "map", vec![function]))),
            };
            let found = look_up_any(m, function, key)?;
            Ok(Entered::Value(found.value().unwrap_or(default)))
        }
        Class::Set => match *given {
            [item] => {
                let items = items_of_set(m, function);
                let found = m.heap.lookup(items, item, &mut H::KeyCache::default());
                let is_member = matches!(found, Lookup::Found(_));
                Ok(Entered::Value(if is_member { item } else { m.heap.nil() }))
            }
            _ => {
                let got = make_int(m, i64::from(arguments));
                Err(VmHalt::fault(Fault::of("set_call", "set", vec![got])))
            }
        },
        Class::Function => match revive::revive(m, function)? {
            Some(revived) => {
                m.drop_top(arguments as usize + 1);
                m.push(revived);
                given.into_iter().for_each(|term| m.push(term));
                Ok(Entered::Instead(arguments))
            }
            None => Err(not_callable(function)),
        },
        Class::Struct => {
            let fault = Fault::of("struct_call", "call", vec![function]);
            Err(VmHalt::fault(fault))
        }
        _ => Err(not_callable(function)),
    }
}

fn not_callable<F>(function: F) -> VmHalt<Fault<F>> {
    VmHalt::fault(Fault::of("not_callable", "call", vec![function]))
}
