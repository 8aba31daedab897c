//! The text of any value: `str`, `pr-str`, `println`, `join`.
//!
//! * this file: the built-ins, and the loop over what is to be written
//! * `put`: one value; `collections`: the parts of lists, maps and sets
//! * `scalars`: numbers and strings as `pr-str` has them; `opaque`: functions, dates, and what else has a text of its own
//!
//! Values may be nested deeper than any stack, so what is still to be written stands on a stack of its own.

mod collections;
mod opaque;
mod put;
mod scalars;

pub(crate) use scalars::put_shortest;

use super::string;
use crate::code::{Eval, Halt, Machine};
use crate::exec::checks::invalid_types;
use crate::families::seqs;
use crate::table::Builtin;
use crate::values::{class, Class};
use crate::work::Work as AnyWork;
use ptc_json::put_integer;
use ptc_kernels::BYTES_A_UNIT;
use ptc_term::heap::{words_of_string, Heap, Kind};
use ptc_term::rooted;
use ptc_term::roots::Roots;

/// How a value is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Style {
    /// As `str` writes an argument.
    Plain,
    /// As `pr-str` writes an argument, and everything writes the parts of a collection.
    Readable,
    /// As `println` writes an argument.
    Printed,
    /// As the key of a map.
    Key,
}

/// What is still to be written; its terms are on a stack beside it.
#[derive(Debug, Clone, Copy, PartialEq)]
enum WriteTask {
    /// A value.
    Value(Style),
    /// These bytes.
    Bytes(&'static [u8]),
    /// The items of a list that are left.
    Items {
        /// Whether none is written yet.
        is_first: bool,
    },
    /// So many values on the stack.
    Values {
        /// How many are left.
        left: usize,
        /// Whether none is written yet.
        is_first: bool,
    },
    /// So many keys and values on the stack.
    Entries {
        /// How many are left.
        left: usize,
        /// Whether none is written yet.
        is_first: bool,
    },
    /// The entries of the large map that was begun last, from a place on.
    Sorted {
        /// The place of the next entry.
        at: usize,
    },
    /// A list, and its rest, of which everything before is a text of one character.
    Characters,
    /// The items of a list of texts that are left, one after the other.
    Joined,
}

/// Values that are being written.
#[derive(Debug, Clone, PartialEq)]
pub struct Writing<T> {
    /// The items that are left, for `join`.
    list: Option<T>,
    terms: Roots<T>,
    /// The large maps that have begun.
    sorted: Vec<collections::Sorted<T>>,
    tasks: Vec<WriteTask>,
    /// The next argument.
    at: usize,
    out: Vec<u8>,
}

rooted!(Writing { optional: list; states: terms, sorted; plain: tasks, at, out });

impl<T: Copy> Writing<T> {
    fn new(list: Option<T>) -> Self {
        Writing {
            list,
            terms: Roots::default(),
            sorted: Vec::new(),
            tasks: Vec::new(),
            at: 0,
            out: Vec::new(),
        }
    }

    /// Adds a value that is to be written next.
    fn push(&mut self, style: Style, term: T) {
        self.terms.push(term);
        self.tasks.push(WriteTask::Value(style));
    }

