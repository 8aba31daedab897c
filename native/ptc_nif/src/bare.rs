//! A plain loop over the NIF interface, for the benchmarks: what a `map` with an object is held against.

use crate::raw::{Raw, Terms};
use rustler::{Env, NifResult, Term};

/// The loop is never left.
const MOST_ROWS: usize = 10_000;

/// The map `id`, `label`, `value` of each map of a proper list.
#[rustler::nif]
fn bare_objects<'a>(env: Env<'a>, rows: Term<'a>) -> NifResult<Term<'a>> {
    let _clock = crate::clock::start("bare_objects");
    let terms = Terms { env };
    let text = |name: &str| terms.make_binary(name.as_bytes());
    let from = ["id", "name", "amount"].map(text);
    let to = ["id", "label", "value"].map(text);
    let mut made = Vec::new();
    let mut rest = Raw::from(rows);
    while let Some((row, tail)) = terms.uncons(rest) {
        let get = |key| terms.map_get(row, key).ok_or(rustler::Error::BadArg);
        let values = [get(from[0])?, get(from[1])?, get(from[2])?];
        if made.len() == MOST_ROWS {
            return Err(rustler::Error::BadArg);
        }
        made.push(terms.make_map(&to, &values).ok_or(rustler::Error::BadArg)?);
        rest = tail;
    }
    Ok(terms.make_list(&made).term(env))
}
