//! `normalize/2`: converts values to another form.

use crate::atoms;
use crate::heap::Beam;
use crate::schedule::{nif_pair, settle};
use ptc_term::meter::{Limits, Meter};
use ptc_type::normalize::{normalize as normalized, Form, Unfinished};
use rustler::{Atom, Encoder, Error, NifResult, Term};

fn form(name: Atom) -> NifResult<Form> {
    match name {
        name if name == atoms::keys() => Ok(Form::Keys),
        name if name == atoms::cache_key() => Ok(Form::CacheKey),
        name if name == atoms::public() => Ok(Form::Public),
        _ => Err(Error::BadArg),
    }
}

nif_pair! {
    /// Converts a value to the form with this name: `{:ok, value}`, `{:improper, tail}` for an improper list
    /// where it must be proper, or `:busy`.
    fn normalize, normalize_dirty<'a>(env, pace, term: Term<'a>, name: Atom) -> NifResult<Term<'a>> {
        let (mut heap, mut meter) = (Beam::new(env, 0), Meter::new(Limits::UNLIMITED, pace));
        let result = normalized(&mut heap, term.into(), form(name)?, &mut meter);
        settle(env, &meter);
        Ok(match result {
            Ok(value) => (atoms::ok(), value.term(env)).encode(env),
            Err(Unfinished::Improper(tail)) => (atoms::improper(), tail.term(env)).encode(env),
            Err(Unfinished::Stopped(_)) => atoms::busy().encode(env),
        })
    }
}
