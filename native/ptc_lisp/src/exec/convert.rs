//! Values on their way out of the run: as its result and its memory, or as the arguments of a tool.
//!
//! Functions become data, and keywords outside of the vocabulary become texts (specification, sections 10 and 13). The walk
//! keeps what it has not changed: the same term, not a copy.

use super::functions::{self, FunctionParts};
use super::states::{CollectionShape, Converting, Mode, OpenLevel};
use super::unchanged;
use crate::code::{Eval, Halt, Machine};
use crate::consts::{Word, EMPTY_LIST};
use crate::values::{callable, class, field, make_string, Callable, Class};
use ptc_term::heap::{words_of_map, Heap, Kind};
use ptc_term::roots::Roots;

/// Open collections between two checks of the heap limit, and the words that each takes.
const LEVELS_BETWEEN_CHECKS: usize = 512;
const WORDS_OF_LEVEL: usize = 5;

/// Bytes of the longest text that is looked at as a key of a tool's arguments; others are where the tool is called.
const LONGEST_NAME: usize = 256;

/// Converts the arguments of a tool. Can be suspended and resumed.
pub fn tool_arguments<H: Heap>(m: &mut Machine<'_, H>, args: H::Term) -> Eval<H> {
    if m.begun().is_none() && unchanged::stays(m, args, Mode::Arguments)? {
        return Ok(args);
    }
    let values = list_of(m, &[args]);
    let made = convert(m, Mode::Arguments, values)?;
    Ok(made.into_iter().next().unwrap_or(args))
}

/// Makes data of the functions in some values. Can be suspended and resumed.
pub fn functions_as_data<H: Heap>(
    m: &mut Machine<'_, H>,
    values: &[H::Term],
) -> Result<Vec<H::Term>, Halt<H>> {
    let values = list_of(m, values);
    convert(m, Mode::Functions, values)
}

/// Converts each value of a list. Can be suspended and resumed.
pub(super) fn convert<H: Heap>(
    m: &mut Machine<'_, H>,
    mode: Mode,
    values: H::Term,
) -> Result<Vec<H::Term>, Halt<H>> {
    m.resumable(
        |_| Converting {
            rest: values,
            mode,
            levels: Vec::new(),
            wholes: Roots::default(),
            rests: Roots::default(),
            made: Roots::default(),
        },
        |m, state| {
            while step(m, state)? {
                m.meter.advanced();
            }
            Ok(std::mem::take(&mut state.made).into_vec(m.heap))
        },
    )
}

/// Converts one part; returns whether there are more.
fn step<H: Heap>(m: &mut Machine<'_, H>, state: &mut Converting<H::Term>) -> Result<bool, Halt<H>> {
    m.consume_fuel(1)?;
    let (mode, is_key) = match state.levels.last() {
        None => (state.mode, false),
        Some(level) => {
            let is_even = (state.made.len() - level.start).is_multiple_of(2);
            (level.mode, level.shape == CollectionShape::Map && is_even)
        }
    };
    let list = match state.rests.last_mut(m.heap) {
        Some(list) => *list,
        None => state.rest,
    };
    let in_list = (state.levels.last()).is_some_and(|it| it.shape == CollectionShape::List);
    let list = match in_list {
        true => {
            let others = unchanged::pass(m, (list, mode), &mut state.made)?;
            if let Some(rest) = state.rests.last_mut(m.heap) {
                *rest = others;
            }
            if m.heap.identity(others) != m.heap.identity(list) {
                return Ok(true);
            }
            others
        }
        false => list,
    };
    let Some((part, rest)) = m.heap.uncons(list) else {
        return close(m, state);
    };
    let entered = enter(m, mode, part, is_key)?;
    match state.rests.last_mut(m.heap) {
        Some(list) => *list = rest,
        None => state.rest = rest,
    }
    match entered {
        Entered::Value(value) => state.add(m, part, value),
        Entered::Open(mode, shape, parts) => {
            state.levels.push(OpenLevel {
                mode,
                shape,
                start: state.made.len(),
                changed: shape == CollectionShape::Function,
            });
            state.wholes.push(part);
            state.rests.push(parts);
            if state.levels.len().is_multiple_of(LEVELS_BETWEEN_CHECKS) {
                m.check_heap_limit(WORDS_OF_LEVEL * state.levels.len())?;
            }
        }
    }
    Ok(true)
}

