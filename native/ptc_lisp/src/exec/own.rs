//! The instructions of the language.

use super::enter::IN_A_SLICE;
use super::hot::called_key;
use super::{checks, convert, spread};
use crate::code::{Eval, Halt, Instr, Lisp, Machine, Own, BEHIND_ANSWER};
use crate::consts::{Word, EMPTY_LIST, EMPTY_MAP};
use crate::families;
use crate::fault::Fault;
use crate::look::look_up;
use crate::table::{Builtin, Check};
use crate::values::{
    callable, class, make_builtin, make_int, make_made, make_set, Callable, Class,
};
use crate::work::Work;
use ptc_term::heap::{Heap, Kind, Lookup};
use ptc_term::named::Named;
use ptc_vm::program::{ConstId, Pc, Slot};
use ptc_vm::{Halt as VmHalt, Vm};

/// Items between two checks of the fuel.
const BATCH: usize = 64;
/// Arguments of one call per unit of fuel.
pub(super) const ARGUMENTS_A_UNIT: usize = 4;
/// Number of entries of a small map.
const FEW: usize = 8;

/// Executes an instruction that is none of the [most frequent](super::hot); returns the next address.
pub fn execute<H: Heap>(vm: &mut Vm<'_, H, Lisp>, own: &Own) -> Result<Pc, Halt<H>> {
    let next = vm.pc() + 1;
    let (context, memory) = vm.data();
    let m = vm.parts().0;
    match *own {
        // The others are those of `hot`.
        Own::Entry { .. }
        | Own::Global { .. }
        | Own::Arithmetic { .. }
        | Own::KeywordOf { .. }
        | Own::Visit { .. }
        | Own::Scan { .. }
        | Own::Collect(_) => {}
        Own::Remember { global, name } => remember(m, memory, global, name)?,
        Own::Define { global, var } => {
            let value = m.pop();
            m.globals.define(global, value);
            let var = m.constant(var);
            m.push(var);
        }
        Own::IfBound { global, var, to } => {
            if m.globals.get(global).is_some() {
                let var = m.constant(var);
                m.push(var);
                return Ok(to);
            }
        }
        Own::Data(key) => {
            let found = look_up(m, context, key)?.value();
            let value = match found {
                Some(value) => value,
                None if is_strict(m, memory) => return Err(no_data(m, key)),
                None => m.heap.nil(),
            };
            m.push(value);
        }
        Own::TakeEndless(to) => {
            let given = m.top_values(4).to_vec();
            if let Some(list) = families::seqs::take_of_endless(m, &given)? {
                replace(m, 4, list);
                return Ok(to);
            }
        }
        Own::History(place) => {
            let mut rest = m.heap.element(memory, 1).unwrap_or(m.heap.nil());
            for _ in 1..place {
                rest = m.heap.uncons(rest).map_or(rest, |(_, tail)| tail);
            }
            let value = m.heap.uncons(rest).map(|(value, _)| value);
            let value = value.unwrap_or(m.heap.nil());
            m.push(value);
        }
        Own::Budget => {
            let budget = m.heap.element(memory, 2).unwrap_or(m.heap.nil());
            m.push(budget);
        }
        Own::Vector(count) => {
            let items = m.top_values(count as usize).to_vec();
            m.consume_fuel(items.len() / 8)?;
            let list = m.make_list(&items)?;
            replace(m, count, list);
        }
        Own::Map(count) => {
            m.count_new_map(count as usize)?;
            let map = map_of_top(m, count as usize);
            replace(m, 2 * count, map);
        }
        Own::Set(count) => {
            let items = m.top_values(count as usize).to_vec();
            let set = make_set(m, &items)?;
            replace(m, count, set);
        }
        Own::Closure { entry, captures } => {
            let mut parts = Vec::with_capacity(2 + captures as usize);
            parts.push(m.constant(Word::Closure.id()));
            parts.push(make_int(m, i64::from(entry)));
            parts.extend_from_slice(m.top_values(captures as usize));
            let closure = m.heap.make_tuple_value(&parts);
            replace(m, captures, closure);
        }
        Own::Captured { slot, index } => {
            let function = m.slot(slot);
            let value = m.heap.element(function, 2 + index as usize);
            let value = value.unwrap_or(m.heap.nil());
            m.push(value);
        }
        Own::Keyword { key, default } => {
            let top = m.top_values(1 + usize::from(default));
            let (coll, default_value) = match *top {
                [coll, default] => (coll, Some(default)),
                [coll] => (coll, None),
                _ => return Ok(next),
            };
            let found = called_key(m, coll, key)?;
            let value = found.or(default_value).unwrap_or(m.heap.nil());
            replace(m, 1 + u32::from(default), value);
        }
        Own::Question { builtin, arguments } => {
            let given = m.top_values(arguments as usize).to_vec();
            if !families::needs_answer(m, builtin, &given) {
                let value = families::call(m, builtin, &given)?;
                replace(m, arguments, value);
                return Ok(next - 1 + BEHIND_ANSWER);
            }
            let question = question(m, builtin, &given)?;
            replace(m, arguments, question);
        }
        Own::QuestionOfSlots => {
            let (builtin, given) = of_slots(m)?;
            if !families::needs_answer(m, builtin, &given) {
                let value = families::call(m, builtin, &given)?;
                m.push(value);
                return Ok(next - 1 + BEHIND_ANSWER);
            }
            let question = question(m, builtin, &given)?;
            m.push(question);
        }
        Own::OfSlots => {
            let (builtin, given) = of_slots(m)?;
            let value = families::call(m, builtin, &given)?;
            m.check_heap_limit(0)?;
            m.push(value);
        }
        Own::PrintOfSlots => {
            let (_, given) = of_slots(m)?;
            let text = families::call(m, Builtin::Println, &given)?;
            m.push(text);
        }
        Own::Answered => answered(m)?,
        Own::Items => {
            let coll = m.top();
            let items = families::seqs::items(m, coll)?;
            replace(m, 1, items);
        }
        Own::NextItem { slot, to } => match m.heap.uncons(m.slot(slot)) {
            Some((item, rest)) => {
                m.set_slot(slot, rest);
                m.push(item);
            }
            None => return Ok(to),
        },
        Own::Sequence(builtin) => sequence(m, builtin)?,
        Own::Collected { from, into } => collected(m, (from, into))?,
        Own::ExpectList(slot) => {
            let value = m.slot(slot);
            if !matches!(m.heap.kind(value), Kind::List | Kind::Nil) {
                return Err(fault("destructure_list", "destructuring", vec![value]));
            }
        }
        Own::ExpectMap(slot) => {
            let value = m.slot(slot);
            if !matches!(class(m, value), Class::Map | Class::Nil) {
                return Err(fault("destructure_map", "destructuring", vec![value]));
            }
        }
        Own::TakeItem(slot) => {
            let (item, rest) = match m.heap.uncons(m.slot(slot)) {
                Some(parts) => parts,
                None => (m.heap.nil(), m.slot(slot)),
            };
            m.set_slot(slot, rest);
            m.push(item);
        }
        Own::TakeRest(slot) => {
            let rest = match m.heap.kind(m.slot(slot)) {
                Kind::List => m.slot(slot),
                _ => m.constant(EMPTY_LIST),
            };
            m.push(rest);
        }
        Own::Field { slot, key, default } => {
            let map = m.slot(slot);
            let value = look_up(m, map, key)?.value();
            let value = value.unwrap_or_else(|| m.constant(default));
            m.push(value);
        }
        Own::Arguments(slot) => arguments(m, slot)?,
        Own::Matches(constant) => {
            let (value, constant) = (m.top(), m.constant(constant));
            let equal = families::compare::equal(m, value, constant)?;
            let equal = m.heap.boolean(equal);
            m.push(equal);
        }
        Own::IsNil => {
            let value = m.pop();
            let is_nil = m.heap.boolean(m.heap.kind(value) == Kind::Nil);
            m.push(is_nil);
        }
        Own::ToolArguments(tool) => {
            let args = m.top();
            if class(m, args) != Class::Map {
                let name = text_of(m, tool);
                return Err(VmHalt::fault(Fault::of("tool_arguments", name, vec![args])));
            }
            let args = convert::tool_arguments(m, args)?;
            replace(m, 1, args);
        }
        Own::BadArguments { tool, count } => {
            let given = m.top_values(count as usize).to_vec();
            let name = text_of(m, tool);
            return Err(VmHalt::fault(Fault::of("tool_arguments", name, given)));
        }
        Own::Spread { before, slot } => {
            if !matches!(m.begun(), Some(Work::Spreading(_))) {
                let coll = m.top();
                if !matches!(class(m, coll), Class::List | Class::Set | Class::Map) {
                    return Err(fault("apply", "apply", vec![coll]));
                }
                let items = families::seqs::items(m, coll)?;
                replace(m, 1, items);
            }
            let count = spread::spread(m)?;
            let count = make_int(m, count as i64 + i64::from(before));
            m.set_slot(slot, count);
        }
        Own::Juxt(count) => {
            let functions = m.top_values(count as usize).to_vec();
            let made = make_made(m, Word::Juxt, &functions)?;
            replace(m, count, made);
        }
        Own::Grow { builtin, others } => families::growing::grow(m, builtin, others as usize)?,
        Own::Gather(to) => {
            if families::gathering::gather(m)? {
                return Ok(to);
            }
        }
        Own::Whole { base, added } => {
            let value = families::growing::whole(m, (m.slot(base), m.slot(added)))?;
            m.check_heap_limit(0)?;
            m.set_slot(base, value);
            m.set_slot(added, m.constant(EMPTY_LIST));
            m.push(value);
        }
        Own::ReduceItems => {
            if let [initial, coll] = *m.top_values(2) {
                if !checks::holds(m, Check::Seqable, coll) {
                    let function = make_builtin(m, Builtin::Reduce);
                    checks::check(m, Builtin::Reduce, &[function, initial, coll])?;
                }
                let items = families::seqs::items(m, coll)?;
                replace(m, 1, items);
            }
        }
        Own::RecurCount { expected, got } => {
            let counts = [expected, got].map(|count| make_int(m, i64::from(count)));
            return Err(fault("recur_count", "recur", counts.to_vec()));
        }
        Own::Guard(to) => vm.guard(to),
        Own::Unguard => vm.unguard(),
        Own::WorkerFailed { form } => {
            let error = m.pop();
            return Err(fault("worker_failed", form.name(), vec![error]));
        }
        Own::End { failed } => {
            let form = |guard: &Instr| matches!(guard, Instr::Own(Own::WorkerFailed { .. }));
            if vm.is_round() || vm.guards().any(form) {
                let name = if failed { "fail" } else { "return" };
                return Err(fault("ended_in_worker", name, Vec::new()));
            }
            let m = vm.parts().0;
            let value = m.pop();
            let kind = if failed {
                Word::FailEnd
            } else {
                Word::ReturnEnd
            };
            let kind = m.constant(kind.id());
            let ended = m.heap.make_tuple_value(&[kind, value]);
            let end = m.program().language.end;
            vm.leave_all();
            vm.parts().0.push(ended);
            return Ok(end);
        }
        Own::Finish { names } => convert::finish(m, names)?,
    }
    Ok(next)
}

