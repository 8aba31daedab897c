//! Rules of operations on lists.

use super::flow::{begin_condition, facts};
use super::input::{item, item_field, keys, read_item};
use crate::shape::{Aggregate, Chosen, OpShape};
use crate::typing::finding::{Detail, FindingCode, Subject};
use crate::typing::rule::Rule;
use crate::typing::ty::{Kinds, Ty, TyId};
use crate::typing::walk::TypePart;

/// The body of an operation over the current list.
pub fn before_body(rule: &mut Rule, part: &mut TypePart) {
    let item = item(rule);
    begin_condition(rule);
    rule.of_item(part, item);
}

/// The type of loops over the current list: `filter`, `reject`, `map`, `find`, `some`, `every`, `flat_map`.
pub fn each(rule: &mut Rule, shape: OpShape) -> TyId {
    let item = item(rule);
    let body = match shape {
        OpShape::ListOfBody | OpShape::FlatListOfBody => "expr",
        _ => "where",
    };
    if rule.field(body).is_none() {
        return TyId::UNKNOWN;
    }
    let last = rule.body(body, item);
    let facts = facts(rule, item).0;
    match shape {
        OpShape::ListOfBody => rule.types().list(last),
        OpShape::Subset(Chosen::Where(false)) => rule.types().list(facts.no),
        OpShape::Subset(_) => rule.types().list(facts.yes),
        OpShape::Item(_) => rule.types().or_null(facts.yes),
        OpShape::FlatListOfBody => {
            let node = rule.place("expr");
            let list = rule.need(last, Kinds::LIST, Subject::Operand("expr"), node);
            let item = rule.types().item(list);
            rule.types().list(item)
        }
        _ => TyId::BOOL,
    }
}

/// The type of operations whose value is made of the current list: that of the list, or of one item.
pub fn same(rule: &mut Rule, shape: OpShape) -> TyId {
    let item = item(rule);
    match shape {
        OpShape::Item(_) => rule.types().or_null(item),
        OpShape::Chunked => {
            let list = rule.types().list(item);
            rule.types().list(list)
        }
        OpShape::Flattened => {
            let inner = rule.types().item(item);
            let rest = rule.types().only(item, Kinds::ALL.without(Kinds::LIST));
            let item = match item {
                TyId::UNKNOWN => item,
                _ => rule.types().union(inner, rest),
            };
            rule.types().list(item)
        }
        _ => rule.types().list(item),
    }
}

/// The type of `count`.
pub fn count(rule: &mut Rule) -> TyId {
    item(rule);
    TyId::INT
}

/// The type of `min_by` and `max_by`.
pub fn keyed_item(rule: &mut Rule) -> TyId {
    let keys = keys(rule);
    rule.types().or_null(keys.item)
}

/// The type of what is computed of the keys of all items.
pub fn aggregate(rule: &mut Rule, of: Aggregate) -> TyId {
    let keys = keys(rule);
    let number = Kinds::NUMBER.or(Kinds::NULL);
    let kinds = rule.types().kinds(keys.ty);
    if of != Aggregate::Extreme && rule.may_be_decimal(keys.ty) {
        return TyId::UNKNOWN;
    }
    match of {
        Aggregate::Sum => {
            rule.need(keys.ty, number, keys.subject, keys.node);
            let numbers = rule.types().only(keys.ty, Kinds::NUMBER);
            whole(rule, numbers)
        }
        Aggregate::Mean | Aggregate::Rank => {
            if !kinds.is_empty() && !kinds.meets(number) {
                let details = vec![
                    Detail::Subject(keys.subject),
                    Detail::Kinds(Kinds::NUMBER),
                    Detail::KindsOf(keys.ty),
                ];
                rule.warn(FindingCode::WrongKind, keys.node, details);
            }
            let numbers = rule.types().only(keys.ty, Kinds::NUMBER);
            let floats = of == Aggregate::Mean || rule.types().is_only_float(numbers);
            let ty = match (hides_decimal(rule, numbers), floats) {
                (true, _) => TyId::NUMBER,
                (false, true) => TyId::FLOAT,
                (false, false) => TyId::PLAIN,
            };
            rule.types().or_null(ty)
        }
        Aggregate::Extreme => {
            let ty = rule.types().not_null(keys.ty);
            rule.types().or_null(ty)
        }
        Aggregate::Count | Aggregate::Decided => TyId::UNKNOWN,
    }
}

