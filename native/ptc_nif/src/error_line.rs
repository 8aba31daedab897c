//! `error_line/4`: validation errors as one line.

use crate::atoms;
use crate::heap::Beam;
use crate::raw::Raw;
use crate::schedule::{nif_pair, settle};
use ptc_term::meter::{Limits, Meter};
use ptc_type::error_terms::{error_line as written, Extent, Unwritten};
use rustler::{Encoder, Term};

nif_pair! {
    /// A line of at most this many errors and bytes, and the number of further errors: `{:ok, line}`, `:other`
    /// if the errors are not those of a validation, or `:busy`.
    fn error_line, error_line_dirty<'a>(env, pace, errors: Term<'a>, most: usize, bytes: usize, omitted: usize) -> Term<'a> {
        let extent = Extent { errors: most, bytes, omitted };
        let (heap, mut meter) = (Beam::new(env, 0), Meter::whole(Limits::UNLIMITED, pace));
        let keys = [atoms::path(), atoms::message()].map(|atom| Raw::from(atom.encode(env)));
        match written(&heap, keys, errors.into(), extent, &mut meter) {
            Ok(line) => {
                settle(env, &meter);
                (atoms::ok(), heap.terms.make_binary(&line).term(env)).encode(env)
            }
            Err(Unwritten::Other) => atoms::other().encode(env),
            Err(Unwritten::Stopped) => atoms::busy().encode(env),
        }
    }
}
