//! Values that grow: what is added to a list or a text in each round of a loop is kept beside it, and put to its end when the
//! whole is read. So a loop that only adds takes time and space in proportion to what it adds.
//!
//! A value that grows is two: the base, and the list of what was added since, newest first. Only a list, a text or a map has anything
//! beside it; see [`super::gathering`] for maps.

use super::flow::{each, flow, Call, Visit};
use super::{gathering, seqs, strings};
use crate::code::{Eval, Halt, Machine};
use crate::consts::EMPTY_LIST;
use crate::table::Builtin;
use crate::values::{class, Class};
use ptc_kernels::Listing;
use ptc_term::heap::{Heap, Kind, WORDS_OF_CELL};

/// Items between two checks of the heap limit.
const BATCH: usize = 64;

/// Whether a built-in with so many arguments adds the others to the first.
pub fn adds(builtin: Builtin, arguments: usize) -> bool {
    match builtin {
        Builtin::Conj | Builtin::Str => arguments >= 2,
        Builtin::Into | Builtin::Concat => arguments == 2,
        _ => false,
    }
}

/// Evaluates a built-in whose first argument is a value that grows: the two parts of it and so many other arguments are on the stack, and
/// are replaced by the two parts of the value. Can be suspended and resumed.
pub fn grow<H: Heap>(
    m: &mut Machine<'_, H>,
    builtin: Builtin,
    others: usize,
) -> Result<(), Halt<H>> {
    let given = m.top_values(2 + others).to_vec();
    let (base, added, others) = (given[0], given[1], &given[2..]);
    match (builtin, class(m, base)) {
        (Builtin::Conj, Class::List | Class::Nil) => {
            m.consume_fuel(others.len() / 16)?;
            m.check_heap_limit(WORDS_OF_CELL * others.len())?;
            let newest: Vec<_> = others.iter().rev().copied().collect();
            let added = m.heap.make_list_onto(&newest, added);
            grown(m, given.len(), (base, added));
            Ok(())
        }
        (Builtin::Into, Class::List) if is_sequence(m, others[0]) => add_all(m, base, others[0]),
        (Builtin::Concat, Class::List | Class::Nil)
            if matches!(class(m, others[0]), Class::List | Class::Nil) =>
        {
            add_all(m, base, others[0])
        }
        (Builtin::Str, Class::String) => {
            let text = strings::eval(m, Builtin::Str, others)?;
            m.check_heap_limit(WORDS_OF_CELL)?;
            let added = m.heap.make_list_onto(&[text], added);
            grown(m, given.len(), (base, added));
            Ok(())
        }
        _ => plainly(m, builtin, &given),
    }
}

fn is_sequence<H: Heap>(m: &Machine<'_, H>, value: H::Term) -> bool {
    matches!(
        class(m, value),
        Class::List | Class::Nil | Class::Map | Class::Set | Class::String
    )
}

/// Replaces so many values on the stack by a value that grows. The first thing that is added to nil makes a list.
fn grown<H: Heap>(m: &mut Machine<'_, H>, given: usize, (base, added): (H::Term, H::Term)) {
    let base = match class(m, base) {
        Class::Nil => m.constant(EMPTY_LIST),
        _ => base,
    };
    m.drop_top(given);
    m.push(base);
    m.push(added);
}

/// Adds the items of a sequence, which is on top of the stack. What is not added yet stays there.
fn add_all<H: Heap>(m: &mut Machine<'_, H>, base: H::Term, coll: H::Term) -> Result<(), Halt<H>> {
    if class(m, coll) != Class::List {
        let items = seqs::items(m, coll)?;
        m.drop_top(1);
        m.push(items);
        m.meter.advanced();
    }
    let (mut added, mut rest) = match *m.top_values(2) {
        [added, rest] => (added, rest),
        _ => return Ok(()),
    };
    let mut count = 0;
    let done = loop {
        let Some((item, tail)) = m.heap.uncons(rest) else {
            break Ok(());
        };
        if count % BATCH == 0 {
            let checked = m.check_heap_limit(BATCH * WORDS_OF_CELL);
            if let Err(stop) = checked.and_then(|()| m.consume_fuel(BATCH / 4)) {
                break Err(stop);
            }
        }
        (added, rest) = (m.heap.make_list_onto(&[item], added), tail);
        count += 1;
        m.meter.advanced();
    };
    m.drop_top(2);
    m.push(added);
    m.push(rest);
    done?;
    grown(m, 3, (base, added));
    Ok(())
}

/// Evaluates the built-in itself, with all of the value.
fn plainly<H: Heap>(
    m: &mut Machine<'_, H>,
    builtin: Builtin,
    given: &[H::Term],
) -> Result<(), Halt<H>> {
    let (mut base, added, others) = (given[0], given[1], &given[2..]);
    let nothing = m.constant(EMPTY_LIST);
    if !m.heap.is_empty_list(added) {
        base = whole(m, (base, added))?;
        m.drop_top(given.len());
        m.push(base);
        m.push(nothing);
        others.iter().for_each(|other| m.push(*other));
        m.meter.advanced();
    }
    let arguments: Vec<_> = [base].iter().chain(others).copied().collect();
    let value = super::call(m, builtin, &arguments)?;
    m.check_heap_limit(0)?;
    m.drop_top(given.len());
    m.push(value);
    m.push(nothing);
    Ok(())
}

/// Returns all of a value that grows. Can be suspended and resumed.
pub fn whole<H: Heap>(m: &mut Machine<'_, H>, (base, added): (H::Term, H::Term)) -> Eval<H> {
    if m.heap.is_empty_list(added) {
        return Ok(base);
    }
    match m.heap.kind(base) {
        Kind::String => return strings::joined(m, base, added),
        Kind::Map => return gathering::gathered(m, base, added),
        _ => {}
    }
    let call = Call {
        builtin: Builtin::Conj,
        arguments: &[base],
    };
    flow(m, &[base, added], |m, flow| {
        let mut end = flow.made.unwrap_or(m.constant(EMPTY_LIST));
        let (made, at) = (&mut flow.made, &mut flow.at);
        each(m, call, (&mut flow.sources[1], at), |m, at, item| {
            if at % BATCH == 0 {
                m.check_heap_limit(BATCH * WORDS_OF_CELL)?;
            }
            end = m.heap.make_list_onto(&[item], end);
            *made = Some(end);
            Ok(Visit::Next)
        })?;
        flow.keep_all(m, call, 0)?;
        if !flow.listing.has_begun() {
            flow.listing = Listing::onto(end, flow.kept.len());
        }
        flow.list(m)
    })
}
