//! `get`: a value inside a value.

use super::{Field, FieldKind, Operation, Planned};
use crate::code::{Apply, NO_CONST};
use crate::compile::Plan;
use ptc_machine::fault::{Code, Fault};
use ptc_machine::{Eval, Machine};
use ptc_term::heap::{Heap, Kind, Lookup};

pub(super) struct Get;

/// Stands for the length of a path that is not a list.
const NO_PATH: u32 = u32::MAX;

impl Operation for Get {
    const NAME: &'static str = "get";
    const FAMILY: &'static str = "Access";
    const ABOUT: &'static str = "The value of a field, or at the end of a path of fields.";
    const FIELDS: &'static [Field] = &[
        Field::optional("default", FieldKind::Any, "the value instead of nil"),
        Field::alternative("field", FieldKind::String, "the key that is read"),
        Field::alternative(
            "path",
            FieldKind::StringList,
            "the keys, from the outermost in",
        )
        .values("a list of keys"),
    ];

    fn check(plan: &Plan) -> Planned {
        match (plan.field("field"), plan.field("path")) {
            (Some(_), Some(_)) => plan.report(Code::FieldAndPath, "field", vec![]),
            (None, None) => plan.report(Code::NeitherFieldNorPath, "field", vec![]),
            _ => Ok(()),
        }
    }

    fn plan(plan: &mut Plan) -> Planned {
        let (field, path) = (plan.field("field"), plan.field("path"));
        let default = match plan.field("default") {
            Some(default) => plan.constant(default),
            None => NO_CONST,
        };
        plan.needs_input();
        let steps = match (field, path) {
            (Some(field), _) => vec![field],
            (None, Some(path)) if plan.is_list(path) => plan.elements(path)?,
            (None, Some(path)) => {
                let path = plan.constant(path);
                plan.apply(0, (path, default, NO_PATH));
                return Ok(());
            }
            (None, None) => vec![],
        };
        let length = steps.len() as u32;
        let first = plan.constants(steps.into_iter());
        plan.apply(0, (first, default, length));
        Ok(())
    }

    /// The mode is the length of the path; the value is the default.
    #[inline]
    fn eval<H: Heap>(machine: &mut Machine<'_, H>, apply: &Apply) -> Eval<H> {
        let found = match apply.mode {
            1 => {
                let input = machine.slot(apply.input);
                machine.value_or_nil(input, apply.key)?
            }
            _ => follow(machine, apply)?,
        };
        if apply.value != NO_CONST && machine.heap.kind(found) == Kind::Nil {
            return Ok(machine.constant(apply.value));
        }
        Ok(found)
    }

    /// Only a path of several keys can fail.
    fn can_fail(apply: &Apply) -> bool {
        apply.mode > 1
    }
}

fn follow<H: Heap>(machine: &mut Machine<'_, H>, apply: &Apply) -> Eval<H> {
    let mut value = machine.slot(apply.input);
    if apply.mode == NO_PATH {
        let path = machine.constant(apply.key);
        let fault = Fault::new(Code::UncheckedNotList, Some(apply.op.name()), vec![path]);
        return Err(fault.about("path").into());
    }
    for (index, key) in (apply.key..apply.key + apply.mode).enumerate() {
        machine.consume_fuel(1)?;
        value = match machine.lookup(value, key)? {
            Lookup::Found(value) => value,
            Lookup::Missing => return Ok(machine.heap.nil()),
            // A missing key in a non-map, or in nil, is nil; any other value in the path is an error.
            Lookup::NotAMap if index == 0 => return Ok(machine.heap.nil()),
            Lookup::NotAMap if machine.heap.kind(value) == Kind::Nil => return Ok(value),
            Lookup::NotAMap => {
                return Err(machine.fault(apply.op, Code::PathThroughNonMap, vec![value]))
            }
        };
    }
    Ok(value)
}
