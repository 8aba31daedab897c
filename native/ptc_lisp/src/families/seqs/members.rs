//! Whether a collection has a value, and what it has in the place of values.

use super::super::flow::{each, flow, keep, Call, Flow, Visit};
use super::ends::none;
use crate::code::{Eval, Machine};
use crate::look::{look_up_any, Found};
use crate::values::{class, items_of_set, Class};
use ptc_term::heap::{Heap, Lookup, WORDS_OF_CELL};

/// `contains?`: a key of a map, an item of a set or a list.
pub(super) fn contains<H: Heap>(
    m: &mut Machine<'_, H>,
    call: Call<'_, H::Term>,
    (coll, key): (H::Term, H::Term),
) -> Eval<H> {
    let contains = match class(m, coll) {
        Class::Nil => false,
        Class::Map => matches!(look_up_any(m, coll, key)?, Found::Value(_)),
        Class::Set => {
            let items = items_of_set(m, coll);
            let cost = m.weigh(key)?;
            m.consume_fuel_for_lookup(items, cost)?;
            let found = m.heap.lookup(items, key, &mut H::KeyCache::default());
            matches!(found, Lookup::Found(_))
        }
        Class::List => flow(m, &[coll], |m, flow| {
            flow.read(m, call)?;
            let Flow { sources, at, .. } = flow;
            let mut found = false;
            each(m, call, (&mut sources[0], at), |m, _, item| {
                found = m.identical(item, key)?;
                Ok(match found {
                    true => Visit::Stop,
                    false => Visit::Next,
                })
            })?;
            Ok(found)
        })?,
        _ => return Err(call.refuse()),
    };
    Ok(m.heap.boolean(contains))
}

/// `find`: the key and its value.
pub(super) fn find<H: Heap>(
    m: &mut Machine<'_, H>,
    call: Call<'_, H::Term>,
    (coll, key): (H::Term, H::Term),
) -> Eval<H> {
    match class(m, coll) {
        Class::Nil => return Ok(coll),
        Class::Map | Class::List => {}
        _ => return Err(call.refuse()),
    }
    match look_up_any(m, coll, key)? {
        Found::Value(value) => Ok(m.make_list(&[key, value])?),
        _ => Ok(m.heap.nil()),
    }
}

/// `replace` of items: by the values of a map, or by the items of a list at these places.
pub(super) fn replace<H: Heap>(
    m: &mut Machine<'_, H>,
    call: Call<'_, H::Term>,
    (by, coll): (H::Term, H::Term),
) -> Eval<H> {
    let by_class = class(m, by);
    if !matches!(by_class, Class::Map | Class::List | Class::Nil) {
        return Err(call.refuse());
    }
    match class(m, coll) {
        Class::Nil => return Ok(none(m)),
        Class::List | Class::String | Class::Map | Class::Set => {}
        _ => return Err(call.refuse()),
    }
    let sources = match by_class {
        Class::List => vec![coll, by],
        _ => vec![coll],
    };
    flow(m, &sources, |m, flow| {
        flow.read(m, call)?;
        let Flow {
            sources,
            at,
            kept,
            lists: items,
            part,
            ..
        } = flow;
        if *part == 0 && by_class == Class::List {
            each(m, call, (&mut sources[1], at), |m, _, item| {
                keep(m, items, item)?;
                Ok(Visit::Next)
            })?;
        }
        *part = 1;
        each(m, call, (&mut sources[0], at), |m, _, item| {
            m.check_heap_limit(WORDS_OF_CELL)?;
            let other = match by_class {
                Class::List => match m.heap.small_integer(item).map(usize::try_from) {
                    Some(Ok(place)) if place < items.len() => Some(items.get(m.heap, place)),
                    _ => None,
                },
                _ => look_up_any(m, by, item)?.value(),
            };
            keep(m, kept, other.unwrap_or(item))?;
            Ok(Visit::Next)
        })?;
        flow.list(m)
    })
}
