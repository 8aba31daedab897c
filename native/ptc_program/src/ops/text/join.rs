//! `text`, `to_text`: values as text.

use super::fixed::{fixed, MOST_PLACES};
use super::json::{put_json, put_scalar};
use super::value::put_value_text;
use super::*;
use crate::code::{Instr, Slot};
use crate::shape::{OpShape, TextOf};
use ptc_json::{Node, Shape};
use ptc_kernels::Walk;
use ptc_term::number::Number;

pub(in super::super) struct Text;
pub(in super::super) struct ToText;

/// Mode of `text` over the items of a list that is computed.
const OF_LIST: u32 = 1;

impl Operation for Text {
    const NAME: &'static str = "text";
    const FAMILY: &'static str = FAMILY;
    const ABOUT: &'static str =
        "The parts as text, joined; null is empty, lists and objects are JSON.";
    const TYPES: &'static str = "any values to text";
    const SHAPE: OpShape = OpShape::Text(TextOf::Several);
    const EDITION: Edition = Edition::Two;
    const FIELDS: &'static [Field] = &[
        Field::required(
            "parts",
            FieldKind::Parts,
            "what is joined: a list, or an operation that gives one",
        ),
        Field::optional(
            "separator",
            FieldKind::String,
            "what stands between the parts; nothing, if it is not given",
        ),
    ];

    fn plan(plan: &mut Plan) -> Planned {
        let computed = plan.field("parts");
        if let Some(list) = computed.filter(|parts| plan.is_operation(*parts)) {
            return plan_list(plan, list);
        }
        let parts = plan.list("parts")?.unwrap_or_default();
        let count = parts.len() as u32;
        // Only what is no constant can be no text, can fail and can have effects.
        let is_computed = |plan: &Plan, part| matches!(plan.shape(part), Shape::Map | Shape::List);
        let last = parts.iter().rposition(|part| is_computed(plan, *part));
        for (index, part) in parts.into_iter().enumerate() {
            plan.template(part, plan.scope);
            if is_computed(plan, part) && Some(index) < last {
                plan.expect();
            }
        }
        let separator = plan.field("separator");
        let separator = separator.map_or(NO_CONST, |separator| plan.constant(separator));
        plan.apply(count, (separator, NO_CONST, 0));
        Ok(())
    }

    /// Checks that a part is a text before the next one is evaluated.
    fn expect<H: Heap>(machine: &mut Machine<'_, H>, _input: Slot) -> Result<(), Halt<H::Term>> {
        let part = machine.top();
        match machine.kind(part) {
            Kind::Nil | Kind::String | Kind::Bool | Kind::Number => Ok(()),
            _ => put_part(machine, OpCode::Text, part, &mut Vec::new()),
        }
    }

    fn eval<H: Heap>(machine: &mut Machine<'_, H>, apply: &Apply) -> Eval<H> {
        if apply.mode == OF_LIST {
            return joined(machine, apply);
        }
        machine.consume_fuel(apply.operands as usize)?;
        let parts = machine.operands(apply).to_vec();
        let mut out = Vec::new();
        for (index, part) in parts.iter().enumerate() {
            if index > 0 && apply.key != NO_CONST {
                put_text(machine, machine.constant(apply.key), &mut out)?;
            }
            put_part(machine, apply.op, *part, &mut out)?;
        }
        Ok(machine.make_text(&out)?)
    }
}

/// Plans the text of the items of a computed list.
fn plan_list(plan: &mut Plan, list: Node) -> Planned {
    let separator = plan.field("separator");
    let separator = separator.map_or(NO_CONST, |separator| plan.constant(separator));
    let slot = plan.take_slot();
    plan.visit(list, plan.scope, false);
    plan.emit(Instr::Store(slot));
    plan.apply_to(slot, 0, (separator, NO_CONST, OF_LIST));
    Ok(())
}

/// A text of the items of a list that is being written.
#[derive(Debug, Clone, PartialEq)]
pub struct Joined<T> {
    walk: Walk<T>,
    out: Vec<u8>,
    begun: bool,
}

rooted!(Joined { states: walk; plain: out, begun });

