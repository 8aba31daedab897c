//! Comparisons by term order: `eq`, `neq`, `gt`, `gte`, `lt`, `lte`.

use super::{Edition, Field, FieldKind, OpCode, Operation, Planned};
use crate::code::{Apply, Eval, Halt, Machine, Slot, NO_CONST};
use crate::compile::{Failure, Plan};
use crate::fault::{Code, Errors};
use crate::shape::{Comparison, OpShape};
use ptc_json::{Document, Node, Shape};
use ptc_term::heap::{Heap, Kind, Lookup};
use std::cmp::Ordering;

/// The fields of every operation that compares a field of the current value with a value.
pub(super) const FIELD_AND_VALUE: &[Field] = &[
    Field::expected(
        "field",
        FieldKind::String,
        "the key that is read; without it the current value itself is meant",
    ),
    Field::required("value", FieldKind::Any, "what it is held against"),
];

/// The fields of these operations in edition 2, in which both sides can be computed.
pub(super) const FIELD_AND_VALUE_2: &[Field] = &[
    Field::expected(
        "field",
        FieldKind::String,
        "the key that is read; without it the current value itself is meant",
    ),
    Field::optional(
        "left",
        FieldKind::Template,
        "what is compared, instead of a field",
    ),
    Field::required("value", FieldKind::Template, "what it is held against"),
];

/// Checks that not both `field` and `left` are given.
pub(super) fn check(plan: &Plan) -> Planned {
    plan.not_both(["field", "left"], "'field' or 'left', not both")
}

/// Returns the value that edition 2 compares with, whose presence is checked before all operations inside.
pub(super) fn value_of(plan: &Plan) -> Result<Node, Failure> {
    let Some(value) = plan.field("value") else {
        // See `check_fields`.
        let is_expected = plan.op != OpCode::FilterIn && plan.field("field").is_none();
        let others = if is_expected {
            vec![plan.nil()]
        } else {
            vec![]
        };
        plan.report(Code::FieldMissing, "value", others)?;
        return Ok(plan.nil());
    };
    Ok(value)
}

/// Without `field` and `left` the operation compares the current value. The value is checked before the run.
fn plan_2(plan: &mut Plan) -> Planned {
    let value = value_of(plan)?;
    let field = match plan.field("field") {
        None => NO_CONST,
        Some(field) => plan.constant(field),
    };
    let left = plan.field("left");
    match left {
        Some(left) => plan.template(left, plan.scope_of("left", plan.scope)),
        None => plan.needs_input(),
    }
    if field != NO_CONST {
        plan.expect();
    }
    plan.template(value, plan.scope);
    let (operands, side) = match left {
        Some(_) => (2, LEFT),
        None => (1, 0),
    };
    plan.compare(operands, (field, NO_CONST, DEEP | LIKE | side));
    Ok(())
}

/// Returns the mode of a comparison with a constant.
pub(crate) fn mode_of(source: &Document, value: Node, mode: u32) -> u32 {
    let has_parts = match source.shape(value) {
        Shape::Map | Shape::Struct | Shape::List | Shape::Other => true,
        _ => source.is_long(value),
    };
    match has_parts {
        true => mode,
        false => mode & !DEEP,
    }
}

/// Without `field` the operation compares the current value itself. A `value` that names an operation
/// is evaluated, but not checked at compile time.
pub(super) fn plan(plan: &mut Plan) -> Planned {
    if plan.edition() == Edition::Two {
        return plan_2(plan);
    }
    let field = match plan.non_null("field") {
        None => NO_CONST,
        Some(field) => plan.constant(field),
    };
    plan.needs_input();
    match plan.field("value") {
        Some(value) if plan.is_operation(value) => {
            if field != NO_CONST {
                plan.expect();
            }
            plan.visit(value, plan.scope.unchecked(), false);
            plan.apply(1, (field, NO_CONST, DEEP));
        }
        value => {
            let depth = match value.map(|value| (value, plan.shape(value))) {
                Some((_, Shape::Map | Shape::Struct | Shape::List | Shape::Other)) => DEEP,
                Some((value, _)) if plan.is_long(value) => DEEP,
                _ => FLAT,
            };
            let value = plan.constant_of("value");
            plan.apply(0, (field, value, depth));
        }
    }
    Ok(())
}

