//! Answers of LLMs: the JSON in a text as terms, and whether it is what was asked for.

use crate::atoms;
use crate::error_line::error_text;
use crate::heap::Beam;
use crate::program::charge_for_text;
use crate::raw::Raw;
use crate::signature::{judge, Pace, Verdict};
use crate::wire;
use ptc_core::answer::{read_answer, read_underscored, Answer, NoAnswer};
use ptc_core::heap::{Heap, Kind};
use rustler::{Atom, Binary, Encoder, Env, Term};

/// `{:ok, value}` or `{:error, {reason, place}}`.
fn parse<'a>(env: Env<'a>, text: Binary<'a>) -> Term<'a> {
    charge_for_text(env, text.as_slice());
    let mut heap = Beam::new(env, 0);
    match read_answer(text.as_slice(), &mut heap) {
        Ok(answer) => (atoms::ok(), answer.value.term(env)).encode(env),
        Err(error) => no_answer(env, error),
    }
}

fn no_answer<'a>(env: Env<'a>, error: NoAnswer) -> Term<'a> {
    let (reason, place) = match error {
        NoAnswer::NotFound(place) => (atoms::no_json_found(), place),
        NoAnswer::Invalid(place) => (atoms::invalid_json(), Some(place)),
    };
    let place = place.map(|place| wire::json_error_detail(env, place));
    (atoms::error(), (reason, place)).encode(env)
}

/// From text to verdict: `{:ok, value}` with keys as they are to be; `{:hyphens, value}`, right, but
/// two of its keys become one; `{:map, value}` and `{:list, value}`, not judged;
/// `{:invalid, errors, line}`, `{:error, {reason, place}}` or `:busy`.
pub fn answer<'a>(env: Env<'a>, text: &[u8], of: Term<'a>, list: bool, pace: Pace) -> Term<'a> {
    let mut heap = Beam::new(env, 0);
    charge_for_text(env, text);
    let Answer {
        value,
        hyphens,
        start,
    } = match read_answer(text, &mut heap) {
        Ok(answer) => answer,
        Err(error) => return no_answer(env, error),
    };
    let value = match wanted(&mut heap, value, list) {
        Ok(value) => value,
        Err(reason) => return (atoms::error(), (reason, atoms::nil())).encode(env),
    };
    let say = |tag: Atom, term: Raw<'a>| (tag, term.term(env)).encode(env);
    let undecided = say(if list { atoms::list() } else { atoms::map() }, value);
    match judge(env, of.into(), value, pace) {
        Verdict::Right if hyphens => match read_underscored(text, start, &mut heap) {
            Some(whole) => say(atoms::ok(), wanted(&mut heap, whole, list).unwrap_or(value)),
            None => say(atoms::hyphens(), value),
        },
        Verdict::Right => say(atoms::ok(), value),
        Verdict::Wrong(errors) => match error_text(env, errors, pace) {
            Some(text) => (atoms::invalid(), errors.term(env), text.term(env)).encode(env),
            None if pace == Pace::Slice => atoms::busy().encode(env),
            None => undecided,
        },
        Verdict::Undecided => undecided,
        Verdict::Busy => atoms::busy().encode(env),
    }
}

/// The object, or the list, which may be wrapped in an object, since some LLM interfaces allow
/// nothing else.
pub fn wanted<'a>(heap: &mut Beam<'a>, value: Raw<'a>, list: bool) -> Result<Raw<'a>, Atom> {
    match (heap.kind(value), list) {
        (Kind::Map, false) | (Kind::List, true) => Ok(value),
        (Kind::Map, true) => {
            let key = heap.make_string(b"items");
            let items = heap.terms.map_get(value, key);
            let is_list = |items: &Raw<'a>| heap.kind(*items) == Kind::List;
            items.filter(is_list).ok_or(atoms::not_wrapped())
        }
        _ => Err(atoms::not_an_object()),
    }
}

macro_rules! answer_nifs {
    ($parse:ident, $answer:ident, $schedule:literal, $pace:expr) => {
        /// Finds and decodes.
        #[rustler::nif(schedule = $schedule)]
        fn $parse<'a>(env: Env<'a>, text: Binary<'a>) -> Term<'a> {
            parse(env, text)
        }

        /// Finds, decodes and validates; `list`: the type is one of a list.
        #[rustler::nif(schedule = $schedule)]
        fn $answer<'a>(env: Env<'a>, text: Binary<'a>, of: Term<'a>, list: bool) -> Term<'a> {
            answer(env, text.as_slice(), of, list, $pace)
        }
    };
}

answer_nifs!(answer_parse, answer_now, "Normal", Pace::Slice);
answer_nifs!(answer_parse_dirty, answer_dirty, "DirtyCpu", Pace::Whole);
