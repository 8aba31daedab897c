//! Rules of operations on objects.

use crate::analysis::names::NameId;
use crate::typing::finding::{Detail, FindingCode, Subject};
use crate::typing::rule::Rule;
use crate::typing::ty::{FieldTy, Kinds, Ty, TyId};
use crate::typing::walk::{Facts, TypePart};
use ptc_json::Node;

/// The type of `object`, and of an object that names no operation.
pub fn object(rule: &mut Rule) -> TyId {
    match rule.is_implicit() {
        true => rule.object(),
        false => rule.part("fields"),
    }
}

/// The type of `get`.
pub fn get(rule: &mut Rule) -> TyId {
    let has_from = rule.field("from").is_some();
    let key = rule.field("key");
    let of = match has_from {
        true => rule.part("from"),
        false => rule.input(),
    };
    let found = match key {
        Some(node) => {
            let key = rule.part("key");
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
            match nullable {
                true => rule.types().union(some, default),
                false => found,
            }
        }
        None => found,
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
        ty = match source.text(key) {
            Some(text) => {
                let name = rule.types().names.id(text);
                step(rule, ty, name, key, first)
            }
            // What is no text and no integer is an error of the program.
            None => by_key(rule, ty, TyId::INT, key),
        };
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
            true => rule.warn(FindingCode::WrongKind, node, details),
            false => rule.error(FindingCode::WrongKind, node, details),
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
    let item = match kinds.0.without(Kinds::NULL) == Kinds::LIST && kinds.1 == Kinds::NUMBER {
        true => rule.types().item(of),
        false => {
            rule.read_all(of);
            TyId::UNKNOWN
        }
    };
    rule.types().or_null(item)
}

/// The current value: an object, or a list of objects.
pub(super) enum Objects {
    Object(TyId),
    List(TyId),
    Unknown,
}

/// Returns the objects of the current value, which is an object or a list of objects. `items`: whether the items must be.
pub(super) fn objects(rule: &mut Rule, items: bool) -> Objects {
    let input = rule.input();
    let node = rule.node;
    if input == TyId::UNKNOWN {
        return Objects::Unknown;
    }
    let ty = rule.need(input, Kinds::OBJECT.or(Kinds::LIST), Subject::Input, node);
    let kinds = rule.types().kinds(ty);
    if kinds == Kinds::LIST {
        let item = rule.types().item(ty);
        return Objects::List(match items {
            true => rule.need(item, Kinds::OBJECT, Subject::Items, node),
            false => item,
        });
    }
    match kinds == Kinds::OBJECT {
        true => Objects::Object(ty),
        false => Objects::Unknown,
    }
}

/// The type of `select`.
pub fn select(rule: &mut Rule) -> TyId {
    let shape = objects(rule, false);
    let (list, of) = match shape {
        Objects::Unknown => return TyId::UNKNOWN,
        Objects::List(item) => (true, item),
        Objects::Object(object) => (false, object),
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
    match list {
        true => rule.types().list(kept),
        false => kept,
    }
}

/// Returns the names in a list of the operation, each with its place.
pub(super) fn names(rule: &mut Rule, name: &'static str) -> Vec<(NameId, Node)> {
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

/// An object of `merge`: the fields of later ones win.
pub fn after_object(rule: &mut Rule, part: &TypePart, ty: TyId) -> bool {
    let (all, place) = (merge(rule), rule.own().count);
    let ty = rule.need(
        ty,
        Kinds::OBJECT,
        Subject::Part("objects", place),
        part.node,
    );
    let all = merged(rule, all, ty);
    let own = rule.own();
    (own.count, own.all) = (place + 1, all);
    false
}

/// The type of `merge`.
pub fn merge(rule: &mut Rule) -> TyId {
    match rule.own().count {
        0 => rule.types().object(&mut Vec::new(), false),
        _ => rule.own().all,
    }
}

/// Returns the type of two objects as one, where the fields of the second one win.
pub(super) fn merged(rule: &mut Rule, first: TyId, second: TyId) -> TyId {
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
