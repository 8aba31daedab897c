//! Sequences that are made of numbers, and of each other: `range`, `combinations`.

use super::super::flow::{flow, Call, Flow};
use super::ends::none;
use super::whole;
use crate::code::{Eval, Halt, Machine};
use crate::values::{class, make_int, Class};
use ptc_term::heap::{Heap, Kind, WORDS_OF_CELL, WORDS_OF_NUMBER};

/// Items of a range that are made between two checks of the limits.
const ITEMS_AT_ONCE: i64 = 64;
/// Below this, no sum of a number and [`ITEMS_AT_ONCE`] steps is too large for a word of a term.
const SMALL: u64 = 1 << 50;

/// `range`: from the first number to the last one, which does not count, by steps.
pub(super) fn range<H: Heap>(
    m: &mut Machine<'_, H>,
    call: Call<'_, H::Term>,
    given: &[H::Term],
) -> Eval<H> {
    if given.iter().any(|it| m.heap.kind(*it) != Kind::Number) {
        return Err(call.refuse());
    }
    let (start, end, step) = match *given {
        [end] => (make_int(m, 0), end, make_int(m, 1)),
        [start, end] => (start, end, make_int(m, 1)),
        [start, end, step] => (start, end, step),
        _ => return Err(call.refuse()),
    };
    let zero = make_int(m, 0);
    let order = m.compare(step, zero)?;
    if order.is_eq() {
        return Err(call.fail("zero_step", &[step]));
    }
    flow(m, &[], |m, flow| {
        let mut next = flow.made.unwrap_or(start);
        while let Some(after) = small_items(m, flow, (next, end, step))? {
            next = after;
        }
        // An item comes before the end as zero comes before a positive step.
        while flow.part == 0 && m.compare(end, next)? == order {
            m.consume_fuel(1)?;
            m.check_heap_limit(WORDS_OF_NUMBER + WORDS_OF_CELL)?;
            let after = plus(m, call, next, step)?;
            flow.keep(m, next)?;
            flow.made = Some(after);
            next = after;
            m.meter.advanced();
        }
        flow.part = 1;
        flow.list(m)
    })
}

/// Keeps the next items of a range of small integers; returns the item behind them. `None` if there is none, or if the numbers are others.
fn small_items<H: Heap>(
    m: &mut Machine<'_, H>,
    flow: &mut Flow<H::Term>,
    (next, end, step): (H::Term, H::Term, H::Term),
) -> Result<Option<H::Term>, Halt<H>> {
    let small = |term| {
        let value = m.heap.small_integer(term);
        value.filter(|it| it.unsigned_abs() < SMALL)
    };
    let (Some(mut at), Some(end), Some(step)) = (small(next), small(end), small(step)) else {
        return Ok(None);
    };
    // Rounded up, and negative if the step leads away from the end.
    let left = (end - at + step - step.signum()) / step;
    if flow.part > 0 || left <= 0 {
        return Ok(None);
    }
    let count = left.min(ITEMS_AT_ONCE);
    m.consume_fuel(count as usize)?;
    m.check_heap_limit(WORDS_OF_NUMBER + WORDS_OF_CELL)?;
    for _ in 0..count {
        let item = make_int(m, at);
        flow.keep(m, item)?;
        at += step;
        flow.made = Some(make_int(m, at));
    }
    m.meter.advanced();
    Ok(flow.made)
}

/// `take` of a `range` whose step is 0: so many times its start. `None` if the step is another one. The number of items, and
/// the arguments of `range`, are given.
pub fn take_of_endless<H: Heap>(
    m: &mut Machine<'_, H>,
    given: &[H::Term],
) -> Result<Option<H::Term>, Halt<H>> {
    let &[count, start, end, step] = given else {
        return Ok(None);
    };
    let zero = make_int(m, 0);
    let numbers = [start, end, step];
    if numbers.iter().any(|it| m.heap.kind(*it) != Kind::Number) || m.compare(step, zero)?.is_ne() {
        return Ok(None);
    }
    let Some(count) = whole(m, count)? else {
        return Ok(None);
    };
    let count = usize::try_from(count.max(0)).unwrap_or(usize::MAX);
    let list = flow(m, &[], |m, flow| {
        while flow.at < count {
            m.consume_fuel(1)?;
            flow.keep(m, start)?;
            flow.at += 1;
            m.meter.advanced();
        }
        flow.list(m)
    })?;
    Ok(Some(list))
}

/// Adds two numbers.
fn plus<H: Heap>(
    m: &mut Machine<'_, H>,
    call: Call<'_, H::Term>,
    number: H::Term,
    step: H::Term,
) -> Eval<H> {
    if let (Some(a), Some(b)) = (m.heap.small_integer(number), m.heap.small_integer(step)) {
        if let Some(sum) = a.checked_add(b) {
            return Ok(make_int(m, sum));
        }
    }
    let (Some(mut sum), Some(step)) = (m.number(number)?, m.number(step)?) else {
        return Err(call.refuse());
    };
    let made = sum.add(step).ok().and_then(|()| m.heap.make_counter(sum));
    made.ok_or_else(|| call.fail("bad_arith", &[number]))
}

/// `combinations`: all choices of so many items, in order.
pub(super) fn combinations<H: Heap>(
    m: &mut Machine<'_, H>,
    call: Call<'_, H::Term>,
    (coll, size): (H::Term, H::Term),
) -> Eval<H> {
    let size = match whole(m, size)?.map(usize::try_from) {
        Some(Ok(size)) => size,
        _ => return Ok(none(m)),
    };
    match class(m, coll) {
        Class::Nil | Class::List | Class::String | Class::Map | Class::Set => {}
        _ => return Err(call.refuse()),
    }
    flow(m, &[coll], |m, flow| {
        flow.read(m, call)?;
        if flow.part == 0 {
            flow.keep_all(m, call, 0)?;
            flow.part = 1;
            if size > flow.kept.len() {
                return Ok(none(m));
            }
            flow.places = (0..size).collect();
        }
        while flow.part == 1 {
            choose(m, flow, size)?;
            m.meter.advanced();
        }
        flow.list_of_lists(m)
    })
}

/// Makes the list of the chosen items, and goes on to the next choice.
fn choose<H: Heap>(
    m: &mut Machine<'_, H>,
    flow: &mut Flow<H::Term>,
    size: usize,
) -> Result<(), Halt<H>> {
    m.check_heap_limit(WORDS_OF_CELL * (size + 1))?;
    m.consume_fuel_at_once(1 + size)?;
    let places = flow.places.iter();
    let items: Vec<_> = places.map(|at| flow.kept.get(m.heap, *at)).collect();
    let list = m.heap.make_list(&items);
    super::super::flow::keep(m, &mut flow.lists, list)?;
    // The last place that can go on does, and those behind it follow.
    let last = flow.kept.len() - size;
    let next = (0..size).rev().find(|at| flow.places[*at] < last + at);
    match next {
        None => flow.part = 2,
        Some(at) => {
            let first = flow.places[at] + 1;
            for (step, place) in flow.places[at..].iter_mut().enumerate() {
                *place = first + step;
            }
        }
    }
    Ok(())
}
