//! The rule of `group_by`.

use super::input::{item, item_field, read_item};
use crate::analysis::names::NameId;
use crate::typing::rule::Rule;
use crate::typing::ty::{FieldTy, Ty, TyId};
use crate::typing::walk::TypePart;

/// A part of `group_by`: the key of an item, or what is computed of the list of a group's items.
pub fn before(rule: &mut Rule, part: &mut TypePart) {
    let item = item(rule);
    match part.field {
        "expr" => rule.of_item(part, item),
        _ => {
            part.input = rule.types().list(item);
            (part.held.each, part.held.dead) = (true, item == TyId::NEVER);
        }
    }
}

/// The type of `group_by`.
pub fn group(rule: &mut Rule) -> TyId {
    let item = item(rule);
    let mut fields = group_keys(rule, item);
    if item == TyId::NEVER {
        return TyId::EMPTY_LIST;
    }
    // What `each` computes wins over the keys.
    let mut open = false;
    match rule.walk.stack.part_in("each") {
        Some(each) => {
            let inner = rule.types().get(each);
            if let Ty::Object(span, _) = inner {
                fields.extend_from_slice(rule.types().fields(span));
            }
            open = !matches!(inner, Ty::Object(_, false));
            fields.reverse();
        }
        None => {
            let list = rule.types().list(item);
            let name = rule.types().names.id(b"items");
            fields.reverse();
            fields.insert(0, plain(name, list));
        }
    }
    let group = rule.types().object(&mut fields, open);
    rule.types().list(group)
}

fn plain(name: NameId, ty: TyId) -> FieldTy {
    FieldTy {
        name,
        ty,
        optional: false,
        from: 0,
    }
}

fn group_keys(rule: &mut Rule, item: TyId) -> Vec<FieldTy> {
    if rule.field("expr").is_some() {
        let text = rule.text("as").unwrap_or(b"key");
        let (name, ty) = (rule.types().names.id(text), rule.part("expr"));
        return vec![plain(name, ty)];
    }
    if let Some(name) = rule.name("field") {
        let ty = item_field(rule, item, name);
        let name = rule.name("as").unwrap_or(name);
        return vec![plain(name, ty)];
    }
    let (source, mut keys) = (rule.source, Vec::new());
    let list = rule.field("fields").map(|list| source.elements(list));
    for field in list.into_iter().flatten() {
        if let Some(text) = source.text(field) {
            let name = rule.types().names.id(text);
            let ty = read_item(rule, item, name, field);
            keys.push(plain(name, ty));
        }
    }
    keys
}