/// Replaces so many values on the stack by one.
#[inline]
fn replace<H: Heap>(m: &mut Machine<'_, H>, count: u32, value: H::Term) {
    m.drop_top(count as usize);
    m.push(value);
}

#[cold]
fn fault<T>(code: &'static str, name: &'static str, terms: Vec<T>) -> VmHalt<Fault<T>> {
    VmHalt::fault(Fault::of(code, name, terms))
}

pub(super) fn text_of<H: Heap>(m: &Machine<'_, H>, constant: ConstId) -> String {
    let text = m.heap.bytes(m.constant(constant)).unwrap_or_default();
    String::from_utf8_lossy(text).into_owned()
}

#[cold]
fn no_data<H: Heap>(m: &Machine<'_, H>, key: ConstId) -> Halt<H> {
    VmHalt::fault(Fault::of("no_data", text_of(m, key + 1), Vec::new()))
}

fn is_strict<H: Heap>(m: &Machine<'_, H>, memory: H::Term) -> bool {
    let strict = m.heap.element(memory, 3);
    strict.is_some_and(|strict| m.heap.truthy(strict))
}

/// Gives a global the value of the memory: at the string, or else at the atom.
fn remember<H: Heap>(
    m: &mut Machine<'_, H>,
    memory: H::Term,
    global: u32,
    name: ConstId,
) -> Result<(), Halt<H>> {
    let map = m.heap.element(memory, 0).unwrap_or(m.heap.nil());
    m.consume_fuel(2)?;
    let mut value = None;
    for key in [m.constant(name), m.constant(name + 1)] {
        let is_key = m.heap.kind(key) != Kind::Nil && value.is_none();
        if let (true, Lookup::Found(found)) =
            (is_key, m.heap.lookup(map, key, &mut H::KeyCache::default()))
        {
            value = Some(found);
        }
    }
    if let Some(found) = value {
        if m.heap.kind(found) == Kind::Map && class(m, found) == Class::Function {
            value = super::revive::revive(m, found)?.or(value);
        }
    }
    m.globals.give(global, value);
    Ok(())
}

