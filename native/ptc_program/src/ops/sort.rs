//! `sort_by`.

use super::{keyed, Edition, Field, FieldKind, Operation, Planned};
use crate::code::{Apply, ConstId, Demand, Eval, Halt, Machine, NO_CONST};
use crate::compile::Plan;
use crate::fault::Code;
use crate::shape::{OpShape, Order};
use ptc_json::Node;
use ptc_kernels::{
    advance, ItemKeys, Listing, Sorting, Walk, KEPT_BETWEEN_CHECKS, WORDS_OF_ITEM, WORDS_OF_KEY,
    WORDS_OF_SORTED,
};
use ptc_term::heap::{Heap, Kind};
use ptc_term::rooted;
use ptc_term::roots::Roots;
use ptc_vm::{Demanded, Keeps};

pub(super) struct SortBy;

const ASCENDING: u32 = 0;
const DESCENDING: u32 = 1;

impl Operation for SortBy {
    const NAME: &'static str = "sort_by";
    const FAMILY: &'static str = "Filter/Transform";
    const ABOUT: &'static str = "The items in the order of a field, \"asc\" or \"desc\".";
    const TYPES: &'static str = "[T] to [T]; the items are objects with the fields";
    const SHAPE: OpShape = OpShape::Permuted(Order::Keys);
    const FIELDS: &'static [Field] = &[
        Field::not_null("field", FieldKind::String, "the items' key that is read"),
        ORDER,
    ];
    const FIELDS_2: &'static [Field] = &[
        Field::alternative(
            "by",
            FieldKind::SortKeys,
            "several keys, the first one first: objects with \"field\" or \"expr\", and \"order\"",
        )
        .must_be("'by' must not be empty"),
        keyed::EXPR,
        Field::alternative("field", FieldKind::String, "the items' key that is read"),
        ORDER,
    ];
    const ABOUT_2: &'static str =
        "The items in the order of a field, an expression or several of these, \"asc\" or \"desc\".";
    const CHECKED_IN_ORDER: bool = true;
    const READS_INPUT_ONCE: bool = true;
    const KEEPS: Keeps = Keeps::Value;

    fn check(plan: &Plan) -> Planned {
        if plan.edition() == Edition::One {
            return Ok(());
        }
        plan.not_both(["field", "expr"], "'field' or 'expr', not both")?;
        plan.not_both(["field", "by"], "'field' or 'by', not both")?;
        plan.not_both(["expr", "by"], "'expr' or 'by', not both")?;
        plan.not_both(["order", "by"], "'order' or 'by', not both")?;
        let forms = ["field", "expr", "by"];
        match forms.into_iter().all(|form| plan.field(form).is_none()) {
            true => plan.report(Code::FieldMissing, "field", vec![]),
            false => Ok(()),
        }
    }

    fn plan(plan: &mut Plan) -> Planned {
        match plan.field("by") {
            Some(_) if plan.edition() == Edition::Two => return plan_several(plan),
            _ => {}
        }
        let order = match plan.field("order") {
            Some(order) if is_descending(plan, order) => DESCENDING,
            _ => ASCENDING,
        };
        let field = plan.constant_of("field");
        keyed::plan_keys(plan, field, order);
        Ok(())
    }

    /// The mode is the order. If `value` is a constant, there are several keys, as many as the mode says: two constants
    /// each, the field, nil for an expression, and the order. The operand has the values of the expressions for each
    /// item: a list of them, unless there is one expression only.
    fn eval<H: Heap>(machine: &mut Machine<'_, H>, apply: &Apply) -> Eval<H> {
        let demanded = Demanded::of(apply.demand, machine)?;
        machine.resumable(
            |machine| Sort::over(machine.slot(apply.input)),
            |machine, work| {
                if demanded == Demanded::Number {
                    machine.each_item(apply, &mut work.walk, |_, _| Ok(()))?;
                    return Ok(machine.slot(apply.input));
                }
                if work.computed.is_none() && apply.operands > 0 {
                    work.computed = Some(machine.one_operand(apply));
                }
                let first = demanded.end();
                if apply.value == NO_CONST {
                    read_keys(machine, apply, work)?;
                    work.sorting
                        .sort(machine, &work.keys, first, &[apply.mode == DESCENDING])?;
                } else {
                    let columns = columns(machine, apply);
                    read_columns(machine, apply, &columns, work)?;
                    let descending: Vec<bool> = columns.iter().map(|key| key.descending).collect();
                    work.sorting.sort(machine, &work.keys, first, &descending)?;
                }
                let places = Some(work.sorting.places());
                Ok((work.listing).at_places(machine, &work.items, places)?)
            },
        )
    }

    /// An item that is not a map has no field, so no item is an error.
    fn needs(_apply: &Apply, demand: Demand) -> Demand {
        match demand {
            Demand::Number => Demand::Number,
            _ => Demand::All,
        }
    }
}

