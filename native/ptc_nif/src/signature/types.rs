//! Type terms to other terms: `signature_schema/1`, `signature_public/1`.

use super::meter_of_whole;
use super::read::{read, Reading};
use super::schema::schema;
use super::words::Words;
use super::write::Writer;
use crate::atoms;
use crate::heap::Beam;
use ptc_core::meter::Pace;
use rustler::{Encoder, Env, Term};

/// `{:ok, schema}`, `:busy` or `{:unknown, term}`.
fn to_schema<'a>(env: Env<'a>, term: Term<'a>, pace: Pace) -> Term<'a> {
    let heap = Beam::new(env, 0);
    let (terms, words, mut meter) = (heap.terms, Words::new(env), meter_of_whole(pace));
    let reading = Reading::default();
    let Ok((read, id)) = read(&heap, &words, term.into(), reading, &mut meter) else {
        return atoms::busy().encode(env);
    };
    match schema(terms, &read, id) {
        Ok(schema) => (atoms::ok(), schema.term(env)).encode(env),
        Err(number) => {
            let unknown = read.unknown[number as usize].term(env);
            (atoms::unknown(), unknown).encode(env)
        }
    }
}

/// The type without its firewalled fields, as `{:ok, type}`, or `:busy`.
fn public<'a>(env: Env<'a>, term: Term<'a>, pace: Pace) -> Term<'a> {
    let heap = Beam::new(env, 0);
    let (terms, words, mut meter) = (heap.terms, Words::new(env), meter_of_whole(pace));
    let reading = Reading::default();
    let Ok((read, id)) = read(&heap, &words, term.into(), reading, &mut meter) else {
        return atoms::busy().encode(env);
    };
    let mut writer = Writer::new(terms, &words);
    writer.write_public(&read);
    (atoms::ok(), writer.term(id).term(env)).encode(env)
}

macro_rules! type_nifs {
    ($schema:ident, $public:ident, $schedule:literal, $pace:expr) => {
        /// A type to JSON Schema.
        #[rustler::nif(schedule = $schedule)]
        fn $schema<'a>(env: Env<'a>, term: Term<'a>) -> Term<'a> {
            let _clock = crate::clock::start(stringify!($schema));
            to_schema(env, term, $pace)
        }

        /// A type as LLMs and parent agents see it.
        #[rustler::nif(schedule = $schedule)]
        fn $public<'a>(env: Env<'a>, term: Term<'a>) -> Term<'a> {
            let _clock = crate::clock::start(stringify!($public));
            public(env, term, $pace)
        }
    };
}

type_nifs!(signature_schema, signature_public, "Normal", Pace::Slice);
type_nifs!(
    signature_schema_dirty,
    signature_public_dirty,
    "DirtyCpu",
    Pace::Quantum
);
