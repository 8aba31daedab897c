//! Numbers of a sequence: how many items it has, how often each occurs, their sum and their mean.

use super::super::flow::{each, flow, Call, Flow, Tools, Visit};
use crate::code::{Eval, Halt, Machine};
use crate::table::Builtin;
use crate::values::{class, items_of_set, make_int, Class};
use ptc_kernels::{Kinds, Tally, KEY_OF_NEW, MAP_ENTRY};
use ptc_term::heap::{words_of_map, Heap, Kind, WORDS_OF_NUMBER};
use ptc_term::number::{divide, Number};
use ptc_term::stop::Stop;

/// `count`
pub(super) fn count<H: Heap>(
    m: &mut Machine<'_, H>,
    call: Call<'_, H::Term>,
    coll: H::Term,
) -> Eval<H> {
    let count = match class(m, coll) {
        Class::Nil => 0,
        Class::Map => m.heap.map_size(coll).unwrap_or(0),
        Class::Set => m.heap.map_size(items_of_set(m, coll)).unwrap_or(0),
        Class::List => flow(m, &[coll], |m, flow| {
            flow.read(m, call)?;
            flow.skip(m, call, usize::MAX)?;
            Ok(flow.at)
        })?,
        Class::String => graphemes(m, coll)?,
        _ => return Err(call.refuse()),
    };
    Ok(make_int(m, count as i64))
}

/// Returns the number of graphemes of a text.
fn graphemes<H: Heap>(m: &mut Machine<'_, H>, text: H::Term) -> Result<usize, Halt<H>> {
    flow(m, &[text], |m, flow| {
        if flow.part == 0 {
            m.consume_fuel_to_copy(text)?;
            flow.made = Some(m.heap.aligned(text));
            (flow.part, flow.tools) = (1, Tools::Graphemes(0, 0));
            m.meter.advanced();
        }
        let (heap, meter) = m.heap_and_meter();
        let bytes = heap.bytes(flow.made.unwrap_or(text)).unwrap_or_default();
        let Tools::Graphemes(total, piece) = &mut flow.tools else {
            return Ok(0);
        };
        Ok(ptc_text::graphemes(
            bytes,
            &mut flow.at,
            total,
            piece,
            |cost| {
                meter.consume_fuel(cost, heap)?;
                meter.advanced();
                Ok::<_, Stop>(())
            },
        )?)
    })
}

/// `frequencies`. Items are compared strictly.
pub(super) fn frequencies<H: Heap>(
    m: &mut Machine<'_, H>,
    call: Call<'_, H::Term>,
    coll: H::Term,
) -> Eval<H> {
    match class(m, coll) {
        Class::Nil | Class::List | Class::String | Class::Map => {}
        _ => return Err(call.refuse()),
    }
    flow(m, &[coll], |m, flow| {
        flow.read(m, call)?;
        let Flow {
            sources,
            at,
            kept,
            different,
            heavy,
            ..
        } = flow;
        let different = different.get_or_insert_default();
        each(m, call, (&mut sources[0], at), |m, _, item| {
            let cost = m.consume_fuel_to_hash(item)?;
            let place = different.table.insert(m, &Kinds::default(), kept, item)?;
            match different.counts.get_mut(place) {
                Some(count) => *count += 1,
                None => {
                    *heavy += cost - 1;
                    different.counts.push(1);
                }
            }
            Ok(Visit::Next)
        })?;
        let count = kept.len();
        m.check_heap_limit(words_of_map(count) + WORDS_OF_NUMBER * count)?;
        m.consume_fuel_at_once(MAP_ENTRY * count + KEY_OF_NEW * *heavy)?;
        let counts = different.counts.iter();
        let values: Vec<_> = counts.map(|it| make_int(m, i64::from(*it))).collect();
        let keys = std::mem::take(kept).into_vec(m.heap);
        Ok(m.heap.make_map(&keys, &values))
    })
}

/// `sum`, `avg`. Items that are nil do not count.
pub(super) fn sum<H: Heap>(
    m: &mut Machine<'_, H>,
    call: Call<'_, H::Term>,
    coll: H::Term,
) -> Eval<H> {
    let is_mean = call.builtin == Builtin::Avg;
    match class(m, coll) {
        Class::Nil if is_mean => return Ok(coll),
        Class::Nil => return Ok(make_int(m, 0)),
        Class::List => {}
        _ => return Err(call.refuse()),
    }
    flow(m, &[coll], |m, flow| {
        flow.read(m, call)?;
        if flow.part == 0 {
            (flow.part, flow.tools) = (1, Tools::Tally(Tally::Sum(Number::Int(0)), 0));
        }
        let Flow {
            sources, at, tools, ..
        } = flow;
        let Tools::Tally(tally, count) = tools else {
            return Err(call.refuse());
        };
        each(m, call, (&mut sources[0], at), |m, _, item| {
            if m.heap.kind(item) != Kind::Nil {
                tally.count_cost(m)?;
                if tally.add_value(m, item)?.is_err() {
                    return Err(call.fail("bad_arith", &[item]));
                }
                *count += 1;
            }
            Ok(Visit::Next)
        })?;
        match (is_mean, &*tally, *count) {
            (true, _, 0) => Ok(m.heap.nil()),
            (true, Tally::Sum(sum), count) => {
                let mean = divide(sum, &Number::Int(count as i64)).map(Number::Float);
                let mean = mean.ok().and_then(|mean| m.heap.make_number(mean));
                mean.ok_or_else(|| call.fail("bad_arith", &[coll]))
            }
            _ => match tally.finish(m, 0, None)? {
                Ok(sum) => Ok(sum),
                Err(_) => Err(call.fail("bad_arith", &[coll])),
            },
        }
    })
}
