//! Reads and writes signatures as text: `signature_parse/1`, `signature_render/2`, `signature_lisp_key/1`.

use super::type_atoms::type_atoms;
use crate::atoms;
use crate::heap::Beam;
use crate::raw::Raw;
use crate::schedule::{is_too_long, nif_pair, settle, Pace, SIGNATURE_BYTES, TYPE_TEXT_BYTES};
use ptc_term::heap::Heap;
use ptc_term::meter::{Limits, Meter};
use ptc_term::names::lisp_key;
use ptc_type::{parse_by, read, render_type, KeyStyle, ReadOptions, Rules, SyntaxError, TypeTerms};
use rustler::{Binary, Encoder, Env, Term};

/// Maximum bytes of a text: a small type can stand for a huge one, since parts may be shared.
const LONGEST_TEXT: usize = 1 << 22;

/// Bytes of a name that are written for one unit of fuel.
const BYTES_OF_A_NAME: usize = 8;

/// `{:ok, {:signature, params, type}}` or `{:error, {line, column, line, column, expected}}`: first the
/// reported position, then the position of the fault.
fn parsed<'a>(env: Env<'a>, text: &[u8]) -> Term<'a> {
    let mut heap = Beam::new(env, 0);
    match parse_by(Rules::current(), text) {
        Ok(signature) => {
            let types = &signature.types;
            let mut terms = TypeTerms::of(&mut heap, &type_atoms(env), types);
            let params = terms.params(&mut heap, types, signature.params);
            let tag = Raw::from(atoms::signature().encode(env));
            let ok = Raw::from(atoms::ok().encode(env));
            let signature = [tag, params, terms.term(signature.returns)];
            let signature = heap.make_tuple(&signature);
            heap.make_tuple(&[ok, signature]).term(env)
        }
        Err(SyntaxError {
            column,
            deepest,
            expected,
        }) => {
            let line = |at: usize| 1 + text[..at].iter().filter(|byte| **byte == b'\n').count();
            let expected = atoms::named(env, expected);
            let error = (line(column), column, line(deepest), deepest, expected);
            (atoms::error(), error).encode(env)
        }
    }
}

/// The text of a type: `{:ok, text}`, `:busy`, `:too_long`, or `{:unknown, term}`.
fn rendered<'a>(env: Env<'a>, term: Term<'a>, lisp: bool, pace: Pace) -> Term<'a> {
    let heap = Beam::new(env, 0);
    let terms = heap.terms;
    let mut meter = Meter::whole(Limits::UNLIMITED, pace);
    let reading = ReadOptions::default();
    let Ok((read, id)) = read(&heap, term.into(), reading, &mut meter) else {
        return atoms::busy().encode(env);
    };
    if let Some(unknown) = read.unknown.first() {
        return (atoms::unknown(), unknown.term(env)).encode(env);
    }
    let style = match lisp {
        true => KeyStyle::Lisp,
        false => KeyStyle::Declared,
    };
    let limit = match pace {
        Pace::Probe | Pace::Slice => TYPE_TEXT_BYTES,
        Pace::Quantum => LONGEST_TEXT,
    };
    match (render_type(&read.types, id, style, limit), pace) {
        (Ok(text), _) => (atoms::ok(), terms.make_binary(&text).term(env)).encode(env),
        (Err(_), Pace::Probe | Pace::Slice) => atoms::busy().encode(env),
        (Err(_), Pace::Quantum) => atoms::too_long().encode(env),
    }
}

/// `{:ok, name}` in the spelling of Lisp programs, or `:busy`.
fn lisp<'a>(env: Env<'a>, name: Binary<'a>, pace: Pace) -> Term<'a> {
    let mut meter = Meter::whole(Limits::UNLIMITED, pace);
    let heap = Beam::new(env, 0);
    let read = meter.consume_fuel(name.len() / BYTES_OF_A_NAME, &heap);
    if read.is_err() {
        return atoms::busy().encode(env);
    }
    settle(env, &meter);
    let key = heap.terms.make_binary(&lisp_key(name.as_slice()));
    (atoms::ok(), key.term(env)).encode(env)
}

nif_pair! {
    /// Parses a signature.
    fn signature_parse, signature_parse_dirty<'a>(env, pace, text: Binary<'a>) -> Term<'a> {
        match is_too_long(pace, text.len(), SIGNATURE_BYTES) {
            true => atoms::busy().encode(env),
            false => parsed(env, text.as_slice()),
        }
    }
}

nif_pair! {
    /// Writes a type as text.
    fn signature_render, signature_render_dirty<'a>(env, pace, term: Term<'a>, lisp: bool) -> Term<'a> {
        rendered(env, term, lisp, pace)
    }
}

nif_pair! {
    /// Converts a name to the spelling of Lisp programs.
    fn signature_lisp_key, signature_lisp_key_dirty<'a>(env, pace, name: Binary<'a>) -> Term<'a> {
        lisp(env, name, pace)
    }
}
