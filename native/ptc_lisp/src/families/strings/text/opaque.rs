//! Specials, functions, dates, and what else has a text of its own.

use super::{scalars, Style, Writing};
use crate::code::{Halt, Instr, Machine, Own};
use crate::consts::Word;
use crate::table::{Builtin, Takes};
use crate::values::{callable, field, is_word, Callable, Class};
use ptc_term::heap::{words_of_string, Heap, Kind};
use ptc_term::value::{text_of_iso, Value};

/// What is written for functions that have no list of parameters.
const COLLECTS: &[u8] = b"#fn[...]";
const BUILTIN: &[u8] = b"#<builtin>";
const FUNCTION: &[u8] = b"#<fn>";

/// Writes an infinity, or NaN.
pub(super) fn special<H: Heap>(
    m: &Machine<'_, H>,
    work: &mut Writing<H::Term>,
    term: H::Term,
    style: Style,
) {
    let name: &[u8] = match style {
        _ if is_word(m, term, Word::NaN) => b"NaN",
        Style::Plain if is_word(m, term, Word::Infinity) => b"Infinity",
        Style::Plain => b"-Infinity",
        _ if is_word(m, term, Word::Infinity) => b"Inf",
        _ => b"-Inf",
    };
    if style != Style::Plain {
        work.out.extend_from_slice(b"##");
    }
    work.out.extend_from_slice(name);
}

/// Writes a value of one of the other classes.
pub(super) fn put<H: Heap>(
    m: &mut Machine<'_, H>,
    work: &mut Writing<H::Term>,
    term: H::Term,
    style: Style,
    class: Class,
) -> Result<(), Halt<H>> {
    match class {
        Class::Function => function(m, work, term, style)?,
        Class::Tool => tool(m, work, term)?,
        Class::Regex => named(m, work, term, Word::Source, ("#\"", "\""))?,
        Class::Var => named(m, work, term, Word::Name, ("#'", ""))?,
        Class::Symbol if style == Style::Plain => named(m, work, term, Word::Name, ("", ""))?,
        Class::Symbol => named(m, work, term, Word::Name, ("'", ""))?,
        Class::Duration => {
            let milliseconds = field(m, term, Word::Milliseconds);
            let milliseconds = milliseconds.and_then(|it| m.heap.small_integer(it));
            let text = format!("#duration[{}ms]", milliseconds.unwrap_or(0));
            work.out.extend_from_slice(text.as_bytes());
        }
        Class::Struct => date(m, work, term, style),
        _ => work.out.extend_from_slice(b"#<value>"),
    }
    Ok(())
}

/// Writes the text that a term is, between two others.
fn put_text<H: Heap>(
    m: &mut Machine<'_, H>,
    work: &mut Writing<H::Term>,
    text: Option<H::Term>,
    (before, after): (&str, &str),
) -> Result<(), Halt<H>> {
    let length = text.and_then(|text| m.heap.byte_length(text)).unwrap_or(0);
    m.consume_fuel_at_once(length / super::BYTES_A_UNIT)?;
    m.check_heap_limit(words_of_string(work.out.len() + length))?;
    work.out.extend_from_slice(before.as_bytes());
    if let Some(text) = text {
        work.out
            .extend_from_slice(m.heap.bytes(text).unwrap_or_default());
    }
    work.out.extend_from_slice(after.as_bytes());
    Ok(())
}

/// Writes a field of a struct that is a text.
fn named<H: Heap>(
    m: &mut Machine<'_, H>,
    work: &mut Writing<H::Term>,
    term: H::Term,
    name: Word,
    around: (&str, &str),
) -> Result<(), Halt<H>> {
    let text = field(m, term, name);
    put_text(m, work, text, around)
}

/// Writes a date or a time in ISO 8601; as a part of a collection, in quotes.
fn date<H: Heap>(m: &Machine<'_, H>, work: &mut Writing<H::Term>, term: H::Term, style: Style) {
    let text = match m.heap.value(term) {
        Value::Iso(iso) => text_of_iso(iso),
        _ => None,
    };
    let quote: &[u8] = if style == Style::Plain { b"" } else { b"\"" };
    match text {
        Some(text) => {
            for part in [quote, text.as_slice(), quote] {
                work.out.extend_from_slice(part);
            }
        }
        None => work.out.extend_from_slice(b"#<value>"),
    }
}

