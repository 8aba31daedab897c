//! Rules of operations on lists.

use super::flow::{begin_condition, facts};
use super::input::{item_field, keys, read_item};
use crate::edition::Edition;
use crate::shape::{Aggregate, Chosen, OpShape};
use crate::typing::finding::{Detail, FindingCode, Subject};
use crate::typing::rule::Rule;
use crate::typing::ty::{Kinds, Ty, TyId};
use crate::typing::walk::{How, Next, Visit};

/// The rule of loops over the current list: `filter`, `reject`, `map`, `find`, `some`, `every`, `flat_map`.
pub fn each(rule: &mut Rule, shape: OpShape) -> Next {
    let body = match shape {
        OpShape::ListOfBody | OpShape::FlatListOfBody => "expr",
        _ => "where",
    };
    if rule.stage == 0 {
        let item = rule.items();
        *rule.kept(0) = item;
        begin_condition(rule);
        return rule.each_named(body, item);
    }
    let item = *rule.kept(0);
    let last = rule.last_for(item);
    rule.current = item;
    let facts = facts(rule).0;
    Next::Is(match shape {
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
    })
}

/// The rule of operations whose value is made of the current list: its type is that of the list, or of one item.
pub fn same(rule: &mut Rule, shape: OpShape) -> Next {
    let item = rule.items();
    Next::Is(match shape {
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
    })
}

/// The rule of `count`.
pub fn count(rule: &mut Rule) -> Next {
    match rule.stage {
        0 => {
            let item = rule.items();
            match rule.field("where") {
                Some(_) => rule.each("where", item),
                None => Next::Is(TyId::INT),
            }
        }
        _ => Next::Is(TyId::INT),
    }
}

/// The rule of `min_by` and `max_by`.
pub fn keyed_item(rule: &mut Rule) -> Next {
    match keys(rule) {
        Ok(keys) => Next::Is(rule.types().or_null(keys.item)),
        Err(next) => next,
    }
}

