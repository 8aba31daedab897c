//! Maps and lists with other values at some keys.

use super::super::flow::{flow, Call};
use super::entries::{put, without};
use crate::code::{Eval, Halt, Machine};
use crate::consts::EMPTY_MAP;
use crate::exec::checks::wrong_argument;
use crate::look::{look_up_any, Found};
use crate::table::Check;
use crate::values::{class, make_int, Class};
use ptc_term::heap::{Heap, WORDS_OF_CELL};

/// `assoc`: the keys are exact; the index of a list may be its length.
pub(super) fn assoc<H: Heap>(
    m: &mut Machine<'_, H>,
    call: Call<'_, H::Term>,
    given: &[H::Term],
) -> Eval<H> {
    let count = make_int(m, given.len() as i64);
    let Some((&coll, pairs)) = given.split_first() else {
        return Err(call.fail("assoc_arguments", &[count]));
    };
    let class = class(m, coll);
    if !matches!(class, Class::Map | Class::List | Class::Nil) {
        return Err(wrong_argument(m, call.builtin, (1, Check::MapOrList), coll));
    }
    if pairs.is_empty() || pairs.len() % 2 == 1 {
        return Err(call.fail("assoc_arguments", &[count]));
    }
    match class {
        Class::List => assoc_list(m, call, coll, pairs),
        _ => flow(m, &[], |m, flow| {
            let mut map = flow.made.unwrap_or(match class {
                Class::Map => coll,
                _ => m.constant(EMPTY_MAP),
            });
            while let Some(&[key, value, ..]) = pairs.get(flow.at..) {
                map = put(m, map, key, value)?;
                (flow.made, flow.at) = (Some(map), flow.at + 2);
                m.meter.advanced();
            }
            Ok(map)
        }),
    }
}

/// A list with other items at these places.
fn assoc_list<H: Heap>(
    m: &mut Machine<'_, H>,
    call: Call<'_, H::Term>,
    list: H::Term,
    pairs: &[H::Term],
) -> Eval<H> {
    flow(m, &[list], |m, flow| {
        flow.read(m, call)?;
        if flow.part == 0 {
            flow.keep_all(m, call, 0)?;
            (flow.part, flow.at) = (1, 0);
        }
        while let Some(&[key, value, ..]) = pairs.get(flow.at..) {
            m.consume_fuel(1)?;
            let length = flow.kept.len();
            match m.heap.small_integer(key).map(usize::try_from) {
                Some(Ok(place)) if place < length => flow.kept.since(place, m.heap)[0] = value,
                Some(Ok(place)) if place == length => flow.keep(m, value)?,
                _ => return Err(out_of_bounds(m, call, key, length)),
            }
            flow.at += 2;
            m.meter.advanced();
        }
        flow.list(m)
    })
}

#[cold]
fn out_of_bounds<H: Heap>(
    m: &mut Machine<'_, H>,
    call: Call<'_, H::Term>,
    index: H::Term,
    length: usize,
) -> Halt<H> {
    let length = make_int(m, length as i64);
    call.fail("index", &[index, length])
}

/// Makes a map or a list with this value at this exact key. `call` is what errors are about.
pub fn put_at<H: Heap>(
    m: &mut Machine<'_, H>,
    call: Call<'_, H::Term>,
    coll: H::Term,
    (key, value): (H::Term, H::Term),
) -> Eval<H> {
    match class(m, coll) {
        Class::Map => put(m, coll, key, value),
        Class::Nil => {
            let empty = m.constant(EMPTY_MAP);
            put(m, empty, key, value)
        }
        Class::List => put_in_list(m, call, coll, (key, value)),
        _ => Err(call.fail("not_updatable", &[key])),
    }
}

