//! `json_decode/1`: JSON text to terms.

use crate::atoms;
use crate::heap::Beam;
use crate::program::charge_for_text;
use crate::wire;
use ptc_core::json::{read, Limits, TermBuilder};
use rustler::{Binary, Encoder, Env, Term};

/// Brackets cost a byte each while the text is read, so that their number needs no limit.
const ANY_DEPTH: Limits = Limits::depth(usize::MAX);

/// `{:ok, term}` or `{:error, {kind, position}}`.
#[rustler::nif]
fn json_decode<'a>(env: Env<'a>, text: Binary<'a>) -> Term<'a> {
    let _clock = crate::clock::start("json_decode");
    decode(env, text, ANY_DEPTH)
}

/// The same for a text too long for a scheduler's thread.
#[rustler::nif(schedule = "DirtyCpu")]
fn json_decode_dirty<'a>(env: Env<'a>, text: Binary<'a>) -> Term<'a> {
    let _clock = crate::clock::start("json_decode_dirty");
    decode(env, text, ANY_DEPTH)
}

/// With a limit of nesting, an integer or else none: then also `{:error, {:too_deep, limit, _}}`.
#[rustler::nif(name = "json_decode")]
fn json_decode_to<'a>(env: Env<'a>, text: Binary<'a>, depth: Term<'a>) -> Term<'a> {
    let _clock = crate::clock::start("json_decode");
    decode(env, text, limits(depth))
}

/// The same for a text too long for a scheduler's thread.
#[rustler::nif(name = "json_decode_dirty", schedule = "DirtyCpu")]
fn json_decode_to_dirty<'a>(env: Env<'a>, text: Binary<'a>, depth: Term<'a>) -> Term<'a> {
    let _clock = crate::clock::start("json_decode_dirty");
    decode(env, text, limits(depth))
}

fn limits(depth: Term) -> Limits {
    depth.decode().map_or(ANY_DEPTH, Limits::depth)
}

fn decode<'a>(env: Env<'a>, text: Binary<'a>, limits: Limits) -> Term<'a> {
    charge_for_text(env, text.as_slice());
    let mut heap = Beam::new(env, 0);
    let mut builder = TermBuilder::new(&mut heap);
    match read(text.as_slice(), limits, &mut builder) {
        Ok(()) => {
            let term = builder.finish().term(env);
            (atoms::ok(), term).encode(env)
        }
        Err(error) => (atoms::error(), wire::json_error_detail(env, error)).encode(env),
    }
}
