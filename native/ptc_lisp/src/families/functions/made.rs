//! What functions of functions do when they are called.

use crate::code::{Halt, Lisp, Machine};
use crate::consts::Word;
use crate::exec::checks::holds;
use crate::fault::Fault;
use crate::table::Check;
use crate::values::{class, is_word, Class};
use ptc_term::heap::{Heap, Kind};
use ptc_term::rooted;
use ptc_vm::{Entered, Halt as VmHalt, Next};

/// Functions of one made function per unit of fuel.
const FUNCTIONS_A_UNIT: usize = 8;

/// The kinds of functions that call others and wait for their values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Calls {
    Comp,
    Complement,
    Juxt,
    EveryPred,
    SomeFn,
}

/// A made function that has begun.
#[derive(Debug, Clone, PartialEq)]
pub struct MadeWork<T> {
    calls: Calls,
    functions: Vec<T>,
    arguments: Vec<T>,
    /// The values so far, of `juxt`.
    values: Vec<T>,
    /// The last value.
    last: Option<T>,
    /// Number of calls.
    at: usize,
    awaits: bool,
}

rooted!(MadeWork {
    optional: last; lists: functions, arguments, values; plain: calls, at, awaits
});

/// Enters a made function: its kind, the list of its functions, and so many arguments on the stack.
pub fn enter<H: Heap>(
    m: &mut Machine<'_, H>,
    kind: H::Term,
    functions: H::Term,
    arguments: u32,
) -> Result<Entered<Lisp, H::Term>, Halt<H>> {
    let functions = all(m, functions)?;
    if is_word(m, kind, Word::Constantly) {
        return Ok(Entered::Value(
            functions.first().copied().unwrap_or(m.heap.nil()),
        ));
    }
    let count = arguments as usize;
    let mut given = m.top_values(count).to_vec();
    if is_word(m, kind, Word::Partial) {
        m.drop_top(count + 1);
        functions
            .iter()
            .chain(&given)
            .for_each(|term| m.push(*term));
        return Ok(Entered::Instead(arguments + functions.len() as u32 - 1));
    }
    if is_word(m, kind, Word::Fnil) {
        if let (Some(first), Some(default)) = (given.first_mut(), functions.get(1)) {
            if m.heap.kind(*first) == Kind::Nil {
                *first = *default;
            }
        }
        m.drop_top(count + 1);
        m.push(functions[0]);
        given.into_iter().for_each(|term| m.push(term));
        return Ok(Entered::Instead(arguments));
    }
    let kinds = [
        (Word::Comp, Calls::Comp),
        (Word::Complement, Calls::Complement),
        (Word::EveryPred, Calls::EveryPred),
        (Word::SomeFn, Calls::SomeFn),
    ];
    let found = kinds.iter().find(|(word, _)| is_word(m, kind, *word));
    let calls = found.map_or(Calls::Juxt, |(_, calls)| *calls);
    let work = MadeWork {
        calls,
        functions,
        arguments: given,
        values: Vec::new(),
        last: None,
        at: 0,
        awaits: false,
    };
    Ok(Entered::BuiltIn(work.into()))
}

/// Returns the functions of a list, at least one.
fn all<H: Heap>(m: &mut Machine<'_, H>, list: H::Term) -> Result<Vec<H::Term>, Halt<H>> {
    let (mut all, mut rest) = (Vec::new(), list);
    while let Some((function, tail)) = m.heap.uncons(rest) {
        if all.len() % FUNCTIONS_A_UNIT == 0 {
            m.consume_fuel(1)?;
        }
        all.push(function);
        rest = tail;
    }
    match all.is_empty() {
        true => Err(VmHalt::fault(Fault::of("not_callable", "call", vec![list]))),
        false => Ok(all),
    }
}

/// Takes the next step, with the value of the function that it has called; none at the start.
pub fn step<H: Heap>(
    m: &mut Machine<'_, H>,
    work: &mut MadeWork<H::Term>,
    returned: Option<H::Term>,
) -> Result<Next<H::Term>, Halt<H>> {
    m.consume_fuel(1)?;
    if let Some(value) = returned.filter(|_| work.awaits) {
        work.take(value);
    }
    work.awaits = false;
    let (functions, arguments) = (work.functions.len(), work.arguments.len());
    let is_truthy = |m: &Machine<'_, H>, value: Option<H::Term>| {
        value.is_some_and(|value| m.heap.truthy(value))
    };
    let next = match work.calls {
        Calls::Comp => match functions.checked_sub(work.at + 1) {
            Some(place) => place,
            None => return Ok(Next::Done(work.last.unwrap_or(m.heap.nil()))),
        },
        Calls::Complement if work.at == 1 => {
            let is_true = is_truthy(m, work.last);
            return Ok(Next::Done(m.heap.boolean(!is_true)));
        }
        Calls::Juxt if work.at == functions => return Ok(Next::Done(m.make_list(&work.values)?)),
        Calls::Complement | Calls::Juxt => work.at,
        Calls::EveryPred | Calls::SomeFn => {
            let is_every = work.calls == Calls::EveryPred;
            let is_over = work.at == functions * arguments;
            let is_found = work.at > 0 && is_truthy(m, work.last) != is_every;
            if is_over || is_found {
                return Ok(Next::Done(match is_every {
                    true => m.heap.boolean(!is_found),
                    false => work.last.unwrap_or(m.heap.nil()),
                }));
            }
            m.push(work.arguments[work.at / functions]);
            work.at += 1;
            work.awaits = true;
            let function = work.functions[(work.at - 1) % functions];
            return Ok(Next::Call(function, 1));
        }
    };
    let function = work.functions[next];
    if work.calls == Calls::Juxt && !may_be_called(m, function) {
        let fault = Fault::of("invalid_types", "juxt", vec![function]);
        return Err(VmHalt::fault(fault));
    }
    m.consume_fuel_at_once(work.arguments.len() / FUNCTIONS_A_UNIT)?;
    work.arguments.iter().for_each(|argument| m.push(*argument));
    work.at += 1;
    work.awaits = true;
    Ok(Next::Call(function, work.arguments.len() as u32))
}

impl<T: Copy> MadeWork<T> {
    /// Takes the value of the last call.
    fn take(&mut self, value: T) {
        self.last = Some(value);
        match self.calls {
            Calls::Comp => self.arguments = vec![value],
            Calls::Juxt => self.values.push(value),
            Calls::Complement | Calls::EveryPred | Calls::SomeFn => {}
        }
    }
}

/// Returns whether a part of `juxt` may be called.
fn may_be_called<H: Heap>(m: &Machine<'_, H>, function: H::Term) -> bool {
    holds(m, Check::Callable, function) || matches!(class(m, function), Class::Map | Class::Set)
}
