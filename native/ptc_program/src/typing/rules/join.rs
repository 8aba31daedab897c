//! The rule of `join`.

use super::objects::merged;
use crate::typing::finding::{Detail, FindingCode, Subject};
use crate::typing::rule::Rule;
use crate::typing::ty::{FieldTy, Kinds, TyId};

/// The type of `join`.
pub fn join(rule: &mut Rule) -> TyId {
    let (item, node) = (rule.items(), rule.node);
    let item = rule.need(item, Kinds::OBJECT, Subject::Items, node);
    let with = rule.part("with");
    let node = rule.place("with");
    let list = rule.need(with, Kinds::LIST, Subject::Operand("with"), node);
    let other = rule.types().item(list);
    let other = rule.need(other, Kinds::OBJECT, Subject::Operand("with"), node);
    let (left, right) = match rule.field("on") {
        Some(_) => ("on", "on"),
        None => ("left", "right"),
    };
    let mut keys = [TyId::UNKNOWN; 2];
    for (place, (field, of)) in [(left, item), (right, other)].into_iter().enumerate() {
        let known = of != TyId::UNKNOWN && rule.types().kinds(of).meets(Kinds::OBJECT);
        if let (Some(name), true) = (rule.name(field), known) {
            let node = rule.place(field);
            keys[place] = rule.read(of, name, node, false);
        }
    }
    warn_of_keys(rule, keys, left);
    joined(rule, item, other)
}

/// Warns of keys that are never equal.
fn warn_of_keys(rule: &mut Rule, keys: [TyId; 2], left: &'static str) {
    let kinds = keys.map(|key| rule.types().kinds(key).without(Kinds::NULL));
    let known = kinds.iter().all(|kinds| !kinds.is_empty());
    if known && !kinds[0].meets(kinds[1]) {
        let node = rule.place(left);
        let details = vec![
            Detail::Bool(false),
            Detail::Subject(Subject::Operand(left)),
            Detail::Kinds(kinds[0]),
            Detail::Kinds(kinds[1]),
        ];
        rule.warn(FindingCode::Always, node, details);
    }
}

fn joined(rule: &mut Rule, item: TyId, other: TyId) -> TyId {
    let kind = rule.text("kind").unwrap_or(b"inner");
    let row = match rule.name("as") {
        Some(name) => {
            let ty = match kind {
                b"group" => rule.types().list(other),
                b"left" => rule.types().or_null(other),
                _ => other,
            };
            let field = FieldTy {
                name,
                ty,
                optional: false,
                from: 0,
            };
            rule.types().with(item, field)
        }
        None => {
            // The keys of the item win.
            let all = merged(rule, other, item);
            match kind {
                b"left" => rule.types().union(all, item),
                _ => all,
            }
        }
    };
    rule.types().list(row)
}
