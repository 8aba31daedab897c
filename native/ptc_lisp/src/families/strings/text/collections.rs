//! Lists, maps, sets and tuples as text.

use super::{Style, WriteTask, Writing, BYTES_A_UNIT};
use crate::code::{Halt, Machine};
use crate::families::strings::is_one_character;
use crate::values::{class, items_of_set, Class};
use ptc_kernels::{Sorting, WORDS_OF_SORTED};
use ptc_term::heap::{words_of_string, Heap, Kind};
use ptc_term::rooted;
use ptc_term::roots::Roots;

/// Fuel to take an entry of a map out of it, and to put it in its place.
const ENTRY: usize = 4;

/// Maps of at most so many entries are sorted at once.
const SMALL_MAP: usize = 64;
/// Words of a task in native memory.
const WORDS_OF_TASK: usize = 3;

/// The entries of a large map.
#[derive(Debug, Clone, PartialEq)]
pub struct Sorted<T> {
    keys: Roots<T>,
    values: Roots<T>,
    sorting: Sorting,
}

rooted!(Sorted { states: keys, values; plain: sorting });

/// Begins the collection on top of the stack.
pub(super) fn begin<H: Heap>(
    m: &mut Machine<'_, H>,
    work: &mut Writing<H::Term>,
    term: H::Term,
    style: Style,
) -> Result<(), Halt<H>> {
    match class(m, term) {
        Class::List if style == Style::Printed && !m.heap.is_empty_list(term) => {
            work.tasks.pop();
            work.terms.push(term);
            work.tasks.push(WriteTask::Characters);
        }
        Class::List => list(m, work, term),
        Class::Map => map(m, work, term)?,
        Class::Set => set(m, work, term)?,
        _ => {
            let elements = m.heap.elements(term).map(<[_]>::to_vec);
            let elements = elements.unwrap_or_default();
            m.consume_fuel(elements.len())?;
            work.done(m, 1);
            values(work, &elements, (b"[", b"]"));
        }
    }
    Ok(())
}

fn list<H: Heap>(m: &Machine<'_, H>, work: &mut Writing<H::Term>, term: H::Term) {
    work.done(m, 1);
    work.out.push(b'[');
    work.tasks.push(WriteTask::Bytes(b"]"));
    work.tasks.push(WriteTask::Items { is_first: true });
    work.terms.push(term);
}

/// Begins values in brackets, from the first to the last.
fn values<T: Copy>(
    work: &mut Writing<T>,
    values: &[T],
    (open, close): (&'static [u8], &'static [u8]),
) {
    work.out.extend_from_slice(open);
    work.tasks.push(WriteTask::Bytes(close));
    work.tasks.push(WriteTask::Values {
        left: values.len(),
        is_first: true,
    });
    work.terms.extend(values.iter().rev().copied());
}

/// Counts the entries of a map before they are taken out of it.
fn count<H: Heap>(
    m: &mut Machine<'_, H>,
    work: &Writing<H::Term>,
    entries: usize,
) -> Result<(), Halt<H>> {
    let native = work.terms.words() + (WORDS_OF_SORTED + 1) * entries;
    m.check_heap_limit(native + words_of_string(work.out.len()))?;
    m.consume_fuel_at_once(ENTRY * entries)?;
    Ok(())
}

/// Begins a set, in the order of its items.
fn set<H: Heap>(
    m: &mut Machine<'_, H>,
    work: &mut Writing<H::Term>,
    term: H::Term,
) -> Result<(), Halt<H>> {
    let items = items_of_set(m, term);
    count(m, work, m.heap.map_size(items).unwrap_or(0))?;
    let items: Vec<_> = m
        .heap
        .entries(items)
        .into_iter()
        .map(|(it, _)| it)
        .collect();
    work.done(m, 1);
    values(work, &items, (b"#{", b"}"));
    Ok(())
}

/// Begins a map, in the order of its keys.
fn map<H: Heap>(
    m: &mut Machine<'_, H>,
    work: &mut Writing<H::Term>,
    term: H::Term,
) -> Result<(), Halt<H>> {
    let size = m.heap.map_size(term).unwrap_or(0);
    count(m, work, size)?;
    let mut entries = m.heap.entries(term);
    if size > SMALL_MAP {
        let mut sorted = Sorted {
            keys: Roots::default(),
            values: Roots::default(),
            sorting: Sorting::default(),
        };
        sorted.keys.extend(entries.iter().map(|(key, _)| *key));
        sorted
            .values
            .extend(entries.iter().map(|(_, value)| *value));
        work.done(m, 1);
        work.out.push(b'{');
        work.sorted.push(sorted);
        work.tasks.push(WriteTask::Bytes(b"}"));
        work.tasks.push(WriteTask::Sorted { at: 0 });
        return Ok(());
    }
    let mut cost = 0;
    for (key, _) in &entries {
        cost += m.weigh(*key)?;
    }
    m.consume_fuel_at_once(cost * size.max(2).ilog2() as usize)?;
    let heap = &*m.heap;
    entries.sort_by(|(a, _), (b, _)| heap.compare(*a, *b));
    work.done(m, 1);
    work.out.push(b'{');
    work.tasks.push(WriteTask::Bytes(b"}"));
    work.tasks.push(WriteTask::Entries {
        left: entries.len(),
        is_first: true,
    });
    for (key, value) in entries.into_iter().rev() {
        work.terms.push(value);
        work.terms.push(key);
    }
    Ok(())
}