/// Puts a value into a list. It takes as long as the list, at once.
fn put_in_list<H: Heap>(
    m: &mut Machine<'_, H>,
    call: Call<'_, H::Term>,
    list: H::Term,
    (index, value): (H::Term, H::Term),
) -> Eval<H> {
    let place = m.heap.small_integer(index).map(usize::try_from);
    let (mut before, mut rest) = (Vec::new(), list);
    let Some(Ok(place)) = place else {
        let length = length_of(m, list)?;
        return Err(out_of_bounds(m, call, index, length));
    };
    while before.len() < place {
        let Some((item, tail)) = m.heap.uncons(rest) else {
            return Err(out_of_bounds(m, call, index, before.len()));
        };
        m.consume_fuel(1)?;
        before.push(item);
        rest = tail;
    }
    m.consume_fuel_at_once(place / 4)?;
    m.check_heap_limit(WORDS_OF_CELL * (place + 1))?;
    before.push(value);
    let tail = m.heap.uncons(rest).map_or(rest, |(_, tail)| tail);
    Ok(m.heap.make_list_onto(&before, tail))
}

fn length_of<H: Heap>(m: &mut Machine<'_, H>, list: H::Term) -> Result<usize, Halt<H>> {
    let (mut rest, mut length) = (list, 0);
    while let Some((_, tail)) = m.heap.uncons(rest) {
        m.consume_fuel(1)?;
        (rest, length) = (tail, length + 1);
    }
    Ok(length)
}

/// `assoc-in`
pub(super) fn assoc_in<H: Heap>(
    m: &mut Machine<'_, H>,
    call: Call<'_, H::Term>,
    (coll, path, value): (H::Term, H::Term, H::Term),
) -> Eval<H> {
    let steps = steps(m, call, (coll, path))?;
    put_in(m, call, steps, value)
}

/// The collections on a path, each with the key of the next one; the last one gets the value.
pub type Steps<T> = Vec<(T, T)>;

/// Follows a path: keys are looked up flexibly, but for the last one. Where a key is absent, a map begins. An empty path is
/// that of the key nil.
pub fn steps<H: Heap>(
    m: &mut Machine<'_, H>,
    call: Call<'_, H::Term>,
    (coll, path): (H::Term, H::Term),
) -> Result<Steps<H::Term>, Halt<H>> {
    let mut coll = match class(m, coll) {
        Class::Nil => m.constant(EMPTY_MAP),
        Class::Map | Class::List => coll,
        _ => return Err(call.refuse()),
    };
    let (mut key, mut rest) = match (class(m, path), m.heap.uncons(path)) {
        (_, Some(parts)) => parts,
        (Class::Nil | Class::List, None) => (m.heap.nil(), path),
        _ => return Err(call.refuse()),
    };
    let mut steps = Vec::new();
    while let Some((next, tail)) = m.heap.uncons(rest) {
        m.consume_fuel(1)?;
        steps.push((coll, key));
        coll = match look_up_any(m, coll, key)? {
            Found::Value(inner) if matches!(class(m, inner), Class::Map | Class::List) => inner,
            Found::Value(_) => return Err(call.fail("not_updatable", &[next])),
            _ => m.constant(EMPTY_MAP),
        };
        (key, rest) = (next, tail);
    }
    steps.push((coll, key));
    Ok(steps)
}

/// Makes the collections of a path anew, with this value at its end.
pub fn put_in<H: Heap>(
    m: &mut Machine<'_, H>,
    call: Call<'_, H::Term>,
    steps: Steps<H::Term>,
    value: H::Term,
) -> Eval<H> {
    let mut value = value;
    for (coll, key) in steps.into_iter().rev() {
        value = put_at(m, call, coll, (key, value))?;
    }
    Ok(value)
}

/// `dissoc`: the keys are exact.
pub(super) fn dissoc<H: Heap>(
    m: &mut Machine<'_, H>,
    call: Call<'_, H::Term>,
    given: &[H::Term],
) -> Eval<H> {
    let Some((&map, keys)) = given.split_first() else {
        return Err(call.refuse());
    };
    match class(m, map) {
        Class::Map => {}
        Class::Nil if keys.is_empty() => return Ok(map),
        _ => return Err(call.fail("not_a_map", &[map])),
    }
    flow(m, &[], |m, flow| {
        let mut left = flow.made.unwrap_or(map);
        while let Some(key) = keys.get(flow.at) {
            left = without(m, left, *key)?;
            (flow.made, flow.at) = (Some(left), flow.at + 1);
            m.meter.advanced();
        }
        Ok(left)
    })
}
