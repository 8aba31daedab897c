//! The items of a sequence in another order or depth, or not all of them.

use super::super::flow::{each, flow, keep, Call, Flow, Visit};
use super::expect_collection;
use crate::code::{Eval, Halt, Machine};
use crate::values::{class, Class};
use ptc_kernels::Kinds;
use ptc_term::heap::{Heap, WORDS_OF_CELL};

/// `reverse`
pub(super) fn reverse<H: Heap>(
    m: &mut Machine<'_, H>,
    call: Call<'_, H::Term>,
    coll: H::Term,
) -> Eval<H> {
    match class(m, coll) {
        Class::Nil | Class::List | Class::String => {}
        _ => return Err(call.refuse()),
    }
    flow(m, &[coll], |m, flow| {
        flow.read(m, call)?;
        let Flow {
            sources, at, made, ..
        } = flow;
        each(m, call, (&mut sources[0], at), |m, _, item| {
            m.check_heap_limit(WORDS_OF_CELL)?;
            let tail = made.unwrap_or_else(|| m.heap.make_list(&[]));
            *made = Some(m.heap.make_list_onto(&[item], tail));
            Ok(Visit::Next)
        })?;
        Ok(made.unwrap_or_else(|| m.heap.make_list(&[])))
    })
}

/// `distinct`: the first of equal items, which are compared strictly.
pub(super) fn distinct<H: Heap>(
    m: &mut Machine<'_, H>,
    call: Call<'_, H::Term>,
    coll: H::Term,
) -> Eval<H> {
    match class(m, coll) {
        Class::Nil | Class::List | Class::String => {}
        _ => return Err(call.refuse()),
    }
    flow(m, &[coll], |m, flow| {
        flow.read(m, call)?;
        let Flow {
            sources,
            at,
            kept,
            different,
            ..
        } = flow;
        let table = &mut different.get_or_insert_default().table;
        each(m, call, (&mut sources[0], at), |m, _, item| {
            m.consume_fuel_to_hash(item)?;
            table.insert(m, &Kinds::default(), kept, item)?;
            Ok(Visit::Next)
        })?;
        flow.list(m)
    })
}

/// `distinct?`
pub(super) fn is_distinct<H: Heap>(
    m: &mut Machine<'_, H>,
    _call: Call<'_, H::Term>,
    given: &[H::Term],
) -> Eval<H> {
    let distinct = flow(m, &[], |m, flow| {
        let table = &mut flow.different.get_or_insert_default().table;
        while let Some(item) = given.get(flow.at) {
            m.consume_fuel_to_hash(*item)?;
            if table.insert(m, &Kinds::default(), &mut flow.kept, *item)? < flow.at {
                return Ok(false);
            }
            flow.at += 1;
            m.meter.advanced();
        }
        Ok(true)
    })?;
    Ok(m.heap.boolean(distinct))
}

/// `dedupe`: items that strictly equal the one before them are left out.
pub(super) fn dedupe<H: Heap>(
    m: &mut Machine<'_, H>,
    call: Call<'_, H::Term>,
    coll: H::Term,
) -> Eval<H> {
    expect_collection(m, coll)?;
    flow(m, &[coll], |m, flow| {
        flow.read(m, call)?;
        let Flow {
            sources, at, kept, ..
        } = flow;
        each(m, call, (&mut sources[0], at), |m, _, item| {
            if let Some(last) = kept.len().checked_sub(1) {
                let last = kept.get(m.heap, last);
                if m.identical(last, item)? {
                    return Ok(Visit::Next);
                }
            }
            keep(m, kept, item)?;
            Ok(Visit::Next)
        })?;
        flow.list(m)
    })
}

/// `flatten`: the items of lists in lists, however deep.
pub(super) fn flatten<H: Heap>(
    m: &mut Machine<'_, H>,
    call: Call<'_, H::Term>,
    coll: H::Term,
) -> Eval<H> {
    match class(m, coll) {
        Class::Nil | Class::List => {}
        _ => return Err(call.refuse()),
    }
    flow(m, &[coll], |m, flow| {
        flow.read(m, call)?;
        if flow.part == 0 {
            // The lists that are open, as far as their items are not visited yet: the innermost one is the last.
            flow.lists.push(flow.sources[0]);
            flow.part = 1;
        }
        while flatten_step(m, call, flow)? {
            m.meter.advanced();
        }
        flow.list(m)
    })
}

/// Visits the next item; returns whether there may be more.
fn flatten_step<H: Heap>(
    m: &mut Machine<'_, H>,
    call: Call<'_, H::Term>,
    flow: &mut Flow<H::Term>,
) -> Result<bool, Halt<H>> {
    m.consume_fuel(1)?;
    let Some(open) = flow.lists.last_mut(m.heap) else {
        return Ok(false);
    };
    let Some((item, rest)) = m.heap.uncons(*open) else {
        if !m.heap.is_empty_list(*open) {
            return Err(call.refuse());
        }
        flow.lists.pop(m.heap);
        return Ok(true);
    };
    *open = rest;
    match class(m, item) {
        Class::List => keep(m, &mut flow.lists, item)?,
        _ => keep(m, &mut flow.kept, item)?,
    }
    Ok(true)
}
