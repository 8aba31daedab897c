//! Rules of operations on objects.

use crate::edition::Edition;
use crate::typing::finding::{Code, Detail, Subject};
use crate::typing::names::NameId;
use crate::typing::rule::Rule;
use crate::typing::ty::{FieldTy, Kinds, Ty, TyId};
use crate::typing::walk::{Facts, How, Next, Visit};
use ptc_json::Node;

/// The rule of `object`, and of an object that names no operation.
pub fn object(rule: &mut Rule) -> Next {
    let implicit = rule.is_implicit();
    let map = match implicit {
        true => Some(rule.node),
        false => rule.field("fields"),
    };
    let how = match rule.edition() {
        Edition::One => How::Value,
        Edition::Two => How::Template,
    };
    let input = rule.current;
    match rule.object(map, how, input) {
        Some(visit) => Next::Visit(visit),
        None => {
            let mut fields = rule.take_parts();
            Next::Is(rule.types().object(&mut fields, false))
        }
    }
}

/// The rule of `get`.
pub fn get(rule: &mut Rule) -> Next {
    let has_from = rule.field("from").is_some();
    let key = rule.field("key");
    if has_from && rule.stage == 0 {
        return rule.visit("from", How::Template);
    }
    if rule.stage == u32::from(has_from) {
        *rule.kept(0) = match has_from {
            true => rule.last(),
            false => rule.input(),
        };
        if key.is_some() {
            return rule.visit("key", How::Template);
        }
    }
    let of = *rule.kept(0);
    let found = match key {
        Some(node) => {
            let key = rule.last();
            by_key(rule, of, key, node)
        }
        None => along(rule, of),
    };
    let own = !has_from && key.is_none();
    if let (true, Some(name)) = (own, rule.name("field")) {
        let input = rule.current;
        let some = Kinds::ALL.without(Kinds::NULL);
        let yes = rule.types().narrowed(input, name, some);
        rule.facts = Some(Facts { yes, no: input });
    }
    match rule.field("default") {
        Some(default) => {
            let source = rule.source;
            let default = rule.walk.shallow(source, default);
            let some = match found {
                TyId::UNKNOWN => found,
                _ => rule.types().not_null(found),
            };
            let nullable = rule.types().kinds(found).meets(Kinds::NULL);
            Next::Is(match nullable {
                true => rule.types().union(some, default),
                false => found,
            })
        }
        None => Next::Is(found),
    }
}

/// Returns what is read at the end of a path of keys.
fn along(rule: &mut Rule, of: TyId) -> TyId {
    if let Some(name) = rule.name("field") {
        let node = rule.place("field");
        return step(rule, of, name, node, true);
    }
    let Some(path) = rule.field("path") else {
        return TyId::UNKNOWN;
    };
    let (source, mut ty, mut first) = (rule.source, of, true);
    for key in source.elements(path) {
        let Some(text) = source.text(key) else {
            return TyId::UNKNOWN;
        };
        let name = rule.types().names.id(text);
        ty = step(rule, ty, name, key, first);
        first = false;
    }
    ty
}

/// Returns what is read at one key. Reading through a value that is no object fails, unless it is the first one or null.
fn step(rule: &mut Rule, of: TyId, name: NameId, node: Node, first: bool) -> TyId {
    let kinds = rule.types().kinds(of);
    if kinds.is_empty() {
        return TyId::NEVER;
    }
    let absence = rule.field("default").is_some();
    if !kinds.meets(Kinds::OBJECT.or(Kinds::OTHER)) {
        let details = vec![
            Detail::Subject(Subject::Input),
            Detail::Kinds(Kinds::OBJECT),
            Detail::Kinds(kinds),
        ];
        let gentle = kinds == Kinds::NULL || (first && (absence || rule.walk.absences > 0));
        match gentle {
            true => rule.warn(Code::WrongKind, node, details),
            false => rule.error(Code::WrongKind, node, details),
        }
        return TyId::NULL;
    }
    let ty = rule.read(of, name, node, absence);
    match kinds.within(Kinds::OBJECT) || of == TyId::UNKNOWN {
        true => ty,
        false => rule.types().or_null(ty),
    }
}

