//! `length`: graphemes, items, keys.

use super::*;
use crate::shape::{OpShape, TextOf};
use ptc_term::number::Number;
use ptc_text::Ongoing;

pub(in super::super) struct Length;

const COUNTED: &str = "a string, a list or a map";

impl Operation for Length {
    const NAME: &'static str = "length";
    const ABOUT: &'static str =
        "The number of characters of a text, items of a list or keys of a map.";
    const TYPES: &'static str = "text, list or object to integer; null to null";
    const SHAPE: OpShape = OpShape::Text(TextOf::Length);
    input_only!();

    fn eval<H: Heap>(machine: &mut Machine<'_, H>, apply: &Apply) -> Eval<H> {
        let input = input(machine, apply)?;
        let length = match machine.kind(input) {
            Kind::Nil => return Ok(input),
            Kind::Map => Some(entries(machine, input)?),
            Kind::List => items(machine, input)?,
            _ => match input_string(machine, input)? {
                Some(text) => Some(characters(machine, text)?),
                None => None,
            },
        };
        match length {
            Some(length) => machine.make_number(apply.op, Number::Int(length as i64)),
            None => Err(requires(machine, apply.op, COUNTED, vec![input])),
        }
    }
}

/// Returns the number of keys; those of a struct are its fields, if structs are maps of them.
fn entries<H: Heap>(machine: &mut Machine<'_, H>, map: H::Term) -> Result<usize, Halt<H::Term>> {
    let size = machine.heap.map_size(map).unwrap_or(0);
    if !machine.hides(map) {
        return Ok(size);
    }
    machine.consume_fuel(size)?;
    let heap = &*machine.heap;
    let entries = heap.entries(map);
    Ok(entries
        .iter()
        .filter(|(key, _)| !heap.is_hidden(*key))
        .count())
}

/// A list that is counted.
#[derive(Debug, Clone, PartialEq)]
pub struct ItemCount<T> {
    rest: T,
    count: usize,
}

rooted!(ItemCount { terms: rest; plain: count });

/// Returns the number of items; `None` for an improper list.
fn items<H: Heap>(
    machine: &mut Machine<'_, H>,
    list: H::Term,
) -> Result<Option<usize>, Halt<H::Term>> {
    let begin = |_: &mut Machine<'_, H>| ItemCount {
        rest: list,
        count: 0,
    };
    machine.resumable(begin, |machine, counted| {
        while let Some((_, tail)) = machine.heap.uncons(counted.rest) {
            machine.consume_fuel(1)?;
            counted.count += 1;
            counted.rest = tail;
            machine.meter.advanced();
        }
        let is_proper = machine.heap.is_empty_list(counted.rest);
        Ok(is_proper.then_some(counted.count))
    })
}

fn characters<H: Heap>(
    machine: &mut Machine<'_, H>,
    text: H::Term,
) -> Result<usize, Halt<H::Term>> {
    let length = machine.heap.byte_length(text).unwrap_or(0);
    if length <= SHORT_TEXT {
        let ongoing = &mut Ongoing::default();
        return Ok(machine.characters(text, (0, length), ongoing, false)?);
    }
    machine.resumable(
        |_| OnText::new(text),
        |machine, work| Ok(machine.characters(text, (0, length), &mut work.ongoing, true)?),
    )
}
