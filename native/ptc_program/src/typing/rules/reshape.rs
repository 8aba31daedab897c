//! Rules of operations that change the fields of objects: `set`, `unset`, `rename`.

use super::objects::{names, objects, Objects};
use crate::typing::rule::Rule;
use crate::typing::ty::{FieldTy, Kinds, Ty, TyId};
use crate::typing::walk::TypePart;

/// The values of `set`: each one sees the object as it was.
pub fn before_fields(rule: &mut Rule, part: &mut TypePart) {
    let objects = objects(rule, true);
    let (each, of) = match objects {
        Objects::Unknown => (true, TyId::UNKNOWN),
        Objects::List(item) => (true, item),
        Objects::Object(object) => (false, object),
    };
    (part.input, part.held.each) = (of, each);
    part.held.dead = matches!(objects, Objects::List(TyId::NEVER));
    let own = rule.own();
    (own.begun, own.of, own.count) = (true, of, u32::from(matches!(objects, Objects::List(_))));
    if let Objects::Unknown = objects {
        rule.own().begun = false;
    }
}

/// The type of `set`.
pub fn set(rule: &mut Rule) -> TyId {
    let own = rule.own();
    let (is_known, of, is_list) = (own.begun, own.of, own.count == 1);
    if !is_known {
        return TyId::UNKNOWN;
    }
    let given = rule.part("fields");
    let (parts, more) = match rule.types().get(given) {
        Ty::Object(span, open) => (rule.types().fields(span).to_vec(), open),
        _ => (Vec::new(), true),
    };
    let changed = rule.types().each_object(of, |types, fields, open| {
        fields.retain(|field| {
            parts
                .binary_search_by_key(&field.name, |it| it.name)
                .is_err()
        });
        fields.extend_from_slice(&parts);
        types.object(fields, open || more)
    });
    match is_list {
        false => changed,
        true => rule.types().list(changed),
    }
}

/// The type of `unset` and `rename`.
pub fn change(rule: &mut Rule) -> TyId {
    let (list, of) = match objects(rule, true) {
        Objects::Unknown => return TyId::UNKNOWN,
        Objects::List(item) => (true, item),
        Objects::Object(object) => (false, object),
    };
    let source = rule.source;
    let node = rule.field("fields");
    let mut renamed = Vec::new();
    for (key, value) in node.map(|map| source.pairs(map)).into_iter().flatten() {
        if let (Some(old), Some(new)) = (source.text(key), source.text(value)) {
            let (old, new) = (rule.types().names.id(old), rule.types().names.id(new));
            renamed.push((old, Some(new), value));
        }
    }
    if renamed.is_empty() {
        let dropped = names(rule, "fields");
        renamed.extend(dropped.into_iter().map(|(name, node)| (name, None, node)));
    }
    let known = of != TyId::UNKNOWN && rule.types().kinds(of).meets(Kinds::OBJECT);
    for (old, _, node) in renamed.iter().filter(|_| known) {
        rule.read(of, *old, *node, false);
    }
    let changed = rule.types().each_object(of, |types, fields, open| {
        let mut kept: Vec<FieldTy> = fields.clone();
        kept.retain(|field| !renamed.iter().any(|(old, _, _)| *old == field.name));
        for (old, new, _) in &renamed {
            let (Some(new), Some(field)) = (new, fields.iter().find(|it| it.name == *old)) else {
                continue;
            };
            let before = kept.iter().position(|it| it.name == *new);
            let mut field = FieldTy {
                name: *new,
                ..*field
            };
            if let Some(at) = before {
                let other = kept.swap_remove(at);
                if field.optional {
                    field.ty = types.union(field.ty, other.ty);
                    field.optional = other.optional;
                }
            }
            kept.push(field);
        }
        // A field of another object may be renamed, too.
        let unknown = open && renamed.iter().any(|(_, new, _)| new.is_some());
        match unknown {
            true => TyId::OBJECT,
            false => types.object(&mut kept, open),
        }
    });
    match list {
        true => rule.types().list(changed),
        false => changed,
    }
}
