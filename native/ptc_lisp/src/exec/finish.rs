//! The result of a program: how it has ended, its value, and what it has defined.

use super::convert::{convert, list_of};
use super::states::Mode;
use crate::code::{Halt, Machine};
use crate::consts::{Word, EMPTY_LIST};
use crate::values::{class, Class};
use ptc_term::heap::{Heap, Kind};
use ptc_vm::program::ConstId;

/// Fuel of a value that is converted alone, and stays as it is.
const FUEL_OF_SCALAR: usize = 2;

/// Replaces the value of the program by `{end, value, names and values that it has defined}`.
pub fn finish<H: Heap>(m: &mut Machine<'_, H>, names: ConstId) -> Result<(), Halt<H>> {
    let ended = m.top();
    let (end, value) = match m.heap.elements(ended) {
        Some(&[end, value]) if is_end(m, end) => (end, value),
        _ => (m.constant(Word::Ok.id()), ended),
    };
    let is_scalar = matches!(
        m.heap.kind(value),
        Kind::Nil | Kind::Bool | Kind::Number | Kind::String
    );
    // Most values of small programs: nothing is converted.
    if is_scalar && m.begun().is_none() && m.globals.defined().next().is_none() {
        m.consume_fuel(FUEL_OF_SCALAR)?;
        let pairs = m.constant(EMPTY_LIST);
        return ended_with(m, [end, value, pairs]);
    }
    let mut values = vec![value];
    let defined: Vec<_> = m.globals.defined().collect();
    values.extend(defined.iter().map(|(_, value)| *value));
    let list = list_of(m, &values);
    let made = convert(m, Mode::Result, list)?;
    let all = m.heap.elements(m.constant(names)).map(<[_]>::to_vec);
    let all = all.unwrap_or_default();
    let mut pairs = Vec::with_capacity(defined.len());
    for ((global, was), value) in defined.iter().zip(&made[1..]) {
        // A tool at the top of the memory is not kept.
        if let (Some(name), false) = (all.get(1 + *global as usize), class(m, *was) == Class::Tool)
        {
            pairs.push(m.heap.make_tuple(&[*name, *value]));
        }
    }
    let pairs = m.heap.make_list(&pairs);
    ended_with(m, [end, made[0], pairs])
}

fn ended_with<H: Heap>(m: &mut Machine<'_, H>, parts: [H::Term; 3]) -> Result<(), Halt<H>> {
    let result = m.heap.make_tuple(&parts);
    m.drop_top(1);
    m.push(result);
    Ok(())
}

fn is_end<H: Heap>(m: &Machine<'_, H>, end: H::Term) -> bool {
    [Word::ReturnEnd, Word::FailEnd]
        .iter()
        .any(|word| crate::values::is_word(m, end, *word))
}
