//! `error_line/4`: validation errors as one line.

use crate::atoms;
use crate::heap::Beam;
use crate::raw::Raw;
use crate::schedule::{nif_pair, settle, whole, Pace};
use ptc_core::error_line::{error_line as written, Extent, Unwritten, LONGEST_LINE};
use ptc_core::meter::Limits;
use rustler::{Encoder, Env, Term};

/// The line; `omitted` errors follow those of the list. `None` if it takes longer than `pace` allows, or if
/// the errors are not those of a validation.
pub fn error_text<'a>(
    env: Env<'a>,
    errors: Raw<'a>,
    omitted: usize,
    pace: Pace,
) -> Option<Raw<'a>> {
    let extent = Extent {
        errors: usize::MAX,
        bytes: LONGEST_LINE,
        omitted,
    };
    write(env, errors, extent, pace).ok()
}

fn write<'a>(
    env: Env<'a>,
    errors: Raw<'a>,
    extent: Extent,
    pace: Pace,
) -> Result<Raw<'a>, Unwritten> {
    let (heap, mut meter) = (Beam::new(env, 0), whole(Limits::UNLIMITED, pace));
    let keys = [atoms::path(), atoms::message()].map(|atom| Raw::from(atom.encode(env)));
    let line = written(&heap, keys, errors, extent, &mut meter)?;
    settle(env, &meter);
    Ok(heap.terms.make_binary(&line))
}

nif_pair! {
    /// A line of at most this many errors and bytes, and the number of further errors: `{:ok, line}`, `:other`
    /// if the errors are not those of a validation, or `:busy`.
    fn error_line, error_line_dirty<'a>(env, pace, errors: Term<'a>, most: usize, bytes: usize, omitted: usize) -> Term<'a> {
        let extent = Extent { errors: most, bytes, omitted };
        match write(env, errors.into(), extent, pace) {
            Ok(text) => (atoms::ok(), text.term(env)).encode(env),
            Err(Unwritten::Other) => atoms::other().encode(env),
            Err(Unwritten::Stopped) => atoms::busy().encode(env),
        }
    }
}