impl<T: Copy> Converting<T> {
    /// Adds the value that a part has become.
    fn add<H: Heap<Term = T>>(&mut self, m: &Machine<'_, H>, part: T, value: T) {
        if let Some(level) = self.levels.last_mut() {
            level.changed |= m.heap.identity(value) != m.heap.identity(part);
        }
        self.made.push(value);
    }
}

/// What becomes of a part: its value, or a collection whose parts come first.
enum Entered<T> {
    Value(T),
    Open(Mode, CollectionShape, T),
}

fn enter<H: Heap>(
    m: &mut Machine<'_, H>,
    mode: Mode,
    part: H::Term,
    is_key: bool,
) -> Result<Entered<H::Term>, Halt<H>> {
    let open = |shape, mode, parts| Ok(Entered::Open(mode, shape, parts));
    match m.heap.kind(part) {
        Kind::String if is_key && mode == Mode::Arguments => return key_text(m, part),
        Kind::String => return Ok(Entered::Value(part)),
        Kind::Nil | Kind::Bool | Kind::Number if !(is_key && mode == Mode::Arguments) => {
            return Ok(Entered::Value(part))
        }
        _ => {}
    }
    if !(is_key && mode == Mode::Arguments) && unchanged::stays(m, part, mode)? {
        return Ok(Entered::Value(part));
    }
    match class(m, part) {
        Class::List => open(CollectionShape::List, mode, part),
        Class::Map => {
            let entries = m.heap.entries(part);
            m.consume_fuel_at_once(entries.len())?;
            let parts: Vec<_> = entries
                .into_iter()
                .flat_map(|(key, value)| [key, value])
                .collect();
            let rest = list_of(m, &parts);
            open(CollectionShape::Map, mode, rest)
        }
        Class::Set => {
            let items = crate::values::items_of_set(m, part);
            let entries = m.heap.entries(items);
            m.consume_fuel_at_once(entries.len())?;
            let parts: Vec<_> = entries.into_iter().map(|(item, _)| item).collect();
            if !parts.iter().any(|item| holds_function(m, *item)) {
                return Ok(Entered::Value(part));
            }
            let rest = list_of(m, &parts);
            open(CollectionShape::Set, Mode::Functions, rest)
        }
        Class::Function => Ok(match functions::opened(m, part) {
            FunctionParts::Value(value) => Entered::Value(value),
            FunctionParts::Captured(list) => {
                Entered::Open(Mode::Functions, CollectionShape::Function, list)
            }
        }),
        Class::Tool => match callable(m, part) {
            Some(Callable::Tool(name)) => {
                let mut text = b"tool/".to_vec();
                text.extend_from_slice(m.heap.bytes(name).unwrap_or_default());
                make_string(m, &text).map(Entered::Value)
            }
            _ => Ok(Entered::Value(part)),
        },
        Class::Keyword if mode == Mode::Functions => Ok(Entered::Value(part)),
        Class::Keyword if mode == Mode::Arguments && is_key => key_text(m, part),
        Class::Keyword if m.heap.kind(part) == Kind::Map => {
            let name = field(m, part, Word::Name);
            Ok(Entered::Value(name.unwrap_or(part)))
        }
        _ if is_key && mode == Mode::Arguments => key_text(m, part),
        _ => Ok(Entered::Value(part)),
    }
}

/// Makes a list that is not a value of the program: its words do not count.
pub fn list_of<H: Heap>(m: &mut Machine<'_, H>, parts: &[H::Term]) -> H::Term {
    let mut list = m.constant(EMPTY_LIST);
    for part in parts.iter().rev() {
        list = m.heap.cons(*part, list);
    }
    list
}