/// Returns the type of what is computed of numbers without a division: an integer, if they are.
pub fn whole(rule: &mut Rule, numbers: TyId) -> TyId {
    let types = rule.types();
    let all = |is: fn(Ty) -> bool| types.members(&numbers).iter().all(|id| is(types.get(*id)));
    match () {
        _ if all(|ty| matches!(ty, Ty::Int | Ty::IntOf(_) | Ty::Never)) => TyId::INT,
        _ if all(|ty| !matches!(ty, Ty::Number | Ty::Unknown)) => TyId::PLAIN,
        _ => TyId::NUMBER,
    }
}

/// Returns whether a number of this type may be a decimal.
pub fn hides_decimal(rule: &mut Rule, numbers: TyId) -> bool {
    let values = rule.walk.values;
    let types = rule.types();
    let mut members = types.members(&numbers).iter();
    values && members.any(|id| matches!(types.get(*id), Ty::Number | Ty::Unknown))
}

/// What can be the name of a key.
const NAME: Kinds = Kinds::TEXT.or(Kinds::NUMBER).or(Kinds::OTHER);

/// The type of `index_by`.
pub fn index_by(rule: &mut Rule) -> TyId {
    let keys = keys(rule);
    rule.need(keys.ty, NAME, keys.subject, keys.node);
    TyId::OBJECT
}

/// The type of `distinct`.
pub fn distinct(rule: &mut Rule) -> TyId {
    let keys = keys(rule);
    if keys.subject == Subject::Items {
        rule.read_all(keys.item);
    }
    rule.types().list(keys.item)
}

/// The type of `sort_by`.
pub fn sort(rule: &mut Rule) -> TyId {
    let item = item(rule);
    let source = rule.source;
    if let Some(by) = rule.field("by") {
        for key in source.elements(by) {
            let expr = source.field(key, "expr").filter(|it| !rule.is_null(*it));
            let field = source.field(key, "field").filter(|_| expr.is_none());
            if let Some((field, text)) = field.and_then(|it| Some((it, source.text(it)?))) {
                let name = rule.types().names.id(text);
                read_item(rule, item, name, field);
            }
        }
    } else if rule.field("expr").is_none() {
        if let Some(name) = rule.name("field") {
            item_field(rule, item, name);
        }
    }
    rule.types().list(item)
}

/// The type of `filter_in`.
pub fn filter_in(rule: &mut Rule) -> TyId {
    let item = item(rule);
    let name = rule.name("field");
    let field = match name {
        Some(name) => item_field(rule, item, name),
        None => TyId::UNKNOWN,
    };
    let value = rule.part("value");
    let kinds = (rule.types().kinds(field), rule.types().kinds(value));
    let items = rule.types().item(value);
    let of_items = rule.types().kinds(items);
    let node = rule.place("value");
    let never = !kinds.1.meets(Kinds::LIST.or(Kinds::OBJECT))
        || kinds.1 == Kinds::LIST && !of_items.is_empty() && !of_items.meets(kinds.0);
    if never && !kinds.0.is_empty() && !kinds.1.is_empty() {
        let details = vec![
            Detail::Bool(false),
            Detail::Subject(name.map_or(Subject::Items, Subject::ItemsField)),
            Detail::Kinds(kinds.0),
            Detail::Kinds(kinds.1),
        ];
        rule.warn(FindingCode::Always, node, details);
    }
    let objects = rule.types().only(item, Kinds::OBJECT);
    rule.types().list(objects)
}

/// A list of `concat` or `zip`.
pub fn after_list(rule: &mut Rule, part: &TypePart, ty: TyId) -> bool {
    let place = rule.own().count;
    rule.own().count += 1;
    let ty = rule.need(ty, Kinds::LIST, Subject::Part("lists", place), part.node);
    let item = rule.types().item(ty);
    rule.join_all(item)
}

/// The type of `concat` and of `zip`.
pub fn several(rule: &mut Rule, zipped: bool) -> TyId {
    let item = rule.own().all;
    let list = rule.types().list(item);
    match zipped {
        true => rule.types().list(list),
        false => list,
    }
}

/// The type of `range`.
pub fn range(rule: &mut Rule) -> TyId {
    for name in ["from", "to"] {
        let (ty, node) = (rule.part(name), rule.place(name));
        integer(rule, ty, Subject::Operand(name), node);
    }
    rule.types().list(TyId::INT)
}

/// Checks that a value is an integer.
pub fn integer(rule: &mut Rule, ty: TyId, subject: Subject, node: u32) {
    let number = rule.need(ty, Kinds::NUMBER, subject, node);
    if rule.types().is_only_float(number) {
        let details = vec![Detail::Subject(subject), Detail::Type(number)];
        rule.error(FindingCode::WrongInteger, node, details);
    }
}
