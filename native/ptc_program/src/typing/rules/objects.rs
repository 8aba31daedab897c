//! Rules of operations on objects.

use crate::edition::Edition;
use crate::typing::finding::{Detail, FindingCode, Subject};
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

/// The rule of `select`.
pub fn select(rule: &mut Rule) -> Next {
    let shape = objects(rule, false);
    let (list, of) = match shape {
        Objects::Unknown => return Next::Is(TyId::UNKNOWN),
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
    Next::Is(match list {
        true => rule.types().list(kept),
        false => kept,
    })
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
