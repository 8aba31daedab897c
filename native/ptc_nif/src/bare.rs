//! A plain loop over the NIF interface: the baseline in the benchmarks for a `map` with an object.

use crate::clock::nif;
use crate::raw::{Raw, Terms};
use rustler::{NifResult, Term};

/// Maximum number of rows; the loop cannot be suspended.
const MOST_ROWS: usize = 10_000;

nif! {
    /// Makes a map with `id`, `label` and `value` from each map of a proper list.
    fn bare_objects<'a>(env, rows: Term<'a>) -> NifResult<Term<'a>> {
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
}