/// Writes the next part of a collection.
pub(super) fn step<H: Heap>(
    m: &mut Machine<'_, H>,
    work: &mut Writing<H::Term>,
    task: WriteTask,
) -> Result<(), Halt<H>> {
    m.consume_fuel(1)?;
    let native = work.terms.words() + WORDS_OF_TASK * work.tasks.len();
    m.check_heap_limit(native + words_of_string(work.out.len()))?;
    match task {
        WriteTask::Sorted { at } => entry(m, work, at)?,
        WriteTask::Items { is_first } => items(m, work, is_first),
        WriteTask::Characters => characters(m, work)?,
        WriteTask::Joined => joined(m, work)?,
        WriteTask::Values { left: 0, .. } | WriteTask::Entries { left: 0, .. } => work.done(m, 0),
        WriteTask::Values { left, is_first } => {
            between(work, is_first);
            replace(
                work,
                WriteTask::Values {
                    left: left - 1,
                    is_first: false,
                },
            );
            work.tasks.push(WriteTask::Value(Style::Readable));
        }
        WriteTask::Entries { left, is_first } => {
            between(work, is_first);
            replace(
                work,
                WriteTask::Entries {
                    left: left - 1,
                    is_first: false,
                },
            );
            work.tasks.push(WriteTask::Value(Style::Readable));
            work.tasks.push(WriteTask::Bytes(b" "));
            work.tasks.push(WriteTask::Value(Style::Key));
        }
        WriteTask::Value(_) | WriteTask::Bytes(_) => {}
    }
    Ok(())
}

/// Writes the next entry of a large map, once it is sorted.
fn entry<H: Heap>(
    m: &mut Machine<'_, H>,
    work: &mut Writing<H::Term>,
    at: usize,
) -> Result<(), Halt<H>> {
    let Some(Sorted {
        keys,
        values,
        sorting,
    }) = work.sorted.last_mut()
    else {
        work.done(m, 0);
        return Ok(());
    };
    if at == 0 {
        sorting.sort(m, keys, keys.len(), &[false])?;
    }
    let Some(place) = sorting.places().get(at) else {
        work.sorted.pop();
        work.done(m, 0);
        return Ok(());
    };
    let place = *place as usize;
    let (key, value) = (keys.get(m.heap, place), values.get(m.heap, place));
    between(work, at == 0);
    replace(work, WriteTask::Sorted { at: at + 1 });
    work.push(Style::Readable, value);
    work.tasks.push(WriteTask::Bytes(b" "));
    work.push(Style::Key, key);
    Ok(())
}

fn between<T>(work: &mut Writing<T>, is_first: bool) {
    if !is_first {
        work.out.push(b' ');
    }
}

/// Replaces the current task.
fn replace<T>(work: &mut Writing<T>, task: WriteTask) {
    work.tasks.pop();
    work.tasks.push(task);
}

/// Writes the next item of a list; the end of an improper one stands behind a bar.
fn items<H: Heap>(m: &Machine<'_, H>, work: &mut Writing<H::Term>, is_first: bool) {
    let Some(rest) = work.terms.take_last(m.heap) else {
        return work.done(m, 0);
    };
    if let Some((item, tail)) = m.heap.uncons(rest) {
        between(work, is_first);
        replace(work, WriteTask::Items { is_first: false });
        work.terms.push(tail);
        return work.push(Style::Readable, item);
    }
    work.done(m, 0);
    if !m.heap.is_empty_list(rest) {
        work.out.extend_from_slice(b" | ");
        work.push(Style::Readable, rest);
    }
}

/// Looks at the next item of a list that may consist of characters; its rest is on top of it.
fn characters<H: Heap>(m: &mut Machine<'_, H>, work: &mut Writing<H::Term>) -> Result<(), Halt<H>> {
    let rest = match work.terms.last_mut(m.heap) {
        Some(rest) => *rest,
        None => m.heap.nil(),
    };
    match m.heap.uncons(rest) {
        Some((item, tail)) if m.heap.kind(item) == Kind::String && is_one_character(m, item)? => {
            if let Some(rest) = work.terms.last_mut(m.heap) {
                *rest = tail;
            }
        }
        None if m.heap.is_empty_list(rest) => {
            work.terms.take_last(m.heap);
            replace(work, WriteTask::Joined);
        }
        _ => {
            work.terms.take_last(m.heap);
            let term = match work.terms.last_mut(m.heap) {
                Some(list) => *list,
                None => rest,
            };
            list(m, work, term);
        }
    }
    Ok(())
}

/// Writes the next character.
fn joined<H: Heap>(m: &mut Machine<'_, H>, work: &mut Writing<H::Term>) -> Result<(), Halt<H>> {
    let rest = match work.terms.last_mut(m.heap) {
        Some(rest) => *rest,
        None => m.heap.nil(),
    };
    let Some((item, tail)) = m.heap.uncons(rest) else {
        work.done(m, 1);
        return Ok(());
    };
    let length = m.heap.byte_length(item).unwrap_or(0);
    m.consume_fuel(length / BYTES_A_UNIT)?;
    m.consume_fuel_to_copy(item)?;
    if let Some(rest) = work.terms.last_mut(m.heap) {
        *rest = tail;
    }
    work.out
        .extend_from_slice(m.heap.bytes(item).unwrap_or_default());
    Ok(())
}
