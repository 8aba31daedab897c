//! Converts type terms to other terms: `signature_schema/1`, `signature_public/1`.

use super::type_atoms::type_atoms;
use crate::atoms;
use crate::heap::Beam;
use crate::raw::Raw;
use crate::schedule::{nif_pair, Pace};
use ptc_term::meter::{Limits, Meter};
use ptc_type::{read, schema, Read, ReadOptions, TypeId, TypeTerms};
use rustler::{Encoder, Env, Term};

/// Units of fuel for what is made of one type or one field: a map of two keys, or a list cell and an entry.
const MADE: usize = 20;

/// Reads a type and calls `make`; returns `:busy` if both take too long.
fn made<'a>(
    env: Env<'a>,
    term: Term<'a>,
    pace: Pace,
    make: impl FnOnce(&mut Beam<'a>, &Read<Raw<'a>>, TypeId) -> Term<'a>,
) -> Term<'a> {
    let mut heap = Beam::new(env, 0);
    let mut meter = Meter::whole(Limits::UNLIMITED, pace);
    let reading = ReadOptions {
        names: true,
        ..ReadOptions::default()
    };
    let read = read(&heap, term.into(), reading, &mut meter).ok();
    let counted = read.filter(|(read, _)| {
        let parts = read.types.all().len() + read.names.len();
        meter.consume_fuel(MADE * parts, &heap).is_ok()
    });
    match counted {
        Some((read, id)) => make(&mut heap, &read, id),
        None => atoms::busy().encode(env),
    }
}

nif_pair! {
    /// Converts a type to JSON Schema: `{:ok, schema}`, `:busy` or `{:unknown, term}`.
    fn signature_schema, signature_schema_dirty<'a>(env, pace, term: Term<'a>) -> Term<'a> {
        made(env, term, pace, |heap, read, id| match schema(heap, read, id) {
            Ok(schema) => (atoms::ok(), schema.term(env)).encode(env),
            Err(number) => {
                let unknown = read.unknown.get(number as usize).map(|term| term.term(env));
                (atoms::unknown(), unknown).encode(env)
            }
        })
    }
}

nif_pair! {
    /// Removes the firewalled fields, which LLMs and parent agents must not see: `{:ok, type}` or `:busy`.
    fn signature_public, signature_public_dirty<'a>(env, pace, term: Term<'a>) -> Term<'a> {
        made(env, term, pace, |heap, read, id| {
            let public = TypeTerms::public(heap, &type_atoms(env), read);
            (atoms::ok(), public.term(id).term(env)).encode(env)
        })
    }
}