/// Returns the items of a list as text, joined.
fn joined<H: Heap>(machine: &mut Machine<'_, H>, apply: &Apply) -> Eval<H> {
    let begin = |machine: &mut Machine<'_, H>| Joined {
        walk: Walk::over(machine.slot(apply.input)),
        out: Vec::new(),
        begun: false,
    };
    machine.resumable(begin, |machine, Joined { walk, out, begun }| {
        machine.each_item(apply, walk, |machine, item| {
            let before = out.len();
            let put = match *begun && apply.key != NO_CONST {
                true => put_text(machine, machine.constant(apply.key), out),
                false => Ok(()),
            };
            let put = put.and_then(|()| put_part(machine, apply.op, item, out));
            match put {
                Ok(()) => *begun = true,
                Err(_) => out.truncate(before),
            }
            put
        })?;
        Ok(machine.make_text(out)?)
    })
}

impl Operation for ToText {
    const NAME: &'static str = "to_text";
    const FAMILY: &'static str = FAMILY;
    const ABOUT: &'static str =
        "The value as text: a text itself, else JSON; with decimals, a number with so many digits after the point.";
    const TYPES: &'static str = "any value to text; null to null";
    const SHAPE: OpShape = OpShape::Text(TextOf::Any);
    const EDITION: Edition = Edition::Two;
    const FIELDS: &'static [Field] = &[
        Field::optional(
            "decimals",
            FieldKind::Places,
            "how many digits stand after the point, rounded half away from zero",
        )
        .values("0 to 20")
        .must_be("'decimals' must be an integer from 0 to 20"),
        FIELD,
        VALUE_FIELD,
    ];

    fn check(plan: &Plan) -> Planned {
        check(plan)
    }

    fn plan(plan: &mut Plan) -> Planned {
        let (operands, key, mode) = plan_input(plan, VALUE_FIELD);
        let decimals = plan.field("decimals");
        let decimals = decimals.map_or(NO_CONST, |decimals| plan.constant(decimals));
        plan.apply(operands, (key, decimals, mode));
        Ok(())
    }

    fn eval<H: Heap>(machine: &mut Machine<'_, H>, apply: &Apply) -> Eval<H> {
        let input = input(machine, apply)?;
        if machine.kind(input) == Kind::Nil {
            return Ok(input);
        }
        if apply.value != NO_CONST {
            let places = machine.constant(apply.value);
            let places = match machine.number(places)? {
                Some(Number::Int(places)) => places.clamp(0, MOST_PLACES) as usize,
                _ => 0,
            };
            return fixed(machine, apply.op, input, places);
        }
        if machine.kind(input) == Kind::String {
            return Ok(input);
        }
        let mut out = Vec::new();
        put_part(machine, apply.op, input, &mut out)?;
        Ok(machine.make_text(&out)?)
    }
}

/// Writes a value as text; `nil` is empty.
pub(super) fn put_part<H: Heap>(
    machine: &mut Machine<'_, H>,
    op: OpCode,
    part: H::Term,
    out: &mut Vec<u8>,
) -> Result<(), Halt<H::Term>> {
    if machine.kind(part) == Kind::Nil {
        return Ok(());
    }
    if let Some(text) = string(machine, part)? {
        return put_text(machine, text, out);
    }
    match put_value_text(machine, part, out)? {
        Ok(true) => return Ok(()),
        Ok(false) => {}
        Err(code) => return Err(machine.fault(op, code, vec![part])),
    }
    let is_put = match put_scalar(machine, part, out)? {
        Some(is_put) => is_put,
        None => put_json(machine, part, out)?,
    };
    match is_put {
        true => Ok(()),
        false => Err(machine.fault(op, Code::NoTypeName, vec![part])),
    }
}

/// Writes a string as it is.
fn put_text<H: Heap>(
    machine: &mut Machine<'_, H>,
    text: H::Term,
    out: &mut Vec<u8>,
) -> Result<(), Halt<H::Term>> {
    let length = machine.heap.byte_length(text).unwrap_or(0);
    machine.consume_fuel_at_once(1 + length / BYTES_A_UNIT)?;
    machine.check_heap_limit(words_of_string(out.len() + length))?;
    out.extend_from_slice(machine.heap.bytes(text).unwrap_or_default());
    Ok(())
}