/// Mode of a comparison in constant time, because the value has no parts.
const FLAT: u32 = 0;
/// Mode of a comparison that may read parts.
const DEEP: u32 = 1;
/// Mode of a comparison of edition 2.
pub(super) const LIKE: u32 = 2;
/// Mode of a comparison whose first operand is what is compared.
const LEFT: u32 = 4;

/// Returns whether a comparison reads its current value.
pub(crate) fn reads_input(apply: &Apply) -> bool {
    apply.key != NO_CONST || apply.mode & LEFT == 0
}

/// The two sides of a comparison.
pub(super) type Sides<T> = (T, T);

/// Returns the two sides; the value is the operand, if it is no constant.
#[inline]
pub(super) fn sides<H: Heap>(
    machine: &mut Machine<'_, H>,
    apply: &Apply,
) -> Result<Sides<H::Term>, Halt<H::Term>> {
    let input = machine.slot(apply.input);
    let left = match apply.key {
        NO_CONST if apply.mode & LEFT != 0 => machine.operands(apply)[0],
        NO_CONST => input,
        field => match machine.lookup(input, field)? {
            Lookup::Found(value) => value,
            Lookup::Missing => machine.heap.nil(),
            Lookup::NotAMap => return Err(machine.fault(apply.op, Code::NeedsMap, vec![input])),
        },
    };
    let right = match apply.value {
        NO_CONST => machine.top(),
        value => machine.constant(value),
    };
    Ok((left, right))
}

/// With a field, checks that the current value is a map before the value is evaluated.
pub(super) fn need_map<H: Heap>(
    machine: &mut Machine<'_, H>,
    op: OpCode,
    input: Slot,
) -> Result<(), Halt<H::Term>> {
    let input = machine.slot(input);
    match machine.kind(input) {
        Kind::Map => Ok(()),
        _ => Err(machine.fault(op, Code::NeedsMap, vec![input])),
    }
}

/// Returns whether a comparison of a field with a constant holds for an item.
#[inline(always)]
pub(crate) fn holds<H: Heap>(
    machine: &mut Machine<'_, H>,
    test: &Apply,
    item: H::Term,
) -> Result<bool, Halt<H::Term>> {
    let left = machine.quick_lookup(item, test.key);
    match left.and_then(|left| holds_for_integers(machine, test, left)) {
        Some(holds) => Ok(holds),
        None => holds_slowly(machine, test, item),
    }
}

/// Returns whether a comparison with a constant holds if both sides are integers of 64 bits.
#[inline(always)]
fn holds_for_integers<H: Heap>(
    machine: &Machine<'_, H>,
    test: &Apply,
    left: H::Term,
) -> Option<bool> {
    let right = machine.heap.small_integer(machine.constant(test.value))?;
    let order = machine.heap.small_integer(left)?.cmp(&right);
    Some(test.op.holds_for().have(order))
}

/// What an operation of edition 2 compares.
enum Compared {
    /// The two values.
    Values,
    /// A date or a time, and the beginning of the text of one: their order.
    Beginning(Ordering),
    /// Values of two kinds, of which none comes before the other.
    Nothing,
}

/// Returns what an operation of edition 2 compares: `eq` and `neq` any values, the others those of one kind.
fn compared<H: Heap>(
    machine: &mut Machine<'_, H>,
    op: OpCode,
    left: H::Term,
    right: H::Term,
) -> Result<Compared, Halt<H::Term>> {
    if matches!(op, OpCode::Eq | OpCode::Neq) || machine.are_alike(left, right) {
        return Ok(Compared::Values);
    }
    let order = machine.order_of_beginning(left, right)?;
    Ok(order.map_or(Compared::Nothing, Compared::Beginning))
}

