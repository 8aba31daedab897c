//! Operations on text.
//!
//! * this file: texts, and new ones
//! * `case`, `length`, `number`: one text to one value
//! * `join`: values as text; `json`: lists and maps as text; `value`: dates and decimals as text; `fixed`: numbers with so many digits
//!   after the point
//! * `part`: texts that are given or computed; `split`, `replace`: with them
//! * `ends`, `pattern`, `extract`: conditions on a text, and what is found in it
//!
//! A binary that is not UTF-8 is a string whose invalid bytes stay as they are, as in Elixir's `String`; no pattern
//! matches it.

mod case;
mod ends;
pub(super) mod extract;
mod fixed;
pub(super) mod join;
mod json;
pub(super) mod length;
pub(super) mod number;
mod part;
mod pattern;
mod replace;
pub(super) mod split;
mod value;

pub(super) use case::{Lower, Trim, Upper};
pub(super) use ends::{EndsWith, StartsWith};
pub(super) use extract::Extract;
pub(super) use join::{Text, ToText};
pub(super) use length::Length;
pub(super) use number::ToNumber;
pub(super) use pattern::Matches;
pub(super) use replace::Replace;
pub(super) use split::Split;

use super::subject::{check, of as input, plan as plan_input};
use super::subject::{FIELD, GIVEN as VALUE, VALUE as VALUE_FIELD};
use super::work::Work;
use super::{compare, Edition, Field, FieldKind, OpCode, Operation, Planned};
use crate::code::{Apply, Eval, Halt, Machine, NO_CONST};
use crate::compile::Plan;
use crate::fault::{Code, Errors};
use ptc_kernels::{counting, BYTES_A_UNIT, SHORT_TEXT};
use ptc_term::heap::{words_of_string, Heap, Kind};
use ptc_term::rooted;
use ptc_text::Ongoing;

/// The heading of these operations.
const FAMILY: &str = "Text";

/// The fields of an operation with nothing but an input.
const INPUT: &[Field] = &[FIELD, VALUE_FIELD];

/// What the entries of all operations with nothing but an input have in common.
macro_rules! input_only {
    () => {
        const FAMILY: &'static str = FAMILY;
        const EDITION: Edition = Edition::Two;
        const FIELDS: &'static [Field] = INPUT;

        fn check(plan: &Plan) -> Planned {
            check(plan)
        }

        fn plan(plan: &mut Plan) -> Planned {
            let (operands, key, mode) = plan_input(plan, VALUE_FIELD);
            plan.apply(operands, (key, NO_CONST, mode));
            Ok(())
        }
    };
}
use input_only;

/// Returns the input, which must be a string or `nil`; `None` for `nil`. Its bytes can be read without being counted.
#[inline]
fn text<H: Heap>(
    machine: &mut Machine<'_, H>,
    apply: &Apply,
) -> Result<Option<H::Term>, Halt<H::Term>> {
    let input = input(machine, apply)?;
    if machine.kind(input) == Kind::Nil {
        return Ok(None);
    }
    match input_string(machine, input)? {
        Some(text) => Ok(Some(text)),
        None => Err(requires(machine, apply.op, "a string", vec![input])),
    }
}

/// Same as `string` for the input. If the evaluation was suspended, it goes on with the string that it has begun with,
/// because making that may take long.
#[inline]
fn input_string<H: Heap>(
    machine: &mut Machine<'_, H>,
    term: H::Term,
) -> Result<Option<H::Term>, Halt<H::Term>> {
    let begun = match machine.begun() {
        Some(Work::Text(work)) => Some(work.text),
        Some(Work::LongNumber(work)) => Some(work.text),
        Some(Work::Split(work)) => Some(work.text),
        Some(Work::Extract(work)) => Some(work.text),
        _ => None,
    };
    match begun {
        Some(text) => Ok(Some(text)),
        None => string(machine, term),
    }
}

/// Returns the string that a term is; `None` if it is none. Where structs are values, an atom is the string of its name, and a
/// date or a time its ISO 8601 text.
#[inline]
fn string<H: Heap>(
    machine: &mut Machine<'_, H>,
    term: H::Term,
) -> Result<Option<H::Term>, Halt<H::Term>> {
    match machine.kind(term) {
        Kind::String => {}
        Kind::Other => return Ok(machine.text_of_value(term)?),
        _ => return Ok(None),
    }
    if machine.heap.bytes_to_copy(term) == 0 {
        return Ok(Some(term));
    }
    machine.consume_fuel_to_copy(term)?;
    Ok(Some(machine.heap.aligned(term)))
}

/// Work on a long text.
#[derive(Debug, Clone, PartialEq)]
pub struct OnText<T> {
    text: T,
    ongoing: Ongoing,
}

rooted!(OnText { terms: text; plain: ongoing });

impl<T> OnText<T> {
    fn new(text: T) -> Self {
        OnText {
            text,
            ongoing: Ongoing::default(),
        }
    }
}

#[cold]
fn requires<H: Heap>(
    machine: &Machine<'_, H>,
    op: OpCode,
    what: &'static str,
    terms: Vec<H::Term>,
) -> Halt<H::Term> {
    machine.fault_about(op, (Code::Requires, what), terms)
}
