//! One list of several sequences, or of a sequence and more items.

use super::super::flow::{each, flow, keep, Call, Flow, Visit};
use super::super::maps::entries::{add_entries, keep_key, keep_pair, Kept};
use super::ends::none;
use super::items;
use crate::code::{Eval, Halt, Machine};
use crate::values::{class, items_of_set, set_of_map, Class};
use ptc_kernels::Listing;
use ptc_term::heap::{Heap, WORDS_OF_CELL};

/// More sources are not exchanged at each suspension.
const FEW_SOURCES: usize = 64;
/// The words of a pair, and of its cell.
const WORDS_OF_PAIR: usize = 3 * WORDS_OF_CELL;

/// `cons`
pub(super) fn cons<H: Heap>(
    m: &mut Machine<'_, H>,
    call: Call<'_, H::Term>,
    (item, coll): (H::Term, H::Term),
) -> Eval<H> {
    match class(m, coll) {
        Class::Nil | Class::List | Class::Set | Class::Map | Class::String => {}
        _ => return Err(call.refuse()),
    }
    let list = items(m, coll)?;
    m.check_heap_limit(WORDS_OF_CELL)?;
    Ok(m.heap.make_list_onto(&[item], list))
}

/// `concat`. One argument is its own result. The entries of a map are opaque tuples.
pub(super) fn concat<H: Heap>(
    m: &mut Machine<'_, H>,
    call: Call<'_, H::Term>,
    given: &[H::Term],
) -> Eval<H> {
    match given {
        [] => return Ok(none(m)),
        [one] => return Ok(*one),
        _ => {}
    }
    // One source is read after the other, so that few terms are suspended however many there are.
    flow(m, &[], |m, flow| {
        // A text anywhere is the error.
        while let Some(argument) = given.get(flow.heavy) {
            m.consume_fuel(1)?;
            if m.heap.bytes(*argument).is_some() {
                return Err(call.fail("concat_text", &[*argument]));
            }
            flow.heavy += 1;
            m.meter.advanced();
        }
        let last = given.len() - 1;
        let shared = class(m, given[last]) != Class::Map;
        let kept = match shared {
            true => last,
            false => given.len(),
        };
        while flow.part < kept {
            m.consume_fuel(1)?;
            flow.next_source(m, call, given[flow.part])?;
            let of_map = class(m, given[flow.part]) == Class::Map;
            let Flow {
                sources, at, kept, ..
            } = flow;
            each(m, call, (&mut sources[0], at), |m, _, item| {
                let item = match of_map {
                    true => tuple_of(m, item)?,
                    false => item,
                };
                keep(m, kept, item)?;
                Ok(Visit::Next)
            })?;
            flow.end_source();
            flow.part += 1;
            m.meter.advanced();
        }
        match shared {
            true => {
                flow.next_source(m, call, given[last])?;
                list_onto(m, flow, flow.sources[0])
            }
            false => flow.list(m),
        }
    })
}

/// Makes the tuple of a pair.
fn tuple_of<H: Heap>(m: &mut Machine<'_, H>, pair: H::Term) -> Eval<H> {
    let (key, value) = pair_of(m, pair).unwrap_or((pair, m.heap.nil()));
    m.check_heap_limit(3)?;
    Ok(m.heap.make_tuple_value(&[key, value]))
}

/// Returns the key and the value of a list of two.
pub(in super::super) fn pair_of<H: Heap>(
    m: &Machine<'_, H>,
    pair: H::Term,
) -> Option<(H::Term, H::Term)> {
    let (key, rest) = m.heap.uncons(pair)?;
    let (value, end) = m.heap.uncons(rest)?;
    m.heap.is_empty_list(end).then_some((key, value))
}

/// Makes the list of what was kept, followed by a list.
fn list_onto<H: Heap>(m: &mut Machine<'_, H>, flow: &mut Flow<H::Term>, list: H::Term) -> Eval<H> {
    if !flow.listing.has_begun() {
        flow.listing = Listing::onto(list, flow.kept.len());
    }
    flow.list(m)
}

