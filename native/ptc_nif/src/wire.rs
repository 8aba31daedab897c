//! Results as terms: what the Elixir side makes its answers and messages of.

use crate::atoms;
use crate::heap::Beam;
use crate::raw::Raw;
use ptc_core::fault::{Code, Fault};
use ptc_core::json::JsonError;
use rustler::types::atom::Atom;
use rustler::{Encoder, Env, Term};

/// `{:error, {:parse, {kind, position}}}` and the like.
pub fn json_error<'a>(env: Env<'a>, error: JsonError) -> Term<'a> {
    let detail = json_error_detail(env, error);
    (atoms::error(), (atoms::parse(), detail)).encode(env)
}

/// `{kind, position}`, or `{kind, limit, position}` where a limit was crossed.
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

/// `{:error, {stage, code, op, field, terms}}`; `op` and `field` are strings or nil. One that must
/// be shown with care is `{:error, {:expensive_to_inspect, {stage, …}}}`.
pub fn fault<'a>(heap: &Beam<'a>, stage: Atom, fault: Fault<Raw<'a>>) -> Term<'a> {
    let env = heap.terms.env;
    let op = fault.op.map(|op| op.name());
    let terms = heap.terms.make_list(&fault.terms).term(env);
    let code = code(fault.code);
    let found = (stage, code, op, fault.field, terms);
    match fault.expensive_to_inspect {
        true => (atoms::error(), (atoms::expensive_to_inspect(), found)).encode(env),
        false => (atoms::error(), found).encode(env),
    }
}

fn code(code: Code) -> Atom {
    match code {
        Code::NodeNotAMap => atoms::node_not_a_map(),
        Code::MissingOp => atoms::missing_op(),
        Code::UnknownOp => atoms::unknown_op(),
        Code::FieldMissing => atoms::field_missing(),
        Code::FieldNotString => atoms::field_not_string(),
        Code::FieldNotList => atoms::field_not_list(),
        Code::FieldNotMap => atoms::field_not_map(),
        Code::FieldNotInteger => atoms::field_not_integer(),
        Code::FieldNegative => atoms::field_negative(),
        Code::FieldNotStrings => atoms::field_not_strings(),
        Code::UnknownOrder => atoms::unknown_order(),
        Code::FieldAndPath => atoms::field_and_path(),
        Code::NeitherFieldNorPath => atoms::neither_field_nor_path(),
        Code::TooDeep => atoms::too_deep(),
        Code::NoInput => atoms::no_input(),
        Code::NeedsList => atoms::needs_list(),
        Code::NeedsMap => atoms::needs_map(),
        Code::NeedsListOfMaps => atoms::needs_list_of_maps(),
        Code::NeedsNumbers => atoms::needs_numbers(),
        Code::NeedsMapValues => atoms::needs_map_values(),
        Code::NeedsListValues => atoms::needs_list_values(),
        Code::NeedsNumericOperands => atoms::needs_numeric_operands(),
        Code::DivisionByZero => atoms::division_by_zero(),
        Code::NeedsValueAndPrecision => atoms::needs_value_and_precision(),
        Code::PrecisionOutOfRange => atoms::precision_out_of_range(),
        Code::BadArith => atoms::bad_arith(),
        Code::PathThroughNonMap => atoms::path_through_non_map(),
        Code::NoTypeName => atoms::no_type_name(),
        Code::ContextKey => atoms::context_key(),
        Code::MemoryKey => atoms::memory_key(),
        Code::LetName => atoms::let_name(),
        Code::NotACount => atoms::not_a_count(),
        Code::UncheckedNotList => atoms::unchecked_not_list(),
        Code::UncheckedNotMap => atoms::unchecked_not_map(),
    }
}