/// A tool as a value, as programs have seen it so far.
fn tool<H: Heap>(
    m: &mut Machine<'_, H>,
    work: &mut Writing<H::Term>,
    term: H::Term,
) -> Result<(), Halt<H>> {
    let Some(Callable::Tool(name)) = callable(m, term) else {
        return Ok(());
    };
    let length = m.heap.byte_length(name).unwrap_or(0);
    m.consume_fuel(1 + length / super::BYTES_A_UNIT)?;
    let name = m.heap.bytes(name).unwrap_or_default();
    work.out
        .extend_from_slice(b"%PtcRunner.Lisp.RuntimeCallable{namespace: :tool, name: ");
    scalars::put_string(&mut work.out, name);
    work.out
        .extend_from_slice(b", eval_ctx: nil, do_eval: nil}");
    Ok(())
}

fn function<H: Heap>(
    m: &mut Machine<'_, H>,
    work: &mut Writing<H::Term>,
    term: H::Term,
    style: Style,
) -> Result<(), Halt<H>> {
    let text = match callable(m, term) {
        Some(Callable::Closure(entry)) => {
            let params = match m.program().code.get(entry as usize) {
                Some(Instr::Own(Own::Entry { about, .. })) => m.heap.element(m.constant(*about), 2),
                _ => None,
            };
            return put_params(m, work, params);
        }
        Some(Callable::Builtin(builtin)) => of_builtin(builtin, style),
        Some(Callable::Made(kind, _)) if is_word(m, kind, Word::Juxt) => FUNCTION,
        Some(Callable::Made(..)) => COLLECTS,
        // A function as data.
        _ => {
            let kind = field(m, term, Word::Kind).unwrap_or(m.heap.nil());
            if is_word(m, kind, Word::ClosureKind) {
                let params = field(m, term, Word::Params);
                return put_params(m, work, params);
            }
            match is_word(m, kind, Word::BuiltinKind) {
                true => {
                    let name = field(m, term, Word::Name);
                    let name = name.and_then(|name| m.heap.bytes(name)).unwrap_or_default();
                    let builtin = std::str::from_utf8(name).ok().and_then(Builtin::named);
                    builtin.map_or(BUILTIN, |builtin| of_builtin(builtin, style))
                }
                false if is_word(m, kind, Word::Juxt) => FUNCTION,
                false => COLLECTS,
            }
        }
    };
    work.out.extend_from_slice(text);
    Ok(())
}

fn of_builtin(builtin: Builtin, style: Style) -> &'static [u8] {
    match builtin {
        _ if style == Style::Plain => BUILTIN,
        Builtin::Println => FUNCTION,
        _ if builtin.row().takes == Takes::C => COLLECTS,
        _ => BUILTIN,
    }
}

/// Parameters that are written.
const MOST_PARAMS: usize = 1_000;

/// Writes `#fn[x y]`: the parameters are a list of texts.
fn put_params<H: Heap>(
    m: &mut Machine<'_, H>,
    work: &mut Writing<H::Term>,
    params: Option<H::Term>,
) -> Result<(), Halt<H>> {
    let mut texts = Vec::new();
    let mut rest = params;
    while let Some((param, tail)) = rest.and_then(|rest| m.heap.uncons(rest)) {
        if texts.len() == MOST_PARAMS {
            break;
        }
        if m.heap.kind(param) == Kind::String {
            texts.push(param);
        }
        rest = Some(tail);
    }
    let bytes = |param: &H::Term| m.heap.byte_length(*param).unwrap_or(0);
    let length = texts.iter().map(bytes).sum::<usize>();
    m.consume_fuel_at_once(texts.len() + length / super::BYTES_A_UNIT)?;
    m.check_heap_limit(words_of_string(work.out.len() + length + texts.len()))?;
    work.out.extend_from_slice(b"#fn[");
    for (place, param) in texts.into_iter().enumerate() {
        if place > 0 {
            work.out.push(b' ');
        }
        work.out
            .extend_from_slice(m.heap.bytes(param).unwrap_or_default());
    }
    work.out.push(b']');
    Ok(())
}
