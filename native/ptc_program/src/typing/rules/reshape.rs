//! Rules of operations that change the fields of objects: `set`, `unset`, `rename`.

use super::objects::{names, objects, Objects};
use crate::typing::rule::Rule;
use crate::typing::ty::{FieldTy, Kinds, TyId};
use crate::typing::walk::{How, Next, Visit};

/// The rule of `set`: each value sees the object as it was.
pub fn set(rule: &mut Rule) -> Next {
    if rule.stage == 0 {
        let (list, of) = match objects(rule, true) {
            Objects::Unknown => (2, TyId::UNKNOWN),
            Objects::List(item) => (1, item),
            Objects::Object(object) => (0, object),
        };
        *rule.kept(0) = of;
        *rule.kept(1) = TyId(list);
    }
    let (of, list) = (*rule.kept(0), rule.kept(1).0);
    let fields = rule.field("fields");
    if let Some(visit) = rule.object(fields, How::Template, of) {
        return Next::Visit(Visit {
            each: list != 0,
            dead: list == 1 && of == TyId::NEVER,
            ..visit
        });
    }
    let mut parts = rule.take_parts();
    parts.reverse();
    parts.sort_by_key(|field| field.name);
    parts.dedup_by_key(|field| field.name);
    if list == 2 {
        return Next::Is(TyId::UNKNOWN);
    }
    let changed = rule.types().each_object(of, |types, fields, open| {
        fields.retain(|field| {
            parts
                .binary_search_by_key(&field.name, |it| it.name)
                .is_err()
        });
        fields.extend_from_slice(&parts);
        types.object(fields, open)
    });
    Next::Is(match list {
        0 => changed,
        _ => rule.types().list(changed),
    })
}

/// The rule of `unset` and `rename`.
pub fn change(rule: &mut Rule) -> Next {
    let (list, of) = match objects(rule, true) {
        Objects::Unknown => return Next::Is(TyId::UNKNOWN),
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
    Next::Is(match list {
        true => rule.types().list(changed),
        false => changed,
    })
}
