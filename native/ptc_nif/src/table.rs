//! `operations/1`: the table of operations, for the schema functions.

use crate::clock::nif;
use crate::heap::Beam;
use ptc_program::edition::Edition;
use ptc_program::ops::listing;
use rustler::{Error, NifResult, Term};

nif! {
    /// `[{name, family, about, types, shape, [{field, kind, presence, about, values, choices}]}]`, the operations of an edition in the
    /// order for readers.
    fn operations<'a>(env, edition: u32) -> NifResult<Term<'a>> {
        let edition = Edition::of_number(edition).ok_or(Error::BadArg)?;
        Ok(listing(&mut Beam::new(env, 0), edition).term(env))
    }
}
