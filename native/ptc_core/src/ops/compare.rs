//! Comparisons by term order: `eq`, `neq`, `gt`, `gte`, `lt`, `lte`.

use super::{Checked, Field, FieldKind, OpCode, Operation};
use crate::compile::Plan;
use crate::fault::{Code, Halt};
use crate::heap::{Heap, Kind, Lookup};
use crate::program::{Apply, Slot, NO_CONST};
use crate::source::{Shape, Source};
use crate::vm::{Eval, Machine};
use std::cmp::Ordering;

/// The fields of every operation that holds a field of the current value against a value.
pub(super) const FIELD_AND_VALUE: &[Field] = &[
    Field::expected(
        "field",
        FieldKind::String,
        "the key that is read; without it the current value itself is meant",
    ),
    Field::required("value", FieldKind::Any, "what it is held against"),
];

/// Without `field` the current value itself is meant; a `value` that names an operation is
/// evaluated, but not checked beforehand.
pub(super) fn plan<S: Source>(plan: &mut Plan<'_, '_, S>) -> Checked<S> {
    let field = match plan.non_null("field") {
        None => NO_CONST,
        Some(_) => plan.constant_of("field"),
    };
    plan.needs_input();
    match plan.field("value") {
        Some(value) if plan.is_operation(value) => {
            if field != NO_CONST {
                plan.expect();
            }
            plan.visit(value, plan.scope.unchecked(), false);
            plan.apply(1, [field, NO_CONST, DEEP]);
        }
        value => {
            let depth = match value.map(|value| (value, plan.shape(value))) {
                Some((_, Shape::Map | Shape::Struct | Shape::List | Shape::Other)) => DEEP,
                Some((value, _)) if plan.is_long(value) => DEEP,
                _ => FLAT,
            };
            let value = plan.constant_of("value");
            plan.apply(0, [field, value, depth]);
        }
    }
    Ok(())
}

/// `c` of a comparison that ends at the first look, because the value has nothing inside …
const FLAT: u32 = 0;
/// … and of one that may go deep.
const DEEP: u32 = 1;

/// What is compared with what.
pub(super) type Sides<T> = (T, T);

/// The two sides. `a`: the field, if any; `b`: the value, or else it is the operand.
#[inline]
pub(super) fn sides<H: Heap>(
    machine: &mut Machine<'_, H>,
    apply: &Apply,
) -> Result<Sides<H::Term>, Halt<H::Term>> {
    let input = machine.slot(apply.input);
    let left = match apply.a {
        NO_CONST => input,
        field => match machine.lookup(input, field)? {
            Lookup::Found(value) => value,
            Lookup::Missing => machine.heap.nil(),
            Lookup::NotAMap => return Err(machine.fault(apply.op, Code::NeedsMap, vec![input])),
        },
    };
    let right = match apply.b {
        NO_CONST => machine.one_operand(apply),
        value => machine.constant(value),
    };
    Ok((left, right))
}

/// With a field the current value must be a map, before the value is evaluated.
pub(super) fn need_map<H: Heap>(
    machine: &mut Machine<'_, H>,
    op: OpCode,
    input: Slot,
) -> Result<(), Halt<H::Term>> {
    let input = machine.slot(input);
    match machine.heap.kind(input) {
        Kind::Map => Ok(()),
        _ => Err(machine.fault(op, Code::NeedsMap, vec![input])),
    }
}

macro_rules! comparison {
    ($op:ident, $name:literal, $about:literal, $holds:expr) => {
        pub(super) struct $op;

        impl Operation for $op {
            const NAME: &'static str = $name;
            const FAMILY: &'static str = "Compare";
            const ABOUT: &'static str = $about;
            const FIELDS: &'static [Field] = FIELD_AND_VALUE;

            fn plan<S: Source>(plan: &mut Plan<'_, '_, S>) -> Checked<S> {
                self::plan(plan)
            }

            fn expect<H: Heap>(
                machine: &mut Machine<'_, H>,
                input: Slot,
            ) -> Result<(), Halt<H::Term>> {
                need_map(machine, OpCode::$op, input)
            }

            #[inline]
            fn eval<H: Heap>(machine: &mut Machine<'_, H>, apply: &Apply) -> Eval<H> {
                let (left, right) = sides(machine, apply)?;
                let holds: fn(Ordering) -> bool = $holds;
                let ordering = match apply.c {
                    DEEP => machine.compare(left, right)?,
                    _ => machine.heap.compare(left, right),
                };
                Ok(machine.heap.boolean(holds(ordering)))
            }
        }
    };
}

comparison!(
    Eq,
    "eq",
    "Whether the field equals the value; 1 equals 1.0.",
    Ordering::is_eq
);
comparison!(
    Neq,
    "neq",
    "Whether the field differs from the value.",
    Ordering::is_ne
);
comparison!(
    Gt,
    "gt",
    "Whether the field comes after the value.",
    Ordering::is_gt
);
comparison!(
    Gte,
    "gte",
    "Whether the field comes after the value or equals it.",
    Ordering::is_ge
);
comparison!(
    Lt,
    "lt",
    "Whether the field comes before the value.",
    Ordering::is_lt
);
comparison!(
    Lte,
    "lte",
    "Whether the field comes before the value or equals it.",
    Ordering::is_le
);
