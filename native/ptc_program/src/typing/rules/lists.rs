//! Rules of operations on lists.

use super::flow::{begin_condition, facts};
use super::input::{item_field, keys, read_item};
use crate::edition::Edition;
use crate::opcode::OpCode;
use crate::typing::finding::{Code, Detail, Subject};
use crate::typing::rule::Rule;
use crate::typing::ty::{FieldTy, Kinds, Ty, TyId};
use crate::typing::walk::{How, Next, Visit};

/// The rule of loops over the current list: `filter`, `reject`, `map`, `find`, `some`, `every`, `flat_map`.
pub fn each(rule: &mut Rule) -> Next {
    let op = rule.op().unwrap_or(OpCode::Map);
    let body = match op {
        OpCode::Map | OpCode::FlatMap => "expr",
        _ => "where",
    };
    if rule.stage == 0 {
        let item = rule.items();
        *rule.kept(0) = item;
        begin_condition(rule);
        return rule.each_named(body, item);
    }
    let (item, last) = (*rule.kept(0), rule.last());
    rule.current = item;
    let facts = facts(rule).0;
    Next::Is(match op {
        OpCode::Map => rule.types().list(last),
        OpCode::Filter => rule.types().list(facts.yes),
        OpCode::Reject => rule.types().list(facts.no),
        OpCode::Find => rule.types().or_null(facts.yes),
        OpCode::FlatMap => {
            let node = rule.place("expr");
            let list = rule.need(last, Kinds::LIST, Subject::Operand("expr"), node);
            let item = rule.types().item(list);
            rule.types().list(item)
        }
        _ => TyId::BOOL,
    })
}