#[inline(never)]
fn holds_slowly<H: Heap>(
    machine: &mut Machine<'_, H>,
    test: &Apply,
    item: H::Term,
) -> Result<bool, Halt<H::Term>> {
    let left = match machine.lookup(item, test.key)? {
        Lookup::Found(value) => value,
        Lookup::Missing => machine.heap.nil(),
        Lookup::NotAMap => return Err(machine.fault(test.op, Code::NeedsMap, vec![item])),
    };
    if let Some(holds) = holds_for_integers(machine, test, left) {
        return Ok(holds);
    }
    let right = machine.constant(test.value);
    if test.mode & LIKE != 0 {
        match compared(machine, test.op, left, right)? {
            Compared::Values => {}
            Compared::Beginning(order) => return Ok(test.op.holds_for().have(order)),
            Compared::Nothing => return Ok(false),
        }
    }
    if machine.may_mean_another(left) {
        return Ok(test.op.holds_for().have(machine.compare(left, right)?));
    }
    Ok(match (test.op.holds_for(), test.mode & DEEP) {
        (Orders::EQUAL, FLAT) => machine.heap.equal(left, right),
        (Orders::UNEQUAL, FLAT) => !machine.heap.equal(left, right),
        (orders, FLAT) => orders.have(machine.heap.compare(left, right)),
        (orders, _) => orders.have(machine.compare(left, right)?),
    })
}

/// The orders of the two sides for which a comparison holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Orders(u8);

impl Orders {
    /// For operations that are not comparisons.
    pub(crate) const NONE: Orders = Orders(0);
    const LESS: Orders = Orders(1);
    const EQUAL: Orders = Orders(2);
    const GREATER: Orders = Orders(4);
    const UNEQUAL: Orders = Orders(1 | 4);
    const NOT_LESS: Orders = Orders(2 | 4);
    const NOT_GREATER: Orders = Orders(1 | 2);

    #[inline]
    fn have(self, order: Ordering) -> bool {
        self.0 & (1 << (order as i8 + 1)) != 0
    }
}

macro_rules! comparison {
    ($op:ident, $name:literal, $about:literal, $types:literal, $shape:expr, $orders:ident) => {
        pub(super) struct $op;

        impl Operation for $op {
            const NAME: &'static str = $name;
            const FAMILY: &'static str = "Compare";
            const ABOUT: &'static str = $about;
            const TYPES: &'static str = $types;
            const SHAPE: OpShape = $shape;
            const FIELDS: &'static [Field] = FIELD_AND_VALUE;
            const FIELDS_2: &'static [Field] = FIELD_AND_VALUE_2;
            const CHECKED_IN_ORDER: bool = true;
            const HOLDS_FOR: Orders = Orders::$orders;

            fn check(plan: &Plan) -> Planned {
                self::check(plan)
            }

            fn plan(plan: &mut Plan) -> Planned {
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
                let compared = match apply.mode & LIKE {
                    LIKE => compared(machine, apply.op, left, right)?,
                    _ => Compared::Values,
                };
                let ordering = match (compared, apply.mode & DEEP) {
                    (Compared::Nothing, _) => return Ok(machine.heap.boolean(false)),
                    (Compared::Beginning(order), _) => order,
                    (Compared::Values, DEEP) => machine.compare(left, right)?,
                    (Compared::Values, _) => machine.compare_with_leaf(left, right)?,
                };
                Ok(machine.heap.boolean(Self::HOLDS_FOR.have(ordering)))
            }

            /// Without a field, all terms are comparable.
            fn can_fail(apply: &Apply) -> bool {
                apply.key != NO_CONST
            }
        }
    };
}

comparison! { Eq, "eq", "Whether the field equals the value; 1 equals 1.0.", "boolean; of values of one kind", OpShape::Compared(Comparison::Equal(true)), EQUAL }
comparison! { Neq, "neq", "Whether the field differs from the value.", "boolean; of values of one kind", OpShape::Compared(Comparison::Equal(false)), UNEQUAL }
comparison! { Gt, "gt", "Whether the field comes after the value.", "boolean; of values of one kind", OpShape::Compared(Comparison::Order(true)), GREATER }
comparison! { Gte, "gte", "Whether the field comes after the value or equals it.", "boolean; of values of one kind", OpShape::Compared(Comparison::Order(true)), NOT_LESS }
comparison! { Lt, "lt", "Whether the field comes before the value.", "boolean; of values of one kind", OpShape::Compared(Comparison::Order(false)), LESS }
comparison! { Lte, "lte", "Whether the field comes before the value or equals it.", "boolean; of values of one kind", OpShape::Compared(Comparison::Order(false)), NOT_GREATER }
