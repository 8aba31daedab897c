//! Sets.

use super::flow::{flow, Call, Flow};
use super::maps::entries::{add_entries, keep_key, without, Kept};
use crate::code::{Eval, Halt, Machine};
use crate::consts::{EMPTY_MAP, EMPTY_SET};
use crate::table::Builtin;
use crate::values::{class, items_of_set, set_of_map, Class};
use ptc_term::heap::{Heap, Lookup};

/// Fuel for the check of a set.
const FUEL_A_CHECK: usize = 1;
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
        (Builtin::Union, sets) => union(m, call, sets),
        (_, sets) => kept_of_first(m, call, sets),
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

/// Which set an operation on several sets begins with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Begins {
    First,
    Smallest,
    Largest,
}

/// Checks that all of them are sets. Returns the place of the one to begin with, and how many items those behind the first one have.
fn checked<H: Heap>(
    m: &mut Machine<'_, H>,
    (call, sets): (Call<'_, H::Term>, &[H::Term]),
    flow: &mut Flow<H::Term>,
    begins: Begins,
) -> Result<(usize, usize), Halt<H>> {
    flow.places.resize(3, 0);
    loop {
        let (at, chosen, others) = (flow.places[0], flow.places[1], flow.places[2]);
        let Some(set) = sets.get(at) else {
            return Ok((chosen, others));
        };
        m.consume_fuel(FUEL_A_CHECK)?;
        if class(m, *set) != Class::Set {
            return Err(call.refuse());
        }
        let (size, least) = (size_of(m, *set), size_of(m, sets[chosen]));
        let better = match begins {
            Begins::First => false,
            Begins::Smallest => size < least,
            Begins::Largest => size >= least,
        };
        if better {
            flow.places[1] = at;
        }
        if at > 0 {
            flow.places[2] = others.saturating_add(size);
        }
        flow.places[0] = at + 1;
        m.meter.advanced();
    }
}

/// Returns the number of items of a set.
fn size_of<H: Heap>(m: &Machine<'_, H>, set: H::Term) -> usize {
    m.heap.map_size(items_of_set(m, set)).unwrap_or(0)
}

/// All items: those of the largest set, and more.
fn union<H: Heap>(m: &mut Machine<'_, H>, call: Call<'_, H::Term>, sets: &[H::Term]) -> Eval<H> {
    flow(m, &[], |m, flow| {
        let (largest, _) = checked(m, (call, sets), flow, Begins::Largest)?;
        while let (0, Some(set)) = (flow.part, sets.get(flow.at)) {
            if flow.at != largest {
                m.consume_fuel(FUEL_A_CHECK)?;
                keep_items(m, flow, items_of_set(m, *set))?;
            }
            flow.at += 1;
            m.meter.advanced();
        }
        set_with(m, flow, items_of_set(m, sets[largest]))
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
    // The smallest set has all items of an intersection.
    let begins = match wanted {
        true => Begins::Smallest,
        false => Begins::First,
    };
    flow(m, &[], |m, flow| {
        let (first, others) = checked(m, (call, sets), flow, begins)?;
        if !wanted && MUCH_LARGER * others < size_of(m, sets[0]) {
            return without_all(m, flow, sets);
        }
        flow.next_source(m, call, sets[first])?;
        while flow.part == 0 {
            let Some((item, rest)) = m.heap.uncons(flow.sources[0]) else {
                break;
            };
            m.consume_fuel(1)?;
            let cost = m.weigh(item)?;
            // The place of the next set to look into.
            let mut all = true;
            while all && flow.at < sets.len() {
                if flow.at != first {
                    let map = items_of_set(m, sets[flow.at]);
                    m.consume_fuel_for_lookup(map, cost)?;
                    let found = m.heap.lookup(map, item, &mut H::KeyCache::default());
                    all = matches!(found, Lookup::Found(_)) == wanted;
                }
                if all {
                    flow.at += 1;
                    m.meter.advanced();
                }
            }
            if all {
                keep_key(m, flow, item)?;
            }
            (flow.sources[0], flow.at) = (rest, 0);
            m.meter.advanced();
        }
        set_with(m, flow, m.constant(EMPTY_MAP))
    })
}

/// The items of the first set without those of the others, which are much smaller.
fn without_all<H: Heap>(
    m: &mut Machine<'_, H>,
    flow: &mut Flow<H::Term>,
    sets: &[H::Term],
) -> Eval<H> {
    while let (0, Some(set)) = (flow.part, sets.get(1 + flow.at)) {
        m.consume_fuel(FUEL_A_CHECK)?;
        keep_items(m, flow, items_of_set(m, *set))?;
        flow.at += 1;
        m.meter.advanced();
    }
    if flow.part == 0 {
        (flow.part, flow.at) = (1, 0);
    }
    let items = items_of_set(m, sets[0]);
    let mut left = flow.made.unwrap_or(items);
    while flow.at < flow.kept.len() {
        let item = flow.kept.get(m.heap, flow.at);
        left = without(m, left, item)?;
        (flow.made, flow.at) = (Some(left), flow.at + 1);
        m.meter.advanced();
    }
    Ok(set_of_map(m, left))
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
