//! Rules that several operations share.
//!
//! * [`input`]: the value that an operation reads, and the keys of items
//! * [`compare`]: comparisons, and what they say about the current value
//! * [`flow`]: conditions and branches
//! * [`lists`], [`group`], [`fold`]: lists
//! * [`objects`], [`reshape`], [`join`], [`entries`]: objects
//! * [`values`]: numbers and texts; [`names`]: of data, of the memory, of `let`
//! * [`tool`]: arguments of tools

mod compare;
mod entries;
mod flow;
mod fold;
mod group;
mod input;
mod join;
mod lists;
mod names;
mod objects;
mod reshape;
mod tool;
mod values;

use super::rule::Rule;
use super::ty::TyId;
use super::walk::TypePart;
use crate::analysis::Visiting;
use crate::shape::{Aggregate, Branching, Chosen, Comparison, DateOf, Entry, KeyedBy, Leaf};
use crate::shape::{NumberOf, OpShape, Order, Reshaping, TextOf, Which};

/// Says what holds in a part of an operation.
pub(super) fn before(rule: &mut Rule, shape: OpShape, part: &mut TypePart) -> Visiting {
    match (shape, part.field) {
        (OpShape::Branch(of), _) => return flow::before_branch(rule, of, part),
        (OpShape::Connective(decisive), _) => return flow::before_connected(rule, decisive, part),
        (OpShape::FirstOf, _) => return flow::before_first(rule, part),
        // Their constants are looked at by the operation itself.
        (OpShape::Read, "default") | (OpShape::Number(NumberOf::Rounded), "precision") => {
            return Visiting::Skip
        }
        (OpShape::Accumulator, "expr") => fold::before_body(rule, part),
        (OpShape::Grouped, _) => group::before(rule, part),
        (_, "where" | "expr") => lists::before_body(rule, part),
        (OpShape::Reshaped(_), _) => reshape::before_fields(rule, part),
        (OpShape::Date(DateOf::Sum), "amount") => values::before_amount(rule, part),
        (OpShape::Call, _) => tool::before(rule, part),
        _ => {}
    }
    Visiting::Visit
}

/// Takes the type of a part of an operation. Returns whether it is kept for the operation's value.
pub(super) fn after(rule: &mut Rule, shape: OpShape, part: &TypePart, ty: TyId) -> bool {
    match shape {
        OpShape::Branch(of) => flow::after_branch(rule, of, part, ty),
        OpShape::Connective(decisive) => flow::after_connected(rule, decisive, ty),
        OpShape::FirstOf => flow::after_first(rule, ty),
        OpShape::ListOfParts => rule.join_all(ty),
        OpShape::Concatenated | OpShape::Zipped => lists::after_list(rule, part, ty),
        OpShape::Merged => objects::after_object(rule, part, ty),
        OpShape::Text(TextOf::Several) => values::after_part(rule, part, ty),
        OpShape::Permuted(Order::Keys) => false,
        _ => true,
    }
}

/// Returns the type of an operation whose parts have been visited.
pub(super) fn value(rule: &mut Rule, shape: OpShape) -> TyId {
    match shape {
        OpShape::Leaf(Leaf::Context) => names::load(rule),
        OpShape::Leaf(Leaf::Name) => names::var(rule),
        OpShape::Leaf(Leaf::Constant) => rule.part("value"),
        OpShape::Leaf(Leaf::Clock) => TyId::TEXT,
        OpShape::Input => flow::it(rule),
        OpShape::Chained => flow::pipe(rule),
        OpShape::Bind => flow::bind(rule),
        OpShape::Branch(Branching::Two) => flow::choose(rule),
        OpShape::Branch(Branching::Cases) => flow::switch(rule),
        OpShape::FirstOf => flow::coalesce(rule),
        OpShape::Connective(_) => flow::connect(rule),
        OpShape::Negation => flow::not(rule),
        OpShape::Subset(Chosen::Among) => lists::filter_in(rule),
        OpShape::Subset(Chosen::Distinct) => lists::distinct(rule),
        OpShape::Permuted(Order::Keys) => lists::sort(rule),
        OpShape::Subset(Chosen::Where(_))
        | OpShape::Item(Which::Found)
        | OpShape::Aggregate(Aggregate::Decided)
        | OpShape::ListOfBody
        | OpShape::FlatListOfBody => lists::each(rule, shape),
        OpShape::Subset(Chosen::Begin | Chosen::Rest)
        | OpShape::Permuted(Order::Backwards)
        | OpShape::Item(Which::Placed)
        | OpShape::Flattened
        | OpShape::Chunked => lists::same(rule, shape),
        OpShape::Item(Which::Keyed) => lists::keyed_item(rule),
        OpShape::Aggregate(Aggregate::Count) => lists::count(rule),
        OpShape::Aggregate(of) => lists::aggregate(rule, of),
        OpShape::Accumulator => fold::fold(rule),
        OpShape::ObjectOfParts => objects::object(rule),
        OpShape::ListOfParts => lists::several(rule, false),
        OpShape::Concatenated => lists::several(rule, false),
        OpShape::Zipped => lists::several(rule, true),
        OpShape::Range => lists::range(rule),
        OpShape::Merged => objects::merge(rule),
        OpShape::Read => objects::get(rule),
        OpShape::Reshaped(Reshaping::Select) => objects::select(rule),
        OpShape::Reshaped(Reshaping::Set) => reshape::set(rule),
        OpShape::Reshaped(Reshaping::Unset | Reshaping::Rename) => reshape::change(rule),
        OpShape::Entries(Entry::Pair) => entries::entries(rule),
        OpShape::Entries(Entry::Key) => entries::keys(rule),
        OpShape::KeyedMap(KeyedBy::Pairs) => entries::from_entries(rule),
        OpShape::KeyedMap(KeyedBy::Items) => lists::index_by(rule),
        OpShape::Grouped => group::group(rule),
        OpShape::Joined => join::join(rule),
        OpShape::Call => tool::call(rule),
        OpShape::Compared(Comparison::Pattern) => values::matches(rule),
        OpShape::Compared(comparison) => compare::comparison(rule, comparison),
        OpShape::Number(of @ (NumberOf::Sum | NumberOf::Quotient | NumberOf::Modulo)) => {
            values::arithmetic(rule, of)
        }
        OpShape::Number(of @ (NumberOf::Rounded | NumberOf::Absolute | NumberOf::Whole)) => {
            values::rounding(rule, of)
        }
        OpShape::Text(TextOf::Several) => TyId::TEXT,
        OpShape::Text(of) => values::text(rule, of),
        OpShape::Date(DateOf::Difference) => values::date_diff(rule),
        OpShape::Date(of) => values::date(rule, of),
        OpShape::Kind => values::kind(rule),
    }
}
