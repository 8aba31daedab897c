//! Texts that an operation is given or computes: `by`, `find`, `with`.

use super::*;
use crate::code::{Demand, Instr, Slot};
use crate::compile::Label;
use ptc_json::{Node, Shape};

/// Mode of the check of the input: its value is the input.
const CHECK: u32 = 2;
/// Mode of an operation whose input has been checked, and whose operands are its texts.
const CHECKED: u32 = 4;

/// Returns whether a part is a constant text.
fn is_constant(plan: &Plan, part: Node) -> bool {
    plan.shape(part) == Shape::String
}

/// Plans an operation on its input with these texts, which must be there. If all are constants, they are consecutive
/// ones; else they are operands, evaluated if the input is not `nil`.
pub(super) fn plan_parts(plan: &mut Plan, names: &[&'static str]) -> Planned {
    let missing = plan.nil();
    let parts: Vec<Node> = (names.iter())
        .map(|name| plan.field(name).unwrap_or(missing))
        .collect();
    let (operands, key, mode) = plan_input(plan, VALUE_FIELD);
    if parts.iter().all(|part| is_constant(plan, *part)) {
        let first = plan.constants(parts.into_iter());
        plan.apply(operands, (key, first, mode));
        return Ok(());
    }
    plan.apply(operands, (key, NO_CONST, mode | CHECK));
    let (slot, none) = begin(plan);
    for (index, part) in parts.iter().enumerate() {
        if is_constant(plan, *part) {
            let id = plan.constant(*part);
            plan.emit(Instr::Const(id));
            continue;
        }
        plan.visit(*part, plan.scope, false);
        if index + 1 < parts.len() {
            plan.expect();
        }
    }
    plan.emit(Instr::Apply(Apply {
        op: plan.op,
        input: slot,
        operands: parts.len() as u32,
        key: NO_CONST,
        value: NO_CONST,
        mode: CHECKED,
        demand: Demand::All,
    }));
    let end = plan.label();
    plan.jump(end);
    plan.mark(none);
    plan.emit(Instr::Nil);
    plan.mark(end);
    Ok(())
}

/// Keeps the input that has been checked, and jumps to the label if it is `nil`.
fn begin(plan: &mut Plan) -> (Slot, Label) {
    let slot = plan.take_slot();
    let none = plan.label();
    plan.emit(Instr::Store(slot));
    plan.emit(Instr::Slot(slot));
    plan.jump_if(false, none);
    (slot, none)
}

/// What an evaluation is to do.
pub(super) enum TextsGiven<T> {
    /// Return this value.
    Value(T),
    /// Work on the input with these texts.
    Texts(T, Vec<T>),
}

/// Returns the input and the texts. `phrases`: what each text is called in errors, and what it is called if it must
/// not be empty.
pub(super) fn given<H: Heap>(
    machine: &mut Machine<'_, H>,
    apply: &Apply,
    phrases: &[Phrases],
) -> Result<TextsGiven<H::Term>, Halt<H::Term>> {
    if apply.mode & CHECKED != 0 {
        let input = machine.slot(apply.input);
        let texts = machine.operands(apply).to_vec();
        let texts: Result<_, _> = (texts.into_iter().zip(phrases))
            .map(|(text, phrases)| phrases.check(machine, apply.op, text))
            .collect();
        return Ok(TextsGiven::Texts(input, texts?));
    }
    let Some(input) = text(machine, apply)? else {
        return Ok(TextsGiven::Value(machine.heap.nil()));
    };
    if apply.mode & CHECK != 0 {
        return Ok(TextsGiven::Value(input));
    }
    let texts = machine.constants(apply.value, phrases.len() as u32);
    Ok(TextsGiven::Texts(input, texts.to_vec()))
}

/// What a text is called in errors.
pub(super) struct Phrases {
    /// `"a string in 'by'"`
    pub string: &'static str,
    /// `"a non-empty string in 'by'"`; empty if it may be empty.
    pub not_empty: &'static str,
}

impl Phrases {
    /// Returns the text if it is one.
    pub fn check<H: Heap>(
        &self,
        machine: &mut Machine<'_, H>,
        op: OpCode,
        term: H::Term,
    ) -> Eval<H> {
        let Some(text) = string(machine, term)? else {
            return Err(requires(machine, op, self.string, vec![term]));
        };
        match machine.heap.byte_length(text) {
            Some(0) if !self.not_empty.is_empty() => {
                Err(requires(machine, op, self.not_empty, vec![]))
            }
            _ => Ok(text),
        }
    }
}
