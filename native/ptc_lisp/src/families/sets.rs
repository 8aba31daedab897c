//! Sets.

use super::flow::{flow, Call, Flow};
use super::maps::entries::{add_entries, keep_key, without, Kept};
use crate::code::{Eval, Halt, Machine};
use crate::consts::{EMPTY_MAP, EMPTY_SET};
use crate::table::Builtin;
use crate::values::{class, items_of_set, set_of_map, Class};
use ptc_term::heap::{Heap, Lookup};

/// Fuel for reading an item of a set.
const ITEM: usize = 4;
/// Items are taken out of a set that is so many times larger, one by one.
const MUCH_LARGER: usize = 4;

/// Evaluates a built-in of the family.
pub fn eval<H: Heap>(m: &mut Machine<'_, H>, builtin: Builtin, arguments: &[H::Term]) -> Eval<H> {
    let call = Call { builtin, arguments };
    match (builtin, arguments) {
        (Builtin::Set, &[coll]) => match class(m, coll) {
            Class::Set => Ok(coll),
            Class::List => of_list(m, call, coll),
            _ => Err(call.refuse()),
        },
        (Builtin::HashSet, given) => of_items(m, given),
        (Builtin::Union, []) => Ok(m.constant(EMPTY_SET)),
        (Builtin::Disj, &[coll, ..]) if class(m, coll) == Class::Nil => Ok(coll),
        (_, &[one]) => Ok(one),
        (Builtin::Disj, &[set, ref items @ ..]) => disj(m, call, set, items),
        (_, sets) => {
            if sets.iter().any(|set| class(m, *set) != Class::Set) {
                return Err(call.refuse());
            }
            match builtin {
                Builtin::Union => union(m, sets),
                _ => kept_of_first(m, call, sets),
            }
        }
    }
}

fn of_list<H: Heap>(m: &mut Machine<'_, H>, call: Call<'_, H::Term>, list: H::Term) -> Eval<H> {
    flow(m, &[list], |m, flow| {
        flow.read(m, call)?;
        while flow.part == 0 {
            let Some((item, rest)) = m.heap.uncons(flow.sources[0]) else {
                break;
            };
            m.consume_fuel(1)?;
            keep_key(m, flow, item)?;
            flow.sources[0] = rest;
            m.meter.advanced();
        }
        set_with(m, flow, m.constant(EMPTY_MAP))
    })
}

fn of_items<H: Heap>(m: &mut Machine<'_, H>, items: &[H::Term]) -> Eval<H> {
    flow(m, &[], |m, flow| {
        while let (0, Some(item)) = (flow.part, items.get(flow.at)) {
            m.consume_fuel(1)?;
            keep_key(m, flow, *item)?;
            flow.at += 1;
            m.meter.advanced();
        }
        set_with(m, flow, m.constant(EMPTY_MAP))
    })
}

/// Makes the set of the items of another one, whose map this is, and of those that were kept.
fn set_with<H: Heap>(m: &mut Machine<'_, H>, flow: &mut Flow<H::Term>, map: H::Term) -> Eval<H> {
    let map = add_entries(m, flow, map, Kept::Items)?;
    Ok(set_of_map(m, map))
}

/// All items: those of the largest set, and more.
fn union<H: Heap>(m: &mut Machine<'_, H>, sets: &[H::Term]) -> Eval<H> {
    let maps: Vec<_> = sets.iter().map(|set| items_of_set(m, *set)).collect();
    let sizes = maps.iter().map(|map| m.heap.map_size(*map).unwrap_or(0));
    let largest = sizes.enumerate().max_by_key(|(_, size)| *size);
    let largest = largest.map_or(0, |(place, _)| place);
    flow(m, &[], |m, flow| {
        while let (0, Some(map)) = (flow.part, maps.get(flow.at)) {
            if flow.at != largest {
                keep_items(m, flow, *map)?;
            }
            flow.at += 1;
            m.meter.advanced();
        }
        set_with(m, flow, maps[largest])
    })
}