fn by_key(rule: &mut Rule, of: TyId, key: TyId, node: Node) -> TyId {
    let kinds = (rule.types().kinds(of), rule.types().kinds(key));
    if let Ty::TextOf(name) = rule.types().get(key) {
        if kinds.0.within(Kinds::OBJECT.or(Kinds::NULL)) && !kinds.0.is_empty() {
            return step(rule, of, name, node, true);
        }
    }
    let item = match kinds.0 == Kinds::LIST && kinds.1 == Kinds::NUMBER {
        true => rule.types().item(of),
        false => {
            rule.read_all(of);
            TyId::UNKNOWN
        }
    };
    rule.types().or_null(item)
}

/// The current value: an object, or a list of objects.
enum Shape {
    Object(TyId),
    List(TyId),
    Unknown,
}

/// Returns the objects of the current value, which is an object or a list of objects. `items`: whether the items must be.
fn objects(rule: &mut Rule, items: bool) -> Shape {
    let input = rule.input();
    let node = rule.node;
    if input == TyId::UNKNOWN {
        return Shape::Unknown;
    }
    let ty = rule.need(input, Kinds::OBJECT.or(Kinds::LIST), Subject::Input, node);
    let kinds = rule.types().kinds(ty);
    if kinds == Kinds::LIST {
        let item = rule.types().item(ty);
        return Shape::List(match items {
            true => rule.need(item, Kinds::OBJECT, Subject::Items, node),
            false => item,
        });
    }
    match kinds == Kinds::OBJECT {
        true => Shape::Object(ty),
        false => Shape::Unknown,
    }
}

/// The rule of `select`.
pub fn select(rule: &mut Rule) -> Next {
    let shape = objects(rule, false);
    let (list, of) = match shape {
        Shape::Unknown => return Next::Is(TyId::UNKNOWN),
        Shape::List(item) => (true, item),
        Shape::Object(object) => (false, object),
    };
    let names = names(rule, "fields");
    let kinds = rule.types().kinds(of);
    let kept = match of == TyId::UNKNOWN || !kinds.meets(Kinds::OBJECT) {
        true => of,
        false => {
            for (name, node) in &names {
                rule.read(of, *name, *node, false);
            }
            let names: Vec<NameId> = names.iter().map(|(name, _)| *name).collect();
            rule.types().each_object(of, |types, fields, open| {
                let mut kept = Vec::new();
                for name in &names {
                    match fields.iter().find(|field| field.name == *name) {
                        Some(field) => kept.push(*field),
                        None if open => kept.push(FieldTy {
                            name: *name,
                            ty: TyId::UNKNOWN,
                            optional: true,
                            from: 0,
                        }),
                        None => {}
                    }
                }
                types.object(&mut kept, false)
            })
        }
    };
    Next::Is(match list {
        true => rule.types().list(kept),
        false => kept,
    })
}

/// Returns the names in a list of the operation, each with its place.
fn names(rule: &mut Rule, name: &'static str) -> Vec<(NameId, Node)> {
    let (source, mut names) = (rule.source, Vec::new());
    for node in rule
        .field(name)
        .map(|list| source.elements(list))
        .into_iter()
        .flatten()
    {
        if let Some(text) = source.text(node) {
            names.push((rule.types().names.id(text), node));
        }
    }
    names
}

