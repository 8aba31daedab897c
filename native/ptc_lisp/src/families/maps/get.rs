//! Look-ups.

use super::super::flow::{flow, Call};
use super::entries::{add_entries, keep_entry, Kept};
use super::swapped;
use crate::code::{Eval, Machine};
use crate::consts::EMPTY_MAP;
use crate::look::{look_up_any, look_up_path, Found};
use crate::values::{class, Class};
use ptc_term::heap::{Heap, Kind as TermKind};

/// `get`
pub(super) fn get<H: Heap>(
    m: &mut Machine<'_, H>,
    call: Call<'_, H::Term>,
    (coll, key, default): (H::Term, H::Term, H::Term),
) -> Eval<H> {
    match look_up_any(m, coll, key)? {
        Found::Value(value) => Ok(value),
        Found::Missing => match swapped(m, call.builtin, call.arguments) {
            Some(halt) => Err(halt),
            None => Ok(default),
        },
        Found::NoKeys => Err(call.refuse()),
    }
}

/// `get-in`. A path that is no list leads nowhere.
pub(super) fn get_in<H: Heap>(
    m: &mut Machine<'_, H>,
    call: Call<'_, H::Term>,
    (coll, path, default): (H::Term, H::Term, H::Term),
) -> Eval<H> {
    if let Some(halt) = swapped(m, call.builtin, call.arguments) {
        return Err(halt);
    }
    match (class(m, coll), m.heap.kind(path)) {
        (Class::Nil, _) => Err(call.refuse()),
        (_, TermKind::Nil) => Ok(coll),
        (_, TermKind::List) => Ok(look_up_path(m, coll, path)?.value().unwrap_or(default)),
        _ => Ok(default),
    }
}

/// `select-keys`. The result has the keys as they are asked for.
pub(super) fn select_keys<H: Heap>(
    m: &mut Machine<'_, H>,
    call: Call<'_, H::Term>,
    (map, keys): (H::Term, H::Term),
) -> Eval<H> {
    let empty = m.constant(EMPTY_MAP);
    if class(m, map) == Class::Nil {
        return Ok(empty);
    }
    flow(m, &[keys], |m, flow| {
        flow.read(m, call)?;
        while flow.part == 0 {
            let Some((key, rest)) = m.heap.uncons(flow.sources[0]) else {
                break;
            };
            m.consume_fuel(1)?;
            if let Found::Value(value) = look_up_any(m, map, key)? {
                keep_entry(m, flow, (key, value))?;
            }
            flow.sources[0] = rest;
            m.meter.advanced();
        }
        add_entries(m, flow, empty, Kept::Pairs)
    })
}
