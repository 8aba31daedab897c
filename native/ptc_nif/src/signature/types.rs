//! Type terms to other terms: `signature_schema/1`, `signature_public/1`.

use super::read::{read, Reading};
use super::schema::schema;
use super::words::Words;
use super::write::Writer;
use crate::atoms;
use crate::heap::Beam;
use crate::schedule::{nif_pair, whole, Pace, UNLIMITED};
use rustler::{Encoder, Env, Term};

/// `{:ok, schema}`, `:busy` or `{:unknown, term}`.
fn to_schema<'a>(env: Env<'a>, term: Term<'a>, pace: Pace) -> Term<'a> {
    let heap = Beam::new(env, 0);
    let (terms, words, mut meter) = (heap.terms, Words::new(env), whole(UNLIMITED, pace));
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
    let (terms, words, mut meter) = (heap.terms, Words::new(env), whole(UNLIMITED, pace));
    let reading = Reading::default();
    let Ok((read, id)) = read(&heap, &words, term.into(), reading, &mut meter) else {
        return atoms::busy().encode(env);
    };
    let mut writer = Writer::new(terms, &words);
    writer.write_public(&read);
    (atoms::ok(), writer.term(id).term(env)).encode(env)
}

nif_pair! {
    /// A type to JSON Schema.
    fn signature_schema, signature_schema_dirty<'a>(env, pace, term: Term<'a>) -> Term<'a> {
        to_schema(env, term, pace)
    }
}

nif_pair! {
    /// A type as LLMs and parent agents see it.
    fn signature_public, signature_public_dirty<'a>(env, pace, term: Term<'a>) -> Term<'a> {
        public(env, term, pace)
    }
}
