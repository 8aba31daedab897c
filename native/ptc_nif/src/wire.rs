//! Results and errors as terms; the Elixir side builds its answers and messages from them.

use crate::atoms;
use crate::heap::Beam;
use crate::raw::{Raw, Terms};
use ptc_json::JsonError;
use ptc_term::stop::Stop;
use ptc_vm::program::Pc;
use ptc_vm::Report;
use rustler::types::atom::Atom;
use rustler::{Encoder, Env, Term};

/// For example `{:error, {:parse, {kind, position}}}`.
pub fn json_error<'a>(env: Env<'a>, error: JsonError) -> Term<'a> {
    let detail = json_error_detail(env, error);
    (atoms::error(), (atoms::parse(), detail)).encode(env)
}

/// `{kind, position}`, or `{kind, limit, position}` if a limit was exceeded.
pub fn json_error_detail<'a>(env: Env<'a>, error: JsonError) -> Term<'a> {
    match error {
        JsonError::UnexpectedToken(at) => (atoms::unexpected_token(), at).encode(env),
        JsonError::UnexpectedEnd(at) => (atoms::unexpected_end(), at).encode(env),
        JsonError::TooDeep { limit, position } => (atoms::too_deep(), limit, position).encode(env),
        JsonError::IntegerTooLong { limit, position } => {
            (atoms::integer_too_long(), limit, position).encode(env)
        }
    }
}

/// `{:error, {stage, code, name, field, terms}}`; `name` and `field` are strings or nil. If the terms are
/// expensive to inspect, `{:error, {:expensive_to_inspect, {stage, …}}}`. Of an error in a worker of a parallel form,
/// `{:error, {:inside, form, {stage, …}}}`. If the language tells places, `{:error, {:at, addresses, {…}}}`.
pub fn fault<'a>(heap: &Beam<'a>, stage: Atom, report: Report<Raw<'a>>) -> Term<'a> {
    let env = heap.terms.env;
    let terms = heap.terms.make_list(&report.terms).term(env);
    let code = atoms::of_name(env, report.code);
    let (name, field) = (report.name.as_deref(), report.field.as_deref());
    let found = (stage, code, name, field, terms);
    let found = match report.expensive_to_inspect {
        true => (atoms::expensive_to_inspect(), found).encode(env),
        false => found.encode(env),
    };
    let found = match report.inside {
        Some(form) => (atoms::inside(), form, found).encode(env),
        None => found,
    };
    let found = match &*report.at {
        [] => found,
        at => (atoms::at(), at, found).encode(env),
    };
    (atoms::error(), found).encode(env)
}

/// `:uncaught`, or `{:uncaught, addresses}` if the language tells places.
pub fn uncaught<'a>(env: Env<'a>, at: &[Pc]) -> Term<'a> {
    match at {
        [] => atoms::uncaught().encode(env),
        at => (atoms::uncaught(), at).encode(env),
    }
}

/// `{:call, state, terms, tool, args, left, weight, address, round}`: a run that waits for its tool. rustler encodes tuples of seven.
pub fn call<'a>(env: Env<'a>, parts: [Term<'a>; 8]) -> Term<'a> {
    let [state, terms, tool, args, left, weight, pc, round] = parts.map(Raw::from);
    let tag = Raw::from(atoms::call().encode(env));
    let all = [tag, state, terms, tool, args, left, weight, pc, round];
    Terms { env }.make_tuple(&all).term(env)
}

/// `{:ahead, state, terms, tool, args, left, address, round}`: the same, with the arguments of the calls that follow in a list.
pub fn ahead<'a>(env: Env<'a>, parts: [Term<'a>; 7]) -> Term<'a> {
    let [state, terms, tool, args, left, pc, round] = parts.map(Raw::from);
    let tag = Raw::from(atoms::ahead().encode(env));
    let all = [tag, state, terms, tool, args, left, pc, round];
    Terms { env }.make_tuple(&all).term(env)
}

/// `{:calls, state, terms, tool, args, left, built, address}`: a run that waits for its tool, and calls it again in the rounds that follow.
pub fn calls<'a>(env: Env<'a>, parts: [Term<'a>; 7]) -> Term<'a> {
    let [state, terms, tool, args, left, built, pc] = parts.map(Raw::from);
    let tag = Raw::from(atoms::calls().encode(env));
    let all = [tag, state, terms, tool, args, left, built, pc];
    Terms { env }.make_tuple(&all).term(env)
}

/// `{:error, :timeout | :memory_exceeded}` for a stop that is final. No process receives the reply to abandoned work.
pub fn stopped(env: Env, stop: Stop) -> Term {
    let reason = match stop {
        Stop::MemoryExceeded => atoms::memory_exceeded(),
        Stop::SliceOver | Stop::DeadlinePassed | Stop::Abandoned => atoms::timeout(),
    };
    (atoms::error(), reason).encode(env)
}
