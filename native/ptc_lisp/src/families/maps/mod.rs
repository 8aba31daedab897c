//! Maps.
//!
//! * `get`: `get`, `get-in`, `select-keys`
//! * `change`: `assoc`, `assoc-in`, `dissoc`; [`steps`], [`put_in`] and [`put_at`] also for `update` and `update-in`
//! * `make`: `merge`, `zipmap`, `hash-map`
//! * `sorted`: `keys`, `vals`, `entries`
//! * [`entries`]: how a map gets more entries

mod change;
pub mod entries;
mod get;
mod make;
mod sorted;

pub use change::{put_at, put_in, steps, Steps};

use super::flow::Call;
use super::seqs::pair_of;
use crate::code::{Eval, Halt, Machine};
use crate::exec::checks::failed;
use crate::table::Builtin;
use crate::values::{class, make_keyword, Class};
use ptc_term::heap::Heap;

/// Evaluates a built-in of the family.
pub fn eval<H: Heap>(m: &mut Machine<'_, H>, builtin: Builtin, arguments: &[H::Term]) -> Eval<H> {
    let call = Call { builtin, arguments };
    match (builtin, arguments) {
        (Builtin::Get, &[coll, key]) => get::get(m, call, (coll, key, m.heap.nil())),
        (Builtin::Get, &[coll, key, default]) => get::get(m, call, (coll, key, default)),
        (Builtin::GetIn, &[coll, path]) => get::get_in(m, call, (coll, path, m.heap.nil())),
        (Builtin::GetIn, &[coll, path, default]) => get::get_in(m, call, (coll, path, default)),
        (Builtin::SelectKeys, &[map, keys]) => get::select_keys(m, call, (map, keys)),
        (Builtin::Assoc, given) => change::assoc(m, call, given),
        (Builtin::AssocIn, &[coll, path, value]) => change::assoc_in(m, call, (coll, path, value)),
        (Builtin::Dissoc, given) => change::dissoc(m, call, given),
        (Builtin::Merge, given) => make::merge(m, call, given),
        (Builtin::Zipmap, &[keys, values]) => make::zipmap(m, call, (keys, values)),
        (Builtin::HashMap | Builtin::ArrayMap, given) => make::hash_map(m, call, given),
        (Builtin::Keys | Builtin::Vals | Builtin::Entries, &[map]) => sorted::parts(m, call, map),
        (Builtin::ExMessage, &[error]) => {
            let key = make_keyword(m, "message");
            get::get(m, call, (error, key, m.heap.nil()))
        }
        (Builtin::Key | Builtin::Val, &[pair]) => match pair_of(m, pair) {
            Some((key, _)) if builtin == Builtin::Key => Ok(key),
            Some((_, value)) => Ok(value),
            None => Err(call.refuse()),
        },
        _ => Err(call.refuse()),
    }
}

/// Returns the error of a look-up whose key comes first, if that is what the arguments look like.
pub fn swapped<H: Heap>(
    m: &Machine<'_, H>,
    builtin: Builtin,
    arguments: &[H::Term],
) -> Option<Halt<H>> {
    let &[first, second, ..] = arguments else {
        return None;
    };
    let is_swapped = matches!(builtin, Builtin::Get | Builtin::GetIn)
        && class(m, second) == Class::Map
        && !matches!(class(m, first), Class::Map | Class::Nil);
    is_swapped.then(|| failed("swapped", builtin, &[first, second]))
}
