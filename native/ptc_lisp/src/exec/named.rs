//! Values that a program has under names: the data, and those of its environment.
//!
//! The environment of a run is a tuple with the memory, the results of earlier turns (the newest first), the budget, and whether absent data
//! are an error.

use crate::code::{Halt, Machine};
use crate::fault::Fault;
use crate::look::look_up;
use crate::values::{class, Class};
use ptc_term::heap::{Heap, Kind, Lookup};
use ptc_vm::program::{ConstId, Pc, Slot};
use ptc_vm::Halt as VmHalt;

/// The places in the environment.
const MEMORY: usize = 0;
const HISTORY: usize = 1;
const BUDGET: usize = 2;
const STRICT: usize = 3;

fn at<H: Heap>(m: &Machine<'_, H>, environment: H::Term, place: usize) -> H::Term {
    m.heap.element(environment, place).unwrap_or(m.heap.nil())
}

/// Pushes the context's value at a flexible key.
pub fn data<H: Heap>(
    m: &mut Machine<'_, H>,
    (context, environment): (H::Term, H::Term),
    key: ConstId,
) -> Result<(), Halt<H>> {
    let value = match look_up(m, context, key)?.value() {
        Some(value) => value,
        None if m.heap.truthy(at(m, environment, STRICT)) => return Err(no_data(m, key)),
        None => m.heap.nil(),
    };
    m.push(value);
    Ok(())
}

/// Pushes the result of an earlier turn.
pub fn history<H: Heap>(m: &mut Machine<'_, H>, environment: H::Term, place: u32) {
    let mut rest = at(m, environment, HISTORY);
    for _ in 1..place {
        rest = m.heap.uncons(rest).map_or(rest, |(_, tail)| tail);
    }
    let value = m.heap.uncons(rest).map(|(value, _)| value);
    let value = value.unwrap_or(m.heap.nil());
    m.push(value);
}

/// Pushes the budget.
pub fn budget<H: Heap>(m: &mut Machine<'_, H>, environment: H::Term) {
    let budget = at(m, environment, BUDGET);
    m.push(budget);
}

/// Pushes the var of a global and returns where it goes on, if the global is bound.
pub fn if_bound<H: Heap>(
    m: &mut Machine<'_, H>,
    (global, var, to): (u32, ConstId, Pc),
) -> Option<Pc> {
    m.globals.get(global)?;
    let var = m.constant(var);
    m.push(var);
    Some(to)
}

/// Pushes the value at a flexible key of the map in a slot, or a constant if it is absent.
pub fn field<H: Heap>(
    m: &mut Machine<'_, H>,
    (slot, key, default): (Slot, ConstId, ConstId),
) -> Result<(), Halt<H>> {
    let map = m.slot(slot);
    let value = look_up(m, map, key)?.value();
    let value = value.unwrap_or_else(|| m.constant(default));
    m.push(value);
    Ok(())
}

/// The text of a constant.
pub fn text_of<H: Heap>(m: &Machine<'_, H>, constant: ConstId) -> String {
    let text = m.heap.bytes(m.constant(constant)).unwrap_or_default();
    String::from_utf8_lossy(text).into_owned()
}

#[cold]
fn no_data<H: Heap>(m: &Machine<'_, H>, key: ConstId) -> Halt<H> {
    VmHalt::fault(Fault::of("no_data", text_of(m, key + 1), Vec::new()))
}

/// Gives a global the value of the memory: at the string, or else at the atom.
pub fn remember<H: Heap>(
    m: &mut Machine<'_, H>,
    environment: H::Term,
    global: u32,
    name: ConstId,
) -> Result<(), Halt<H>> {
    let map = at(m, environment, MEMORY);
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
