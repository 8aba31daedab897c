//! The keys of a list's items: a field of each, or the value of an expression for each.

use super::field::FIELD_OF_ITEMS;
use super::{Field, FieldKind, Planned};
use crate::code::{Apply, ConstId, Machine, NO_CONST};
use crate::compile::Plan;
use crate::edition::Edition;
use crate::fault::Code;
use ptc_kernels::{Context, Kinds, Walk};
use ptc_term::heap::Heap;
use ptc_term::rooted;
use ptc_term::stop::Stop;

/// The field `expr` of operations that have it in place of `field`.
pub(super) const EXPR: Field = Field::alternative(
    "expr",
    FieldKind::Expr,
    "what is evaluated for each item, in place of the field",
);

/// The fields of operations that read a field of the items, or evaluate an expression for each.
pub(super) const FIELD_OR_EXPR: &[Field] = &[
    EXPR,
    Field::alternative("field", FieldKind::String, FIELD_OF_ITEMS[0].about),
];

/// The error if both are given.
const NOT_BOTH: &str = "'field' or 'expr', not both";

/// Checks that one of `field` and `expr` is given.
pub(super) fn check_forms(plan: &Plan) -> Planned {
    if plan.edition() == Edition::One {
        return Ok(());
    }
    check_not_both(plan)?;
    match (plan.field("field"), plan.field("expr")) {
        (None, None) => plan.report(Code::FieldMissing, "field", vec![]),
        _ => Ok(()),
    }
}

/// Checks that not both of `field` and `expr` are given.
pub(super) fn check_not_both(plan: &Plan) -> Planned {
    plan.not_both(["field", "expr"], NOT_BOTH)
}

/// Returns whether the operation has a key that is evaluated.
pub(super) fn has_expr(plan: &Plan) -> bool {
    plan.edition() == Edition::Two && plan.field("expr").is_some()
}

/// Returns whether the operation has a key that is a field.
pub(super) fn has_field(plan: &Plan) -> bool {
    plan.edition() == Edition::Two && plan.field("field").is_some()
}

/// Applies the operation to its current value, with the key of each item. `otherwise` is the constant if the key is not
/// evaluated; `mode` as in [`Apply`].
pub(super) fn plan_keys(plan: &mut Plan, otherwise: ConstId, mode: u32) {
    match has_expr(plan) {
        true => {
            plan.each_item("expr");
            plan.apply(1, (NO_CONST, NO_CONST, mode));
        }
        false => {
            plan.needs_input();
            plan.apply(0, (otherwise, NO_CONST, mode));
        }
    }
}

/// An item's key, and the keys of the items after it if they are in a list.
pub(super) type Keyed<T> = (T, Option<T>);

/// A walk over items with keys.
#[derive(Debug, Clone, PartialEq)]
pub struct Keying<T> {
    pub(super) walk: Walk<T>,
    /// The keys of the items that are not visited yet, if they are computed.
    pub(super) computed: Option<T>,
    /// Whether the search for values has begun, and whether it has ended.
    begun: bool,
    searched: bool,
    pub(super) kinds: Kinds,
}

rooted!(Keying { optional: computed; states: walk; plain: begun, searched, kinds });

impl<T: Copy> Keying<T> {
    pub(super) fn over(list: T) -> Self {
        Keying {
            walk: Walk::over(list),
            computed: None,
            begun: false,
            searched: false,
            kinds: Kinds::default(),
        }
    }

    /// Begins to read the keys: before the first item is visited.
    pub(super) fn begin<H: Heap<Term = T>>(
        &mut self,
        machine: &mut Machine<'_, H>,
        apply: &Apply,
    ) -> Result<(), Stop> {
        if self.computed.is_none() && apply.operands > 0 {
            self.computed = Some(machine.one_operand(apply));
        }
        if machine.values() && !self.searched {
            self.search(machine, apply)?;
        }
        Ok(())
    }

    /// Searches the keys for values.
    fn search<H: Heap<Term = T>>(
        &mut self,
        machine: &mut Machine<'_, H>,
        apply: &Apply,
    ) -> Result<(), Stop> {
        let rest = &mut self.walk.rest;
        match self.computed {
            Some(keys) => {
                if !self.begun {
                    (*rest, self.begun) = (keys, true);
                }
                machine.search_items(rest, &mut self.kinds, |_, key| Ok(key))?;
            }
            None => machine.search_items(rest, &mut self.kinds, |context, item| {
                key_of(context, apply, None, item).map(|(key, _)| key)
            })?,
        }
        self.walk.rest = machine.slot(apply.input);
        self.searched = true;
        Ok(())
    }
}

/// Returns the key of an item: the next one in the list of the keys, a field of the item, or the item itself.
#[inline]
pub(super) fn key_of<H: Heap>(
    context: &mut Context<'_, H>,
    apply: &Apply,
    keys: Option<H::Term>,
    item: H::Term,
) -> Result<Keyed<H::Term>, Stop> {
    Ok(match (keys, apply.key) {
        (Some(keys), _) => match context.heap.uncons(keys) {
            Some((key, rest)) => (key, Some(rest)),
            None => (context.heap.nil(), Some(keys)),
        },
        (None, NO_CONST) => (item, None),
        (None, field) => (context.value_or_nil(item, field)?, None),
    })
}

/// Goes on to the next key.
#[inline]
pub(super) fn advance<T>(computed: &mut Option<T>, (_, rest): Keyed<T>) {
    if rest.is_some() {
        *computed = rest;
    }
}
