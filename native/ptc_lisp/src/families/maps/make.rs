//! New maps of other maps, of keys and values, of arguments.

use super::super::flow::{flow, Call};
use super::entries::{add_entries, keep_entry, keep_map, Kept};
use crate::code::{Eval, Machine};
use crate::consts::EMPTY_MAP;
use crate::exec::checks::{holds, wrong_argument};
use crate::table::Check;
use crate::values::{class, make_int, Class};
use ptc_term::heap::{Heap, Kind};

/// Fuel for the check of one map.
const FUEL_A_CHECK: usize = 3;

/// `merge`: later maps win. One argument is its own result.
pub(super) fn merge<H: Heap>(
    m: &mut Machine<'_, H>,
    call: Call<'_, H::Term>,
    given: &[H::Term],
) -> Eval<H> {
    let empty = m.constant(EMPTY_MAP);
    match *given {
        [] => return Ok(empty),
        [one] if class(m, one) == Class::Nil => return Ok(empty),
        [one] => return Ok(one),
        _ => {}
    }
    // The others are nil.
    let is_map = |m: &Machine<'_, H>, term: H::Term| m.heap.kind(term) == Kind::Map;
    flow(m, &[], |m, flow| {
        while flow.part == 0 && flow.at < given.len() {
            m.consume_fuel(FUEL_A_CHECK)?;
            let map = given[flow.at];
            if !holds(m, Check::Map, map) {
                return Err(wrong_argument(
                    m,
                    call.builtin,
                    (flow.at + 1, Check::Map),
                    map,
                ));
            }
            match flow.made {
                _ if !is_map(m, map) => {}
                None => flow.made = Some(map),
                Some(_) => keep_map(m, flow, map)?,
            }
            flow.at += 1;
            m.meter.advanced();
        }
        if flow.part == 0 {
            flow.lists.push(flow.made.unwrap_or(empty));
        }
        let first = flow.lists.get(m.heap, 0);
        add_entries(m, flow, first, Kept::Pairs)
    })
}

/// `zipmap`: as many entries as the shorter sequence has items.
pub(super) fn zipmap<H: Heap>(
    m: &mut Machine<'_, H>,
    call: Call<'_, H::Term>,
    (keys, values): (H::Term, H::Term),
) -> Eval<H> {
    let empty = m.constant(EMPTY_MAP);
    flow(m, &[keys, values], |m, flow| {
        flow.read(m, call)?;
        while flow.part == 0 {
            let parts = (
                m.heap.uncons(flow.sources[0]),
                m.heap.uncons(flow.sources[1]),
            );
            let (Some((key, keys)), Some((value, values))) = parts else {
                break;
            };
            m.consume_fuel(2)?;
            keep_entry(m, flow, (key, value))?;
            (flow.sources[0], flow.sources[1]) = (keys, values);
            m.meter.advanced();
        }
        add_entries(m, flow, empty, Kept::Pairs)
    })
}

/// `hash-map`, `array-map`
pub(super) fn hash_map<H: Heap>(
    m: &mut Machine<'_, H>,
    call: Call<'_, H::Term>,
    given: &[H::Term],
) -> Eval<H> {
    if given.len() % 2 == 1 {
        let count = make_int(m, given.len() as i64);
        return Err(call.fail("even_arguments", &[count]));
    }
    let empty = m.constant(EMPTY_MAP);
    flow(m, &[], |m, flow| {
        while let (0, Some(&[key, value, ..])) = (flow.part, given.get(flow.at..)) {
            m.consume_fuel(1)?;
            keep_entry(m, flow, (key, value))?;
            flow.at += 2;
            m.meter.advanced();
        }
        add_entries(m, flow, empty, Kept::Pairs)
    })
}
