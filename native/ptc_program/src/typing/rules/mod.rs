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
use super::walk::Next;
use crate::shape::{Aggregate, Branching, Chosen, Comparison, DateOf, Entry, KeyedBy, Leaf};
use crate::shape::{NumberOf, OpShape, Order, Reshaping, TextOf, Which};

/// The rule of an operation: which part is visited next, or the type of its value.
pub(super) fn of(rule: &mut Rule, shape: OpShape) -> Next {
    match shape {
        OpShape::Leaf(Leaf::Context) => names::load(rule),
        OpShape::Leaf(Leaf::Name) => names::var(rule),
        OpShape::Leaf(Leaf::Constant) => flow::literal(rule),
        OpShape::Leaf(Leaf::Clock) => Next::Is(TyId::TEXT),
        OpShape::Input => flow::it(rule),
        OpShape::Chained => flow::pipe(rule),
        OpShape::Bind => flow::bind(rule),
        OpShape::Branch(Branching::Two) => flow::choose(rule),
        OpShape::Branch(Branching::Cases) => flow::switch(rule),
        OpShape::FirstOf => flow::coalesce(rule),
        OpShape::Connective(decisive) => flow::connect(rule, decisive),
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
        OpShape::Aggregate(
            of @ (Aggregate::Sum | Aggregate::Mean | Aggregate::Rank | Aggregate::Extreme),
        ) => lists::aggregate(rule, of),
        OpShape::Accumulator => fold::fold(rule),
        OpShape::ObjectOfParts => objects::object(rule),
        OpShape::ListOfParts => flow::list(rule),
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
        OpShape::Text(TextOf::Several) => values::join(rule),
        OpShape::Text(of) => values::text(rule, of),
        OpShape::Date(DateOf::Difference) => values::date_diff(rule),
        OpShape::Date(of) => values::date(rule, of),
        OpShape::Kind => values::kind(rule),
    }
}
