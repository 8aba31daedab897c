//! `operations/1` and `built_ins/0`: the tables of PTC-JSON and of PTC-Lisp, for the schema functions and for documents.

use crate::clock::nif;
use crate::heap::Beam;
use ptc_lisp::about::SECTIONS;
use ptc_program::edition::Edition;
use ptc_program::ops::listing;
use rustler::{Encoder, Error, NifResult, Term};

nif! {
    /// `[{name, family, about, types, shape, [{field, kind, presence, about, values, choices}]}]`, the operations of an edition in the
    /// order for readers.
    fn operations<'a>(env, edition: u32) -> NifResult<Term<'a>> {
        let edition = Edition::of_number(edition).ok_or(Error::BadArg)?;
        Ok(listing(&mut Beam::new(env, 0), edition).term(env))
    }
}

nif! {
    /// `[{section, [{name, arguments, about}]}]`, the built-ins of PTC-Lisp in the order for readers.
    fn built_ins<'a>(env) -> NifResult<Term<'a>> {
        let section = |(section, all): &(&str, &[ptc_lisp::about::About])| {
            let row = |(builtin, arguments, about): &ptc_lisp::about::About| {
                (builtin.name(), *arguments, *about).encode(env)
            };
            let all: Vec<Term> = all.iter().map(row).collect();
            (*section, all).encode(env)
        };
        let sections: Vec<Term> = SECTIONS.iter().map(section).collect();
        Ok(sections.encode(env))
    }
}
