//! Answers of LLMs: the JSON in a text as terms, and whether it is what was asked for.

use crate::atoms;
use crate::heap::Beam;
use crate::wire;
use ptc_core::answer::{read_answer, NoAnswer};
use rustler::{Binary, Encoder, Env, Term};

/// `{:ok, value}` or `{:error, {reason, place}}`.
#[rustler::nif]
fn answer_parse<'a>(env: Env<'a>, text: Binary<'a>) -> Term<'a> {
    parse(env, text)
}

/// The same for a text too long for a scheduler's thread.
#[rustler::nif(schedule = "DirtyCpu")]
fn answer_parse_dirty<'a>(env: Env<'a>, text: Binary<'a>) -> Term<'a> {
    parse(env, text)
}

fn parse<'a>(env: Env<'a>, text: Binary<'a>) -> Term<'a> {
    let mut heap = Beam::new(env, 0);
    match read_answer(text.as_slice(), &mut heap) {
        Ok(value) => (atoms::ok(), value.term(env)).encode(env),
        Err(error) => refusal(env, error),
    }
}

fn refusal<'a>(env: Env<'a>, error: NoAnswer) -> Term<'a> {
    let (reason, place) = match error {
        NoAnswer::NotFound(place) => (atoms::no_json_found(), place),
        NoAnswer::Invalid(place) => (atoms::invalid_json(), Some(place)),
    };
    let place = place.map(|place| wire::json_error_detail(env, place));
    (atoms::error(), (reason, place)).encode(env)
}
