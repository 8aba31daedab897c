//! The rule of `group_by`.

use super::input::{item_field, read_item};
use crate::typing::names::NameId;
use crate::typing::rule::Rule;
use crate::typing::ty::{FieldTy, TyId};
use crate::typing::walk::{How, Next, Visit};

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
    let is_empty = item == TyId::NEVER;
    match rule.next_pair(each) {
        Some((key, value)) => {
            *rule.number() = key;
            Next::Visit(Visit {
                given: false,
                each: true,
                dead: is_empty,
                ..Visit::new(value, How::Template, list)
            })
        }
        None if is_empty => Next::Is(TyId::EMPTY_LIST),
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

fn plain(name: NameId, ty: TyId) -> FieldTy {
    FieldTy {
        name,
        ty,
        optional: false,
        from: 0,
    }
}

fn add_key(rule: &mut Rule, name: NameId, ty: TyId) {
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