/// The question that evaluates a built-in: `{name, arguments}`. Where the arguments are printed, functions among them are data.
fn question<H: Heap>(m: &mut Machine<'_, H>, builtin: Builtin, given: &[H::Term]) -> Eval<H> {
    if m.begun().is_none() {
        super::checks::check(m, builtin, given)?;
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
fn of_slots<H: Heap>(m: &mut Machine<'_, H>) -> Result<(Builtin, Vec<H::Term>), Halt<H>> {
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
fn answered<H: Heap>(m: &mut Machine<'_, H>) -> Result<(), Halt<H>> {
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

/// Makes a map of the keys and values on the stack. Of equal keys the last one counts.
fn map_of_top<H: Heap>(m: &mut Machine<'_, H>, count: usize) -> H::Term {
    let nil = m.heap.nil();
    if count > FEW {
        let pairs = m.top_values(2 * count).to_vec();
        let pairs = pairs.chunks_exact(2).rev();
        let (keys, values): (Vec<_>, Vec<_>) = pairs.map(|it| (it[0], it[1])).unzip();
        return m.heap.make_map(&keys, &values);
    }
    // Few need no memory.
    let (mut keys, mut values) = ([nil; FEW], [nil; FEW]);
    let pairs = m.top_values(2 * count).chunks_exact(2).rev();
    for (pair, (key, value)) in pairs.zip(keys.iter_mut().zip(&mut values)) {
        (*key, *value) = (pair[0], pair[1]);
    }
    m.heap.make_map(&keys[..count], &values[..count])
}

/// Replaces a collection by the list of its items, after the checks of the built-in that visits them.
fn sequence<H: Heap>(m: &mut Machine<'_, H>, builtin: Builtin) -> Result<(), Halt<H>> {
    let coll = m.top();
    if m.begun().is_none() {
        // Its place is taken by a value of the same kind.
        let function = make_builtin(m, builtin);
        let arguments = [function, coll];
        checks::check(m, builtin, &arguments)?;
        if builtin == Builtin::Reduce && !checks::holds(m, Check::Seqable, coll) {
            return Err(checks::refused_argument(
                builtin,
                (2, Check::Seqable),
                &arguments,
            ));
        }
    }
    let items = families::seqs::items(m, coll)?;
    replace(m, 1, items);
    Ok(())
}

/// Pushes what was collected in a slot, the first value first. What is done is in the other slot, so it can be stopped and goes on.
fn collected<H: Heap>(m: &mut Machine<'_, H>, (from, into): (Slot, Slot)) -> Result<(), Halt<H>> {
    let mut rest = m.slot(from);
    let mut made = match m.heap.kind(m.slot(into)) {
        Kind::List => m.slot(into),
        _ => m.constant(EMPTY_LIST),
    };
    loop {
        if let Err(stop) = m.consume_fuel(BATCH / 4) {
            m.set_slot(from, rest);
            m.set_slot(into, made);
            return Err(stop.into());
        }
        for _ in 0..BATCH {
            let Some((item, tail)) = m.heap.uncons(rest) else {
                // A run that waits afterwards does not hold what is read no more.
                let nothing = m.constant(EMPTY_LIST);
                m.set_slot(from, nothing);
                m.set_slot(into, nothing);
                m.push(made);
                return Ok(());
            };
            // The cell takes the place of the one that was counted when the value was collected.
            made = m.heap.cons(item, made);
            rest = tail;
        }
        m.meter.advanced();
    }
}

/// Makes a map of the rest parameter's `k v k v …`.
fn arguments<H: Heap>(m: &mut Machine<'_, H>, slot: Slot) -> Result<(), Halt<H>> {
    let mut rest = m.slot(slot);
    if m.heap.kind(rest) != Kind::List {
        return Ok(());
    }
    let mut given = Vec::new();
    while let Some((item, tail)) = m.heap.uncons(rest) {
        given.push(item);
        rest = tail;
    }
    m.consume_fuel_at_once(given.len())?;
    if given.len() % 2 == 1 {
        let count = make_int(m, given.len() as i64);
        return Err(fault("keyword_arguments", "fn", vec![count]));
    }
    m.count_new_map(given.len() / 2)?;
    let (keys, values): (Vec<_>, Vec<_>) =
        given.chunks_exact(2).rev().map(|it| (it[0], it[1])).unzip();
    let map = match keys.is_empty() {
        true => m.constant(EMPTY_MAP),
        false => m.heap.make_map(&keys, &values),
    };
    m.set_slot(slot, map);
    Ok(())
}

const _: () = assert!(std::mem::size_of::<Own>() <= 16);
const _: () = assert!(Word::ALL.len() < 128);