const ORDER: Field = Field::optional(
    "order",
    FieldKind::Order,
    "the smallest or the largest first",
)
.values("\"asc\" or \"desc\"");

fn is_descending(plan: &Plan, order: Node) -> bool {
    plan.source().text(order) == Some(b"desc")
}

/// Plans a sort by several keys. One loop evaluates all expressions for an item before the next item.
fn plan_several(plan: &mut Plan) -> Planned {
    let (mut consts, mut exprs) = (Vec::new(), Vec::new());
    for key in plan.list("by")?.unwrap_or_default() {
        let key = plan.sort_key(key)?;
        consts.extend([key.field, key.order].map(|part| part.unwrap_or(plan.nil())));
        exprs.extend(key.expr);
    }
    let (columns, operands) = (consts.len() as u32 / 2, u32::from(!exprs.is_empty()));
    let first = plan.constants(consts.into_iter());
    match exprs.len() as u32 {
        0 => plan.needs_input(),
        count => {
            let looped = plan.begin_over_input(None);
            for expr in exprs {
                plan.visit(expr, plan.scope_of("by", looped.scope), true);
            }
            if count > 1 {
                plan.make_list(count);
            }
            plan.end_loop(looped);
        }
    }
    plan.apply(operands, (NO_CONST, first, columns));
    Ok(())
}

/// The items and their keys.
#[derive(Debug, Clone, PartialEq)]
pub struct Sort<T> {
    walk: Walk<T>,
    /// The values of the expressions for the items that are not visited yet.
    computed: Option<T>,
    items: Roots<T>,
    keys: Roots<T>,
    sorting: Sorting,
    listing: Listing<T>,
}

rooted!(Sort { optional: computed; states: walk, items, keys, listing; plain: sorting });

impl<T> Sort<T> {
    fn over(list: T) -> Self {
        Sort {
            walk: Walk::over(list),
            computed: None,
            items: Roots::default(),
            keys: Roots::default(),
            sorting: Sorting::default(),
            listing: Listing::default(),
        }
    }
}

/// One of several keys.
struct SortColumn {
    /// The field that is read; `None` for an expression.
    field: Option<ConstId>,
    descending: bool,
}

fn columns<H: Heap>(machine: &Machine<'_, H>, apply: &Apply) -> Vec<SortColumn> {
    let column = |index: u32| {
        let field = apply.value + 2 * index;
        let order = machine.heap.bytes(machine.constant(field + 1));
        SortColumn {
            field: (machine.heap.kind(machine.constant(field)) == Kind::String).then_some(field),
            descending: order == Some(b"desc"),
        }
    };
    (0..apply.mode).map(column).collect()
}

/// Reads each item's key.
fn read_keys<H: Heap>(
    machine: &mut Machine<'_, H>,
    apply: &Apply,
    work: &mut Sort<H::Term>,
) -> Result<(), Halt<H::Term>> {
    let by = match apply.key {
        NO_CONST => ItemKeys::Items,
        field => ItemKeys::Field(field),
    };
    let (items, keys, computed) = (&mut work.items, &mut work.keys, &mut work.computed);
    machine.each_item(apply, &mut work.walk, |machine, item| {
        machine.consume_fuel(1)?;
        let keyed = machine.key_of(by, *computed, item)?;
        if items.len() % KEPT_BETWEEN_CHECKS == 0 {
            machine.check_heap_limit(WORDS_OF_SORTED * items.len())?;
        }
        keys.push(keyed.0);
        items.push(item);
        advance(computed, keyed);
        Ok(())
    })
}

/// Reads each item's keys, those of an item one after the other.
fn read_columns<H: Heap>(
    machine: &mut Machine<'_, H>,
    apply: &Apply,
    columns: &[SortColumn],
    work: &mut Sort<H::Term>,
) -> Result<(), Halt<H::Term>> {
    let words = WORDS_OF_ITEM + WORDS_OF_KEY * columns.len();
    let is_expr = |column: &&SortColumn| column.field.is_none();
    let several = columns.iter().filter(is_expr).count() > 1;
    let (items, keys, computed) = (&mut work.items, &mut work.keys, &mut work.computed);
    let mut row = Vec::with_capacity(columns.len());
    machine.each_item(apply, &mut work.walk, |machine, item| {
        machine.consume_fuel(columns.len())?;
        machine.check_heap_limit(words * items.len())?;
        let nil = machine.heap.nil();
        let values = computed.unwrap_or(nil);
        let (first, rest) = machine.heap.uncons(values).unwrap_or((nil, values));
        let mut values = first;
        row.clear();
        for column in columns {
            row.push(match column.field {
                Some(field) => machine.value_or_nil(item, field)?,
                None if several => {
                    let (value, others) = machine.heap.uncons(values).unwrap_or((nil, values));
                    values = others;
                    value
                }
                None => first,
            });
        }
        keys.extend(row.iter().copied());
        items.push(item);
        advance(computed, (nil, Some(rest)));
        Ok(())
    })
}