/// `conj`
pub(super) fn conj<H: Heap>(
    m: &mut Machine<'_, H>,
    call: Call<'_, H::Term>,
    given: &[H::Term],
) -> Eval<H> {
    let Some((&coll, more)) = given.split_first() else {
        return Ok(none(m));
    };
    if more.is_empty() {
        return Ok(coll);
    }
    match class(m, coll) {
        Class::Nil => Ok(m.make_list(more)?),
        Class::List => flow(m, &[coll], |m, flow| {
            flow.read(m, call)?;
            flow.keep_all(m, call, 0)?;
            if !flow.listing.has_begun() {
                m.consume_fuel(more.len() / 16)?;
                let tail = m.make_list(more)?;
                flow.listing = Listing::onto(tail, flow.kept.len());
            }
            flow.list(m)
        }),
        class @ (Class::Set | Class::Map) => flow(m, &[], |m, flow| {
            while flow.part == 0 && flow.at < more.len() {
                m.consume_fuel(1)?;
                let item = more[flow.at];
                match class {
                    Class::Set => keep_key(m, flow, item)?,
                    _ => keep_entries_of(m, call, flow, item)?,
                }
                flow.at += 1;
                m.meter.advanced();
            }
            finish(m, flow, coll)
        }),
        _ => Err(call.refuse()),
    }
}

/// Keeps the entries that an item adds to a map: those of a map, or a pair.
fn keep_entries_of<H: Heap>(
    m: &mut Machine<'_, H>,
    call: Call<'_, H::Term>,
    flow: &mut Flow<H::Term>,
    item: H::Term,
) -> Result<(), Halt<H>> {
    if class(m, item) != Class::Map {
        return keep_pair(m, call, flow, item);
    }
    super::super::maps::entries::keep_map(m, flow, item)
}

/// Adds to a map or a set what was kept.
fn finish<H: Heap>(m: &mut Machine<'_, H>, flow: &mut Flow<H::Term>, coll: H::Term) -> Eval<H> {
    match class(m, coll) {
        Class::Set => {
            let items = items_of_set(m, coll);
            let items = add_entries(m, flow, items, Kept::Items)?;
            Ok(set_of_map(m, items))
        }
        _ => add_entries(m, flow, coll, Kept::Pairs),
    }
}

/// `into`
pub(super) fn into<H: Heap>(
    m: &mut Machine<'_, H>,
    call: Call<'_, H::Term>,
    (to, from): (H::Term, H::Term),
) -> Eval<H> {
    let class = class(m, to);
    match class {
        Class::List => flow(m, &[to, from], |m, flow| {
            flow.read(m, call)?;
            if m.heap.is_empty_list(flow.sources[1]) {
                return Ok(to);
            }
            flow.keep_all(m, call, 0)?;
            list_onto(m, flow, flow.sources[1])
        }),
        Class::Set | Class::Map => flow(m, &[from], |m, flow| {
            flow.read(m, call)?;
            while flow.part == 0 {
                let Some((item, rest)) = m.heap.uncons(flow.sources[0]) else {
                    break;
                };
                m.consume_fuel(1)?;
                match class {
                    Class::Set => keep_key(m, flow, item)?,
                    _ => keep_pair(m, call, flow, item)?,
                }
                flow.sources[0] = rest;
                m.meter.advanced();
            }
            finish(m, flow, to)
        }),
        _ => Err(call.refuse()),
    }
}

/// `interleave`
pub(super) fn interleave<H: Heap>(
    m: &mut Machine<'_, H>,
    call: Call<'_, H::Term>,
    given: &[H::Term],
) -> Eval<H> {
    if given.len() > FEW_SOURCES {
        return flow(m, &[], |m, flow| interleave_many(m, call, flow, given));
    }
    for coll in given {
        if !is_interleaved(m, *coll) {
            return Err(call.refuse());
        }
    }
    flow(m, given, |m, flow| {
        flow.read(m, call)?;
        while let Some(items) = next_of_all(m, flow)? {
            for item in items {
                flow.keep(m, item)?;
            }
        }
        flow.list(m)
    })
}

