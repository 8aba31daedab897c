//! Signatures as text: `signature_parse/1`, `signature_render/2`, `signature_lisp_key/1`.

use super::read::{read, Reading};
use super::words::Words;
use super::write::Writer;
use super::{meter_of_whole, settle};
use crate::atoms;
use crate::heap::Beam;
use crate::raw::{Raw, Terms};
use ptc_core::meter::Pace;
use ptc_core::signature::names::lisp_key;
use ptc_core::signature::{parse, render_type, Expected, KeyStyle, SyntaxError};
use rustler::{Atom, Binary, Encoder, Env, Term};

/// A text may be so long: a small type can stand for a huge one, since parts may be shared.
const LONGEST_TEXT: usize = 1 << 26;

/// Bytes of a name that are written anew for one unit of fuel.
const BYTES_OF_A_NAME: usize = 8;

/// `{:ok, {:signature, params, type}}` or `{:error, {line, column, line, column, expected}}`: the
/// place that is reported, then the place that is meant.
fn parsed<'a>(env: Env<'a>, text: &[u8]) -> Term<'a> {
    let terms = Terms { env };
    match parse(text) {
        Ok(signature) => {
            let words = Words::new(env);
            let types = &signature.types;
            let mut writer = Writer::new(terms, &words);
            writer.write(types);
            let mut name = |index: usize| Some(terms.make_binary(types.field(index).name));
            let params = writer.fields(types, signature.params, &mut name);
            let tag = Raw::from(atoms::signature().encode(env));
            let ok = Raw::from(atoms::ok().encode(env));
            let signature = terms.make_tuple(&[tag, params, writer.term(signature.returns)]);
            terms.make_tuple(&[ok, signature]).term(env)
        }
        Err(SyntaxError {
            column,
            deepest,
            expected,
        }) => {
            let line = |at: usize| 1 + text[..at].iter().filter(|byte| **byte == b'\n').count();
            let places = (line(column), column, line(deepest), deepest);
            (
                atoms::error(),
                (places.0, places.1, places.2, places.3, word(expected)),
            )
                .encode(env)
        }
    }
}

fn word(expected: Expected) -> Atom {
    match expected {
        Expected::Type => atoms::type_(),
        Expected::TypeWord => atoms::type_word(),
        Expected::FieldName => atoms::field_name(),
        Expected::FieldNameOrEnd => atoms::field_name_or_end(),
        Expected::CommaOrMapEnd => atoms::comma_or_map_end(),
        Expected::ListEnd => atoms::list_end(),
        Expected::ParamName => atoms::param_name(),
        Expected::ParamNameOrEnd => atoms::param_name_or_end(),
        Expected::CommaOrParamsEnd => atoms::comma_or_params_end(),
        Expected::Arrow => atoms::arrow(),
        Expected::End => atoms::end_(),
    }
}

/// A type as text, `:busy`, `:too_long`, or `{:unknown, term}`.
fn rendered<'a>(env: Env<'a>, term: Term<'a>, lisp: bool, pace: Pace) -> Term<'a> {
    let heap = Beam::new(env, 0);
    let (terms, words, mut meter) = (heap.terms, Words::new(env), meter_of_whole(pace));
    let reading = Reading::default();
    let Ok((read, id)) = read(&heap, &words, term.into(), reading, &mut meter) else {
        return atoms::busy().encode(env);
    };
    if let Some(unknown) = read.unknown.first() {
        return (atoms::unknown(), unknown.term(env)).encode(env);
    }
    let style = match lisp {
        true => KeyStyle::Lisp,
        false => KeyStyle::Declared,
    };
    // A slice's text is as long as it takes to write a slice's worth of types.
    let limit = match pace {
        Pace::Probe | Pace::Slice => LONGEST_TEXT >> 8,
        Pace::Quantum => LONGEST_TEXT,
    };
    match (render_type(&read.types, id, style, limit), pace) {
        (Ok(text), _) => terms.make_binary(&text).term(env),
        (Err(_), Pace::Probe | Pace::Slice) => atoms::busy().encode(env),
        (Err(_), Pace::Quantum) => atoms::too_long().encode(env),
    }
}

/// A name as Lisp programs read it, or `:busy`.
fn lisp<'a>(env: Env<'a>, name: Binary<'a>, pace: Pace) -> Term<'a> {
    let mut meter = meter_of_whole(pace);
    let heap = Beam::new(env, 0);
    let read = meter.consume_fuel(name.len() / BYTES_OF_A_NAME, &heap);
    if read.is_err() {
        return atoms::busy().encode(env);
    }
    settle(env, pace, meter.percent_of_slice());
    heap.terms.make_binary(&lisp_key(name.as_slice())).term(env)
}

macro_rules! text_nifs {
    ($parse:ident, $render:ident, $lisp:ident, $schedule:literal, $pace:expr) => {
        /// Text to a signature.
        #[rustler::nif(schedule = $schedule)]
        fn $parse<'a>(env: Env<'a>, text: Binary<'a>) -> Term<'a> {
            let _clock = crate::clock::start(stringify!($parse));
            parsed(env, text.as_slice())
        }

        /// A type to text.
        #[rustler::nif(schedule = $schedule)]
        fn $render<'a>(env: Env<'a>, term: Term<'a>, lisp: bool) -> Term<'a> {
            let _clock = crate::clock::start(stringify!($render));
            rendered(env, term, lisp, $pace)
        }

        /// A name as Lisp programs read it.
        #[rustler::nif(schedule = $schedule)]
        fn $lisp<'a>(env: Env<'a>, name: Binary<'a>) -> Term<'a> {
            let _clock = crate::clock::start(stringify!($lisp));
            lisp(env, name, $pace)
        }
    };
}

text_nifs!(
    signature_parse,
    signature_render,
    signature_lisp_key,
    "Normal",
    Pace::Slice
);
text_nifs!(
    signature_parse_dirty,
    signature_render_dirty,
    signature_lisp_key_dirty,
    "DirtyCpu",
    Pace::Quantum
);
