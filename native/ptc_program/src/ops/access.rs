//! `get`: a value inside a value.

use super::position::Position;
use super::{Edition, Field, FieldKind, OpCode, Operation, Planned};
use crate::code::{Apply, ConstId, Eval, Instr, Machine, NO_CONST};
use crate::compile::Plan;
use crate::fault::{Code, Errors, Fault};
use crate::shape::OpShape;
use ptc_term::heap::{Heap, Kind, Lookup};

pub(super) struct Get;

/// Stands for the length of a path that is not a list.
const NO_PATH: u32 = u32::MAX;
/// Stands for the length of a path that is one computed key.
const BY_KEY: u32 = u32::MAX - 1;
/// Stands for a field of a pair, see [`makes_pairs`](super::join::makes_pairs). The next constant is the same key again, for the
/// second map of the pair.
const OF_PAIR: u32 = u32::MAX - 2;
/// Stands for the length of a path of one integer.
const ONE_INDEX: u32 = u32::MAX - 3;

/// Returns whether an instruction only reads a field of its current value.
pub(crate) fn reads_field(apply: &Apply) -> bool {
    apply.op == OpCode::Get && apply.mode == 1
}

/// Lets an instruction that reads a field read it from a pair. `key` is the first of the two constants.
pub(crate) fn read_of_pair(apply: &mut Apply, key: ConstId) {
    (apply.key, apply.mode) = (key, OF_PAIR);
}

impl Operation for Get {
    const NAME: &'static str = "get";
    const FAMILY: &'static str = "Access";
    const ABOUT: &'static str = "The value of a field, or at the end of a path of fields.";
    const TYPES: &'static str = "object to the type of the field, or null where it may be missing";
    const SHAPE: OpShape = OpShape::Read;
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

    const FIELDS_2: &'static [Field] = &[
        Field::optional("default", FieldKind::Any, "the value instead of nil"),
        Field::alternative("field", FieldKind::String, "the key that is read"),
        Field::optional(
            "from",
            FieldKind::Template,
            "what is read from, instead of the current value",
        ),
        Field::alternative(
            "key",
            FieldKind::Template,
            "the key or the index that is read, computed",
        ),
        Field::alternative(
            "path",
            FieldKind::StringList,
            "the keys, from the outermost in",
        )
        .values("a list of keys"),
    ];
    const CHECKED_IN_ORDER: bool = true;

    fn check(plan: &Plan) -> Planned {
        if plan.edition() == Edition::Two && plan.field("key").is_some() {
            return match plan.field("field").or(plan.field("path")) {
                Some(_) => plan.reject(
                    Code::Accepts,
                    "'field', 'path' or 'key', not several",
                    vec![],
                ),
                None => Ok(()),
            };
        }
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
        let from = plan
            .field("from")
            .filter(|_| plan.edition() == Edition::Two);
        match from {
            Some(from) => {
                plan.template(from, plan.scope_of("from", plan.scope));
                let slot = plan.take_slot();
                plan.emit(Instr::Store(slot));
                plan.note_keys(slot);
            }
            None => plan.needs_input(),
        }
        let around = plan.scope;
        if from.is_some() {
            plan.scope = around.with_input(around.free - 1);
        }
        if let Some(key) = plan.field("key").filter(|_| plan.edition() == Edition::Two) {
            let outside = plan.scope_of("key", around);
            plan.template(key, outside);
            plan.apply(1, (NO_CONST, default, BY_KEY));
            return Ok(());
        }
        let steps = match (field, path) {
            (Some(field), _) => {
                let field = plan.constant(field);
                plan.apply(0, (field, default, 1));
                return Ok(());
            }
            (None, Some(path)) if plan.is_list(path) => plan.elements(path)?,
            (None, Some(path)) => {
                let path = plan.constant(path);
                plan.apply(0, (path, default, NO_PATH));
                return Ok(());
            }
            (None, None) => vec![],
        };
        let length = match steps[..] {
            [only] if plan.source().text(only).is_none() => ONE_INDEX,
            _ => steps.len() as u32,
        };
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
            BY_KEY => by_key(machine, apply)?,
            OF_PAIR => of_pair(machine, apply)?,
            _ => follow(machine, apply)?,
        };
        if apply.value != NO_CONST && machine.heap.kind(found) == Kind::Nil {
            return Ok(machine.constant(apply.value));
        }
        Ok(found)
    }

    /// Only a path of several keys can fail.
    fn can_fail(apply: &Apply) -> bool {
        apply.mode > 1 && apply.mode != OF_PAIR
    }
}

/// Reads a field of a pair: of the first map, or else of the second one.
fn of_pair<H: Heap>(machine: &mut Machine<'_, H>, apply: &Apply) -> Eval<H> {
    let input = machine.slot(apply.input);
    let Some((item, row)) = machine.heap.uncons(input) else {
        return Ok(machine.heap.nil());
    };
    match machine.lookup(item, apply.key)? {
        Lookup::Found(value) => Ok(value),
        _ => Ok(machine.value_or_nil(row, apply.key + 1)?),
    }
}

fn follow<H: Heap>(machine: &mut Machine<'_, H>, apply: &Apply) -> Eval<H> {
    let mut value = machine.slot(apply.input);
    if apply.mode == NO_PATH {
        let path = machine.constant(apply.key);
        let fault = Fault::new(Code::UncheckedNotList, Some(apply.op.name()), vec![path]);
        return Err(fault.about("path").into());
    }
    let length = match apply.mode {
        ONE_INDEX => 1,
        length => length,
    };
    for (index, key) in (apply.key..apply.key + length).enumerate() {
        machine.consume_fuel(1)?;
        let constant = machine.constant(key);
        if machine.heap.kind(constant) == Kind::Number {
            value = keyed(machine, value, constant)?;
            continue;
        }
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

/// Reads by a computed key: in a map a string, or an integer written as digits; in a list an index.
fn by_key<H: Heap>(machine: &mut Machine<'_, H>, apply: &Apply) -> Eval<H> {
    let (input, key) = (machine.slot(apply.input), machine.one_operand(apply));
    keyed(machine, input, key)
}

fn keyed<H: Heap>(machine: &mut Machine<'_, H>, input: H::Term, key: H::Term) -> Eval<H> {
    let kinds = (machine.kind(input), machine.kind(key));
    let nil = machine.heap.nil();
    match kinds {
        (Kind::Map, Kind::String) => Ok(machine.value_at(input, key)?),
        (_, Kind::Number) => machine.resumable(
            |_| Position::over(input),
            |machine, work| {
                let at = (&mut work.walk.rest, &mut work.at);
                Ok(machine.found_by_number(input, key, at)?.unwrap_or(nil))
            },
        ),
        // Where structs are values, an atom is the text of its name, and a date its ISO 8601 text.
        (Kind::Map, Kind::Other) => match machine.text_of_value(key)? {
            Some(text) => match machine.key_in(input, key) {
                Some(key) => Ok(machine.value_at(input, key)?),
                None => Ok(machine.value_at(input, text)?),
            },
            None => Ok(nil),
        },
        _ => Ok(nil),
    }
}
