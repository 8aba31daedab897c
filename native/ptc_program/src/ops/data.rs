//! Sources of values: `load`, `literal`, `var`.

use super::{Field, FieldKind, Operation, Planned};
use crate::code::Instr;
use crate::code::{ConstId, Halt, Machine};
use crate::compile::{Plan, INPUT_NAME};
use crate::fault::{Code, Errors};
use crate::opcode::OpCode;
use crate::shape::{Leaf, OpShape};
use ptc_term::heap::{Heap, Inside, Kind};
use ptc_term::number::Number;
use ptc_term::stop::Stop;

pub(super) struct Load;
pub(super) struct Literal;
pub(super) struct Var;

impl Operation for Load {
    const NAME: &'static str = "load";
    const FAMILY: &'static str = "Data";
    const ABOUT: &'static str = "The context's value of that name, nil if there is none.";
    const TYPES: &'static str = "the type of the data of that name";
    const SHAPE: OpShape = OpShape::Leaf(Leaf::Context);
    const FIELDS: &'static [Field] = &[Field::required(
        "name",
        FieldKind::String,
        "a key of the context",
    )];

    fn plan(plan: &mut Plan) -> Planned {
        let key = plan.constant_of("name");
        match name(plan) {
            Some(_) => plan.emit(Instr::LoadContext(key)),
            None => no_name(plan, Code::ContextKey),
        }
        Ok(())
    }
}

impl Operation for Literal {
    const NAME: &'static str = "literal";
    const FAMILY: &'static str = "Data";
    const ABOUT: &'static str = "The value itself, never evaluated.";
    const TYPES: &'static str = "the type of the value";
    const SHAPE: OpShape = OpShape::Leaf(Leaf::Constant);
    const FIELDS: &'static [Field] = &[Field::required(
        "value",
        FieldKind::Any,
        "the value, operations in it too",
    )];

    fn plan(plan: &mut Plan) -> Planned {
        let value = plan.constant_of("value");
        plan.emit(Instr::Const(value));
        Ok(())
    }
}

impl Operation for Var {
    const NAME: &'static str = "var";
    const FAMILY: &'static str = "Data";
    const ABOUT: &'static str =
        "The innermost let binding of that name, else the memory's value, else nil.";
    const TYPES: &'static str = "the type of the name, of the current value or of the memory";
    const SHAPE: OpShape = OpShape::Leaf(Leaf::Name);
    const FIELDS: &'static [Field] = &[Field::required(
        "name",
        FieldKind::String,
        "the name of a let, or a key of the memory",
    )];

    fn plan(plan: &mut Plan) -> Planned {
        let key = plan.constant_of("name");
        match name(plan) {
            None => no_name(plan, Code::MemoryKey),
            Some(name) if name == INPUT_NAME.as_bytes() => plan.emit(Instr::Slot(plan.scope.input)),
            Some(name) => {
                plan.consume_fuel_for_bytes(name.len())?;
                match plan.binding(name) {
                    Some(slot) => plan.emit(Instr::Slot(slot)),
                    None => plan.emit(Instr::LoadMemory(key)),
                }
            }
        }
        Ok(())
    }
}

/// Returns the name if it is a string.
fn name<'s>(plan: &Plan<'_, 's>) -> Option<&'s [u8]> {
    plan.source().text(plan.field("name")?)
}

fn no_name(plan: &mut Plan, code: Code) {
    let subject = plan.field("name").unwrap_or(plan.nil());
    plan.fail(code, "name", subject);
}

/// Maximum number of existing names that an error lists.
const NAMES_SHOWN: usize = 12;
/// Longer names are not listed in an error.
const LONGEST_NAME: usize = 256;
/// Fuel for each entry whose key may be listed.
const FUEL_PER_NAME: usize = 4;

/// Builds the error for a name that the context does not have; it lists the context's first
/// names.
#[cold]
pub(super) fn unknown_name<H: Heap>(
    machine: &mut Machine<'_, H>,
    context: H::Term,
    key: ConstId,
) -> Result<Halt<H::Term>, Stop> {
    let size = machine.heap.map_size(context).unwrap_or(0);
    machine.consume_fuel_at_once(FUEL_PER_NAME * size)?;
    machine.check_heap_limit(2 * NAMES_SHOWN)?;
    let any_keys = machine.any_keys();
    let heap = &mut *machine.heap;
    let is_name = |heap: &H, key| match heap.kind(key) {
        Kind::String => heap
            .bytes(key)
            .is_some_and(|name| name.len() <= LONGEST_NAME),
        Kind::Other => any_keys && matches!(heap.inside(key), Inside::Nothing),
        Kind::Nil | Kind::Bool => any_keys,
        Kind::Number | Kind::List | Kind::Map => false,
    };
    let mut names: Vec<_> = heap
        .entries(context)
        .into_iter()
        .map(|(key, _)| key)
        .collect();
    names.retain(|name| is_name(heap, *name));
    let count = names.len();
    if count > NAMES_SHOWN {
        names.select_nth_unstable_by(NAMES_SHOWN, |a, b| heap.compare(*a, *b));
        names.truncate(NAMES_SHOWN);
    }
    names.sort_by(|a, b| heap.compare(*a, *b));
    let names = heap.make_list(&names);
    let count = heap
        .make_number(Number::Int(count as i64))
        .unwrap_or(heap.nil());
    let terms = vec![machine.constant(key), names, count];
    Ok(machine.fault(OpCode::Load, Code::UnknownName, terms))
}
