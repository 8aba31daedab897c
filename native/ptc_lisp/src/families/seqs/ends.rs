//! Single items of a sequence, and the sequence without them.

use super::super::flow::{flow, Call};
use super::{items, whole};
use crate::code::{Eval, Machine};
use crate::consts::EMPTY_LIST;
use crate::table::Builtin;
use crate::values::{class, Class};
use ptc_term::heap::Heap;

/// Returns an item of a list; nil if it has not so many.
fn at<H: Heap>(m: &Machine<'_, H>, list: H::Term, index: usize) -> H::Term {
    let mut rest = list;
    for _ in 0..index {
        match m.heap.uncons(rest) {
            Some((_, tail)) => rest = tail,
            None => break,
        }
    }
    m.heap.uncons(rest).map_or(m.heap.nil(), |(item, _)| item)
}

/// `first`, `second`
pub(super) fn early<H: Heap>(
    m: &mut Machine<'_, H>,
    call: Call<'_, H::Term>,
    coll: H::Term,
) -> Eval<H> {
    let index = usize::from(call.builtin == Builtin::Second);
    match class(m, coll) {
        Class::Nil => Ok(coll),
        Class::List => Ok(at(m, coll, index)),
        Class::String => grapheme(m, coll, index),
        _ => Err(call.refuse()),
    }
}

/// Returns one of the first graphemes of a text; nil if it has not so many.
fn grapheme<H: Heap>(m: &mut Machine<'_, H>, text: H::Term, index: usize) -> Eval<H> {
    m.consume_fuel_to_copy(text)?;
    let (mut at, mut piece, mut ends) = (0, 0, Vec::new());
    let (heap, meter) = m.heap_and_meter();
    let bytes = heap.bytes(text).unwrap_or_default();
    while ends.len() <= index && at < bytes.len() {
        ptc_text::cuts(bytes, &mut at, &mut piece, &mut ends, |cost| {
            meter.consume_fuel(cost, heap)
        })?;
    }
    let Some(&end) = ends.get(index) else {
        return Ok(m.heap.nil());
    };
    let start = index.checked_sub(1).map_or(0, |before| ends[before]);
    let grapheme = bytes[start..end].to_vec();
    crate::values::make_string(m, &grapheme)
}

/// `last`, `peek`
pub(super) fn last<H: Heap>(
    m: &mut Machine<'_, H>,
    call: Call<'_, H::Term>,
    coll: H::Term,
) -> Eval<H> {
    match class(m, coll) {
        Class::Nil => return Ok(coll),
        Class::List => {}
        Class::String if call.builtin == Builtin::Last => {}
        _ => return Err(call.refuse()),
    }
    flow(m, &[coll], |m, flow| {
        flow.read(m, call)?;
        let length = flow.length(m, call)?;
        flow.skip(m, call, length.saturating_sub(1))?;
        Ok(at(m, flow.sources[0], 0))
    })
}

/// `rest`, `next`
pub(super) fn rest<H: Heap>(
    m: &mut Machine<'_, H>,
    call: Call<'_, H::Term>,
    coll: H::Term,
) -> Eval<H> {
    let list = match class(m, coll) {
        Class::Nil | Class::List | Class::String => items(m, coll)?,
        _ => return Err(call.refuse()),
    };
    let rest = m.heap.uncons(list).map_or(list, |(_, tail)| tail);
    Ok(match call.builtin {
        Builtin::Next if m.heap.uncons(rest).is_none() => m.heap.nil(),
        _ => rest,
    })
}

/// `butlast`, `pop`
pub(super) fn but_last<H: Heap>(
    m: &mut Machine<'_, H>,
    call: Call<'_, H::Term>,
    coll: H::Term,
) -> Eval<H> {
    match class(m, coll) {
        Class::Nil => return Ok(coll),
        Class::List => {}
        Class::String if call.builtin == Builtin::Butlast => {}
        _ => return Err(call.refuse()),
    }
    flow(m, &[coll], |m, flow| {
        flow.read(m, call)?;
        let length = flow.length(m, call)?;
        let least = match call.builtin {
            Builtin::Pop => 1,
            _ => 2,
        };
        if length < least {
            return Ok(m.heap.nil());
        }
        flow.keep_first(m, call, length - 1)?;
        flow.list(m)
    })
}

/// `ffirst`, `nfirst`: of the first item.
pub(super) fn of_first<H: Heap>(
    m: &mut Machine<'_, H>,
    call: Call<'_, H::Term>,
    coll: H::Term,
) -> Eval<H> {
    let first = match class(m, coll) {
        Class::Nil => coll,
        Class::List => at(m, coll, 0),
        _ => return Err(call.refuse()),
    };
    match (class(m, first), call.builtin) {
        (Class::Nil | Class::List, Builtin::Ffirst) => Ok(at(m, first, 0)),
        (Class::String, Builtin::Ffirst) => grapheme(m, first, 0),
        (Class::Nil | Class::List | Class::String, _) => {
            let list = items(m, first)?;
            Ok(next(m, list))
        }
        _ => Err(call.refuse()),
    }
}

/// `fnext`, `nnext`: of what follows the first item.
pub(super) fn of_next<H: Heap>(
    m: &mut Machine<'_, H>,
    call: Call<'_, H::Term>,
    coll: H::Term,
) -> Eval<H> {
    match class(m, coll) {
        Class::Nil => Ok(coll),
        Class::List if call.builtin == Builtin::Fnext => Ok(at(m, coll, 1)),
        Class::List => {
            let rest = next(m, coll);
            Ok(next(m, rest))
        }
        _ => Err(call.refuse()),
    }
}

/// Returns a list without its first item; nil if there are no others.
fn next<H: Heap>(m: &Machine<'_, H>, list: H::Term) -> H::Term {
    match m.heap.uncons(list) {
        Some((_, tail)) if m.heap.uncons(tail).is_some() => tail,
        _ => m.heap.nil(),
    }
}

/// `nth`
pub(super) fn nth<H: Heap>(
    m: &mut Machine<'_, H>,
    call: Call<'_, H::Term>,
    (coll, index, default): (H::Term, H::Term, H::Term),
) -> Eval<H> {
    let Some(index) = whole(m, index)? else {
        return Err(call.refuse());
    };
    let class = class(m, coll);
    match class {
        Class::Nil => return Ok(default),
        Class::List | Class::String => {}
        _ => return Err(call.refuse()),
    }
    let Ok(index) = usize::try_from(index) else {
        return Ok(default);
    };
    if index == 0 && class == Class::List {
        return Ok(m.heap.uncons(coll).map_or(default, |(item, _)| item));
    }
    let found = flow(m, &[coll], |m, flow| {
        flow.read(m, call)?;
        flow.skip(m, call, index)?;
        let found = m.heap.uncons(flow.sources[0]);
        Ok(found.map_or(default, |(item, _)| item))
    })?;
    Ok(found)
}

/// The empty list.
pub(super) fn none<H: Heap>(m: &Machine<'_, H>) -> H::Term {
    m.constant(EMPTY_LIST)
}