/// The rule of what is computed of the keys of all items.
pub fn aggregate(rule: &mut Rule, of: Aggregate) -> Next {
    let keys = match keys(rule) {
        Ok(keys) => keys,
        Err(next) => return next,
    };
    let node = match keys.subject {
        Subject::ItemsField(_) => rule.place("field"),
        _ => rule.place("expr"),
    };
    let number = Kinds::NUMBER.or(Kinds::NULL);
    let kinds = rule.types().kinds(keys.ty);
    if of != Aggregate::Extreme && rule.may_be_decimal(keys.ty) {
        return Next::Is(TyId::UNKNOWN);
    }
    Next::Is(match of {
        Aggregate::Sum => {
            rule.need(keys.ty, number, keys.subject, node);
            let numbers = rule.types().only(keys.ty, Kinds::NUMBER);
            whole(rule, numbers)
        }
        Aggregate::Mean | Aggregate::Rank => {
            if !kinds.is_empty() && !kinds.meets(number) {
                let details = vec![
                    Detail::Subject(keys.subject),
                    Detail::Kinds(Kinds::NUMBER),
                    Detail::Kinds(kinds),
                ];
                rule.warn(FindingCode::WrongKind, node, details);
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
        _ => {
            let ty = rule.types().not_null(keys.ty);
            rule.types().or_null(ty)
        }
    })
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

/// The rule of `index_by`.
pub fn index_by(rule: &mut Rule) -> Next {
    let keys = match keys(rule) {
        Ok(keys) => keys,
        Err(next) => return next,
    };
    let node = match keys.subject {
        Subject::ItemsField(_) => rule.place("field"),
        _ => rule.place("expr"),
    };
    rule.need(keys.ty, NAME, keys.subject, node);
    Next::Is(TyId::OBJECT)
}

/// The rule of `distinct`.
pub fn distinct(rule: &mut Rule) -> Next {
    let keys = match keys(rule) {
        Ok(keys) => keys,
        Err(next) => return next,
    };
    if keys.subject == Subject::Items {
        rule.read_all(keys.item);
    }
    Next::Is(rule.types().list(keys.item))
}

/// What can be the name of a key.
const NAME: Kinds = Kinds::TEXT.or(Kinds::NUMBER).or(Kinds::OTHER);

/// The rule of `sort_by`.
pub fn sort(rule: &mut Rule) -> Next {
    let item = match rule.stage {
        0 => {
            let item = rule.items();
            *rule.kept(0) = item;
            item
        }
        _ => *rule.kept(0),
    };
    if let Some(by) = rule.field("by") {
        let source = rule.source;
        while let Some(key) = rule.next_element(Some(by)) {
            if let Some(expr) = source.field(key, "expr").filter(|it| !rule.is_null(*it)) {
                let visit = Visit::new(expr, How::Expr, item);
                return Next::Visit(rule.of_item(visit, item));
            }
            if let Some(field) = source.field(key, "field") {
                if let Some(text) = source.text(field) {
                    let name = rule.types().names.id(text);
                    read_item(rule, item, name, field);
                }
            }
        }
        return Next::Is(rule.types().list(item));
    }
    if rule.stage == 0 {
        if rule.field("expr").is_some() {
            return rule.each("expr", item);
        }
        if let Some(name) = rule.name("field") {
            item_field(rule, item, name);
        }
    }
    Next::Is(rule.types().list(item))
}

/// The rule of `filter_in`.
pub fn filter_in(rule: &mut Rule) -> Next {
    if rule.stage == 0 {
        let item = rule.items();
        *rule.kept(0) = item;
        *rule.kept(1) = match rule.name("field") {
            Some(name) => item_field(rule, item, name),
            None => TyId::UNKNOWN,
        };
        return rule.visit("value", How::Value);
    }
    let (item, field, value) = (*rule.kept(0), *rule.kept(1), rule.last());
    let kinds = (rule.types().kinds(field), rule.types().kinds(value));
    let items = rule.types().item(value);
    let of_items = rule.types().kinds(items);
    let node = rule.place("value");
    let never = !kinds.1.meets(Kinds::LIST.or(Kinds::OBJECT))
        || kinds.1 == Kinds::LIST && !of_items.is_empty() && !of_items.meets(kinds.0);
    if never && !kinds.0.is_empty() && !kinds.1.is_empty() {
        let subject = match rule.name("field") {
            Some(name) => Subject::ItemsField(name),
            None => Subject::Items,
        };
        let details = vec![
            Detail::Bool(false),
            Detail::Subject(subject),
            Detail::Kinds(kinds.0),
            Detail::Kinds(kinds.1),
        ];
        rule.warn(FindingCode::Always, node, details);
    }
    let objects = rule.types().only(item, Kinds::OBJECT);
    Next::Is(rule.types().list(objects))
}

/// The rule of `concat` and `zip`.
pub fn several(rule: &mut Rule, zip: bool) -> Next {
    let list = rule.field("lists");
    if rule.stage > 0 {
        let (all, last, place) = (*rule.kept(0), rule.last(), rule.stage - 1);
        let node = *rule.number();
        let ty = rule.need(last, Kinds::LIST, Subject::Part("lists", place), node);
        let item = rule.types().item(ty);
        *rule.kept(0) = rule.types().union(all, item);
    }
    let how = match rule.edition() {
        Edition::One => How::Expr,
        Edition::Two => How::Template,
    };
    let input = rule.current;
    match rule.next_element(list) {
        Some(element) => {
            *rule.number() = element;
            Next::Visit(Visit::new(element, how, input))
        }
        None => {
            let item = *rule.kept(0);
            let list = rule.types().list(item);
            Next::Is(match zip {
                true => rule.types().list(list),
                false => list,
            })
        }
    }
}

/// The rule of `range`.
pub fn range(rule: &mut Rule) -> Next {
    match rule.stage {
        0 => rule.visit("from", How::Template),
        stage => {
            let name = if stage == 1 { "from" } else { "to" };
            let (last, node) = (rule.last(), rule.place(name));
            integer(rule, last, Subject::Operand(name), node);
            match stage {
                1 => rule.visit("to", How::Template),
                _ => Next::Is(rule.types().list(TyId::INT)),
            }
        }
    }
}

/// Checks that a value is an integer.
pub fn integer(rule: &mut Rule, ty: TyId, subject: Subject, node: u32) {
    let number = rule.need(ty, Kinds::NUMBER, subject, node);
    if rule.types().is_only_float(number) {
        let details = vec![Detail::Subject(subject), Detail::Type(number)];
        rule.error(FindingCode::WrongInteger, node, details);
    }
}