fn is_interleaved<H: Heap>(m: &Machine<'_, H>, coll: H::Term) -> bool {
    matches!(class(m, coll), Class::Nil | Class::List | Class::String)
}

/// Interleaves so many sources that no suspension may exchange all of them. [`Flow::lists`] has the sources, and behind them what each round
/// leaves of each.
fn interleave_many<H: Heap>(
    m: &mut Machine<'_, H>,
    call: Call<'_, H::Term>,
    flow: &mut Flow<H::Term>,
    given: &[H::Term],
) -> Eval<H> {
    while let Some(coll) = given.get(flow.heavy) {
        m.consume_fuel(1)?;
        if !is_interleaved(m, *coll) {
            return Err(call.refuse());
        }
        flow.heavy += 1;
        m.meter.advanced();
    }
    while let Some(coll) = given.get(flow.part) {
        m.consume_fuel(1)?;
        flow.next_source(m, call, *coll)?;
        keep(m, &mut flow.lists, flow.sources[0])?;
        flow.end_source();
        flow.part += 1;
        m.meter.advanced();
    }
    while let Some((item, rest)) = m.heap.uncons(flow.lists.get(m.heap, flow.at)) {
        m.consume_fuel(1)?;
        flow.keep(m, item)?;
        keep(m, &mut flow.lists, rest)?;
        flow.at += 1;
        m.meter.advanced();
    }
    // Of a round that is not whole, nothing is kept.
    let whole = flow.at - flow.at % given.len();
    flow.kept.truncate(whole, m.heap);
    flow.list(m)
}

/// Takes the next item of each source; `None` if one has no more.
fn next_of_all<H: Heap>(
    m: &mut Machine<'_, H>,
    flow: &mut Flow<H::Term>,
) -> Result<Option<Vec<H::Term>>, Halt<H>> {
    m.consume_fuel(1 + flow.sources.len())?;
    let parts = flow.sources.iter().map(|it| m.heap.uncons(*it));
    let Some(parts) = parts.collect::<Option<Vec<_>>>() else {
        return Ok(None);
    };
    if parts.is_empty() {
        return Ok(None);
    }
    let (items, rests) = parts.into_iter().unzip();
    flow.sources = rests;
    m.meter.advanced();
    Ok(Some(items))
}

/// `zip`
pub(super) fn zip<H: Heap>(
    m: &mut Machine<'_, H>,
    call: Call<'_, H::Term>,
    (a, b): (H::Term, H::Term),
) -> Eval<H> {
    if class(m, a) != Class::List || class(m, b) != Class::List {
        return Err(call.refuse());
    }
    flow(m, &[a, b], |m, flow| {
        flow.read(m, call)?;
        loop {
            m.check_heap_limit(WORDS_OF_PAIR)?;
            let Some(pair) = next_of_all(m, flow)? else {
                return flow.list(m);
            };
            let pair = m.heap.make_list(&pair);
            flow.keep(m, pair)?;
        }
    })
}

/// `interpose`
pub(super) fn interpose<H: Heap>(
    m: &mut Machine<'_, H>,
    call: Call<'_, H::Term>,
    (separator, coll): (H::Term, H::Term),
) -> Eval<H> {
    if !matches!(class(m, coll), Class::Nil | Class::List | Class::String) {
        return Err(call.refuse());
    }
    flow(m, &[coll], |m, flow| {
        flow.read(m, call)?;
        let Flow {
            sources, at, kept, ..
        } = flow;
        each(m, call, (&mut sources[0], at), |m, at, item| {
            if at > 0 {
                keep(m, kept, separator)?;
            }
            keep(m, kept, item)?;
            Ok(Visit::Next)
        })?;
        flow.list(m)
    })
}
