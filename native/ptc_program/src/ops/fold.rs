//! `fold`.

use super::{Edition, Field, FieldKind, OpCode, Operation, Planned};
use crate::code::{Halt, Instr, Loop, Machine, Slot, Stepped};
use crate::compile::{Plan, INPUT_NAME};
use crate::shape::OpShape;
use ptc_term::heap::Heap;
use ptc_vm::{Frame, Step};

pub(super) struct Fold;

/// The name of what the step before gave, if the program gives none.
const ACCUMULATOR: &str = "acc";

impl Operation for Fold {
    const NAME: &'static str = "fold";
    const FAMILY: &'static str = "Aggregate";
    const ABOUT: &'static str =
        "The last value of the expression; each sees the one before under the name \"acc\".";
    const TYPES: &'static str = "[T] to the type of `init` or of the expression";
    const SHAPE: OpShape = OpShape::Accumulator;
    const EDITION: Edition = Edition::Two;
    const FIELDS: &'static [Field] = &[
        Field::optional(
            "as",
            FieldKind::String,
            "the name of what the step before gave, \"acc\" if it is missing",
        ),
        Field::required("expr", FieldKind::Expr, "what is evaluated for each item"),
        Field::required(
            "init",
            FieldKind::Template,
            "what the first step gets, and the value for an empty list",
        ),
    ];

    fn plan(plan: &mut Plan) -> Planned {
        plan.needs_input();
        plan.expect();
        let so_far = plan.take_slot();
        plan.template_of("init", plan.scope);
        plan.emit(Instr::Store(so_far));
        let looped = plan.begin_over_input(None);
        let source = plan.source();
        let name = plan
            .field("as")
            .and_then(|name| Some((name, source.text(name)?)));
        let inside = looped.scope;
        match name {
            Some((_, text)) if text == INPUT_NAME.as_bytes() => {
                plan.expr_in("expr", inside.with_input(so_far), true);
            }
            Some((name, text)) => {
                plan.consume_fuel_for_bytes(2 * text.len())?;
                plan.bind(name, so_far);
                plan.expr_in("expr", inside, true);
                plan.unbind(name);
            }
            None => {
                plan.bind(ACCUMULATOR, so_far);
                plan.expr_in("expr", inside, true);
                plan.unbind(ACCUMULATOR);
            }
        }
        // The value goes on in the slot; the loop itself gives nil.
        plan.emit(Instr::Store(so_far));
        plan.emit(Instr::Nil);
        plan.end_loop(looped);
        plan.emit(Instr::Drop);
        plan.emit(Instr::Slot(so_far));
        Ok(())
    }

    /// Checks that the current value is a list before `init` is evaluated.
    fn expect<H: Heap>(machine: &mut Machine<'_, H>, input: Slot) -> Result<(), Halt<H::Term>> {
        let input = machine.slot(input);
        match machine.is_proper_list(input)? {
            true => Ok(()),
            false => Err(machine.not_a_list(OpCode::Fold, input)),
        }
    }

    fn step<H: Heap>(
        machine: &mut Machine<'_, H>,
        looped: &Loop,
        frame: &mut Frame<H::Term>,
        _returned: Option<H::Term>,
    ) -> Stepped<H> {
        Ok(match machine.following(looped, frame)? {
            Some((item, rest)) => {
                frame.walk.rest = rest;
                Step::Call(item)
            }
            None => Step::Done(machine.heap.nil()),
        })
    }
}
