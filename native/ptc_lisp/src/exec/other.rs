//! The instructions of the language that are apart from the loop of the machine.

use super::top::{fault, replace};
use super::{asking, checks, collections, convert, finish, named, spread};
use crate::code::{Halt, Instr, Lisp, Other, Own, BEHIND_ANSWER};
use crate::consts::{Word, EMPTY_LIST};
use crate::families;
use crate::fault::Fault;
use crate::table::{Builtin, Check};
use crate::values::{class, make_builtin, make_int, make_made, make_set, Class};
use crate::work::Work;
use ptc_term::heap::{Heap, Kind};
use ptc_term::named::Named;
use ptc_vm::program::Pc;
use ptc_vm::{Halt as VmHalt, Vm};

/// Executes an instruction that the loop of the machine does not have in its own code; returns the next address.
pub fn execute<H: Heap>(vm: &mut Vm<'_, H, Lisp>, own: &Own) -> Result<Pc, Halt<H>> {
    let next = vm.pc() + 1;
    let (context, environment) = vm.data();
    let m = vm.parts().0;
    let other = match own {
        Own::Other(other) => other,
        Own::IfBound { global, var, to } => {
            return Ok(named::if_bound(m, (*global, *var, *to)).unwrap_or(next));
        }
        Own::Field { slot, key, default } => {
            named::field(m, (*slot, *key, *default))?;
            return Ok(next);
        }
        // It is where a function is entered.
        Own::Entry { .. } => return Ok(next),
        Own::Global { .. }
        | Own::KeywordOf { .. }
        | Own::Visit { .. }
        | Own::Scan { .. }
        | Own::Collect(_)
        | Own::Arithmetic { .. } => return Err(fault("unreachable", "program", Vec::new())),
    };
    match *other {
        Other::Remember { global, name } => named::remember(m, environment, global, name)?,
        Other::Define { global, var } => {
            let value = m.pop();
            m.globals.define(global, value);
            let var = m.constant(var);
            m.push(var);
        }
        Other::Data(key) => named::data(m, (context, environment), key)?,
        Other::TakeEndless(to) => {
            let given = m.top_values(4).to_vec();
            if let Some(list) = families::seqs::take_of_endless(m, &given)? {
                replace(m, 4, list);
                return Ok(to);
            }
        }
        Other::History(place) => named::history(m, environment, place),
        Other::Budget => named::budget(m, environment),
        Other::Vector(count) => {
            let items = m.top_values(count as usize).to_vec();
            m.consume_fuel(items.len() / 8)?;
            let list = m.make_list(&items)?;
            replace(m, count, list);
        }
        Other::Map(count) => {
            m.count_new_map(count as usize)?;
            let map = collections::map_of_top(m, count as usize);
            replace(m, 2 * count, map);
        }
        Other::Set(count) => {
            let items = m.top_values(count as usize).to_vec();
            let set = make_set(m, &items)?;
            replace(m, count, set);
        }
        Other::Closure { entry, captures } => {
            let mut parts = Vec::with_capacity(2 + captures as usize);
            parts.push(m.constant(Word::Closure.id()));
            parts.push(make_int(m, i64::from(entry)));
            parts.extend_from_slice(m.top_values(captures as usize));
            let closure = m.heap.make_tuple_value(&parts);
            replace(m, captures, closure);
        }
        Other::Captured { slot, index } => {
            let function = m.slot(slot);
            let value = m.heap.element(function, 2 + index as usize);
            let value = value.unwrap_or(m.heap.nil());
            m.push(value);
        }
        Other::Keyword { key, default } => {
            let top = m.top_values(1 + usize::from(default));
            let (coll, default_value) = match *top {
                [coll, default] => (coll, Some(default)),
                [coll] => (coll, None),
                _ => return Ok(next),
            };
            let found = super::hot::called_key(m, coll, key)?;
            let value = found.or(default_value).unwrap_or(m.heap.nil());
            replace(m, 1 + u32::from(default), value);
        }
        Other::Question { builtin, arguments } => {
            let given = m.top_values(arguments as usize).to_vec();
            if !families::needs_answer(m, builtin, &given) {
                let value = families::call(m, builtin, &given)?;
                replace(m, arguments, value);
                return Ok(next - 1 + BEHIND_ANSWER);
            }
            let question = asking::question(m, builtin, &given)?;
            replace(m, arguments, question);
        }
        Other::QuestionOfSlots => {
            let (builtin, given) = asking::of_slots(m)?;
            if !families::needs_answer(m, builtin, &given) {
                let value = families::call(m, builtin, &given)?;
                m.push(value);
                return Ok(next - 1 + BEHIND_ANSWER);
            }
            let question = asking::question(m, builtin, &given)?;
            m.push(question);
        }
        Other::OfSlots => {
            let (builtin, given) = asking::of_slots(m)?;
            let value = families::call(m, builtin, &given)?;
            m.check_heap_limit(0)?;
            m.push(value);
        }
        Other::PrintOfSlots => {
            let (_, given) = asking::of_slots(m)?;
            let text = families::call(m, Builtin::Println, &given)?;
            m.push(text);
        }
        Other::Answered => asking::answered(m)?,
        Other::Items => {
            let coll = m.top();
            let items = families::seqs::items(m, coll)?;
            replace(m, 1, items);
        }
        Other::NextItem { slot, to } => match m.heap.uncons(m.slot(slot)) {
            Some((item, rest)) => {
                m.set_slot(slot, rest);
                m.push(item);
            }
            None => return Ok(to),
        },
        Other::Sequence(builtin) => collections::sequence(m, builtin)?,
        Other::Collected { from, into } => collections::collected(m, (from, into))?,
        Other::ExpectList(slot) => {
            let value = m.slot(slot);
            if !matches!(m.heap.kind(value), Kind::List | Kind::Nil) {
                return Err(fault("destructure_list", "destructuring", vec![value]));
            }
        }
        Other::ExpectMap(slot) => {
            let value = m.slot(slot);
            if !matches!(class(m, value), Class::Map | Class::Nil) {
                return Err(fault("destructure_map", "destructuring", vec![value]));
            }
        }
        Other::TakeItem(slot) => {
            let (item, rest) = match m.heap.uncons(m.slot(slot)) {
                Some(parts) => parts,
                None => (m.heap.nil(), m.slot(slot)),
            };
            m.set_slot(slot, rest);
            m.push(item);
        }
        Other::TakeRest(slot) => {
            let rest = match m.heap.kind(m.slot(slot)) {
                Kind::List => m.slot(slot),
                _ => m.constant(EMPTY_LIST),
            };
            m.push(rest);
        }
        Other::Arguments(slot) => collections::arguments(m, slot)?,
        Other::Matches(constant) => {
            let (value, constant) = (m.top(), m.constant(constant));
            let equal = families::compare::equal(m, value, constant)?;
            let equal = m.heap.boolean(equal);
            m.push(equal);
        }
        Other::IsNil => {
            let value = m.pop();
            let is_nil = m.heap.boolean(m.heap.kind(value) == Kind::Nil);
            m.push(is_nil);
        }
        Other::ToolArguments(tool) => {
            let args = m.top();
            if class(m, args) != Class::Map {
                let name = named::text_of(m, tool);
                return Err(VmHalt::fault(Fault::of("tool_arguments", name, vec![args])));
            }
            let args = convert::tool_arguments(m, args)?;
            replace(m, 1, args);
        }
        Other::BadArguments { tool, count } => {
            let given = m.top_values(count as usize).to_vec();
            let name = named::text_of(m, tool);
            return Err(VmHalt::fault(Fault::of("tool_arguments", name, given)));
        }
        Other::Spread { before, slot } => {
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
        Other::Juxt(count) => {
            let functions = m.top_values(count as usize).to_vec();
            let made = make_made(m, Word::Juxt, &functions)?;
            replace(m, count, made);
        }
        Other::Grow { builtin, others } => families::growing::grow(m, builtin, others as usize)?,
        Other::Gather(to) => {
            if families::gathering::gather(m)? {
                return Ok(to);
            }
        }
        Other::Whole { base, added } => {
            let value = families::growing::whole(m, (m.slot(base), m.slot(added)))?;
            m.check_heap_limit(0)?;
            m.set_slot(base, value);
            m.set_slot(added, m.constant(EMPTY_LIST));
            m.push(value);
        }
        Other::ReduceItems => {
            if let [initial, coll] = *m.top_values(2) {
                if !checks::holds(m, Check::Seqable, coll) {
                    let function = make_builtin(m, Builtin::Reduce);
                    checks::check(m, Builtin::Reduce, &[function, initial, coll])?;
                }
                let items = families::seqs::items(m, coll)?;
                replace(m, 1, items);
            }
        }
        Other::RecurCount { expected, got } => {
            let counts = [expected, got].map(|count| make_int(m, i64::from(count)));
            return Err(fault("recur_count", "recur", counts.to_vec()));
        }
        Other::Guard(to) => vm.guard(to),
        Other::Unguard => vm.unguard(),
        Other::WorkerFailed { form } => {
            let error = m.pop();
            return Err(fault("worker_failed", form.name(), vec![error]));
        }
        Other::End { failed } => {
            let form =
                |guard: &Instr| matches!(guard, Instr::Own(Own::Other(Other::WorkerFailed { .. })));
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
        Other::Finish { names } => finish::finish(m, names)?,
    }
    Ok(next)
}

const _: () = assert!(std::mem::size_of::<Own>() <= 16);
const _: () = assert!(Word::ALL.len() < 128);