/// Whether an item of a set is a function, or a list or a map, which may have one.
fn holds_function<H: Heap>(m: &Machine<'_, H>, item: H::Term) -> bool {
    let class = class(m, item);
    matches!(
        class,
        Class::Function | Class::Tool | Class::List | Class::Map | Class::Set
    )
}

/// The text of a key of a tool's arguments: a text or the name of a keyword, with `_` in the place of `-`.
fn key_text<H: Heap>(m: &mut Machine<'_, H>, key: H::Term) -> Result<Entered<H::Term>, Halt<H>> {
    let name = match m.heap.bytes(key) {
        Some(text) if text.len() > LONGEST_NAME || !text.contains(&b'-') => {
            return Ok(Entered::Value(key))
        }
        Some(text) => Some(text.to_vec()),
        None => crate::values::with_keyword_name(m, key, <[u8]>::to_vec),
    };
    let name = match (name, m.heap.kind(key)) {
        (Some(name), _) => name,
        (None, Kind::Nil) => b"nil".to_vec(),
        (None, Kind::Bool) if m.heap.truthy(key) => b"true".to_vec(),
        (None, Kind::Bool) => b"false".to_vec(),
        // The text of another key is made where the tool is called.
        (None, _) => return Ok(Entered::Value(key)),
    };
    let name: Vec<u8> = name
        .iter()
        .map(|it| if *it == b'-' { b'_' } else { *it })
        .collect();
    make_string(m, &name).map(Entered::Value)
}

/// Ends the innermost collection, whose parts are all converted; returns whether there was one.
fn close<H: Heap>(
    m: &mut Machine<'_, H>,
    state: &mut Converting<H::Term>,
) -> Result<bool, Halt<H>> {
    let (Some(level), Some(whole)) = (state.levels.last(), state.wholes.last_mut(m.heap)) else {
        return Ok(false);
    };
    let (start, whole) = (level.start, *whole);
    let value = match level.changed {
        false => whole,
        true => {
            let count = state.made.len() - start;
            m.consume_fuel_at_once(count)?;
            m.check_heap_limit(2 * count)?;
            let parts = state.made.since(start, m.heap);
            collection(m, level.shape, whole, parts)?
        }
    };
    state.levels.pop();
    state.wholes.take_last(m.heap);
    state.rests.take_last(m.heap);
    state.made.truncate(start, m.heap);
    state.add(m, whole, value);
    Ok(true)
}

/// Makes a collection of its converted parts.
fn collection<H: Heap>(
    m: &mut Machine<'_, H>,
    shape: CollectionShape,
    whole: H::Term,
    parts: &[H::Term],
) -> Eval<H> {
    match shape {
        CollectionShape::List => m.make_list(parts).map_err(Into::into),
        CollectionShape::Set => crate::values::make_set(m, parts),
        CollectionShape::Map => map_of(m, whole, parts),
        CollectionShape::Function => functions::of_parts(m, whole, parts),
    }
}

/// Makes a map of converted keys and values. Of keys that have become the same text, one that was a text before wins, else the later one.
fn map_of<H: Heap>(m: &mut Machine<'_, H>, whole: H::Term, parts: &[H::Term]) -> Eval<H> {
    m.count_new_map(parts.len() / 2)?;
    m.check_heap_limit(words_of_map(parts.len() / 2))?;
    // The parts are in the order of the map's entries.
    let (mut texts, mut others) = (Vec::new(), Vec::new());
    for ((was, _), it) in m.heap.entries(whole).into_iter().zip(parts.chunks_exact(2)) {
        match m.heap.bytes(was).is_some() {
            true => texts.push((it[0], it[1])),
            false => others.push((it[0], it[1])),
        }
    }
    // The first of equal keys counts.
    let others = others.into_iter().rev();
    let (keys, values): (Vec<_>, Vec<_>) = texts.into_iter().rev().chain(others).unzip();
    Ok(m.heap.make_map(&keys, &values))
}