    /// Ends the current task, and drops so many terms that belong to it.
    fn done<H: Heap<Term = T>>(&mut self, m: &Machine<'_, H>, terms: usize) {
        self.tasks.pop();
        for _ in 0..terms {
            self.terms.take_last(m.heap);
        }
    }
}

/// Evaluates `str`, `pr-str`, or `println`, whose value is the text that it prints.
pub(super) fn eval<H: Heap>(
    m: &mut Machine<'_, H>,
    builtin: Builtin,
    arguments: &[H::Term],
) -> Eval<H> {
    let (style, separator): (_, &[u8]) = match builtin {
        Builtin::Str => (Style::Plain, b""),
        Builtin::PrStr => (Style::Readable, b" "),
        _ => (Style::Printed, b" "),
    };
    if m.begun().is_none() {
        if let Some(text) = few_scalars(m, arguments, style, separator) {
            m.consume_fuel(arguments.len() + text.len() / put::BYTES_A_UNIT)?;
            return Ok(m.make_text(&text)?);
        }
    }
    m.resumable(
        |_| Writing::new(None),
        |m, work| {
            loop {
                finish(m, work)?;
                let Some(argument) = arguments.get(work.at) else {
                    break;
                };
                m.consume_fuel(1)?;
                if work.at > 0 {
                    work.out.extend_from_slice(separator);
                }
                work.at += 1;
                work.push(style, *argument);
            }
            Ok(m.make_text(&work.out)?)
        },
    )
}

/// Arguments, and bytes of each, that are written without a state.
const FEW: usize = 16;
const SHORT: usize = 256;

/// Returns the text of a few short values without parts; `None` for others. Most texts are made of such values.
fn few_scalars<H: Heap>(
    m: &Machine<'_, H>,
    arguments: &[H::Term],
    style: Style,
    separator: &[u8],
) -> Option<Vec<u8>> {
    if arguments.len() > FEW {
        return None;
    }
    let mut out = Vec::with_capacity(64);
    for (place, argument) in arguments.iter().enumerate() {
        if place > 0 {
            out.extend_from_slice(separator);
        }
        match m.heap.kind(*argument) {
            Kind::String if style != Style::Readable => match m.heap.byte_length(*argument) {
                Some(..=SHORT) if m.heap.bytes_to_copy(*argument) == 0 => {
                    out.extend_from_slice(m.heap.bytes(*argument).unwrap_or_default());
                }
                _ => return None,
            },
            Kind::Number => put_integer(&mut out, m.heap.small_integer(*argument)?),
            Kind::Nil if style == Style::Plain => {}
            Kind::Nil => out.extend_from_slice(b"nil"),
            Kind::Bool if m.heap.truthy(*argument) => out.extend_from_slice(b"true"),
            Kind::Bool => out.extend_from_slice(b"false"),
            _ => return None,
        }
    }
    Some(out)
}

/// Evaluates `join`: the items of a list or a set as `str` writes them, with a text between them.
pub(super) fn join<H: Heap>(m: &mut Machine<'_, H>, arguments: &[H::Term]) -> Eval<H> {
    let (separator, coll) = match *arguments {
        [coll] => (None, coll),
        [separator, coll] => match string(m, separator)? {
            Some(separator) => (Some(separator), coll),
            None => return Err(invalid_types(Builtin::Join, arguments)),
        },
        _ => return Err(invalid_types(Builtin::Join, arguments)),
    };
    let list = match m.begun() {
        // The list is in the state.
        Some(AnyWork::Strings(_)) => coll,
        _ => match class(m, coll) {
            Class::List => coll,
            Class::Set => seqs::items(m, coll)?,
            _ => return Err(invalid_types(Builtin::Join, arguments)),
        },
    };
    m.resumable(
        |_| Writing::new(Some(list)),
        |m, work| {
            loop {
                finish(m, work)?;
                let Some((item, rest)) = work.list.and_then(|list| m.heap.uncons(list)) else {
                    break;
                };
                let length = separator.and_then(|it| m.heap.byte_length(it)).unwrap_or(0);
                m.consume_fuel_at_once(1 + length / BYTES_A_UNIT)?;
                m.check_heap_limit(words_of_string(work.out.len() + length))?;
                if let (1.., Some(separator)) = (work.at, separator) {
                    let bytes = m.heap.bytes(separator).unwrap_or_default();
                    work.out.extend_from_slice(bytes);
                }
                work.at += 1;
                work.list = Some(rest);
                work.push(Style::Plain, item);
                m.meter.advanced();
            }
            Ok(m.make_text(&work.out)?)
        },
    )
}

/// Writes everything that is still to be written.
fn finish<H: Heap>(m: &mut Machine<'_, H>, work: &mut Writing<H::Term>) -> Result<(), Halt<H>> {
    while let Some(task) = work.tasks.last().copied() {
        match task {
            WriteTask::Value(style) => put::value(m, work, style)?,
            WriteTask::Bytes(bytes) => {
                work.tasks.pop();
                work.out.extend_from_slice(bytes);
            }
            task => collections::step(m, work, task)?,
        }
        m.meter.advanced();
    }
    Ok(())
}