/// Keeps all items of a set, whose map this is.
fn keep_items<H: Heap>(
    m: &mut Machine<'_, H>,
    flow: &mut Flow<H::Term>,
    map: H::Term,
) -> Result<(), Halt<H>> {
    let size = m.heap.map_size(map).unwrap_or(0);
    m.check_heap_limit(size + flow.kept.len())?;
    m.consume_fuel_at_once(ITEM * size)?;
    let mut heavy = 0;
    let entries = m.heap.entries(map);
    for (item, _) in &entries {
        heavy += m.weigh_if_long(*item)?;
    }
    flow.heavy += heavy;
    flow.kept.extend(entries.into_iter().map(|(item, _)| item));
    Ok(())
}

/// `intersection`, `difference`: the items of the first set that all others have, or that none of them has.
fn kept_of_first<H: Heap>(
    m: &mut Machine<'_, H>,
    call: Call<'_, H::Term>,
    sets: &[H::Term],
) -> Eval<H> {
    let wanted = call.builtin == Builtin::Intersection;
    let maps: Vec<_> = sets.iter().map(|set| items_of_set(m, *set)).collect();
    let size = |map: &H::Term| m.heap.map_size(*map).unwrap_or(0);
    let others: usize = maps[1..].iter().map(size).sum();
    if !wanted && MUCH_LARGER * others < size(&maps[0]) {
        return without_all(m, sets[0], &maps[1..]);
    }
    // The smallest set has all items of an intersection.
    let first = match wanted {
        true => (0..maps.len()).min_by_key(|at| size(&maps[*at])),
        false => None,
    };
    let first = first.unwrap_or(0);
    flow(m, &[sets[first]], |m, flow| {
        flow.read(m, call)?;
        while flow.part == 0 {
            let Some((item, rest)) = m.heap.uncons(flow.sources[0]) else {
                break;
            };
            m.consume_fuel(1)?;
            let cost = m.weigh(item)?;
            let mut all = true;
            for (at, map) in maps.iter().enumerate() {
                if at != first && all {
                    m.consume_fuel_for_lookup(*map, cost)?;
                    let found = m.heap.lookup(*map, item, &mut H::KeyCache::default());
                    all = matches!(found, Lookup::Found(_)) == wanted;
                }
            }
            if all {
                keep_key(m, flow, item)?;
            }
            flow.sources[0] = rest;
            m.meter.advanced();
        }
        set_with(m, flow, m.constant(EMPTY_MAP))
    })
}

/// The items of a set without those of others, whose maps these are: they are much smaller.
fn without_all<H: Heap>(m: &mut Machine<'_, H>, set: H::Term, maps: &[H::Term]) -> Eval<H> {
    flow(m, &[], |m, flow| {
        while let (0, Some(map)) = (flow.part, maps.get(flow.at)) {
            keep_items(m, flow, *map)?;
            flow.at += 1;
            m.meter.advanced();
        }
        if flow.part == 0 {
            (flow.part, flow.at) = (1, 0);
        }
        let items = items_of_set(m, set);
        let mut left = flow.made.unwrap_or(items);
        while flow.at < flow.kept.len() {
            let item = flow.kept.get(m.heap, flow.at);
            left = without(m, left, item)?;
            (flow.made, flow.at) = (Some(left), flow.at + 1);
            m.meter.advanced();
        }
        Ok(set_of_map(m, left))
    })
}

fn disj<H: Heap>(
    m: &mut Machine<'_, H>,
    call: Call<'_, H::Term>,
    set: H::Term,
    items: &[H::Term],
) -> Eval<H> {
    if class(m, set) != Class::Set {
        return Err(call.refuse());
    }
    let map = items_of_set(m, set);
    flow(m, &[], |m, flow| {
        let mut left = flow.made.unwrap_or(map);
        while let Some(item) = items.get(flow.at) {
            left = without(m, left, *item)?;
            (flow.made, flow.at) = (Some(left), flow.at + 1);
            m.meter.advanced();
        }
        Ok(set_of_map(m, left))
    })
}