/// The rule of `set`: each value sees the object as it was.
pub fn set(rule: &mut Rule) -> Next {
    if rule.stage == 0 {
        let (list, of) = match objects(rule, true) {
            Shape::Unknown => (2, TyId::UNKNOWN),
            Shape::List(item) => (1, item),
            Shape::Object(object) => (0, object),
        };
        *rule.kept(0) = of;
        *rule.kept(1) = TyId(list);
    }
    let (of, list) = (*rule.kept(0), rule.kept(1).0);
    let fields = rule.field("fields");
    if let Some(visit) = rule.object(fields, How::Template, of) {
        return Next::Visit(Visit {
            each: list != 0,
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
        Shape::Unknown => return Next::Is(TyId::UNKNOWN),
        Shape::List(item) => (true, item),
        Shape::Object(object) => (false, object),
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

/// The rule of `merge`: the fields of later objects win.
pub fn merge(rule: &mut Rule) -> Next {
    let list = rule.field("objects");
    if rule.stage == 0 {
        let mut none = Vec::new();
        *rule.kept(0) = rule.types().object(&mut none, false);
    } else {
        let (all, last, place) = (*rule.kept(0), rule.last(), rule.stage - 1);
        let node = *rule.number();
        let ty = rule.need(last, Kinds::OBJECT, Subject::Part("objects", place), node);
        *rule.kept(0) = merged(rule, all, ty);
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
        None => Next::Is(*rule.kept(0)),
    }
}

/// Returns the type of two objects as one, where the fields of the second one win.
fn merged(rule: &mut Rule, first: TyId, second: TyId) -> TyId {
    let fields = |rule: &mut Rule, id: TyId| match rule.types().get(id) {
        Ty::Object(span, open) => Some((rule.types().fields(span).to_vec(), open)),
        _ => None,
    };
    let (Some((mut all, a)), Some((more, b))) = (fields(rule, first), fields(rule, second)) else {
        return TyId::OBJECT;
    };
    if b {
        // A field that is not known may have any of the names.
        all.iter_mut().for_each(|field| field.ty = TyId::UNKNOWN);
    }
    for field in more {
        match all.iter_mut().find(|it| it.name == field.name) {
            Some(old) if field.optional => {
                let (ty, optional) = (old.ty, old.optional);
                *old = FieldTy { optional, ..field };
                let both = rule.types().union(ty, field.ty);
                if let Some(old) = all.iter_mut().find(|it| it.name == field.name) {
                    old.ty = both;
                }
            }
            Some(old) => *old = field,
            None => all.push(field),
        }
    }
    rule.types().object(&mut all, a || b)
}

/// The rule of `entries`.
pub fn entries(rule: &mut Rule) -> Next {
    let input = rule.input();
    let node = rule.node;
    let object = rule.need(input, Kinds::OBJECT, Subject::Input, node);
    rule.read_all(object);
    let mut values = TyId::NEVER;
    for member in rule.types().members(&object).to_vec() {
        match rule.types().get(member) {
            Ty::Object(span, false) => {
                for field in rule.types().fields(span).to_vec() {
                    values = rule.types().union(values, field.ty);
                }
            }
            _ => values = TyId::UNKNOWN,
        }
    }
    let names = [(&b"key"[..], TyId::TEXT), (b"value", values)];
    let mut fields: Vec<FieldTy> = Vec::new();
    for (name, ty) in names {
        let name = rule.types().names.id(name);
        fields.push(FieldTy {
            name,
            ty,
            optional: false,
            from: 0,
        });
    }
    let entry = rule.types().object(&mut fields, false);
    Next::Is(rule.types().list(entry))
}

/// The rule of `from_entries`.
pub fn from_entries(rule: &mut Rule) -> Next {
    let item = rule.items();
    let node = rule.node;
    let object = rule.need(item, Kinds::OBJECT, Subject::Items, node);
    let name = rule.types().names.id(b"key");
    if rule.types().kinds(object).meets(Kinds::OBJECT) && object != TyId::UNKNOWN {
        let key = rule.read(object, name, node, false);
        let kinds = Kinds::TEXT.or(Kinds::NUMBER).or(Kinds::OTHER);
        rule.need(key, kinds, Subject::ItemsField(name), node);
        rule.read_all(object);
    }
    Next::Is(TyId::OBJECT)
}

/// The rule of `join`.
pub fn join(rule: &mut Rule) -> Next {
    if rule.stage == 0 {
        let item = rule.items();
        let node = rule.node;
        let item = rule.need(item, Kinds::OBJECT, Subject::Items, node);
        *rule.kept(0) = item;
        return rule.visit("with", How::Template);
    }
    let (item, with) = (*rule.kept(0), rule.last());
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
    Next::Is(joined(rule, item, other))
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
        rule.warn(Code::Always, node, details);
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