/// The rule of operations whose value is made of the current list: its type is that of the list, or of one item.
pub fn same(rule: &mut Rule) -> Next {
    let item = rule.items();
    Next::Is(match rule.op() {
        Some(OpCode::First | OpCode::Last | OpCode::Nth) => rule.types().or_null(item),
        Some(OpCode::Chunk) => {
            let list = rule.types().list(item);
            rule.types().list(list)
        }
        Some(OpCode::Flatten) => {
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

/// The rule of what is computed of the keys of all items: `sum`, `avg`, `min`, `max`, `min_by`, `max_by`, `median`,
/// `percentile`.
pub fn aggregate(rule: &mut Rule) -> Next {
    let keys = match keys(rule) {
        Ok(keys) => keys,
        Err(next) => return next,
    };
    let op = rule.op().unwrap_or(OpCode::Sum);
    let node = match keys.subject {
        Subject::ItemsField(_) => rule.place("field"),
        _ => rule.place("expr"),
    };
    let number = Kinds::NUMBER.or(Kinds::NULL);
    let kinds = rule.types().kinds(keys.ty);
    Next::Is(match op {
        OpCode::Sum => {
            rule.need(keys.ty, number, keys.subject, node);
            let numbers = rule.types().only(keys.ty, Kinds::NUMBER);
            whole(rule, numbers)
        }
        OpCode::Avg | OpCode::Median | OpCode::Percentile => {
            if !kinds.is_empty() && !kinds.meets(number) {
                let details = vec![
                    Detail::Subject(keys.subject),
                    Detail::Kinds(Kinds::NUMBER),
                    Detail::Kinds(kinds),
                ];
                rule.warn(Code::WrongKind, node, details);
            }
            rule.types().union(TyId::NUMBER, TyId::NULL)
        }
        OpCode::Min | OpCode::Max => {
            let ty = rule.types().not_null(keys.ty);
            rule.types().or_null(ty)
        }
        _ => rule.types().or_null(keys.item),
    })
}

/// Returns whether a number is an integer.
pub fn whole(rule: &mut Rule, numbers: TyId) -> TyId {
    let members = rule.types().members(&numbers).to_vec();
    let is_int = |rule: &mut Rule, id: &TyId| {
        matches!(rule.types().get(*id), Ty::Int | Ty::IntOf(_) | Ty::Never)
    };
    match members.iter().all(|id| is_int(rule, id)) {
        true => TyId::INT,
        false => TyId::NUMBER,
    }
}

/// The rule of `distinct` and `index_by`.
pub fn keyed(rule: &mut Rule) -> Next {
    let keys = match keys(rule) {
        Ok(keys) => keys,
        Err(next) => return next,
    };
    match rule.op() {
        Some(OpCode::IndexBy) => {
            let node = match keys.subject {
                Subject::ItemsField(_) => rule.place("field"),
                _ => rule.place("expr"),
            };
            rule.need(keys.ty, NAME, keys.subject, node);
            Next::Is(TyId::OBJECT)
        }
        _ => {
            if keys.subject == Subject::Items {
                rule.read_all(keys.item);
            }
            Next::Is(rule.types().list(keys.item))
        }
    }
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
        rule.warn(Code::Always, node, details);
    }
    let objects = rule.types().only(item, Kinds::OBJECT);
    Next::Is(rule.types().list(objects))
}

/// The rule of `concat` and `zip`.
pub fn several(rule: &mut Rule) -> Next {
    let list = rule.field("lists");
    let zip = rule.op() == Some(OpCode::Zip);
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
    if let Ty::FloatOf(_) = rule.types().get(number) {
        let details = vec![Detail::Subject(subject), Detail::Type(number)];
        rule.error(Code::WrongInteger, node, details);
    }
}

/// The rule of `fold`. What is accumulated is taken to keep its kind; if it does not, what was found inside counts as a
/// warning.
pub fn fold(rule: &mut Rule) -> Next {
    match rule.stage {
        0 => {
            let item = rule.items();
            *rule.kept(0) = item;
            rule.visit("init", How::Template)
        }
        1 => {
            let (item, init) = (*rule.kept(0), rule.last());
            let acc = widest(rule, init);
            (*rule.kept(0), *rule.kept(1)) = (init, acc);
            *rule.number() = rule.walk.findings.len() as u32;
            let text = rule.text("as").unwrap_or(b"acc");
            let name = rule.types().names.id(text);
            match rule.visit_of("expr", How::Expr) {
                Some(visit) => {
                    let mut visit = rule.of_item(visit, item);
                    visit.binds[0] = Some((name, acc));
                    Next::Visit(visit)
                }
                None => rule.absent(),
            }
        }
        _ => {
            let (init, acc, last) = (*rule.kept(0), *rule.kept(1), rule.last());
            let kinds = (rule.types().kinds(last), rule.types().kinds(acc));
            if !kinds.0.within(kinds.1) {
                let first = *rule.number() as usize;
                for finding in rule.walk.findings.iter_mut().skip(first) {
                    finding.severity = crate::typing::finding::Severity::Warning;
                }
                return Next::Is(TyId::UNKNOWN);
            }
            Next::Is(rule.types().union(init, last))
        }
    }
}

/// Returns the type of all values of the same kinds.
fn widest(rule: &mut Rule, ty: TyId) -> TyId {
    let mut all = TyId::NEVER;
    for member in rule.types().members(&ty).to_vec() {
        let wide = match rule.types().get(member) {
            Ty::Int | Ty::IntOf(_) => TyId::NUMBER,
            Ty::Null => TyId::UNKNOWN,
            _ => rule.types().wide(member),
        };
        all = rule.types().union(all, wide);
    }
    all
}

/// The rule of `group_by`: the keys, and what is computed of the list of a group's items.
pub fn group(rule: &mut Rule) -> Next {
    let each = rule.field("each");
    if rule.stage == 0 {
        let item = rule.items();
        *rule.kept(0) = item;
        if rule.field("expr").is_some() {
            return rule.each("expr", item);
        }
        group_keys(rule, item);
    } else if rule.field("expr").is_some() && rule.stage == 1 {
        let (text, ty) = (rule.text("as").unwrap_or(b"key"), rule.last());
        let name = rule.types().names.id(text);
        add_key(rule, name, ty);
    } else {
        let key = *rule.number();
        rule.add_part(key, 0);
    }
    let item = *rule.kept(0);
    let list = rule.types().list(item);
    match rule.next_pair(each) {
        Some((key, value)) => {
            *rule.number() = key;
            Next::Visit(Visit {
                given: false,
                each: true,
                ..Visit::new(value, How::Template, list)
            })
        }
        None => {
            // What `each` computes wins over the keys.
            let mut fields = rule.take_parts();
            fields.reverse();
            if each.is_none() {
                let name = rule.types().names.id(b"items");
                fields.insert(0, plain(name, list));
            }
            let group = rule.types().object(&mut fields, false);
            Next::Is(rule.types().list(group))
        }
    }
}

fn plain(name: crate::typing::names::NameId, ty: TyId) -> FieldTy {
    FieldTy {
        name,
        ty,
        optional: false,
        from: 0,
    }
}

fn add_key(rule: &mut Rule, name: crate::typing::names::NameId, ty: TyId) {
    rule.walk.parts.push(plain(name, ty));
}

fn group_keys(rule: &mut Rule, item: TyId) {
    if let Some(name) = rule.name("field") {
        let ty = item_field(rule, item, name);
        let name = rule.name("as").unwrap_or(name);
        return add_key(rule, name, ty);
    }
    let Some(fields) = rule.field("fields") else {
        return;
    };
    let source = rule.source;
    for field in source.elements(fields) {
        if let Some(text) = source.text(field) {
            let name = rule.types().names.id(text);
            let ty = read_item(rule, item, name, field);
            add_key(rule, name, ty);
        }
    }
}
