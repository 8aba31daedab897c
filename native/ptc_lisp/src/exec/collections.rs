//! Maps and lists of the values on the stack or in a slot.

use super::checks;
use super::top::{fault, replace};
use crate::code::{Halt, Machine};
use crate::consts::{EMPTY_LIST, EMPTY_MAP};
use crate::families;
use crate::table::{Builtin, Check};
use crate::values::{make_builtin, make_int};
use ptc_term::heap::{Heap, Kind};
use ptc_vm::program::Slot;

/// Items between two checks of the fuel.
const BATCH: usize = 64;
/// Number of entries of a small map.
const FEW: usize = 8;

/// Makes a map of the keys and values on the stack. Of equal keys the last one counts.
pub fn map_of_top<H: Heap>(m: &mut Machine<'_, H>, count: usize) -> H::Term {
    let nil = m.heap.nil();
    if count > FEW {
        let pairs = m.top_values(2 * count).to_vec();
        let pairs = pairs.chunks_exact(2).rev();
        let (keys, values): (Vec<_>, Vec<_>) = pairs.map(|it| (it[0], it[1])).unzip();
        return m.heap.make_map(&keys, &values);
    }
    // Few need no memory.
    let (mut keys, mut values) = ([nil; FEW], [nil; FEW]);
    let pairs = m.top_values(2 * count).chunks_exact(2).rev();
    for (pair, (key, value)) in pairs.zip(keys.iter_mut().zip(&mut values)) {
        (*key, *value) = (pair[0], pair[1]);
    }
    m.heap.make_map(&keys[..count], &values[..count])
}

/// Replaces a collection by the list of its items, after the checks of the built-in that visits them.
pub fn sequence<H: Heap>(m: &mut Machine<'_, H>, builtin: Builtin) -> Result<(), Halt<H>> {
    let coll = m.top();
    if m.begun().is_none() {
        // Its place is taken by a value of the same kind.
        let function = make_builtin(m, builtin);
        let arguments = [function, coll];
        checks::check(m, builtin, &arguments)?;
        if builtin == Builtin::Reduce && !checks::holds(m, Check::Seqable, coll) {
            return Err(checks::refused_argument(
                m,
                builtin,
                (2, Check::Seqable),
                &arguments,
            ));
        }
    }
    let items = families::seqs::items(m, coll)?;
    replace(m, 1, items);
    Ok(())
}

/// Pushes what was collected in a slot, the first value first. What is done is in the other slot, so it can be stopped and goes on.
pub fn collected<H: Heap>(
    m: &mut Machine<'_, H>,
    (from, into): (Slot, Slot),
) -> Result<(), Halt<H>> {
    let mut rest = m.slot(from);
    let mut made = match m.heap.kind(m.slot(into)) {
        Kind::List => m.slot(into),
        _ => m.constant(EMPTY_LIST),
    };
    loop {
        if let Err(stop) = m.consume_fuel(BATCH / 4) {
            m.set_slot(from, rest);
            m.set_slot(into, made);
            return Err(stop.into());
        }
        for _ in 0..BATCH {
            let Some((item, tail)) = m.heap.uncons(rest) else {
                // A run that waits afterwards does not hold what is read no more.
                let nothing = m.constant(EMPTY_LIST);
                m.set_slot(from, nothing);
                m.set_slot(into, nothing);
                m.push(made);
                return Ok(());
            };
            // The cell takes the place of the one that was counted when the value was collected.
            made = m.heap.cons(item, made);
            rest = tail;
        }
        m.meter.advanced();
    }
}

/// Makes a map of the rest parameter's `k v k v …`.
pub fn arguments<H: Heap>(m: &mut Machine<'_, H>, slot: Slot) -> Result<(), Halt<H>> {
    let mut rest = m.slot(slot);
    if m.heap.kind(rest) != Kind::List {
        return Ok(());
    }
    let mut given = Vec::new();
    while let Some((item, tail)) = m.heap.uncons(rest) {
        given.push(item);
        rest = tail;
    }
    m.consume_fuel_at_once(given.len())?;
    if given.len() % 2 == 1 {
        let count = make_int(m, given.len() as i64);
        return Err(fault("keyword_arguments", "fn", vec![count]));
    }
    m.count_new_map(given.len() / 2)?;
    let (keys, values): (Vec<_>, Vec<_>) =
        given.chunks_exact(2).rev().map(|it| (it[0], it[1])).unzip();
    let map = match keys.is_empty() {
        true => m.constant(EMPTY_MAP),
        false => m.heap.make_map(&keys, &values),
    };
    m.set_slot(slot, map);
    Ok(())
}
