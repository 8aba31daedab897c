//! The atoms that the library uses; no atom is made from input.

use ptc_term::named::Named;
use rustler::types::atom::Atom;
use rustler::Env;
use std::sync::OnceLock;

/// The atom of a variant's name; there are only as many as the enum has variants.
pub fn named<T: Named>(env: Env, variant: T) -> Atom {
    of_name(env, variant.name())
}

/// Number of places of [`KNOWN`]: more than twice the names that are looked up often.
const PLACES: usize = 2048;
/// Number of places at which a name may be.
const TRIED: usize = 4;

/// A name by its place in memory, and its atom.
struct Known {
    at: usize,
    len: usize,
    atom: Atom,
}

/// The atoms that were looked up. A look-up in the table of the VM takes a lock, and as long as the rest of a small constant.
static KNOWN: [OnceLock<Known>; PLACES] = [const { OnceLock::new() }; PLACES];

/// The atom of a name that stands in the library.
pub fn of_name(env: Env, name: &'static str) -> Atom {
    let (at, len) = (name.as_ptr() as usize, name.len());
    let first = (at ^ (at >> 11)).wrapping_mul(31).wrapping_add(len);
    for place in (0..TRIED).map(|next| first.wrapping_add(next)) {
        match KNOWN[place % PLACES].get() {
            Some(known) if known.at == at && known.len == len => return known.atom,
            Some(_) => {}
            None => {
                let atom = looked_up(env, name);
                // Another thread may have taken the place.
                let _ = KNOWN[place % PLACES].set(Known { at, len, atom });
                return atom;
            }
        }
    }
    looked_up(env, name)
}

fn looked_up(env: Env, name: &'static str) -> Atom {
    Atom::from_str(env, name).unwrap_or(error())
}

rustler::atoms! {
    nil,
    true_ = "true",
    false_ = "false",
    ok,
    error,
    infinity,

    // replies and arguments of suspended work
    call,
    moves,
    moved_call,
    moved_calls,
    moved_all,
    calls,
    together,
    checked,
    unchecked,
    round,
    answers,
    unless_calls,
    at_most,
    answer,
    moved,
    failed,
    failed_moved,
    in_turn,
    ahead,
    replayed,
    replayed_all,
    unanswered,
    joined,
    text,
    text_moved,
    uncaught,
    last,
    more,
    long,
    limits,
    rejected,
    findings,
    plan,
    recipes,
    busy,
    problem,
    program,
    place,
    timeout,
    memory_exceeded,

    // weights, and forms of values
    opaque,
    improper,
    keys,
    cache_key,
    public,

    // of a tool
    name,

    // the reaper and its messages
    reaper = "Elixir.PtcRunner.Native.Reaper",
    orphans,
    gone,

    // spellings of names
    atom,
    struct_ = "__struct__",
    lisp_keyword = "Elixir.PtcRunner.Lisp.Keyword",

    // results of the JSON writer
    partial,
    foreign,
    not_utf8,

    // stages of errors
    parse,
    validation,
    execution,
    expensive_to_inspect,
    inside,
    at,

    // errors in a text
    unexpected_token,
    unexpected_end,
    too_deep,
    integer_too_long,
    program_missing,
    program_not_map,

    // answers
    no_json_found,
    invalid_json,
    other,
    halt,
    mistake,
    syntax,
    prose,
    fork,
    tag,
    none,
    not_wrapped,
    not_an_object,
    rule,
    hyphens,
    coerced,
    declared,
    plain,
    invalid,
    undecided,
    unfit,

    // kinds of values
    null,

    // types of a signature, as terms
    signature,
    any,
    string,
    map,
    int,
    float,
    bool,
    keyword,
    datetime,
    optional,
    list,
    closed_map,

    // structs that coercion handles
    date_time = "Elixir.DateTime",
    naive_date_time = "Elixir.NaiveDateTime",
    date = "Elixir.Date",
    time = "Elixir.Time",

    // results of a walk over a value
    path,
    message,
    inspect,
    kind,
    unexpected,
    missing,
    refused,
    doubled,
    answered,
    unsupported,
    unknown,
    ask,
    too_much,
    texts,
    decode,
    too_long,
}
