//! A map with more entries, or a set with more items: one by one if it is much larger than what is added, else all at once.

use super::super::flow::{keep, Call, Flow};
use super::super::seqs::pair_of;
use crate::code::{Eval, Halt, Machine};
use crate::consts::EMPTY_LIST;
use ptc_kernels::{KEY_OF_NEW, MAP_ENTRY};
use ptc_term::heap::{words_of_map, words_of_put, Heap, FLAT_MAP};
use ptc_term::roots::Roots;

/// Fuel for putting an entry into a map that is a tree, and for making a small map anew.
const PUT: usize = 40;
/// A map so many times larger than what is added gets it one by one.
const MUCH_LARGER: usize = 4;
/// Fuel for reading an entry.
const ENTRY: usize = 4;

/// What is kept for a map.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kept {
    /// Keys and values, by turns.
    Pairs,
    /// The items of a set.
    Items,
}

/// Keeps an item of a set, or a key whose value follows.
pub fn keep_key<H: Heap>(
    m: &mut Machine<'_, H>,
    flow: &mut Flow<H::Term>,
    key: H::Term,
) -> Result<(), Halt<H>> {
    let cost = m.weigh_if_long(key)?;
    keep(m, &mut flow.kept, key)?;
    flow.heavy += cost;
    Ok(())
}

/// Keeps a key and its value.
pub fn keep_entry<H: Heap>(
    m: &mut Machine<'_, H>,
    flow: &mut Flow<H::Term>,
    (key, value): (H::Term, H::Term),
) -> Result<(), Halt<H>> {
    keep_key(m, flow, key)?;
    keep(m, &mut flow.kept, value)
}

/// Keeps a pair, which must be a list of two.
pub fn keep_pair<H: Heap>(
    m: &mut Machine<'_, H>,
    call: Call<'_, H::Term>,
    flow: &mut Flow<H::Term>,
    pair: H::Term,
) -> Result<(), Halt<H>> {
    match pair_of(m, pair) {
        Some(entry) => keep_entry(m, flow, entry),
        None => Err(call.fail("not_a_pair", &[pair])),
    }
}

/// Keeps the entries of a map.
pub fn keep_map<H: Heap>(
    m: &mut Machine<'_, H>,
    flow: &mut Flow<H::Term>,
    map: H::Term,
) -> Result<(), Halt<H>> {
    let size = m.heap.map_size(map).unwrap_or(0);
    m.check_heap_limit(2 * (size + flow.kept.len()))?;
    m.consume_fuel_at_once(ENTRY * size)?;
    let entries = m.heap.entries(map);
    let mut heavy = 0;
    for (key, _) in &entries {
        heavy += m.weigh_if_long(*key)?;
    }
    flow.kept
        .extend(entries.into_iter().flat_map(|(key, value)| [key, value]));
    flow.heavy += heavy;
    Ok(())
}

/// Adds to a map what was kept; of equal keys the last one counts.
pub fn add_entries<H: Heap>(
    m: &mut Machine<'_, H>,
    flow: &mut Flow<H::Term>,
    map: H::Term,
    kind: Kept,
) -> Eval<H> {
    if flow.part == 0 {
        (flow.part, flow.at, flow.made) = (1, 0, Some(map));
    }
    let each = match kind {
        Kept::Pairs => 2,
        Kept::Items => 1,
    };
    let count = flow.kept.len() / each;
    let size = m.heap.map_size(map).unwrap_or(0);
    if count == 1 || MUCH_LARGER * count < size {
        while flow.at < count {
            let key = flow.kept.get(m.heap, each * flow.at);
            let value = value_of(m, &flow.kept, (each, flow.at));
            let made = put(m, flow.made.unwrap_or(map), key, value)?;
            (flow.made, flow.at) = (Some(made), flow.at + 1);
            m.meter.advanced();
        }
        return Ok(flow.made.unwrap_or(map));
    }
    if count == 0 {
        return Ok(map);
    }
    let all = count + size;
    m.check_heap_limit(words_of_map(all))?;
    m.consume_fuel_at_once(KEY_OF_NEW * flow.heavy + MAP_ENTRY * all)?;
    let (mut keys, mut values) = (Vec::with_capacity(all), Vec::with_capacity(all));
    for at in (0..count).rev() {
        keys.push(flow.kept.get(m.heap, each * at));
        values.push(value_of(m, &flow.kept, (each, at)));
    }
    for (key, value) in m.heap.entries(map) {
        keys.push(key);
        values.push(value);
    }
    Ok(m.heap.make_map(&keys, &values))
}

fn value_of<H: Heap>(
    m: &Machine<'_, H>,
    kept: &Roots<H::Term>,
    (each, at): (usize, usize),
) -> H::Term {
    match each {
        1 => m.constant(EMPTY_LIST),
        _ => kept.get(m.heap, each * at + 1),
    }
}

/// Makes a map with this value at this key.
pub fn put<H: Heap>(m: &mut Machine<'_, H>, map: H::Term, key: H::Term, value: H::Term) -> Eval<H> {
    count_change(m, map, key)?;
    Ok(m.heap.put(map, key, value))
}

/// Makes a map without this key.
pub fn without<H: Heap>(m: &mut Machine<'_, H>, map: H::Term, key: H::Term) -> Eval<H> {
    count_change(m, map, key)?;
    Ok(m.heap.without(map, key))
}

/// Counts the change of one entry of a map.
fn count_change<H: Heap>(
    m: &mut Machine<'_, H>,
    map: H::Term,
    key: H::Term,
) -> Result<(), Halt<H>> {
    let size = m.heap.map_size(map).unwrap_or(0);
    let cost = m.weigh(key)?;
    m.consume_fuel_for_lookup(map, cost)?;
    m.consume_fuel(match size {
        ..=FLAT_MAP => 1 + size / 4,
        _ => PUT,
    })?;
    m.check_heap_limit(words_of_put(size))?;
    Ok(())
}
